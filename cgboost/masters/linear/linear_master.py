"""The general linear master: rows of any sense, columns of any cost.

    min Σ c_j x_j    with  Σ h_j x_j  ≤ | = | ≥  b,   0 ≤ x_j ≤ u_j

over the columns generated so far. Row duals r (≤ 0 on ≤ rows, ≥ 0 on ≥ rows) price new columns: one
helps if its reduced cost c − r·h is negative. While the columns do not suffice to meet the rows,
the duals are those of a first phase, see :mod:`cgboost.optimizers.linear.restricted_primal`.

**Bounds.** For every r of the right signs, Σ c_j x_j ≥ r·b + Σ (c_j − r·h_j) x_j. If the reduced
costs of the columns of convexity row k are at least ρ_k, and no solution uses more than n_k of
them, the optimum is at least r·b + Σ n_k·min(0, ρ_k) (Lagrange; columns in the master with an upper
bound count with their own reduced cost, see :mod:`cgboost.masters.linear.lagrangian_bound`). If
instead all costs are at least c > 0 and all reduced costs at least ρ ≤ 0, then r/(1 − ρ/c) is
feasible for the dual, and the optimum at least r·b/(1 − ρ/c) (Farley, Operations Research 38,
1990).

Both hold for the duals of the first phase too. In particular, if an exact pricer finds nothing
there, every feasible solution costs at least M·(sum of artificials). And a search without costs
bounds a problem without costs, whose solutions all cost 0: where that bound is positive there is no
solution (Farkas).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost._solvers import UnboundedError
from cgboost.arrays import Vector
from cgboost.exceptions import CGBoostError, MasterError
from cgboost.generation.columns import Column, least_of
from cgboost.generation.protocols import ZERO_REDUCED_COST, MasterState, Priced, gap_scale
from cgboost.generation.resuming import fingerprint
from cgboost.masters.linear.lagrangian_bound import (
    Capped,
    check_copies,
    check_counted,
    check_names,
    check_reduced_costs,
    check_rows,
    deficit_of,
)
from cgboost.optimizers.linear.restricted_primal import MasterRows, PrimalPoint, RestrictedPrimal
from cgboost.optimizers.solver_options import checked_options, solver_errors_as_master_errors
from cgboost.tolerances import LP_FEASIBILITY

COLUMNS_PER_ROUND = 20
"""Columns of one pricing pass: further rounds cost more than columns that are not used."""


class LeastCostError(CGBoostError, ValueError):
    """A column costs less than ``least_cost``, so that bounds before it are not true."""

    refutes_bounds = True
    section = "bounds"


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
    park_after : int or None, default=None
        Take a column out of the live session when it has been idle (coefficient 0, positive
        reduced cost) in so many solves in a row. Inactive columns are priced at every solve and
        come back when they can help, so states and bounds are those over all columns. None: never.
    solver_options : mapping of str to object, optional
        Options of the solver that is named, by its own names.

    Attributes
    ----------
    constraints : MasterRows
        Names, senses and right-hand sides of the rows.
    columns_per_round : int
        So many columns are taken from one pricing pass, unless the loop is told otherwise: 20, or
        one for each row of ``copies`` if these are more.

    Notes
    -----
    Initial columns are given to :meth:`add` before the run; with none, or too few, the master
    starts with artificial columns.

    All backends pass the same tests. A first-order method (OSQP) may end at its iteration limit,
    which is a MasterError: a point that misses the rows is never taken for a solution.
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
        park_after: int | None = None,
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.constraints = MasterRows.checked(rows, sense, rhs)
        if least_cost is not None and not least_cost > 0:
            raise ValueError(f"least_cost must be positive, got {least_cost}")
        if park_after is not None and park_after < 1:
            raise ValueError(f"park_after must be at least 1 or None, got {park_after}")
        _check_copies(copies, self.constraints.names)
        self.copies = copies
        self.least_cost = least_cost
        counted = copies if isinstance(copies, Mapping) else ()
        self.columns_per_round = max(COLUMNS_PER_ROUND, len(counted))
        self._counted = np.array(
            [k for k, row in enumerate(self.constraints.names) if row in counted], dtype=np.intp
        )
        options = checked_options(solver, solver_options)
        self._how: dict[str, Any] = {
            "solver": solver,
            "park_after": park_after,
            "solver_options": solver_options,
        }
        self._primal = RestrictedPrimal(self.constraints, solver, park_after, options)

    @property
    def rows(self) -> Sequence[Hashable]:
        """Names of the rows."""
        return self.constraints.names

    @property
    def columns(self) -> Sequence[Column]:
        """All columns taken in, inactive ones included."""
        return self._primal.columns

    @property
    def n_parked(self) -> int:
        """Number of columns that are out of the live session for now."""
        return self._primal.n_parked

    def __reduce__(self) -> tuple[Any, ...]:
        """Rows and columns; a copy solves its problem anew."""
        own = self.constraints
        what = (own.names, own.senses, own.rhs, self.copies, self.least_cost, self._how)
        return _remade, (*what, tuple(self.columns))

    def with_rows(
        self,
        names: Sequence[Hashable] = (),
        senses: Sequence[str] = (),
        rhs: ArrayLike = (),
        *,
        used: Vector | None = None,
        copies: float | Mapping[Hashable, float] | None = None,
    ) -> LinearMaster:
        """A master without columns, with these rows and then some more.

        Parameters
        ----------
        names, senses, rhs
            Of the rows that are added.
        used : ndarray of shape (n_rows,), optional
            What is taken off the right-hand sides of the rows of this master, because columns are
            fixed.
        copies : float, mapping or None
            Most columns that a solution has besides the fixed ones.
        """
        own = self.constraints
        left = own.rhs if used is None else own.rhs - used
        return LinearMaster(
            [*own.names, *names],
            [*own.senses.tolist(), *senses],
            np.concatenate([left, np.asarray(rhs, dtype=np.float64)]),
            copies=copies,
            least_cost=self.least_cost,
            **self._how,
        )

    def row_of(self, column: Column) -> Hashable | None:
        """The convexity row of a column, None if it is in none."""
        own = self._counted[np.flatnonzero(column.values[self._counted])]
        return self.rows[own[0]] if own.size else None

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the problem.

        Raises
        ------
        ValueError
            For a column of the wrong length, with a NaN, with a negative upper bound, or cheaper
            than ``least_cost``.
        """
        self.check_columns(columns)
        if columns:
            self._primal.add(columns)

    def take_up(self, columns: Sequence[Column], coef: Vector, intercept: Any) -> None:
        """Take in the columns of a run; the simplex begins anew."""
        self.add(columns)

    @property
    def fingerprint(self) -> str:
        """A hash of the rows."""
        own = self.constraints
        return fingerprint(list(own.names), own.senses.tolist(), own.rhs)

    def check_columns(self, columns: Sequence[Column]) -> None:
        """Raise the errors of :meth:`add`, and take nothing in."""
        for column in columns:
            column.check(len(self.constraints))
            if not column.upper >= 0:
                raise ValueError(f"column {column.key!r} has the upper bound {column.upper}")
            if self.least_cost is not None and column.cost < self.least_cost * (1.0 - 1e-9):
                raise LeastCostError(
                    f"column {column.key!r} costs {column.cost:g}, less than "
                    f"least_cost={self.least_cost:g}, on which bounds rest"
                )

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Re-optimise; the objective is inf while the columns do not suffice to meet the rows."""
        point = self._point(time_limit)
        columns = tuple(self._primal.columns)
        active = [(columns[j], point.coef[j]) for j in np.flatnonzero(point.coef)]
        cost = float(sum(column.cost * x for column, x in active))
        return MasterState(
            columns=columns,
            coef=point.coef,
            intercept=0.0,
            output=sum((x * column.values for column, x in active), np.zeros(len(self.rows))),
            pseudo_response=self.constraints.signed(point.duals),  # the duals of rows
            objective=cost if self._primal.feasible else math.inf,
            slack=point.missing,  # what rows lack, and not the slack of a row that holds
            rows=self.rows,
            solved=not self._primal.may_raise,
            scale=gap_scale(cost, self._primal.cost_unit) if self._primal.feasible else None,
        )

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """Lagrange's bound if ``copies`` is known, else Farley's if ``least_cost`` is.

        With neither, there is one only where no reduced cost is negative: the dual objective.

        Columns with a finite upper bound that are in the master count with their own reduced cost.
        After a search without costs it is inf, if that shows that nothing meets the rows.
        """
        duals = state.pseudo_response
        if priced.without_costs:
            return self._bound_without_costs(state, priced)
        check_reduced_costs(state, priced, self.row_of)
        check_names(self.constraints.names, priced)
        if self.copies is not None:
            check_copies(state, self.copies, self.row_of)
            if isinstance(self.copies, Mapping):
                check_rows(self.copies, priced)
                check_counted(self.copies, priced, self.row_of)
            deficit = deficit_of(self.copies, priced.reduced_cost, self._capped(state, duals))
        elif self.least_cost is not None:
            least = float(np.minimum(0.0, least_of(priced.reduced_cost)))  # keeps a nan
            duals = duals / (1.0 - least / self.least_cost)
            capped = self._capped(state, duals)
            deficit = sum(column.upper * min(0.0, column.reduced_cost) for column in capped)
        elif priced.exact and not priced.columns:
            capped = self._capped(state, duals)
            least = least_of(priced.reduced_cost)
            if not least >= -ZERO_REDUCED_COST * self._primal.cost_unit:
                return None  # nothing prices out, but the pricer does not say so
            deficit = sum(column.upper * min(0.0, column.reduced_cost) for column in capped)
        else:
            return None
        bound = float(duals @ self.constraints.rhs) + deficit
        return None if math.isnan(bound) else bound

    def _bound_without_costs(self, state: MasterState, priced: Priced) -> float | None:
        """Inf if all that columns can give the rows falls short of them, at these duals."""
        duals = state.pseudo_response
        columns = [replace(column, cost=0.0) for column in state.columns]
        state = replace(state, columns=columns)
        for column in columns:
            terms = column.values * duals
            helps = terms.sum() > LP_FEASIBILITY * max(1.0, float(np.abs(terms).sum()))
            if helps and math.isinf(column.upper) and self.row_of(column) is None:
                return None
        deficit = deficit_of(self.copies or {}, priced.reduced_cost, self._capped(state, duals))
        terms = duals * self.constraints.rhs
        size = max(1.0, float(np.abs(terms).sum()), abs(deficit))
        return math.inf if float(terms.sum()) + deficit > LP_FEASIBILITY * size else None

    def _point(self, time_limit: float | None) -> PrimalPoint:
        with solver_errors_as_master_errors():
            try:
                return self._primal.solve(time_limit)
            except UnboundedError as error:
                raise MasterError(self._without_end(), unbounded=True) from error

    def _without_end(self) -> str:
        """Why the restricted master is unbounded."""
        free = [c for c in self.columns if c.cost < 0 and math.isinf(c.upper)][-5:]
        variables = [*dict.fromkeys(name for c in free for name in c.variables)][:5]
        some = f"of {[c.key for c in free]!r}"
        if variables:
            some = f"with the variables {', '.join(map(repr, variables))}"
        return (
            "the restricted master is unbounded: columns of negative cost can be taken without "
            f"end, among them some {some}; give columns an upper bound (Column.upper), "
            "or the master a row that limits them (copies alone is no row)"
        )

    def _capped(self, state: MasterState, duals: Vector) -> list[Capped]:
        """The columns with a finite upper bound, each with its convexity row if it has one."""
        return [
            Capped(self.row_of(column), column.upper, column.cost - float(column.values @ duals))
            for column in state.columns
            if math.isfinite(column.upper)
        ]


def _check_copies(
    copies: float | Mapping[Hashable, float] | None, rows: Sequence[Hashable]
) -> None:
    if copies is None:
        return
    counts: list[float]
    if isinstance(copies, Mapping):
        if unknown := set(copies) - set(rows):
            raise ValueError(f"copies names rows that do not exist: {unknown}")
        counts = list(copies.values())
    else:
        counts = [copies]
    for count in counts:
        if not 0 <= count < math.inf:
            raise ValueError(f"copies must be finite and not negative, got {count}")


def _remade(
    names: Sequence[Hashable],
    senses: Sequence[str],
    rhs: Vector,
    copies: Any,
    least_cost: float | None,
    how: Mapping[str, Any],
    columns: Sequence[Column],
) -> LinearMaster:
    """A master that was pickled or copied."""
    master = LinearMaster(names, senses, rhs, copies=copies, least_cost=least_cost, **how)
    master.add(columns)
    return master
