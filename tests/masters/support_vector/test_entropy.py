"""The entropy-regularised master against its dual, solved as a whole."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.losses import entropic_nu_hinge, hinge
from cgboost.masters import EntropyMaster
from cgboost.pricing import FeaturePricer
from tests.effort import examples
from tests.problems import random_problem

NU, ETA = 0.4, 8.0


def dual_optimum(
    H: np.ndarray, labels: np.ndarray, price: np.ndarray, coef: str, offset: str
) -> float:
    """−min over u of max_j |h_j·(y u)| + (1/η) Σ u log(u/ū), 0 ≤ u ≤ price, Σu = ν·Σ price."""
    mass = NU * price.sum()
    u = cp.Variable(len(labels), nonneg=True)
    limits = [cp.sum(u) == mass, u <= price]
    edges = (H * labels[:, None]).T @ u
    largest = cp.norm_inf(edges) if coef == "free" else cp.max(cp.pos(edges))
    if offset == "free":
        limits.append(labels @ u == 0)
    if offset == "penalized":
        largest = cp.maximum(largest, cp.abs(labels @ u))
    cost = largest + cp.sum(cp.kl_div(u, mass * price / price.sum())) / ETA
    problem = cp.Problem(cp.Minimize(cost), limits)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    return -float(problem.value)


@pytest.mark.parametrize("coef", ["free", "nonneg"])
@pytest.mark.parametrize("offset", ["none", "penalized", "free"])
@settings(max_examples=examples(4))
@given(seed=st.integers(0, 10**6))
def test_reaches_the_full_problem_with_valid_bounds(coef: str, offset: str, seed: int) -> None:
    """The loop reaches the optimum of the whole dual; bound ≤ optimum ≤ objective every round."""
    problem = random_problem(seed)
    labels = np.where(np.arange(len(problem.target)) % 2, 1.0, -1.0)
    price = np.where(problem.price > np.median(problem.price), 1.5, 1.0)
    loss = entropic_nu_hinge(labels, price, NU, eta=ETA, balanced=offset == "free")
    master = EntropyMaster(loss, coef=coef, offset=offset)
    result = ColumnGeneration(master, FeaturePricer(problem.H), tol=1e-7, columns_per_round=3).run()
    optimum = dual_optimum(problem.H, labels, price, coef, offset)
    slack = 1e-6 * max(1.0, abs(optimum))
    assert result.objective == pytest.approx(optimum, rel=1e-6, abs=1e-6)
    assert result.gap <= 1e-6
    assert np.all(result.history["objective"] >= optimum - slack)
    assert np.all(result.history["bound"] <= optimum + slack)


def test_refuses_other_losses() -> None:
    """Without the entropy there is nothing smooth to take Newton steps on."""
    labels = np.array([-1.0, 1.0])
    with pytest.raises(ValueError, match="needs an EntropicLoss, got a SupportVectorLoss"):
        EntropyMaster(hinge(labels, np.ones(2)))
    with pytest.raises(ValueError, match="eta must be positive and finite, got 0"):
        entropic_nu_hinge(labels, np.ones(2), 0.5, eta=0, balanced=False)


def test_time_runs_out_between_newton_steps() -> None:
    """The run ends with the reason and keeps its last round."""
    problem = random_problem(5)
    labels = np.where(np.arange(len(problem.target)) % 2, 1.0, -1.0)
    loss = entropic_nu_hinge(labels, np.ones(len(labels)), NU, eta=1e4, balanced=False)
    master = EntropyMaster(loss, offset="none")
    master.add([Column(values, ("h", k)) for k, values in enumerate(problem.H.T)])
    with pytest.raises(MasterError, match="ran out of time") as raised:
        master.solve(time_limit=0.0)
    assert raised.value.timed_out
