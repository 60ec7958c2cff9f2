"""OSQP: a first-order method for linear and quadratic programs, warm started on re-solves.

It takes ``min ½ x'Px + q'x, l <= Ax <= u`` with CSC matrices and P's upper triangle (a lower
triangle is silently ignored), bounds being rows, and returns y with ``Px + q + A'y = 0``. Its
default tolerance 1e-3 is far too loose for duals, so 1e-6 and polishing are used here; where
polishing fails, it continues to a tolerance a hundred times tighter.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..program.arrays import Float64Array, IntArray
from ..program.program import Program, upper_triangle
from ..program.solution import Point
from ..program.status import OptionError, Status
from ..sessions.engine import Answer, Request
from ..sessions.rebuilding import RebuildingBackend
from ..tolerances import CERTIFICATE, LEAST_TIME

FIRST_ORDER_TOLERANCE = 1e-6
"""As `DEFAULT_CHECK` of `solvers.program.errors`, which OSQP's own, 1e-3, would not meet."""

SECOND_TRY = 1e-2
MAX_ITERATIONS = 20_000
MORE_ITERATIONS = 100_000
UNTIL_TIME_IS_UP = 2**31 - 1  # the largest integer OSQP takes
POLISHED = 1

_STATUS = {
    "OSQP_SOLVED": Status.OPTIMAL,
    "OSQP_SOLVED_INACCURATE": Status.INACCURATE,
    "OSQP_PRIMAL_INFEASIBLE": Status.INFEASIBLE,
    "OSQP_PRIMAL_INFEASIBLE_INACCURATE": Status.INFEASIBLE,
    "OSQP_DUAL_INFEASIBLE": Status.UNBOUNDED,
    "OSQP_DUAL_INFEASIBLE_INACCURATE": Status.UNBOUNDED,
    "OSQP_MAX_ITER_REACHED": Status.ITERATION_LIMIT,
    "OSQP_TIME_LIMIT_REACHED": Status.TIME_LIMIT,
    "OSQP_SIGINT": Status.INTERRUPTED,
}
_WITH_POINT = {
    Status.OPTIMAL,
    Status.INACCURATE,
    Status.ITERATION_LIMIT,
    Status.TIME_LIMIT,
}


def solve_with_osqp(program: Program, request: Request) -> Answer:
    """Translate, call, translate back."""
    bounded = np.flatnonzero(np.isfinite(program.lower) | np.isfinite(program.upper))
    run = _Run(_data(program, bounded), _settings(request))
    start = None if request.guess is None else _start(program, bounded, request.guess)
    is_limited = request.max_iterations is not None or "max_iter" in request.options
    run.solve(start, may_continue=not is_limited)
    status = _STATUS.get(run.ending, Status.FAILED)
    result, point = run.result, None
    if status in _WITH_POINT:  # elsewhere x and y hold a filler that is not NaN
        point = Point(np.array(result.x), -np.array(result.y[: program.n_rows]))
    words = f"{result.info.status}, status_polish {result.info.status_polish}"
    return Answer(status, words, point, run.iterations)


class _Run:
    """One problem, solved until good enough or until its time is up.

    A solve that runs out of iterations starts again from its last point with a fixed step size:
    the adaptive one may oscillate without end, even on a linear program with four variables (and
    cannot be switched off later). With a time limit this second solve has no other limit. A solved
    problem is polished; where that fails, it goes on to a tighter tolerance. Polishing is a second
    call, because with no active row OSQP has nothing to polish and prints so whatever `verbose`
    says. OSQP counts the time of each call, so each is given what is left.
    """

    def __init__(self, data: dict[str, Any], settings: dict[str, Any]) -> None:
        self._data = data
        self._settings = settings
        self._is_timed = "time_limit" in settings
        self._end = time.perf_counter() + settings.get("time_limit", np.inf)
        self.iterations = 0
        self.ending = ""
        self.result: Any = None
        self._solver: Any = None

    def solve(self, start: dict[str, Float64Array] | None, *, may_continue: bool) -> None:
        """Solve from `start`, continue if allowed and needed, and polish."""
        self._set_up(start)
        self._continue()
        if may_continue and self.ending in {"OSQP_MAX_ITER_REACHED", "OSQP_SOLVED_INACCURATE"}:
            self._start_again()
        if self._settings["polishing"] and self.ending == "OSQP_SOLVED":
            self._polish()

    def _set_up(self, start: dict[str, Float64Array] | None, **changes: Any) -> None:
        import osqp

        self._solver = osqp.OSQP()
        settings = self._settings | self._time_left() | {"polishing": False} | changes
        try:
            self._solver.setup(**self._data, **settings)
        except (TypeError, ValueError) as error:  # OSQP's own words for an unknown setting
            raise OptionError(f"osqp rejects an option: {error}", backend="osqp") from error
        if start is not None:
            self._solver.warm_start(**start)

    def _time_left(self) -> dict[str, float]:
        if not self._is_timed:
            return {}
        return {"time_limit": max(self._end - time.perf_counter(), LEAST_TIME)}

    def _continue(self) -> None:
        from osqp import SolverStatus

        self.result = self._solver.solve(raise_error=False)
        self.ending = SolverStatus(self.result.info.status_val).name
        self.iterations += int(self.result.info.iter)

    def _start_again(self) -> None:
        before = self.result, self.ending
        last = {"x": self.result.x.copy(), "y": self.result.y.copy()}
        limit = UNTIL_TIME_IS_UP if self._is_timed else MORE_ITERATIONS
        self._set_up(last, adaptive_rho=False, max_iter=limit)
        self._continue()
        self._solver.update_settings(max_iter=MORE_ITERATIONS)  # enough for the polish
        if self.ending == "OSQP_TIME_LIMIT_REACHED" and before[1] == "OSQP_SOLVED_INACCURATE":
            self.result, self.ending = before

    def _polish(self) -> None:
        can_polish = self._is_at_bounds()
        for tightening in (1.0, SECOND_TRY) if can_polish else (SECOND_TRY,):
            before = self.result
            eps = {name: tightening * self._settings[name] for name in ("eps_abs", "eps_rel")}
            self._solver.update_settings(polishing=can_polish, **eps, **self._time_left())
            self._continue()
            if self.ending != "OSQP_SOLVED":
                self.result, self.ending = before, "OSQP_SOLVED"
                return
            if self.result.info.status_polish == POLISHED:
                return

    def _is_at_bounds(self) -> bool:
        """Whether some row is active by OSQP's own rule: its multiplier exceeds its slack."""
        rows, y = self._data["A"] @ self.result.x, self.result.y
        slack = np.minimum(np.abs(rows - self._data["l"]), np.abs(self._data["u"] - rows))
        return bool(np.any(np.abs(y) > slack))


OSQP = RebuildingBackend(
    "osqp",
    frozenset({"lp", "qp", "warm-start", "time-limit", "certificates"}),
    "osqp",
    solve_with_osqp,
)


def _settings(request: Request) -> dict[str, Any]:
    tol = FIRST_ORDER_TOLERANCE if request.tol is None else request.tol
    settings: dict[str, Any] = {
        "verbose": False,
        "polishing": True,
        "eps_abs": tol,
        "eps_rel": tol,
        "eps_prim_inf": CERTIFICATE,
        "eps_dual_inf": CERTIFICATE,
        "max_iter": request.max_iterations or MAX_ITERATIONS,
    }
    if request.time_limit is not None:
        settings["time_limit"] = request.time_limit
    return settings | dict(request.options)


def _data(program: Program, bounded: IntArray) -> dict[str, Any]:
    """Return fresh arrays: OSQP may write into what it is given."""
    identity = sp.eye_array(program.n_columns, format="csr")[bounded]
    return {
        "P": upper_triangle(program),
        "q": program.cost.copy(),
        "A": sp.csc_matrix(sp.vstack([sp.csr_array(program.matrix), identity], format="csc")),
        "l": np.concatenate([program.row_lower, program.lower[bounded]]),
        "u": np.concatenate([program.row_upper, program.upper[bounded]]),
    }


def _start(program: Program, bounded: IntArray, guess: Point) -> dict[str, Float64Array]:
    pull = np.asarray(program.matrix.T @ guess.row_duals)
    reduced_costs = program.curvature(guess.x) + program.cost - pull
    y = -np.concatenate([guess.row_duals, reduced_costs[bounded]])
    return {"x": guess.x.copy(), "y": y}
