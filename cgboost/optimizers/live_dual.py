"""Restricted problems: the protocol of optimizers; of the dual over a box its form and sessions.

A :class:`BoxedDual` has a restricted dual over some variables of a loss and some columns as arrays:

    max  linear·u − ½Σ curvature·u²     s = Hᵀr + constant,  r = Σ sign·u,  0 ≤ u ≤ upper

with |s_j| ≤ limit_j, or s_j ≤ limit_j where α ≥ 0; a column of limit 0, as the free offset, has
s_j = 0. With softness, scores may exceed limits at a cost of ½(|s_j| − limit_j)₊²/softness_j. What
variables outside the session, and bases that are not 0, add to the scores is the constant.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.forks import cached_property
from cgboost.generation.columns import FloatArray
from cgboost.optimizers.interior_point import normal_equations


class DualSolution(NamedTuple):
    """Answer of a dual solver.

    Attributes
    ----------
    u : ndarray of shape (n_variables,)
        Of every dual variable, kept or fixed.
    coef : ndarray of shape (n_columns,)
    intercept, level : float
        Multipliers of Σr and of the mass.
    """

    u: Vector
    coef: Vector
    intercept: float
    level: float = 0.0


@dataclass(frozen=True)
class RestrictedPoint:
    """What a live restricted problem answers: a model, and the pseudo-response of its output.

    Attributes
    ----------
    coef : ndarray of shape (n_columns,)
    output : ndarray of shape (n_rows,)
    response : ndarray of shape (n_rows,)
        Pseudo-response r, up to the solver's accuracy.
    rate : ndarray of shape (n_variables,)
        What one more unit of each variable would add to the dual objective; may be empty.
    solved : bool
        Whether solving again would not come nearer to the optimum.
    """

    coef: Vector
    intercept: float
    output: Vector
    response: Vector
    rate: Vector = field(default_factory=lambda: np.zeros(0))
    solved: bool = True


class LiveProblem(Protocol):
    """A restricted problem, solved again and again while columns come to it.

    Attributes
    ----------
    largest_entry : float
        The largest |h| of all columns; 0 without any.
    """

    @property
    def largest_entry(self) -> float: ...  # noqa: D102

    def add(self, values: Sequence[FloatArray] | FloatArray) -> None:
        """Take in new columns, each of shape (n_rows,)."""
        ...

    def start_near(self, coef: Vector, intercept: float) -> None:
        """Take coefficients of all columns for near the optimum; the answer stays the same."""
        ...

    def scores(self, response: Vector) -> Vector:
        """h·r of all columns, shape (n_columns,)."""
        ...

    def solve(self, time_limit: float | None, accuracy: float = 0.0) -> RestrictedPoint:
        """The optimum over all columns, or a point at a relative gap of ``accuracy`` that will do.

        Raises
        ------
        SolverError
            If there is no answer.
        """
        ...


class Basis(NamedTuple):
    """A guess which constraints are tight at an optimal vertex.

    Attributes
    ----------
    sign : ndarray of shape (n_columns,)
        Of the coefficients; 0 for columns that are not in use.
    offset_sign : float
        Of the offset; 0 where it is not in use.
    inside : ndarray of int
        Variables inside their box, as many as columns and offset are in use.
    at_upper : ndarray of bool, shape (n_variables,)
        Of the other variables, those at their upper end.
    """

    sign: Vector
    offset_sign: float
    inside: Indices
    at_upper: NDArray[Any]


class LiveDual(ABC):
    """A problem over some variables of a loss and some columns, which come and go.

    Attributes
    ----------
    at_upper : ndarray of bool, shape (n_variables,)
        Where the variables that are not in the session stand: at their upper end, or at 0.
    kept : ndarray
        The variables in the session.
    constraints : ndarray
        One for each column in the session, by its number; negative numbers stand for those of the
        offset, of the level, of free directions.
    pivot_scores : ndarray
        The scores of the pivots of large columns, where it treats them apart.
    gap : float
        What the last solve has left open, in units of the objective.
    solved : bool
        Whether solving again would come no nearer to the optimum.
    """

    at_upper: NDArray[Any]
    constraints: Indices
    pivot_scores: Vector = np.zeros(0)
    gap: float = 0.0
    solved: bool = True

    if TYPE_CHECKING:

        @property
        def kept(self) -> Indices:
            """An attribute, or computed."""

    @property
    def absent(self) -> Indices:
        """The variables that are fixed."""
        fixed = np.ones(len(self.at_upper), dtype=bool)
        fixed[self.kept] = False
        return np.flatnonzero(fixed)

    @abstractmethod
    def activate(self, columns: Indices) -> None:
        """Put columns into the session."""

    def deactivate(self, columns: Indices) -> None:
        """Take columns out of the session."""
        assert not columns.size

    def idle(self, coef: Vector) -> Indices:
        """Columns in the session that are slack, at coefficients ``coef``."""
        return np.zeros(0, dtype=np.intp)

    @abstractmethod
    def unfix(self, variables: Indices) -> None:
        """Put variables into the session."""

    @abstractmethod
    def fix(self, variables: Indices, at_upper: NDArray[Any]) -> None:
        """Take variables out of the session and leave them at 0 or at their upper end."""

    @abstractmethod
    def solve(self, time_limit: float | None) -> DualSolution:
        """The optimum over the variables and columns in the session."""

    def aim(self, accuracy: float, *, again: bool) -> None:
        """How well to solve from now on, as a relative gap; 0: as well as can be.

        Above 0 a solve may end sooner, with ``solved`` false. ``again``: no column is new since the
        last solve, which is to be improved.
        """
        return

    def rescale(self) -> bool:
        """Take note that columns are new; whether the session was opened anew for them."""
        return False

    def shrink_unit(self) -> bool:
        """Open the session in a smaller unit; False if there is none."""
        return False


LEAST_OPENED = 0.1
"""Of the gap to the bound, the share that may at least be gained: with a hundredth of it, steps at
large prices went too far to come back (moons with C = 300); a tenth costs no more steps."""


@dataclass
class BoxedDual:
    """The data of one restricted problem.

    Attributes
    ----------
    block : ndarray of shape (n_rows, n_columns)
    row : ndarray of int, shape (n_variables,)
        That of ``block`` which each variable belongs to.
    sign, linear, upper, curvature : ndarray of shape (n_variables,)
        Of variables of a loss, upper = costs; of pivots, what their score may be.
    constant : ndarray of shape (n_columns,)
    limit, softness : ndarray of shape (n_columns,)
        Both 0 for a free offset and for free directions.
    two_sided : ndarray of bool, shape (n_columns,)
    fixed_gain : float
        What fixed variables and bases add to the dual objective; objective and bound are without.
    neutral : ndarray of shape (n_variables,)
        The u of the pseudo-response nearest to 0.
    refined : bool
        Whether columns may be nearly dependent, so that steps are worth more digits.
    in_order : bool
        Whether the variables are the rows of ``block``, one by one.
    """

    block: Vector
    row: Indices
    sign: Vector
    linear: Vector
    upper: Vector
    curvature: Vector
    constant: Vector
    limit: Vector
    softness: Vector
    two_sided: NDArray[np.bool_]
    fixed_gain: float
    neutral: Vector
    refined: bool = False
    in_order: bool = False

    @cached_property
    def products(self) -> Vector:
        """Products of the rows with each other, over columns divided by their softness."""
        soft = self.softness > 0
        part = self.block[:, soft] / np.sqrt(self.softness[soft])
        return part @ part.T

    def by_row(self, values: Vector) -> Vector:
        """Sums over the variables of each row, shape (n_rows,)."""
        if self.in_order:
            return values
        sums = np.bincount(self.row, weights=values, minlength=len(self.block))
        return sums.astype(np.float64, copy=False)

    def weights_by_row(self, weights: Vector) -> Any:
        """The weights of the rows in the equations of a step, from those of the variables."""
        return self.by_row(weights)

    def equations(self) -> normal_equations.FactoredEquations:
        """Normal equations of a step: of the size of the columns, or of the rows.

        The rows are all it takes where every column is soft.
        """
        soft = np.count_nonzero(self.softness > 0)
        if soft > len(self.block) and not self.limit.any():
            return normal_equations.RowEquations(self.block, self.softness > 0, self.products)
        return normal_equations.NormalEquations(self.block, refined=self.refined)

    def by_variable(self, output: Vector) -> Vector:
        """sign·f of each variable, shape (n_variables,)."""
        return self.sign * (output if self.in_order else output[self.row])

    def scores(self, u: Vector) -> Vector:
        """The scores s = Hᵀr + constant."""
        return self.by_row(self.sign * u) @ self.block + self.constant

    def rate(self, coef: Vector) -> Vector:
        """What the first unit of each variable would add."""
        return self.linear - self.by_variable(self.block @ coef)

    def objective(self, coef: Vector, rate: Vector) -> float:
        """Primal objective of the restricted problem, at coefficients of this rate."""
        best = self.upper * np.maximum(rate, 0.0)
        if self.curvature.any():
            bent = self.curvature > 0
            at = np.clip(rate / np.where(bent, self.curvature, 1.0), 0.0, self.upper)
            best = np.where(bent, at * (rate - 0.5 * self.curvature * at), best)
        price = self.limit @ np.abs(coef) + 0.5 * (self.softness @ coef**2)
        return float(price - self.constant @ coef + best.sum())

    def bound(self, u: Vector) -> float:
        """Dual objective at u, shrunk as a whole until no column is violated.

        What Σr lacks of 0 under a free offset is counted as if it were moved to the worst rows.
        That changes the score of no (scaled) column by more.
        """
        s = self.scores(u)
        unpriced = (self.softness == 0) & (self.limit == 0)
        missing = float(np.abs(s[unpriced]).sum())
        value = self._gained(u, s) - missing * float(np.abs(self.linear).max(initial=0.0))
        most = max(1.0, np.max(self._used_up(s) + missing / self.limit[self._hard], initial=0.0))
        return (self.fixed_gain + value) / most - self.fixed_gain

    def opened(self, u: Vector, coef: Vector) -> float:
        """How much the objective may still fall, by a guess that is below the gap to the bound.

        That gap moves the whole of Ω(α) to the most violated column; here every violated column
        takes as much as the largest coefficient has.
        """
        s, objective = self.scores(u), self.objective(coef, self.rate(coef))
        gap = objective - self.bound(u)
        largest = float((np.abs(coef) * self.limit)[self._hard].max(initial=0.0))
        if largest == 0.0:
            return gap
        excess = float(np.maximum(self._used_up(s) - 1.0, 0.0).sum())
        guess = objective - self._gained(u, s) + largest * excess
        return float(np.clip(guess, LEAST_OPENED * gap, gap)) if gap > 0.0 else 0.0

    def _gained(self, u: Vector, s: Vector) -> float:
        """Dual objective at u, feasible or not."""
        soft = self.softness > 0
        over = np.maximum(self._size(s) - self.limit, 0.0)[soft]
        value = float(self.linear @ u - 0.5 * self.curvature @ u**2)
        return value - 0.5 * float((over**2 / self.softness[soft]).sum())

    def _used_up(self, s: Vector) -> Vector:
        """Scores as shares of the limits of columns that have one."""
        return self._size(s)[self._hard] / self.limit[self._hard]

    @property
    def _hard(self) -> NDArray[np.bool_]:
        """Columns whose scores must not exceed their limit."""
        return (self.limit > 0) & (self.softness == 0)

    def _size(self, s: Vector) -> Vector:
        return np.where(self.two_sided, np.abs(s), s)
