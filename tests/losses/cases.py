"""All losses with some of their parameters, what they are for others, and data for them.

A new loss is a line in ``CASES``: ``test_laws.py`` tests all that losses promise for it, and says
so where one of the registry is missing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from hypothesis import strategies as st
from scipy import special, stats
from sklearn import metrics

from cgboost import losses
from cgboost.losses import Loss, Poisson, WeightedLoss
from tests.cases import Case

SEEDS = st.integers(0, 10**6)

Metric = Callable[..., float]


@dataclass(frozen=True, kw_only=True)
class LossCase(Case[Loss]):
    """A loss, and its mean over rows as scikit-learn or SciPy have it."""

    metric: Metric

    def can(self, ability: str) -> bool:
        """Whether the loss has it."""
        return ability in self.make().abilities


def rowwise(values: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Metric:
    """The mean of a function of target and output."""
    return lambda y, f, sample_weight: np.average(values(y, f), weights=sample_weight)


def outside(metric: Metric, epsilon: float) -> Metric:
    """An error from the nearest place of the tube around y."""
    return lambda y, f, **extra: metric(np.clip(f, y - epsilon, y + epsilon), f, **extra)


def case(name: str, metric: Metric, *parameters: float) -> LossCase:
    """A class of the package, with parameters or its own."""
    make = partial(getattr(losses, name), *parameters)
    return LossCase(name="-".join([name, *map(str, parameters)]), make=make, metric=metric)


def half(metric: Metric) -> Metric:
    """Half of a metric."""
    return lambda y, f, **extra: 0.5 * metric(y, f, **extra)


def pinball(quantile: float) -> Metric:
    """That of scikit-learn."""
    return partial(metrics.mean_pinball_loss, alpha=quantile)


CASES = [
    case("Hinge", metrics.hinge_loss),
    case("SquaredHinge", rowwise(lambda y, f: (1.0 - np.minimum(y * f, 1.0)) ** 2)),
    case("LogLoss", lambda y, f, **extra: metrics.log_loss(y, special.expit(2.0 * f), **extra)),
    case("Exponential", rowwise(lambda y, f: -stats.gumbel_r.logpdf(y * f) - y * f)),
    case("SquaredError", half(metrics.mean_squared_error)),
    case("AbsoluteError", metrics.mean_absolute_error),
    case("Quantile", pinball(0.5)),
    case("Quantile", pinball(0.2), 0.2),
    case("Expectile", half(metrics.mean_squared_error)),
    case("Expectile", rowwise(lambda y, f: np.where(y > f, 0.8, 0.2) * (y - f) ** 2), 0.8),
    case("Huber", rowwise(lambda y, f: special.huber(1.0, y - f))),
    case("Huber", rowwise(lambda y, f: special.huber(0.3, y - f)), 0.3),
    case("EpsilonInsensitive", outside(metrics.mean_absolute_error, 0.1)),
    case("EpsilonInsensitive", metrics.mean_absolute_error, 0.0),
    case("SquaredEpsilonInsensitive", outside(metrics.mean_squared_error, 0.1)),
    case("SquaredEpsilonInsensitive", outside(metrics.mean_squared_error, 0.5), 0.5),
    case(
        "Poisson", half(lambda y, f, **extra: metrics.mean_poisson_deviance(y, np.exp(f), **extra))
    ),
]
"""Every loss of the registry, and some with other parameters."""


def target(loss: Loss, rng: np.random.Generator, size: int) -> np.ndarray:
    """Targets: labels, both of them; counts, some 0; or numbers with ties."""
    if loss.classification:
        return np.where(np.arange(size) % 2, 1.0, -1.0)
    if isinstance(loss, Poisson):
        return rng.poisson(1.5, size).astype(float)
    return rng.integers(-4, 5, size) * 0.5 if size % 2 else rng.normal(size=size)


def bound(loss: Loss, seed: int) -> tuple[WeightedLoss, np.ndarray, np.random.Generator]:
    """The loss on some rows, one of weight 0, and an output that is away from kinks."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(4, 15))
    weights = rng.uniform(0.5, 2.0, size) * (np.arange(size) != 1)
    return loss.on(target(loss, rng, size), weights), 1.5 * rng.normal(size=size), rng
