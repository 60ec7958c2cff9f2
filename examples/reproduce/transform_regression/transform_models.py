"""The surface of the paper's equation 5 with its six methods, and the models of its Table 9.

    z = x + y + 5 sin(πx/2) sin(πy/2)        x, y in [−1, 1], on a grid of step 0.01

The equation has lost its symbols in the copies of the paper that can be found; the factor 5 is the
one that fits its figures. Test points are those at multiples of 0.1. Of the others some, which the
seed chooses, are held out.

All models of Table 9, and two of today's, hold out 30 % of the training rows, which the seed
chooses: the paper's methods to choose leaves, terms and stages, the trees of today to choose their
number of rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from study_data import Data, as_categories
from study_jobs import Record

from cgboost import LinearTreeRegressor, TransformClassifier, TransformRegressor
from cgboost.additive.statistics.moments import Moments, stepwise
from cgboost.additive.trees.transformation import judges
from cgboost.inspection.metrics import gini_coefficient
from cgboost.studies.scripts import timed
from cgboost.tables.holdout_choice import content_hash, held_out, numbered

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


def surface_model(variant: str, seed: int, share: float) -> TransformRegressor:
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
                seconds, fitted = timed(surface_model(variant, seed, share).fit, data.X, data.z)
                yield Record("surface", f"{share:g}", variant, seed, errors(fitted, data), seconds)


SHARE = 0.3
ROUNDS = 1000
PATIENCE = 20


def predictions(maker: Callable[..., Any], **fixed: Any) -> Callable[[Data, int], Vector]:
    """Of a regressor for the 0/1 target as a number, as in the paper."""
    return lambda data, seed: (
        maker(random_state=seed, **fixed).fit(data.X, data.y).predict(data.X_test)
    )


def transform_classification(data: Data, seed: int) -> Vector:
    """By the log loss."""
    fitted = TransformClassifier(random_state=seed).fit(data.X, data.y)
    return fitted.decision_function(data.X_test)


def stepwise_linear(data: Data, seed: int) -> Vector:
    """The stepwise regression that is in the leaves and at the end of a stage, by itself.

    A category is a column of ones and zeros for each of its values, a missing value one of them.
    """
    X, X_test = numbers(data.X, data.X_test)
    hashes = numbered(content_hash(X, data.y, seed), np.ones(len(X)))
    held = held_out(hashes, SHARE)
    both = np.column_stack([X, data.y])
    parts = (Moments.of(both, (held == own).astype(np.float64)) for own in (False, True))
    training, holdout = parts
    holdout, price = judges(training, holdout)
    found = stepwise(training, holdout, price=price)
    return np.asarray(found.intercept[0] + X_test @ found.coef[0])


def numbers(X: Any, X_test: Any) -> tuple[Vector, Vector]:
    """Both tables with a column for each category; missing numbers are the mean."""
    both = pd.concat([X, X_test])
    both = both.fillna(X.mean(numeric_only=True))
    text = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    values = pd.get_dummies(both, columns=text, dummy_na=True).to_numpy(dtype=np.float64)
    return values[: len(X)], values[len(X) :]


def sklearn_boosting(data: Data, seed: int) -> Vector:
    """Histogram gradient boosting of scikit-learn; early stopping, otherwise as it comes."""
    X, X_test = as_categories(data.X, data.X_test)
    model = HistGradientBoostingClassifier(
        max_iter=ROUNDS,
        early_stopping=True,
        validation_fraction=SHARE,
        n_iter_no_change=PATIENCE,
        random_state=seed,
        categorical_features="from_dtype",
    )
    return np.asarray(model.fit(X, data.y).decision_function(X_test))


def light_gbm(data: Data, seed: int) -> Vector:
    """LightGBM; early stopping, otherwise as it comes."""
    import lightgbm

    X, X_test = as_categories(data.X, data.X_test)
    X_train, X_held, y, y_held = train_test_split(
        X, data.y, test_size=SHARE, random_state=seed, stratify=data.y
    )
    train = lightgbm.Dataset(X_train, y)
    model = lightgbm.train(
        {"objective": "binary", "seed": seed, "num_threads": 1, "verbosity": -1},
        train,
        num_boost_round=ROUNDS,
        valid_sets=[train.create_valid(X_held, y_held)],
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )
    return np.asarray(model.predict(X_test, raw_score=True))


MODELS: dict[str, Callable[[Data, int], Vector]] = {
    "transform regression": predictions(TransformRegressor),
    "transform regression, log loss": transform_classification,
    "linear regression tree": predictions(LinearTreeRegressor),
    "first stage": predictions(TransformRegressor, n_estimators=1),
    "stepwise linear regression": stepwise_linear,
    "LightGBM": light_gbm,
    "scikit-learn": sklearn_boosting,
}


def available() -> list[str]:
    """Models that can be fitted here: LightGBM is no part of this project."""
    return [name for name in MODELS if name != "LightGBM" or find_spec("lightgbm")]


def gini_records(
    sets: Iterable[Data], seeds: Sequence[int], known: set[tuple[str, str, str, int]]
) -> Iterator[Record]:
    """Every data set, model and seed; those that are known are left out."""
    for data in sets:
        for name in available():
            for seed in seeds:
                if ("gini", data.name, name, seed) in known:
                    continue
                seconds, scores = timed(MODELS[name], data, seed)
                gini = gini_coefficient(data.y_test, scores)
                yield Record("gini", data.name, name, seed, (gini,), seconds)
