"""Your own master: the lasso, min ½‖y − Hα‖² + λΣ|α|, with its dual bound.

python examples/own_parts/master.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cgboost import ColumnGeneration
from cgboost.generation import MasterState
from cgboost.pricing import FeaturePricer
from solvers import Program, solve


@dataclass(frozen=True)
class LassoEntry:
    """A column outside the master helps when |r·h| > λ."""

    penalty: float
    two_sided: bool = True
    additive: ClassVar[bool] = False  # the bound below rests on the largest excess, not on the sum

    def excess(self, scores):
        """By how much, relative to λ."""
        return np.maximum(np.abs(scores) / self.penalty - 1.0 - 1e-9, 0.0)

    def settled(self, score):
        """The nearest score at which the column no longer helps."""
        return float(np.clip(score, -self.penalty, self.penalty))


class LassoMaster:
    """Restricted lasso; its pseudo-response r = y − Hα is the residual."""

    def __init__(self, y, penalty):
        self.y, self.penalty = y, penalty
        self.columns = []

    def add(self, columns):
        """Take new columns."""
        self.columns += columns

    def solve(self, *, time_limit=None):
        """α = p − q with p, q ≥ 0: a quadratic program in twice as many variables."""
        H = np.array([column.values for column in self.columns]).reshape(-1, len(self.y)).T
        coef = self._minimise(H) if self.columns else np.zeros(0)
        output = H @ coef
        r = self.y - output
        objective = 0.5 * r @ r + self.penalty * np.abs(coef).sum()
        entry = LassoEntry(self.penalty)
        return MasterState(self.columns, coef, 0.0, output, r, objective, np.abs(r), entry)

    def bound(self, state, priced):
        """Dual value at r/τ: dual points are the v with |v·h| ≤ λ for every column there is."""
        v = state.pseudo_response / (1.0 + 1e-9 + priced.max_excess)
        return float(v @ self.y - 0.5 * v @ v)

    def _minimise(self, H):
        gram, score = H.T @ H, H.T @ self.y
        program = Program(
            cost=self.penalty - np.concatenate([score, -score]),
            quadratic=np.block([[gram, -gram], [-gram, gram]]),
        )
        plus, minus = np.split(solve(program).x, 2)
        return plus - minus


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    H = rng.normal(size=(200, 5000))
    y = H[:, :5].sum(axis=1) + 0.1 * rng.normal(size=200)
    loop = ColumnGeneration(LassoMaster(y, 20.0), FeaturePricer(H), tol=1e-6, columns_per_round=5)
    print(loop.run().summary())
