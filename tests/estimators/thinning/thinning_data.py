"""Rows and small ensembles that the tests of thinning share."""

import itertools

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

OWN = {"random_state": 0}
CLASSIFIERS = {
    "forest": RandomForestClassifier(30, **OWN),
    "extra trees": ExtraTreesClassifier(30, **OWN),
    "bagging": BaggingClassifier(n_estimators=20, max_features=0.7, **OWN),
    "AdaBoost": AdaBoostClassifier(n_estimators=20, **OWN),
    "gradient boosting": GradientBoostingClassifier(n_estimators=20, **OWN),
    "histograms": HistGradientBoostingClassifier(max_iter=8, **OWN),
    "voting": VotingClassifier(
        [
            ("line", LogisticRegression()),
            ("bayes", GaussianNB()),
            ("tree", DecisionTreeClassifier(max_depth=3, **OWN)),
        ],
        voting="soft",
    ),
}
REGRESSORS = {
    "forest": RandomForestRegressor(30, **OWN),
    "extra trees": ExtraTreesRegressor(30, **OWN),
    "bagging": BaggingRegressor(n_estimators=20, max_features=0.7, **OWN),
    "AdaBoost": AdaBoostRegressor(n_estimators=20, **OWN),
    "gradient boosting": GradientBoostingRegressor(n_estimators=20, **OWN),
    "histograms": HistGradientBoostingRegressor(max_iter=8, **OWN),
}


def classes(count: int, n_rows: int = 240) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes in four dimensions, as words."""
    rng = np.random.default_rng(count)
    y = np.arange(n_rows) % count
    centres = rng.normal(size=(count, 4)) * 0.9
    return rng.normal(size=(n_rows, 4)) + centres[y], np.array(["a", "b", "c", "d"])[y]


def numbers(n_rows: int = 240) -> tuple[np.ndarray, np.ndarray]:
    """A noisy function of four features."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n_rows, 4))
    return X, 10 + np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=n_rows)


def two_features(count, n_rows=60):
    """Rows of two numbers and a feature that is 0 or 1, and their classes as words."""
    X, y = classes(count, n_rows)
    X = X[:, :3].copy()
    X[:, 2] = X[:, 2] > 0
    return X, y


def every_cell(trees, X, region):
    """Rows on, just below and just above each threshold in float32: some in every cell."""
    axes = []
    for f in range(X.shape[1]):
        own = np.concatenate([tree.threshold[tree.feature == f] for tree in trees] + [[0.0]])
        near = own.astype(np.float32)
        ends = (np.float32(-np.inf), np.float32(np.inf))
        axis = np.unique(np.concatenate([near, *(np.nextafter(near, end) for end in ends)]))
        if region != "everywhere":
            low, high = X[:, f].astype(np.float32).min(), X[:, f].astype(np.float32).max()
            axis = np.append(axis[(axis >= low) & (axis <= high)], [low, high])
        axes.append(np.unique(axis) if f < 2 else [0.0, 1.0])
    return np.array(list(itertools.product(*axes)), dtype=np.float64)


def trees_of(ensemble):
    """The trees of a fitted ensemble."""
    return [tree.tree_ for tree in ensemble.estimators_]
