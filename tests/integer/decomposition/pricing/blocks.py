"""Small blocks, and their least cost by enumeration."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from cgboost.integer.decomposition.pricing.block import Block, BlockRequest

ROWS = ("a", "b", "c", "one", "other")
"""The last two are the convexity rows of this block and of another one."""


def block(seed: int, *, switch: bool = False, lower: float = 0.0, upper: float = 2.0) -> Block:
    """A knapsack of three items, with a variable that opens its capacity or without.

    Where amounts may be negative it has two sides.
    """
    rng = np.random.default_rng(seed)
    n = 3 + switch
    weights = rng.integers(1, 5, n).astype(float)
    right = 6.0
    ends = np.full(n, upper)
    linking = sp.lil_array((5, n))
    linking[[0, 1, 2], [0, 1, 2]] = 1
    if switch:
        weights[3], right, ends[3] = -6, 0.0, 1
    return Block(
        "k", tuple(f"x{j}" for j in range(n)), np.ones(n), np.full(n, lower), ends,
        np.ones(n, dtype=bool), sp.csr_array(weights[None]), np.array([-5.0 if lower else -np.inf]),
        np.array([right]), sp.csr_array(linking), 3,
    )  # fmt: skip


def least(own: Block, cost: Any, decisions: Any, duals: Any) -> float:
    """The least cost over all points, one after another."""
    rows, best = {name: k for k, name in enumerate(ROWS)}, np.inf
    low = np.maximum(own.lower, -20)
    for point in product(*(range(int(a), int(b) + 1) for a, b in zip(low, own.upper, strict=True))):
        z = np.array(point, dtype=float)
        column = own.column(z)
        if (own.matrix @ z > own.row_upper).any() or (own.matrix @ z < own.row_lower).any():
            continue
        if any(not each.allows(column, rows) for each in decisions):
            continue
        earned = sum(dual * row.coefficient(column, rows) for row, dual in duals.items())
        best = min(best, float(cost @ z) - earned)
    return best


def request(
    own: Block,
    cost: Any,
    decisions: Sequence[Any] = (),
    duals: Mapping[Any, float] | None = None,
    left: Any = None,
) -> BlockRequest:
    """The pricing problem with these decisions, and what is left of the rows."""
    return BlockRequest(cost, *own.bounds(decisions, left), decisions, duals or {})
