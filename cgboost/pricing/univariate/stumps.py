"""Decision stumps h(x) = 1 if x_f > t, else −1: every threshold, or those between bins.

**The exact pool** has every threshold of every feature, and the constant. On given rows only
thresholds between neighbouring values of a feature differ, so sorting every feature once makes the
family finite, and one cumulative sum over the sorted pseudo-response scores all of it:

    r·h_t = Σ_{x > t} r − Σ_{x ≤ t} r = total − 2·cumsum(r in sorted order)

Both signs of a stump count: with free coefficients the master takes the column with either.

**Over binned features** (:mod:`cgboost.tables.histograms`) a stump, t between two bins, has

    r·h = total − 2·(sum of r over the bins below t),

so that the sums of r over the bins, n_rows × n_features additions, score all stumps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from cgboost.arrays import Indices, Matrix, Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.pricing.scans.scan import Priority, StrataPricer
from cgboost.tables.histograms import BinnedFeatures, midpoints

CONSTANT_STUMP = -1
"""The feature of the constant stump: whichever it is, it exceeds −inf."""


class StumpFamily:
    """Evaluates stumps together."""

    def outputs(self, X: Matrix, hypotheses: Sequence[Stump]) -> Vector:
        """±1 for every row and stump, shape (len(X), n_hypotheses); the constant is 1."""
        features = np.array([stump.feature for stump in hypotheses], dtype=np.intp)
        thresholds = np.array([stump.threshold for stump in hypotheses])
        return np.where(X[:, features] > thresholds, 1.0, -1.0)


STUMPS = StumpFamily()


@dataclass(frozen=True)
class Stump:
    """h(x) = 1 if x[feature] > threshold, else −1.

    The constant 1 has the threshold −inf and the feature −1.
    """

    feature: int
    threshold: float

    @property
    def family(self) -> StumpFamily:
        """All stumps form one family."""
        return STUMPS

    def importances(self, n_features: int) -> Vector:
        """1 for the feature; the constant has none."""
        shares = np.zeros(n_features)
        if self.feature != CONSTANT_STUMP:
            shares[self.feature] = 1.0
        return shares


class StumpPool:
    """Every stump that differs on the training rows, feature by feature; the constant is the last.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Finite features, kept in their dtype. Besides them the pool keeps the sorted order, one
        integer per entry of X, and the rows of the larger value of features that have two.

    Raises
    ------
    ValueError
        If X is not a finite two-dimensional array with at least one row and column.
    """

    strata: tuple[str, ...] = ("stump",)

    def __init__(self, X: Matrix) -> None:
        self.X = np.asarray(X)
        if self.X.ndim != 2 or not self.X.size or not np.isfinite(self.X).all():
            raise ValueError(f"X must be a finite, non-empty matrix, got shape {self.X.shape}")
        least, most = self.X.min(axis=0), self.X.max(axis=0)
        upper = most == self.X
        two = (upper | (least == self.X)).all(axis=0)
        binary, self._sorted = np.flatnonzero(two & (least < most)), np.flatnonzero(~two)
        self._is_upper = csr_array(upper[:, binary].T, dtype=np.float64)
        self._cut_after, thresholds = self._sort()
        feature = np.append(binary, self._sorted[self._cut_feature])
        order = np.argsort(feature, kind="stable")
        threshold = np.append(midpoints(least[binary], most[binary]), thresholds)
        self._by_feature = order
        self._feature, self._threshold = feature[order], threshold[order]

    def _sort(self) -> tuple[Indices, Vector]:
        """Sort features of more than two values: where each is cut, and the thresholds."""
        values = self.X.T[self._sorted]
        self._row_order = np.argsort(values, axis=1, kind="stable")
        ordered = np.take_along_axis(values, self._row_order, axis=1)
        # one entry for each threshold: its feature, as a place in `_sorted`, and the place of the
        # last row at or below it in the order of that feature
        cut, last = np.nonzero(ordered[:, 1:] > ordered[:, :-1])
        self._cut_feature = cut
        return last, midpoints(ordered[cut, last], ordered[cut, last + 1])

    def features(self, stratum: int) -> Indices:
        """The feature of every stump, −1 for the constant."""
        return np.append(self._feature, CONSTANT_STUMP)

    def size(self, stratum: int) -> int:
        """Thresholds of all features, and the constant."""
        return len(self._feature) + 1

    def rows(self, stratum: int) -> Indices | None:
        """Stumps belong to no training row."""
        return None

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """r·h of the wanted stumps."""
        if len(response) != len(self.X):
            raise ValueError(f"X has {len(self.X)} rows, the master has {len(response)}")
        sums = np.cumsum(response[self._row_order], axis=1)
        total = float(response.sum())
        of_binary = 2.0 * (self._is_upper @ response) - total
        of_sorted = total - 2.0 * sums[self._cut_feature, self._cut_after]
        scores = np.append(np.append(of_binary, of_sorted)[self._by_feature], total)
        return scores if indices is None else scores[indices]

    def values(self, stratum: int, indices: Indices) -> Vector:
        """Stumps on the training rows, as the rows of an array."""
        return STUMPS.outputs(self.X, [self.stump(int(index)) for index in indices]).T

    def column(self, stratum: int, index: int) -> Column:
        """One stump on the training rows."""
        values = self.values(stratum, np.array([index]))[0]
        return Column(values, ("stump", index), self.stump(index), "stump")

    def stump(self, index: int) -> Stump:
        """The stump of that number as a function."""
        if index == len(self._feature):
            return Stump(CONSTANT_STUMP, -np.inf)
        return Stump(int(self._feature[index]), float(self._threshold[index]))


class StumpPricer(StrataPricer):
    """Exact pricing of all decision stumps on training rows X; see :class:`StumpPool`."""

    def __init__(self, X: Matrix, *, priority: Priority = "full", tol: float = 1e-4) -> None:
        super().__init__(StumpPool(X), priority=priority, tol=tol)


def stump_at(bins: BinnedFeatures, place: int) -> Stump:
    """The stump of a place in the flattened thresholds; beyond the last one the constant."""
    feature, cut = divmod(place, bins.thresholds.shape[1])
    threshold = float(bins.thresholds[feature, cut])
    return Stump(CONSTANT_STUMP, -np.inf) if threshold == np.inf else Stump(feature, threshold)


class BinnedStumpPricer(Memoryless):
    """The stump with the largest |r·h|, one a round, for masters that never correct a coefficient.

    The same stump may come again. Nothing is claimed of stumps between the bins, so there is no
    bound; :class:`~cgboost.pricing.StumpPricer` is for that.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    max_bins : int, default=255
        Bins a feature at most.
    tol : float, default=1e-12
        A stump is offered if |r·h| exceeds this share of Σ|r|.
    weights : ndarray of shape (n_rows,), optional
        A row of weight w counts as w rows of its bins.
    """

    def __init__(
        self, X: Matrix, *, max_bins: int = 255, tol: float = 1e-12, weights: Vector | None = None
    ) -> None:
        self.X = np.asarray(X)
        self.bins = BinnedFeatures(self.X, max_bins, weights=weights)
        self.tol = tol

    def price(self, state: MasterState, limit: int) -> Priced:
        """The best stump, if it leads anywhere."""
        response = state.pseudo_response
        below = self.bins.sums_below(response)[:, :, 0]
        scores = below[:, -1:] - 2.0 * below
        scores[self.bins.thresholds == np.inf] *= -1.0  # the constant is 1, not −1
        excess = state.rule.excess(scores.ravel())
        place = int(excess.argmax())
        counts = abs(scores.flat[place]) > self.tol * np.abs(response).sum()
        columns = []
        if limit and counts and excess[place] > 0:
            stump = stump_at(self.bins, place)
            values = STUMPS.outputs(self.X, [stump])[:, 0]
            columns.append(Column(values, ("stump", len(state.columns)), stump, "stump"))
        return Priced(columns, n_evaluated=scores.size, stratum="stump" if columns else "")
