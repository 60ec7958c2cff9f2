"""Straight lines in one feature: the weak learners of LogitBoost, all fitted at once.

On every feature x_j the line u_0 + u_1 x_j is fitted to the working response z = r/w by least
squares with the Newton weights w of the loss. Five sums say all of it,

    a = Σw,  b_j = Σ w x_j,  c_j = Σ w x_j²,  d = Σ wz,  e_j = Σ w x_j z,

    u_1 = (a e_j − b_j d)/(a c_j − b_j²),     u_0 = (d − u_1 b_j)/a,

with z = 0 where w = 0, and u_1 = 0 where a c_j = b_j². The line that comes is the one with the
lowest *loss*. Few of them are evaluated. Along h a function of f whose third derivative is at most
twice its second, as that of log(1 + e^{−2yf}) is, does not bend less than e^{−St}, S = 2·max|h|,
times its bend at the start, and for a line h·Wh = r·h, so that

    loss(f + h) ≥ loss(f) − r·h·(1 − (e^{−S} + S − 1)/S²).

Lines whose bound is above the best loss seen need no evaluation.

Friedman, Hastie, Tibshirani, *Additive Logistic Regression*, Annals of Statistics 28, 2000; the
bound follows Bach, *Self-Concordant Analysis for Logistic Regression*, EJS 4, 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cgboost.arrays import Matrix, Vector, blocks_of
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.losses.loss import WeightedLoss

STRATUM = "line"

SQUARES_AT_ONCE = 2**17
"""Entries of X that are squared at once: they stay in the cache (1 MB of float64)."""

FEATURES_IN_BLOCK = 2**13
"""Features in a block: of more a block would be a row or two, and its sums no products."""

SINGULAR = 1e-12
"""A weighted variance this small compared with the second moment is rounding: the feature is
constant. It is a difference of moments, which sums over many rows leave exact to little less."""

SAFETY = 1e-12
"""How much a computed loss may be off, relative to it. Rounding of a sum over many rows leaves
little less; more would only try more features."""

WIDEST = 1e150
"""Features that spread further have squares that may overflow."""

SERIES_BELOW = 1e-3
"""Below this S the quotient (e^{−S} + S − 1)/S² is replaced by ½ − S/6, which is smaller."""


class LineFamily:
    """Evaluates lines together."""

    def outputs(self, X: Matrix, hypotheses: Sequence[Line]) -> Vector:
        """Values of every line, shape (len(X), n_hypotheses)."""
        features = np.array([line.feature for line in hypotheses], dtype=np.intp)
        slopes = np.array([line.slope for line in hypotheses])
        return X[:, features] * slopes + np.array([line.offset for line in hypotheses])


LINES = LineFamily()


@dataclass(frozen=True)
class Line:
    """h(x) = offset + slope·x[feature]."""

    feature: int
    offset: float
    slope: float

    @property
    def family(self) -> LineFamily:
        """All lines form one family."""
        return LINES


@dataclass(frozen=True)
class FittedLines:
    """A fitted line on every feature, in terms of centred features x − centre.

    Attributes
    ----------
    height, slope : ndarray of shape (n_features,)
    drop : ndarray of shape (n_features,)
        Upper bound on how much the loss falls with each.
    """

    height: Vector
    slope: Vector
    drop: Vector


class LinePool:
    """Features, and what lines on them need to know once. X is kept as it is, not copied.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Finite; squares must not overflow.
    """

    def __init__(self, X: ArrayLike) -> None:
        self.X: Matrix = np.asarray(X)
        if self.X.ndim != 2 or not self.X.size or not np.isfinite(self.X).all():
            raise ValueError(f"X must be a finite, non-empty matrix, got shape {self.X.shape}")
        self.centre = self.X.mean(axis=0, dtype=np.float64)
        self.low = self.X.min(axis=0) - self.centre
        self.high = self.X.max(axis=0) - self.centre
        largest = float(np.maximum(self.high, -self.low).max())
        if largest > WIDEST:
            raise ValueError(f"X must not spread over more than {WIDEST:g}, got {largest:g}")

    def moments(self, weights: Vector, response: Vector) -> tuple[Vector, Vector, Vector]:
        """Σ w x, Σ w x² and Σ rx of all centred features, in one pass over X."""
        first, second, product = np.zeros((3, self.X.shape[1]))
        for columns in blocks_of(self.X.shape[1], FEATURES_IN_BLOCK):
            sums = self._moments_of(columns, weights, response)
            first[columns], second[columns], product[columns] = sums
        return first, second, product

    def _moments_of(
        self, columns: slice, weights: Vector, response: Vector
    ) -> tuple[Vector, Vector, Vector]:
        centre = self.centre[columns]
        first, second, product = np.zeros((3, len(centre)))
        step = max(1, SQUARES_AT_ONCE // len(centre))
        scratch = np.empty((min(step, len(self.X)), len(centre)))
        for rows in blocks_of(len(self.X), step):
            block = scratch[: rows.stop - rows.start]
            np.subtract(self.X[rows, columns], centre, out=block)
            first += weights[rows] @ block
            product += response[rows] @ block
            np.multiply(block, block, out=block)
            second += weights[rows] @ block
        return first, second, product

    def line(self, lines: FittedLines, j: int) -> Line:
        """The line on feature j."""
        slope = float(lines.slope[j])
        return Line(j, float(lines.height[j]) - slope * float(self.centre[j]), slope)

    def values(self, line: Line) -> Vector:
        """A line on the training rows."""
        return LINES.outputs(self.X, [line])[:, 0]


class LinePricer(Memoryless):
    """The line in one feature, fitted to the working response, that lowers the loss most.

    For stagewise masters with the step 1 (or a learning rate). It claims nothing: lines with other
    coefficients are not looked at.

    Parameters
    ----------
    pool : LinePool
    loss : WeightedLoss
        The master's loss.
    """

    def __init__(self, pool: LinePool, loss: WeightedLoss) -> None:
        if loss.n_rows != len(pool.X):
            raise ValueError(f"X has {len(pool.X)} rows, the loss has {loss.n_rows}")
        self.pool, self.loss = pool, loss

    def price(self, state: MasterState, limit: int) -> Priced:
        """One line; none where r = 0 or no row has a Newton weight."""
        assert state.curvature is not None
        if limit < 1 or not state.pseudo_response.any() or not state.curvature.any():
            return Priced(columns=[])
        line = self._best(state, self._fitted(state))
        key = (STRATUM, len(state.columns))  # a line may come again: the round is its name
        return Priced(
            columns=[Column(self.pool.values(line), key, line, STRATUM)],
            n_evaluated=len(self.pool.centre),
            stratum=STRATUM,
        )

    def _fitted(self, state: MasterState) -> FittedLines:
        """Weighted least squares on every feature, with weights that sum to 1."""
        assert state.curvature is not None
        counts = state.curvature > 0
        total = float(state.curvature.sum())
        response = np.where(counts, state.pseudo_response, 0.0)
        b, c, e = self.pool.moments(state.curvature / total, response / total)
        d = float(response.sum()) / total
        variance, covariance = c - b**2, e - b * d
        constant = variance <= SINGULAR * c
        slope = np.where(constant, 0.0, covariance / np.where(constant, 1.0, variance))
        height = d - slope * b
        ends = np.abs([height + slope * self.pool.low, height + slope * self.pool.high])
        largest = ends.max(axis=0)
        # rows without a Newton weight have no part in the fit, but in the loss
        unseen = float(np.abs(state.pseudo_response[~counts]).sum())
        gain = total * (d**2 + slope * covariance)
        return FittedLines(height, slope, gain * (1.0 - _bend(2.0 * largest)) + unseen * largest)

    def _best(self, state: MasterState, lines: FittedLines) -> Line:
        """The line of the lowest loss; of equal ones that of the first feature."""
        best, lowest = (np.inf, -1), state.objective - lines.drop
        slack = SAFETY * max(1.0, state.objective)
        for j in np.argsort(lowest, kind="stable").tolist():
            if lowest[j] > best[0] + slack:
                break
            line = self.pool.line(lines, j)
            best = min(best, (self.loss.value(state.output + self.pool.values(line)), j))
        return self.pool.line(lines, best[1])


def _bend(S: Vector) -> Vector:
    """(e^{−S} + S − 1)/S², or slightly less: ½ at 0, and falling."""
    safe = np.maximum(S, SERIES_BELOW)
    return np.where(S < SERIES_BELOW, 0.5 - S / 6.0, (np.expm1(-safe) + safe) / safe**2)
