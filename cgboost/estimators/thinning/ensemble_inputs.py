"""Rows as a thinned ensemble reads them, and the ensemble fitted to them where it is not yet."""

from __future__ import annotations

import copy
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
)

from cgboost.arrays import Indices, Vector
from cgboost.estimators.thinning.boosted import library_of
from cgboost.estimators.thinning.members import Members
from cgboost.tables.frames import some_rows

LIBRARIES = ("lightgbm", "xgboost", "catboost")


def is_fitted(estimator: Any) -> bool:
    """Whether this is a fitted ensemble, or a list of fitted models or functions.

    Raises
    ------
    ValueError
        If it is neither an ensemble nor a list, or a model in the list is not fitted.
    """
    if isinstance(estimator, (list, tuple)):
        if not estimator:
            raise ValueError("estimator is an empty list: give fitted models or functions")
        for number, member in enumerate(estimator):
            if hasattr(member, "fit") and not _fitted(member):
                raise ValueError(
                    f"member {number} of the list is not fitted: {member!r}; fit it, or give an "
                    "ensemble that is fitted here"
                )
        return True
    if not hasattr(estimator, "fit"):
        if hasattr(estimator, "predict"):
            return True  # a booster
        raise ValueError(
            f"estimator must be an ensemble or a list of fitted models, got {estimator!r}"
        )
    return _fitted(estimator)


def _fitted(model: Any) -> bool:
    if hasattr(model, "is_fitted"):  # CatBoost
        return bool(model.is_fitted())
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def checked_response(y: Any) -> NDArray[Any]:
    """Targets of rows as an array, checked to be finite."""
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    return y


def unwrapped(estimator: Any) -> Any:
    """The model inside a ``FrozenEstimator`` of scikit-learn."""
    return estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator


def is_voting(ensemble: Any) -> bool:
    """Whether members have votes in the ensemble, not probabilities."""
    return hasattr(ensemble, "estimator_weights_") or getattr(ensemble, "voting", "") == "hard"


def check_features(ensemble: Any, n_features: int, names: Any = None) -> None:
    """The ensemble must have been fitted to as many features, of the same names in the same order.

    Parameters
    ----------
    names : sequence of str or None
        Those of the rows that are given; an ensemble without names takes any.
    """
    models = ensemble if isinstance(ensemble, (list, tuple)) else [ensemble]
    for model in models:
        own = getattr(model, "n_features_in_", None)
        if own is not None and own != n_features:
            raise ValueError(
                f"X has {n_features} features, the ensemble was fitted to {own}: give rows with "
                "the same features"
            )
        known = getattr(model, "feature_names_in_", None)
        if known is None or names is None or list(known) == list(names):
            continue
        place = next(k for k in range(n_features) if known[k] != names[k])
        raise ValueError(
            f"column {place} of X is {names[place]!r}, and was {known[place]!r} when the ensemble "
            "was fitted: give the same columns in the same order"
        )


def places(y: NDArray[Any], members: Members) -> NDArray[Any]:
    """Numbers, or the places of labels among the classes.

    Raises
    ------
    ValueError
        If there is one class only, or a label that the ensemble does not know.
    """
    classes = members.classes
    if classes is None:
        if y.dtype.kind not in "fiub":
            try:
                return y.astype(np.float64)
            except (TypeError, ValueError):
                raise ValueError(
                    f"y must hold numbers for an ensemble of regressors, got {y[:3].tolist()}"
                ) from None
        return y
    check_classification_targets(y)
    if len(classes) < 2:
        raise ValueError(
            f"y must have at least two classes, got only one class: {classes.tolist()}"
        )
    known = {label: place for place, label in enumerate(classes.tolist())}
    strange = sorted({label for label in y.tolist() if label not in known}, key=str)
    if strange:
        raise ValueError(
            f"y has labels that the ensemble does not know: {strange[:5]}; its classes are "
            f"{classes.tolist()[:10]}"
        )
    return np.array([known[label] for label in y.tolist()], dtype=np.intp)


def checked_size(size: Any, count: int) -> int:
    """A number of members, or a share of them, as a number."""
    whole = isinstance(size, Integral) and not isinstance(size, bool)
    if whole and 1 <= size <= count:
        return int(size)
    if not whole and isinstance(size, Real) and not isinstance(size, bool) and 0 < float(size) < 1:
        return max(1, round(float(size) * count))
    raise ValueError(
        f"size must be a whole number from 1 to {count}, the number of members, or a share of them "
        f"in (0, 1); got {size!r}"
    )


def fitted_ensemble(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    weights: Vector | None,
    held_share: float,
    rng: np.random.RandomState,
) -> tuple[Any, Indices, bool]:
    """A clone fitted to the rows, those to choose by, and whether it has seen them."""
    model, rows = _copied(estimator), np.arange(len(y))
    if (
        "random_state" in model.get_params(deep=False)
        and model.get_params()["random_state"] is None
    ):
        model.set_params(random_state=rng.randint(np.iinfo(np.int32).max))
    if is_classifier(model):
        check_classification_targets(y)
        if len(set(y.tolist())) < 2:
            raise ValueError(
                f"y must have at least two classes, got only one class: {y[:1].tolist()}"
            )
    if weights is not None and not has_fit_parameter(model, "sample_weight"):
        raise ValueError(f"{type(model).__name__} takes no sample_weight")
    if _asks_training_rows(model):
        _fit(model, X, y, weights)
        return model, rows, True
    labels = y if is_classifier(model) and np.unique(y, return_counts=True)[1].min() > 1 else None
    from sklearn.model_selection import train_test_split

    own, held = train_test_split(rows, test_size=held_share, stratify=labels, random_state=rng)
    _fit(model, some_rows(X, own), y[own], None if weights is None else weights[own])
    return model, np.sort(held), False


def _copied(estimator: Any) -> Any:
    """A clone; CatBoost copies its list of categories, which scikit-learn takes for a change."""
    try:
        return clone(estimator)
    except RuntimeError:
        return copy.deepcopy(estimator)


def _fit(model: Any, X: Any, y: NDArray[Any], weights: Vector | None) -> None:
    if weights is None:
        model.fit(X, y)
    else:
        model.fit(X, y, sample_weight=weights)


def _asks_training_rows(model: Any) -> bool:
    """Whether members can be asked about the rows of the fit, or have memorised little of each."""
    if library_of(model) in LIBRARIES or hasattr(model, "learning_rate"):
        return True
    bootstrap = getattr(model, "bootstrap", None)
    return bool(bootstrap) or (bootstrap is False and hasattr(model, "criterion"))
