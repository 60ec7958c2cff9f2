"""The surface of the paper's equation 5, and the six methods on it.

    z = x + y + 5 sin(πx/2) sin(πy/2)        x, y in [−1, 1], on a grid of step 0.01

The equation has lost its symbols in the copies of the paper that can be found; the factor 5 is the
one that fits its figures. Test points are those at multiples of 0.1. Of the others some, which the
seed chooses, are held out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from transform_regression.measured import Record

from cgboost import TransformRegressor

Vector = NDArray[np.float64]

STAGES = 10
VARIANTS = {
    "gradient": "gradient boosting of additive models (Table 1)",
    "initial": "initial algorithm (Table 4)",
    "orthogonal": "orthogonalised (Table 5)",
    "feed_forward": "feed-forward (Table 6)",
    "orthogonal_feed_forward": "orthogonalised, feed-forward (Table 7)",
    "transform": "transform regression (Table 8)",
}
SHARES = (0.3, 0.5)


@dataclass(frozen=True)
class Surface:
    """Points of the surface.

    Attributes
    ----------
    X, z : ndarray of shape (n_points, 2) and (n_points,)
        To learn from.
    X_test, z_test : ndarray
        A square grid, x changing fastest.
    """

    X: Vector
    z: Vector
    X_test: Vector
    z_test: Vector


def surface(step: float = 0.01, test_step: float = 0.1) -> Surface:
    """The points of the paper; larger steps make fewer."""
    count, every = round(2 / step), round(test_step / step)
    ticks = np.arange(count + 1)
    column, row = (ticks.ravel() for ticks in np.meshgrid(ticks, ticks))
    X = np.round(np.column_stack([column, row]) * step - 1.0, 10)
    z = X.sum(axis=1) + 5 * np.sin(np.pi * X[:, 0] / 2) * np.sin(np.pi * X[:, 1] / 2)
    test = (column % every == 0) & (row % every == 0)
    return Surface(X[~test], z[~test], X[test], z[test])


def model(variant: str, seed: int, share: float) -> TransformRegressor:
    """A model of ten stages, if they can be found; whether they help is for the picture to say."""
    return TransformRegressor(
        variant=variant,
        n_estimators=STAGES,
        n_iter_no_change=STAGES,
        tol=0.0,
        validation_fraction=share,
        random_state=seed,
    )


def errors(fitted: TransformRegressor, data: Surface) -> tuple[float, ...]:
    """Root mean square errors on the test points after every stage of the model."""
    staged = fitted.staged_predict(data.X_test)
    return tuple(float(np.sqrt(np.mean(np.square(f - data.z_test)))) for f in staged)


def surface_records(
    data: Surface, seeds: Sequence[int], known: set[tuple[str, str, str, int]]
) -> Iterator[Record]:
    """Every variant and seed, with both shares held out; those that are known are left out."""
    for share in SHARES:
        for variant in VARIANTS:
            for seed in seeds:
                if ("surface", f"{share:g}", variant, seed) in known:
                    continue
                clock = time.process_time()
                fitted = model(variant, seed, share).fit(data.X, data.z)
                seconds = time.process_time() - clock
                yield Record("surface", f"{share:g}", variant, seed, errors(fitted, data), seconds)
