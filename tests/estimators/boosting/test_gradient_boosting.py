"""Gradient boosting is its pseudo-code, round by round, for classes and for numbers."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.ensemble import GradientBoostingClassifier as ScikitClassifier

from cgboost import GradientBoostingClassifier, GradientBoostingRegressor
from tests.estimators.data import curve, three_classes, two_classes
from tests.pricing.learners.reference_trees import reference_tree

DATA = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "four": make_classification(120, 6, n_informative=6, n_redundant=0, n_classes=4, flip_y=0.2),
    "two": make_classification(120, 5, flip_y=0.2, random_state=0),
}


def leaf_values(regions: np.ndarray, value: dict) -> np.ndarray:
    """The value of the region of each row."""
    return np.array([value[region] for region in regions])


def transcription(X, y, X_new, n_rounds: int, rate: float, leaf: int, joint: bool) -> tuple:
    """The pseudo-code for K classes: f of training and new rows after every round."""
    K, ones = y.max() + 1, np.ones(len(X))
    X, X_new = X.astype(np.float32).astype(float), X_new.astype(np.float32).astype(float)
    f, f_new = np.zeros((len(X), K)), np.zeros((len(X_new), K))
    path, path_new = [], []
    for turn in range(n_rounds):
        p = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
        residuals = np.eye(K)[y] - p
        for k in range(K):
            r, own = residuals[:, k], residuals if joint else residuals[:, [k]]
            apply = reference_tree(X, own, ones, 3, leaf, turn)
            regions, gamma = apply(X), {}
            for R in np.unique(regions):
                inside = np.abs(r[regions == R])
                gamma[R] = (K - 1) / K * r[regions == R].sum() / (inside * (1 - inside)).sum()
            f[:, k] += rate * leaf_values(regions, gamma)
            f_new[:, k] += rate * leaf_values(apply(X_new), gamma)
        path.append(f - f.mean(axis=1, keepdims=True))
        path_new.append(f_new - f_new.mean(axis=1, keepdims=True))
    return path, path_new


def same_path(model, X, path) -> bool:
    """The scores of every round; one output is the score of the second of two classes."""
    staged = model.staged_decision_function(X)
    found = [np.column_stack([-f, f]) if f.ndim == 1 else f for f in staged]
    np.testing.assert_allclose(found, path, rtol=1e-10, atol=1e-10)
    return True


@pytest.mark.parametrize(
    ("name", "rate", "leaf", "leaves"),
    [
        ("iris", 0.1, 1, "class"),
        ("iris", 1.0, 12, "class"),
        ("four", 0.1, 1, "joint"),
        ("wine", 0.1, 12, "class"),
        ("wine", 1.0, 1, "joint"),
        ("two", 0.1, 1, "class"),
    ],
)
def test_every_round_is_that_of_the_pseudo_code(name, rate, leaf, leaves) -> None:
    """Scores agree to 1e-10, round by round, for two classes and for more; they add up to 0.

    So do those of rows that no tree has seen: in ties every round prefers another feature.
    """
    X, y = DATA[name]
    model = GradientBoostingClassifier(
        n_estimators=3, learning_rate=rate, min_samples_leaf=leaf, leaves=leaves, start="zero"
    ).fit(X[::2], y[::2])
    joint = leaves == "joint"
    path, path_new = transcription(X[::2], y[::2], X[1::2], 3, rate, leaf, joint)
    assert same_path(model, X[::2], path)
    assert same_path(model, X[1::2], path_new)


def regression(X, y, X_new, loss: str, n_rounds: int) -> list:
    """Gradient boosting of numbers: f of new rows after every round."""
    middle = np.mean if loss == "squared_error" else np.median
    f, f_new, path = np.full(len(X), middle(y)), np.full(len(X_new), middle(y)), []
    X, X_new = X.astype(np.float32).astype(float), X_new.astype(np.float32).astype(float)
    for turn in range(n_rounds):
        r = y - f if loss == "squared_error" else np.sign(y - f)
        apply = reference_tree(X, r[:, None], np.ones(len(X)), 3, first=turn)
        regions = apply(X)
        gamma = {R: middle((y - f)[regions == R]) for R in np.unique(regions)}
        f = f + 0.1 * leaf_values(regions, gamma)
        f_new = f_new + 0.1 * leaf_values(apply(X_new), gamma)
        path.append(f_new)
    return path


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("seed", [0, 1])
def test_regression_is_that_of_the_pseudo_code(loss: str, seed: int) -> None:
    """Leaves hold means or medians of the residuals; predictions agree to 1e-10."""
    X, y = curve(120, seed=seed)
    model = GradientBoostingRegressor(loss=loss, n_estimators=12)
    model.fit(X[:80], y[:80])
    wanted = regression(X[:80], y[:80], X[80:], loss, 12)
    np.testing.assert_allclose(list(model.staged_predict(X[80:])), wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("loss", "scale"), [("log_loss", 2.0), ("exponential", 1.0)])
def test_two_classes_of_scikit_learn_are_the_same_trees(loss: str, scale: float) -> None:
    """From the same start; of the log-loss scikit-learn's log-odds are twice our half log-odds."""
    X, y = two_classes(200)
    parameters = {"loss": loss, "n_estimators": 20, "min_samples_leaf": 12, "random_state": 0}
    own = GradientBoostingClassifier(**parameters).fit(X, y)
    other = ScikitClassifier(init="zero", **parameters).fit(X, y)
    outputs = scale * own.decision_function(X)
    np.testing.assert_allclose(outputs, other.decision_function(X), rtol=1e-8)
    np.testing.assert_allclose(own.predict_proba(X), other.predict_proba(X), rtol=1e-8)


def test_importances_are_gains_of_splits() -> None:
    """I²_lk by hand, from the impurities of every node; the overall one is their mean.

    Of several classes probabilities are the softmax of the scores, and the largest decides.
    """
    X, y = DATA["wine"]
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    squared = np.zeros((3, X.shape[1]))
    for k, label in enumerate(model.columns_["class"]):
        tree = model.estimators_[k].tree_
        loss = tree.impurity * tree.weighted_n_node_samples
        for t in np.flatnonzero(tree.children_left >= 0):
            gain = loss[t] - loss[tree.children_left[t]] - loss[tree.children_right[t]]
            squared[label, tree.feature[t]] += gain / 5
    np.testing.assert_allclose(model.class_importances_, np.sqrt(squared), rtol=1e-8, atol=1e-8)
    overall = squared.mean(axis=0)
    np.testing.assert_allclose(model.feature_importances_, overall / overall.sum(), rtol=1e-8)
    shares = softmax(model.decision_function(X), axis=1)
    np.testing.assert_allclose(model.predict_proba(X), shares)
    np.testing.assert_array_equal(model.predict(X), shares.argmax(axis=1))
    X, y = curve(150)
    assert GradientBoostingRegressor(random_state=0).fit(X, y).feature_importances_[0] > 0.8
    classifier = GradientBoostingClassifier(random_state=0).fit(X, y > 0)
    np.testing.assert_array_equal(*classifier.class_importances_)


def test_subsamples_are_reproducible_and_differ() -> None:
    """The same seed draws the same rows, another seed others; all of them learn."""
    X, y = three_classes(150)
    models = [
        GradientBoostingClassifier(n_estimators=20, subsample=0.5, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    ]
    first, again, other = [model.decision_function(X) for model in models]
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)
    assert all(model.score(X, y) > 0.8 for model in models)


def test_parameters_reach_the_trees() -> None:
    """Depth, leaves and features are limited as asked."""
    X, y = DATA["wine"]
    model = GradientBoostingClassifier(
        n_estimators=3, max_depth=None, max_leaf_nodes=4, min_samples_leaf=10, max_features="sqrt"
    ).fit(X, y)
    for tree in model.estimators_:
        leaves = tree.tree_.children_left < 0
        assert leaves.sum() <= 4
        assert tree.tree_.n_node_samples[leaves].min() >= 10
        assert tree.max_features_ == 3


@pytest.mark.parametrize("n_classes", [2, 3])
def test_leaves_correct_the_first_constant(n_classes: int) -> None:
    """Probabilities of the cells of a binary feature are the classes' shares."""
    shares = np.array([[0.02, 0.98, 0.0], [0.9, 0.1, 0.0]])
    if n_classes == 3:
        shares = np.array([[0.02, 0.58, 0.4], [0.7, 0.1, 0.2]])
    x, place = np.arange(2000) % 2, np.arange(2000) // 2 / 1000
    y = (place[:, None] >= shares[x].cumsum(axis=1) - 1e-9)[:, : n_classes - 1].sum(axis=1)
    model = GradientBoostingClassifier(max_depth=1).fit(x[:, None], y)
    found = model.predict_proba([[0.0], [1.0]])
    np.testing.assert_allclose(found, shares[:, :n_classes], atol=2e-3)
