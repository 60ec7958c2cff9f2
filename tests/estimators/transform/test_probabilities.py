"""Probabilities of transform regression: means of the classes, in cells and over all rows."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from cgboost import TransformClassifier
from cgboost.estimators.transform.variants import VARIANTS

CELLS = [(0.5, 1.0), (0.02, 0.9), (0.1, 0.3), (0.0, 0.4), (0.001, 1.0), (0.0, 1.0)]
BOTH = np.array([[0.0], [1.0]])


def cells(low: float, high: float, n_rows: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """One binary feature, and labels of exactly these means."""
    x, place = np.arange(n_rows) % 2, np.arange(n_rows) // 2 / (n_rows / 2)
    return x[:, None].astype(float), np.where(x == 1, place < high, place < low).astype(int)


def drawn(chances: np.ndarray, seed: int = 0) -> np.ndarray:
    """Labels with these probabilities."""
    return (np.random.default_rng(seed).uniform(size=len(chances)) < chances).astype(int)


def check_means(model: TransformClassifier, X: np.ndarray, y: np.ndarray) -> None:
    """The mean probability of every class is its share, and no stage raises the training loss."""
    shares = [np.mean(y == label) for label in model.classes_]
    np.testing.assert_allclose(model.predict_proba(X).mean(axis=0), shares, atol=0.01)
    for run in model._runs:
        objective = run.history["objective"]
        assert (np.diff(objective) <= 1e-12 * objective[0]).all()


@pytest.mark.parametrize(
    ("variant", "low", "high", "early_stopping"),
    [
        (variant, *means, early_stopping)
        for variant, means, early_stopping in product(VARIANTS, CELLS, (True, False))
        if not early_stopping or variant == "transform" or means == CELLS[1]
    ],
)
def test_cells_of_a_binary_feature(
    variant: str, low: float, high: float, early_stopping: bool
) -> None:
    """Probabilities are the cells' means, near 0 and 1 too."""
    X, y = cells(low, high)
    model = TransformClassifier(variant=variant, early_stopping=early_stopping).fit(X, y)
    sampling = 0.005 if early_stopping else 0.0
    found = model.predict_proba(BOTH)[:, 1]
    np.testing.assert_allclose(found, [low, high], atol=0.007 + sampling)
    check_means(model, X, y)


@pytest.mark.parametrize("variant", VARIANTS)
def test_features_whose_log_odds_add_up(variant: str) -> None:
    """All methods find the means of the cells of two binary ones, and follow a normal one.

    There the log loss is nearly that of the truth.
    """
    X = np.random.default_rng(0).integers(0, 2, (40_000, 2)).astype(float)
    y = drawn(expit(X @ [2.0, 1.5] - 1.5))
    model = TransformClassifier(variant=variant, early_stopping=False).fit(X, y)
    points, cell = np.unique(X, axis=0, return_inverse=True)
    means = [y[cell.ravel() == k].mean() for k in range(4)]
    np.testing.assert_allclose(model.predict_proba(points)[:, 1], means, atol=0.015)
    check_means(model, X, y)
    X = np.random.default_rng(1).normal(size=(20_000, 1))
    chances = expit(X[:, 0] + 1.0)
    y = drawn(chances)
    model = TransformClassifier(variant=variant).fit(X, y)
    assert log_loss(y, model.predict_proba(X)) < log_loss(y, chances) + 2e-3
    check_means(model, X, y)


@pytest.mark.parametrize("variant", VARIANTS)
def test_three_classes(variant: str) -> None:
    """One against the rest: the cells' shares, and the log loss of a saturated logistic model."""
    x = np.arange(20_000) % 2
    shares = np.array([[0.2, 0.3, 0.5], [0.7, 0.25, 0.05]])[x]
    drawn_at = np.random.default_rng(0).uniform(size=len(x))
    X, y = x[:, None].astype(float), (drawn_at[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    model = TransformClassifier(variant=variant).fit(X, y)
    means = [[np.mean(y[x == k] == label) for label in range(3)] for k in (0, 1)]
    np.testing.assert_allclose(model.predict_proba(BOTH), means, atol=0.01)
    logistic = LogisticRegression(C=1e6).fit(X, y)
    least = log_loss(y, logistic.predict_proba(X))
    assert log_loss(y, model.predict_proba(X)) < least + 2e-4
    check_means(model, X, y)


def skewed() -> tuple[pd.DataFrame, np.ndarray]:
    """A number and a category that takes part in it; the label is rare."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"x": rng.normal(size=4000), "group": rng.choice(["p", "q", "r"], 4000)})
    slopes = np.where(X["group"] == "p", 3.0, 0.5)
    return X, drawn(expit(slopes * X["x"].to_numpy() - 2.5 + 2.0 * (X["group"] == "q")))


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_constant_moves(variant: str) -> None:
    """Every stage has one of its own, and the model that of the round that is kept."""
    model = TransformClassifier(variant=variant).fit(*skewed())
    constants = [constant for _, constant in model._runs[0].outputs[0].path]
    assert len(set(constants)) == len(constants) == model.n_iter_ + 1 > 2
    assert model.intercept_ == constants[-1]


@pytest.mark.parametrize("variant", ["gradient", "initial", "feed_forward", "transform"])
def test_stages_that_are_left_away_take_their_constants_along(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best round's model is that of a fit which ends there."""
    X, y = skewed()
    wanted = TransformClassifier(variant=variant, n_estimators=1).fit(X, y)
    losses = [3.0, 1.0, 2.0, 2.0, 2.0]
    monkeypatch.setattr(
        "cgboost.additive.holdout.HoldoutLoss.__call__",
        lambda self, turn: turn.scores.update(holdout_loss=losses[turn.number]),
    )
    model = TransformClassifier(variant=variant, tol=0.0).fit(X, y)
    assert model.best_round_ == 1 < len(model.history_["objective"]) - 1
    assert model.intercept_ == wanted.intercept_
    np.testing.assert_array_equal(model.decision_function(X), wanted.decision_function(X))
