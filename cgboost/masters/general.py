"""The general linear master: rows of any sense, columns of any cost.

    min Σ c_j x_j    with  Σ h_j x_j  ≤ | = | ≥  b,   0 ≤ x_j ≤ u_j

over the columns generated so far. Row duals r (≤ 0 on ≤ rows, ≥ 0 on ≥ rows) price new columns: one
helps if its reduced cost c − r·h is negative.

**Bounds.** For every r of the right signs, Σ c_j x_j ≥ r·b + Σ (c_j − r·h_j) x_j. If the reduced
costs of the columns of convexity row k are at least ρ_k, and no solution uses more than n_k of
them, the optimum is at least r·b + Σ n_k·min(0, ρ_k) (Lagrange). If instead all costs are at least
c > 0 and all reduced costs at least ρ ≤ 0, then r/(1 − ρ/c) is feasible for the dual, and the
optimum at least r·b/(1 − ρ/c) (Farley, Operations Research 38, 1990).

**Two phases.** Where x = 0 misses a row, that row has an artificial column. While the columns do
not suffice, the master minimises the sum of the artificials, and the pricer is handed r = M·y, the
duals y of that problem times a large number M: c − M·y·h < 0 is then the old condition y·h > 0, but
for costs, so a pricer need not know of phases. The bounds above hold for this r too. In particular,
if an exact pricer finds nothing, every feasible solution costs at least M·(sum of artificials).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from cgboost.columns import Column
from cgboost.exceptions import MasterError
from cgboost.masters.lagrange import deficit_of, least_reduced_cost
from cgboost.protocols import MasterState, Priced
from solvers import LimitError, Program, Solution, SolverError, Status, open_session

Vector = NDArray[np.float64]

SENSES = {"<=": "<=", "≤": "<=", "==": "==", "=": "==", ">=": ">=", "≥": ">="}

PHASE_ONE_FACTOR = 1e6
"""Factor on the phase-one duals, in units of the largest cost seen."""

FEASIBILITY = 1e-7
"""A row may be missed by this, relative to its right-hand side."""

DUAL_ROUNDING = 1e-9
"""Phase-one duals below this are 0: multiplied by the factor they would mislead the pricer."""


class LinearMaster:
    """Restricted linear master over generated columns.

    Parameters
    ----------
    rows : int or sequence of hashable
        Number of rows, or their names.
    sense : str or sequence of str
        ``"<="``, ``"=="`` or ``">="``, for all rows or each.
    rhs : array-like of shape (n_rows,) or float
    copies : float, mapping of row to float, or None
        The most columns that a solution uses (the sum of their values): in all, or per convexity
        row, each column then belonging to exactly one of these rows. Gives the Lagrangian bound.
    least_cost : float or None
        A positive lower bound on the cost of every column there is; gives Farley's bound.
    solver : str
        Any name of :func:`solvers.available_backends` for linear programs, or ``"auto"``.

    Notes
    -----
    Initial columns are given to :meth:`add` before the run; with none, or too few, the master
    starts with artificial columns (see the module's text).
    """

    def __init__(
        self,
        rows: int | Sequence[Hashable],
        sense: str | Sequence[str],
        rhs: ArrayLike,
        *,
        copies: float | Mapping[Hashable, float] | None = None,
        least_cost: float | None = None,
        solver: str = "auto",
    ) -> None:
        self.rows = tuple(rows) if isinstance(rows, Iterable) else range(rows)
        n_rows = len(self.rows)
        if len(set(self.rows)) != n_rows:
            raise ValueError("rows must have names that differ")
        self.senses = _checked_senses(sense, n_rows)
        self.rhs = np.array(np.broadcast_to(np.asarray(rhs, dtype=np.float64), (n_rows,)))
        if not np.isfinite(self.rhs).all():
            raise ValueError(f"rhs must be finite, got {self.rhs}")
        if least_cost is not None and not least_cost > 0:
            raise ValueError(f"least_cost must be positive, got {least_cost}")
        self.copies = copies
        self._check_copies()
        self.least_cost = least_cost
        self.columns: list[Column] = []
        self._largest_cost = 1.0
        at_least, at_most = self.senses != "<=", self.senses != ">="
        missed = np.where(self.rhs > 0, at_least, at_most & (self.rhs < 0))
        self._artificial = np.flatnonzero(missed)
        self._feasible = not self._artificial.size
        n_artificial = len(self._artificial)
        signs = np.sign(self.rhs[self._artificial])
        self._session = open_session(
            Program(
                cost=np.ones(n_artificial),
                matrix=sp.csc_array(
                    (signs, (self._artificial, np.arange(n_artificial))), (n_rows, n_artificial)
                ),
                row_lower=np.where(at_least, self.rhs, -np.inf),
                row_upper=np.where(at_most, self.rhs, np.inf),
            ),
            solver,
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.rhs)

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the problem.

        Raises
        ------
        ValueError
            For a column of the wrong length, with a NaN, or with a negative upper bound.
        """
        for column in columns:
            self._check(column)
        if not columns:
            return
        costs = np.array([column.cost for column in columns], dtype=np.float64)
        self._session.add_columns(
            costs if self._feasible else np.zeros(len(columns)),
            sp.csc_array(np.column_stack([column.values for column in columns]).astype(np.float64)),
            upper=np.array([column.upper for column in columns], dtype=np.float64),
        )
        self.columns.extend(columns)
        self._largest_cost = max(self._largest_cost, float(np.abs(costs).max()))

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Re-optimise; the objective is inf while the columns do not suffice to meet the rows."""
        solution = self._solution(time_limit)
        if not self._feasible and self._is_met(solution):
            self._enter_phase_two()
            solution = self._solution(time_limit)
        n_artificial = len(self._artificial)
        coef = np.clip(solution.x[n_artificial:], 0.0, [column.upper for column in self.columns])
        duals, slack, objective = solution.row_duals, np.zeros(self.n_rows), math.inf
        if self._feasible:
            objective = float(sum(c.cost * x for c, x in zip(self.columns, coef, strict=True)))
        else:
            slack[self._artificial] = self._missing(solution)
            duals = np.where(np.abs(duals) < DUAL_ROUNDING, 0.0, duals)
            duals = PHASE_ONE_FACTOR * self._largest_cost * duals
        output = np.zeros(self.n_rows)
        for j in np.flatnonzero(coef):
            output += coef[j] * self.columns[j].values
        return MasterState(
            columns=tuple(self.columns),
            coef=coef,
            intercept=0.0,
            output=output,
            pseudo_response=self._signed(duals),
            objective=objective,
            slack=slack,
            rows=self.rows,
        )

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """Lagrange's bound if ``copies`` is known, else Farley's if ``least_cost`` is, else None.

        Columns with a finite upper bound that are in the master contribute u·min(0, c − r·h).
        """
        duals, deficit = state.pseudo_response, 0.0
        if self.copies is not None:
            deficit = deficit_of(self.copies, priced.reduced_cost)
        elif self.least_cost is not None:
            least = float(
                np.minimum(0.0, least_reduced_cost(priced.reduced_cost))
            )  # min() would drop a nan
            duals = duals / (1.0 - least / self.least_cost)
        else:
            return None
        bound = float(duals @ self.rhs) + deficit
        for column in state.columns:
            if math.isfinite(column.upper):
                bound += column.upper * min(0.0, column.cost - float(column.values @ duals))
        return None if math.isnan(bound) else bound

    # ------------------------------------------------------------------ phases

    def _is_met(self, solution: Solution) -> bool:
        allowed = FEASIBILITY * np.maximum(1.0, np.abs(self.rhs[self._artificial]))
        return bool((solution.x[: len(allowed)] <= allowed).all())

    def _missing(self, solution: Solution) -> Vector:
        missing = np.maximum(0.0, solution.x[: len(self._artificial)])
        missing[missing <= FEASIBILITY] = 0.0
        return missing

    def _enter_phase_two(self) -> None:
        """Fix the artificial columns at 0 and put in the costs."""
        self._feasible = True
        artificial = np.arange(len(self._artificial))
        zeros = np.zeros(len(artificial))
        self._session.change_column_bounds(artificial, zeros, zeros)
        costs = [column.cost for column in self.columns]
        everything = np.arange(len(artificial) + len(costs))
        self._session.change_cost(everything, np.concatenate([zeros, costs]))

    def _solution(self, time_limit: float | None) -> Solution:
        try:
            return self._session.solve(time_limit=time_limit)
        except LimitError as error:
            raise MasterError(str(error), timed_out=error.status is Status.TIME_LIMIT) from error
        except SolverError as error:
            raise MasterError(str(error)) from error

    def _signed(self, duals: Vector) -> Vector:
        """The duals with wrong signs, which are rounding errors, set to 0: bounds need that."""
        lower = np.where(self.senses == ">=", 0.0, -np.inf)
        upper = np.where(self.senses == "<=", 0.0, np.inf)
        return np.clip(duals, lower, upper)

    # ------------------------------------------------------------------ checks

    def _check(self, column: Column) -> None:
        column.check(self.n_rows)
        if not column.upper >= 0:
            raise ValueError(f"column {column.key!r} has the upper bound {column.upper}")

    def _check_copies(self) -> None:
        if self.copies is None:
            return
        counts: list[float]
        if isinstance(self.copies, Mapping):
            if unknown := set(self.copies) - set(self.rows):
                raise ValueError(f"copies names rows that do not exist: {unknown}")
            counts = list(self.copies.values())
        else:
            counts = [self.copies]
        for count in counts:
            if not 0 <= count < math.inf:
                raise ValueError(f"copies must be finite and not negative, got {count}")


def _checked_senses(sense: str | Sequence[str], n_rows: int) -> NDArray[np.str_]:
    senses = [sense] * n_rows if isinstance(sense, str) else list(sense)
    if len(senses) != n_rows:
        raise ValueError(f"sense has {len(senses)} entries, there are {n_rows} rows")
    if unknown := set(senses) - set(SENSES):
        raise ValueError(f'sense must be "<=", "==" or ">=", got {unknown.pop()!r}')
    return np.array([SENSES[each] for each in senses], dtype="<U2")
