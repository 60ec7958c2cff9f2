"""Transform regression, boosted linear trees and LightGBM's linear trees: errors on tables.

Friedman's first function; wine and abalone, as comma-separated files of ``--tables`` (UCI's, with
a line of names: winequality-red.csv, abalone.csv); and five tables of the folder CGBOOST_DATA. Each
is split five times, a quarter of the rows to test. Of ours, and of LightGBM's settings, the one
with the least loss on a quarter of the training rows is fitted again to all of them; every setting
is shown too. Losses are root mean squares of errors, and mean log losses of classes.

    python benchmarks/transform_accuracy.py --tables FOLDER [--docs FOLDER] [--splits 5]

Every line is printed and written to transform_accuracy.csv.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.datasets import make_friedman1
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import train_test_split

from cgboost import (
    LinearTreeBoostingClassifier,
    LinearTreeBoostingRegressor,
    TransformClassifier,
    TransformRegressor,
)
from cgboost.studies.datasets import data_folder
from cgboost.studies.scripts import options

Table = tuple[pd.DataFrame, np.ndarray, bool]

ADULT_ROWS = 12_000

SLOW = {"n_holdouts": 8, "learning_rate": 0.5, "n_estimators": 30}

PAIRS = {"interaction_cst": "pairwise", "learning_rate": 0.5, "n_estimators": 30}


def friedman() -> Table:
    """2000 rows with noise of variance 1."""
    X, y = make_friedman1(2000, noise=1.0, random_state=0)
    return pd.DataFrame(X).add_prefix("x"), y, False


def file_of(path: Path, target: str, *, classes: bool) -> Table:
    """A file with names; words are categories."""
    frame = pd.read_csv(path)
    y = frame.pop(target).to_numpy()
    return frame, (y == y.max()).astype(int) if classes else y.astype(float), classes


def adult(folder: Path) -> Table:
    """The first rows of the census, with categories and gaps."""
    frame = pd.read_csv(
        folder / "adult" / "adult.data", header=None, skipinitialspace=True, na_values="?"
    )
    frame = frame.iloc[:ADULT_ROWS].add_prefix("x")
    y = (frame.pop("x14") == ">50K").to_numpy().astype(int)
    return frame, y, True


def tables(given: Path) -> dict[str, Callable[[], Table]]:
    """How to read each table."""
    own = data_folder()
    uci = own / "uci"
    return {
        "friedman1": friedman,
        "wine": lambda: file_of(given / "winequality-red.csv", "quality", classes=False),
        "abalone": lambda: file_of(given / "abalone.csv", "rings", classes=False),
        "boston": lambda: file_of(uci / "boston_housing.csv", "MEDV", classes=False),
        "bupa": lambda: file_of(uci / "bupa_liver.csv", "drinks", classes=False),
        "pima": lambda: file_of(uci / "pima_diabetes.csv", "class", classes=True),
        "ionosphere": lambda: file_of(uci / "ionosphere.csv", "class", classes=True),
        "adult": lambda: adult(own),
    }


class LightGBM:
    """LightGBM with linear trees; words are its categories."""

    def __init__(self, classes: bool, **choices: Any) -> None:
        from lightgbm import LGBMClassifier, LGBMRegressor

        kind = LGBMClassifier if classes else LGBMRegressor
        self.model = kind(linear_tree=True, n_jobs=1, verbose=-1, random_state=0, **choices)

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> LightGBM:
        """To a frame."""
        self.kinds = {
            name: pd.CategoricalDtype(sorted(X[name].dropna().unique()))
            for name in X
            if X[name].dtype.kind not in "fiub"
        }
        self.model.fit(X.astype(self.kinds), y)
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """Numbers."""
        return self.model.predict(X.astype(self.kinds))

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        """Of both classes."""
        return self.model.predict_proba(X.astype(self.kinds))


def settings(classes: bool) -> dict[str, dict[str, Callable[[], Any]]]:
    """Models of both sides, by name."""
    transform = TransformClassifier if classes else TransformRegressor
    trees = LinearTreeBoostingClassifier if classes else LinearTreeBoostingRegressor
    return {
        "cgboost": {
            "transform": transform,
            "transform, 8 holdouts": lambda: transform(**SLOW),
            "transform, pairwise": lambda: transform(**PAIRS),
            "linear trees": trees,
        },
        "LightGBM": {
            "default": lambda: LightGBM(classes),
            "300 rounds at 0.03": lambda: LightGBM(classes, n_estimators=300, learning_rate=0.03),
            "7 leaves": lambda: LightGBM(classes, num_leaves=7),
            "7 leaves, 300 rounds at 0.03": lambda: LightGBM(
                classes, num_leaves=7, n_estimators=300, learning_rate=0.03
            ),
        },
    }


def loss_of(model: Any, X: pd.DataFrame, y: np.ndarray, classes: bool) -> float:
    """On rows that were not fitted."""
    if classes:
        return float(log_loss(y, np.clip(model.predict_proba(X), 1e-9, 1.0), labels=[0, 1]))
    return float(root_mean_squared_error(y, model.predict(X)))


def split_losses(table: Table, seed: int) -> dict[tuple[str, str], tuple[float, float]]:
    """Test loss and CPU seconds of every setting, and of the chosen one of each side."""
    frame, y, classes = table
    kept = y if classes else None
    X, X_test, y, y_test = train_test_split(
        frame, y, test_size=0.25, random_state=seed, stratify=kept
    )
    kept = y if classes else None
    X_fit, X_see, y_fit, y_see = train_test_split(
        X, y, test_size=0.25, random_state=seed, stratify=kept
    )
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for side, models in settings(classes).items():
        seen = {}
        for name, make in models.items():
            start = time.process_time()
            model = make().fit(X, y)
            seconds = time.process_time() - start
            found[side, name] = (loss_of(model, X_test, y_test, classes), seconds)
            seen[name] = loss_of(make().fit(X_fit, y_fit), X_see, y_see, classes)
        found[side, "chosen"] = found[side, min(seen, key=seen.__getitem__)]
    return found


def main() -> None:
    """Every table, setting and split."""
    given = options(__doc__, one_thread=True, tables=str, docs=None, splits=5)
    records = []
    ranks: dict[tuple[str, str], list[float]] = {}
    for name, read in tables(Path(given.tables)).items():
        splits = [split_losses(read(), seed) for seed in range(given.splits)]
        means = {key: np.mean([split[key] for split in splits], axis=0) for key in splits[0]}
        for key, rank in zip(means, rankdata([loss for loss, _ in means.values()]), strict=True):
            ranks.setdefault(key, []).append(float(rank))
            loss, seconds = means[key]
            records.append((name, *key, f"{loss:.4f}", f"{seconds:.2f}"))
            print(*records[-1], sep="\t", flush=True)
    for key, places in ranks.items():
        records.append(("mean rank", *key, f"{np.mean(places):.2f}", ""))
        print(*records[-1], sep="\t")
    if given.docs is not None:
        with (Path(given.docs) / "transform_accuracy.csv").open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("table", "library", "setting", "loss", "cpu_seconds"))
            writer.writerows(records)


if __name__ == "__main__":
    sys.exit(main())
