"""Correlation pricing of centred features, without a centred copy: full, by Gram rows, screened.

With an intercept in the model a feature acts through x_j − m_j alone, where m_j is its weighted
mean. Scores and Gram rows follow from the raw matrix,

    (x_j − m_j)·r = x_j·r − m_j Σ r        (x_j − m_j)·W(x_k − m_k) = x_j·W(x_k − m_k)

so that the matrix may be sparse, or too large to copy.

Squared error falls most along the feature most correlated with the residual,

    j = arg max |h_j·r| / |h_j|        h_j = x_j − m_j

:class:`CorrelationPricer` scans the matrix for it; two others find the same with less work.

:class:`GramPricer` is for methods that visit the same features again. For squared error r = W(y −
Hα − b) is linear in the coefficients, so that the scores follow from those of the call before and
the coefficients that have changed since:

    s ← s − Σ_k Δα_k (h_k·W h_j)_j

The state says which have changed. A Gram row is computed when its feature first moves, together
with those of the features most likely to come next: a product with a few columns costs hardly more
than with one. The score of the winner is recomputed from r itself, and rounding in the others is
bounded by √n·eps·Σ |Δα_k||h_k|; where either is off, or the loss is another one, all scores are
recomputed.

:class:`ScreenedPricer` is for methods that take each feature once. A scan is as slow as memory is.
A copy of the normalised features in single precision halves what has to be read, and its rounding
error is bounded: with n rows and unit vectors it is at most (n + 2)·eps. Features whose coarse
correlation comes within twice that of the largest are the only ones that can be the best, and are
decided in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.arrays import Vector, blocks_of
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.pricing.univariate.feature_pricer import STRATUM, Feature, dense_columns
from cgboost.tolerances import EPSILON

ENTRIES_AT_ONCE = 2**17
"""Entries of X that are centred at once."""

SUM_ROUNDING = 100.0 * EPSILON
"""A norm or correlation this small, relative to the vectors that it comes from, is what rounding
leaves of 0: sums of n products are off by √n units on the average, and 100² rows are many."""


CentredFeature = Feature
"""Its name in pickled models of 0.1."""


def feature_of(column: Column) -> int:
    """The feature whose centred values a column has."""
    return cast(Feature, column.hypothesis).index


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

    def hypothesis(self, index: int) -> Feature:
        """A feature as a function of new rows."""
        return Feature(index, float(self.centres[index]))

    def blocks(self) -> Iterator[tuple[slice, Vector]]:
        """Some rows of X at a time, dense and in float64."""
        n_rows, n_features = self.X.shape
        step = max(1, ENTRIES_AT_ONCE // n_features)
        X = self.X.tocsr() if sparse.issparse(self.X) else self.X
        for rows in blocks_of(n_rows, step):
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


class CorrelationPricer(Memoryless):
    """Pricer of single features by their correlation with the residual.

    Parameters
    ----------
    features : CentredFeatures
        Centred if the master has an offset.
    repeats : bool
        Whether a feature may come again (for masters that never correct a coefficient). The key of
        its column is then (feature, number of the step), else the feature alone.

    Attributes
    ----------
    scans : int
        How often all scores were computed from the matrix.
    """

    def __init__(self, features: CentredFeatures, *, repeats: bool) -> None:
        self.features, self.repeats = features, repeats
        self.scans = 0
        varies = features.lengths > 0
        self._inverse = np.divide(1.0, features.lengths, where=varies, out=np.zeros(len(varies)))

    def price(self, state: MasterState, limit: int) -> Priced:
        """The best feature, if its correlation is more than rounding; never a certificate."""
        size = self._size(state)
        if limit == 0 or size == 0.0:
            return Priced(columns=())
        index = self._winner(state)
        values = self.features.column(index)
        correlation = abs(float(values @ state.pseudo_response)) * self._inverse[index]
        found = correlation > self._noise(state) and index not in self._excluded(state)
        key = (index, len(state.columns) + 1) if self.repeats else index
        column = Column(values, (STRATUM, key), self.features.hypothesis(index), STRATUM)
        return Priced(
            columns=(column,) if found else (),
            n_evaluated=self.features.n_features,
            stratum=STRATUM if found else "",
        )

    def _winner(self, state: MasterState) -> int:
        """The best feature."""
        return self._largest(self._scan(state), state)

    def _scan(self, state: MasterState) -> Vector:
        """All scores, from the matrix."""
        self.scans += 1
        return self.features.scores(state.pseudo_response)

    def _largest(self, scores: Vector, state: MasterState) -> int:
        """The feature of the largest correlation among those that may come."""
        correlations = np.abs(scores) * self._inverse
        correlations[self._excluded(state)] = 0.0
        return int(np.argmax(correlations))

    def _excluded(self, state: MasterState) -> list[int]:
        return [] if self.repeats else [feature_of(column) for column in state.columns]

    def _size(self, state: MasterState) -> float:
        """(Σ w u²)^½ of the residual u with r = Wu, which no correlation exceeds."""
        response = state.pseudo_response
        return float(np.sqrt(response @ (response / self.features.weights)))

    def _noise(self, state: MasterState) -> float:
        """What rounding of u = y − f may make of a correlation of 0."""
        weights = self.features.weights
        response = state.output + state.pseudo_response / weights
        return SUM_ROUNDING * float(np.sqrt(weights @ response**2))


LOOK_AHEAD = 16
"""Gram rows computed at once."""

GRAM_BYTES = 2**29
"""Memory that Gram rows may take; a step along a feature without one needs a scan."""


class GramPricer(CorrelationPricer):
    """A :class:`CorrelationPricer` that updates its scores instead of scanning the matrix.

    Parameters
    ----------
    features, repeats
        As in :class:`CorrelationPricer`.
    gram_bytes : int
        Memory for Gram rows.
    """

    def __init__(
        self, features: CentredFeatures, *, repeats: bool, gram_bytes: int = GRAM_BYTES
    ) -> None:
        super().__init__(features, repeats=repeats)
        self._gram: dict[int, NDArray[Any]] = {}
        self._most_rows = gram_bytes // (features.n_features * features.X.dtype.itemsize)
        self._scores = np.zeros(features.n_features)
        self._coef = np.zeros(0)
        self._rounding = 0.0
        eps = float(np.finfo(features.X.dtype).eps)
        self._eps, self._drift = eps * float(np.sqrt(len(features.weights))), float(np.sqrt(eps))

    def memory(self) -> tuple[Vector, Vector, float]:
        """The scores, the coefficients they belong to, and what rounding may have made of them."""
        return self._scores.copy(), self._coef, self._rounding

    def recall(self, memory: tuple[Vector, Vector, float]) -> None:
        """Go on with the same scores; Gram rows are computed as they are needed."""
        scores, self._coef, self._rounding = memory
        self._scores = scores.copy()

    def _winner(self, state: MasterState) -> int:
        followed = self._follow(state)
        if not followed:
            self._refresh(state)
        self._coef = state.coef
        index = self._largest(self._scores, state)
        if followed and self._has_drifted(index, state):
            self._refresh(state)
            index = self._largest(self._scores, state)
        return index

    def _follow(self, state: MasterState) -> bool:
        """Bring the scores up to the state; whether that could be done without a scan."""
        if not state.columns or len(self._coef) > len(state.coef):
            return False
        change = state.coef.copy()
        change[: len(self._coef)] -= self._coef
        moved = np.flatnonzero(change).tolist()
        indices = [feature_of(state.columns[k]) for k in moved]
        if not self._have_gram(indices):
            return False
        for k, index in zip(moved, indices, strict=True):
            self._scores -= change[k] * self._gram[index]
            self._rounding += self._eps * abs(change[k]) * self.features.lengths[index]
        return True

    def _refresh(self, state: MasterState) -> None:
        self._scores, self._rounding = self._scan(state), 0.0

    def _have_gram(self, indices: list[int]) -> bool:
        """Compute missing Gram rows and those most likely to come; False where there is no room."""
        missing = [index for index in dict.fromkeys(indices) if index not in self._gram]
        if not missing:
            return True
        room = self._most_rows - len(self._gram)
        if len(missing) > room:
            return False
        order = np.argsort(-np.abs(self._scores) * self._inverse, kind="stable")
        best = order[: LOOK_AHEAD + len(self._gram)].tolist()
        likely = [j for j in best if j not in self._gram and self._inverse[j] > 0]
        wanted = list(dict.fromkeys(missing + likely))
        wanted = wanted[: min(room, max(LOOK_AHEAD, len(missing)))]
        self._gram |= zip(wanted, self.features.gram(wanted), strict=True)
        return True

    def _has_drifted(self, index: int, state: MasterState) -> bool:
        """Whether the winner's correlation is off, or others' may be, by more than the drift."""
        score = float(self.features.column(index) @ state.pseudo_response)
        error = abs(score - self._scores[index]) * self._inverse[index] + self._rounding
        return bool(error > self._drift * abs(score) * self._inverse[index])


MOST_CANDIDATES = 32
"""With more of them a scan in double precision is faster."""


class ScreenedPricer(CorrelationPricer):
    """A :class:`CorrelationPricer` that scans in single precision and decides in double.

    Parameters
    ----------
    features, repeats
        As in :class:`CorrelationPricer`; X must be dense.
    """

    def __init__(self, features: CentredFeatures, *, repeats: bool) -> None:
        super().__init__(features, repeats=repeats)
        self._coarse = np.empty(features.X.shape, dtype=np.float32)
        for rows, block in features.blocks():
            moved = block - features.centres
            np.multiply(moved, self._inverse, out=self._coarse[rows], casting="same_kind")
        self._error = (len(features.weights) + 2) * float(np.finfo(np.float32).eps)

    def _winner(self, state: MasterState) -> int:
        direction = (state.pseudo_response / self._size(state)).astype(np.float32)
        correlations = np.abs(self._coarse.T @ direction)
        correlations[self._excluded(state)] = 0.0
        near = np.flatnonzero(correlations >= correlations.max() - 2.0 * self._error)
        if len(near) > MOST_CANDIDATES:
            return super()._winner(state)
        exact = [
            abs(float(self.features.column(j) @ state.pseudo_response)) * self._inverse[j]
            for j in near.tolist()
        ]
        return int(near[int(np.argmax(exact))])
