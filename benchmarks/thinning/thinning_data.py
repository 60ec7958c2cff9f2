"""Rows and ensembles of the thinning study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import train_test_split
from study_data import as_categories, read_data, read_uci

from cgboost.studies.datasets import data_folder

ADULT_ROWS = 8000
"""Drawn from adult.data for each seed; adult.test is the test set."""

COIL_TEST = 4000
RACE_COLUMN = 11
"""Of the Boston data: made from race, and left out."""

LIVER_FEATURES = 5
"""Of the liver data the blood tests; then come drinks, the outcome, and a split marker."""

WITH_AUC = ("adult", "coil2000")
SHARE = 0.15


@dataclass(frozen=True, eq=False)
class Rows:
    """Training and test rows of one seed."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]


def census(folder: Path | None, seed: int) -> Rows:
    """Adult, categories as numbers."""
    data = next(read_data(data_folder(folder)))
    X, X_test = map(numbered, as_categories(data.X, data.X_test))
    part = np.random.default_rng(seed).permutation(len(data.y))[:ADULT_ROWS]
    return Rows(X[part], data.y[part].astype(int), X_test, data.y_test.astype(int))


def insurance(folder: Path | None, seed: int) -> Rows:
    """COIL 2000, all 9822 customers divided anew."""
    *_, data = read_data(data_folder(folder))
    X = np.vstack(list(map(numbered, as_categories(data.X, data.X_test))))
    y = np.concatenate([data.y, data.y_test]).astype(int)
    return divided(X, y, seed, COIL_TEST, stratify=True)


def numbered(table: Any) -> NDArray[np.float64]:
    """Numbers of the categories from 1 on, 0 where missing."""
    columns = [
        own.cat.codes + 1 if own.dtype == "category" else own
        for own in (table[name] for name in table)
    ]
    return np.column_stack(columns).astype(np.float64)


def boston(folder: Path | None, seed: int) -> Rows:
    """Prices of houses in 506 towns."""
    X, y = read_uci(data_folder(folder), "boston_housing")
    return divided(np.delete(X, RACE_COLUMN, axis=1), y.astype(float), seed)


def liver(folder: Path | None, seed: int) -> Rows:
    """Drinks a day, from five blood tests of 345 men."""
    X, _ = read_uci(data_folder(folder), "bupa_liver")
    return divided(X[:, :LIVER_FEATURES], X[:, LIVER_FEATURES], seed)


def divided(X: Any, y: Any, seed: int, test: float = 0.3, *, stratify: bool = False) -> Rows:
    """Random training and test rows."""
    labels = y if stratify else None
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=test, stratify=labels, random_state=seed
    )
    return Rows(X, y, X_test, y_test)


DATA: dict[str, Callable[[Path | None, int], Rows]] = {
    "adult": census,
    "breast cancer": lambda _, seed: divided(*load_breast_cancer(return_X_y=True), seed),
    "digits": lambda _, seed: divided(*load_digits(return_X_y=True), seed),
    "coil2000": insurance,
    "boston": boston,
    "liver": liver,
}
REGRESSION = ("boston", "liver")


def ensembles(*, regression: bool, seed: int) -> dict[str, Any]:
    """The ensembles that are thinned, unfitted, by their names."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    forest, extra, ada, light = (
        (RandomForestRegressor, ExtraTreesRegressor, AdaBoostRegressor, LGBMRegressor)
        if regression
        else (RandomForestClassifier, ExtraTreesClassifier, AdaBoostClassifier, LGBMClassifier)
    )
    own = {"random_state": seed, "n_jobs": 1, "verbose": -1}
    return {
        "random forest, 500": forest(500, random_state=seed),
        "extra trees, 500": extra(500, random_state=seed),
        "AdaBoost, 200": ada(n_estimators=200, random_state=seed),
        "LightGBM, 100": light(**own),
        "LightGBM, 500": light(n_estimators=500, learning_rate=0.05, **own),
    }
