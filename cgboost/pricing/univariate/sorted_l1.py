"""The sorted 1-norm (SLOPE, OSCAR) as a 1-norm over signed sums of features.

    Ω(α) = Σ_i λ_i |α|_(i),   |α|_(1) ≥ |α|_(2) ≥ …,   λ_1 ≥ λ_2 ≥ … ≥ 0

is no sum over coefficients, but the gauge of a polytope: with Λ_k = λ_1 + … + λ_k its unit ball is
the convex hull of the vectors ±1/Λ_k on k features, 0 elsewhere (Zeng, Figueiredo, *The atomic norm
formulation of OSCAR regularization*, IEEE GlobalSIP 2014). So that

    Ω(α) = min Σβ   over   α = Σ_S β_S σ_S/Λ_|S|,  β ≥ 0

and a column is the sum of the features in S with their signs σ, over Λ_|S|. The best score r·h of
all of them is the dual norm of the features' scores s,

    max_k (|s|_(1) + … + |s|_(k))/Λ_k,

found by sorting: pricing is exact, and masters of the 1-norm certify the model. (Bogdan, van den
Berg, Sabatti, Su, Candès, *SLOPE: adaptive variable selection via convex optimization*, Annals of
Applied Statistics 9, 2015; Bondell, Reich, Biometrics 64, 2008, for OSCAR.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.pricing.univariate.feature_pricer import FeaturePool, dense_columns


class SignedSumFamily:
    """Evaluates signed sums together."""

    def outputs(self, X: Any, hypotheses: Sequence[SignedSum]) -> Vector:
        """Shape (n_rows, n_hypotheses)."""
        sums = [dense_columns(X, h.features) @ np.array(h.slopes) for h in hypotheses]
        return np.stack(sums, axis=1)


SIGNED_SUMS = SignedSumFamily()


@dataclass(frozen=True)
class SignedSum:
    """h(x) = Σ_j slope_j x_j over some features, with slopes of one size."""

    features: tuple[int, ...]
    slopes: tuple[float, ...]

    @property
    def family(self) -> SignedSumFamily:
        """All signed sums form one family."""
        return SIGNED_SUMS


class SortedL1Pricer:
    """Finds the signed sums of features that a sorted 1-norm is made of, by sorting scores.

    For masters of the 1-norm, ``OneNormMaster(loss.on(y, weights), coef="nonneg")``.
    :meth:`coefficients` has those of the features.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
    weights : array-like of shape (n_features,)
        λ: not increasing, at least 0, the first one positive. Of OSCAR they fall by the same from
        one to the next.
    positive : bool, default=False
        Whether the coefficients of features must be at least 0.

    Examples
    --------
    OSCAR, whose coefficients of correlated features become equal:

    >>> import numpy as np
    >>> from cgboost import ColumnGeneration
    >>> from cgboost.losses import SquaredError
    >>> from cgboost.masters import OneNormMaster
    >>> from cgboost.pricing import SortedL1Pricer
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(rng.normal(size=(50, 2)), 3, axis=1) + 0.1 * rng.normal(size=(50, 6))
    >>> y = X[:, :3].sum(axis=1)
    >>> pricer = SortedL1Pricer(X, weights=5.0 + np.arange(6)[::-1])
    >>> master = OneNormMaster(SquaredError().on(y, np.ones(50)), coef="nonneg", offset="free")
    >>> result = ColumnGeneration(master, pricer, tol=1e-6).run()
    >>> coef = pricer.coefficients(result.columns, result.coef)
    >>> bool(np.ptp(coef[:3]) < 1e-9), bool(np.abs(coef[3:]).max() < 1e-9), result.gap <= 1e-6
    (True, True, True)
    """

    def __init__(self, X: Any, weights: ArrayLike, *, positive: bool = False) -> None:
        self._features = FeaturePool(X)
        self.positive = positive
        self.weights = np.asarray(weights, dtype=np.float64)
        count = self._features.size(0)
        if self.weights.shape != (count,):
            raise ValueError(
                f"weights must be one for each of {count} features, got shape {self.weights.shape}"
            )
        falls = np.isfinite(self.weights).all() and bool((np.diff(self.weights) <= 0).all())
        if not (falls and self.weights[-1] >= 0 and self.weights[0] > 0):
            raise ValueError(
                "weights must not increase, be finite and at least 0, and the first one positive"
            )
        self._sums = np.cumsum(self.weights)

    def price(self, state: MasterState, limit: int) -> Priced:
        """The sums with the largest score among those of one feature less and one more."""
        if len(state.pseudo_response) != (count := self._features.matrix.shape[0]):
            raise ValueError(
                f"the master has {len(state.pseudo_response)} rows, and X of the pricer {count}"
            )
        scores = self._features.all_scores(state.pseudo_response)
        size = np.maximum(scores, 0.0) if self.positive else np.abs(scores)
        order = np.argsort(-size, kind="stable")
        errors = self._features.errors(None, state.pseudo_response)[order]
        shares = np.cumsum(size[order]) / self._sums
        excess = state.rule.excess(np.cumsum(size[order] + errors) / self._sums)
        beyond = np.concatenate([[-np.inf], shares, [-np.inf]])
        peaks = (shares >= beyond[:-2]) & (shares >= beyond[2:]) & (state.rule.excess(shares) > 0)
        best = np.flatnonzero(peaks)
        best = best[np.argsort(-shares[best], kind="stable")][:limit]
        columns = tuple(self._column(order[: k + 1], scores) for k in best.tolist())
        return Priced(
            columns,
            exact=True,
            max_excess=float(excess.max()),
            total_excess=np.inf if excess.max() > 0 else 0.0,  # of 3ⁿ sums
            n_evaluated=len(scores),
        )

    def _column(self, features: Indices, scores: Vector) -> Column:
        features = np.sort(features[scores[features] != 0.0])
        slopes = np.sign(scores[features]) / self._sums[len(features) - 1]
        sums = SignedSum(tuple(features.tolist()), tuple(slopes.tolist()))
        nothing = np.zeros(len(features), dtype=np.intp)
        values = slopes @ np.asarray(self._features.values_on(nothing, features, None))
        return Column(values, sums, sums, stratum="signed sum")

    def coefficients(self, columns: Sequence[Column], coef: Vector) -> Vector:
        """The coefficients α of the features, shape (n_features,)."""
        alpha = np.zeros(len(self.weights))
        for column, value in zip(columns, coef, strict=True):
            sums = column.hypothesis
            assert isinstance(sums, SignedSum)
            alpha[list(sums.features)] += value * np.array(sums.slopes)
        return alpha

    def penalty(self, coef: Vector) -> float:
        """Ω(α) = Σ_i λ_i |α|_(i)."""
        return float(self.weights @ np.sort(np.abs(coef))[::-1])
