"""Directions in which the points of a block go on without end: its recession cone.

    r with  A_i r ≥ 0 where row i has a lower side,  A_i r ≤ 0 where it has an upper one,
            r_j ≥ 0 where z_j has a lower bound,     r_j ≤ 0 where it has an upper one.

With rational data the hull of the integer points has the same directions as the relaxation of the
block (Meyer, Mathematical Programming 7, 1974), so that linear programs find them. Within the box
|r_j| ≤ 1 the cone has finitely many vertices, of which the extreme rays are some.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from cgboost._solvers import run_interruptible
from cgboost.arrays import Vector
from cgboost.integer.decomposition.model import checked, filled_highs, set_options
from cgboost.integer.decomposition.pricing.block import (
    Block,
    BlockError,
    BlockRequest,
    BlockTimeError,
)
from cgboost.tolerances import LP_FEASIBILITY

CONE_FEASIBILITY = 1e-9
"""What a direction may miss rows of the cone by: it is added to points many times."""


LOST_IN_DIRECTIONS = 1e-11
"""Share of the sum of |cost·direction| that is lost in rounding."""

MOST_CORRECTIONS = 20
"""Directions in which costs fall by rounding, at most."""

LARGEST_COST_HERE = 1e4
"""Costs are divided so that none is larger: the simplex method fails with costs of 3e16 times its
tolerance. Those that are 1e10 times as small still count."""


class RayProblem:
    """The direction of a block in which costs fall most.

    Parameters
    ----------
    matrix : sparse array of shape (n_rows, n_variables)
    row_lower, row_upper : ndarray of shape (n_rows,)
    name : hashable
        Of the block, for messages.

    Attributes
    ----------
    waiting : callable or None
        Called while HiGHS solves a problem; true ends it without result.
    """

    def __init__(
        self, matrix: sp.csr_array, row_lower: Vector, row_upper: Vector, name: object
    ) -> None:
        self._data, self._name = (matrix, row_lower, row_upper, name), name
        self._n = matrix.shape[1]
        self.waiting: Callable[[], bool] | None = None
        self._every = np.arange(self._n, dtype=np.int32)
        self._known: set[bytes] = set()  # directions that were found
        zeros, ends = np.zeros(self._n), _cone_ends(row_lower, row_upper)
        self._highs = filled_highs("the cone", zeros, (zeros, zeros), matrix, ends)
        set_options(
            self._highs,
            primal_feasibility_tolerance=CONE_FEASIBILITY,
            dual_feasibility_tolerance=CONE_FEASIBILITY,
        )

    def __reduce__(self) -> tuple[type[RayProblem], tuple[object, ...]]:
        """A copy has a new model."""
        return RayProblem, self._data

    @classmethod
    def of(cls, block: Block) -> RayProblem:
        """That of a block."""
        return cls(block.matrix, block.row_lower, block.row_upper, block.name)

    def solve(self, request: BlockRequest) -> tuple[Vector | None, Vector]:
        """The direction, of entries between −1 and 1, or None, and costs that fall in no other.

        Duals are right up to a tolerance. Where costs fall by no more than that, in a direction
        that is known, or by rounding alone, they are taken to stay what they are: the search for a
        point would end as unbounded otherwise.
        """
        if request.seconds is not None:
            left = max(0.0, request.seconds)
            set_options(self._highs, time_limit=self._highs.getRunTime() + left)
        cost = request.cost
        for _ in range(MOST_CORRECTIONS):
            direction = self.least(cost, request.lower, request.upper)
            terms = cost * direction
            fall = float(terms.sum())
            share = -fall / max(1.0, float(np.abs(terms).sum()))
            key = direction.tobytes()
            if share > LP_FEASIBILITY or (share > LOST_IN_DIRECTIONS and key not in self._known):
                self._known.add(key)
                return direction, cost
            if share <= 0.0:
                break
            cost = cost - fall / float(direction @ direction) * direction
        return None, cost

    def least(self, cost: Vector, lower: Vector, upper: Vector) -> Vector:
        """A direction of least cost within the box, for variables with these bounds.

        Raises
        ------
        BlockTimeError
            Where the time is up, or ``waiting`` says so.
        """
        highs = self._highs
        low, high = _cone_ends(lower, upper)
        ends = np.maximum(low, -1.0), np.minimum(high, 1.0)
        checked(highs.changeColsBounds(self._n, self._every, *ends), "the bounds of a cone")
        largest = float(np.abs(cost).max(initial=0.0))
        unit = max(largest / LARGEST_COST_HERE, min(largest, 1.0)) or 1.0
        checked(highs.changeColsCost(self._n, self._every, cost / unit), "the costs")
        if run_interruptible(highs, self.waiting or bool):
            raise KeyboardInterrupt
        status = highs.getModelStatus().name
        if status in ("kTimeLimit", "kInterrupt"):
            raise BlockTimeError("the time limit was reached in a search for directions")
        if status not in ("kOptimal", "kModelEmpty"):
            raise BlockError(f"HiGHS ends a direction of block {self._name!r} with {status}")
        direction = np.clip(np.array(highs.getSolution().col_value), *ends)
        direction[np.abs(direction) <= CONE_FEASIBILITY] = 0.0
        return direction


def has_rays(
    matrix: sp.csr_array,
    sides: tuple[Vector, Vector],
    bounds: tuple[Vector, Vector],
    waiting: Callable[[], bool] | None = None,
) -> bool:
    """Whether some direction of a block is not 0.

    Raises
    ------
    BlockTimeError
        Where ``waiting``, which is called meanwhile, says so.
    """
    lower, upper = _tightened(matrix, sides, bounds)
    endless = np.isinf(lower) | np.isinf(upper)
    if not endless.any():
        return False
    # almost every function tells a cone from the point 0, by itself or with the other sign
    cost = np.random.default_rng(0).uniform(1.0, 2.0, len(lower))
    problem = RayProblem(matrix, *sides, "")
    problem.waiting = waiting
    return any(problem.least(sign * cost, *bounds).any() for sign in (1.0, -1.0))


def _cone_ends(lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    """Ends of intervals of directions, for variables or rows with these ends."""
    return np.where(np.isinf(lower), -math.inf, 0.0), np.where(np.isinf(upper), math.inf, 0.0)


def _tightened(
    matrix: sp.csr_array, sides: Sequence[Vector], bounds: Sequence[Vector]
) -> tuple[Vector, Vector]:
    """Bounds, with finite ones where rows of one sign show that there are some."""
    lower, upper = (own.copy() for own in bounds)
    entries = matrix.tocoo()
    n_rows = matrix.shape[0]
    for sign, side in ((1.0, sides[1]), (-1.0, sides[0])):
        rising = sign * entries.data > 0
        ends = np.where(rising, lower[entries.col], upper[entries.col])
        n_endless = np.bincount(entries.row[np.isinf(ends)], minlength=n_rows)
        closes = (n_endless == 0)[entries.row] & np.isfinite(side)[entries.row]
        upper[entries.col[closes & rising & np.isinf(upper[entries.col])]] = 0.0
        lower[entries.col[closes & ~rising & np.isinf(lower[entries.col])]] = 0.0
    return lower, upper
