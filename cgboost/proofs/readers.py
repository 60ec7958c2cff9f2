"""Which problem a fitted model of another package solves, in that package's own scaling.

One function for each class; what a reader of the class's documentation would not expect is among
what the certificate says that it assumes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from cgboost.arrays import Vector
from cgboost.exceptions import CertificateError
from cgboost.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    LogLoss,
    Poisson,
    Quantile,
    SquaredEpsilonInsensitive,
    SquaredError,
    SquaredHinge,
    SupportVectorLoss,
)
from cgboost.penalties import L1, L2, ElasticNet, Penalty
from cgboost.proofs.family_problems import FamilyProblem
from cgboost.proofs.fitted_plan import check_classes, check_features
from cgboost.proofs.problem import Intercept, LinearProblem
from cgboost.proofs.rows import ScaledHuberRows, SoftmaxRows

HALF = 0.5
"""The logistic loss here is of half the log-odds, f = ½(Xw + b)."""


@dataclass(frozen=True, eq=False)
class Data:
    """What a model was fitted to.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
    weights : ndarray of shape (n_rows,)
    weighted : bool
        Whether weights were given.
    names : ndarray of shape (n_features,) or None
    """

    X: Any
    y: NDArray[Any]
    weights: Vector
    weighted: bool
    names: NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class Reading:
    """A model as convex problems, one for each of its outputs.

    Attributes
    ----------
    coef : list of ndarray
        Of each problem, shape (n_features,) or (n_features, n_outputs).
    intercept : list of float or ndarray
    write : callable or None
        Puts coefficients and intercepts of all problems into a model of the class.
    """

    problems: Sequence[LinearProblem | FamilyProblem]
    coef: list[Vector]
    intercept: list[Any]
    assumed: list[str]
    write: Callable[[Any, list[Vector], list[Any]], None] | None = None


def data_of(X: Any, y: Any, sample_weight: Any) -> Data:
    """Checked data."""
    names = np.asarray(X.columns, dtype=object) if hasattr(X, "columns") else None
    X = check_array(X, accept_sparse=("csr", "csc"), dtype=np.float64)
    y = np.zeros(X.shape[0]) if y is None else np.asarray(y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise CertificateError("y must be finite, and has nan or inf")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    check_consistent_length(X, y)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return Data(X, y, weights, sample_weight is not None, names)


def reading_of(model: Any, data: Data) -> Reading:
    """The problems of a fitted model.

    Raises
    ------
    CertificateError
        Where the model's problem is not convex, or not known.
    """
    if isinstance(model, type):
        raise CertificateError(f"give a fitted model, not the class: {model.__name__}().fit(X, y)")
    read = READERS.get(type(model).__name__)
    package = type(model).__module__.split(".")[0]
    if read is None or package not in PACKAGES:
        hint = ": give its best_estimator_" if hasattr(model, "best_estimator_") else ""
        raise CertificateError(
            f"certify does not know which problem a {type(model).__name__} of {package} "
            f"solves{hint}. It takes {', '.join(sorted([*READERS, *MACHINES]))} of "
            f"{', '.join(PACKAGES)}, and pipelines that end in one"
        )
    check_is_fitted(model)
    check_features(data.X, int(np.shape(model.coef_)[-1]), type(model).__name__)
    check_classes(model, data.y)
    reading = read(model, data)
    if len(reading.coef) != len(reading.problems):
        raise CertificateError(
            f"the {type(model).__name__} has coefficients of {len(reading.coef)} outputs, y asks "
            f"for {len(reading.problems)}: has a class no row that counts?"
        )
    return reading


def _dense(coef: Any) -> Vector:
    return np.asarray(coef.toarray() if sparse.issparse(coef) else coef, dtype=np.float64)


def _penalty(l1_ratio: float) -> Penalty:
    """ρ‖w‖₁ + ½(1 − ρ)‖w‖²."""
    return L1() if l1_ratio == 1.0 else L2() if l1_ratio == 0.0 else ElasticNet(l1_ratio)


def _charges(what: str, value: float) -> float:
    """A price of the penalty that a bound needs."""
    if not (np.isfinite(value) and value > 0):
        raise CertificateError(
            f"{what}={value:g} leaves coefficients without a penalty, and a bound over all of them "
            "would need scores that are exactly 0: give a penalty, however small"
        )
    return float(value)


# -------------------------------------------------------------------------------- classes


def _signs(y: NDArray[Any], classes: NDArray[Any]) -> Iterator[tuple[str, int, Vector]]:
    """One problem for two classes, else one of each class against all others."""
    for k in [1] if len(classes) == 2 else range(len(classes)):
        name = "" if len(classes) == 2 else f"class {classes[k]}"
        yield name, k, np.where(y == classes[k], 1.0, -1.0)


def _class_weights(model: Any, data: Data, *, with_samples: bool) -> Vector:
    """The weight of each class, in the order of ``classes_``."""
    given = {"class_weight": model.class_weight, "classes": model.classes_, "y": data.y}
    if with_samples and "sample_weight" in inspect.signature(compute_class_weight).parameters:
        given["sample_weight"] = data.weights if data.weighted else None
    return np.asarray(compute_class_weight(**given), dtype=np.float64)


def _row_weights(model: Any, data: Data, weights: Vector) -> Vector:
    return data.weights * weights[np.searchsorted(model.classes_, data.y)]


def _write_classes(model: Any, coefs: list[Vector], intercepts: list[Any]) -> None:
    coef = np.vstack([coef.T for coef in coefs])
    _put(model, coef, np.concatenate([np.atleast_1d(b) for b in intercepts]))


def _write_numbers(model: Any, coefs: list[Vector], intercepts: list[Any]) -> None:
    shape = np.shape(model.coef_)
    b = np.array(intercepts)
    _put(model, np.vstack(coefs).reshape(shape), b if np.ndim(model.intercept_) else float(b[0]))


def _put(model: Any, coef: Vector, intercept: Any) -> None:
    """Where the model has them: dense or sparse, of its type."""
    kind, coef = model.coef_.dtype, coef.reshape(np.shape(model.coef_))
    if sparse.issparse(model.coef_):
        model.coef_ = sparse.csr_matrix(coef.astype(kind))
    else:
        model.coef_ = np.ascontiguousarray(coef, dtype=kind)
    if np.ndim(model.intercept_):
        model.intercept_ = np.asarray(intercept, dtype=kind).reshape(np.shape(model.intercept_))
    elif getattr(model, "fit_intercept", True):
        model.intercept_ = float(np.ravel(intercept)[0])
    if hasattr(model, "sparse_coef_") and not isinstance(
        getattr(type(model), "sparse_coef_", None), property
    ):
        model.sparse_coef_ = sparse.csr_matrix(coef.T)


def _free(model: Any) -> Intercept:
    return "free" if model.fit_intercept else "none"


def _liblinear(model: Any) -> dict[str, Any]:
    if not model.fit_intercept:
        return {"intercept": "none"}
    return {"intercept": "charged", "scale": float(model.intercept_scaling)}


def _said_of_liblinear(model: Any) -> list[str]:
    if not model.fit_intercept:
        return []
    return [f"the intercept is in the penalty (intercept_scaling={model.intercept_scaling:g})"]


def _linear_svc(model: Any, data: Data) -> Reading:
    ours = type(model).__module__.startswith("skglm")
    if not ours and model.multi_class != "ovr":
        raise CertificateError("multi_class='crammer_singer' is not known; 'ovr' is")
    hinge = ours or model.loss == "hinge"
    loss: Any = Hinge() if hinge else SquaredHinge()
    coef, b = _dense(model.coef_), np.ravel(model.intercept_)
    problems = []
    weights = (
        np.ones(len(model.classes_)) if ours else _class_weights(model, data, with_samples=True)
    )
    for name, k, y in _signs(data.y, model.classes_):
        costs = model.C * data.weights
        if len(weights) == 2:
            costs = costs * np.where(y > 0, weights[1], weights[0])
        else:  # liblinear: the others have the weight 1
            costs = costs * np.where(y > 0, weights[k], 1.0)
        rules = {"intercept": "none"} if ours else _liblinear(model)
        penalty = L2() if ours or model.penalty == "l2" else L1()
        problems.append(LinearProblem(data.X, loss.on(y, costs), penalty, 1.0, name=name, **rules))
    assumed = ["C times the sum over the rows, plus the penalty"]
    if ours:
        assumed.append("no intercept")
    else:
        assumed += _said_of_liblinear(model)
        if model.class_weight is not None and len(weights) > 2:
            assumed.append("class_weight counts for the rows of the class itself alone (liblinear)")
    return Reading(
        problems, list(coef), b.tolist() * (len(coef) // len(b)), assumed, _write_classes
    )


def _linear_svr(model: Any, data: Data) -> Reading:
    squared = model.loss == "squared_epsilon_insensitive"
    loss: Any = (SquaredEpsilonInsensitive if squared else EpsilonInsensitive)(model.epsilon)
    bound = loss.on(data.y.astype(float), model.C * data.weights)
    problem = LinearProblem(data.X, bound, L2(), 1.0, **_liblinear(model))
    assumed = ["C times the sum over the rows, plus ½‖w‖²", *_said_of_liblinear(model)]
    b = float(np.ravel(model.intercept_)[0])
    return Reading([problem], [np.ravel(model.coef_)], [b], assumed, _write_numbers)


def _logistic_regression(model: Any, data: Data) -> Reading:
    C, ratio = getattr(model, "C", np.nan), _l1_ratio(model)
    if hasattr(model, "C_"):  # cross-validated
        prices = np.unique(model.C_)
        if len(prices) > 1:
            raise CertificateError("one C for each class is not known: use one for all")
        C = prices[0]
        found = np.ravel(np.asarray(getattr(model, "l1_ratio_", None)))
        ratios = [one for one in found if one is not None]
        ratio = float(ratios[0]) if ratios else ratio
        if not model.refit:
            raise CertificateError("refit=False averages models of parts of the rows")
    if not np.isfinite(C):
        _charges("1/C", 0.0)
    celer = type(model).__module__.startswith("celer")
    classes = _class_weights(model, data, with_samples=True)
    costs = C * _row_weights(model, data, classes)
    liblinear = not celer and model.solver == "liblinear"
    rules: dict[str, Any] = {"intercept": _free(model)}
    if liblinear:
        rules = _liblinear(model)
    coef, b = _dense(model.coef_), np.ravel(np.asarray(model.intercept_, dtype=float))
    b = np.broadcast_to(b, (len(coef),))
    assumed = ["C times the sum over the rows, plus the penalty"]
    if liblinear:
        assumed += _said_of_liblinear(model)
    if len(model.classes_) > 2 and not liblinear:
        labels = (data.y[:, None] == model.classes_).astype(float)
        rows = costs > 0
        loss = SoftmaxRows(labels[rows], costs[rows])
        used = None if rows.all() else np.flatnonzero(rows)
        X = data.X if used is None else data.X[used]
        problem = LinearProblem(X, loss, _penalty(ratio), 1.0, numbers=used, **rules)
        if ratio > 0:
            raise CertificateError("the multinomial loss is known with the l2 penalty alone")
        assumed.append("the multinomial loss of all classes together")
        return Reading([problem], [coef.T.copy()], [b.copy()], assumed, _write_classes)
    problems = []
    for name, k, y in _signs(data.y, model.classes_):
        own = costs
        if liblinear and len(classes) > 2:
            own = C * data.weights * np.where(y > 0, classes[k], 1.0)
        problems.append(
            LinearProblem(
                data.X, LogLoss().on(y, own), _penalty(ratio), 1.0, factor=HALF, name=name, **rules
            )
        )
    return Reading(problems, list(coef), b.tolist(), assumed, _write_classes)


def _l1_ratio(model: Any) -> float:
    """Of a LogisticRegression, whose parameter ``penalty`` is going."""
    penalty = getattr(model, "penalty", "deprecated")
    if penalty in ("l1", "l2"):
        return {"l1": 1.0, "l2": 0.0}[penalty]
    if penalty is None:
        _charges("penalty", 0.0)
    ratio = getattr(model, "l1_ratio", 0.0)
    return 0.0 if ratio is None else float(ratio)


def _sparse_logistic(model: Any, data: Data) -> Reading:
    """Of skglm: the mean over the rows."""
    alpha = _charges("alpha", model.alpha)
    rules: dict[str, Any] = {"intercept": _free(model)}
    ratio = getattr(model, "l1_ratio", 1.0)
    problems = [
        LinearProblem(
            data.X,
            LogLoss().on(y, data.weights / (len(y) * alpha)),
            _penalty(ratio),
            alpha,
            factor=HALF,
            name=name,
            **rules,
        )
        for name, _, y in _signs(data.y, model.classes_)
    ]
    coef, b = _dense(model.coef_).reshape(len(problems), -1), np.ravel(model.intercept_)
    b = np.broadcast_to(b, (len(coef),))
    return Reading(problems, list(coef), b.tolist(), ["the mean over the rows"], _write_classes)


# -------------------------------------------------------------------------------- SGD


def _sgd(model: Any, data: Data) -> Reading:
    alpha = _charges("alpha", model.alpha)
    if model.early_stopping:
        raise CertificateError("early_stopping=True fits a part of the rows, which is not kept")
    if model.penalty is None:
        _charges("penalty", 0.0)
    ratio = {"l1": 1.0, "l2": 0.0, "elasticnet": float(model.l1_ratio)}[model.penalty]
    intercept = _free(model)
    classes = hasattr(model, "classes_")
    weights = data.weights
    if classes:
        own = _class_weights(model, data, with_samples=False)
        targets = _signs(data.y, model.classes_)
    else:
        targets = iter([("", 0, data.y.astype(float))])
    problems = []
    for name, k, y in targets:
        w = weights
        if classes:
            others = own[1 - k] if len(own) == 2 else 1.0
            w = weights * np.where(y > 0, own[k], others)
        loss = _sgd_loss(model, y, w / (len(y) * alpha))
        problems.append(
            LinearProblem(
                data.X, loss, _penalty(ratio), alpha, intercept, name=name,
                factor=HALF if model.loss == "log_loss" else 1.0,
            )
        )  # fmt: skip
    coef = _dense(model.coef_).reshape(len(problems), -1)
    b = np.ravel(model.intercept_)
    b = np.broadcast_to(b, (len(coef),))
    assumed = ["the mean over the rows, plus alpha times the penalty"]
    return Reading(
        problems, list(coef), b.tolist(), assumed, _write_classes if classes else _write_numbers
    )


def _sgd_loss(model: Any, y: Vector, costs: Vector) -> Any:
    eps = model.epsilon
    makers: dict[str, Callable[[], Any]] = {
        "hinge": lambda: Hinge().on(y, costs),
        "perceptron": lambda: _one_sided(y, costs, target=0.0),
        "log_loss": lambda: LogLoss().on(y, costs),
        "squared_hinge": lambda: SquaredHinge().on(y, costs),
        "modified_huber": lambda: _one_sided(y, 4.0 * costs, curvature=0.5 / _ones(costs)),
        "squared_error": lambda: SquaredError().on(y, costs),
        "huber": lambda: Huber(eps).on(y, costs),
        "epsilon_insensitive": lambda: EpsilonInsensitive(eps).on(y, costs),
        "squared_epsilon_insensitive": lambda: SquaredEpsilonInsensitive(eps).on(y, costs),
    }
    return makers[model.loss]()


def _ones(costs: Vector) -> Vector:
    return np.where(costs > 0, costs, 1.0)


def _one_sided(
    y: Vector, upper: Vector, *, target: float = 1.0, curvature: Vector | None = None
) -> SupportVectorLoss:
    """Losses of margins: max over 0 ≤ y r ≤ upper of r(target·y − f) − ½ curvature r²."""
    return SupportVectorLoss(
        target=target * y,
        lower=np.where(y > 0, 0.0, -upper),
        upper=np.where(y > 0, upper, 0.0),
        curvature=curvature,
    )


# -------------------------------------------------------------------------------- numbers


def _several(
    model: Any, data: Data, make: Callable[[Vector, int], LinearProblem]
) -> tuple[Any, ...]:
    """One problem for each response."""
    responses = data.y.reshape(len(data.y), -1).astype(float)
    problems = [make(responses[:, k], k) for k in range(responses.shape[1])]
    coef = _dense(model.coef_).reshape(len(problems), -1)
    b = np.broadcast_to(np.ravel(model.intercept_), (len(problems),))
    return problems, list(coef), [float(one) for one in b]


def _elastic_net(model: Any, data: Data) -> Reading:
    chosen: Any = getattr(model, "alpha_", None)
    alpha = _charges("alpha", float(model.alpha if chosen is None else np.ravel(chosen)[0]))
    ratio = getattr(model, "l1_ratio_", getattr(model, "l1_ratio", 1.0))
    if "ElasticNet" not in type(model).__name__:
        ratio = 1.0
    if getattr(model, "weights", None) is not None:
        raise CertificateError("weights of features are not known yet: leave them out")
    total = float(data.weights.sum()) * alpha
    rules: dict[str, Any] = {"intercept": _free(model)}
    positive = bool(getattr(model, "positive", False))

    def make(y: Vector, _: int) -> LinearProblem:
        loss = SquaredError().on(y, data.weights / total)
        return LinearProblem(
            data.X, loss, _penalty(float(ratio)), alpha, positive=positive, **rules
        )

    problems, coef, b = _several(model, data, make)
    assumed = ["half the mean of the squared errors, plus alpha times the penalty"]
    return Reading(problems, coef, b, assumed, _write_numbers)


def _ridge(model: Any, data: Data) -> Reading:
    alphas = np.ravel(model.alpha_ if hasattr(model, "alpha_") else model.alpha)
    classes = getattr(model, "classes_", None)
    weights = data.weights
    if classes is not None:
        weights = _row_weights(model, data, _class_weights(model, data, with_samples=False))
        signs = [y for _, _, y in _signs(data.y, classes)]
        data = Data(data.X, np.column_stack(signs), weights, True, data.names)
    rules: dict[str, Any] = {"intercept": _free(model)}

    def make(y: Vector, k: int) -> LinearProblem:
        alpha = _charges("alpha", float(alphas[k % len(alphas)]))
        loss = SquaredError().on(y, weights / alpha)
        positive = bool(getattr(model, "positive", False))
        return LinearProblem(data.X, loss, L2(), 2.0 * alpha, positive=positive, **rules)

    problems, coef, b = _several(model, data, make)
    write = _write_numbers if classes is None else _write_classes
    return Reading(problems, coef, b, ["the sum of the squared errors, plus alpha‖w‖²"], write)


def _quantile(model: Any, data: Data) -> Reading:
    alpha = _charges("alpha", model.alpha)
    loss = Quantile(model.quantile).on(
        data.y.astype(float), data.weights / (float(data.weights.sum()) * alpha)
    )
    intercept = _free(model)
    problem = LinearProblem(data.X, loss, L1(), alpha, intercept)
    b, assumed = [float(model.intercept_)], ["the mean over the rows, plus alpha‖w‖₁"]
    return Reading([problem], [_dense(model.coef_).ravel()], b, assumed, _write_numbers)


def _poisson(model: Any, data: Data) -> Reading:
    alpha = _charges("alpha", model.alpha)
    loss = Poisson().on(data.y.astype(float), data.weights / (float(data.weights.sum()) * alpha))
    intercept = _free(model)
    problem = LinearProblem(data.X, loss, L2(), alpha, intercept)
    assumed = ["half the mean Poisson deviance, plus ½ alpha‖w‖²"]
    return Reading(
        [problem], [np.ravel(model.coef_)], [float(model.intercept_)], assumed, _write_numbers
    )


def _huber(model: Any, data: Data) -> Reading:
    alpha = _charges("alpha", model.alpha)
    rows = ScaledHuberRows(data.y.astype(float), data.weights / (2.0 * alpha), model.epsilon)
    intercept = _free(model)
    problem = LinearProblem(data.X, rows, L2(), 2.0 * alpha, intercept)

    def write(model: Any, coefs: list[Vector], intercepts: list[Any]) -> None:
        _write_numbers(model, coefs, intercepts)
        model.scale_ = rows.scale(problem.at(coefs[0], intercepts[0]).output)
        output = problem.at(coefs[0], intercepts[0]).output
        model.outliers_ = np.abs(data.y - output) > model.scale_ * model.epsilon

    assumed = ["sum of σ + σ H((y − f)/σ), plus alpha‖w‖², with the best σ for the coefficients"]
    return Reading([problem], [np.ravel(model.coef_)], [float(model.intercept_)], assumed, write)


PACKAGES = ("sklearn", "skglm", "celer")

MACHINES = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")
"""Classes that come with a dual point (:mod:`cgboost.proofs.machines`)."""

READERS: dict[str, Callable[[Any, Data], Reading]] = {
    "LinearSVC": _linear_svc,
    "LinearSVR": _linear_svr,
    **dict.fromkeys(["SGDClassifier", "SGDRegressor"], _sgd),
    **dict.fromkeys(["Lasso", "LassoCV", "ElasticNet", "ElasticNetCV"], _elastic_net),
    **dict.fromkeys(["Ridge", "RidgeCV", "RidgeClassifier", "RidgeClassifierCV"], _ridge),
    **dict.fromkeys(["LogisticRegression", "LogisticRegressionCV"], _logistic_regression),
    "SparseLogisticRegression": _sparse_logistic,
    "HuberRegressor": _huber,
    "PoissonRegressor": _poisson,
    "QuantileRegressor": _quantile,
}
