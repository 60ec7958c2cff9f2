"""The features of a matrix as columns, whatever its form, without a copy of it.

    h_j = (x_j − m_j)/s_j

Centres m and scales s are applied to scores and to the columns that are generated, never to X, so
that a sparse matrix stays sparse and a dense one is not written again.

Most features need not be scored again: with the scores h_j·r_k of earlier passes, and the c that
brings Σ_k c_k r_k nearest to r,

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

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cgboost.arrays import Indices, Mask, Matrix, Vector
from cgboost.generation.columns import Column, Term, multiple
from cgboost.pricing.scans.candidates import (
    Candidates,
    PricingRequest,
    may_price_out,
    merged,
    search_scores,
)
from cgboost.pricing.scans.scan import StrataPricer
from cgboost.pricing.univariate.matrices import FeatureStorage, SparseFeatures, matrix_of
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

        def open_(features: Indices | slice, lengths: Vector) -> Mask:
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


STRATUM = "feature"
"""The name of the only stratum."""


def dense_columns(X: Any, indices: Sequence[int] | Indices) -> NDArray[Any]:
    """Some columns of a dense or sparse matrix, side by side."""
    wanted = X[:, list(indices)]
    return wanted.toarray() if sparse.issparse(wanted) else np.asarray(wanted)


class FeatureFamily:
    """Evaluates features together."""

    def outputs(self, X: Any, hypotheses: Sequence[Feature]) -> Vector:
        """(x_j − m_j)/s_j of the wanted columns of X, shape (n_rows, n_hypotheses)."""
        centres = np.array([hypothesis.centre for hypothesis in hypotheses])
        scales = np.array([hypothesis.scale for hypothesis in hypotheses])
        return (
            dense_columns(X, [hypothesis.index for hypothesis in hypotheses]) - centres
        ) / scales

    @staticmethod
    def weighted_sum(X: Any, terms: Sequence[Term]) -> Vector:
        """Σ_j coef_j (x_j − m_j)/s_j, as one product with X."""
        total = np.zeros(X.shape[0])
        for _, hypotheses, coef in terms:
            indices = [hypothesis.index for hypothesis in hypotheses]
            slopes = coef / np.array([hypothesis.scale for hypothesis in hypotheses])
            shift = slopes @ np.array([hypothesis.centre for hypothesis in hypotheses])
            total += np.asarray(X[:, indices] @ slopes, dtype=np.float64) - shift
        return total


FEATURES = FeatureFamily()


@dataclass(frozen=True)
class Feature:
    """h(x) = (x[index] − centre)/scale."""

    index: int
    centre: float = 0.0
    scale: float = 1.0

    @property
    def family(self) -> FeatureFamily:
        """All features form one family."""
        return FEATURES

    def importances(self, n_features: int) -> Vector:
        """1 for its feature, 0 for all others."""
        return np.eye(1, n_features, self.index)[0]


class FeaturePool:
    """The features of X in one stratum, ``h_j = (x_j − m_j)/s_j``.

    Parameters
    ----------
    X : array-like, sparse matrix or FeatureStorage of shape (n_rows, n_features)
        Finite. float32 and float64 are kept as they are (a mapped file stays on the disk), sparse
        matrices in CSC form; all else becomes float64.
    centres : ndarray of shape (n_features,), optional
        m; 0 by default.
    scales : ndarray of shape (n_features,), optional
        s, not 0; 1 by default.

    Raises
    ------
    ValueError
        If X is not two-dimensional, or has entries that are not finite.
    """

    strata: tuple[str, ...] = (STRATUM,)
    rounds_columns = False

    def __init__(
        self, X: Any, *, centres: ArrayLike | None = None, scales: ArrayLike | None = None
    ) -> None:
        self.matrix = matrix_of(X)
        count = self.matrix.shape[1]
        self.centres = np.zeros(count) if centres is None else np.asarray(centres, dtype=float)
        self.scales = np.ones(count) if scales is None else np.asarray(scales, dtype=float)
        least, most = self.matrix.extremes
        self._largest = np.maximum(np.abs(least), np.abs(most)) + np.abs(self.centres)
        if not np.isfinite(self._largest).all():
            j = int(np.flatnonzero(~np.isfinite(self._largest))[0])
            raise ValueError(f"X must be finite, but feature {j} has {least[j]:g} and {most[j]:g}")
        self._largest /= np.abs(self.scales)
        self._earlier = EarlierScores(self.matrix, self.centres, self.scales, self._largest)

    def rescaled(self, factor: float) -> FeaturePool:
        """The same features, with all scales multiplied."""
        other = copy(self)
        other.scales, other._largest = self.scales * factor, self._largest / factor
        other._earlier = EarlierScores(self.matrix, self.centres, other.scales, other._largest)
        return other

    def size(self, stratum: int) -> int:
        """Number of features."""
        return self.matrix.shape[1]

    def rows(self, stratum: int) -> Indices | None:
        """Features belong to no training row."""
        return None

    def features(self, stratum: int) -> Indices:
        """The feature of every column: its own number."""
        return np.arange(self.size(stratum))

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """h_j·r = (x_j·r − m_j Σr)/s_j, added up in float64."""
        if len(response) != self.matrix.shape[0]:
            raise ValueError(f"X has {self.matrix.shape[0]} rows, the master has {len(response)}")
        if indices is None:
            return self.all_scores(response)
        if not len(indices):
            return np.zeros(0)
        moved = self.centres[indices] * response.sum()
        return (self.matrix.product(response, indices) - moved) / self.scales[indices]

    def all_scores(self, responses: Vector) -> Vector:
        """h_j·r of all features, for r of shape (n_rows,) or several, (n_rows, n_responses)."""
        shape = (-1,) + (1,) * (responses.ndim - 1)
        moved = self.centres.reshape(shape) * responses.sum(axis=0)
        return (self.matrix.product(responses) - moved) / self.scales.reshape(shape)

    def errors(self, indices: Indices | None, response: Vector) -> Vector:
        """What rounding may do to the scores: about √n units of Σ|r| max|h_j|.

        Of several responses, of shape (n_rows, n_responses), a column for each.
        """
        wanted = slice(None) if indices is None else indices
        rounding = UNIT_ROUNDOFF * np.sqrt(len(response)) * np.abs(response).sum(axis=0)
        return np.multiply.outer(self._largest[wanted], rounding)

    def search(
        self, strata: Sequence[int], indices: Indices | None, request: PricingRequest
    ) -> Candidates:
        """What the features show; their scores count with their rounding.

        Of all features those are scored that earlier passes leave undecided.
        """
        candidates, known = Candidates(), None
        if indices is None:
            known = self._earlier.repeated(request.response)
        if indices is None and known is None:
            indices = self._earlier.undecided(request)
        among = np.arange(self.size(0)) if indices is None else indices
        for stratum in strata:
            errors = self.errors(indices, request.response)
            if known is not None:
                scores, errors = known[0], errors + known[1] * self._largest
            else:
                scores = self.scores(stratum, indices, request.response)
                if indices is None:
                    self._earlier.note(request.response, scores)
            own = search_scores(stratum, among, self._counting(among, scores), errors, request)
            candidates = merged(candidates, own, request.limit)
        return candidates if known is None else replace(candidates, n_evaluated=0)

    def _counting(self, indices: Indices, scores: Vector) -> Vector:
        """What scores of some features count as: as they are."""
        return scores

    def values(self, stratum: int, indices: Indices) -> Matrix:
        """h_j of some features, as the rows of an array."""
        return self.values_on(np.zeros(len(indices), dtype=np.intp), indices, None)

    def values_on(self, strata: Indices, indices: Indices, rows: Indices | None) -> Matrix:
        """h_j of some features on some rows (None: all), as the rows of an array."""
        wanted = np.asarray(self.matrix.columns(indices, rows), dtype=np.float64)
        wanted -= self.centres[indices]
        wanted /= self.scales[indices]
        return wanted.T

    def entries(self) -> tuple[Any, Vector]:
        """x_j/s_j by columns and m_j/s_j, of which h_j is the difference; None of dense ones."""
        centres = self.centres / self.scales
        if not isinstance(self.matrix, SparseFeatures):
            return None, centres
        X = self.matrix.X
        scaled = np.repeat(1.0 / self.scales, np.diff(X.indptr)) * X.data
        return sparse.csc_array((scaled, X.indices, X.indptr), shape=X.shape), centres

    def column(self, stratum: int, index: int) -> Column:
        """Feature ``index``."""
        return self.columns([stratum], [index])[0]

    def columns(self, strata: Sequence[int], indices: Sequence[int]) -> list[Column]:
        """Several features, gathered together: one pass over a matrix that is stored by rows."""
        if not len(indices):
            return []
        values = np.ascontiguousarray(self.values(0, np.asarray(indices, dtype=np.intp)))
        return [
            Column(own, (STRATUM, int(index)), self.feature(int(index)), STRATUM)
            for own, index in zip(values, indices, strict=True)
        ]

    def feature(self, index: int) -> Feature:
        """A feature as a function of new rows."""
        return Feature(index, float(self.centres[index]), float(self.scales[index]))


class FeaturePricer(StrataPricer):
    """Exact pricing over the columns of H.

    Parameters
    ----------
    H : array-like or sparse matrix of shape (n_rows, n_features)
        As for ``FeaturePool``.
    """

    def __init__(self, H: ArrayLike) -> None:
        super().__init__(FeaturePool(H))
