"""Hinges of features: a convex or concave shape is a sum of them with coefficients of one sign.

For a feature x with the values v on the training rows,

    h(x) = max(0, x − t)/s   with t = v but the largest,
    h(x) = max(0, t − x)/s   with t = v but the smallest,

where s is the range of the values. Sums with α ≥ 0 are all the convex functions with kinks at the
values, up to a constant. One cumulative sum over the sorted pseudo-response scores all of them:
Σ_{x > t} r·(x − t) = Σ_{x > t} r·x − t·Σ_{x > t} r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cgboost.arrays import Indices, Matrix, Vector
from cgboost.generation.columns import Column
from cgboost.pricing.constrained.oriented import FeaturedPool
from cgboost.pricing.scans.candidates import NO_NUMBERS, NO_PLACES
from cgboost.pricing.univariate.stumps import StumpPool

RISING, FALLING = "rising hinge", "falling hinge"
"""The names of the strata: max(0, x − t) and max(0, t − x)."""


class HingeFamily:
    """Evaluates hinges together."""

    def outputs(self, X: Matrix, hypotheses: Sequence[HingeFunction]) -> Vector:
        """max(0, ±(x − t))/s, shape (n_rows, n_hypotheses)."""
        features = np.array([hinge.feature for hinge in hypotheses], dtype=np.intp)
        slopes = np.array([hinge.slope for hinge in hypotheses])
        knots = np.array([hinge.threshold for hinge in hypotheses])
        return np.maximum(0.0, (X[:, features].astype(np.float64) - knots) * slopes)


HINGES = HingeFamily()


@dataclass(frozen=True)
class HingeFunction:
    """h(x) = max(0, slope·(x[feature] − threshold))."""

    feature: int
    threshold: float
    slope: float

    @property
    def family(self) -> HingeFamily:
        """All hinges form one family."""
        return HINGES

    def importances(self, n_features: int) -> Vector:
        """1 for the feature."""
        return np.eye(1, n_features, self.feature)[0]


class HingePool:
    """All hinges of some features, at the values of the training rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    """

    strata: tuple[str, ...] = (RISING, FALLING)

    def __init__(self, X: Matrix, features: Sequence[int]) -> None:
        self.X = np.asarray(X)
        self._sorted: list[tuple[Vector, Indices, float]] = []
        owner, rising, falling, slopes = [NO_PLACES], [NO_NUMBERS], [NO_NUMBERS], [NO_NUMBERS]
        for feature in features:
            values = self.X[:, feature].astype(np.float64)
            distinct, place = np.unique(values, return_inverse=True)
            count = len(distinct) - 1
            slope = 1.0 / (distinct[-1] - distinct[0]) if count else 1.0
            self._sorted.append((distinct, place.ravel(), slope))
            owner.append(np.full(count, feature, dtype=np.intp))
            slopes.append(np.full(count, slope))
            rising.append(distinct[:-1])
            falling.append(distinct[1:])
        self._owner, self._slopes = np.concatenate(owner), np.concatenate(slopes)
        self._knots = np.concatenate(rising), np.concatenate(falling)

    def size(self, stratum: int) -> int:
        """The number of steps between values, of all features."""
        return len(self._owner)

    def rows(self, stratum: int) -> Indices | None:
        """Hinges belong to no training row."""
        return None

    def features(self, stratum: int) -> Indices:
        """The feature of every hinge."""
        return self._owner

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """r·h of the wanted hinges."""
        parts = [NO_NUMBERS]
        for distinct, place, slope in self._sorted:
            sums = np.bincount(place, weights=response, minlength=len(distinct))
            left, moment = np.cumsum(sums), np.cumsum(sums * distinct)
            if stratum == 0:
                own = (moment[-1] - moment) - distinct * (left[-1] - left)
                parts.append(own[:-1] * slope)
            else:
                parts.append((distinct * left - moment)[1:] * slope)
        scores = np.concatenate(parts)
        return scores if indices is None else scores[indices]

    def values(self, stratum: int, indices: Indices) -> Vector:
        """Hinges on the training rows, as the rows of an array."""
        return HINGES.outputs(self.X, [self.hinge(stratum, int(index)) for index in indices]).T

    def column(self, stratum: int, index: int) -> Column:
        """One hinge on the training rows."""
        name, values = self.strata[stratum], self.values(stratum, np.array([index]))[0]
        return Column(values, (name, index), self.hinge(stratum, index), name)

    def hinge(self, stratum: int, index: int) -> HingeFunction:
        """The hinge of that number as a function."""
        slope = float(self._slopes[index]) * (1.0 if stratum == 0 else -1.0)
        return HingeFunction(int(self._owner[index]), float(self._knots[stratum][index]), slope)


class ShapePool:
    """Stumps of all features, and hinges of those that are to have a convex or concave shape."""

    strata: tuple[str, ...] = ("stump", RISING, FALLING)

    def __init__(self, stumps: StumpPool, hinges: HingePool) -> None:
        self._places: list[tuple[FeaturedPool, int]] = [(stumps, 0), (hinges, 0), (hinges, 1)]

    def size(self, stratum: int) -> int:
        """Number of columns of a kind."""
        pool, own = self._places[stratum]
        return pool.size(own)

    def rows(self, stratum: int) -> Indices | None:
        """These columns belong to no training row."""
        return None

    def features(self, stratum: int) -> Indices:
        """The feature of every column, −1 for the constant."""
        pool, own = self._places[stratum]
        return pool.features(own)

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """r·h of columns of a kind."""
        pool, own = self._places[stratum]
        return pool.scores(own, indices, response)

    def values(self, stratum: int, indices: Indices) -> Matrix:
        """Columns of a kind on the training rows, as the rows of an array."""
        pool, own = self._places[stratum]
        return pool.values(own, indices)

    def column(self, stratum: int, index: int) -> Column:
        """One column of a kind."""
        pool, own = self._places[stratum]
        return pool.column(own, index)
