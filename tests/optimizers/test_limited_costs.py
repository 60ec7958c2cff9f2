"""Huge prices: limited ones have the same optimum, or a bound that holds all the same."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import cgboost.optimizers.reductions.limited_costs as growing
from cgboost import RBF, CGBoostClassifier, ColumnGeneration, LPBoostClassifier
from cgboost.generation.history import Result
from cgboost.losses import hinge, nu_hinge
from cgboost.masters import OneNormMaster, TwoNormMaster
from cgboost.optimizers.interior_point.interior_session import InteriorSession
from cgboost.optimizers.reductions.limited_costs import GrowingCosts, may_be_limited
from cgboost.optimizers.restricted_dual import RestrictedDual
from cgboost.penalties import L1, L1Ball
from cgboost.penalties.penalty import DualForm
from cgboost.pricing import FeaturePricer
from solvers import SolverFailure
from tests.effort import examples


def separable(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Forty rows that a combination of ten columns separates."""
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(40, 10))
    labels = np.sign(H @ rng.normal(size=10))
    return H, labels


def hard_margin(H: np.ndarray, labels: np.ndarray) -> float:
    """Least ‖α‖₁ with all margins at least 1, by HiGHS."""
    signed = labels[:, None] * np.column_stack([H, -H, np.ones(len(H)), -np.ones(len(H))])
    cost = np.append(np.ones(2 * H.shape[1]), np.zeros(2))
    return float(linprog(cost, A_ub=-signed, b_ub=-np.ones(len(H))).fun)


def run(kind: Any, H: np.ndarray, labels: np.ndarray, price: float, **options: Any) -> Result:
    """Column generation to a gap of 1e-6."""
    loss = hinge(labels, np.full(len(labels), price))
    master = kind(loss, **options)
    return ColumnGeneration(master, FeaturePricer(H), tol=1e-6, columns_per_round=3).run()


@pytest.mark.parametrize("price", [1e4, 1e8, 1e12, 1e20, 1e100])
@pytest.mark.parametrize("solver", ["auto", "highs"])
def test_any_price_of_rows_that_can_be_served_gives_the_hard_margin(
    price: float, solver: str
) -> None:
    """The optimum is that of the problem without errors, certified, whatever the price."""
    H, labels = separable()
    result = run(OneNormMaster, H, labels, price, solver=solver)
    assert result.gap <= 1e-6
    assert result.objective == pytest.approx(hard_margin(H, labels), rel=2e-6)


@pytest.mark.parametrize("price", [1e8, 1e12, 1e20])
def test_under_squares_a_huge_price_changes_nothing(price: float) -> None:
    """The 2-norm optimum is the one at a price of 1e5, which no row pays."""
    H, labels = separable()
    plain = run(TwoNormMaster, H, labels, 1e5)
    result = run(TwoNormMaster, H, labels, price)
    assert max(plain.gap, result.gap) <= 1e-6
    assert result.objective == pytest.approx(plain.objective, rel=3e-6)


@settings(max_examples=examples(20))
@given(seed=st.integers(0, 10**6), exponent=st.integers(3, 9))
def test_the_limit_grows_to_the_price_where_rows_cannot_be_served(seed: int, exponent: int) -> None:
    """With contradicting rows, the optimum is that without limits, found over several limits."""
    H, labels = separable(seed)
    H[1], labels[1] = H[0], -labels[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "FIRST_LIMIT", 10.0)
        limited = run(OneNormMaster, H, labels, 10.0**exponent)
    plain = run(OneNormMaster, H, labels, 10.0**exponent)
    assert limited.objective == pytest.approx(plain.objective, rel=1e-6)
    assert limited.gap <= 1e-5
    assert limited.bound <= plain.objective * (1 + 1e-9)


def test_where_no_solver_goes_on_a_lower_limit_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that fails at prices above 10 still gives the model of a price of 10 or less."""
    H, labels = separable()
    solve = RestrictedDual.solve

    def failing(self: RestrictedDual, *limits: Any) -> Any:
        if self.variables.costs.max() > 10.0 and len(self.session.constraints) > 1:
            raise SolverFailure("no progress")
        return solve(self, *limits)

    monkeypatch.setattr(RestrictedDual, "solve", failing)
    result = run(OneNormMaster, H, labels, 100.0)
    assert result.objective == pytest.approx(hard_margin(H, labels), rel=2e-6)
    assert result.gap <= 1e-6


def test_what_is_not_limited() -> None:
    """A margin of the loss's own, a ball, and usual prices: at C = 100 nothing changes."""
    labels, price = np.array([1.0, -1.0]), np.ones(2)
    assert may_be_limited(hinge(labels, price), DualForm(L1()))
    assert not may_be_limited(hinge(labels, price), DualForm(L1Ball()))
    assert not may_be_limited(nu_hinge(labels, price, 0.5, balanced=False), DualForm(L1()))
    dual = GrowingCosts(hinge(labels, np.full(2, 100.0)), DualForm(L1()), InteriorSession)
    assert not dual.is_limited
    assert dual.loss.upper.max() == 100.0


@pytest.mark.parametrize("C", [1e8, 1e15, 1e20])
def test_estimators_take_any_price(C: float) -> None:
    """Kernel and stump models at a huge C are proven, and no constants."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 4))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=80) > 0, 1, -1)
    for model in (
        CGBoostClassifier(RBF(0.5), C=C),
        CGBoostClassifier(RBF(0.5), C=C, penalty="l2"),
        LPBoostClassifier(C=C),
    ):
        model.fit(X, y)
        assert model.converged_, model
        assert model.score(X, y) == 1.0
