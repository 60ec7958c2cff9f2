"""The entropy-regularised master against its dual, solved as a whole."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.generation import ColumnGeneration
from cgboost.losses import hinge, nu_hinge
from cgboost.masters import EntropyMaster
from cgboost.pricing import FeaturePricer
from tests.problems import random_problem

NU, ETA = 0.4, 8.0


def dual_optimum(H: np.ndarray, labels: np.ndarray, price: np.ndarray, balanced: bool) -> float:
    """−min over u of max_j |h_j·(y u)| + (1/η) Σ u log(u/ū), 0 ≤ u ≤ price, Σu = ν·Σ price."""
    mass = NU * price.sum()
    u = cp.Variable(len(labels), nonneg=True)
    spread = mass * price / price.sum()
    limits = [cp.sum(u) == mass, u <= price]
    if balanced:
        limits.append(labels @ u == 0)
    cost = cp.norm_inf((H * labels[:, None]).T @ u) + cp.sum(cp.kl_div(u, spread)) / ETA
    problem = cp.Problem(cp.Minimize(cost), limits)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    return -float(problem.value)


@pytest.mark.parametrize("offset", ["none", "free"])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_reaches_the_full_problem_with_valid_bounds(offset: str, seed: int) -> None:
    """The loop reaches the optimum of the whole dual; bound ≤ optimum ≤ objective every round."""
    problem = random_problem(seed)
    labels = np.where(np.arange(len(problem.target)) % 2, 1.0, -1.0)
    price = np.where(problem.price > np.median(problem.price), 1.5, 1.0)
    loss = nu_hinge(labels, price, NU, balanced=offset == "free")
    master = EntropyMaster(loss, eta=ETA, offset=offset)
    result = ColumnGeneration(master, FeaturePricer(problem.H), tol=1e-7, columns_per_round=3).run()
    optimum = dual_optimum(problem.H, labels, price, offset == "free")
    slack = 1e-6 * max(1.0, abs(optimum))
    assert result.objective == pytest.approx(optimum, rel=1e-6, abs=1e-6)
    assert np.all(result.history["objective"] >= optimum - slack)
    assert np.all(result.history["bound"] <= optimum + slack)


def test_refuses_other_losses() -> None:
    """Without a margin of its own there is no distribution over the rows to regularise."""
    labels = np.array([-1.0, 1.0])
    with pytest.raises(ValueError, match="needs a loss with an exact mass"):
        EntropyMaster(hinge(labels, np.ones(2)), eta=1.0)
    with pytest.raises(ValueError, match="eta must be positive and finite, got 0"):
        EntropyMaster(nu_hinge(labels, np.ones(2), 0.5, balanced=False), eta=0)
