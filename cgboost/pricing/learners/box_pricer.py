"""Pricing of features for several outputs that must not cross in a box.

A feature z, mapped to [−1, 1], with coefficients γ_1, …, γ_K for the outputs is worth

    Σ_k γ_k (z·r_k) − limit Σ_k |γ_k|  −  Σ_k μ_k |γ_{k+1} − γ_k|,        μ_k = Σ_{l ≤ k} Σ_i r_il,

since a difference of neighbours takes room from them at the price μ_k. Both sums of absolute values
are sums over the level sets of γ⁺ and γ⁻ (coarea formula), which are unions of runs of outputs. The
best feature therefore has one coefficient for the outputs a, …, b, and none for the others, and the
score of a feature is the largest

    [|Σ_{a ≤ k ≤ b} z·r_k| − μ_{a−1} − μ_b] / (b − a + 1),        μ_0 = μ_K = 0.

With scores up to the limit there are t_k, |t_k| ≤ μ_k, with |z·r_k + t_{k−1} − t_k| ≤ limit: the
dual is feasible for the feature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.pricing.learners.joint_pricer import OutputRowPairs
from cgboost.pricing.univariate.feature_pricer import STRATUM, FeaturePool


class BoxPricer(Memoryless):
    """Finds features for all outputs of a ``BoxMaster`` (`cgboost.masters.quantiles`).

    Parameters
    ----------
    free : ndarray of int
        The features without a penalty, which the master has.
    """

    def __init__(self, pairs: OutputRowPairs, pool: FeaturePool, free: Indices) -> None:
        self.pairs, self.pool, self.free = pairs, pool, free
        least, most = ((own - pool.centres) / pool.scales for own in pool.matrix.extremes)
        self._middle, self._half = 0.5 * (least + most), 0.5 * np.abs(most - least)

    def price(self, state: MasterState, limit: int) -> Priced:
        """The features of the largest scores, with columns for all outputs."""
        rule, held = state.rule, [column.hypothesis.index for column in state.columns]  # type: ignore[union-attr]
        responses = self.pairs.fold(state.pseudo_response).T
        excess = rule.excess(self._scores(responses, two_sided=rule.two_sided))
        excess[self.free] = 0.0
        wanted = excess.copy()
        wanted[held] = 0.0
        best = np.argsort(-wanted, kind="stable")[: -(-limit // self.pairs.n_outputs)]
        columns = self.columns(best[wanted[best] > 0])
        return Priced(
            columns=columns,
            exact=True,
            max_excess=float(excess.max(initial=0.0)),
            total_excess=float(excess.sum()),
            n_evaluated=len(excess),
            stratum=STRATUM if columns else "",
        )

    def columns(self, features: Indices) -> list[Column]:
        """Features, each for all outputs."""
        own = self.pool.columns([0] * len(features), features.tolist())
        outputs = range(self.pairs.n_outputs)
        return [self.pairs.column(feature, k, STRATUM) for feature in own for k in outputs]

    def _scores(self, responses: NDArray[Any], *, two_sided: bool) -> Vector:
        """The score of each feature, with what rounding may add."""
        sums = responses.sum(axis=0)
        scores = self.pool.all_scores(responses) - np.outer(self._middle, sums)
        rounding = self.pool.errors(None, responses).sum(axis=1)
        mu = np.concatenate([[0.0], np.maximum(np.cumsum(sums)[:-1], 0.0), [0.0]])
        before = np.concatenate([np.zeros((len(scores), 1)), np.cumsum(scores, axis=1)], axis=1)
        best = np.full(len(scores), -np.inf)
        for start in range(len(sums)):
            ends = np.arange(start + 1, len(sums) + 1)
            runs = before[:, ends] - before[:, start, None]
            runs = np.abs(runs) if two_sided else runs
            runs -= np.outer(self._half, mu[start] + mu[ends])
            best = np.maximum(best, ((runs + rounding[:, None]) / (ends - start)).max(axis=1))
        return best
