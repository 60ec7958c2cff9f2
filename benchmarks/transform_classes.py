"""Transform regression of several classes: jointly, and one against the rest.

Iris, wine and digits; quintiles of Friedman's first function and of Boston's house values; two
columns of Adult as classes, marital status and occupation; MNIST in 49 means of 4 × 4 points. Each
table is split several times, with at most 4000 rows to train and 4000 to test.

    python benchmarks/transform_classes.py [--splits 5] [--tables iris …] [--settings default …]

Lines: table, setting, way, mean log loss and error on the test rows, CPU seconds of a fit, splits
in which the joint loss was the smaller one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_iris, load_wine, make_friedman1
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from cgboost import LinearTreeBoostingClassifier, TransformClassifier
from cgboost.studies.datasets import data_folder, load_mnist
from cgboost.studies.scripts import options

Table = tuple[Any, np.ndarray]

LARGEST = 4000
"""Rows to train and to test, at most."""

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "gradient": {"variant": "gradient"},
    "orthogonal": {"variant": "orthogonal"},
    "slow": {"learning_rate": 0.5, "n_estimators": 30},
    "holdouts": {"n_holdouts": 8, "learning_rate": 0.5, "n_estimators": 30},
}


def quintiles(y: np.ndarray) -> np.ndarray:
    """Five classes of equal size."""
    return np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))


def friedman() -> Table:
    """4000 rows with noise of variance 1."""
    X, y = make_friedman1(4000, noise=1.0, random_state=0)
    return X, quintiles(y)


def boston() -> Table:
    """House values."""
    frame = pd.read_csv(data_folder() / "uci" / "boston_housing.csv")
    return frame.drop(columns="MEDV"), quintiles(frame["MEDV"].to_numpy())


def adult(column: int) -> Table:
    """A column of the census from the others; classes of at least 200 rows."""
    frame = pd.read_csv(
        data_folder() / "adult" / "adult.data", header=None, skipinitialspace=True, na_values="?"
    )
    frame = frame.add_prefix("x").dropna(subset=f"x{column}")
    counts = frame[f"x{column}"].value_counts()
    frame = frame[frame[f"x{column}"].isin(counts.index[counts >= 200])]
    return frame.drop(columns=f"x{column}"), frame[f"x{column}"].to_numpy()


def digits_in_means() -> Table:
    """MNIST, the first 20 000 of its training images."""
    images, labels, _, _ = load_mnist()
    parts = np.asarray(images[:20_000], dtype=np.float64).reshape(-1, 7, 4, 7, 4)
    return parts.mean(axis=(2, 4)).reshape(len(parts), 49), np.asarray(labels[:20_000])


TABLES: dict[str, Callable[[], Table]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "boston": boston,
    "friedman1": friedman,
    "marital": lambda: adult(5),
    "occupation": lambda: adult(6),
    "digits": lambda: load_digits(return_X_y=True),
    "mnist": digits_in_means,
}


def measured(make: Callable[[], Any], table: Table, seed: int) -> tuple[float, float, float]:
    """Log loss and error on the test rows of a split, and CPU seconds."""
    X, y = table
    size = min(LARGEST, len(y) // 4)
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=size, train_size=min(LARGEST, len(y) - size), random_state=seed, stratify=y
    )
    start = time.process_time()
    model = make().fit(X, y)
    seconds = time.process_time() - start
    shares = np.clip(model.predict_proba(X_test), 1e-9, 1.0)
    shares /= shares.sum(axis=1, keepdims=True)
    loss = float(log_loss(y_test, shares, labels=model.classes_))
    return loss, 1.0 - model.score(X_test, y_test), seconds


def main() -> None:
    """Every table, setting and way."""
    given = options(__doc__, splits=5, tables=tuple(TABLES), settings=tuple(SETTINGS))
    for name in given.tables:
        table = TABLES[name]()
        makers: dict[tuple[str, str], Callable[[], Any]] = {
            (setting, way): lambda way=way, setting=setting: TransformClassifier(
                multi_class=way, **SETTINGS[setting]
            )
            for setting in given.settings
            for way in ("ovr", "joint")
        }
        if "default" in given.settings:
            makers["boosted linear trees", "joint"] = LinearTreeBoostingClassifier
        lost: np.ndarray = np.zeros(0)
        for (setting, way), make in makers.items():
            found = np.array([measured(make, table, seed) for seed in range(given.splits)])
            loss, error, seconds = found.mean(axis=0)
            wins = f"{int((found[:, 0] < lost).sum())}/{given.splits}" if len(lost) else ""
            lost = found[:, 0] if way == "ovr" else np.zeros(0)
            words = (name, setting, way, f"{loss:.4f}", f"{error:.4f}", f"{seconds:.2f}", wins)
            print(*words, sep="\t", flush=True)


if __name__ == "__main__":
    sys.exit(main())
