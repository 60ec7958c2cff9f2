"""The live session of a linear master: two phases, and only the columns that matter.

**Two phases.** Where x = 0 misses a row, that row has an artificial column. While the generated
columns do not suffice, the session minimises the sum of the artificials, and the duals handed out
are r = M·y, the duals y of that problem times a large number M: c − M·y·h < 0 is then the old
condition y·h > 0, but for costs, so a pricer need not know of phases. Once no artificial is needed
they are fixed at 0 and the costs are put in. M goes with the largest cost seen; while no column has
shown what costs are like, it is raised before a search that finds nothing is believed.

**Deactivation.** A column that has been idle (coefficient 0, positive reduced cost) in so many
solves in a row leaves the session. After every solve the inactive columns are priced at the duals
of the phase; those that could lower its objective come back and the session is solved again, so
whoever asks gets the optimum over *all* columns.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from cgboost._solvers import Program, Solution, open_session
from cgboost.arrays import Indices, Vector, blocks_of
from cgboost.generation.columns import Column
from cgboost.generation.protocols import ZERO_REDUCED_COST
from cgboost.optimizers.solver_options import deadline_of, time_left
from cgboost.tolerances import LP_FEASIBILITY

SENSES = {"<=": "<=", "≤": "<=", "==": "==", "=": "==", ">=": ">=", "≥": ">="}


@dataclass(frozen=True, eq=False)
class MasterRows:
    """Rows Σ h_j x_j  ≤ | = | ≥  rhs.

    Attributes
    ----------
    senses : ndarray of str
        ``"<="``, ``"=="`` or ``">="`` for each.
    rhs : ndarray of shape (n_rows,)
    """

    names: Sequence[Hashable]
    senses: NDArray[np.str_]
    rhs: Vector

    @classmethod
    def checked(
        cls, rows: int | Sequence[Hashable], sense: str | Sequence[str], rhs: ArrayLike
    ) -> Self:
        """The rows, or a ValueError that says what is wrong with them."""
        names: Sequence[Hashable] = tuple(rows) if isinstance(rows, Iterable) else range(rows)
        if len(set(names)) != len(names):
            raise ValueError("rows must have names that differ")
        senses = _checked_senses(sense, len(names))
        given = np.asarray(rhs, dtype=np.float64)
        if given.shape not in ((), (len(names),)):
            raise ValueError(f"rhs has shape {given.shape}, there are {len(names)} rows")
        values = np.array(np.broadcast_to(given, (len(names),)))
        if not np.isfinite(values).all():
            raise ValueError(f"rhs must be finite, got {values}")
        return cls(names, senses, values)

    def __len__(self) -> int:
        return len(self.rhs)

    @property
    def lower(self) -> Vector:
        """Lower bounds of the rows."""
        return np.where(self.senses != "<=", self.rhs, -np.inf)

    @property
    def upper(self) -> Vector:
        """Upper bounds of the rows."""
        return np.where(self.senses != ">=", self.rhs, np.inf)

    def missed_by_zero(self) -> Indices:
        """The rows that x = 0 does not meet."""
        return np.flatnonzero((self.lower > 0) | (self.upper < 0))

    def signed(self, duals: Vector) -> Vector:
        """The duals with wrong signs, which are rounding errors, set to 0: bounds need that."""
        least = np.where(self.senses == ">=", 0.0, -np.inf)
        most = np.where(self.senses == "<=", 0.0, np.inf)
        return np.clip(duals, least, most)


def _checked_senses(sense: str | Sequence[str], n_rows: int) -> NDArray[np.str_]:
    senses = [sense] * n_rows if isinstance(sense, str) else list(sense)
    if len(senses) != n_rows:
        raise ValueError(f"sense has {len(senses)} entries, there are {n_rows} rows")
    if unknown := set(senses) - set(SENSES):
        raise ValueError(f'sense must be "<=", "==" or ">=", got {unknown.pop()!r}')
    return np.array([SENSES[each] for each in senses], dtype="<U2")


class InactivePool:
    """Columns side by side, so that one sparse product prices all of them."""

    def __init__(self, n_rows: int) -> None:
        self._numbers = np.zeros(0, dtype=np.intp)
        self._costs = np.zeros(0)
        self._matrix = sp.csc_array((n_rows, 0))

    def __len__(self) -> int:
        return len(self._numbers)

    def deactivate(self, numbers: Indices, columns: Sequence[Column]) -> None:
        """Take in ``columns``, which are known by ``numbers``."""
        self._numbers = np.concatenate([self._numbers, numbers])
        self._costs = np.concatenate([self._costs, costs_of(columns)])
        self._matrix = sp.hstack([self._matrix, matrix_of(columns)], format="csc")

    def take_improving(self, duals: Vector, *, with_costs: bool, unit: float = 1.0) -> Indices:
        """Take out the columns of negative reduced cost, in costs of a size; their numbers.

        Without costs (in phase one) the reduced cost of a column h is −r·h.
        """
        if not len(self):
            return self._numbers
        costs = self._costs if with_costs else np.zeros(len(self))
        reduced = costs - self._matrix.T @ duals
        improving = reduced < -ZERO_REDUCED_COST * np.maximum(unit, np.abs(costs))
        taken, kept = self._numbers[improving], np.flatnonzero(~improving)
        if taken.size:
            self._numbers, self._costs = self._numbers[kept], self._costs[kept]
            self._matrix = self._matrix[:, kept]
        return taken


def costs_of(columns: Sequence[Column]) -> Vector:
    """Costs as a vector."""
    return np.array([column.cost for column in columns], dtype=np.float64)


def matrix_of(columns: Sequence[Column]) -> sp.csc_array:
    """Columns side by side, shape (n_rows, n_columns)."""
    own = [column.values for column in columns]
    size = max(1, NUMBERS_SIDE_BY_SIDE // max(1, len(own[0])))
    blocks = [sp.csr_array(np.stack(own[some], dtype=float)) for some in blocks_of(len(own), size)]
    return (sp.vstack(blocks, format="csr") if len(blocks) > 1 else blocks[0]).T


NUMBERS_SIDE_BY_SIDE = 2**22
"""Numbers of columns that are side by side before the zeros among them are left out."""

PHASE_ONE_FACTOR = 1e6
"""Factor on the phase-one duals, in units of the largest cost seen."""

RAISE = 1e3
"""By this the factor is raised where nothing prices out and no cost has been seen."""

LARGEST_FACTOR = 1e12
"""But not above this: sums over rows of duals of this size still show costs of a thousandth."""

DUAL_ROUNDING = 1e-9
"""Phase-one duals below this are 0: multiplied by the factor they would mislead the pricer. With
it, by up to a thousandth of the largest cost."""

SMALL_COST = 1e-2
"""Costs that are all below this are handed on in units of the largest of them."""

LEAST_DEACTIVATED = 0.2
"""Columns leave the session only in numbers of at least this share of it."""


@dataclass(frozen=True)
class PrimalPoint:
    """Optimum over all columns: x, row duals r, and what is missing in each row."""

    coef: Vector
    duals: Vector
    missing: Vector


class RestrictedPrimal:
    """Live problem over generated columns.

    Parameters
    ----------
    park_after : int or None
        Solves in a row for which a column must be idle before it is deactivated; None for never.
    options : mapping of str to object, optional
        The solver's own.
    """

    def __init__(
        self,
        rows: MasterRows,
        solver: str,
        park_after: int | None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.columns: list[Column] = []
        self.park_after = park_after
        self._rows = rows
        self._upper = np.zeros(0)
        self._largest_cost, self.cost_unit = 1.0, 1.0
        self._factor, self._n_solved, self._cost_seen = PHASE_ONE_FACTOR, -1, False
        self._seen = 0.0  # the largest |cost|
        self._held = np.zeros(0, dtype=np.intp)  # numbers of the columns in the session
        self._idle_for = np.zeros(0, dtype=np.intp)  # solves, of each of these
        self._inactive = InactivePool(len(rows))
        self._artificial = rows.missed_by_zero()
        self.feasible = not self._artificial.size
        program = _artificial_program(rows, self._artificial)
        self._session = open_session(program, solver, options=options)

    @property
    def n_parked(self) -> int:
        """Number of columns out of the session."""
        return len(self._inactive)

    @property
    def may_raise(self) -> bool:
        """Whether another solve without new columns has larger duals of phase one."""
        return not (self.feasible or self._cost_seen or self._factor >= LARGEST_FACTOR)

    def add(self, columns: Sequence[Column]) -> None:
        """Take in new columns."""
        largest = float(np.abs(costs_of(columns)).max())
        self._see_costs(largest)
        self._enter(columns, np.arange(len(columns)) + len(self.columns))
        self.columns.extend(columns)
        self._upper = np.append(self._upper, [column.upper for column in columns])
        self._largest_cost = max(self._largest_cost, largest)
        if largest > 0:
            self._factor, self._cost_seen = PHASE_ONE_FACTOR, True

    def solve(self, time_limit: float | None) -> PrimalPoint:
        """Optimum over all columns taken in, of phase one while they do not meet the rows."""
        if self.may_raise and len(self.columns) == self._n_solved:
            self._factor *= RAISE
        self._n_solved = len(self.columns)
        deadline = deadline_of(time_limit)
        while True:
            solution = self._session.solve(time_limit=time_left(deadline))
            if not self.feasible and self._is_met(solution):
                self._enter_phase_two()
                continue
            duals = self._duals(solution)
            unit = self.cost_unit if self.feasible else 1.0
            returning = self._inactive.take_improving(duals, with_costs=self.feasible, unit=unit)
            if returning.size:
                self._enter([self.columns[j] for j in returning], returning)
                continue
            point = self._point(solution, duals)
            self._deactivate_idle(solution)
            return point

    # ------------------------------------------------------------------ reading the session

    def _duals(self, solution: Solution) -> Vector:
        """Row duals of the phase."""
        duals = solution.row_duals
        if self.feasible:
            return duals * self.cost_unit
        return np.where(np.abs(duals) < DUAL_ROUNDING, 0.0, duals)

    def _point(self, solution: Solution, duals: Vector) -> PrimalPoint:
        n_artificial = len(self._artificial)
        coef, missing = np.zeros(len(self.columns)), np.zeros(len(self._rows))
        coef[self._held] = np.clip(solution.x[n_artificial:], 0.0, self._upper[self._held])
        if not self.feasible:
            lacking = solution.x[:n_artificial]
            missing[self._artificial] = np.where(lacking > LP_FEASIBILITY, lacking, 0.0)
            duals = self._factor * self._largest_cost * duals
        return PrimalPoint(coef, duals, missing)

    # ------------------------------------------------------------------ phases

    def _is_met(self, solution: Solution) -> bool:
        allowed = LP_FEASIBILITY * np.maximum(1.0, np.abs(self._rows.rhs[self._artificial]))
        return bool((solution.x[: len(allowed)] <= allowed).all())

    def _enter_phase_two(self) -> None:
        """Fix the artificial columns at 0 and put in the costs."""
        self.feasible = True
        self._idle_for[:] = 0
        n_artificial = len(self._artificial)
        zeros = np.zeros(n_artificial)
        self._session.change_column_bounds(np.arange(n_artificial), zeros, zeros)
        costs = costs_of([self.columns[j] for j in self._held])
        everything = np.arange(n_artificial + len(costs))
        self._session.change_cost(everything, np.concatenate([zeros, costs / self.cost_unit]))

    def _see_costs(self, largest: float) -> None:
        """Take note of the size of new costs; small ones are divided by a unit of theirs.

        Solvers take reduced costs of 1e-7 for 0.
        """
        known = self._seen = max(self._seen, largest)
        unit = 1.0 if known == 0.0 or known >= SMALL_COST else float(np.exp2(np.frexp(known)[1]))
        if unit != self.cost_unit:
            self.cost_unit = unit
            if self.feasible:
                self._enter_phase_two()

    # ------------------------------------------------------------------ working set of columns

    def _enter(self, columns: Sequence[Column], numbers: Indices) -> None:
        """Put columns into the session."""
        self._session.add_columns(
            costs_of(columns) / self.cost_unit if self.feasible else np.zeros(len(columns)),
            matrix_of(columns),
            upper=np.array([column.upper for column in columns], dtype=np.float64),
        )
        self._held = np.concatenate([self._held, numbers])
        self._idle_for = np.concatenate([self._idle_for, np.zeros(len(numbers), dtype=np.intp)])

    def _deactivate_idle(self, solution: Solution) -> None:
        if self.park_after is None:
            return
        n_artificial = len(self._artificial)
        reduced = solution.reduced_costs[n_artificial:]
        idle = (solution.x[n_artificial:] <= 0.0) & (reduced > ZERO_REDUCED_COST)
        self._idle_for = np.where(idle, self._idle_for + 1, 0)
        leaving = self._idle_for >= self.park_after
        if np.count_nonzero(leaving) >= max(1.0, LEAST_DEACTIVATED * len(self._held)):
            numbers = self._held[leaving]
            self._session.remove_columns(n_artificial + np.flatnonzero(leaving))
            self._inactive.deactivate(numbers, [self.columns[j] for j in numbers])
            self._held, self._idle_for = self._held[~leaving], self._idle_for[~leaving]


def _artificial_program(rows: MasterRows, artificial: Indices) -> Program:
    """The rows with nothing but an artificial column in each of ``artificial``, of cost 1."""
    count = len(artificial)
    signs = np.sign(rows.rhs[artificial])
    return Program(
        cost=np.ones(count),
        matrix=sp.csc_array((signs, (artificial, np.arange(count))), (len(rows), count)),
        row_lower=rows.lower,
        row_upper=rows.upper,
    )
