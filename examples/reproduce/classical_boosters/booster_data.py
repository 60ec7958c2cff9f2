"""Digits: some of MNIST's training images and its 10000 test images, or scikit-learn's 8×8 ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from cgboost.studies.datasets import load_digits, load_mnist

MNIST, SMALL = "MNIST 28×28", "digits 8×8"
TRAIN_IMAGES = 3000


@dataclass(frozen=True)
class Digits:
    """Pixels in [0, 1], and the digits 0 to 9.

    Attributes
    ----------
    X, X_test : ndarray of shape (n_rows, n_pixels)
    digit, digit_test : ndarray of shape (n_rows,)
    """

    X: NDArray[Any]
    digit: NDArray[Any]
    X_test: NDArray[Any]
    digit_test: NDArray[Any]


def draw(data: str, folder: Path | None, seed: int) -> Digits:
    """Training rows drawn at random. Of the small digits 30 % are held out, class by class."""
    if data == SMALL:
        X, digit = load_digits()
        parts = train_test_split(X, digit, test_size=0.3, random_state=seed, stratify=digit)
        return Digits(parts[0], parts[2], parts[1], parts[3])
    X, digit, X_test, digit_test = _mnist(folder)
    rows = np.random.default_rng(seed).permutation(len(X))[:TRAIN_IMAGES]
    return Digits(X[rows], digit[rows], X_test, digit_test)


@lru_cache(maxsize=1)
def _mnist(folder: Path | None) -> tuple[Any, Any, Any, Any]:
    return load_mnist(folder)
