"""Shortest walks of few arcs: the pricing problem of timetables and other acyclic networks.

    ℓ₀ = 0 at the source,   ℓ_k(v) = min over the arcs (u, v) of ℓ_{k−1}(u) + c_uv

Bellman, *On a Routing Problem*, Quarterly of Applied Mathematics 16, 1958.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cgboost.arrays import Indices, Vector


@dataclass(frozen=True)
class FoundWalks:
    """Shortest walks from a source to all nodes.

    Attributes
    ----------
    length : ndarray of shape (n_nodes,)
        Of the shortest walk to each node; inf where there is none.
    """

    length: Vector
    _n_arcs: Indices
    _last: list[Indices]
    _tails: Indices

    def to(self, node: int) -> list[int]:
        """Numbers of the arcs of the shortest walk to a node, from the source on.

        Raises
        ------
        ValueError
            If there is none.
        """
        if not np.isfinite(self.length[node]):
            raise ValueError(f"no walk leads to node {node}")
        arcs: list[int] = []
        for k in range(self._n_arcs[node], 0, -1):
            arcs.append(int(self._last[k][node]))
            node = self._tails[arcs[-1]]
        return arcs[::-1]


def shortest_walks(
    tails: ArrayLike, heads: ArrayLike, costs: ArrayLike, source: int, most: int
) -> FoundWalks:
    """Shortest walks with at most so many arcs; where there is no cycle, they are paths.

    Parameters
    ----------
    tails, heads : array-like of int, shape (n_arcs,)
        Nodes from which and to which arcs lead, from 0 on. There may be parallel arcs.
    costs : array-like of shape (n_arcs,)
        Negative ones too; an arc of cost inf is not there.
    source : int
    most : int
        Arcs of a walk, at most. Time grows with the number of arcs times that of the longest walk
        that is shortest.

    Returns
    -------
    FoundWalks

    Examples
    --------
    >>> from cgboost.pricing import shortest_walks
    >>> walks = shortest_walks([0, 1, 0, 2], [1, 2, 2, 3], [1.0, -4.0, 2.0, 1.0], 0, most=2)
    >>> walks.length.tolist(), walks.to(2), walks.to(3)
    ([0.0, 1.0, -3.0, 3.0], [0, 1], [2, 3])
    """
    tail, head = np.asarray(tails, dtype=np.intp), np.asarray(heads, dtype=np.intp)
    cost = np.asarray(costs, dtype=np.float64)
    if not tail.shape == head.shape == cost.shape == (cost.size,):
        raise ValueError(
            "tails, heads and costs must be rows of one length, got shapes "
            f"{tail.shape}, {head.shape} and {cost.shape}"
        )
    if np.isnan(cost).any() or np.isneginf(cost).any():
        raise ValueError("costs must be numbers above -inf")
    if most < 0 or source < 0 or min(tail.min(initial=0), head.min(initial=0)) < 0:
        raise ValueError("most, the source and the nodes of arcs must be at least 0")
    n_nodes = 1 + max(source, tail.max(initial=0), head.max(initial=0))
    best, n_arcs = np.full(n_nodes, np.inf), np.zeros(n_nodes, np.intp)
    best[source] = 0.0
    length, last = best, [n_arcs]
    order = np.argsort(head, kind="stable")
    reached, begin = np.unique(head[order], return_index=True)
    for k in range(1, most + 1 if len(reached) else 1):
        through = (length[tail] + cost)[order]
        length = np.full(n_nodes, np.inf)
        length[reached] = np.minimum.reduceat(through, begin)
        tight = order[np.flatnonzero(through == length[head[order]])[::-1]]
        last.append(np.zeros(n_nodes, np.intp))
        last[k][head[tight]] = tight  # of equals the first
        better = length < best
        if not better.any():  # nor will walks with more arcs be
            break
        best, n_arcs = np.minimum(best, length), np.where(better, k, n_arcs)
    return FoundWalks(best, n_arcs, last, tail)
