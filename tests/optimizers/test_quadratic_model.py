"""Quadratics plus a weighted 1-norm: the conditions of the optimum hold, from any start."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import cho_factor

from cgboost.optimizers.newton import quadratic_model
from cgboost.optimizers.newton.quadratic_model import minimise
from solvers import LimitError, Status


def violation(Q: np.ndarray, c: np.ndarray, charge: np.ndarray, x: np.ndarray, positive) -> float:
    """How far x is from the conditions of the optimum."""
    slope = Q @ x + c
    at_zero = np.maximum(np.where(positive, -slope, np.abs(slope)) - charge, 0.0)
    return float(np.abs(np.where(x != 0, slope + charge * np.sign(x), at_zero)).max())


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 40),
    n_rows=st.integers(1, 60),
    share=st.sampled_from([0.0, 0.01, 0.3, 2.0]),
    sign=st.sampled_from(["free", "positive", "mixed"]),
)
def test_gradients_are_at_their_charges_or_below(
    seed: int, n: int, n_rows: int, share: float, sign: str
) -> None:
    """Where x is not 0 the gradient is −λ·sign, elsewhere |gradient| ≤ λ; x ≥ 0 where asked for."""
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(n_rows, n)) * np.exp(rng.normal(size=n))
    H[:, rng.integers(n)] = H[:, 0]
    Q = H.T @ H
    Q[np.diag_indices(n)] += 1e-6 * (1.0 + np.diag(Q))
    c = -H.T @ rng.normal(size=n_rows)
    charge = share * np.abs(c).max() * rng.uniform(0.5, 1.5, size=n)
    charge[0] = 0.0
    positive = {"free": np.zeros(n, bool), "positive": np.ones(n, bool)}.get(
        sign, rng.random(n) < 0.5
    )
    for start in (np.zeros(n), rng.normal(size=n)):
        x = minimise(Q, c, charge, start, positive=positive)
        assert (x[positive] >= 0.0).all()
        assert violation(Q, c, charge, x, positive) <= 1e-7 * (np.abs(c).max() + charge.max())


def test_from_the_solution_nothing_moves() -> None:
    """A start at the solution is returned, up to rounding."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(50, 20))
    Q, c = H.T @ H, -H.T @ rng.normal(size=50)
    charge, free = np.full(20, 0.3 * np.abs(c).max()), np.zeros(20, dtype=bool)
    x = minimise(Q, c, charge, np.zeros(20), positive=free)
    assert 0 < np.count_nonzero(x) < 20
    np.testing.assert_allclose(minimise(Q, c, charge, x, positive=free), x, atol=1e-14)


def test_a_quadratic_that_is_not_convex_is_refused() -> None:
    """An indefinite matrix raises an error, and gives no answer."""
    with pytest.raises(np.linalg.LinAlgError):
        minimise(-np.eye(2), np.ones(2), np.zeros(2), np.zeros(2), positive=np.zeros(2, bool))


def test_near_as_many_active_as_rank_factorisations_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twenty at most, where steps without a homotopy took 247 for this one."""
    rng = np.random.default_rng(1)
    H = rng.normal(size=(100, 400))
    Q, c = H.T @ H, -H.T @ (H[:, :5].sum(axis=1) + rng.standard_t(2, size=100))
    Q[np.diag_indices(400)] *= 1.0 + 1e-10
    factorisations = []

    def counted(*args: object, **options: object) -> object:
        factorisations.append(1)
        return cho_factor(*args, **options)

    monkeypatch.setattr(quadratic_model, "cho_factor", counted)
    charge, free = np.full(400, 1e-3 * np.abs(c).max()), np.zeros(400, bool)
    x = minimise(Q, c, charge, np.zeros(400), positive=free, rank=100)
    assert violation(Q, c, charge, x, free) <= 1e-9 * np.abs(c).max()
    assert len(factorisations) <= 20


def test_past_the_deadline_there_are_no_steps() -> None:
    """The error says that it was the time."""
    with pytest.raises(LimitError) as caught:
        minimise(
            np.eye(2),
            -np.ones(2),
            np.zeros(2),
            np.zeros(2),
            positive=np.zeros(2, bool),
            deadline=time.perf_counter() - 1.0,
        )
    assert caught.value.status is Status.TIME_LIMIT
