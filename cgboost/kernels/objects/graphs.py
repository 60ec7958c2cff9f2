"""The Weisfeiler–Lehman subtree kernel of graphs.

N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn, K. M. Borgwardt,
*Weisfeiler-Lehman graph kernels*, JMLR 12, 2011.

    colour_0(v)   = label of v, or its degree
    colour_t+1(v) = (colour_t(v), {(label of edge vw, colour_t(w)) for all neighbours w})

Colours are numbered by one dictionary for all graphs; each colour is a feature.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from cgboost.kernels.objects.counts import CountKernel


@dataclass(frozen=True)
class WeisfeilerLehman(CountKernel):
    """k(G, H) = Σ_t Σ_c count_c(G)·count_c(H) over the colours c after t = 0, …, ``depth`` rounds.

    Parameters
    ----------
    depth : int, default=3
        Rounds of refinement: a colour represents a neighbourhood of this radius.
    node_label, edge_label : str or None
        Attributes used as initial labels of nodes and edges. None means the degree of a node, and
        no labels of edges.

    Notes
    -----
    X is a list, or an object column, of undirected networkx graphs. In a directed graph, the
    neighbours of a node are its successors; in a multigraph, each edge counts.

    Examples
    --------
    >>> import networkx as nx
    >>> import numpy as np
    >>> from cgboost import WeisfeilerLehman
    >>> graphs = np.empty(2, dtype=object)
    >>> graphs[:] = [nx.path_graph(3), nx.cycle_graph(3)]
    >>> WeisfeilerLehman(depth=0)(graphs, graphs)  # degrees 1, 2, 1 and 2, 2, 2
    array([[5., 3.],
           [3., 9.]])
    """

    depth: int = 3
    node_label: str | None = None
    edge_label: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.depth, Integral) or self.depth < 0:
            raise ValueError(f"depth must be a whole number ≥ 0, got {self.depth!r}")

    def key(self, item: Any) -> Hashable:
        """Nodes, edges and their labels: a changed graph counts as a different object."""
        if not (hasattr(item, "nodes") and hasattr(item, "adj")):
            raise TypeError(
                f"WeisfeilerLehman takes networkx graphs, got {item!r} ({type(item).__name__})"
            )
        edges = tuple((v, tuple(own)) for v, own in self._neighbours(item).items())
        return tuple(self._labels(item).items()), edges

    def counts(self, item: Any, number: Callable[[Hashable], int]) -> Mapping[int, float]:
        colours = {v: number(("label", label)) for v, label in self._labels(item).items()}
        total = Counter(colours.values())
        neighbours = self._neighbours(item)
        for _ in range(self.depth):
            colours = {
                v: number((own, *sorted((repr(label), colours[w]) for w, label in neighbours[v])))
                for v, own in colours.items()
            }
            total.update(colours.values())
        return {colour: float(count) for colour, count in total.items()}

    def _labels(self, graph: Any) -> dict[Any, Hashable]:
        if self.node_label is None:
            return dict(graph.degree)
        return {v: data.get(self.node_label) for v, data in graph.nodes(data=True)}

    def _neighbours(self, graph: Any) -> dict[Any, list[tuple[Any, Hashable]]]:
        """The neighbours of every node, each with the label of its edge; one for each edge."""
        name, parallel = self.edge_label, graph.is_multigraph()
        return {
            v: [
                (w, None if name is None else edge.get(name))
                for w, data in own.items()
                for edge in (data.values() if parallel else (data,))
            ]
            for v, own in graph.adjacency()
        }
