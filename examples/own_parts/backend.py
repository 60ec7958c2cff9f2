"""Your own backend: SciPy's interior point method, as one function.

python examples/own_parts/backend.py
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer

from cgboost import LPBoostClassifier
from solvers.api import BACKENDS
from solvers.program.solution import Point
from solvers.program.status import Status
from solvers.sessions.engine import Answer
from solvers.sessions.rebuilding import RebuildingBackend

STATUS = {
    0: Status.OPTIMAL,
    1: Status.ITERATION_LIMIT,
    2: Status.INFEASIBLE,
    3: Status.UNBOUNDED,
}


def interior_point(program, request):
    """Translate, call, translate back. Duals: ≥ 0 at a lower bound of a row, ≤ 0 at an upper."""
    from scipy.optimize import linprog

    above, below = np.isfinite(program.row_lower), np.isfinite(program.row_upper)
    matrix = program.matrix
    result = linprog(
        program.cost,
        A_ub=np.vstack([matrix[below], -matrix[above]]),
        b_ub=np.concatenate([program.row_upper[below], -program.row_lower[above]]),
        bounds=np.column_stack([program.lower, program.upper]),
        method="highs-ipm",
        options={} if request.time_limit is None else {"time_limit": request.time_limit},
    )
    if result.x is None:
        return Answer(STATUS.get(result.status, Status.FAILED), result.message)
    at_upper, at_lower = np.split(result.ineqlin.marginals, [below.sum()])
    duals = np.zeros(program.n_rows)
    duals[below] += at_upper
    duals[above] -= at_lower
    status = STATUS.get(result.status, Status.FAILED)
    return Answer(status, result.message, Point(result.x, duals), int(result.nit))


IPM = RebuildingBackend("scipy-ipm", frozenset({"lp"}), "scipy", interior_point)

if __name__ == "__main__":
    BACKENDS["scipy-ipm"] = IPM
    X, y = load_breast_cancer(return_X_y=True)
    for solver in ("auto", "scipy-ipm"):
        model = LPBoostClassifier(C=0.1, solver=solver).fit(X, y)
        print(f"{solver:10s} objective {model.objective_:.6f}, certified: {model.converged_}")
