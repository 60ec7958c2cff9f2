"""Random blocks that are networks and assignments, and their decisions."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from cgboost.integer.branching.decisions import VariableBound
from cgboost.integer.decomposition.pricing.block import Block


def block_of(
    matrix: Any, low: Any, high: Any, *, upper: Any = 1.0, integer: Any = True, lower: Any = 0.0
) -> Block:
    """A block with these rows; no variable links it."""
    matrix = sp.csr_array(np.asarray(matrix, dtype=float))
    n_rows, n = matrix.shape
    return Block(
        "k", tuple(f"x{j}" for j in range(n)), np.zeros(n), np.full(n, lower) + np.zeros(n),
        np.full(n, upper) + np.zeros(n), np.full(n, integer) & np.ones(n, dtype=bool), matrix,
        np.full(n_rows, low) + np.zeros(n_rows), np.full(n_rows, high) + np.zeros(n_rows),
        sp.csr_array((1, n)), 0,
    )  # fmt: skip


def flow(
    seed: int,
    *,
    n: int = 6,
    n_arcs: int = 14,
    acyclic: bool = True,
    amount: float = 1.0,
    upper: float = 1.0,
    integer: bool = True,
    ends: int = 0,
) -> Block:
    """A flow from node 0 to the last one, rows with random signs.

    Of ``ends`` last nodes there is no row, so that arcs end or begin there with a single entry; of
    the first node the row says "at most" where there are such.
    """
    rng = np.random.default_rng(seed)
    tails, heads = np.empty(n_arcs, int), np.empty(n_arcs, int)
    for arc in range(n_arcs):
        pair = rng.choice(n, 2, replace=False)
        tails[arc], heads[arc] = np.sort(pair) if acyclic else pair
    matrix = np.zeros((n, n_arcs))
    matrix[tails, range(n_arcs)], matrix[heads, range(n_arcs)] = 1, -1
    balance = np.r_[amount, np.zeros(n - 2), -amount]
    keep = n - ends
    matrix = matrix[:keep]
    used = (matrix != 0).any(axis=0)
    low, high = balance[:keep].copy(), balance[:keep].copy()
    if ends:
        low[0] = -np.inf
    signs = rng.choice([-1.0, 1.0], keep)
    sides = np.sort(np.c_[signs * low, signs * high], axis=1)
    return block_of(signs[:, None] * matrix[:, used], *sides.T, upper=upper, integer=integer)


def assignment(seed: int, *, n: int = 4, m: int = 4, integer: bool = True) -> Block:
    """Rows "exactly one" and "at most one" in two classes, some variables in one row alone."""
    rng = np.random.default_rng(seed)
    columns = []
    for i in range(n):
        for j in range(m):
            for _ in range(int(rng.choice([0, 1, 1, 2]))):
                columns.append((i, n + j))
    columns += [(int(row),) for row in rng.integers(n + m, size=int(rng.integers(4)))]
    matrix = np.zeros((n + m, max(1, len(columns))))
    for place, rows in enumerate(columns):
        matrix[list(rows), place] = 1
    matrix = matrix[:, (matrix != 0).any(axis=0)]
    low = np.where(rng.random(n + m) < 0.5, 1.0, rng.choice([-np.inf, 0.0], n + m))
    order, signs = rng.permutation(n + m), rng.choice([-1.0, 1.0], n + m)
    sides = np.sort(np.c_[signs * low, signs], axis=1)
    return block_of(
        (signs[:, None] * matrix)[order], *sides[order].T, integer=integer,
        upper=rng.choice([1.0, 3.0, np.inf], matrix.shape[1]),
    )  # fmt: skip


def decisions_of(seed: int, own: Block, n: int) -> tuple[VariableBound, ...]:
    """Some variables are 0, some at least 1."""
    rng = np.random.default_rng(seed)
    places = rng.choice(len(own.variables), min(n, len(own.variables)), replace=False)
    return tuple(
        VariableBound(own.variables[j], lower=1.0)
        if rng.random() < 0.3
        else VariableBound(own.variables[j], upper=0.0)
        for j in places.tolist()
    )
