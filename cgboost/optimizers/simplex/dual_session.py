"""The live session of a restricted dual: which variable and row stand where, in which unit.

    min  −gain(u) + Ω*(Hᵀr)     r = base + Σ sign·u,  0 ≤ u ≤ costs

Session columns are the dual variables u (:mod:`cgboost.losses.dual.support_vector`). With
λ the threshold of the penalty, μ its quadratic term and D its radius there are for every column

    μ = 0      nothing                  a row  −λ ≤ h·r ≤ λ,         or  h·r ≤ λ  where α ≥ 0
    μ > 0      z, at the cost ½z²/μ     a row  −λ ≤ h·r − z ≤ λ,     or  h·r − z ≤ λ, z ≥ 0
    a ball     β for all, at the cost D·β;   rows  h·r ≤ β and −h·r ≤ β,   or the first of them

Further rows are Σr = 0 for a free offset, or the same as for a column of ones where the offset is
penalized, and Σu = mass (or ≤ mass) where the loss has one. The multiplier of a column's row is the
column's coefficient, that of the other rows the offset and the level.

A variable in the session is written u = end + direction·v/unit with 0 ≤ v ≤ unit·costs, where end
is the one at which it was last fixed: freed variables enter at v = 0, which changes neither ends
nor feasibility. The unit is chosen by the size of the columns (and multiplies the objective). Where
targets are very large or small, the objective (not the costs of the rows) is divided by a power of
two near its largest coefficient.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost._solvers import Program, Session, Solution, open_session
from cgboost.arrays import Indices, Vector
from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.live_dual import DualSolution, LiveDual
from cgboost.penalties.penalty import DualForm

OFFSET, LEVEL = -1, -2
"""Stand for the offset and the level in the list of constraints."""

AUXILIARY, LARGEST = -1, -2
"""Stand for the z of a column and for β in the list of session columns."""

LARGEST_UPPER = 1e6
"""The unit is chosen so that no cost exceeds this in the session."""

COST_RANGE = 1e4
"""Objectives whose largest coefficient is between this and its inverse are left as they are:
solvers' tolerances of 1e-7 suit them."""

UNIT_RANGE = 1e3
"""The session is opened anew when its unit has become too small by this factor."""


class DualSession(LiveDual):
    """A session over some of the variables of a loss and some of the columns.

    Parameters
    ----------
    columns : ColumnStore
        All columns; :meth:`activate` puts some of them into the session.
    options : mapping of str to object, optional
        The solver's own.
    """

    def __init__(
        self,
        loss: SupportVectorLoss,
        columns: ColumnStore,
        form: DualForm,
        solver: str,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.loss, self.variables, self.columns, self.form = loss, loss.variables, columns, form
        self.at_upper = np.zeros(len(self.variables), dtype=bool)
        self.constraints: Indices = np.zeros(0, dtype=np.intp)  # -> column, OFFSET or LEVEL
        self._row_signs = np.zeros(0)
        self._contents: Indices = np.arange(
            len(self.variables)
        )  # -> variable, AUXILIARY or LARGEST
        self._solver, self._options = solver, options
        self._extra = np.zeros(0)  # of each column, charged beyond the threshold
        self._unit = 1.0
        costs = self.variables.costs[np.isfinite(self.variables.costs)]
        self._largest_unit = LARGEST_UPPER / max(1.0, costs.max(initial=0.0))
        self._cost_unit = _power_of_two(self.variables.linear())
        # a variable between its ends would be lost as a small distance from the upper end
        self._bent = form.quadratic > 0 or bool(self.variables.curvature.any())
        self._session = self._open()

    # ------------------------------------------------------------------ what is in the session

    @property
    def _offsets(self) -> Indices:
        """What stands for offsets in the list of constraints."""
        return np.full(int(self.form.offset != "none"), OFFSET)

    @property
    def kept(self) -> Indices:
        """The variables in the session."""
        return self._contents[self._contents >= 0]

    def activate(self, columns: Indices) -> None:
        """Put columns (or OFFSET, or LEVEL, alone, or free columns alone) into it as rows."""
        constraints, signs = self._rows_of(columns)
        matrix = self._coefficients(constraints, signs, self._contents)
        if self.form.quadratic > 0 and not self._is_plain(constraints):
            auxiliary = self._add_auxiliary(constraints)
            stack = sparse.hstack if sparse.issparse(auxiliary) else np.hstack
            matrix = stack([matrix, auxiliary])
        self._session.add_rows(matrix, *self._row_bounds(constraints, signs))
        self.constraints = np.append(self.constraints, constraints)
        self._row_signs = np.append(self._row_signs, signs)

    def deactivate(self, columns: Indices) -> None:
        """Take the rows of columns out (not under a quadratic penalty: z would stay behind)."""
        gone = np.isin(self.constraints, columns)
        self._session.remove_rows(np.flatnonzero(gone))
        self.constraints, self._row_signs = self.constraints[~gone], self._row_signs[~gone]

    def idle(self, coef: Vector) -> Indices:
        """Columns in the session that are slack, at coefficients ``coef``."""
        held = np.unique(self.constraints[self.constraints >= self.form.n_free])
        return held[coef[held] == 0.0]

    def unfix(self, variables: Indices) -> None:
        """Put variables into the session."""
        if self._bent:
            self._rebase(variables, np.zeros(len(variables), dtype=bool))
        self._session.add_columns(
            self._costs(variables),
            self._coefficients(self.constraints, self._row_signs, variables),
            lower=np.zeros(len(variables)),
            upper=self._unit * self.variables.costs[variables],
            quadratic=self._curvature(variables),
        )
        self._contents = np.append(self._contents, variables)

    def fix(self, variables: Indices, at_upper: NDArray[np.bool_]) -> None:
        """Take variables out of the session and leave them at 0 or at their upper end."""
        places = np.empty(len(self.variables), dtype=np.intp)
        positions = np.flatnonzero(self._contents >= 0)
        places[self._contents[positions]] = positions
        self._session.remove_columns(places[variables])
        self._contents = np.delete(self._contents, places[variables])
        self._rebase(variables, at_upper)

    def charge(self, extra: Vector) -> None:
        """Charge a unit of each column, scaled, ``extra`` beyond the threshold from now on."""
        self._extra = extra
        everything = np.arange(len(self.constraints))
        self._session.change_row_bounds(
            everything, *self._row_bounds(self.constraints, self._row_signs)
        )

    # ------------------------------------------------------------------ solving

    def suggest(self, coef: Vector, rate: Vector) -> None:
        """Begin the next solve at the basis of a point near the optimum.

        The rows of columns in use are tight there. As many variables are inside their box, those
        whose rates are nearest to 0; the others stand at the end that their rate asks for.

        Parameters
        ----------
        coef : ndarray of shape (n_columns,)
            0 for columns that are not in use. A row of the offset counts as in use.
        rate : ndarray of shape (n_variables,)
        """
        real = self.constraints >= 0
        tight = np.ones(len(self.constraints))
        tight[real] = np.sign(self._row_signs[real] * coef[self.constraints[real]])
        places = np.flatnonzero(self._contents >= 0)
        kept = self._contents[places]
        at_ends = np.sign(rate[kept]) * self._direction(kept)
        nearest = np.argsort(np.abs(rate[kept]), kind="stable")
        at_ends[nearest[: np.count_nonzero(tight)]] = 0.0
        columns = np.zeros(len(self._contents))
        columns[places] = at_ends
        self._session.suggest_basis(columns, tight)

    def solve(self, time_limit: float | None) -> DualSolution:
        """Solve the session's problem; errors of the solver are passed on."""
        return self.answer(self._session.solve(time_limit=time_limit))

    def answer(self, solution: Solution) -> DualSolution:
        """What a solution of the session's problem says of all variables and columns."""
        u = np.where(self.at_upper, self.variables.costs, 0.0)
        places = np.flatnonzero(self._contents >= 0)
        kept = self._contents[places]
        u[kept] += self._direction(kept) * solution.x[places] / self._unit
        multipliers = -self._row_signs * solution.row_duals * self._cost_unit
        intercept = float(multipliers[self.constraints == OFFSET].sum())
        level = float(multipliers[self.constraints == LEVEL].sum())
        held = self.constraints >= 0
        signed = np.zeros(self.columns.count)  # under a ball a column has two rows
        np.add.at(signed, self.constraints[held], multipliers[held])
        coef = self.columns.of_columns(signed, np.arange(len(signed)))
        if not self.form.two_sided:
            np.maximum(coef, 0.0, out=coef, where=np.arange(len(coef)) >= self.form.n_free)
        if self.form.radius is not None:
            spent = np.abs(coef).sum() + self.form.charges_offset * abs(intercept)
            if spent > self.form.radius:
                coef *= self.form.radius / spent
                if self.form.charges_offset:
                    intercept *= self.form.radius / spent
        return DualSolution(u, coef, intercept, level)

    # ------------------------------------------------------------------ the unit

    def rescale(self) -> bool:
        """Whether the columns have become too large for the unit; if so, it was opened anew.

        Under a quadratic penalty the optimal u is of the order of 1/|h|²; in units of that, an
        interior point method sees numbers near 1 whatever the scale of the features. (The simplex
        gains nothing.)
        """
        if self.form.quadratic == 0:
            return False
        fitting = min(self.columns.scales.max() ** 2, self._largest_unit)
        fitting = float(2.0 ** np.round(np.log2(fitting)))
        if np.any(self.constraints >= 0) and fitting <= UNIT_RANGE * self._unit:
            return False
        self._unit = fitting
        self._session = self._open()
        return True

    def shrink_unit(self) -> bool:
        """Open the session in a smaller unit; False if it is small already."""
        if self._unit <= 1.0:
            return False
        self._unit = self._largest_unit = max(1.0, self._unit / UNIT_RANGE)
        self._session = self._open()
        return True

    def _open(self) -> Session:
        """A session in the current unit with the variables and columns of the one before it."""
        variables, held = self.kept, np.unique(self.constraints[self.constraints >= 0])
        radius = self.form.radius
        extra = [] if radius is None else [radius / self._cost_unit]
        self._contents = np.append(variables, np.full(len(extra), LARGEST, dtype=np.intp))
        self.constraints, self._row_signs = held[:0], np.zeros(0)
        curvature = self._curvature(variables)
        self._session = open_session(
            Program(
                cost=np.append(self._costs(variables), extra),
                matrix=np.zeros((0, len(self._contents))),
                row_lower=np.zeros(0),
                row_upper=np.zeros(0),
                lower=np.zeros(len(self._contents)),
                upper=np.append(
                    self._unit * self.variables.costs[variables], np.full(len(extra), np.inf)
                ),
                quadratic=None if curvature is None else np.append(curvature, np.zeros(len(extra))),
            ),
            self._solver,
            options=self._options,
        )
        if self.loss.mass is not None:
            self.activate(np.array([LEVEL]))
        if self._offsets.size:
            self.activate(self._offsets)
        for columns in (held[held < self.form.n_free], held[held >= self.form.n_free]):
            if columns.size:
                self.activate(columns)
        return self._session

    # ------------------------------------------------------------------ coefficients and limits

    def _rows_of(self, columns: Indices) -> tuple[Indices, Vector]:
        """The rows that columns need, and their signs: under a ball one for either sign."""
        both = self.form.two_sided or columns[0] == OFFSET
        if self.form.radius is None or self._is_plain(columns) or not both:
            return columns, np.ones(len(columns))
        return np.repeat(columns, 2), np.tile([1.0, -1.0], len(columns))

    def _coefficients(self, constraints: Indices, signs: Vector, contents: Indices) -> Vector:
        """Session coefficients of ``constraints`` on session columns ``contents``."""
        matrix = np.zeros((len(constraints), len(contents)))
        places = np.flatnonzero(contents >= 0)
        variables = contents[places]
        direction = self._direction(variables)
        factor = direction * self.variables.sign[variables]
        real = np.flatnonzero(constraints >= 0)
        values = self.columns.scaled(constraints[real], self.variables.row[variables]).T
        matrix[np.ix_(real, places)] = values * factor * signs[real, None]
        offset = np.flatnonzero(constraints == OFFSET)
        matrix[np.ix_(offset, places)] = factor * signs[offset, None]
        matrix[np.ix_(np.flatnonzero(constraints == LEVEL), places)] = direction
        charged = (constraints >= self.form.n_free) | (
            (constraints == OFFSET) & self.form.charges_offset
        )
        matrix[np.ix_(charged, contents == LARGEST)] = (
            -1.0 / self._scales(constraints)[charged, None]
        )
        return matrix

    def _row_bounds(self, constraints: Indices, signs: Vector) -> tuple[Vector, Vector]:
        """Bounds of ``constraints``, less the constant part of the bases."""
        fixed = np.where(self.at_upper, self.variables.costs, 0.0)
        response = self.variables.response(fixed)
        real = constraints >= 0
        constant = np.full(len(constraints), response.sum())
        constant[real] = (
            self.columns.scores(constraints[real], response) / self._scales(constraints)[real]
        )
        constant *= signs
        constant[constraints == LEVEL] = fixed.sum()
        upper = self.form.threshold / self._scales(constraints)
        if self._extra.size:
            upper[real] += self._extra[constraints[real]] * upper[real]
        lower = np.full(len(constraints), -np.inf)
        if self.form.radius is None:
            ranged = (constraints == OFFSET) | self.form.two_sided
            lower = np.where(ranged, -upper, -np.inf)
        free = real & (constraints < self.form.n_free)
        if self.form.offset == "free":
            free |= constraints == OFFSET
        lower[free] = upper[free] = 0.0
        if (mass := self.loss.mass) is not None:
            upper[constraints == LEVEL] = mass.amount
            lower[constraints == LEVEL] = -np.inf if mass.at_most else mass.amount
        return self._unit * (lower - constant), self._unit * (upper - constant)

    def _add_auxiliary(self, constraints: Indices) -> Any:
        """Add a variable z for each column; return the new rows' coefficients on them.

        Sparse where there are more z than variables: stored in full, the zeros between them would
        be most of the matrix.
        """
        count = len(constraints)
        signed = self.form.two_sided or constraints[0] == OFFSET
        many = np.count_nonzero(self._contents == AUXILIARY) + count > len(self.kept)
        shape = len(self.constraints), count
        self._session.add_columns(
            np.zeros(count),
            sparse.csr_array(shape) if many else np.zeros(shape),
            lower=-np.inf if signed else 0.0,
            quadratic=np.full(count, 1.0 / self.form.quadratic / self._cost_unit),
        )
        self._contents = np.append(self._contents, np.full(count, AUXILIARY))
        entries = -np.sqrt(self._unit) / self._scales(constraints)
        return sparse.diags_array(entries) if many else np.diag(entries)

    def _rebase(self, variables: Indices, at_upper: NDArray[np.bool_]) -> None:
        """Move the base of variables that are not in the session."""
        moved = self.at_upper[variables] != at_upper
        self.at_upper[variables] = at_upper
        if moved.any() and len(self.constraints):
            everything = np.arange(len(self.constraints))
            self._session.change_row_bounds(
                everything, *self._row_bounds(self.constraints, self._row_signs)
            )

    def _curvature(self, variables: Indices) -> Vector | None:
        curvature = self.variables.curvature[variables]
        return curvature / self._unit / self._cost_unit if curvature.any() else None

    def _costs(self, variables: Indices) -> Vector:
        return -self._direction(variables) * self.variables.linear()[variables] / self._cost_unit

    def _direction(self, variables: Indices) -> Vector:
        return np.where(self.at_upper[variables], -1.0, 1.0)

    def _scales(self, constraints: Indices) -> Vector:
        scales = np.ones(len(constraints))
        scales[constraints >= 0] = self.columns.scales[constraints[constraints >= 0]]
        return scales

    def _is_plain(self, constraints: Indices) -> bool:
        """Whether these have no z and no β: the level, a free offset or free columns."""
        first = constraints[0] if len(constraints) else self.form.n_free
        if first == OFFSET:
            return self.form.offset == "free"
        return bool(first == LEVEL or first < self.form.n_free)


def _power_of_two(linear: Vector) -> float:
    """What to divide costs by."""
    largest = float(np.abs(linear).max(initial=0.0))
    if largest == 0.0 or 1.0 / COST_RANGE <= largest <= COST_RANGE:
        return 1.0
    return float(2.0 ** np.round(np.log2(largest)))
