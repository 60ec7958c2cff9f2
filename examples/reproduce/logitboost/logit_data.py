"""MNIST, odd against even, and Dorothea: the split they come with, and random ones.

Dorothea has 100000 binary features. Those that are 0 in all training rows are left out: no line on
them can be fitted. For the random splits so are those that are 1 in fewer than 2 % of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from thrombin import read_thrombin

from cgboost.studies.datasets import load_mnist, odd_even_labels

MNIST, DOROTHEA = "MNIST", "Dorothea"
OFFICIAL, DRAWN = "as it comes", "drawn"
DRAWN_IMAGES = 10_000
TRAIN_COMPOUNDS, TEST_COMPOUNDS = 800, 350
COMMON = 0.02


@dataclass(frozen=True)
class Case:
    """Training and test rows, labels ±1."""

    X: NDArray[np.float32]
    y: NDArray[Any]
    X_test: NDArray[np.float32]
    y_test: NDArray[Any]


class Source:
    """Both data sets, read when they are first wanted.

    Parameters
    ----------
    folder : Path
        With mnist/ and dorothea/.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: dict[str, Any] = {}

    def case(self, data: str, kind: str, seed: int) -> Case:
        """The split that the data come with, or the one of a seed."""
        part = self._part(data)
        if data == MNIST:
            return images(*part, kind, seed)
        return compounds(*part, kind, seed)

    def _part(self, data: str) -> Any:
        if data not in self._parts:
            self._parts = {}  # one of them in memory
            read = load_mnist if data == MNIST else read_thrombin
            self._parts[data] = read(self._folder)
        return self._parts[data]


def images(X: Any, digits: Any, X_test: Any, test_digits: Any, kind: str, seed: int) -> Case:
    """All 60000 training images, or some of them; the 10000 test images."""
    rows: Any = slice(None)
    if kind == DRAWN:
        rows = np.random.default_rng(seed).permutation(len(X))[:DRAWN_IMAGES]
    return Case(X[rows], odd_even_labels(digits[rows]), X_test, odd_even_labels(test_digits))


def compounds(X: Any, y: Any, kind: str, seed: int) -> Case:
    """800 rows to train and 350 to test, as they come or drawn with the shares of both classes."""
    train, test = np.arange(TRAIN_COMPOUNDS), np.arange(TRAIN_COMPOUNDS, len(y))
    least = 1.0
    if kind == DRAWN:
        train, test = train_test_split(
            np.arange(len(y)), test_size=TEST_COMPOUNDS, random_state=seed, stratify=y
        )
        least = COMMON * len(train)
    common = np.flatnonzero(np.asarray(X[train].sum(axis=0)).ravel() >= least)
    parts = (X[rows][:, common].astype(np.float32).toarray() for rows in (train, test))
    learned, tested = parts
    return Case(learned, y[train], tested, y[test])


def batches(seeds: list[int]) -> Iterator[tuple[str, str, int]]:
    """Data, kind of split and seed of everything that is measured."""
    for data in (MNIST, DOROTHEA):
        yield data, OFFICIAL, 0
        for seed in seeds:
            yield data, DRAWN, seed
