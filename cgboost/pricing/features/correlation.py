"""The feature most correlated with the residual.

    j = arg max |h_j·r| / |h_j|        h_j = x_j − m_j

This is the column along which squared error falls most. :class:`CorrelationPricer` scans the matrix
for it; :class:`~cgboost.pricing.features.gram.GramPricer` and
:class:`~cgboost.pricing.features.screening.ScreenedPricer` find the same with less work.
"""

from __future__ import annotations

import numpy as np

from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.pricing.features.centred import CentredFeatures, Vector, feature_of
from cgboost.tolerances import SUM_ROUNDING

STRATUM = "feature"


class CorrelationPricer:
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
