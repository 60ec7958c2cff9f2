"""Probabilities and log-loss of outputs; weights of classes."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import compute_class_weight

import cgboost
from cgboost import (
    BLFClassifier,
    CGBoostClassifier,
    ConstrainedBoostClassifier,
    LogitBoostClassifier,
    LPBoostClassifier,
    SparseLinearClassifier,
)
from cgboost.constraints import Convex, Monotone
from cgboost.estimators.common.targets import Link, mean_log_loss
from cgboost.exceptions import TrivialModelWarning
from tests.estimators.data import three_classes, two_classes

RNG = np.random.default_rng(0)


def test_one_output_is_half_the_log_odds() -> None:
    """It is also two scores, −f and f, with the same probabilities and the same loss."""
    f, y = RNG.normal(size=20), np.where(np.arange(20) % 3, 1.0, -1.0)
    p = 1 / (1 + np.exp(-2 * f))
    np.testing.assert_allclose(Link(2.0).probabilities(f[:, None])[:, 1], p)
    np.testing.assert_allclose(Link(1.0).probabilities(2 * f[:, None])[:, 1], p)
    both = np.column_stack([-f, f])
    np.testing.assert_allclose(Link(2.0, joint=True).probabilities(both)[:, 1], p)
    loss = -np.log(np.where(y > 0, p, 1 - p)).mean()
    assert mean_log_loss(y, f) == pytest.approx(loss)
    assert mean_log_loss(np.column_stack([-y, y]), both) == pytest.approx(loss)


def test_classes_share_by_their_scores() -> None:
    """p_k is proportional to e^{f_k}; the loss takes that of the row's class."""
    f, classes = RNG.normal(size=(20, 4)), np.arange(20) % 4
    p = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(Link(2.0, joint=True).probabilities(f), p)
    labels = np.where(classes[:, None] == np.arange(4), 1.0, -1.0)
    assert mean_log_loss(labels, f) == pytest.approx(-np.log(p[np.arange(20), classes]).mean())


def test_far_outputs_stay_finite() -> None:
    """Neither exponentials nor logarithms overflow."""
    f = np.array([1e4, -1e4])
    assert mean_log_loss(np.array([-1.0, -1.0]), f) == pytest.approx(1e4)
    both = [[0.0, 1.0], [1.0, 0.0]]
    np.testing.assert_allclose(Link(2.0).probabilities(f[:, None]), both, atol=1e-300)
    np.testing.assert_array_equal(Link(2.0, joint=True).probabilities(np.outer(f, [0, 1])), both)


# ---------------------------------------------------------------------- class weights

WEIGHTED = [
    CGBoostClassifier(penalty="l1"),
    CGBoostClassifier(penalty="l2", max_columns=20),
    LPBoostClassifier(C=0.1),
    LPBoostClassifier(C=0.1, multi_class="joint"),
    LogitBoostClassifier(n_estimators=5),
    BLFClassifier(),
]


@pytest.mark.parametrize("model", WEIGHTED, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("load", [two_classes, three_classes])
def test_class_weights_are_sample_weights(model, load):
    """A dict gives the objective and coefficients of the same weights row by row, times others."""
    X, y = load()
    labels = np.array(["x", "y", "z"])[y]
    own = np.linspace(0.5, 2.0, len(y))
    by_class = {"x": 1.0, "y": 3.0, "z": 0.5}
    given = {label: by_class[label] for label in set(labels)}
    weights = own * np.array([by_class[label] for label in labels])
    first = clone(model).set_params(class_weight=given).fit(X, labels, sample_weight=own)
    second = clone(model).fit(X, labels, sample_weight=weights)
    assert first.objective_ == second.objective_
    name = "coef_" if hasattr(first, "coef_") else "column_weights_"
    np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    np.testing.assert_array_equal(first.class_weight_, [by_class[c] for c in first.classes_])
    np.testing.assert_array_equal(second.class_weight_, 1.0)
    assert first.objective_ != clone(model).fit(X, labels, sample_weight=own).objective_


@pytest.mark.parametrize("name", [n for n in cgboost.__all__ if n.endswith("Classifier")])
def test_one_class_with_a_weight_is_an_error(name):
    """As a target of one class is: a row of weight 0 is a row that is not there."""
    model = getattr(cgboost, name)()
    X, y = two_classes()
    with pytest.raises(ValueError, match="only one class: .*; rows of weight 0 do not count"):
        model.fit(X, y, sample_weight=(y == y[0]).astype(float))
    if hasattr(model, "class_weight"):
        model.set_params(class_weight={label: float(label == y[0]) for label in np.unique(y)})
        with pytest.raises(ValueError, match="only one class: .*; rows of weight 0 do not count"):
            model.fit(X, y)


def test_balanced_class_weights():
    """As scikit-learn's without sample weights; with them, a row of weight 2 counts twice."""
    X, y = two_classes()
    rows = np.flatnonzero((y == 1) | (np.arange(len(y)) < 12))
    X, y = X[rows], y[rows]
    balanced = CGBoostClassifier(class_weight="balanced", penalty="l1").fit(X, y)
    expected = compute_class_weight("balanced", classes=np.unique(y), y=y)
    np.testing.assert_allclose(balanced.class_weight_, expected)
    weights = np.where(y == 0, 2.0, 1.0)
    weighted = clone(balanced).fit(X, y, sample_weight=weights)
    twice = np.repeat(y, weights.astype(int))
    expected = compute_class_weight("balanced", classes=np.unique(y), y=twice)
    np.testing.assert_allclose(weighted.class_weight_, expected)


@pytest.mark.parametrize("model", [CGBoostClassifier(), LogitBoostClassifier()])
def test_bad_class_weights(model):
    """Neither other words nor negative weights, nor labels that are not there."""
    X, y = two_classes()
    for value, message in (
        ("even", "class_weight must be None, 'balanced' or a dict of weights, got 'even'"),
        ({0: -1.0}, r"class_weight\[0\] must be a finite number ≥ 0, got -1.0"),
        ({"no": 1.0}, "class_weight has 'no', but the labels of y are 0, 1"),
        ({0: 2.0, 7: 1.0}, "class_weight has 7, but the labels of y are 0, 1"),
        ({0: 0, 1: 0}, "must not be 0 for every row together"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(model).set_params(class_weight=value).fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        LPBoostClassifier(C=1e-3),
        LPBoostClassifier(DecisionTreeRegressor(max_depth=1), C=1e-3),
        LPBoostClassifier(C=1e-4, loss="log_loss"),
        LPBoostClassifier(C=1e-3, multi_class="joint"),
        ConstrainedBoostClassifier(C=1e-3),
        ConstrainedBoostClassifier([Monotone(0), Convex(1)], C=1e-3),
        CGBoostClassifier(C=1e-3, offset="none"),
        SparseLinearClassifier(C=1e-5, fit_intercept=False),
        SparseLinearClassifier(C=1e-5),
    ],
    ids=repr,
)
def test_a_model_without_columns_predicts_the_larger_class(model: Any) -> None:
    """By weight, of two and three classes; the warning says which class it is."""
    rng = np.random.default_rng(3)
    X, labels = rng.normal(size=(60, 3)), np.array(["few", "most", "none"])
    for codes in (np.arange(60) % 10 < 7, np.minimum(np.arange(60) % 5, 2)):
        if codes.max() > 1 and getattr(model, "constraints", ()):
            continue  # of two classes alone
        y = labels[codes.astype(int)]
        for weights in (np.ones(60), np.where(y == "few", 20.0, 1.0)):
            largest = max(np.unique(y), key=lambda label: weights[y == label].sum())
            with pytest.warns(TrivialModelWarning, match=f"predicts '{largest}' for every row"):
                fitted = clone(model).fit(X, y, weights * 60 / weights.sum())
            assert set(fitted.predict(X).tolist()) == {largest}
            assert np.abs(fitted.decision_function(X)).max() <= 1.0 + 1e-6
