"""What boosters are asked alike: scikit-learn's checks, and what they say of bad input."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cgboost import (
    AdaBoostClassifier,
    AnyBoostClassifier,
    AnyBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    L2BoostRegressor,
    LogitBoostClassifier,
    OrthogonalGreedyRegressor,
    StagewiseRegressor,
)
from cgboost.exceptions import UnsupportedLossError
from cgboost.losses import AbsoluteError
from tests.estimators.boosting.boosting_data import DATA
from tests.estimators.data import curve, two_classes
from tests.estimators.scikit_learn_checks import scikit_learn_checks

STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)
TIED = [
    AdaBoostClassifier(),
    AdaBoostClassifier(STUMP, n_estimators=20),
    AnyBoostClassifier(n_estimators=10),
    AnyBoostRegressor(n_estimators=10),
    AnyBoostClassifier(step="newton", n_estimators=10),
    AnyBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=10),
    AnyBoostClassifier(corrective=True, n_estimators=5),
    AnyBoostRegressor(corrective=True, n_estimators=5),
    GradientBoostingClassifier(n_estimators=10),
    GradientBoostingRegressor(n_estimators=10),
    StagewiseRegressor(n_estimators=10),
]
"""Repeated rows move the ties between equally good splits; where steps have no end, as on
separated classes, rounding grows with them."""
WHOLE = [
    TIED[0],
    AnyBoostClassifier(n_estimators=10, learning_rate=1.0),
    AnyBoostRegressor(n_estimators=10, learning_rate=1.0),
    GradientBoostingClassifier(n_estimators=10),
    GradientBoostingRegressor(n_estimators=10),
    L2BoostRegressor(),
    LogitBoostClassifier(n_estimators=20),
    OrthogonalGreedyRegressor(),
    StagewiseRegressor(n_estimators=10),
]
VARIANTS = [
    *TIED[1:8],
    AnyBoostRegressor(Ridge(), corrective=True, n_estimators=3),
    AnyBoostRegressor(loss="absolute_error", learning_rate=1.0, n_estimators=5),
    L2BoostRegressor(criterion="aicc"),
    *(
        StagewiseRegressor(
            n_estimators=10,
            learning_rate=1.0,
            orthogonalize=orthogonalize,
            feed_forward=feed_forward,
        )
        for orthogonalize in (False, True)
        for feed_forward in (False, True)
    ),
]


def expected(model: BaseEstimator) -> dict[str, str]:
    """Checks that trees with ties need not pass."""
    reason = "repeated rows move the ties between equally good splits"
    tied = any(repr(model) == repr(other) for other in TIED)
    return {"check_sample_weight_equivalence_on_dense_data": reason} if tied else {}


@scikit_learn_checks(
    WHOLE,
    variants=VARIANTS,
    expected_failed_checks=expected,
    xfail_strict=False,  # how ties fall depends on the machine
)
def test_scikit_learn_check(estimator, check):
    """Every check of scikit-learn passes, apart from the expected failures with their reason."""
    check(estimator)


ANY = [AnyBoostClassifier, AnyBoostRegressor]
TREES = [GradientBoostingClassifier, GradientBoostingRegressor]
LINES = [L2BoostRegressor, OrthogonalGreedyRegressor]
SHRUNK = [AdaBoostClassifier, *ANY, *TREES, L2BoostRegressor, LogitBoostClassifier]
RATE = "learning_rate must be a finite number > 0 and < 2, got "
BAD: list[tuple[list[Any], dict[str, Any], str]] = [
    ([*SHRUNK, *LINES, StagewiseRegressor], {"n_estimators": 0}, "whole number ≥ 1, got 0"),
    ([*SHRUNK, StagewiseRegressor], {"learning_rate": 0.0}, f"{RATE}0.0"),
    ([L2BoostRegressor], {"learning_rate": 2.0}, f"{RATE}2.0"),
    (ANY, {"estimator": 3}, "estimator must be a scikit-learn classifier or"),
    ([AdaBoostClassifier], {"estimator": DecisionTreeRegressor()}, "must be a classifier, got Dec"),
    ([AdaBoostClassifier], {"estimator": KNeighborsClassifier()}, "must take sample_weight in its"),
    ([AdaBoostClassifier], {"estimator": "stump"}, "estimator must be a scikit-learn classifier"),
    ([AdaBoostClassifier], {"max_bins": 1}, "max_bins must be at least 2, got 1"),
    ([AdaBoostClassifier], {"max_bins": 2.5}, "max_bins must be a whole number ≥ 1, got 2.5"),
    ([AnyBoostClassifier], {"loss": "huber"}, "loss must be one of .* got 'huber'"),
    ([AnyBoostRegressor], {"loss": "log_loss"}, "loss must be one of .* got 'log_loss'"),
    (ANY, {"loss": lambda *_: 1.0}, "must return a DifferentiableLoss, got"),
    (ANY, {"step": "exact"}, "step must be one of .* got 'exact'"),
    (ANY, {"step": -1.0}, "step must be a finite number > 0, got -1.0"),
    (ANY, {"start": "mean"}, "start must be one of .* got 'mean'"),
    (ANY, {"early_stopping": "False"}, "early_stopping must be True or False, got 'False'"),
    (ANY, {"corrective": "False"}, "corrective must be True or False, got 'False'"),
    ([AnyBoostRegressor], {"loss": "absolute_error", "step": "newton"}, "needs hessian_diag"),
    ([AnyBoostRegressor], {"loss": AbsoluteError, "step": "newton"}, "needs hessian_diag"),
    (
        [AnyBoostClassifier],
        {"estimator": KNeighborsRegressor(), "step": "newton"},
        "KNeighborsRegressor must take sample_weight in its fit for newton steps",
    ),
    (TREES, {"subsample": 1.5}, "subsample must be a number > 0 and ≤ 1, got 1.5"),
    (TREES, {"subsample": 0}, "subsample must be a finite number > 0, got 0"),
    (TREES, {"max_depth": 0}, "max_depth must be a whole number ≥ 1, got 0"),
    (TREES, {"max_features": "two"}, "max_features must be one of .*, got 'two'"),
    (TREES, {"min_samples_leaf": 0.6}, "min_samples_leaf must be a count, or a share ≤ 0.5"),
    (TREES, {"max_bins": 1}, "max_bins must be at least 2, got 1"),
    ([TREES[0]], {"leaves": "all"}, "leaves must be one of .*, got 'all'"),
    (TREES, {"loss": "hinge"}, "loss must be one of .*got 'hinge'"),
    ([GradientBoostingRegressor], {"loss": "log_loss"}, "loss must be one of .*got 'log_loss'"),
    ([L2BoostRegressor], {"criterion": "bic"}, "criterion must be one of .*'aicc'.*, got 'bic'"),
    ([OrthogonalGreedyRegressor], {"criterion": "aicc"}, "one of .*'hdic'.*, got 'aicc'"),
    (LINES, {"C": 0}, "C must be a finite number > 0, got 0"),
    (LINES, {"fit_intercept": "yes"}, "fit_intercept must be True or False, got 'yes'"),
    ([OrthogonalGreedyRegressor], {"trim": 1}, "trim must be True or False, got 1"),
    ([L2BoostRegressor], {"criterion": "aicc", "early_stopping": True}, "'aicc' and early.* both"),
    ([OrthogonalGreedyRegressor], {"early_stopping": True}, "'hdbic' and early_stopping=True both"),
    ([LogitBoostClassifier], {"estimator": "line"}, "'linear' or a regressor .* got 'line'"),
    ([LogitBoostClassifier], {"estimator": BaseEstimator}, "estimator must be 'linear'"),
    ([LogitBoostClassifier], {"estimator": KNeighborsRegressor()}, "takes sample_weight, got KNei"),
    ([LogitBoostClassifier], {"multi_class": "all"}, "multi_class must be .*'ovr'.* got 'all'"),
    ([StagewiseRegressor], {"estimator": STUMP}, "estimator must be a regressor, got Decision"),
    ([StagewiseRegressor], {"estimator": LinearRegression}, "must be a scikit-learn classifier or"),
    ([StagewiseRegressor], {"learning_rate": 0.5, "orthogonalize": True}, "must be 1.0 with orth"),
    ([StagewiseRegressor], {"orthogonalize": "yes"}, "orthogonalize must be True or False, got 'y"),
    ([StagewiseRegressor], {"feed_forward": 1}, "feed_forward must be True or False, got 1"),
    ([StagewiseRegressor], {"start": "mean"}, "start must be one of .*, got 'mean'"),
]


@pytest.mark.parametrize(("kinds", "parameters", "words"), BAD)
def test_bad_parameters(kinds: list[Any], parameters: dict[str, Any], words: str) -> None:
    """Each error names the parameter and its value."""
    for kind in kinds:
        X, y = two_classes() if is_classifier(kind()) else curve()
        with pytest.raises((ValueError, TypeError), match=words):
            kind(**parameters).fit(X, y)


Y = np.arange(5.0)
ROWS: dict[str, tuple[Any, tuple[Any, ...], str]] = {
    "unweighted learner": (
        AnyBoostRegressor(KNeighborsRegressor()),
        (*curve(), np.linspace(1, 2, 40)),
        "estimator=KNeighborsRegressor must take sample_weight",
    ),
    "exponential of three": (
        GradientBoostingClassifier(loss="exponential"),
        (curve()[0], np.arange(40) % 3),
        "'exponential' is for two classes, got 3",
    ),
    "beyond float32": (
        GradientBoostingRegressor(),
        (np.vstack([curve()[0][1:], [1e300, 0.0]]), curve()[1]),
        r"X must fit into float32, .* got 1e\+300",
    ),
    "constants": (
        L2BoostRegressor(),
        (np.ones((5, 2)), Y),
        "feature that varies, but each of 2 is constant",
    ),
    "zeros": (
        L2BoostRegressor(fit_intercept=False),
        (np.zeros((5, 2)), Y),
        "feature that varies, but each of 2 is 0 throughout",
    ),
    "one feature": (
        L2BoostRegressor(criterion="hdbic"),
        (Y[:, None], Y),
        "'hdbic' needs at least 2 features, got n_features=1",
    ),
    "two rows": (
        L2BoostRegressor(criterion="aicc"),
        (np.eye(2), Y[:2]),
        "'aicc' needs at least 3 rows, got n_samples=2",
    ),
    "two rows of a greedy search": (
        OrthogonalGreedyRegressor(),
        (np.eye(2), Y[:2]),
        "'hdbic' needs at least 3 rows, got n_samples=2",
    ),
    "weights of one row": (
        OrthogonalGreedyRegressor(),
        (*DATA["tall"], np.full(120, 1 / 120)),
        "n_samples=1 .the sum of sample_weight.",
    ),
    "no squares": (
        L2BoostRegressor(),
        (np.column_stack([Y, 1e200 * Y]), Y),
        "too large to be squared in feature 1",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_no_model_can_be_made_of(name: str) -> None:
    """Each error says what of them is missing, and how much there is."""
    model, given, words = ROWS[name]
    with pytest.raises((ValueError, UnsupportedLossError), match=words):
        model.fit(*given)
