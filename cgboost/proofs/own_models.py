"""Models of cgboost as problems: linear models over features, kernel machines over their columns.

A kernel machine's problem has a feature for each column K(·, x_j), in the order of kernels and
rows: the values that pricing scans in a fit are made again, as the fit has made them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.arrays import Vector
from cgboost.estimators.common.targets import LEAN
from cgboost.exceptions import CertificateError
from cgboost.losses import LogLoss
from cgboost.penalties import L1, L2, ElasticNet, get_penalty
from cgboost.proofs.family_problems import OTHERS, FamilyProblem, family_problems
from cgboost.proofs.fitted_plan import certified_plan, check_objective, check_whole_fit
from cgboost.proofs.problem import LinearProblem, Point
from cgboost.proofs.readers import HALF, Data, Reading, data_of

OTHER_OUTPUT = 1e-3
"""What a model's outputs may differ from those of its columns, relative to the largest."""

VALUES_OF_KERNELS = 2**26
"""Values of kernel columns at most: half a gigabyte, and far more than can be checked."""


def reading_of_own(model: Any, X: Any, y: Any, sample_weight: Any) -> OwnReading:
    """The problems of a fitted model of cgboost.

    Parameters
    ----------
    X, y, sample_weight
        As given to ``fit``.

    Raises
    ------
    CertificateError
        Where the model is of another kind, or has been fitted to other rows.
    """
    kind = type(model).__name__
    if kind not in OWN_READERS:
        raise CertificateError(
            f"certify does not know which problem a {kind} of cgboost solves; it takes "
            f"{', '.join(sorted(OWN_READERS))}. Where a model has dual_bound_, that is its bound"
        )
    check_whole_fit(model, X, y)
    found = OWN_READERS[kind](model, X, y, sample_weight)
    reading = found.reading
    points = zip(reading.problems, reading.coef, reading.intercept, strict=True)
    given = [problem.at(coef, _of_problem(model, problem, coef, b)) for problem, coef, b in points]
    objective = float(sum(point.objective for point in given))
    check_objective(model, objective)
    return replace(found, given=given)


def _of_problem(
    model: Any, problem: LinearProblem | FamilyProblem, coef: Vector, intercept: Any
) -> Any:
    """The intercept, 0 where it only says which class is the larger one.

    The fit ended at f = 0, and the model leans to that class, by what its problem may not have.
    """
    leans = hasattr(model, "classes_") and not np.any(coef)
    leans = leans and problem.factor * float(np.max(np.abs(intercept))) <= LEAN
    return 0.0 * intercept if leans else intercept


@dataclass(frozen=True, eq=False)
class OwnReading:
    """The problems of a model, and the features that they are over.

    Attributes
    ----------
    data : Data
        With the columns of a kernel machine instead of features.
    given : list of Point
        The model in each problem.
    tol : float
        The relative gap that will do: that of the fit, or 0.
    """

    reading: Reading
    data: Data
    given: list[Point] = field(default_factory=list)
    tol: float = 0.0


# -------------------------------------------------------------------------------- linear models


def _penalty_weights(model: Any, n_features: int) -> Vector | None:
    """What the penalty of each feature is multiplied by; None: by 1."""
    if not model.standardize and model.penalty_weights is None:
        return None
    if model.standardize and not model.fit_intercept:
        raise CertificateError("standardize=True without an intercept is not known: add one")
    given = model.penalty_weights
    weights = np.ones(n_features) if given is None else np.asarray(given, dtype=np.float64)
    if not (weights > 0).all():
        raise CertificateError("features without a penalty are not known: give a weight above 0")
    return weights if model._deviations is None else weights * model._deviations


def _linear(model: Any, X: Any, y: Any, sample_weight: Any) -> OwnReading:
    data = data_of(X, y, sample_weight)
    if getattr(model, "constraints", None):
        raise CertificateError(
            "constraints on coefficients are not known here: objective_ and dual_bound_ of the "
            "model are those of the problem with its constraints"
        )
    weights = _penalty_weights(model, data.X.shape[1])
    if hasattr(model, "alpha_"):
        alpha = float(model.alpha_)
        if not alpha > 0:
            raise CertificateError("alpha=0 leaves coefficients without a penalty: give one")
        price, unit = 1.0 / (float(data.weights.sum()) * alpha), alpha
        losses = [(model._loss, data.y.astype(np.float64), data.weights, "")]
        assumed = ["the mean loss over the rows, plus alpha times the penalty"]
    else:
        price, unit = float(model.C), 1.0
        own = data.weights * model.class_weight_[np.searchsorted(model.classes_, data.y)]
        losses = [
            (model._loss, target, own, name) for target, name in _signs(data.y, model.classes_)
        ]
        assumed = ["C times the sum over the rows, plus the penalty"]
    given: dict[str, Any] = {
        "penalty": model._penalty,
        "unit": unit,
        "positive": bool(model.positive),
    }
    given["intercept"] = "free" if model.fit_intercept else "none"
    scaled = data.X if weights is None else _divided(data.X, weights)
    if isinstance(model._loss, LogLoss):
        given["factor"] = HALF
    given |= {} if weights is None else {"weights": weights, "given": data.X}
    problems = [
        LinearProblem(scaled, loss.on(target, price * own), name=name, **given)
        for loss, target, own, name in losses
    ]
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else np.asarray(model.coef_)
    coef = np.atleast_2d(coef) * (1.0 if weights is None else weights)
    b = [float(x) for x in np.ravel(model.intercept_)]
    return OwnReading(Reading(problems, list(coef), b, assumed), data)


def _signs(y: NDArray[Any], classes: NDArray[Any]) -> list[tuple[Vector, str]]:
    """Labels of each class against the rest, or of the second of two, and the class's name."""
    if len(classes) == 2:
        return [(np.where(y == classes[1], 1.0, -1.0), "")]
    return [(np.where(y == one, 1.0, -1.0), f"class {one}") for one in classes]


def _divided(X: Any, weights: Vector) -> Any:
    """The features over their weights."""
    return X @ sparse.diags_array(1.0 / weights) if sparse.issparse(X) else X / weights


# -------------------------------------------------------------------------------- kernel machines


def _kernel(model: Any, X: Any, y: Any, sample_weight: Any) -> OwnReading:
    penalty = get_penalty(model.penalty)
    if type(penalty) not in (L1, L2, ElasticNet) or model.nu is not None:
        return _family(model, X, y, sample_weight)
    data = data_of(X, y, sample_weight)
    rows, plan = certified_plan(model, X, y, sample_weight)
    pool, offset = plan.pool, plan.options["offset"]
    assert rows.numbers is not None  # of kernels
    strata = range(len(pool.strata))
    if sum(pool.size(k) for k in strata) * len(rows.y) > VALUES_OF_KERNELS:
        raise CertificateError(f"the kernel columns of {len(rows.y)} rows are too many for a proof")
    columns = np.vstack([pool.values(k, np.arange(pool.size(k))) for k in strata])
    columns = np.ascontiguousarray(columns.T, dtype=np.float64)
    positive = plan.options["coef"] == "nonneg"
    if positive and offset == "penalized":
        raise CertificateError("offset='penalized' with coef='nonneg' is not known: 'free' is")
    rules: dict[str, Any] = {"intercept": "charged" if offset == "penalized" else offset}
    objective, targets = plan.objectives[0], plan.y_of_runs
    names = _labels_of_outputs(model, len(targets))
    problems = [
        LinearProblem(
            columns, objective.make_loss(target, rows.weights), penalty, 1.0,
            positive=positive, name=name, of_columns=True, **rules,
        )
        for target, name in zip(targets, names, strict=True)
    ]  # fmt: skip
    coef = _column_coefficients(model, pool, rows, len(targets))
    b = [float(x) for x in np.ravel(model.intercept_)]
    _check_outputs(
        model, X, np.column_stack([columns @ a + own for a, own in zip(coef, b, strict=True)]), rows
    )
    assumed = ["the penalty, plus C times the sum over the rows", "the values of kernels are data"]
    own = [f"{name}, row {row}" for name in pool.strata for row in rows.numbers]
    kept = replace(
        data, X=columns, y=data.y[rows.numbers], weights=rows.weights,
        names=np.asarray(own, dtype=object),
    )  # fmt: skip
    return OwnReading(Reading(problems, coef, b, assumed), kept)


def _check_outputs(model: Any, X: Any, outputs: Vector, rows: Any) -> None:
    """Raise CertificateError where the model says something else of X: scaled rows, for example."""
    said = model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)
    said = np.asarray(said, dtype=np.float64).reshape(len(said), -1)[rows.numbers]
    if np.abs(said - outputs).max(initial=0.0) > OTHER_OUTPUT * np.abs(outputs).max(initial=0.0):
        raise CertificateError(
            f"the {type(model).__name__} predicts otherwise on these rows than the columns made of "
            "them: give the X of the fit"
        )


def _labels_of_outputs(model: Any, n_outputs: int) -> list[str]:
    if n_outputs == 1:
        return [""]
    return [f"class {one}" for one in model.classes_]


def _column_coefficients(model: Any, pool: Any, rows: Any, n_outputs: int) -> list[Vector]:
    """The coefficients of all columns, in the order of kernels and rows."""
    table, n_rows = model.columns_, len(rows.y)
    place = {int(row): k for k, row in enumerate(rows.numbers)}
    first = {name: k * n_rows for k, name in enumerate(pool.strata)}
    signed = table["coefficient"] * table["sign"]
    output = np.zeros(len(signed), dtype=np.intp)
    if n_outputs > 1:
        output = np.searchsorted(model.classes_, table["class"])
    coef = np.zeros((n_outputs, n_rows * len(pool.strata)))
    pairs = zip(output, table["kernel"], table["row"].tolist(), signed, strict=True)
    if not set(table["row"].tolist()) <= set(place):
        raise CertificateError(
            f"X has {n_rows} rows that count, and the model has columns of others: give the X, y "
            "and sample_weight of the fit"
        )
    for k, kernel, row, value in pairs:
        coef[k, first[str(kernel)] + place[row]] += value
    return list(coef)


# -------------------------------------------------------------------------------- families


def _family(model: Any, X: Any, y: Any, sample_weight: Any) -> OwnReading:
    """A model over a family of columns that its pricer knows."""
    problems = family_problems(model, X, y, sample_weight)
    coef = [np.concatenate([out.coef for out in own.outputs]) for own in problems]
    b = [np.array([out.intercept for out in own.outputs]) for own in problems]
    first = problems[0]
    n_rows = len(y) if y is not None else np.shape(X)[0]
    names = list(dict.fromkeys(name for own in problems for name in own.names))
    data = Data(
        np.zeros((n_rows, 0)), np.zeros(n_rows) if y is None else np.asarray(y), np.ones(n_rows),
        sample_weight is not None, np.asarray([*names, OTHERS], dtype=object),
    )  # fmt: skip
    penalty = f"the penalty is {type(first.penalty).__name__}"
    loss = f"the loss of {type(model).__name__}'s documentation"
    assumed = [loss, penalty, "over all columns that the fit could have chosen from"]
    problems = [replace(own, in_all=names) for own in problems]
    return OwnReading(Reading(problems, coef, b, assumed), data, tol=first.tol)


OWN_READERS: dict[str, Callable[[Any, Any, Any, Any], OwnReading]] = {
    "SparseLinearRegressor": _linear,
    "SparseLinearClassifier": _linear,
    "CGBoostRegressor": _kernel,
    "CGBoostClassifier": _kernel,
    "CGBoostOutlierDetector": _family,
    "LPBoostClassifier": _family,
    "LPBoostRegressor": _family,
    "RuleSetClassifier": _family,
    "RuleSetRegressor": _family,
}
"""The classes of cgboost whose problems are known here."""
