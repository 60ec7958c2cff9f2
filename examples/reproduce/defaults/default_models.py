"""The data sets, the models that are compared, and what is measured of one split."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from study_data import read_data, read_uci
from study_jobs import Record

from cgboost import RBF, CGBoostClassifier, CGBoostRegressor, KernelLibrary, Linear, Polynomial
from cgboost.studies.datasets import load_mnist

CLASSES, NUMBERS = "classification", "regression"
OURS, THEIRS = "default", "SVC and SVR"
MOST_ROWS, FOLDS, REPEATS = 1000, 3, 2
LQR: dict[str, Any] = {"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF()}
SCALED = {"normalize": True, "standardize": True}
CHANGES: dict[str, dict[str, Any]] = {
    OURS: {},
    "features as they are": {"library": KernelLibrary(LQR, normalize=True)},
    "kernels as they are": {"library": KernelLibrary(LQR, standardize=True)},
    "penalty l2": {"penalty": "l2"},
    "C = 0.3": {"C": 0.3},
    "C = 3": {"C": 3.0},
    "C = 10": {"C": 10.0},
    "RBF alone": {"library": KernelLibrary({"rbf": RBF()}, **SCALED)},
    "linear, RBFs of 3 widths": {
        "library": KernelLibrary({"linear": Linear(), **RBF.family(factors=[0.5, 2, 8])}, **SCALED)
    },
}
"""What is changed of the defaults of our model."""


@dataclass(frozen=True)
class DataSet:
    """Rows of numbers, and labels or numbers to predict."""

    task: str
    name: str
    X: Any
    y: Any


def read_sets(folder: Path) -> Iterator[DataSet]:
    """Data sets of at most ``MOST_ROWS`` rows, drawn with a fixed seed where there are more."""
    for name in ("iris", "wine", "breast_cancer"):
        yield few(CLASSES, name, *getattr(datasets, f"load_{name}")(return_X_y=True))
    images, digit = datasets.load_digits(return_X_y=True)
    yield few(CLASSES, "digits, odd or even", images, digit % 2)
    chosen = np.isin(digit, [3, 8])
    yield few(CLASSES, "digits, 3 or 8", images[chosen], digit[chosen])
    X, y, *_ = load_mnist(folder / "mnist")
    yield few(CLASSES, "MNIST, odd or even", X.reshape(len(X), -1), y.astype(int) % 2)
    for name in ("pima_diabetes", "ionosphere", "bupa_liver", "breast_cancer_wisconsin_original"):
        yield few(CLASSES, name, *read_uci(folder, name))
    X, y = read_uci(folder, "wpbc")
    table = pd.read_csv(folder / "uci" / "wpbc.csv")
    yield few(CLASSES, "wpbc", X[:, [c != "time" for c in table.columns[:-1]]], y)
    adult = next(iter(read_data(folder)))
    yield few(CLASSES, "adult", pd.get_dummies(adult.X).to_numpy(np.float64), adult.y)
    yield few(CLASSES, "moons", *datasets.make_moons(600, noise=0.3, random_state=0))
    yield few(CLASSES, "hastie", *datasets.make_hastie_10_2(800, random_state=0))
    for name, (X, y) in {
        "diabetes": datasets.load_diabetes(return_X_y=True),
        "boston_housing": read_uci(folder, "boston_housing"),
        "friedman1": datasets.make_friedman1(500, noise=1.0, random_state=0),
        "friedman2": datasets.make_friedman2(500, noise=50.0, random_state=0),
        "friedman3": datasets.make_friedman3(500, noise=0.1, random_state=0),
    }.items():
        y = y.astype(np.float64)
        yield few(NUMBERS, name, X, y)
        if name in ("diabetes", "boston_housing"):
            yield few(CLASSES, f"{name}, above the median", X, y > np.median(y))


def few(task: str, name: str, X: Any, y: Any) -> DataSet:
    """At most ``MOST_ROWS`` rows; a missing value becomes the median of its feature."""
    rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    X = np.asarray(X[rows], dtype=np.float64)
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    return DataSet(task, name.replace("_", " "), X, np.asarray(y)[rows])


def measured(data: DataSet) -> Iterator[Record]:
    """Error, columns and gap of every model on every split; the seed is the number of the split."""
    labels = data.task == CLASSES
    kind = RepeatedStratifiedKFold if labels else RepeatedKFold
    splits = kind(n_splits=FOLDS, n_repeats=REPEATS, random_state=0).split(data.X, data.y)
    for seed, (train, test) in enumerate(splits):
        for name, make in models(data.task).items():
            model, clock = make(), time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(data.X[train], data.y[train])
            seconds = time.process_time() - clock
            values = error(model, labels, data.X[test], data.y[test]), *size(model)
            yield Record(data.task, data.name, name, seed, values, seconds)


def models(task: str) -> dict[str, Callable[[], Any]]:
    """A new model of each kind."""
    ours, theirs = (CGBoostClassifier, SVC) if task == CLASSES else (CGBoostRegressor, SVR)
    found: dict[str, Callable[[], Any]] = {
        THEIRS: lambda: make_pipeline(StandardScaler(), theirs())
    }
    for name, changes in CHANGES.items():
        found[name] = lambda changes=changes: ours(**changes)
    return found


def error(model: Any, labels: bool, X: Any, y: Any) -> float:
    """Share of wrong labels, or mean absolute error relative to that of the median; per cent."""
    predicted = model.predict(X)
    if labels:
        return 100.0 * float(np.mean(predicted != y))
    return 100.0 * float(np.mean(np.abs(predicted - y)) / np.mean(np.abs(y - np.median(y))))


def size(model: Any) -> tuple[float, float]:
    """Columns or support vectors, and the gap."""
    if isinstance(model, (CGBoostClassifier, CGBoostRegressor)):
        return float(model.n_columns_), model.gap_
    return float(np.sum(model[-1].n_support_)), 0.0
