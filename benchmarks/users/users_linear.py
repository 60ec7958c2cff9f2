"""Rows of the comparison: sparse linear models, their paths and their cross-validation.

Every entrant solves the same problem, by its own tolerance; the score is the objective of what it
found, with an intercept that costs nothing (liblinear's is in the penalty).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn import linear_model, svm
from users_rows import OURS, Row

from cgboost import SparseLinearClassifier, SparseLinearRegressor
from cgboost.linear import SparseLinearClassifierCV, SparseLinearRegressorCV
from cgboost.losses.registry import get_loss

CLASSIFICATION = ("hinge", "squared_hinge", "log_loss")
SHARE = 0.1
"""The penalty, as a share of the one at which all coefficients are 0."""


class Problem(NamedTuple):
    """A mean loss and α times Σ|β|."""

    X: Any
    y: Any
    loss: str
    alpha: float


class Size(NamedTuple):
    """Rows, features, and whether these are the counts of a text."""

    rows: int
    features: int
    text: bool = False

    def __str__(self) -> str:
        return f"{self.rows} × {self.features}{' of a text' if self.text else ''}"


SMALL = (Size(150, 4), Size(150, 10))
LARGE = (
    Size(500, 600),
    Size(3000, 300),
    Size(10000, 100),
    Size(200, 5000),
    Size(3000, 5931, text=True),
)


def rows(data: Path) -> list[Row]:
    """Rows of this part; ``data`` is the folder of public data sets."""
    found = []
    for size in SMALL:
        for loss in PEERS:
            goal = 1.0 if loss in ("quantile", "hinge") else 4.0
            found.append(_fits(size, loss, goal))
    for size in (Size(150, 60), Size(400, 30)):
        found += [_fits(size, loss, 1.0) for loss in ("quantile", "hinge")]
    for size in LARGE:
        found += [_fits(size, loss, 1.5) for loss in PEERS if loss not in ("quantile", "hinge")]
    for size in (Size(150, 10), Size(500, 600), Size(3000, 300)):
        found += [_paths(size, loss) for loss in ("squared_error", "log_loss")]
        found += [_folds(size, loss) for loss in ("squared_error", "log_loss")]
    return found


# ---------------------------------------------------------------------- data


def _problem(size: Size, loss: str) -> Problem:
    """A tenth of the features count, or three; classes, counts or numbers with heavy tails."""
    rng = np.random.default_rng(0)
    n, p, text = size
    used = min(p, max(3, p // 10) if p < 1000 else 30)
    if text:
        X = sparse.random(n, p, 0.02, format="csc", random_state=0)
        X.data = np.log1p(np.ceil(-np.log(1.0 - X.data)))
        coef = np.zeros(p)
        coef[rng.choice(p, 100, replace=False)] = 2.0 * rng.normal(size=100)
    else:
        X, coef = rng.normal(size=(n, p)), np.zeros(p)
        coef[:used] = rng.normal(size=used)
    output = X @ coef
    output = output / output.std()
    y: Any = output + 0.5 * rng.standard_t(3, size=n)
    if loss in CLASSIFICATION:
        y = np.where(y > 0, 1, -1)
    elif loss == "poisson":
        y = rng.poisson(np.exp(0.5 * output))
    return Problem(X, y, loss, SHARE * _largest(X, y, loss))


def _largest(X: Any, y: Any, loss: str) -> float:
    """The α from which on all coefficients are 0."""
    if loss in CLASSIFICATION:
        kind = SparseLinearClassifier(loss=loss, C=1e-9)
        return 1.0 / (kind.fit(X, y).C_min_ * X.shape[0])
    return float(SparseLinearRegressor(loss=loss, alpha=1e9).fit(X, y).alpha_max_)


def _objective(problem: Problem, found: tuple[Any, Any]) -> str:
    """The objective at coefficients and intercept."""
    X, y, name, alpha = problem
    coef, intercept = np.ravel(found[0]), float(np.ravel(found[1])[0])
    losses = get_loss(name).value(np.asarray(y, dtype=float), X @ coef + intercept)
    return f"{losses.mean() + alpha * np.abs(coef).sum():.7g}"


# ---------------------------------------------------------------------- one fit


def _coefficients(model: Any) -> tuple[Any, Any]:
    return model.coef_, model.intercept_


def _ours(problem: Problem) -> tuple[Any, Any]:
    X, y, loss, alpha = problem
    if loss in CLASSIFICATION:
        return _coefficients(SparseLinearClassifier(loss=loss, C=_price(problem)).fit(X, y))
    return _coefficients(SparseLinearRegressor(loss=loss, alpha=alpha).fit(X, y))


def _price(problem: Problem) -> float:
    return 1.0 / (problem.alpha * problem.X.shape[0])


def _lasso(problem: Problem) -> tuple[Any, Any]:
    return _coefficients(linear_model.Lasso(alpha=problem.alpha).fit(problem.X, problem.y))


def _celer(problem: Problem) -> tuple[Any, Any]:
    from celer import Lasso

    return _coefficients(Lasso(alpha=problem.alpha).fit(problem.X, problem.y))


def _skglm_lasso(problem: Problem) -> tuple[Any, Any]:
    from skglm import Lasso

    return _coefficients(Lasso(alpha=problem.alpha).fit(problem.X, problem.y))


def _liblinear(problem: Problem) -> tuple[Any, Any]:
    kind = partial(linear_model.LogisticRegression, C=_price(problem), solver="liblinear")
    return _coefficients(kind(l1_ratio=1).fit(problem.X, problem.y))


def _linear_svc(problem: Problem) -> tuple[Any, Any]:
    model = svm.LinearSVC(penalty="l1", C=_price(problem), dual=False)
    return _coefficients(model.fit(problem.X, problem.y))


def _skglm_logistic(problem: Problem) -> tuple[Any, Any]:
    from skglm import SparseLogisticRegression

    return _coefficients(SparseLogisticRegression(alpha=problem.alpha).fit(problem.X, problem.y))


def _celer_logistic(problem: Problem) -> tuple[Any, Any]:
    from celer import LogisticRegression

    return _coefficients(LogisticRegression(C=_price(problem)).fit(problem.X, problem.y))


def _skglm_huber(problem: Problem) -> tuple[Any, Any]:
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Huber
    from skglm.penalties import L1
    from skglm.solvers import AndersonCD

    model = GeneralizedLinearEstimator(Huber(1.0), L1(problem.alpha), AndersonCD())
    return _coefficients(model.fit(problem.X, problem.y))


def _skglm_poisson(problem: Problem) -> tuple[Any, Any]:
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Poisson
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton

    model = GeneralizedLinearEstimator(Poisson(), L1(problem.alpha), ProxNewton(tol=1e-4))
    return _coefficients(model.fit(problem.X, problem.y.astype(float)))


def _quantile(problem: Problem) -> tuple[Any, Any]:
    model = linear_model.QuantileRegressor(quantile=0.5, alpha=problem.alpha)
    return _coefficients(model.fit(problem.X, problem.y))


def _hinge_program(problem: Problem) -> tuple[Any, Any]:
    """The linear program of the ℓ1-SVM, as it is written down, by scipy's HiGHS."""
    X, y, _, alpha = problem
    n, p = X.shape
    signed = y[:, None] * X
    rows = np.hstack([-signed, signed, -y[:, None], y[:, None], -np.eye(n)])
    cost = np.concatenate([np.full(2 * p, alpha), [0.0, 0.0], np.full(n, 1.0 / n)])
    x = linprog(cost, A_ub=rows, b_ub=-np.ones(n), method="highs").x
    return x[:p] - x[p : 2 * p], x[2 * p] - x[2 * p + 1]


PEERS: Mapping[str, Mapping[str, Callable[[Problem], Any]]] = {
    "quantile": {"QuantileRegressor": _quantile},
    "hinge": {"linprog": _hinge_program},
    "squared_error": {"Lasso": _lasso, "celer": _celer, "skglm": _skglm_lasso},
    "log_loss": {
        "liblinear": _liblinear,
        "celer": _celer_logistic,
        "skglm": _skglm_logistic,
    },
    "squared_hinge": {"LinearSVC": _linear_svc},
    "huber": {"skglm": _skglm_huber},
    "poisson": {"skglm": _skglm_poisson},
}


def _fits(size: Size, loss: str, goal: float) -> Row:
    return Row(
        f"sparse linear, {loss}, {size}",
        partial(_problem, size, loss),
        {OURS: _ours, **PEERS[loss]},
        _objective,
        goal,
    )


# ---------------------------------------------------------------------- paths and folds


def _our_path(problem: Problem) -> tuple[Any, Any]:
    if problem.loss in CLASSIFICATION:
        path = SparseLinearClassifier(loss=problem.loss).path(problem.X, problem.y)
    else:
        path = SparseLinearRegressor(loss=problem.loss).path(problem.X, problem.y)
    return path.coefs, path.table()["objective"]


def _lasso_path(problem: Problem) -> Any:
    return linear_model.lasso_path(problem.X, problem.y)


def _skglm_lasso_path(problem: Problem) -> Any:
    from skglm import Lasso

    alphas = 10.0 * problem.alpha * np.logspace(0, -3, 100)
    return Lasso().path(problem.X, problem.y, alphas)


def _liblinear_path(problem: Problem) -> Any:
    found = []
    for price in 0.1 * _price(problem) * np.logspace(0, 3, 100):
        found.append(_liblinear(problem._replace(alpha=1.0 / (price * len(problem.y)))))
    return found


def _celer_logistic_path(problem: Problem) -> Any:
    from celer import celer_path

    alphas = 10.0 * problem.alpha * np.logspace(0, -3, 100)
    return celer_path(problem.X, problem.y, "logreg", alphas=alphas)


def _paths(size: Size, loss: str) -> Row:
    peers: Mapping[str, Callable[[Problem], Any]] = {
        "squared_error": {"lasso_path": _lasso_path, "skglm": _skglm_lasso_path},
        "log_loss": {"liblinear": _liblinear_path, "celer": _celer_logistic_path},
    }[loss]
    name = f"path of 100, {loss}, {size}"
    return Row(name, partial(_problem, size, loss), {OURS: _our_path, **peers}, goal=2.0)


def _our_folds(problem: Problem) -> tuple[Any, Any]:
    if problem.loss in CLASSIFICATION:
        return _coefficients(SparseLinearClassifierCV(loss=problem.loss).fit(problem.X, problem.y))
    return _coefficients(SparseLinearRegressorCV(loss=problem.loss).fit(problem.X, problem.y))


def _lasso_folds(problem: Problem) -> tuple[Any, Any]:
    return _coefficients(linear_model.LassoCV().fit(problem.X, problem.y))


def _liblinear_folds(problem: Problem) -> tuple[Any, Any]:
    model = linear_model.LogisticRegressionCV(
        Cs=0.1 * _price(problem) * np.logspace(0, 3, 100),
        cv=5,
        solver="liblinear",
        l1_ratios=(1.0,),
        use_legacy_attributes=False,
    )
    return _coefficients(model.fit(problem.X, problem.y))


def _folds(size: Size, loss: str) -> Row:
    peer, goal = (
        ({"LassoCV": _lasso_folds}, 2.0)
        if loss == "squared_error"
        else ({"LogisticRegressionCV": _liblinear_folds}, 1.0)
    )
    name = f"cross-validation, {loss}, {size}"
    return Row(name, partial(_problem, size, loss), {OURS: _our_folds, **peer}, goal=goal)
