"""Probabilities and log-loss of outputs; weights of classes."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor

from cgboost import (
    CGBoostClassifier,
    ConstrainedBoostClassifier,
    LPBoostClassifier,
    SparseLinearClassifier,
)
from cgboost.constraints import Convex, Monotone
from cgboost.estimators.common.class_outputs import output_labels, output_place
from cgboost.estimators.common.targets import Link, mean_log_loss
from cgboost.exceptions import TrivialModelWarning


def test_far_outputs_stay_finite() -> None:
    """Neither exponentials nor logarithms overflow."""
    f = np.array([1e4, -1e4])
    assert mean_log_loss(np.array([-1.0, -1.0]), f) == pytest.approx(1e4)
    both = [[0.0, 1.0], [1.0, 0.0]]
    np.testing.assert_allclose(Link(2.0).probabilities(f[:, None]), both, atol=1e-300)
    np.testing.assert_array_equal(Link(2.0, joint=True).probabilities(np.outer(f, [0, 1])), both)


# ---------------------------------------------------------------------- class weights


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


class Fitted:
    """A model with classes."""

    def __init__(self, *labels: Any) -> None:
        self.classes_ = np.array(labels)


def test_a_label_comes_before_a_place() -> None:
    """Of labels 1, 2, 5 the number 1 is the first, and 0, which is no label, is a place."""
    labels = output_labels(Fitted(1, 2, 5))
    assert [output_place(k, labels) for k in (1, 2, 5, 0)] == [0, 1, 2, 0]
    assert output_place(None, labels) == 0
    assert output_place(None, labels, default=-1) == -1
    assert output_place(np.int64(2), ["a", "b", "c"]) == 2
    assert output_place(np.str_("b"), ["a", "b", "c"]) == 1


@pytest.mark.parametrize("output", [3, -1, "d", 1.0, ["a"], np.arange(3)], ids=str)
def test_what_is_no_output_is_an_error(output: Any) -> None:
    """It lists the classes."""
    with pytest.raises(IndexError, match=r"one of the classes \['a', 'b', 'c'\], or its place"):
        output_place(output, output_labels(Fitted("a", "b", "c")))
