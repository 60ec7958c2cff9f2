"""Kernels for images, as matrices that every method of the study is given alike.

A kernel of the study is written ``"cosine 5"``: what two images have in common, and a number that
says how fast it is forgotten.

* ``rbf γ``: exp(−γ‖x − z‖²) of raw pixels.
* ``cosine p``: (x·z/‖x‖‖z‖)^p, a normalised polynomial.
* ``jittered p``: the same with the largest cosine over nine positions of z, one pixel around.
  It need be neither symmetric nor positive semi-definite; a column need not be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from cgboost.studies.datasets import Split, load_mnist, odd_even_labels, odd_even_split

Matrix = NDArray[Any]
TRAIN, VALIDATION = 1000, 2000


def read_split(data: str | None, seed: int) -> Split:
    """1000 and 2000 of the training images of MNIST and its 10000 test images; or digits.

    Without a folder, the digits of scikit-learn as ``odd_even_split`` draws them.
    """
    if data is None:
        return odd_even_split(seed=seed)
    X, digits, X_test, test_digits = load_mnist(data)
    rows = np.random.default_rng(seed).permutation(len(X))[: TRAIN + VALIDATION]
    y = odd_even_labels(digits[rows])
    return Split(
        X[rows[:TRAIN]],
        y[:TRAIN],
        X[rows[TRAIN:]],
        y[TRAIN:],
        X_test,
        odd_even_labels(test_digits),
    )


def squared_distances(X: Matrix, Z: Matrix) -> Matrix:
    """‖x − z‖², shape (len(X), len(Z))."""
    squares = np.square(X).sum(axis=1)[:, None] + np.square(Z).sum(axis=1)
    distances: Matrix = np.maximum(squares - 2 * X @ Z.T, 0.0)
    return distances


def cosines(X: Matrix, Z: Matrix) -> Matrix:
    """x·z/‖x‖‖z‖, shape (len(X), len(Z))."""
    values: Matrix = unit(X) @ unit(Z).T
    return values


def jittered_cosines(X: Matrix, Z: Matrix) -> Matrix:
    """The largest cosine over the nine positions of z that are at most one pixel away."""
    X = unit(X)
    values: Matrix = X @ unit(Z).T
    for down, right in product((-1, 0, 1), repeat=2):
        np.maximum(values, X @ unit(moved(Z, down, right)).T, out=values)
    return values


def unit(X: Matrix) -> Matrix:
    """Rows scaled to length 1."""
    rows: Matrix = X / np.linalg.norm(X, axis=1, keepdims=True)
    return rows


def moved(Z: Matrix, down: int, right: int) -> Matrix:
    """Square images moved by whole pixels; what leaves the frame is lost."""
    side = int(np.sqrt(Z.shape[1]))
    framed = np.pad(Z.reshape(-1, side, side), ((0, 0), (1, 1), (1, 1)))
    rows, columns = slice(1 - down, 1 - down + side), slice(1 - right, 1 - right + side)
    return framed[:, rows, columns].reshape(len(Z), -1)


LIKENESS: dict[str, Callable[[Matrix, Matrix], Matrix]] = {
    "rbf": squared_distances,
    "cosine": cosines,
    "jittered": jittered_cosines,
}


@dataclass(frozen=True)
class Values:
    """Values of one kernel between rows and centres, and among the centres.

    Attributes
    ----------
    train, held : ndarray of shape (n_train, n_centres) and (n_validation + n_test, n_centres)
    between : ndarray of shape (n_centres, n_centres)
    """

    train: Matrix
    held: Matrix
    between: Matrix

    def chosen(self, centres: Matrix) -> Values:
        """The same with a few of the centres."""
        between = self.between[np.ix_(centres, centres)]
        return Values(self.train[:, centres], self.held[:, centres], between)


class Images:
    """The images of a split, and their likeness to all centres, made once for all kernels.

    Attributes
    ----------
    groups : dict of str to ndarray
        Places of centres by name: ``"rows"``, the training rows; ``"means 100"``, the means of
        k-means; ``"class means 100"``, those of each class alone.
    """

    def __init__(self, split: Split, likeness: str, means: Sequence[int]) -> None:
        X, y = split.X_train, split.y_train
        centres, start = {"rows": X}, 0
        X = X if likeness == "rbf" else unit(X)
        for count in means:
            centres[f"means {count}"] = k_means(X, count)
            halves = [k_means(X[y == label], count // 2) for label in np.unique(y)]
            centres[f"class means {count}"] = np.vstack(halves)
        self.groups = {}
        for name, group in centres.items():
            self.groups[name] = np.arange(start, start + len(group))
            start += len(group)
        Z = np.vstack(list(centres.values()))
        held = np.vstack([split.X_validation, split.X_test])
        self._likeness = likeness
        self._parts = [LIKENESS[likeness](X, Z) for X in (split.X_train, held, Z)]

    def values(self, number: float, *groups: str) -> Values:
        """The kernel with this γ or p, and the centres of these groups side by side."""
        places = np.concatenate([self.groups[name] for name in groups])
        train, held, between = self._parts
        between = between[places]
        return Values(*(self._kernel(part[:, places], number) for part in (train, held, between)))

    def _kernel(self, likeness: Matrix, number: float) -> Matrix:
        values = likeness.astype(np.float64)
        return np.exp(-number * values) if self._likeness == "rbf" else values**number


def k_means(X: Matrix, count: int) -> Matrix:
    """The means of k-means, shape (count, n_pixels)."""
    means: Matrix = KMeans(count, n_init=1, random_state=0).fit(X).cluster_centers_
    return means


def balanced(values: Values) -> Values:
    """Columns divided by their sum over the training rows, then all rows scaled to length 1.

    A centre among many like it no longer weighs more in K Kᵀ than one that stands alone.
    """
    mass = values.train.sum(axis=0)
    return Values(unit(values.train / mass), unit(values.held / mass), values.between)
