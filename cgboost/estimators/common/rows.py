"""Training and validation rows: sample weights, ``eval_set``, the part that is held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, validate_data

from cgboost.exceptions import see

Matrix = NDArray[np.floating[Any]]
Vector = NDArray[np.float64]
EvalSet = tuple[ArrayLike, ArrayLike]
Held = tuple[Matrix, NDArray[Any]]

FLOATS = [np.float64, np.float32]
"""What X may be; anything else becomes float64."""


@dataclass(frozen=True)
class Rows:
    """Training rows, and where they stand in the X that the user gave.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Responses, or numbers of the classes.
    weights : ndarray of shape (n_rows,)
    numbers : ndarray of shape (n_rows,) or None
        Row numbers in the user's X; None for a source of blocks, whose rows all count.
    """

    X: Matrix
    y: NDArray[Any]
    weights: Vector
    numbers: NDArray[np.intp] | None

    @classmethod
    def of(cls, X: Matrix, y: NDArray[Any], sample_weight: ArrayLike | None) -> Rows:
        """All rows of X, with checked weights."""
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if weights.min() < 0:
            raise ValueError(f"sample_weight must not be negative, got {weights.min():g}")
        if not weights.any():
            raise ValueError("sample_weight must not be 0 for every row")
        return cls(X, y, weights, np.arange(X.shape[0]))

    def _take(self, places: NDArray[np.intp]) -> Rows:
        numbers = places if self.numbers is None else self.numbers[places]
        return Rows(self.X[places], self.y[places], self.weights[places], numbers)

    def counting(self) -> Rows:
        """The rows that cost anything: those of a positive weight."""
        places = np.flatnonzero(self.weights)
        return self if len(places) == len(self.weights) else self._take(places)

    def split(self, fraction: float, random_state: Any, *, stratify: bool) -> tuple[Rows, Held]:
        """The rows without a random ``fraction`` of them, and (X, y) of that fraction.

        ``random_state=None`` draws fresh randomness and leaves NumPy's global state alone.
        """
        from sklearn.model_selection import train_test_split

        try:
            stay, leave = train_test_split(
                np.arange(self.X.shape[0]),
                test_size=fraction,
                random_state=np.random.RandomState() if random_state is None else random_state,
                stratify=self.y if stratify else None,
            )
        except ValueError as error:
            raise ValueError(
                f"early_stopping=True cannot hold out validation_fraction={fraction:g} of "
                f"{self.X.shape[0]} rows ({error}); give an eval_set"
                f"{see('eval-set')}"
            ) from error
        return self._take(np.sort(stay)), (self.X[leave], self.y[leave])


def check_eval_set(
    estimator: BaseEstimator, eval_set: EvalSet | list[EvalSet] | None, *, accept_sparse: Any
) -> Held | None:
    """``eval_set`` as a pair of arrays that fit the training data, or None."""
    if eval_set is None:
        return None
    if isinstance(eval_set, list) and len(eval_set) == 1:
        eval_set = eval_set[0]
    if not isinstance(eval_set, tuple) or len(eval_set) != 2:
        size = f" of length {len(eval_set)}" if isinstance(eval_set, (tuple, list)) else ""
        raise ValueError(
            f"eval_set must be a pair (X, y), got a {type(eval_set).__name__}{size}: "
            f"only one set is scored{see('eval-set')}"
        )
    if eval_set[1] is None:
        raise ValueError(f"eval_set must be a pair (X, y), got no y{see('eval-set')}")
    try:
        X, y = validate_data(
            estimator, *eval_set, reset=False, dtype=FLOATS, accept_sparse=accept_sparse
        )
    except ValueError as error:
        raise ValueError(f"eval_set: {error}{see('eval-set')}") from error
    return X, y
