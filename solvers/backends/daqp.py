"""DAQP: a dual active-set method for small, dense programs.

It takes ``min ½ x'Px + c'x, l <= (x, Ax) <= u`` and returns multipliers z, y, of the bounds first,
with ``Px + c + z + A'y = 0``. Where P is singular, or absent, it takes proximal steps. Every matrix
is made dense.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from ..program.arrays import Float64Array, is_sparse
from ..program.program import Program, full_dense
from ..program.solution import Point
from ..program.status import OptionError, Status
from ..sessions.engine import POINTLESS, Answer, Request
from ..sessions.rebuilding import RebuildingBackend

logger = logging.getLogger(__name__)

EQUATION = 5
"""DAQP's mark of a constraint whose bounds are equal."""

PRIMAL_TOLERANCE = 1e-9
"""DAQP's own, 1e-6, is that of a residual which only just counts as optimal."""

CONTRADICTION = 1e-8
"""Equations that least squares misses by this, relative to 1 + their right sides, contradict. Least
squares is exact to some 1e-12; what is missed by less than this would pass the check of answers,
1e-6."""

INFEASIBLE, DEPENDENT_EQUATIONS = -1, -6

_FLAGS = {
    1: (Status.OPTIMAL, "optimal"),
    INFEASIBLE: (Status.INFEASIBLE, "infeasible"),
    -2: (Status.FAILED, "cycling"),
    -3: (Status.UNBOUNDED, "unbounded"),
    -4: (Status.ITERATION_LIMIT, "iteration limit"),
    -5: (Status.FAILED, "not convex"),
    DEPENDENT_EQUATIONS: (Status.FAILED, "dependent equations"),
    -7: (Status.TIME_LIMIT, "time limit"),
}


def solve_with_daqp(program: Program, request: Request) -> Answer:
    """Translate, call, translate back; from nothing where a start of the last solution fails."""
    import daqp

    settings = _settings(daqp.Model().settings, request)
    matrix = np.array(
        program.matrix.toarray() if is_sparse(program.matrix) else program.matrix, order="C"
    )
    lower = np.concatenate([program.lower, program.row_lower])
    upper = np.concatenate([program.upper, program.row_upper])
    x, _, flag, info = daqp.solve(
        np.array(full_dense(program), order="C") if program.is_qp else None,
        program.cost.copy(),
        matrix,
        upper,
        lower,
        np.where(lower == upper, EQUATION, 0).astype(np.int32),
        **settings,
        **_start(program, request.guess),
    )
    if flag == DEPENDENT_EQUATIONS and _contradict(matrix, lower, upper):
        flag = INFEASIBLE
    status, words = _FLAGS.get(flag, (Status.FAILED, "unknown exit flag"))
    if status is Status.FAILED and request.guess is not None:
        return solve_with_daqp(program, replace(request, guess=None))
    point = None
    if status not in POINTLESS:
        point = Point(np.array(x), -np.array(info["lam"])[program.n_columns :])
    return Answer(status, f"{words} ({flag})", point, int(info["iterations"]))


DAQP = RebuildingBackend(
    "daqp", frozenset({"lp", "qp", "certificates", "exact"}), "daqp", solve_with_daqp
)


def _contradict(matrix: Float64Array, lower: Float64Array, upper: Float64Array) -> bool:
    """Whether no point satisfies all equations and fixed variables."""
    equal = lower == upper
    rows, right = np.vstack([np.eye(matrix.shape[1]), matrix])[equal], lower[equal]
    missed = rows @ np.linalg.lstsq(rows, right)[0] - right
    return float(np.abs(missed).max()) > CONTRADICTION * (1.0 + float(np.abs(right).max()))


def _start(program: Program, guess: Point | None) -> dict[str, Float64Array]:
    """The last solution, whose active constraints DAQP begins with."""
    if guess is None:
        return {}
    start = {"primal_start": guess.x}
    if program.is_qp:  # in a linear program multipliers alone lead astray once rows are gone
        pull = np.asarray(program.matrix.T @ guess.row_duals)
        reduced_costs = program.curvature(guess.x) + program.cost - pull
        start["dual_start"] = -np.concatenate([reduced_costs, guess.row_duals])
    return start


def _settings(known: dict[str, Any], request: Request) -> dict[str, Any]:
    settings: dict[str, Any] = {"primal_tol": PRIMAL_TOLERANCE}
    if request.tol is not None:
        settings["primal_tol"] = request.tol
    if request.max_iterations is not None:
        settings["iter_limit"] = request.max_iterations
    if request.time_limit is not None:
        logger.info("daqp looks at its time limit, %s s, now and then only", request.time_limit)
        settings["time_limit"] = request.time_limit
    for name, value in request.options.items():
        if name not in known:
            raise OptionError(f"daqp has no option {name!r}", backend="daqp")
        try:
            settings[name] = type(known[name])(value)
        except (TypeError, ValueError) as error:
            raise OptionError(
                f"daqp rejects {name} = {value!r}: {error}", backend="daqp"
            ) from error
    return settings
