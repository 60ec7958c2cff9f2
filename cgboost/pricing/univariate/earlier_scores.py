"""Scores bounded from those of earlier passes: most features need not be scored again.

With the scores h_j·r_k of earlier passes, and the c that brings Σ_k c_k r_k nearest to r,

    |h_j·r − Σ_k c_k (h_j·r_k)| ≤ ‖h_j‖·‖r − Σ_k c_k r_k‖        (Cauchy, Schwarz)

A feature that does not price out anywhere within these limits adds nothing to the gap: it is proven
to, whatever its score is. This holds for every loss and penalty, from one model of a path to the
next, and at every r, not only at an optimum. As the gap closes, r comes to rest and few features
are left to be scored.

Gap-safe rules (Ndiaye, Fercoq, Gramfort, Salmon, JMLR 18, 2017) put the radius √(2·gap) instead of
the distance, for smooth losses alone, and drop features for good. Column generation has no small
gap before its last pass, so that they drop them when there is nothing left to do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import multiple
from cgboost.pricing.scans.candidates import PricingRequest, may_price_out
from cgboost.pricing.univariate.matrices import FeatureStorage
from cgboost.tolerances import UNIT_ROUNDOFF

REMEMBERED_PASSES = 4
"""Complete passes that are remembered, the latest: each is one number a feature and one a row."""

SAMPLED_FEATURES = 64
"""Features, evenly spread, that show whether few would be left to be scored."""

PASSES_OF_LENGTHS = 3
"""The lengths of all features are computed once as many passes could have been shortened with them.
They take the time of 1.3 passes or so: where there are no more passes to come, as at the end of a
single fit, little is lost, and a path of models gains from then on."""

FEWEST_REMEMBERED = 1000
"""Fewer features are always scored: the products with earlier r take as long as a pass."""

LEAST_EIGENVALUE = 1e-12
"""Directions of the earlier r below this, relative to the largest, squared, are not made use of:
their coefficients would be so large that rounding counts. Any coefficients give a valid bound."""

NORM_ROUNDING = 1e-9
"""Norms are taken to be longer by this share, more than the rounding of any sum of squares."""


class EarlierScores:
    """Scores of the features in the last complete passes.

    Parameters
    ----------
    matrix : FeatureStorage
    centres, scales, largest : ndarray of shape (n_features,)
        Of ``h_j = (x_j − m_j)/s_j``, and max|h_j| at most.
    """

    def __init__(
        self, matrix: FeatureStorage, centres: Vector, scales: Vector, largest: Vector
    ) -> None:
        self.matrix, self.centres, self.scales, self.largest = matrix, centres, scales, largest
        self._passes: tuple[tuple[Vector, Vector], ...] = ()
        self._last: tuple[Vector, Vector] | None = None
        self._lengths: Vector | None = None
        self._sampled: tuple[Indices, Vector] | None = None
        self._missed = 0

    @property
    def usable(self) -> bool:
        """Whether some features can be scored in less time than all."""
        return self.matrix.gathers > 0 and self.matrix.shape[1] >= FEWEST_REMEMBERED

    def note(self, response: Vector, scores: Vector) -> None:
        """Remember a complete pass, instead of the oldest."""
        self._last = response.copy(), scores
        if self.usable:
            self._passes = (*self._passes[1 - REMEMBERED_PASSES :], self._last)

    def repeated(self, response: Vector) -> tuple[Vector, float] | None:
        """The scores at t·r of the last complete pass, and Σ|what r misses of that|; else None.

        Such an r is that of a smooth loss at the next price, before anything has moved.
        """
        if self._last is None:
            return None
        last, scores = self._last
        factor = multiple(response, last)
        if factor is None:
            return None
        return factor * scores, float(np.abs(response - factor * last).sum())

    def undecided(self, request: PricingRequest) -> Indices | None:
        """The features that may price out at r, ascending; None: so many that all are scored."""
        passes = self._passes  # one object, whatever other runs over the same features do
        if not passes:
            return None
        n_features, response = self.matrix.shape[1], request.response
        earlier = np.array([r for r, _ in passes])
        gram = earlier @ earlier.T
        coef = np.linalg.lstsq(gram, earlier @ response, rcond=LEAST_EIGENVALUE)[0]
        distance = float(np.linalg.norm(response - coef @ earlier)) * (1.0 + NORM_ROUNDING)
        # what rounding may do to the earlier scores, to this one, and to the distance
        total = float(np.abs(response).sum() + 2.0 * np.abs(coef) @ np.abs(earlier).sum(axis=1))
        rounding = UNIT_ROUNDOFF * np.sqrt(len(response)) * total

        def open_(features: Indices | slice, lengths: Vector) -> NDArray[np.bool_]:
            scores = np.zeros(len(lengths))
            for c, (_, own) in zip(coef, passes, strict=True):
                scores += c * own[features]
            return may_price_out(
                scores, distance * lengths + rounding * self.largest[features], request
            )

        if self._lengths is None:
            if self._sampled is None:
                sample = np.linspace(0, n_features - 1, SAMPLED_FEATURES).astype(np.intp)
                moved = (self.matrix.columns(sample) - self.centres[sample]) / self.scales[sample]
                self._sampled = sample, np.linalg.norm(moved, axis=0)
            self._missed += bool(open_(*self._sampled).mean() <= self.matrix.gathers)
            if self._missed < PASSES_OF_LENGTHS:
                return None
            lengths = self.matrix.lengths(self.centres) * (1.0 + NORM_ROUNDING)
            self._lengths = lengths / np.abs(self.scales)
        left = np.flatnonzero(open_(slice(None), self._lengths))
        return left if len(left) <= self.matrix.gathers * n_features else None
