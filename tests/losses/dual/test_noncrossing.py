"""Pinball losses of outputs that must not cross: their dual, and what makes points feasible."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from cgboost.losses import Quantile
from cgboost.losses.dual.noncrossing import NoncrossingLoss
from tests.effort import examples

QUANTILES = np.array([0.1, 0.3, 0.5, 0.85])


def random_loss(seed: int) -> tuple[NoncrossingLoss, np.random.Generator]:
    """Nine rows, one of which costs nothing."""
    rng = np.random.default_rng(seed)
    cost = rng.uniform(0.1, 2.0, size=9)
    cost[4] = 0.0
    return NoncrossingLoss.of(rng.normal(size=9), cost, QUANTILES), rng


def split_exists(loss: NoncrossingLoss, response: np.ndarray) -> bool:
    """Whether λ ≥ 0 and r in the boxes have ρ_k = r_k − λ_k + λ_{k−1}, row by row."""
    rho = response.reshape(loss.n_outputs, -1)
    lower, upper = loss.lower.reshape(rho.shape), loss.upper.reshape(rho.shape)
    moves = np.zeros((loss.n_outputs, loss.n_outputs - 1))
    for k in range(loss.n_outputs - 1):
        moves[k, k], moves[k + 1, k] = 1.0, -1.0
    for i in range(rho.shape[1]):
        fits = linprog(
            np.zeros(loss.n_outputs - 1),
            A_ub=np.vstack([moves, -moves]),
            b_ub=np.append(upper[:, i] - rho[:, i], rho[:, i] - lower[:, i]) + 1e-9,
        )
        if fits.status != 0:
            return False
    return True


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6))
def test_the_value_is_that_of_pinball_losses_where_nothing_crosses(seed: int) -> None:
    """Sorted outputs cost what each quantile's own loss says."""
    loss, rng = random_loss(seed)
    output = np.sort(rng.normal(size=(4, 9)), axis=0)
    own = [
        loss.cost @ Quantile(q).value(loss.target[:9], f)
        for q, f in zip(QUANTILES, output, strict=True)
    ]
    assert loss.value(output.ravel()) == pytest.approx(sum(own))


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6))
def test_multipliers_are_the_adjoint_of_crossings(seed: int) -> None:
    """Σ rate(f)·u − gain·u = −f·ρ(u), for every f and u."""
    loss, rng = random_loss(seed)
    variables = loss.variables
    u, f = rng.uniform(size=len(variables)), rng.normal(size=loss.n_rows)
    assert (variables.rate(f) - variables.linear()) @ u == pytest.approx(-f @ variables.response(u))


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6))
def test_balanced_responses_are_feasible(seed: int) -> None:
    """They add up to 0 for every output, and are responses of boxes, moved by multipliers."""
    loss, rng = random_loss(seed)
    u = rng.uniform(-0.1, 1.1, size=len(loss.variables)) * loss.variables.costs
    u[loss.variables.crossing] *= rng.choice([0.0, 0.01, 1.0])
    response = loss.balanced_response(u)
    assert response.reshape(4, -1).sum(axis=1) == pytest.approx(np.zeros(4), abs=1e-9)
    assert split_exists(loss, response)


def test_feasible_variables_are_kept() -> None:
    """Where the sums are right, the balanced response is that of the variables."""
    loss = NoncrossingLoss.of(np.arange(4.0), np.ones(4), np.array([0.25, 0.5]))
    variables, u = loss.variables, np.zeros(len(loss.variables))
    u[variables.crossing] = [0.0, 0.1, 0.2, 0.0]
    boxes = np.arange(len(u)) < variables.n_boxes
    for row, sign, value in ((2, 1, 0.1), (3, 1, 0.2), (4, -1, 0.3)):
        u[boxes & (variables.row == row) & (variables.sign == sign)] = value
    assert loss.balanced_response(u) == pytest.approx(variables.response(u))


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6))
def test_a_bound_on_multipliers(seed: int) -> None:
    """No balanced r in the boxes asks for multipliers of a larger sum than Λ_k."""
    loss, _ = random_loss(seed)
    total = float(loss.cost.sum())
    for k, most in enumerate(loss.most_crossing):
        sums = linprog(
            -np.append(np.ones(k + 1), np.zeros(3 - k)),
            A_eq=np.ones((1, 4)),
            b_eq=[0.0],
            bounds=list(zip((QUANTILES - 1) * total, QUANTILES * total, strict=True)),
        )
        assert -sums.fun == pytest.approx(most)


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6))
def test_uncrossed_offsets(seed: int) -> None:
    """Nothing crosses on rows that cost anything, and offsets that need not move stay."""
    loss, rng = random_loss(seed)
    output, intercept = rng.normal(size=(4, 9)), rng.normal(size=4)
    moved = loss.uncrossed(output.ravel(), intercept)
    after = output + (moved - intercept)[:, None]
    assert np.diff(after[:, loss.cost > 0], axis=0).min() >= -1e-12
    assert loss.uncrossed(after.ravel(), moved) == pytest.approx(moved, abs=1e-12)
