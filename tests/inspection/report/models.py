"""A small fitted model of every estimator, and of every shape that a report must tell apart."""

import warnings
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

import cgboost
from cgboost import RBF, CGBoostClassifier, KernelLibrary, Linear
from cgboost.estimators.linear.composed import BaseLinear

NASTY = '<b>&"$x$'
"""A name that HTML and formulas would take for something else."""

LIBRARY = KernelLibrary({NASTY: Linear(), "rbf": RBF()}, normalize=True)

SMALL: dict[str, dict[str, Any]] = {
    "CGBoostClassifier": {"library": LIBRARY, "penalty": "l1"},
    "CGBoostRegressor": {"library": LIBRARY, "penalty": "l1", "tol": 1e-2},
    "CGBoostOutlierDetector": {"library": LIBRARY, "penalty": "l1"},
    "LogitBoostClassifier": {"n_estimators": 8},
    "GradientBoostingClassifier": {"n_estimators": 5},
    "StagewiseRegressor": {"n_estimators": 5},
}
"""Parameters beside the defaults."""

WITHOUT_EVAL_SET = ("LinearTreeRegressor", "CGBoostOutlierDetector")

ESTIMATORS = [
    name
    for name in cgboost.__all__
    if isinstance(kind := getattr(cgboost, name), type)
    and issubclass(kind, BaseEstimator)
    and hasattr(kind, "report")
    and not issubclass(kind, BaseLinear)  # which reports its model_, as those of cgboost.linear do
]
SEVERAL = [name for name in ESTIMATORS if is_classifier(getattr(cgboost, name)())]
CASES = [*((name, 2) for name in ESTIMATORS), *((name, 3) for name in SEVERAL)]
"""Names of estimators, and how many classes the data have (of no effect for regressors)."""


def data(n_classes: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, numbers, and labels with a nasty one among them."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(60, 3))
    y = X[:, 0] + np.abs(X[:, 1])
    labels = np.array([NASTY, "b", "c"])[np.digitize(y, [0.3, 0.9][: n_classes - 1])]
    return X, y, labels


@cache
def fitted(name: str, n_classes: int = 2) -> Any:
    """A fitted model, with validation scores where it can have them. Not to be changed."""
    X, y, labels = data(n_classes)
    model = getattr(cgboost, name)(**SMALL.get(name, {}))
    target = labels if is_classifier(model) else y
    held = {} if name in WITHOUT_EVAL_SET else {"eval_set": (X[:20], target[:20])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, target, **held)


def stopped(**parameters: Any) -> CGBoostClassifier:
    """A classifier that is stopped before it reaches its gap."""
    X, _, labels = data()
    return CGBoostClassifier(LIBRARY, penalty="l1", **parameters).fit(X, labels)
