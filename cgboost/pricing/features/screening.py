"""Correlations screened in single precision, for methods that take each feature once.

A scan is as slow as memory is. A copy of the normalised features in single precision halves what
has to be read, and its rounding error is bounded: with n rows and unit vectors it is at most
(n + 2)·eps. Features whose coarse correlation comes within twice that of the largest are the
only ones that can be the best, and are decided in double precision.
"""

from __future__ import annotations

import numpy as np

from cgboost.generation.protocols import MasterState
from cgboost.pricing.features.centred import CentredFeatures
from cgboost.pricing.features.correlation import CorrelationPricer

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
