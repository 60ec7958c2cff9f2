"""A block that is a flow from one node to another, solved by a shortest path."""

from __future__ import annotations

import numpy as np

from cgboost.arrays import Vector
from cgboost.integer.branching.rules import INTEGRAL
from cgboost.integer.decomposition.blocks import Positions
from cgboost.integer.decomposition.pricing.block import NO_POINT, Block, BlockRequest, Found
from cgboost.integer.decomposition.pricing.network import Network, network_of
from cgboost.integer.decomposition.pricing.paths import NegativeCycleError, Paths


class PathBlock:
    """A block with the rows of a network, one source and one sink.

    A flow of F units falls into paths and cycles. Where no cycle is negative and every arc can take
    F units, the cheapest flow takes F units along a shortest path. A negative cycle and lower
    bounds are left to HiGHS.

    Parameters
    ----------
    block : Block
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
        lower, upper = self._whole(request)
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

    def _whole(self, request: BlockRequest) -> tuple[Vector, Vector]:
        """Bounds, those of integer variables rounded to whole numbers."""
        lower, upper = np.ceil(request.lower - INTEGRAL), np.floor(request.upper + INTEGRAL)
        return (
            np.where(self._integer, lower, request.lower),
            np.where(self._integer, upper, request.upper),
        )


def _is_between_two(network: Network) -> bool:
    """Whether one node has a positive balance and another one the same, negative."""
    balance = network.balance
    used = np.flatnonzero(balance)
    return used.size == 2 and float(balance[used].sum()) == 0.0
