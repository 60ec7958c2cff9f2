"""A block that is one knapsack, solved by dynamic programming."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from cgboost.arrays import Vector
from cgboost.integer.decomposition.model import whole_ends
from cgboost.integer.decomposition.pricing.block import NO_POINT, Block, BlockRequest, Found
from cgboost.pricing.knapsack import solve_knapsack

MOST_CAPACITY = 20_000
"""Largest capacity, times the number of items, over 100: beyond that the table of dynamic
programming has more than two million entries, and HiGHS is asked. The limit is a guess."""


class KnapsackBlock:
    """A block with one row of whole, positive weights, solved by dynamic programming.

    A 0/1 variable may open the capacity, ``Σ w_v z_v − C y ≤ 0``: both values of y are tried.
    """

    def __init__(self, block: Block) -> None:
        self._weights = np.zeros(len(block.variables))
        own = sp.csr_array(block.matrix)
        self._weights[own.indices] = own.data
        self._switch = next(iter(np.flatnonzero(self._weights < 0).tolist()), None)
        self._capacity, self._integer = float(block.row_upper[0]), block.integer

    @staticmethod
    def fits(block: Block) -> bool:
        """Whether a block is such a knapsack."""
        if len(block.row_upper) != 1 or not block.integer.all() or (block.lower != 0).any():
            return False
        values = sp.csr_array(block.matrix).toarray()[0]
        high, negative = float(block.row_upper[0]), np.flatnonzero(values < 0)
        if math.isfinite(block.row_lower[0]) or not math.isfinite(high) or high < 0:
            return False
        if (values != np.round(values)).any() or (np.isinf(block.upper) & (values == 0)).any():
            return False
        if len(negative) > 1:
            return False
        capacity = high - float(values[negative].sum())
        if len(negative) and (high != 0 or block.upper[negative[0]] != 1):
            return False
        most = np.minimum(block.upper, capacity // np.where(values > 0, values, math.inf))
        items = np.log2(most[values > 0] + 1).sum()
        return bool(capacity * max(1.0, items) <= MOST_CAPACITY * 100)

    def solve(self, request: BlockRequest) -> Found:
        """The least cost between bounds."""
        cost = request.cost
        lower, upper = whole_ends(request.lower, request.upper, self._integer)
        if (lower > upper).any():
            return NO_POINT
        points = []
        if self._switch is None:
            points.append(self._filled(cost, lower, upper, self._capacity))
        else:
            for on in (0.0, 1.0):
                if lower[self._switch] <= on <= upper[self._switch]:
                    low, high = lower.copy(), upper.copy()
                    low[self._switch] = high[self._switch] = on
                    points.append(self._filled(cost, low, high, 0.0))
        known = [point for point in points if point is not None]
        known.sort(key=lambda point: float(cost @ point))
        return Found(float(cost @ known[0]) if known else math.inf, known)

    def _filled(self, cost: Vector, lower: Vector, upper: Vector, capacity: float) -> Vector | None:
        """The cheapest point between bounds."""
        weights = self._weights
        left = capacity - float(weights @ lower)
        if left < 0:
            return None
        room = int(left)
        z = lower.copy()
        free = weights == 0
        z[free & (cost < 0)] = upper[free & (cost < 0)]
        own = np.flatnonzero((weights > 0) & (cost < 0) & (upper > lower))
        most = np.minimum(upper[own] - lower[own], room // weights[own])
        z[own] += solve_knapsack(-cost[own], weights[own], room, most)[0]
        return z
