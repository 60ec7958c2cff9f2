"""Quadratics plus a weighted 1-norm by a homotopy: optima of any sign rule, in few exchanges."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgboost.optimizers.newton.homotopy import ActiveInverse, follow
from solvers import LimitError, Status


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
    Q = H.T @ H
    Q[np.diag_indices(n)] += 1e-6 * (1.0 + np.diag(Q))
    c = -H.T @ rng.normal(size=n_rows)
    charge = share * np.abs(c).max() * rng.uniform(0.5, 1.5, size=n)
    charge[0] = 0.0
    positive = {"free": np.zeros(n, bool), "positive": np.ones(n, bool)}.get(
        sign, rng.random(n) < 0.5
    )
    for start in (np.zeros(n), rng.normal(size=n)):
        start = np.where(positive, np.maximum(start, 0.0), start)
        x = follow(Q, c, charge, start, positive=positive)
        slope = Q @ x + c
        at_zero = np.maximum(np.where(positive, -slope, np.abs(slope)) - charge, 0.0)
        missed = np.abs(np.where(x != 0, slope + charge * np.sign(x), at_zero)).max()
        assert (x[positive] >= 0.0).all()
        assert missed <= 1e-6 * (np.abs(c).max() + charge.max())


def test_exchanges_are_about_as_many_as_coordinates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Near as many active coordinates as Q has rank, from 0: fewer than five for each in use."""
    rng = np.random.default_rng(1)
    H = rng.normal(size=(60, 200))
    Q, c = H.T @ H, -H.T @ (H[:, :5].sum(axis=1) + rng.normal(size=60))
    Q[np.diag_indices(200)] *= 1.0 + 1e-10
    exchanges = []
    for name in ("enter", "leave"):
        own = getattr(ActiveInverse, name)
        monkeypatch.setattr(
            ActiveInverse, name, lambda self, j, own=own: (exchanges.append(j), own(self, j))[1]
        )
    charge = np.full(200, 1e-3 * np.abs(c).max())
    x = follow(Q, c, charge, np.zeros(200), positive=np.zeros(200, bool))
    assert np.count_nonzero(x) > 50
    assert len(exchanges) < 5 * np.count_nonzero(x)


def test_the_inverse_is_that_of_the_active_coordinates() -> None:
    """After coordinates entered and left, in any order."""
    rng = np.random.default_rng(2)
    H = rng.normal(size=(20, 12))
    Q, right = H.T @ H, rng.normal(size=12)
    inverse = ActiveInverse(Q, np.array([3, 5]))
    for j in (0, 7, 11, 2):
        inverse.enter(j)
    for j in (5, 11):
        inverse.leave(j)
    x, product = inverse.times(right)
    places = [0, 2, 3, 7]
    assert sorted(inverse.places) == places
    np.testing.assert_allclose(x[places], np.linalg.solve(Q[np.ix_(places, places)], right[places]))
    np.testing.assert_allclose(product, Q @ x)
    assert np.count_nonzero(x) == 4


def test_a_deadline_in_the_past_is_a_time_limit() -> None:
    """Nothing is followed past it."""
    with pytest.raises(LimitError) as caught:
        follow(
            np.eye(2),
            -np.ones(2),
            np.full(2, 0.1),
            np.zeros(2),
            positive=np.zeros(2, bool),
            deadline=time.perf_counter() - 1.0,
        )
    assert caught.value.status is Status.TIME_LIMIT
