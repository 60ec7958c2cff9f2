"""PIQP: a proximal interior point method, the fastest here on dense quadratic programs.

It takes ``min ½ x'Px + c'x, Ax = b, h_l <= Gx <= h_u, x_l <= x <= x_u`` and returns multipliers
with ``Px + c + A'y + G'(z_u - z_l) + (z_bu - z_bl) = 0``.
"""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..program.arrays import is_sparse
from ..program.program import Program, fill, full_dense, full_sparse
from ..program.solution import Point
from ..program.status import SolverFailure, Status
from ..sessions.engine import POINTLESS, Answer, Request, apply_options
from ..sessions.rebuilding import RebuildingBackend
from ..tolerances import DENSE_FILL

logger = logging.getLogger(__name__)

DENSE_VARIABLES = 50
"""Up to this many variables the dense solver is used whatever the fill."""

_STATUS = {
    "PIQP_SOLVED": Status.OPTIMAL,
    "PIQP_MAX_ITER_REACHED": Status.ITERATION_LIMIT,
    "PIQP_PRIMAL_INFEASIBLE": Status.INFEASIBLE,
    "PIQP_DUAL_INFEASIBLE": Status.UNBOUNDED,
    "PIQP_NUMERICS": Status.INACCURATE,
}


LARGE_PROGRAM = 3000
"""Programs of so many rows and columns may take minutes; smaller ones take less than the process
that it takes to end one."""

CHILD = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    f"from {__name__} import solve_here; "
    "answer = solve_here(*pickle.load(sys.stdin.buffer)); "
    "sys.stdout.buffer.write(pickle.dumps(answer))"
)


def solve_with_piqp(program: Program, request: Request) -> Answer:
    """Solve; a large program with a time limit in its own process, which can be ended."""
    if request.time_limit is None:
        return solve_here(program, request)
    if program.n_rows + program.n_columns < LARGE_PROGRAM:
        logger.info("piqp has no time limit: %s s is not enforced here", request.time_limit)
        return solve_here(program, request)
    asked = pickle.dumps(sys.path) + pickle.dumps((program, replace(request, time_limit=None)))
    try:
        done = subprocess.run(
            [sys.executable, "-c", CHILD],
            input=asked,
            capture_output=True,
            timeout=request.time_limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Answer(Status.TIME_LIMIT, "its process was ended at the time limit")
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise SolverFailure(f"piqp: its process failed with {done.returncode}: {' '.join(words)}")
    answer: Answer = pickle.loads(done.stdout)
    return answer


def solve_here(program: Program, request: Request) -> Answer:
    """Translate, call, translate back."""
    import piqp

    is_dense = program.n_columns <= DENSE_VARIABLES or fill(program) > DENSE_FILL
    if "kkt_solver" in request.options:  # each class of PIQP takes its own alone
        is_dense = request.options["kkt_solver"] == piqp.dense_cholesky
    solver = piqp.DenseSolver() if is_dense else piqp.SparseSolver()
    _configure(solver.settings, request)
    is_equation = program.row_lower == program.row_upper
    is_bounded = ~is_equation & (np.isfinite(program.row_lower) | np.isfinite(program.row_upper))
    solver.setup(
        full_dense(program) if is_dense else full_sparse(program),
        program.cost,
        _rows(program, is_equation, is_dense),
        program.row_lower[is_equation],
        _rows(program, is_bounded, is_dense),
        program.row_lower[is_bounded],
        program.row_upper[is_bounded],
        program.lower,
        program.upper,
    )
    words = solver.solve().name
    status = _STATUS.get(words, Status.FAILED)
    result, point = solver.result, None
    if status not in POINTLESS:
        duals = np.zeros(program.n_rows)
        duals[is_equation] = -result.y
        duals[is_bounded] = result.z_l - result.z_u
        point = Point(np.array(result.x), duals)
    return Answer(status, words, point, int(result.info.iter))


PIQP = RebuildingBackend(
    "piqp", frozenset({"lp", "qp", "exact"}), "piqp", solve_with_piqp, eliminates_from=0.15
)


def _rows(program: Program, mask: Any, is_dense: bool) -> Any:
    block = program.matrix[mask] if mask.any() else np.zeros((0, program.n_columns))
    if not is_dense:
        return sp.csc_matrix(block)
    return np.asfortranarray(block.toarray() if is_sparse(block) else block)


def _configure(settings: Any, request: Request) -> None:
    settings.verbose = False
    if request.tol is not None:
        settings.eps_abs = settings.eps_rel = request.tol
        settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = request.tol
    if request.max_iterations is not None:
        settings.max_iter = request.max_iterations
    apply_options(settings, request.options, "piqp")
