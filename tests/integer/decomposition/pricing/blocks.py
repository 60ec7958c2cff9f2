"""Small blocks of every kind, their least cost by enumeration, and decisions about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from cgboost.integer.branching.decisions import VariableBound
from cgboost.integer.decomposition.pricing.assignment_block import AssignmentBlock
from cgboost.integer.decomposition.pricing.block import Block, BlockRequest
from cgboost.integer.decomposition.pricing.conflict_block import ConflictBlock
from cgboost.integer.decomposition.pricing.knapsack_block import KnapsackBlock
from cgboost.integer.decomposition.pricing.path_block import PathBlock
from tests.cases import Case

ROWS = ("a", "b", "c", "one", "other")
"""The last two are the convexity rows of this block and of another one."""


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


def least(own: Block, cost: Any, decisions: Any = (), duals: Any = None) -> float:
    """The least cost over all points, one after another."""
    rows, best = {name: k for k, name in enumerate(ROWS)}, np.inf
    low, high = np.maximum(own.lower, -20), np.minimum(own.upper, 20)
    ends = [np.arange(int(a), int(b) + 1.0) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1).reshape(-1, len(ends))
    sums = points @ own.matrix.T
    for z in points[((sums <= own.row_upper) & (sums >= own.row_lower)).all(axis=1)]:
        column = own.column(z)
        if any(not each.allows(column, rows) for each in decisions):
            continue
        earned = sum(d * row.coefficient(column, rows) for row, d in (duals or {}).items())
        best = min(best, float(cost @ z) - earned)
    return best


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


def any_flow(seed: int, *, easy: bool) -> Block:
    """Acyclic ones of amount 1 are easy: a shortest path always has the answer."""
    rng = np.random.default_rng(seed)
    amount = 1.0 if easy else float(rng.choice([1.0, 3.0]))
    return flow(
        seed,
        acyclic=easy or bool(rng.integers(2)),
        amount=amount,
        upper=np.inf if rng.integers(2) else amount,
        integer=bool(rng.integers(2)),
        ends=int(rng.integers(3)),
    )


def assignment(seed: int) -> Block:
    """Rows "exactly one" and "at most one" in two classes, some variables in one row alone."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 6, 2).tolist()
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
        (signs[:, None] * matrix)[order], *sides[order].T, integer=bool(rng.integers(2)),
        upper=rng.choice([1.0, 3.0, np.inf], matrix.shape[1]),
    )  # fmt: skip


def conflicts(seed: int, *, switch: bool = False) -> Block:
    """A knapsack of six pieces of which pairs, and three, exclude each other."""
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.choice(6, 2, replace=False) for _ in range(3)])
    apart = np.zeros((4, 6))
    apart[np.arange(3)[:, None], pairs] = 1.0
    apart[3, rng.choice(6, 3, replace=False)] = 1.0
    matrix, rhs = np.vstack([rng.uniform(1.0, 5.0, 6), apart]), np.array([9.0, 1, 1, 1, 1])
    if switch:
        matrix, rhs = np.column_stack([matrix, -rhs]), np.zeros(5)
    return block_of(matrix, -np.inf, rhs)


@dataclass(frozen=True, kw_only=True)
class BlockCase(Case[Block]):
    """Blocks by seeds.

    Parameters
    ----------
    kind : type or None
        The algorithm that recognises most of them; None: HiGHS alone.
    small : bool
        Whether all points can be looked at.
    knows : bool
        Whether the algorithm always has an answer.
    """

    kind: Any = None
    small: bool = True
    knows: bool = True


BLOCKS = [
    BlockCase(name="knapsack", make=block, kind=KnapsackBlock),
    BlockCase(
        name="knapsack to open", make=lambda seed: block(seed, switch=True), kind=KnapsackBlock
    ),
    BlockCase(name="conflicts", make=conflicts, kind=ConflictBlock),
    BlockCase(
        name="conflicts to open",
        make=lambda seed: conflicts(seed, switch=True),
        kind=ConflictBlock,
    ),
    BlockCase(name="negative amounts", make=lambda seed: block(seed, lower=-1.0)),
    BlockCase(
        name="path", make=lambda seed: any_flow(seed, easy=True), kind=PathBlock, small=False
    ),
    BlockCase(
        name="flow",
        make=lambda seed: any_flow(seed, easy=False),
        kind=PathBlock,
        small=False,
        knows=False,
    ),
    BlockCase(name="assignment", make=assignment, kind=AssignmentBlock, small=False),
]


def decisions_of(seed: int, own: Block, n: int) -> tuple[VariableBound, ...]:
    """Some variables are 0, some at least 1."""
    rng = np.random.default_rng(seed)
    places = rng.choice(len(own.variables), min(n, len(own.variables)), replace=False)
    return tuple(
        VariableBound(own.variables[j], lower=1.0, block="k")
        if rng.random() < 0.3
        else VariableBound(own.variables[j], upper=0.0)
        for j in places.tolist()
    )


def request(
    own: Block,
    cost: Any,
    decisions: Sequence[Any] = (),
    duals: Mapping[Any, float] | None = None,
    left: Any = None,
) -> BlockRequest:
    """The pricing problem with these decisions, and what is left of the rows."""
    return BlockRequest(cost, *own.bounds(decisions, left), decisions, duals or {})
