"""Probabilities and log-loss of outputs."""

import numpy as np
import pytest

from cgboost.estimators.common.targets import class_probabilities, mean_log_loss

RNG = np.random.default_rng(0)


def test_one_output_is_half_the_log_odds() -> None:
    """It is also two scores, −f and f, with the same probabilities and the same loss."""
    f, y = RNG.normal(size=20), np.where(np.arange(20) % 3, 1.0, -1.0)
    p = 1 / (1 + np.exp(-2 * f))
    np.testing.assert_allclose(class_probabilities(f[:, None])[:, 1], p)
    both = np.column_stack([-f, f])
    np.testing.assert_allclose(class_probabilities(both), class_probabilities(f[:, None]))
    loss = -np.log(np.where(y > 0, p, 1 - p)).mean()
    assert mean_log_loss(y, f) == pytest.approx(loss)
    assert mean_log_loss(np.column_stack([-y, y]), both) == pytest.approx(loss)


def test_classes_share_by_their_scores() -> None:
    """p_k is proportional to e^{f_k}; the loss takes that of the row's class."""
    f, classes = RNG.normal(size=(20, 4)), np.arange(20) % 4
    p = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(class_probabilities(f), p)
    labels = np.where(classes[:, None] == np.arange(4), 1.0, -1.0)
    assert mean_log_loss(labels, f) == pytest.approx(-np.log(p[np.arange(20), classes]).mean())


def test_far_outputs_stay_finite() -> None:
    """Neither exponentials nor logarithms overflow."""
    f = np.array([1e4, -1e4])
    assert mean_log_loss(np.array([-1.0, -1.0]), f) == pytest.approx(1e4)
    np.testing.assert_array_equal(class_probabilities(f[:, None]), [[0.0, 1.0], [1.0, 0.0]])
