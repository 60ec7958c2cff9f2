"""The live session of a linear master: two phases, and only the columns that matter.

**Two phases.** Where x = 0 misses a row, that row has an artificial column. While the generated
columns do not suffice, the session minimises the sum of the artificials, and the duals handed out
are r = M·y, the duals y of that problem times a large number M: c − M·y·h < 0 is then the old
condition y·h > 0, but for costs, so a pricer need not know of phases. Once no artificial is needed
they are fixed at 0 and the costs are put in.

**Parking.** A column that has been idle (coefficient 0, positive reduced cost) in so many solves in
a row leaves the session. After every solve the parked columns are priced at the duals of the phase;
those that could lower its objective come back and the session is solved again, so whoever asks gets
the optimum over *all* columns.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cgboost.generation.columns import Column
from cgboost.generation.protocols import ZERO_REDUCED_COST
from cgboost.masters.linear.inactive_pool import ParkedColumns, costs_of, matrix_of
from cgboost.masters.linear.rows import Rows
from cgboost.tolerances import LP_FEASIBILITY
from solvers import Program, Solution, open_session

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

PHASE_ONE_FACTOR = 1e6
"""Factor on the phase-one duals, in units of the largest cost seen."""

DUAL_ROUNDING = 1e-9
"""Phase-one duals below this are 0: multiplied by the factor they would mislead the pricer."""

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
    rows : Rows
    solver : str
    park_after : int or None
        Solves in a row for which a column must be idle before it is parked; None for never.
    """

    def __init__(self, rows: Rows, solver: str, park_after: int | None) -> None:
        self.columns: list[Column] = []
        self.park_after = park_after
        self._rows = rows
        self._upper = np.zeros(0)
        self._largest_cost = 1.0
        self._held = np.zeros(0, dtype=np.intp)  # numbers of the columns in the session
        self._idle_for = np.zeros(0, dtype=np.intp)  # solves, of each of these
        self._parked = ParkedColumns(len(rows))
        self._artificial = rows.missed_by_zero()
        self.feasible = not self._artificial.size
        self._session = open_session(_artificial_program(rows, self._artificial), solver)

    @property
    def n_parked(self) -> int:
        """Number of columns out of the session."""
        return len(self._parked)

    def add(self, columns: Sequence[Column]) -> None:
        """Take in new columns."""
        self._enter(columns, np.arange(len(columns)) + len(self.columns))
        self.columns.extend(columns)
        self._upper = np.append(self._upper, [column.upper for column in columns])
        largest = float(np.abs(costs_of(columns)).max())
        self._largest_cost = max(self._largest_cost, largest)

    def solve(self, time_limit: float | None) -> PrimalPoint:
        """Optimum over all columns taken in, of phase one while they do not meet the rows."""
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        while True:
            left = None if deadline is None else max(0.01, deadline - time.perf_counter())
            solution = self._session.solve(time_limit=left)
            if not self.feasible and self._is_met(solution):
                self._enter_phase_two()
                continue
            duals = self._duals(solution)
            returning = self._parked.take_improving(duals, with_costs=self.feasible)
            if returning.size:
                self._enter([self.columns[j] for j in returning], returning)
                continue
            point = self._point(solution, duals)
            self._park_idle(solution)
            return point

    # ------------------------------------------------------------------ reading the session

    def _duals(self, solution: Solution) -> Vector:
        """Row duals of the phase."""
        duals = solution.row_duals
        return duals if self.feasible else np.where(np.abs(duals) < DUAL_ROUNDING, 0.0, duals)

    def _point(self, solution: Solution, duals: Vector) -> PrimalPoint:
        n_artificial = len(self._artificial)
        coef, missing = np.zeros(len(self.columns)), np.zeros(len(self._rows))
        coef[self._held] = np.clip(solution.x[n_artificial:], 0.0, self._upper[self._held])
        if not self.feasible:
            lacking = solution.x[:n_artificial]
            missing[self._artificial] = np.where(lacking > LP_FEASIBILITY, lacking, 0.0)
            duals = PHASE_ONE_FACTOR * self._largest_cost * duals
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
        self._session.change_cost(everything, np.concatenate([zeros, costs]))

    # ------------------------------------------------------------------ working set of columns

    def _enter(self, columns: Sequence[Column], numbers: Indices) -> None:
        """Put columns into the session."""
        self._session.add_columns(
            costs_of(columns) if self.feasible else np.zeros(len(columns)),
            matrix_of(columns),
            upper=np.array([column.upper for column in columns], dtype=np.float64),
        )
        self._held = np.concatenate([self._held, numbers])
        self._idle_for = np.concatenate([self._idle_for, np.zeros(len(numbers), dtype=np.intp)])

    def _park_idle(self, solution: Solution) -> None:
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
            self._parked.park(numbers, [self.columns[j] for j in numbers])
            self._held, self._idle_for = self._held[~leaving], self._idle_for[~leaving]


def _artificial_program(rows: Rows, artificial: Indices) -> Program:
    """The rows with nothing but an artificial column in each of ``artificial``, of cost 1."""
    count = len(artificial)
    signs = np.sign(rows.rhs[artificial])
    return Program(
        cost=np.ones(count),
        matrix=sp.csc_array((signs, (artificial, np.arange(count))), (len(rows), count)),
        row_lower=rows.lower,
        row_upper=rows.upper,
    )
