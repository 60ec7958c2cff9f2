"""Who takes part: each solver is a function of a problem that returns coefficients and intercept.

Packages are imported when a solver is made ready, so that one that is not installed becomes a
record with an error. Every solver has the settings that its documentation gives to a user.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, hstack, identity, issparse
from sparse_data import Problem, Vector, largest_penalty

OURS, PATH = "cgboost", "cgboost, path of 100"
PATH_LENGTH = 100


@dataclass(frozen=True)
class Fitted:
    """A solver's answer.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
    intercept : float
    bound : float
        Certified lower bound of the objective in the public form; nan where there is none.
    comparable : bool
        Whether it is an answer to the problem; False for another loss.
    """

    coef: Vector
    intercept: float
    bound: float = nan
    comparable: bool = True


@dataclass(frozen=True)
class Solver:
    """One way to solve a problem.

    Attributes
    ----------
    name, package : str
        As in the tables; the distribution whose version is recorded.
    fit : callable
    """

    name: str
    package: str
    fit: Callable[[Problem], Fitted]


def by_column_generation(problem: Problem) -> Fitted:
    """Our estimator of the problem's loss, with its defaults."""
    model = estimator(problem).fit(problem.X, problem.y)
    intercept = float(np.ravel(model.intercept_)[0])
    return Fitted(model.coef_.ravel(), intercept, float(model.dual_bound_))


def along_a_path(problem: Problem) -> Fitted:
    """The same problem as the last of 100, from benchopt's λ_max on."""
    largest = largest_penalty(problem.X, problem.y, problem.quantile)
    values = np.geomspace(largest, problem.cost, PATH_LENGTH)
    model = estimator(problem).path(problem.X, problem.y, values).models[-1]
    return Fitted(model.coef_, float(model.intercept_), float(model.dual_bound_))


def estimator(problem: Problem) -> Any:
    """The estimator of a problem, unfitted."""
    from cgboost import SparseLinearClassifier, SparseLinearRegressor

    quantile = problem.quantile
    if problem.kind == "quantile":
        return SparseLinearRegressor(loss="quantile", quantile=quantile, alpha=problem.cost)
    return SparseLinearClassifier(loss="hinge", C=problem.cost)


def scikit_quantile(problem: Problem, solver: str) -> Fitted:
    """scikit-learn's QuantileRegressor."""
    from sklearn.linear_model import QuantileRegressor

    model = QuantileRegressor(quantile=problem.quantile, alpha=problem.cost, solver=solver)
    model.fit(problem.X, problem.y)
    return Fitted(model.coef_, float(model.intercept_))


def squared_hinge(problem: Problem) -> Fitted:
    """LinearSVC with the ℓ1 norm, which has the squared hinge loss only: another problem."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(penalty="l1", loss="squared_hinge", dual=False, C=problem.cost)
    model.fit(problem.X, problem.y)
    return Fitted(model.coef_.ravel(), float(model.intercept_[0]), comparable=False)


def statsmodels_quantile(problem: Problem) -> Fitted:
    """QuantReg of statsmodels, which has no penalty (no fit_regularized): α = 0 only."""
    from statsmodels.regression.quantile_regression import QuantReg

    rows = np.column_stack([np.ones(len(problem.y)), problem.X])
    params = QuantReg(problem.y, rows).fit(q=problem.quantile).params
    return Fitted(np.asarray(params[1:]), float(params[0]))


def interior_point_quantile(problem: Problem, method: str) -> Fitted:
    """The Fortran solvers of R's quantreg in pinball-qr: Frisch-Newton, pfn with preprocessing."""
    from pinball import QuantileRegressor

    model = QuantileRegressor(tau=problem.quantile, method=method).fit(problem.X, problem.y)
    return Fitted(np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]))


def smoothed_quantile(problem: Problem) -> Fitted:
    """SmoothQuantileRegressor of skglm: ten smoothed losses, the last of width 0.001."""
    from skglm.experimental.quantile_huber import SmoothQuantileRegressor

    model = SmoothQuantileRegressor(quantile=problem.quantile, alpha=problem.cost)
    model.fit(problem.X, problem.y)
    return Fitted(model.coef_, float(model.intercept_))


def primal_dual_quantile(problem: Problem) -> Fitted:
    """PDCD_WS of skglm on its Pinball loss; the intercept is a feature of ones without a cost."""
    from skglm.experimental.pdcd_ws import PDCD_WS
    from skglm.experimental.quantile_regression import Pinball
    from skglm.penalties import WeightedL1

    n, p = problem.X.shape
    rows = np.asfortranarray(np.column_stack([problem.X, np.ones(n)]))
    penalty = WeightedL1(problem.feature_cost, np.append(np.ones(p), 0.0))
    start = np.sign(problem.y) / 2.0 + problem.quantile - 0.5  # as in its tests
    params = PDCD_WS(dual_init=start).solve(rows, problem.y, Pinball(problem.quantile), penalty)[0]
    return Fitted(params[:-1], float(params[-1]))


def full_program(problem: Problem, solver: str) -> Fitted:
    """The linear program with all columns, by HiGHS.

    min w Σ (β⁺ + β⁻) + uᵀe⁺ + lᵀe⁻   with   X (β⁺ − β⁻) + b + e⁺ − e⁻ = y
    """
    n, p = problem.X.shape
    X = csc_matrix(problem.X)
    lower, upper = problem.box
    ones, unit = csc_matrix(np.ones((n, 1))), identity(n, format="csc")
    matrix = hstack([X, -X, ones, unit, -unit], format="csc")
    cost = np.concatenate([np.full(2 * p, problem.feature_cost), [0.0], upper, -lower])
    least = np.zeros(len(cost))
    least[2 * p] = -np.inf
    values, _ = solved(cost, matrix, (least, np.full(len(cost), np.inf)), (problem.y,) * 2, solver)
    return Fitted(values[:p] - values[p : 2 * p], float(values[2 * p]))


def dual_program(problem: Problem, solver: str) -> Fitted:
    """The dual of that program, by HiGHS: p + 1 rows; β and b are their multipliers.

    max yᵀr   with   |Xᵀr| ≤ w,  1ᵀr = 0,  −l ≤ r ≤ u
    """
    n, p = problem.X.shape
    stacked = hstack([problem.X, np.ones((n, 1))]) if issparse(problem.X) else None
    rows = stacked.T if stacked is not None else np.column_stack([problem.X, np.ones(n)]).T
    most = np.append(np.full(p, problem.feature_cost), 0.0)
    _, duals = solved(-problem.y, csc_matrix(rows), problem.box, (-most, most), solver)
    return Fitted(-duals[:p], float(-duals[p]))


def solved(
    cost: Vector,
    matrix: Any,
    bounds: tuple[Vector, Vector],
    sides: tuple[Vector, Vector],
    solver: str,
) -> tuple[Vector, Vector]:
    """Values and row multipliers of a linear program, by HiGHS on one thread.

    Raises
    ------
    RuntimeError
        If it does not end with an optimum.
    """
    import highspy

    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_ = cost
    lp.col_lower_, lp.col_upper_ = bounds
    lp.row_lower_, lp.row_upper_ = sides
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
    lp.a_matrix_.value_ = matrix.data
    highs = highspy.Highs()
    for name, value in (("output_flag", False), ("threads", 1), ("solver", solver)):
        highs.setOptionValue(name, value)
    highs.passModel(lp)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(f"HiGHS: {highs.modelStatusToString(highs.getModelStatus())}")
    answer = highs.getSolution()
    return np.array(answer.col_value), np.array(answer.row_dual)


SCIKIT = {
    f"scikit-learn, {solver}": partial(scikit_quantile, solver=solver)
    for solver in ("highs", "highs-ds", "highs-ipm")
}
PROGRAMS = {
    "full LP, HiGHS": partial(full_program, solver="choose"),
    "dual of the full LP, HiGHS": partial(dual_program, solver="choose"),
    "full LP, HiGHS ipm": partial(full_program, solver="ipm"),
}
SMOOTHED, EXACT = "skglm, smoothed", "skglm, PDCD_WS"
LINEAR_SVC = "LinearSVC, squared hinge"
STATSMODELS = "statsmodels, QuantReg"
FORTRAN = {
    f"pinball-qr, {method}": partial(interior_point_quantile, method=method)
    for method in ("fnb", "pfn")
}

SOLVERS = {
    solver.name: solver
    for solver in (
        Solver(OURS, "cgboost", by_column_generation),
        Solver(PATH, "cgboost", along_a_path),
        *(Solver(name, "scikit-learn", fit) for name, fit in SCIKIT.items()),
        *(Solver(name, "highspy", fit) for name, fit in PROGRAMS.items()),
        Solver(SMOOTHED, "skglm", smoothed_quantile),
        Solver(EXACT, "skglm", primal_dual_quantile),
        Solver(STATSMODELS, "statsmodels", statsmodels_quantile),
        *(Solver(name, "pinball-qr", fit) for name, fit in FORTRAN.items()),
        Solver(LINEAR_SVC, "scikit-learn", squared_hinge),
    )
}
"""In the order in which they are measured."""

PENALISED = (OURS, *SCIKIT, *list(PROGRAMS)[:2], SMOOTHED, EXACT)
"""Of an ℓ1-penalised quantile regression."""

UNPENALISED = (OURS, "scikit-learn, highs", STATSMODELS, *FORTRAN)
"""Of a quantile regression without a penalty."""

MACHINES = (OURS, *list(PROGRAMS)[:2], LINEAR_SVC)
"""Of an ℓ1 support vector machine."""
