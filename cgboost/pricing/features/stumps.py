"""Decision stumps as an exact pool of columns: every threshold of every feature, and the constant.

A stump is h(x) = 1 if x_f > t, else −1. On given rows only thresholds between neighbouring values
of a feature differ, so sorting every feature once makes the family finite, and one cumulative sum
over the sorted pseudo-response scores all of it:

    r·h_t = Σ_{x > t} r − Σ_{x ≤ t} r = total − 2·cumsum(r in sorted order)

Both signs of a stump count: with free coefficients the master takes the column with either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.columns import Column
from cgboost.kernels import Matrix
from cgboost.pricing.scans.scan import Indices, Priority, StrataPricer, Vector

CONSTANT_STUMP = -1
"""The feature of the constant stump: whichever it is, it exceeds −inf."""


class StumpFamily:
    """Evaluates stumps together."""

    def outputs(self, X: Matrix, hypotheses: Sequence[Stump]) -> NDArray[np.float64]:
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

    def importances(self, n_features: int) -> NDArray[np.float64]:
        """1 for the feature; the constant has none."""
        shares = np.zeros(n_features)
        if self.feature != CONSTANT_STUMP:
            shares[self.feature] = 1.0
        return shares


def midpoints(below: NDArray[Any], above: NDArray[Any]) -> NDArray[np.float64]:
    """Thresholds t with below ≤ t < above, in the middle unless it rounds to one of the two."""
    middle = below / 2 + above / 2
    between = (below <= middle) & (middle < above)
    return np.where(between, middle, below).astype(np.float64)


class StumpPool:
    """Every stump that differs on the training rows, feature by feature; the constant is the last.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Finite features, kept in their dtype. Besides them the pool keeps the sorted order, one
        integer per entry of X.

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
        self._order = np.argsort(self.X.T, axis=1, kind="stable")
        ordered = np.take_along_axis(self.X.T, self._order, axis=1)
        self._feature, self._last = np.nonzero(ordered[:, 1:] > ordered[:, :-1])
        self._threshold = midpoints(
            ordered[self._feature, self._last], ordered[self._feature, self._last + 1]
        )

    def size(self, stratum: int) -> int:
        """Thresholds of all features, and the constant."""
        return len(self._last) + 1

    def rows(self, stratum: int) -> Indices | None:
        """Stumps belong to no training row."""
        return None

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """r·h of the wanted stumps."""
        if len(response) != len(self.X):
            raise ValueError(f"X has {len(self.X)} rows, the master has {len(response)}")
        sums = np.cumsum(response[self._order], axis=1)
        total = float(response.sum())
        scores = np.append(total - 2.0 * sums[self._feature, self._last], total)
        return scores if indices is None else scores[indices]

    def values(self, stratum: int, indices: Indices) -> NDArray[np.float64]:
        """Stumps on the training rows, as the rows of an array."""
        return STUMPS.outputs(self.X, [self.stump(int(index)) for index in indices]).T

    def column(self, stratum: int, index: int) -> Column:
        """One stump on the training rows."""
        values = self.values(stratum, np.array([index]))[0]
        return Column(values, ("stump", index), self.stump(index), "stump")

    def stump(self, index: int) -> Stump:
        """The stump of that number as a function."""
        if index == len(self._last):
            return Stump(CONSTANT_STUMP, -np.inf)
        return Stump(int(self._feature[index]), float(self._threshold[index]))


class StumpPricer(StrataPricer):
    """Exact pricing of all decision stumps on training rows X; see :class:`StumpPool`."""

    def __init__(self, X: Matrix, *, priority: Priority = "full", tol: float = 1e-4) -> None:
        super().__init__(StumpPool(X), priority=priority, tol=tol)
