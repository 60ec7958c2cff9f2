"""Zykov's contraction and addition: branching for colourings, whose columns are independent sets.

Two nodes without an edge have the same colour, which contracts them, or different colours, which
adds an edge (Zykov 1949; in branch-and-price Mehrotra and Trick, INFORMS J. on Computing 8, 1996).
If all neighbours of a node are neighbours of another node, it can have the colour of that node and
is contracted at once, without increasing the number of colours.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cgboost.forks import cached_property
from cgboost.integer.branching.decisions import Apart, Decision, Together
from cgboost.integer.branching.rules import Branch, NodeSolution
from cgboost.pricing.independent_set import check_graph, contracted_graph, dominated_nodes

if TYPE_CHECKING:
    import networkx as nx


LAST_GRAPHS = 8
"""Graphs that are kept: that of a node is asked for in every round of its relaxation."""


class ZykovBranching:
    """Two nodes of a graph in one independent set, or in different ones.

    The rows of the master are the nodes, each covered by columns at least or exactly once. The rows
    of a column are an independent set, and each part of a column is a column that costs no more.
    The rule chooses the pair without an edge with the largest total number of neighbours, times the
    smaller of the two shares in which the solution has them together and apart.

    Parameters
    ----------
    graph : networkx.Graph
        Undirected, without loops.
    """

    makes = (Together, Apart)

    def __init__(self, graph: nx.Graph) -> None:
        check_graph(graph)
        self.graph = graph
        self._places = {node: place for place, node in enumerate(graph)}
        self._groups: dict[tuple[Any, ...], nx.Graph] = {}

    @cached_property
    def _dominated(self) -> list[tuple[Hashable, Hashable]]:
        return dominated_nodes(self.graph)

    def groups(self, decisions: Iterable[Any]) -> nx.Graph:
        """The graph of the groups of nodes that are together; see :func:`contracted_graph`.

        Its independent sets, taken together, are the columns that the decisions allow.
        """
        asked = tuple(each for each in decisions if isinstance(each, Together | Apart))
        if asked not in self._groups:
            pairs: dict[type, list[tuple[Hashable, Hashable]]] = {
                Together: [*self._dominated],
                Apart: [],
            }
            for each in asked:
                pairs[type(each)].append((each.first, each.second))
            while len(self._groups) >= LAST_GRAPHS:
                del self._groups[next(iter(self._groups))]
            self._groups[asked] = contracted_graph(self.graph, pairs[Together], pairs[Apart])
        return self._groups[asked]

    def branches(self, solution: NodeSolution, most: int) -> Sequence[Branch]:
        """See :class:`BranchingRule`."""
        import networkx as nx

        groups = self.groups(solution.decisions)
        names = list(groups)
        joined = nx.to_numpy_array(groups, names)
        together = self._together(solution, names)
        either = joined.sum(axis=1)[:, None] + joined.sum(axis=1) - joined @ joined.T
        score = np.minimum(together, 1.0 - together) * either
        pairs = np.argwhere(np.triu(joined == 0, 1))
        order = np.argsort(-score[tuple(pairs.T)], kind="stable")[:most]
        return [
            self._branch(names[a], names[b], float(together[a, b]), solution.decisions)
            for a, b in pairs[order].tolist()
        ]

    def _first(self, group: frozenset[Hashable]) -> Hashable:
        """The node that stands for a group."""
        return min(group, key=self._places.__getitem__)

    def _together(self, solution: NodeSolution, groups: Sequence[frozenset[Hashable]]) -> Any:
        """Σ x_j over the columns with both of two groups, at most 1; shape (n_groups, n_groups)."""
        first = [solution.rows[self._first(group)] for group in groups]
        has = np.array([column.values[first] != 0 for column in solution.columns], np.float64)
        return np.minimum(1.0, (has.T * solution.coef) @ has)

    def _branch(
        self,
        first: frozenset[Hashable],
        second: frozenset[Hashable],
        value: float,
        decisions: Sequence[Decision],
    ) -> Branch:
        a, b = self._first(first), self._first(second)
        children = []
        for decision in (Together(a, b), Apart(a, b)):
            dominated = dominated_nodes(self.groups([*decisions, decision]))
            alike = (Together(self._first(one), self._first(two)) for one, two in dominated)
            children.append((decision, *alike))
        return Branch((a, b), value, tuple(children))
