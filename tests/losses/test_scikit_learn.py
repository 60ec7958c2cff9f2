"""Losses against those of scikit-learn, value and derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from sklearn import metrics
from sklearn._loss import loss as theirs
from sklearn.linear_model import _sgd_fast as sgd

from cgboost.losses import (
    AbsoluteError,
    EpsilonInsensitive,
    Exponential,
    Hinge,
    Huber,
    LogLoss,
    Loss,
    Multinomial,
    Poisson,
    Quantile,
    SquaredEpsilonInsensitive,
    SquaredError,
    SquaredHinge,
)
from tests.losses.cases import SEEDS, target

PAIRS: list[tuple[Loss, Any, float]] = [  # their raw prediction is so many times f
    (SquaredError(), theirs.HalfSquaredError(), 1.0),
    (AbsoluteError(), theirs.AbsoluteError(), 1.0),
    (Quantile(0.3), theirs.PinballLoss(quantile=0.3), 1.0),
    (Huber(0.7), theirs.HuberLoss(delta=0.7), 1.0),
    (Poisson(), theirs.HalfPoissonLoss(), 1.0),
    (LogLoss(), theirs.HalfBinomialLoss(), 2.0),
    (Exponential(), theirs.ExponentialLoss(), 1.0),
]


@pytest.mark.parametrize(("loss", "other", "scale"), PAIRS, ids=lambda given: type(given).__name__)
@given(seed=SEEDS)
def test_gradient_boosting_losses(loss: Loss, other: Any, scale: float, seed: int) -> None:
    """Value up to a constant, gradient and Hessian, for labels 0 and 1 where ours are ±1."""
    rng = np.random.default_rng(seed)
    y, f = target(loss, rng, 8), rng.normal(size=8)
    given_y = 0.5 * (y + 1.0) if loss.classification else y
    values = other.loss(given_y, scale * f) + other.constant_to_optimal_zero(given_y)
    np.testing.assert_allclose(loss.value(y, f), values, rtol=1e-9, atol=1e-9)
    gradient, hessian = other.gradient_hessian(given_y, scale * f)
    np.testing.assert_allclose(loss.gradient(y, f), scale * gradient, rtol=1e-9, atol=1e-9)
    if "hessian_diag" in loss.abilities:
        np.testing.assert_allclose(loss.hessian_diag(y, f), scale**2 * hessian, rtol=1e-9)


@pytest.mark.parametrize(
    ("loss", "other"),
    [
        (Hinge(), sgd.Hinge(1.0)),
        (SquaredHinge(), sgd.SquaredHinge(1.0)),
        (EpsilonInsensitive(0.2), sgd.EpsilonInsensitive(0.2)),
        (SquaredEpsilonInsensitive(0.2), sgd.SquaredEpsilonInsensitive(0.2)),
    ],
    ids=lambda given: type(given).__name__,
)
@given(seed=SEEDS)
def test_linear_model_losses(loss: Loss, other: Any, seed: int) -> None:
    """Value and slope of the losses of SGD models."""
    rng = np.random.default_rng(seed)
    y, f = target(loss, rng, 8), rng.normal(size=8)
    values = [other.py_loss(a, b) for a, b in zip(f, y, strict=True)]
    slopes = [other.py_dloss(a, b) for a, b in zip(f, y, strict=True)]
    np.testing.assert_allclose(loss.value(y, f), values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(loss.gradient(y, f), slopes, rtol=1e-9, atol=1e-12)


@given(SEEDS)
def test_metrics(seed: int) -> None:
    """Means over rows are scikit-learn's metrics."""
    rng = np.random.default_rng(seed)
    f, weights = rng.normal(size=8), rng.uniform(0.5, 2.0, 8)

    def mean(loss: Loss, y: np.ndarray) -> float:
        return loss.on(y, weights).value(f) / float(weights.sum())

    labels, counts, numbers = (target(loss, rng, 8) for loss in (Hinge(), Poisson(), Huber()))
    extra = {"sample_weight": weights}
    assert mean(Hinge(), labels) == pytest.approx(metrics.hinge_loss(labels, f, **extra))
    shares = 1.0 / (1.0 + np.exp(-2.0 * f))
    assert mean(LogLoss(), labels) == pytest.approx(metrics.log_loss(labels, shares, **extra))
    pinball = metrics.mean_pinball_loss(numbers, f, alpha=0.3, **extra)
    assert mean(Quantile(0.3), numbers) == pytest.approx(pinball)
    deviance = metrics.mean_poisson_deviance(counts, np.exp(f), **extra)
    assert 2.0 * mean(Poisson(), counts) == pytest.approx(deviance)
    absolute = metrics.mean_absolute_error(numbers, f, **extra)
    assert mean(AbsoluteError(), numbers) == pytest.approx(absolute)


@given(SEEDS)
def test_multinomial(seed: int) -> None:
    """Value and gradient of K class scores."""
    rng = np.random.default_rng(seed)
    y, f = np.arange(9.0) % 3, rng.normal(size=(9, 3))
    loss, other = Multinomial(3), theirs.HalfMultinomialLoss(n_classes=3)
    np.testing.assert_allclose(loss.value(y, f), other.loss(y, f))
    np.testing.assert_allclose(loss.gradient(y, f), other.gradient(y, f))
