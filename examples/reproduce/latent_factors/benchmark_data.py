"""The six data sets of the paper's tables, and how they are split, scaled and turned into kernels.

Features are shifted and scaled to mean 0 and variance 1 on the training rows. Missing values (16 of
Cancer's) become the mean there, and a feature that is constant there becomes 0.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

Matrix = NDArray[Any]

FOLDS = 10


@dataclass(frozen=True)
class Data:
    """One data set.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n_rows, n_features)
        As in the file, nan where a value is missing.
    y : ndarray of shape (n_rows,)
        Labels ±1, or numbers.
    width : float
        σ of the kernel exp(−‖x − z‖²/σ²).
    """

    name: str
    X: Matrix
    y: Matrix
    width: float

    @property
    def is_regression(self) -> bool:
        """Whether the target is a number."""
        return len(np.unique(self.y)) > 2


FILES: dict[str, tuple[str, str | None, float]] = {
    "Boston": ("boston_housing", None, 4.24),
    "Cancer": ("breast_cancer_wisconsin_original", "4", 5.0),
    "Diabetes": ("pima_diabetes", "1", 5.0),
    "Ionosphere": ("ionosphere", "g", 3.0),
    "Liver": ("bupa_liver", "2", 6.0),
    "WBC": ("wdbc", "M", 9.0),
}
"""File in uci/, its positive class (none: a number is to be found), and the paper's σ."""


def read_data(folder: Path) -> dict[str, Data]:
    """All six."""
    return {name: read_file(name, folder) for name in FILES}


def read_file(name: str, folder: Path) -> Data:
    """One of them; its last column is the target."""
    file, positive, width = FILES[name]
    with (folder / "uci" / f"{file}.csv").open(newline="", encoding="utf-8") as lines:
        rows = list(csv.reader(lines))[1:]
    X = np.array([[np.nan if entry == "?" else float(entry) for entry in row[:-1]] for row in rows])
    last = [row[-1] for row in rows]
    if positive is None:
        y = np.array([float(entry) for entry in last])
    else:
        y = np.array([1.0 if entry == positive else -1.0 for entry in last])
    return Data(name, X, y, width)


@dataclass(frozen=True)
class Problem:
    """Training and test rows of one split, either as features or as kernel values.

    Attributes
    ----------
    train, held : ndarray of shape (n_train, n_features) and (n_test, n_features)
    gram, held_gram : ndarray of shape (n_train, n_train) and (n_test, n_train)
    y, held_y : ndarray
    folds : list of pairs of row numbers
        The inner folds, alike for all models.
    kernel : {"linear", "rbf"}
    """

    train: Matrix
    held: Matrix
    gram: Matrix
    held_gram: Matrix
    y: Matrix
    held_y: Matrix
    folds: list[tuple[Matrix, Matrix]]
    kernel: str

    @property
    def is_regression(self) -> bool:
        """Whether the target is a number."""
        return len(np.unique(self.y)) > 2


def problem(data: Data, split: int, kernel: str) -> Problem:
    """Split ``split``: a tenth of the rows drawn at random, or for regression the split-th fold."""
    train, held = rows_of(data, split)
    X, Z = standardised(data.X[train], data.X[held])
    values = products if kernel == "linear" else rbf(data.width)
    y = data.y[train]
    kind = KFold if data.is_regression else StratifiedKFold
    folds = list(kind(FOLDS, shuffle=True, random_state=split).split(X, y))
    return Problem(X, Z, values(X, X), values(Z, X), y, data.y[held], folds, kernel)


def rows_of(data: Data, split: int) -> tuple[Matrix, Matrix]:
    """Training and test rows."""
    if data.is_regression:
        return list(KFold(FOLDS, shuffle=True, random_state=0).split(data.X))[split]
    order = np.random.default_rng(split).permutation(len(data.X))
    count = round(len(order) / 10)
    return order[count:], order[:count]


def standardised(X: Matrix, *others: Matrix) -> list[Matrix]:
    """X and more rows, with mean 0 and variance 1 in X; what is missing becomes 0."""
    means, spreads = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    spreads[spreads == 0] = 1.0
    return [np.nan_to_num((rows - means) / spreads) for rows in (X, *others)]


def products(X: Matrix, Z: Matrix) -> Matrix:
    """The linear kernel."""
    values: Matrix = X @ Z.T
    return values


def rbf(width: float) -> Any:
    """The kernel exp(−‖x − z‖²/σ²)."""

    def values(X: Matrix, Z: Matrix) -> Matrix:
        squares = np.square(X).sum(axis=1)[:, None] + np.square(Z).sum(axis=1)
        kernel: Matrix = np.exp(-np.maximum(squares - 2 * X @ Z.T, 0.0) / width**2)
        return kernel

    return values
