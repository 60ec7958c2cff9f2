"""Your own penalty: scikit-learn's elastic net, with a weight, over columns.

python examples/own_parts/penalty.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgboost import ColumnGeneration
from cgboost.losses import SupportVectorLoss
from cgboost.masters import SupportVectorMaster
from cgboost.penalties import Penalty
from cgboost.penalties.elastic_net import ElasticNetEntry
from cgboost.penalties.penalty import ray_gain
from cgboost.pricing import FeaturePricer


@dataclass(frozen=True)
class WeightedElasticNet(Penalty):
    """Ω(α) = λ·Σ|α| + ½·μ·Σα²; a solver asks for its two numbers."""

    l1: float
    l2: float

    @property
    def threshold(self):
        """λ: what |h·r| may be at no cost."""
        return self.l1

    @property
    def quadratic(self):
        """μ: (|h·r| − λ)₊ costs its square over 2μ."""
        return self.l2

    def value(self, coef):
        """Ω(α)."""
        return float(self.l1 * np.abs(coef).sum() + 0.5 * self.l2 * coef @ coef)

    def conjugate(self, scores, *, two_sided=True):
        """Ω*(s) = ½Σ(|s| − λ)₊²/μ."""
        size = np.abs(scores) if two_sided else scores
        return 0.5 * float(np.square(np.maximum(size - self.l1, 0.0)).sum()) / self.l2

    def entry(self, *, two_sided, scale=1.0, largest=0.0, noise=0.0):
        """What a score adds to the gap: its part of Ω*."""
        return ElasticNetEntry(two_sided, self.l1, self.l2, scale)

    def bound(self, loss, response, entry, priced, *, offset_score=0.0):
        """gain(t·r) − t²·Ω*(s) for the best t in [0, 1], since Ω*(t·s) ≤ t²·Ω*(s) there."""
        conjugate = priced.total_excess * entry.scale + self.conjugate(np.array([offset_score]))
        return ray_gain(loss, response, 2.0 * conjugate)


def elastic_net(H, y, alpha, l1_ratio):
    """Minimise |y − Hα − b|²/2n + alpha·(l1_ratio·Σ|α_j| + ½(1 − l1_ratio)·Σα_j²)."""
    n = len(y)
    nothing = np.full(n, np.inf)  # the pseudo-response of the squared error has no bounds
    loss = SupportVectorLoss(target=y, lower=-nothing, upper=nothing, curvature=np.full(n, n))
    penalty = WeightedElasticNet(alpha * l1_ratio, alpha * (1.0 - l1_ratio))
    master = SupportVectorMaster(loss, penalty, offset="free")
    return ColumnGeneration(master, FeaturePricer(H), tol=1e-8, columns_per_round=10).run()


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    H = rng.normal(size=(200, 1000))
    y = 3.0 * H[:, 0] - 2.0 * H[:, 1] + rng.normal(size=200)
    for l1_ratio in (0.2, 0.5, 0.9):
        result = elastic_net(H, y, alpha=0.3, l1_ratio=l1_ratio)
        used = np.count_nonzero(np.abs(result.coef) > 1e-9)
        print(f"l1_ratio {l1_ratio}: {used} of 1000 columns, gap {result.gap:.0e}")
