"""Correlations kept up to date by Gram rows, for methods that visit the same features again.

For squared error r = W(y − Hα − b) is linear in the coefficients, so that the scores follow from
those of the call before and the coefficients that have changed since:

    s ← s − Σ_k Δα_k (h_k·W h_j)_j

The state says which have changed. A Gram row is computed when its feature first moves, together
with those of the features most likely to come next: a product with a few columns costs hardly more
than with one. The score of the winner is recomputed from r itself, and rounding in the others is
bounded by √n·eps·Σ |Δα_k||h_k|; where either is off, or the loss is another one, all scores are
recomputed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.protocols import MasterState
from cgboost.pricing.features.centred import CentredFeatures, feature_of
from cgboost.pricing.features.correlation import CorrelationPricer

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
