"""A block that is an assignment of rows of one class to rows of another, in a bipartite graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from cgboost.arrays import Mask, Vector
from cgboost.integer.decomposition.blocks import Positions
from cgboost.integer.decomposition.model import whole_ends
from cgboost.integer.decomposition.pricing.block import NO_POINT, Block, BlockRequest, Found
from cgboost.integer.decomposition.pricing.network import two_colouring

MOST_ASSIGNED = 2000
"""Rows of a block, at most: with twice as many the dense matrix of costs has 128 MB."""


@dataclass(frozen=True, eq=False)
class _Graph:
    """Rows of two classes, and variables as edges.

    Attributes
    ----------
    left, right : ndarray of int, shape (n_variables,)
        The row of each variable in either class, numbered in its class; −1 for none.
    left_must, right_must : ndarray of bool
        Whether a row is met exactly once; otherwise at most once.
    """

    left: Positions
    right: Positions
    left_must: Mask
    right_must: Mask


class AssignmentBlock:
    """A block of rows "exactly one" and "at most one" in two classes, a variable in one of each.

    With a dummy partner of every row that may go without one, and dummies that may go with each
    other, it is the assignment problem of a square matrix, for
    :func:`scipy.optimize.linear_sum_assignment`.
    """

    def __init__(self, block: Block) -> None:
        graph = _graph_of(block)
        if graph is None:
            raise ValueError(f"block {block.name!r} is no assignment")
        self._graph, self._integer = graph, block.integer
        self._only_left = np.flatnonzero(graph.right < 0)
        self._only_right = np.flatnonzero(graph.left < 0)
        self._pairs = np.flatnonzero((graph.left >= 0) & (graph.right >= 0))

    @staticmethod
    def fits(block: Block) -> bool:
        """Whether a block is such an assignment."""
        whole = ((block.upper == 0) | (block.upper >= 1)).all() and (block.lower == 0).all()
        return (
            bool(whole) and len(block.row_upper) <= MOST_ASSIGNED and _graph_of(block) is not None
        )

    def solve(self, request: BlockRequest) -> Found | None:
        """The least cost between bounds, unless they are fractional."""
        lower, upper = whole_ends(request.lower, request.upper, self._integer)
        if (lower > np.minimum(upper, 1.0)).any():
            return NO_POINT
        forced, allowed = lower > 0, upper > 0
        if (lower[forced] < 1).any() or (upper[allowed] < 1).any():
            return None
        must = [self._graph.left_must, self._graph.right_must]
        for side, rows in enumerate((self._graph.left, self._graph.right)):
            taken = np.bincount(rows[forced] + 1, minlength=must[side].size + 1)
            taken[0] = 0  # of no row
            if (taken > 1).any():
                return NO_POINT
            must[side] = must[side] | (taken[1:] > 0)
            allowed = allowed & (forced | (taken[rows + 1] == 0))
        return self._assigned(request.cost, np.where(allowed, request.cost, np.inf), must)

    def _assigned(self, cost: Vector, price: Vector, must: list[Mask]) -> Found:
        """The assignment problem; of parallel variables the cheapest is in the matrix."""
        graph = self._graph
        n, m = must[0].size, must[1].size
        order = self._pairs[np.argsort(-price[self._pairs], kind="stable")]  # the last one stays
        pair, costs = np.full((n, m), -1, dtype=np.intp), np.full((n, m), np.inf)
        pair[graph.left[order], graph.right[order]] = order
        costs[graph.left[order], graph.right[order]] = price[order]
        singles = [
            _singles(price, self._only_left, graph.left, must[0]),
            _singles(price, self._only_right, graph.right, must[1]),
        ]
        try:
            rows, columns = linear_sum_assignment(_square(costs, singles[0][1], singles[1][1]))
        except ValueError:  # infeasible
            return NO_POINT
        real = (rows < n) & (columns < m)
        chosen = [
            pair[rows[real], columns[real]],
            singles[0][0][rows[(rows < n) & ~real]],
            singles[1][0][columns[(columns < m) & ~real]],
        ]
        z, used = np.zeros(cost.size), np.concatenate(chosen)
        z[used[used >= 0]] = 1.0
        return Found(float(cost @ z), [z])


def _graph_of(block: Block) -> _Graph | None:
    """Rows and variables as a bipartite graph; None if they are none."""
    matrix = sp.csc_array(block.matrix)
    n_rows, n = matrix.shape
    n_entries = np.diff(matrix.indptr)
    if not n or not np.isin(n_entries, (1, 2)).all():
        return None
    signs = np.ones(n_rows)
    signs[matrix.indices[matrix.data < 0]] = -1.0
    if (signs[matrix.indices] * matrix.data != 1).any():
        return None
    low = np.where(signs > 0, block.row_lower, -block.row_upper)
    high = np.where(signs > 0, block.row_upper, -block.row_lower)
    must = low == 1
    if (high != 1).any() or not (must | (low <= 0)).all():
        return None
    first, last = matrix.indices[matrix.indptr[:-1]], matrix.indices[matrix.indptr[1:] - 1]
    first, last, pair = first.astype(np.intp), last.astype(np.intp), n_entries == 2
    colours = two_colouring(n_rows, first[pair], last[pair], np.ones(int(pair.sum()), np.bool_))
    if colours is None:
        return None
    number = np.where(colours, np.cumsum(colours), np.cumsum(~colours)) - 1
    left, right = np.full(n, -1, dtype=np.intp), np.full(n, -1, dtype=np.intp)
    for rows in (first, last):
        own = colours[rows]
        right[own], left[~own] = number[rows[own]], number[rows[~own]]
    return _Graph(left, right, must[~colours], must[colours])


def _singles(
    price: Vector, only: Positions, rows: Positions, must: Mask
) -> tuple[Positions, Vector]:
    """The cheapest way to leave a row without partner: a variable or −1 for none, and the cost."""
    variable, cost = np.full(must.size, -1, dtype=np.intp), np.where(must, np.inf, 0.0)
    order = only[np.argsort(-price[only], kind="stable")]
    order = order[price[order] < cost[rows[order]]]
    variable[rows[order]], cost[rows[order]] = order, price[order]
    return variable, cost


def _square(costs: Vector, left: Vector, right: Vector) -> Vector:
    """The costs with a dummy for each row and column that may go without a partner."""
    n, m = costs.shape
    p, q = np.flatnonzero(np.isfinite(left)), np.flatnonzero(np.isfinite(right))
    size = max(n + q.size, m + p.size)
    square = np.full((size, size), np.inf)
    square[:n, :m] = costs
    square[p, m + np.arange(p.size)] = left[p]
    square[n + np.arange(q.size), q] = right[q]
    square[n:, m:] = 0.0
    return square
