"""The features x_j − m_j of a matrix with their lengths, without a centred copy of the matrix.

With an intercept in the model a feature acts through x_j − m_j alone, where m_j is its weighted
mean. Scores and Gram rows follow from the raw matrix,

    (x_j − m_j)·r = x_j·r − m_j Σ r        (x_j − m_j)·W(x_k − m_k) = x_j·W(x_k − m_k)

so that the matrix may be sparse, or too large to copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.generation.columns import Column
from cgboost.tolerances import SUM_ROUNDING

Vector = NDArray[np.float64]

ENTRIES_AT_ONCE = 2**17
"""Entries of X that are centred at once."""


def dense_columns(X: Any, indices: Sequence[int]) -> NDArray[Any]:
    """Some columns of a dense or sparse matrix, side by side."""
    wanted = X[:, list(indices)]
    return wanted.toarray() if sparse.issparse(wanted) else wanted


class CentredFamily:
    """Evaluates centred features together."""

    def outputs(self, X: Any, hypotheses: Sequence[CentredFeature]) -> Vector:
        """The wanted columns of X without their centres, shape (n_rows, n_hypotheses)."""
        centres = np.array([hypothesis.centre for hypothesis in hypotheses])
        return dense_columns(X, [hypothesis.index for hypothesis in hypotheses]) - centres


CENTRED = CentredFamily()


@dataclass(frozen=True)
class CentredFeature:
    """h(x) = x[index] − centre."""

    index: int
    centre: float

    @property
    def family(self) -> CentredFamily:
        """All centred features form one family."""
        return CENTRED

    def importances(self, n_features: int) -> Vector:
        """1 for its feature, 0 for all others."""
        return np.eye(1, n_features, self.index)[0]


def feature_of(column: Column) -> int:
    """The feature whose centred values a column has."""
    return cast(CentredFeature, column.hypothesis).index


class CentredFeatures:
    """Features of a matrix, their centres and weighted lengths.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        Finite; kept as it is.
    weights : ndarray of shape (n_rows,)
        Positive.
    centre : bool
        Whether features are taken from their weighted means; otherwise from 0.

    Attributes
    ----------
    centres, lengths : ndarray of shape (n_features,)
        m_j, and (Σ w_i (x_ij − m_j)²)^½; the length of a constant feature is 0.

    Raises
    ------
    ValueError
        If no feature varies (without centring: if all are 0), or one is too large to be squared.
    """

    def __init__(self, X: Any, weights: Vector, *, centre: bool) -> None:
        self.X, self.weights = X, weights
        total = float(weights.sum())
        sums = np.zeros(X.shape[1])
        if centre:
            for rows, block in self.blocks():
                sums += weights[rows] @ block
        self.centres = sums / total
        self.lengths = np.sqrt(self._squares())
        if not np.isfinite(self.lengths).all():
            j = int(np.flatnonzero(~np.isfinite(self.lengths))[0])
            raise ValueError(f"X has entries too large to be squared in feature {j}; scale it")
        self.lengths[self.lengths <= SUM_ROUNDING * np.abs(self.centres) * np.sqrt(total)] = 0.0
        if not self.lengths.any():
            same = "is constant" if centre else "is 0 throughout"
            raise ValueError(
                f"X must have a feature that varies, but each of {len(sums)} {same} "
                f"(n_samples={len(weights)})"
            )
        self._columns: dict[int, Vector] = {}

    @property
    def n_features(self) -> int:
        """Number of features, constant ones included."""
        return len(self.lengths)

    def scores(self, response: Vector) -> Vector:
        """(x_j − m_j)·r for every feature, added up in the dtype of X."""
        raw = self.X.T @ response.astype(self.X.dtype, copy=False)
        return np.asarray(raw, dtype=np.float64) - self.centres * response.sum()

    def gram(self, indices: Sequence[int]) -> NDArray[Any]:
        """(x_k − m_k)·W(x_j − m_j) for the wanted k and every j, shape (n_wanted, n_features)."""
        moved = np.stack([self.column(k) for k in indices], axis=1) * self.weights[:, None]
        raw = np.asarray(self.X.T @ moved.astype(self.X.dtype, copy=False))
        return np.ascontiguousarray(raw.T)

    def column(self, index: int) -> Vector:
        """x_j − m_j; the same array whenever the feature is asked for."""
        if index not in self._columns:
            values = dense_columns(self.X, [index])[:, 0] - self.centres[index]
            self._columns[index] = np.ascontiguousarray(values, dtype=np.float64)
        return self._columns[index]

    def hypothesis(self, index: int) -> CentredFeature:
        """A feature as a function of new rows."""
        return CentredFeature(index, float(self.centres[index]))

    def blocks(self) -> Iterator[tuple[slice, Vector]]:
        """Some rows of X at a time, dense and in float64."""
        n_rows, n_features = self.X.shape
        step = max(1, ENTRIES_AT_ONCE // n_features)
        X = self.X.tocsr() if sparse.issparse(self.X) else self.X
        for start in range(0, n_rows, step):
            rows = slice(start, start + step)
            block = X[rows].toarray() if sparse.issparse(X) else X[rows]
            yield rows, block.astype(np.float64, copy=False)

    def _squares(self) -> Vector:
        """Σ w_i (x_ij − m_j)², without a difference of large numbers."""
        squares = np.zeros(self.X.shape[1])
        with np.errstate(over="ignore"):
            for rows, block in self.blocks():
                moved = block - self.centres
                squares += self.weights[rows] @ np.square(moved, out=moved)
        return squares
