"""Sparse linear models on random problems, against the whole linear program and CVXPY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from cgboost import SparseLinearClassifier, SparseLinearRegressor
from cgboost.losses import (
    AbsoluteError,
    EpsilonInsensitive,
    Hinge,
    Huber,
    LogLoss,
    Loss,
    Quantile,
    SquaredError,
    SquaredHinge,
)
from tests.problems import least

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

LINEAR: list[Loss] = [Quantile(0.2), AbsoluteError(), EpsilonInsensitive(0.3), Hinge()]
CURVED: list[Loss] = [Huber(0.8), SquaredError(), SquaredHinge(), LogLoss()]

EXACT = 1e-7
"""Of the optimum, for losses and penalties that are piecewise linear."""

CURVED_EXACT = 1e-6
"""For the others: what the solvers of curved restricted problems reach."""


@dataclass(frozen=True)
class Problem:
    """A random problem: every choice there is, drawn by its seed."""

    seed: int
    loss: Loss
    ratio: float
    X: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray
    penalty_weights: np.ndarray
    strength: float
    is_sparse: bool
    standardize: bool
    positive: bool
    fit_intercept: bool

    @classmethod
    def draw(cls, seed: int, loss: Loss, ratio: float) -> Problem:
        """Shapes on both sides of n = p, different scales, heavy tails, zeros, free features."""
        rng = np.random.default_rng([seed, int(10 * ratio), *loss.name.encode()])
        n, p = int(rng.integers(8, 60)), int(rng.integers(2, 60))
        X = rng.normal(size=(n, p)) * np.exp(rng.normal(size=p)) + rng.normal(size=p)
        X[rng.random(X.shape) < rng.choice([0.0, 0.6])] = 0.0
        y = 2.0 * X[:, 0] - X[:, 1] + rng.standard_t(3, size=n)
        if loss.classification:
            y = np.where(y > np.median(y), 1.0, -1.0)
        weights = rng.choice([np.ones(n), rng.uniform(0.0, 2.0, n) * (np.arange(n) % 4 > 0)])
        free = (np.arange(p) < min(3, n // 8)) & (seed % 3 == 0) & (not loss.classification)
        return cls(
            seed,
            loss,
            ratio,
            X,
            y,
            weights,
            np.where(free, 0.0, rng.choice([np.ones(p), rng.uniform(0.3, 3.0, p)])),
            float(10 ** rng.uniform(-2.0, -0.5)),
            *(bool(value) for value in rng.integers(0, 2, 2)),
            bool(rng.integers(0, 2)) and not free.any(),
            bool(rng.integers(0, 2)),
        )

    @property
    def exact(self) -> bool:
        """Whether the problem is a linear program."""
        return self.ratio == 1.0 and self.loss in LINEAR

    @property
    def price(self) -> float:
        """Of the penalty: α of the regressor, 1 for the classifier."""
        return 1.0 if self.loss.classification else self.strength

    @property
    def costs(self) -> np.ndarray:
        """What one unit of loss costs, row by row."""
        if self.loss.classification:
            return self.sample_weight / self.strength / 30.0
        return self.sample_weight / self.sample_weight.sum()

    def fitted(self) -> Any:
        """Our model."""
        own: dict[str, Any] = {
            "loss": self.loss,
            "penalty": "elasticnet",
            "l1_ratio": self.ratio,
            "penalty_weights": self.penalty_weights,
            "positive": self.positive,
            "fit_intercept": self.fit_intercept,
            "standardize": self.standardize,
            "tol": 1e-8,
        }
        if self.loss.classification:
            model: Any = SparseLinearClassifier(C=1.0 / self.strength / 30.0, **own)
        else:
            model = SparseLinearRegressor(alpha=self.strength, **own)
        X = sparse.csc_matrix(self.X) if self.is_sparse else self.X
        return model.fit(X, self.y, self.sample_weight)

    def features(self) -> np.ndarray:
        """The features, standardised if they are to be."""
        if not self.standardize:
            return self.X
        means = np.average(self.X, axis=0, weights=self.sample_weight)
        deviations = np.sqrt(np.average((self.X - means) ** 2, axis=0, weights=self.sample_weight))
        moves = deviations > 1e-12
        return np.where(moves, self.X - means, self.X) / np.where(moves, deviations, 1.0)

    def optimum(self) -> float:
        """Of the whole problem, by CVXPY."""
        beta, b = cp.Variable(self.X.shape[1], nonneg=self.positive), cp.Variable()
        f = cp.Variable(len(self.y))  # CVXPY 1.9 takes products of expressions for 0
        is_output = [f == self.features() @ beta + (b if self.fit_intercept else 0.0)]
        if isinstance(self.loss, LogLoss):
            f = f / 2.0
        charged = cp.multiply(self.penalty_weights, beta)
        penalty = self.ratio * cp.norm1(charged)
        if self.ratio < 1.0:
            penalty += 0.5 * (1.0 - self.ratio) * cp.sum_squares(charged)
        loss = self.costs @ self.loss.to_cvxpy(self.y, f)
        return least(self.price * penalty + loss, is_output)

    def value_of(self, model: Any) -> float:
        """The objective, of the coefficients and predictions of our model."""
        f = model._outputs(self.X)[:, 0]
        f = f / 2.0 if isinstance(self.loss, LogLoss) else f
        scale = np.ones(self.X.shape[1])
        if self.standardize:
            means = np.average(self.X, axis=0, weights=self.sample_weight)
            squares = np.average((self.X - means) ** 2, axis=0, weights=self.sample_weight)
            scale = np.where(squares > 1e-24, np.sqrt(squares), 1.0)
        charged = self.penalty_weights * scale * np.ravel(model.coef_)
        penalty = self.ratio * np.abs(charged).sum() + 0.5 * (1 - self.ratio) * charged @ charged
        return float(self.price * penalty + self.costs @ self.loss.value(self.y, f))


@pytest.mark.parametrize(
    ("loss", "ratio"),
    [(loss, ratio) for loss in LINEAR + CURVED for ratio in (1.0, 0.6)],
    ids=str,
)
@pytest.mark.parametrize("seed", range(8))
def test_another_solver_has_the_same_optimum(loss: Loss, ratio: float, seed: int) -> None:
    """Objective to 1e-7, or 1e-6 where it is curved; the bound is below, the model has it."""
    problem = Problem.draw(seed, loss, ratio)
    model, best = problem.fitted(), problem.optimum()
    size = max(abs(best), 1e-3)
    assert abs(model.objective_ - best) <= (EXACT if problem.exact else CURVED_EXACT) * size
    assert model.dual_bound_ <= best + (1e-9 if problem.exact else 1e-8) * size
    assert problem.value_of(model) == pytest.approx(model.objective_, rel=1e-8, abs=1e-11)


def test_the_problems_have_every_choice() -> None:
    """Among the random problems are all values of all choices, and pairs of them."""
    problems = [Problem.draw(seed, loss, 1.0) for loss in LINEAR for seed in range(8)]
    names = ("is_sparse", "standardize", "positive", "fit_intercept")
    seen = {tuple(getattr(problem, name) for name in names) for problem in problems}
    for i in range(4):
        for j in range(i):
            assert len({(choice[i], choice[j]) for choice in seen}) == 4
    assert {bool(np.ptp(problem.sample_weight)) for problem in problems} == {True, False}
    assert {bool(np.ptp(problem.penalty_weights)) for problem in problems} == {True, False}
    assert {problem.X.shape[0] > problem.X.shape[1] for problem in problems} == {True, False}
