"""The four data sets, their splits, and the library of 13 (d + 1) kernels of the SimpleMKL paper.

Ten Gaussian kernels exp(−‖x − z‖²/(2σ²)), σ = 2^-3, …, 2^6, and polynomials (x·z + 1)^q,
q = 1, 2, 3: on all d features, and on each feature alone. All are cosine-normalised, so that
K(x, x) = 1, and every feature has mean 0 and variance 1 on the training rows. The paper scales
Gram matrices to trace 1 instead: for Gaussian kernels that is the same matrix divided by n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from study_data import read_uci

from cgboost import RBF, KernelLibrary, On, Polynomial
from cgboost.kernels import Kernel
from cgboost.studies.scripts import timed

Vector = NDArray[np.float64]
Grams = NDArray[np.float64]

FILES = {
    "liver": "bupa_liver",
    "pima": "pima_diabetes",
    "ionosphere": "ionosphere",
    "wpbc": "wpbc",
}
"""File of each data set in the folder ``uci``."""

TRAINING_SHARE = 0.7
"""As in the paper."""

FOLDS = 3
"""Of the cross-validation that chooses C (and kernels, where one is chosen)."""

WIDTHS = tuple(2.0**e for e in range(-3, 7))
"""σ of the Gaussian kernels."""

DEGREES = (1, 2, 3)
"""Of the polynomials."""


def read(folder: Path, name: str) -> tuple[Vector, Vector]:
    """Features and ±1; without constant features, rows with missing values, and outcomes."""
    X, classes = read_uci(folder, FILES[name])
    if name == "wpbc":
        X = X[:, 1:]  # the time to recurrence is an outcome
    whole = ~np.isnan(X).any(axis=1)
    X, classes = X[whole], classes[whole]
    y = np.where(classes == np.unique(classes)[1], 1.0, -1.0)
    return X[:, np.ptp(X, axis=0) > 0], y


def library_for(n_features: int) -> KernelLibrary:
    """13 (d + 1) kernels on d features."""
    base: dict[str, Kernel] = {f"rbf {width:g}": RBF(0.5 / width**2) for width in WIDTHS}
    base |= {f"polynomial {degree}": Polynomial(degree, coef0=1.0) for degree in DEGREES}
    kernels = {f"all, {name}": kernel for name, kernel in base.items()}
    for j in range(n_features):
        kernels |= {
            f"feature {j}, {name}": On(kernel, columns=[j]) for name, kernel in base.items()
        }
    return KernelLibrary(kernels, normalize=True)


@dataclass(frozen=True, eq=False)
class Rows:
    """Training and test rows, and the Gram matrices of the library on them.

    Attributes
    ----------
    library : KernelLibrary
    X, X_test : ndarray of shape (n_rows, n_features)
        Standardised.
    y, y_test : ndarray of ±1
    grams, cross : ndarray of shape (n_kernels, n_rows or n_test, n_rows)
        K_p(X, X) and K_p(X_test, X).
    gram_seconds : float
        CPU time of K_p(X, X).
    """

    library: KernelLibrary
    X: Vector
    y: Vector
    X_test: Vector
    y_test: Vector
    grams: Grams
    cross: Grams
    gram_seconds: float

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the kernels."""
        return self.library.names

    def accuracy(self, outputs: Any) -> float:
        """Per cent of the test rows on whose side an output is."""
        return float(100.0 * np.mean(np.where(np.asarray(outputs) >= 0, 1.0, -1.0) == self.y_test))


def split(X: Vector, y: Vector, seed: int) -> Rows:
    """70 % of the rows to train, in the shares of the classes."""
    parts = train_test_split(
        X, y, train_size=TRAINING_SHARE, stratify=y, random_state=seed, shuffle=True
    )
    scaler = StandardScaler().fit(parts[0])
    X_train, X_test = scaler.transform(parts[0]), scaler.transform(parts[1])
    library = library_for(X.shape[1])
    kernels = list(library.fit(X_train).values())
    seconds, grams = timed(lambda: np.stack([k(X_train, X_train) for k in kernels]))
    cross = np.stack([kernel(X_test, X_train) for kernel in kernels])
    return Rows(library, X_train, parts[2], X_test, parts[3], grams, cross, seconds)


def folds(rows: Rows, seed: int) -> Iterator[Rows]:
    """The training rows in turn as training and test rows; scaled as they are."""
    places = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(rows.X, rows.y)
    for train, test in places:
        columns = rows.grams[:, :, train]
        yield Rows(
            rows.library,
            rows.X[train],
            rows.y[train],
            rows.X[test],
            rows.y[test],
            columns[:, train],
            columns[:, test],
            rows.gram_seconds,
        )
