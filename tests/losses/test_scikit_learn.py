"""Losses against the metrics of scikit-learn and the distributions of SciPy."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from scipy import special, stats
from sklearn import metrics

from cgboost import losses
from cgboost.losses import Loss
from tests.losses.cases import SEEDS, target

Metric = Callable[..., float]


def squares(y: np.ndarray, f: np.ndarray, *, sample_weight: np.ndarray) -> float:
    """Half the mean squared error."""
    return 0.5 * metrics.mean_squared_error(y, f, sample_weight=sample_weight)


def outside(metric: Metric, epsilon: float) -> Metric:
    """An error from the nearest place of the tube around y."""
    return lambda y, f, **extra: metric(np.clip(f, y - epsilon, y + epsilon), f, **extra)


def margins(values: Callable[[np.ndarray], np.ndarray]) -> Metric:
    """The mean of a function of the margins y·f."""
    return lambda y, f, sample_weight: np.average(values(y * f), weights=sample_weight)


METRICS: list[tuple[Loss, Metric]] = [
    (losses.SquaredError(), squares),
    (losses.AbsoluteError(), metrics.mean_absolute_error),
    (losses.Quantile(0.3), partial(metrics.mean_pinball_loss, alpha=0.3)),
    (
        losses.Huber(0.7),
        lambda y, f, sample_weight: np.average(special.huber(0.7, y - f), weights=sample_weight),
    ),
    (losses.EpsilonInsensitive(0.2), outside(metrics.mean_absolute_error, 0.2)),
    (losses.SquaredEpsilonInsensitive(0.2), outside(metrics.mean_squared_error, 0.2)),
    (
        losses.Poisson(),
        lambda y, f, **extra: 0.5 * metrics.mean_poisson_deviance(y, np.exp(f), **extra),
    ),
    (
        losses.LogLoss(),
        lambda y, f, **extra: metrics.log_loss(y, special.expit(2.0 * f), **extra),
    ),
    (losses.Exponential(), margins(lambda margin: -stats.gumbel_r.logpdf(margin) - margin)),
    (losses.Hinge(), metrics.hinge_loss),
    (losses.SquaredHinge(), margins(lambda margin: (1.0 - np.minimum(margin, 1.0)) ** 2)),
]


@pytest.mark.parametrize(
    ("loss", "metric"), METRICS, ids=[type(loss).__name__ for loss, _ in METRICS]
)
@given(seed=SEEDS)
def test_means_over_rows_are_metrics(loss: Loss, metric: Metric, seed: int) -> None:
    """With weights of the rows; gradients and Hessians of the values are proved in `test_base`."""
    rng = np.random.default_rng(seed)
    y, f, weights = target(loss, rng, 8), rng.normal(size=8), rng.uniform(0.5, 2.0, 8)
    mean = loss.on(y, weights).value(f) / weights.sum()
    assert mean == pytest.approx(metric(y, f, sample_weight=weights), rel=1e-9, abs=1e-9)


@given(SEEDS)
def test_multinomial(seed: int) -> None:
    """The log-loss of the softmax of K class scores."""
    rng = np.random.default_rng(seed)
    y, f, weights = np.arange(9.0) % 3, rng.normal(size=(9, 3)), rng.uniform(0.5, 2.0, 9)
    mean = losses.Multinomial(3).on(y, weights).value(f) / weights.sum()
    wanted = metrics.log_loss(y, special.softmax(f, axis=1), sample_weight=weights)
    assert mean == pytest.approx(wanted, rel=1e-9)
