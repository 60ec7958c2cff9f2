"""A block that is a flow from one node to another, solved by a shortest path.

Arcs may have any sign: paths are found in topological order, or by Bellman and Ford.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.integer.decomposition.blocks import Positions
from cgboost.integer.decomposition.model import whole_ends
from cgboost.integer.decomposition.pricing.block import NO_POINT, Block, BlockRequest, Found
from cgboost.integer.decomposition.pricing.network import Network, network_of

FIRST_CHECK = 8
"""After so many rounds, and each time after twice as many, a negative cycle is looked for."""


class NegativeCycleError(ValueError):
    """A cycle has a negative length: there is no shortest path, or a flow along it is cheaper."""


class Paths:
    """Shortest paths in a graph, for one vector of lengths after the other.

    Parameters
    ----------
    n : int
        Number of nodes.
    tails, heads : ndarray of int, shape (n_arcs,)
        At least one arc. There may be several from one node to another.
    """

    def __init__(self, n: int, tails: Positions, heads: Positions) -> None:
        self._n, self.tails, self.heads = n, tails, heads
        self._in_order = _by_rank(n, tails, heads)
        order = np.argsort(heads, kind="stable")
        self._order, self._tail, self._head = order, tails[order], heads[order]
        self._ends, self._starts = np.unique(self._head, return_index=True)
        self._n_in = np.diff(np.append(self._starts, order.size))

    @property
    def is_acyclic(self) -> bool:
        """Whether the graph has no cycle."""
        return self._in_order is not None

    def ordered(self, arcs: Positions) -> list[int]:
        """Some arcs in the order in which a path of an acyclic graph can have them."""
        if not arcs.size or self._in_order is None:
            return arcs.tolist()
        own = set(arcs.tolist())
        return [arc for arc, _, _ in self._in_order if arc in own]

    def shortest(self, lengths: Vector, source: int, sink: int) -> list[int] | None:
        """Arcs of a shortest path, from its beginning; None if there is no path.

        Parameters
        ----------
        lengths : ndarray of shape (n_arcs,)
            inf: the arc is not there.

        Raises
        ------
        NegativeCycleError
            For a cycle of negative length anywhere, whether a path can reach it or not.
        """
        if self._in_order is not None:
            into = self._acyclic(self._in_order, lengths.tolist(), source)
        else:
            into = self._cyclic(lengths, source)
        path, node = list[int](), sink
        while node != source:
            arc = into[node]
            if arc < 0:
                return None
            path.append(arc)
            node = int(self.tails[arc])
            if len(path) > self._n:  # a cycle of length 0 that rounding has made negative
                raise NegativeCycleError
        return path[::-1]

    def _acyclic(
        self, arcs: Sequence[tuple[int, int, int]], lengths: Sequence[float], source: int
    ) -> list[int]:
        """The last arc of a shortest path to each node; −1 without one."""
        label, into = [math.inf] * self._n, [-1] * self._n
        label[source] = 0.0
        for arc, tail, head in arcs:
            through = label[tail] + lengths[arc]
            if through < label[head]:
                label[head], into[head] = through, arc
        return into

    def _cyclic(self, lengths: Vector, source: int) -> list[int]:
        """The same; labels that begin with 0 everywhere see every negative cycle."""
        own = lengths[self._order]
        self._labelled(own, np.zeros(self._n))
        start = np.full(self._n, np.inf)
        start[source] = 0.0
        into = self._labelled(own, start)
        return np.where(into >= 0, self._order[into], -1).tolist()

    def _labelled(self, lengths: Vector, label: Vector) -> NDArray[np.intp]:
        """Arcs, in the order of their heads, that gave the nodes their last labels."""
        into, check = np.full(self._n, -1, dtype=np.intp), FIRST_CHECK
        for number in range(1, self._n + 1):
            through = label[self._tail] + lengths
            least = np.minimum.reduceat(through, self._starts)
            better = least < label[self._ends]
            if not better.any():
                return into
            chosen = np.repeat(np.where(better, least, -np.inf), self._n_in)
            arcs = np.flatnonzero(through <= chosen)
            into[self._head[arcs]] = arcs
            label[self._ends[better]] = least[better]
            if number == check and self._is_cycle(into):
                raise NegativeCycleError
            check *= 2 if number == check else 1
        raise NegativeCycleError

    def _is_cycle(self, into: NDArray[np.intp]) -> bool:
        """Whether going back along these arcs never ends somewhere."""
        back = np.append(np.where(into >= 0, self._tail[into], self._n), self._n)
        for _ in range(self._n.bit_length()):
            back = back[back]
        return bool((back != self._n).any())


def _by_rank(n: int, tails: Positions, heads: Positions) -> list[tuple[int, int, int]] | None:
    """Arcs (number, tail, head) in a topological order of their tails; None for a cycle (Kahn)."""
    n_in = np.bincount(heads, minlength=n).tolist()
    out: list[list[int]] = [[] for _ in range(n)]
    for arc, tail in enumerate(tails.tolist()):
        out[tail].append(arc)
    ends = heads.tolist()
    ready, arcs, n_done = [node for node in range(n) if not n_in[node]], [], 0
    while ready:
        node = ready.pop()
        n_done += 1
        for arc in out[node]:
            head = ends[arc]
            arcs.append((arc, node, head))
            n_in[head] -= 1
            if not n_in[head]:
                ready.append(head)
    return arcs if n_done == n else None


class PathBlock:
    """A block with the rows of a network, one source and one sink.

    A flow of F units falls into paths and cycles. Where no cycle is negative and every arc can take
    F units, the cheapest flow takes F units along a shortest path. A negative cycle and lower
    bounds are left to HiGHS.
    """

    def __init__(self, block: Block) -> None:
        network = network_of(block)
        if network is None:
            raise ValueError(f"block {block.name!r} is no network")
        self._integer = block.integer
        self._n, self._n_slack = len(block.variables), len(network.tails) - len(block.variables)
        self._paths = Paths(len(network.balance), network.tails, network.heads)
        self._source, self._sink = int(network.balance.argmax()), int(network.balance.argmin())
        self._flow = float(network.balance.max())

    @staticmethod
    def fits(block: Block) -> bool:
        """Whether a block is such a flow, with arcs that take all of it or nothing."""
        if (block.lower != 0).any():
            return False
        network = network_of(block)
        if network is None or not _is_between_two(network):
            return False
        flow = float(network.balance.max())
        if block.integer.any() and flow != round(flow):
            return False
        return bool(((block.upper == 0) | (block.upper >= flow)).all())

    def solve(self, request: BlockRequest) -> Found | None:
        """The least cost between bounds; None for negative cycles and some lower bounds."""
        lower, upper = whole_ends(request.lower, request.upper, self._integer)
        if (lower > upper).any():
            return NO_POINT
        open_arcs, forced = upper >= self._flow, np.flatnonzero(lower > 0)
        if (upper[~open_arcs] > 0).any() or (lower < 0).any():
            return None
        if forced.size and (not self._paths.is_acyclic or self._flow != 1.0):
            return None
        lengths = np.append(np.where(open_arcs, request.cost, np.inf), np.zeros(self._n_slack))
        try:
            path = self._path(lengths, forced)
        except NegativeCycleError:
            return None
        if path is None:
            return NO_POINT
        z = np.zeros(self._n)
        z[[arc for arc in path if arc < self._n]] = self._flow
        return Found(float(request.cost @ z), [z])

    def _path(self, lengths: Vector, forced: Positions) -> list[int] | None:
        """Arcs of a shortest path that has some arcs."""
        path, start = list[int](), self._source
        for arc in self._paths.ordered(forced):
            part = self._paths.shortest(lengths, start, int(self._paths.tails[arc]))
            if part is None:
                return None
            path += [*part, arc]
            start = int(self._paths.heads[arc])
        last = self._paths.shortest(lengths, start, self._sink)
        return None if last is None else path + last


def _is_between_two(network: Network) -> bool:
    """Whether one node has a positive balance and another one the same, negative."""
    balance = network.balance
    used = np.flatnonzero(balance)
    return used.size == 2 and float(balance[used].sum()) == 0.0
