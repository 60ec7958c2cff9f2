"""Restricted dual: its columns, its form over a box, and the protocol of its solvers.

With a free offset Σ r = 0, so that columns may be centred without changing the problem: a column's
mean moves into the offset. Features with a large mean would otherwise leave the solver a
difference of large numbers. Columns are kept scaled to entries of at most 1; what goes in and what
comes out is in the columns' own units, except where a name says "scaled".

The data of a restricted dual over some variables of a loss and some columns, as arrays.

    max  gain·u − ½Σ curvature·u²     s = Hᵀr + constant,  r = Σ sign·u,  0 ≤ u ≤ cap

with |s_j| ≤ limit_j, or s_j ≤ limit_j where α ≥ 0; a column of limit 0, as the free offset, has
s_j = 0. With softness, scores may exceed limits at a cost of ½(|s_j| − limit_j)₊²/softness_j. What
variables outside the session add to the scores is the constant.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.columns import FloatArray
from cgboost.losses.dual.support_vector import Indices, Vector
from cgboost.masters.dual_solvers import normal_equations
from cgboost.masters.dual_solvers.large_columns import LargeColumns
from cgboost.masters.free_columns import FreeColumns


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
    at_cap : ndarray of bool, shape (n_variables,)
        Of the other variables, those at their cap.
    """

    sign: Vector
    offset_sign: float
    inside: Indices
    at_cap: NDArray[Any]


class LiveDual(ABC):
    """A problem over some variables of a loss and some columns, which come and go.

    Attributes
    ----------
    at_cap : ndarray of bool, shape (n_variables,)
        Where the variables that are not in the session stand: at their cap, or at 0.
    kept : ndarray
        The variables in the session.
    rows : ndarray
        The columns in the session, and negative numbers for rows that are none.
    pivot_scores : ndarray
        The scores of the pivots of large columns, where it treats them apart.
    gap : float
        What the last solve has left open, in units of the objective.
    solved : bool
        Whether solving again would come no nearer to the optimum.
    """

    at_cap: NDArray[Any]
    rows: Indices
    pivot_scores: Vector
    gap: float = 0.0
    solved: bool = True

    if TYPE_CHECKING:

        @property
        def kept(self) -> Indices:
            """An attribute, or computed."""

    @property
    def absent(self) -> Indices:
        """The variables that are fixed."""
        fixed = np.ones(len(self.at_cap), dtype=bool)
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
    def free(self, variables: Indices) -> None:
        """Put variables into the session."""

    @abstractmethod
    def fix(self, variables: Indices, at_cap: NDArray[Any]) -> None:
        """Take variables out of the session and leave them at 0 or at their cap."""

    @abstractmethod
    def solve(self, time_limit: float | None) -> DualSolution:
        """The optimum over the variables and columns in the session."""

    def aim(self, accuracy: float, *, again: bool) -> None:
        """How well to solve from now on, as a relative gap; 0: as well as can be.

        Above 0 a solve may end sooner, with ``solved`` false; less so ``again``, where no column is
        new.
        """
        return

    def rescale(self) -> bool:
        """Take note that columns are new; whether the session was opened anew for them."""
        return False

    def shrink_unit(self) -> bool:
        """Open the session in a smaller unit; False if there is none."""
        return False


TOGETHER = 128
"""Columns that are taken in at a time."""


class ColumnStore:
    """Columns side by side in one array that grows without copying each time.

    A row of the array is a training row, so that the few rows that matter at a time can be
    gathered fast. The first columns may be free ones, which stay in a matrix of their own.

    Parameters
    ----------
    n_rows : int
    centred : bool
    large : float
        Columns of larger entries become free directions, and solvers see of them only what is left:
        :mod:`cgboost.masters.dual_solvers.large_columns`. Scores and scaled columns are those
        that solvers see, coefficients those of the columns themselves.
    free : FreeColumns, optional
        Solvers see their directions in their place.
    """

    def __init__(
        self,
        n_rows: int,
        *,
        centred: bool,
        large: float = np.inf,
        free: FreeColumns | None = None,
    ) -> None:
        self._centred = centred
        self.free = FreeColumns([]) if free is None else free
        self.count = self.n_free = len(self.free)
        self._means = self.free.means
        self._buffer = np.empty((n_rows, 16))
        self.scales = np.ones(self.n_free)
        self.largest = 0.0
        self.large = LargeColumns(n_rows, large)
        self._whole = np.zeros((n_rows, 0))
        self._replaced: Indices = np.zeros(0, dtype=np.intp)

    def append(self, values: Sequence[FloatArray] | FloatArray) -> None:
        """Append columns, each of shape (n_rows,).

        They are centred and scaled a few at a time: thousands at once would want fresh memory for
        every intermediate result.
        """
        held = self.count - self.n_free
        if (count := held + len(values)) > self._buffer.shape[1]:
            grown = np.empty((self._buffer.shape[0], 2 * count))
            grown[:, :held] = self._buffer[:, :held]
            self._buffer = grown
        for start in range(0, len(values), TOGETHER):
            some = np.array(values[start : start + TOGETHER], dtype=np.float64)
            means = some.mean(axis=1) if self._centred else np.zeros(len(some))
            some -= means[:, None]
            largest = np.maximum(some.max(axis=1), -some.min(axis=1))
            self.largest = max(self.largest, float(largest.max(initial=0.0)))
            if (too_large := largest > self.large.least).any():
                some[too_large] = self._replace(some[too_large].T, np.flatnonzero(too_large)).T
                largest = np.abs(some).max(axis=1)
            scales = np.where(largest > 0, largest, 1.0)
            some /= scales[:, None]
            place = self.count - self.n_free
            self._buffer[:, place : place + len(some)] = some.T
            self._means = np.append(self._means, means)
            self.scales = np.append(self.scales, scales)
            self.count += len(some)

    def _replace(self, columns: Vector, places: Indices) -> Vector:
        """What the directions of all large columns leave of some that are new."""
        numbers, earlier = self.count + places, self._replaced
        self._whole = np.hstack([self._whole, columns])
        self._replaced = np.append(earlier, numbers)
        old = len(self.large)
        rest, new = self.large.take(columns, numbers)
        if new.size and earlier.size:
            places = earlier - self.n_free
            held = self._buffer[:, places]
            shares = new.T @ held
            self._buffer[:, places] = held - new @ shares
            self.large.moved(old, earlier, shares * self.scales[earlier])
        return rest

    @property
    def directions(self) -> Indices:
        """What solvers see of the free columns, by number."""
        return np.arange(self.free.n_directions)

    def imbalance(self, coef: Vector, response: Vector) -> float:
        """What scores of free columns that are not 0 are worth: |Q'r|·|c| at Fα = Qc."""
        if not self.n_free:
            return 0.0
        size = np.linalg.norm(self.free.of_columns(coef[: self.n_free]))
        return float(np.linalg.norm(self.free.scores(response)) * size)

    def on_part(self, rows: Indices) -> ColumnStore:
        """Directions and columns, as they are centred, on some of the rows; a store of its own."""
        part = ColumnStore(len(rows), centred=False, free=self.free.on_part(rows))
        held = self.scales[self.n_free :]
        part.append((self._buffer[rows, : len(held)] * held).T)
        return part

    def of_part(self, coef: Vector) -> Vector:
        """Coefficients of the columns, from those in :meth:`on_part`."""
        first = self.free.n_directions
        return np.append(self.free.to_columns[:, :first] @ coef[:first], coef[first:])

    def of_columns(self, coef: Vector, columns: Indices) -> Vector:
        """Coefficients of all columns, from those of some scaled columns."""
        own = np.zeros(self.count)
        own[columns] = coef / self.scales[columns]
        return self.of_directions(own)

    def of_directions(self, coef: Vector) -> Vector:
        """Coefficients of the columns, where the first of ``coef`` are those of directions."""
        if not self.n_free:
            return coef
        return np.append(self.free.to_columns @ coef[: self.n_free], coef[self.n_free :])

    def part(self, columns: Indices) -> ColumnStore:
        """Some of the columns, none of them free, in a store of their own, where none is large."""
        some = ColumnStore(len(self._buffer), centred=self._centred)
        some._buffer = self._buffer[:, columns - self.n_free]
        some._means, some.scales = self._means[columns], self.scales[columns]
        if (there := np.flatnonzero(np.isin(columns, self._replaced))).size:
            whole = self.whole(columns[there])
            some.scales[there] = np.abs(whole).max(axis=0)
            some._buffer[:, there] = whole / some.scales[there]
        some.count, some.largest = len(columns), float(some.scales.max(initial=0.0))
        return some

    def combine(self, coef: Vector) -> Vector:
        """Hα, shape (n_rows,)."""
        if not len(self._replaced):
            return self._combined(coef)
        others = coef.copy()
        others[self._replaced] = 0.0
        return self._combined(others) + self._whole @ coef[self._replaced]

    def _combined(self, coef: Vector) -> Vector:
        free, held = coef[: self.n_free], (coef * self.scales)[self.n_free :]
        active = np.flatnonzero(held)
        if 2 * len(active) > len(held):  # gathering columns costs more than multiplying by 0
            output = self._buffer[:, : len(held)] @ held
        else:
            output = self._buffer[:, active] @ held[active]
        return output + self.free.combine(free) if free.any() else output

    def shift(self, coef: Vector) -> float:
        """What centring took away from the output: Σ α_j mean(h_j)."""
        return float(self._means @ coef)

    def scores(self, columns: Indices, response: Vector) -> Vector:
        """h·r of some columns."""
        if not self.n_free:
            return self._held_scores(columns, response) * self.scales[columns]
        free, scores = columns < self.n_free, np.zeros(len(columns))
        if free.any():
            scores[free] = self.free.scores(response)[columns[free]]
        held = columns[~free]
        scores[~free] = self._held_scores(held - self.n_free, response) * self.scales[held]
        return scores

    def _held_scores(self, places: Indices, response: Vector) -> Vector:
        support, held = np.flatnonzero(response), self.count - self.n_free
        if 2 * len(places) < held:
            return response[support] @ self._held(places, support)
        rows = self._buffer if 2 * len(support) > len(response) else self._buffer[support]
        weights = response if len(rows) == len(response) else response[support]
        scores: Vector = (weights @ rows[:, :held])[places]
        return scores

    def scaled_scores(self, response: Vector) -> Vector:
        """h·r of the columns that are not free, scaled to entries of at most 1."""
        scores: Vector = response @ self._buffer[:, : self.count - self.n_free]
        return scores

    def whole_scores(self, columns: Indices, response: Vector) -> Vector:
        """h·r of some columns as they were taken in, but for centring."""
        scores = self.scores(columns, response)
        there = np.flatnonzero(np.isin(columns, self._replaced))
        scores[there] = response @ self.whole(columns[there])
        return scores

    def whole(self, columns: Indices) -> Vector:
        """Large columns as they were taken in, but for centring; shape (n_rows, len(columns))."""
        place = np.full(self.count, -1)
        place[self._replaced] = np.arange(len(self._replaced))
        return self._whole[:, place[columns]]

    def scaled(self, columns: Indices, rows: Indices) -> Vector:
        """Columns, scaled to entries of at most 1, on some rows; shape (n_rows, n_columns).

        All columns on all rows, both in order, are shown as they are kept: they must not be written
        to.
        """
        if not self.n_free:
            return self._held(columns, rows)
        free, values = columns < self.n_free, np.empty((len(rows), len(columns)))
        if free.any():
            values[:, free] = self.free.rows(rows, columns[free])
        if not free.all():
            values[:, ~free] = self._held(columns[~free] - self.n_free, rows)
        return values

    def _held(self, places: Indices, rows: Indices) -> Vector:
        count = self.count - self.n_free
        all_rows = len(rows) == len(self._buffer) and _in_order(rows)
        if len(places) < count or not _in_order(places):
            if all_rows:
                return np.take(self._buffer, places, axis=1)
            return self._buffer[np.ix_(rows, places)]
        return self._buffer[:, :count] if all_rows else self._buffer[rows, :count]


def _in_order(numbers: Indices) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())


LEAST_OPENED = 0.1
"""Of the gap to the bound, the share that may at least be gained: with a hundredth of it, steps at
large prices went too far to come back (moons with C = 300); a tenth costs no more steps."""


@dataclass
class BoxedDual:
    """The data of one restricted problem.

    Attributes
    ----------
    block : ndarray of shape (n_rows, n_columns)
    place : ndarray of shape (n_variables,)
        Row of ``block`` that each variable belongs to.
    sign, gain, cap, curvature : ndarray of shape (n_variables,)
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
    place: Indices
    sign: Vector
    gain: Vector
    cap: Vector
    curvature: Vector
    constant: Vector
    limit: Vector
    softness: Vector
    two_sided: NDArray[np.bool_]
    fixed_gain: float
    neutral: Vector
    refined: bool = False
    in_order: bool = False

    @property
    def fewer_rows(self) -> bool:
        """Whether a system of the size of the rows is the smaller one, and all it takes."""
        soft = np.count_nonzero(self.softness > 0)
        return bool(soft > len(self.block) and not self.limit.any())

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
        sums = np.bincount(self.place, weights=values, minlength=len(self.block))
        return sums.astype(np.float64, copy=False)

    def weights_by_row(self, weights: Vector) -> Any:
        """The weights of the rows in the equations of a step, from those of the variables."""
        return self.by_row(weights)

    def equations(self) -> normal_equations.FactoredEquations:
        """Normal equations of a step: of the size of the columns, or of the rows."""
        if self.fewer_rows:
            return normal_equations.RowEquations(self.block, self.softness > 0, self.products)
        return normal_equations.NormalEquations(self.block, refined=self.refined)

    def by_variable(self, output: Vector) -> Vector:
        """sign·f of each variable, shape (n_variables,)."""
        return self.sign * (output if self.in_order else output[self.place])

    def scores(self, u: Vector) -> Vector:
        """The scores s = Hᵀr + constant."""
        return self.by_row(self.sign * u) @ self.block + self.constant

    def rate(self, coef: Vector) -> Vector:
        """What the first unit of each variable would add."""
        return self.gain - self.by_variable(self.block @ coef)

    def objective(self, coef: Vector, rate: Vector) -> float:
        """Primal objective of the restricted problem, at coefficients of this rate."""
        best = self.cap * np.maximum(rate, 0.0)
        if self.curvature.any():
            bent = self.curvature > 0
            at = np.clip(rate / np.where(bent, self.curvature, 1.0), 0.0, self.cap)
            best = np.where(bent, at * (rate - 0.5 * self.curvature * at), best)
        price = self.limit @ np.abs(coef) + 0.5 * (self.softness @ coef**2)
        return float(price - self.constant @ coef + best.sum())

    def bound(self, u: Vector) -> float:
        """Dual objective at u, shrunk as a whole until no column is violated.

        What Σr lacks of 0 under a free offset is counted as if it were moved to the worst rows.
        That changes the score of no (scaled) column by more.
        """
        s = self.scores(u)
        free = (self.softness == 0) & (self.limit == 0)
        missing = float(np.abs(s[free]).sum())
        value = self._gained(u, s) - missing * float(np.abs(self.gain).max(initial=0.0))
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
        value = float(self.gain @ u - 0.5 * self.curvature @ u**2)
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
