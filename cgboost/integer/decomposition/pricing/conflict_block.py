"""A block that is a knapsack with conflicts: pieces of which some may not be in one bin.

Branch-and-bound over sets of pieces as bits, in the order of their worth for each unit of weight:
what fits in besides is worth no more than the room at the worth of the next one (Dantzig,
Operations Research 5, 1957).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from cgboost.arrays import Mask, Vector
from cgboost.integer.decomposition.pricing.block import NO_POINT, Block, BlockRequest, Found

MOST_SETS = 50_000
"""Sets of pieces after which HiGHS is asked."""

SETS_KEPT = 5
"""Sets that were the best for a while and become columns too, at most."""


class ConflictBlock:
    """A block with one row of positive weights, and rows "at most one" of 0/1 variables.

    A 0/1 variable may open both: ``Σ w_v z_v − C y ≤ 0`` and ``Σ_{v∈K} z_v − y ≤ 0``.
    """

    def __init__(self, block: Block) -> None:
        matrix = sp.csr_array(block.matrix).toarray()
        alone = _excluding(matrix, block.row_upper)
        self._weights, self._capacity = matrix[~alone][0].copy(), float(block.row_upper[~alone][0])
        self._switch = next(iter(np.flatnonzero(self._weights < 0).tolist()), None)
        if self._switch is not None:
            self._capacity -= self._weights[self._switch]
            self._weights[self._switch] = 0.0
        n = len(self._weights)
        apart = np.zeros((n, n), dtype=np.bool_)
        for row in matrix[alone] > 0:
            apart |= row[:, None] & row
        self._apart = apart & ~np.eye(n, dtype=np.bool_)

    @staticmethod
    def fits(block: Block) -> bool:
        """Whether a block is such a knapsack."""
        n_rows = len(block.row_lower)
        if n_rows < 2 or not block.integer.all() or np.isfinite(block.row_lower).any():
            return False
        if (block.lower != 0).any() or (block.upper != 1).any():
            return False
        matrix = sp.csr_array(block.matrix).toarray()
        alone = _excluding(matrix, block.row_upper)
        if (~alone).sum() != 1:
            return False
        weights, rhs = matrix[~alone][0], float(block.row_upper[~alone][0])
        switches = np.flatnonzero((matrix < 0).any(axis=0))
        if not (weights != 0).all() or not math.isfinite(rhs):
            return False
        if not len(switches):
            return rhs >= 0
        return len(switches) == 1 and rhs == 0 and bool((weights < 0).sum() == 1)

    def solve(self, request: BlockRequest) -> Found | None:
        """The least cost between bounds."""
        must, can = request.lower > 0.5, request.upper > 0.5
        switch = self._switch
        closed: list[Vector] = []
        if switch is not None:
            if not must.any():
                closed = [np.zeros(len(must))]
            if not can[switch]:
                return Found(0.0, closed) if closed else NO_POINT
            must = must.copy()
            must[switch] = True
        room = self._capacity - float(self._weights[must].sum())
        if room < 0 or self._apart[np.ix_(must, must)].any():
            return Found(0.0, closed) if closed else NO_POINT
        free = can & ~must & ~self._apart[must].any(axis=0) & (request.cost < 0)
        order = np.flatnonzero(free & (self._weights <= room))
        order = order[np.argsort(request.cost[order] / self._weights[order], kind="stable")]
        sets = self._best(order, -request.cost[order], room)
        if sets is None:
            return None
        points = []
        for own in sets:
            z = must.astype(np.float64)
            z[order[[place for place in range(len(order)) if own >> place & 1]]] = 1.0
            points.append(z)
        points = sorted([*points, *closed], key=lambda z: float(request.cost @ z))
        return Found(float(request.cost @ points[0]), points)

    def _best(self, order: np.ndarray, worth: Vector, room: float) -> Sequence[int] | None:
        """The most valuable set of pieces, and some that were met before it; None if too many."""
        values, weights = worth.tolist(), self._weights[order].tolist()
        rates = (worth / self._weights[order]).tolist()
        others = [
            sum(1 << place for place in np.flatnonzero(~row).tolist())
            for row in self._apart[np.ix_(order, order)]
        ]
        best, found, n_left = 0.0, [0], MOST_SETS

        def extend(candidates: int, left: float, value: float, taken: int) -> None:
            nonlocal best, n_left
            n_left -= 1
            if value > best:
                best = value
                found.append(taken)
            while candidates and n_left > 0:
                one = candidates & -candidates
                place = one.bit_length() - 1
                candidates ^= one
                if value + left * rates[place] <= best:
                    return
                if weights[place] <= left:
                    rest = candidates & others[place]
                    extend(rest, left - weights[place], value + values[place], taken | one)

        extend((1 << len(order)) - 1, room, 0.0, 0)
        return found[-SETS_KEPT:] if n_left > 0 else None


def _excluding(matrix: Vector, upper: Vector) -> Mask:
    """Rows "at most one" of their variables, or of those that a variable opens."""
    low = matrix.min(axis=1)
    ones = np.isin(matrix, (-1.0, 0.0, 1.0)).all(axis=1) & ((matrix < 0).sum(axis=1) <= 1)
    return np.asarray(ones & (upper == np.where(low < 0, 0.0, 1.0)))
