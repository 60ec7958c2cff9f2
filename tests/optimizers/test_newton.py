"""Newton steps of smooth losses, the quadratic models that they minimise, and their products."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import cho_factor

from cgboost import ColumnGeneration
from cgboost.arrays import Vector
from cgboost.losses import Exponential, LogLoss, Loss, Poisson, SquaredError
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.newton import descent_loop, quadratic_model, smooth_primal
from cgboost.optimizers.newton.descent_loop import descend
from cgboost.optimizers.newton.homotopy import ActiveInverse, follow
from cgboost.optimizers.newton.quadratic_model import LITTLE, WeightedProducts, minimise
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss
from cgboost.optimizers.newton.smooth_primal import SmoothPrimal
from cgboost.penalties import L1, L2, ElasticNet
from cgboost.penalties.penalty import DualForm, Penalty
from cgboost.pricing import FeaturePricer
from solvers import LimitError, Status
from tests.effort import examples

# ---------------------------------------------------------------------- quadratic models

WAYS = pytest.mark.parametrize("way", [minimise, follow], ids=["minimise", "follow"])


def violation(Q: np.ndarray, c: np.ndarray, charge: np.ndarray, x: np.ndarray, positive) -> float:
    """How far x is from the conditions of the optimum."""
    slope = Q @ x + c
    at_zero = np.maximum(np.where(positive, -slope, np.abs(slope)) - charge, 0.0)
    return float(np.abs(np.where(x != 0, slope + charge * np.sign(x), at_zero)).max())


@WAYS
@settings(max_examples=examples(100))
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 40),
    n_rows=st.integers(1, 60),
    share=st.sampled_from([0.0, 0.01, 0.3, 2.0]),
    sign=st.sampled_from(["free", "positive", "mixed"]),
)
def test_gradients_are_at_their_charges_or_below(
    way: Callable[..., np.ndarray], seed: int, n: int, n_rows: int, share: float, sign: str
) -> None:
    """Where x is not 0 the gradient is −λ·sign, elsewhere |gradient| ≤ λ; x ≥ 0 where asked for."""
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(n_rows, n)) * np.exp(rng.normal(size=n))
    if way is minimise:
        H[:, rng.integers(n)] = H[:, 0]
    Q = H.T @ H
    Q[np.diag_indices(n)] += 1e-6 * (1.0 + np.diag(Q))
    c = -H.T @ rng.normal(size=n_rows)
    charge = share * np.abs(c).max() * rng.uniform(0.5, 1.5, size=n)
    charge[0] = 0.0
    signs = {"free": np.zeros(n, bool), "positive": np.ones(n, bool)}
    positive = signs.get(sign, rng.random(n) < 0.5)
    accuracy = 1e-7 if way is minimise else 1e-6
    for start in (np.zeros(n), rng.normal(size=n)):
        start = np.where(positive, np.maximum(start, 0.0), start)
        x = way(Q, c, charge, start, positive=positive)
        assert (x[positive] >= 0.0).all()
        allowed = accuracy * (np.abs(c).max() + charge.max())
        assert violation(Q, c, charge, x, positive) <= allowed


@WAYS
def test_past_the_deadline_there_are_no_steps(way: Callable[..., np.ndarray]) -> None:
    """The error says that it was the time."""
    nothing, none = np.zeros(2), np.zeros(2, bool)
    late = time.perf_counter() - 1.0
    with pytest.raises(LimitError) as caught:
        way(np.eye(2), -np.ones(2), nothing + 0.1, nothing, positive=none, deadline=late)
    assert caught.value.status is Status.TIME_LIMIT


def test_from_the_solution_nothing_moves_and_what_is_not_convex_is_refused() -> None:
    """A start at the solution is returned; an indefinite matrix raises an error."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(50, 20))
    Q, c = H.T @ H, -H.T @ rng.normal(size=50)
    charge, free = np.full(20, 0.3 * np.abs(c).max()), np.zeros(20, dtype=bool)
    x = minimise(Q, c, charge, np.zeros(20), positive=free)
    assert 0 < np.count_nonzero(x) < 20
    np.testing.assert_allclose(minimise(Q, c, charge, x, positive=free), x, atol=1e-14)
    with pytest.raises(np.linalg.LinAlgError):
        minimise(-np.eye(2), np.ones(2), np.zeros(2), np.zeros(2), positive=np.zeros(2, bool))


def test_near_as_many_active_as_rank_exchanges_and_factorisations_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fewer than five exchanges a coordinate, and twenty factorisations where there were 247."""
    rng = np.random.default_rng(1)
    H = rng.normal(size=(100, 400))
    Q, c = H.T @ H, -H.T @ (H[:, :5].sum(axis=1) + rng.standard_t(2, size=100))
    Q[np.diag_indices(400)] *= 1.0 + 1e-10
    counts = dict.fromkeys(["enter", "leave", "cho_factor"], 0)

    def count(owner: Any, name: str, own: Callable[..., Any]) -> None:
        def counted(*args: Any, **options: Any) -> Any:
            counts[name] += 1
            return own(*args, **options)

        monkeypatch.setattr(owner, name, counted)

    count(quadratic_model, "cho_factor", cho_factor)
    for name in ("enter", "leave"):
        count(ActiveInverse, name, getattr(ActiveInverse, name))
    charge, free = np.full(400, 1e-3 * np.abs(c).max()), np.zeros(400, bool)
    x = minimise(Q, c, charge, np.zeros(400), positive=free, rank=100)
    assert violation(Q, c, charge, x, free) <= 1e-9 * np.abs(c).max()
    assert counts["cho_factor"] <= 20
    counts.update(enter=0, leave=0)
    x = follow(Q, c, charge, np.zeros(400), positive=free)
    assert np.count_nonzero(x) > 50
    assert counts["enter"] + counts["leave"] < 5 * np.count_nonzero(x)


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
    found = np.zeros(12)
    found[inverse.places] = x
    wanted = np.linalg.solve(Q[np.ix_(places, places)], right[places])
    np.testing.assert_allclose(found[places], wanted)
    np.testing.assert_allclose(product, Q @ found)


# ---------------------------------------------------------------------- steps

N_ROWS = 25
OFFSETS = pytest.mark.parametrize("offset", ["none", "penalized", "free"])
LOSSES = pytest.mark.parametrize("loss", [LogLoss(), Exponential(), Poisson()], ids=repr)


def centred(H: np.ndarray) -> np.ndarray:
    """Columns of mean 0, which a free offset leaves as they are."""
    return H - H.mean(axis=0)


def restricted(
    loss: Loss, offset: str, n_columns: int, rng: np.random.Generator
) -> tuple[SmoothPrimal, np.ndarray]:
    """The restricted problem of random columns of mean 0 and unlike sizes, one row of weight 0."""
    weights = rng.uniform(0.5, 2.0, size=N_ROWS)
    weights[0] = 0.0
    target = rng.choice([-1.0, 1.0], N_ROWS) if loss.classification else rng.poisson(2.0, N_ROWS)
    bound = RowwiseLoss(loss.on(target.astype(float), weights))
    H = centred(rng.normal(size=(N_ROWS, n_columns)) * rng.uniform(0.1, 1.0, size=n_columns))
    primal = SmoothPrimal(bound, DualForm(L2(), True, offset), "auto")
    primal.add(list(H.T))
    return primal, H


@pytest.mark.parametrize("softened", [False, True])
@OFFSETS
@LOSSES
def test_a_step_over_the_rows_is_the_step_over_the_columns(
    loss: Loss, offset: str, softened: bool
) -> None:
    """From any point, and after new columns, both find the minimiser of the quadratic model."""
    rng = np.random.default_rng(0)
    primal, H = restricted(loss, offset, 30, rng)
    for _ in range(2):
        coef = 0.1 * rng.normal(size=H.shape[1])
        intercept = 0.0 if offset == "none" else 0.2
        primal._coef, primal._intercept, primal._combined = coef, intercept, None
        output = H @ coef + intercept
        response = primal.loss.pseudo_response(output)
        by_rows = primal._minimised_by_rows(output, response, softened=softened)
        gradient = -np.append(H.T @ response, response.sum())
        hessian = primal._hessian(output, np.arange(H.shape[1]), softened=softened)
        by_columns = primal._minimised(gradient, hessian, np.append(coef, intercept))
        np.testing.assert_allclose(by_rows, by_columns, rtol=1e-6, atol=1e-7)
        new = centred(rng.normal(size=(N_ROWS, 5)))
        primal.add(list(new.T))
        H = np.hstack([H, new])


@OFFSETS
@LOSSES
def test_with_more_columns_than_rows_the_gradient_vanishes(loss: Loss, offset: str) -> None:
    """At the answer α = Hᵀr, and Σr is 0 or the offset: the conditions of the optimum."""
    primal, H = restricted(loss, offset, 60, np.random.default_rng(1))
    point = primal.solve(None)
    np.testing.assert_allclose(point.coef, H.T @ point.response, atol=1e-4)
    if offset != "none":
        total = point.intercept if offset == "penalized" else 0.0
        assert point.response.sum() == pytest.approx(total, abs=1e-4)


def test_scores_of_a_multiple_are_those_of_the_last_response() -> None:
    """With those of columns that are new since, and of any other r."""
    rng = np.random.default_rng(2)
    primal, H = restricted(LogLoss(), "free", 6, rng)
    response = rng.normal(size=N_ROWS)
    np.testing.assert_allclose(primal.scores(response), H.T @ response, rtol=1e-12)
    new = centred(rng.normal(size=(N_ROWS, 3)))
    primal.add(list(new.T))
    H = np.hstack([H, new])
    for other in (1.07 * response, rng.normal(size=N_ROWS)):
        np.testing.assert_allclose(primal.scores(other), H.T @ other, rtol=1e-11)


@pytest.mark.parametrize("size", [1e-12, 1e-8, 1e8, 1e12])
def test_targets_of_any_size_take_the_same_steps(size: float) -> None:
    """With y·t and C/t the 1-norm objective is t times that of y and C, at the same gap."""
    rng = np.random.default_rng(1)
    H = rng.normal(size=(80, 60))
    y = 3.0 + H[:, :6].sum(axis=1) + rng.normal(size=80)
    found = []
    for unit in (1.0, size):
        loss = SquaredError().on(unit * y, np.full(80, 1.0 / unit))
        master = SupportVectorMaster(loss, L1())
        found.append(ColumnGeneration(master, FeaturePricer(H), tol=1e-7).run())
    plain, other = found
    assert max(plain.gap, other.gap) <= 1e-7
    assert other.objective / size == pytest.approx(plain.objective, rel=1e-7)
    np.testing.assert_allclose(other.output / size, plain.output, rtol=1e-4, atol=1e-4)


# ---------------------------------------------------------------------- products


def test_products_are_those_of_the_columns_after_every_change() -> None:
    """New columns, other places, equal weights, weights of few and of all rows: always HᵀWH."""
    rng = np.random.default_rng(0)
    store = ColumnStore(30, centred=False)
    products = WeightedProducts(store)
    weights, H = np.ones(30), np.zeros((30, 0))
    for change in (30, 0, 4, 0, 12, 30, 3):
        new = rng.normal(size=(30, 5)) * rng.uniform(0.1, 10.0, size=5)
        store.append(list(new.T))
        H = np.hstack([H, new])
        weights = weights.copy()
        weights[rng.permutation(30)[:change]] = rng.choice([0.0, 1.0, 2.5], size=change)
        places = np.flatnonzero(rng.random(H.shape[1]) < 0.6)
        with_ones = np.column_stack([H[:, places], np.ones(30)])
        expected = with_ones.T @ (weights[:, None] * with_ones)
        np.testing.assert_allclose(products.of(places, weights), expected, atol=1e-10)


def test_earlier_products_do_at_another_price_and_while_weights_are_near() -> None:
    """Multiplied, or as they were where all weights changed a little, and only if they may."""
    rng = np.random.default_rng(2)
    store = ColumnStore(30, centred=False)
    store.append(list(rng.normal(size=(4, 30))))
    products, weights, places = WeightedProducts(store), rng.uniform(1.0, 2.0, 30), np.arange(4)
    before = products.of(places, weights)
    near = weights * (1.0 + 0.1 * LITTLE * rng.random(30))
    np.testing.assert_array_equal(products.of(places, near, nearly=True), before)
    assert not products.exact
    for other in (near, 2.0 * weights):
        found = products.of(places, other, nearly=other is not near)
        fresh = WeightedProducts(store).of(places, other)
        np.testing.assert_allclose(found, fresh, rtol=1e-12, atol=1e-12)
        assert products.exact
    products.scale(1.07)
    products._product = None  # type: ignore[assignment, method-assign]  # none is made anew
    scaled = products.of(places, 1.07 * 2.0 * weights)
    np.testing.assert_allclose(scaled, 1.07 * fresh, rtol=1e-12)


# ---------------------------------------------------------------------- columns of few entries


def few_entries(seed: int) -> tuple[np.ndarray, Vector]:
    """Columns with 6 % of their entries, shape (300, 80), and a number for each row."""
    rng = np.random.default_rng(seed)
    H = rng.exponential(size=(300, 80)) * (rng.random((300, 80)) < 0.06)
    return H, H[:, :10] @ rng.normal(size=10) + 0.3 * rng.normal(size=300)


@settings(max_examples=examples(20), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    positive=st.booleans(),
    free_offset=st.booleans(),
    ridge=st.sampled_from([0.0, 0.3]),
)
def test_coordinate_descent_finds_the_minimiser_of_the_model(
    seed: int, positive: bool, free_offset: bool, ridge: float
) -> None:
    """To 1e-10 of that over products of the columns, with the offset eliminated or absent."""
    H, _ = few_entries(seed)
    rng = np.random.default_rng(seed)
    weights, response = rng.uniform(0.0, 2.0, size=300), rng.normal(size=300)
    entries, start = sparse.csr_array(H.T), rng.normal(size=80) * (rng.random(80) < 0.3)
    start = np.abs(start) if positive else start
    charge = np.full(80, 0.2 * np.abs(H.T @ response).max())
    places, none = np.arange(80), np.full(80, ridge)
    columns = entries.data, entries.indices, entries.indptr, places
    signs = positive, free_offset
    x, offset, done = descend(
        *columns, weights, response, start, charge, none, *signs, 1e-24, 10000
    )
    assert done
    ones = H if not free_offset else H - weights @ H / weights.sum()
    best = response if not free_offset else response - weights * (response.sum() / weights.sum())
    Q = (ones.T * weights) @ ones
    c = -ones.T @ best - Q @ start
    Q[np.diag_indices(80)] += ridge
    other = minimise(Q, c, charge, start, positive=np.full(80, positive))
    np.testing.assert_allclose(x, other, atol=1e-10 * max(1.0, np.abs(other).max()))
    moved = response - weights * (H @ (x - start) + offset)
    assert abs(moved.sum()) <= 1e-9 * np.abs(moved).sum() if free_offset else offset == 0.0


@pytest.mark.parametrize("offset", ["free", "none", "penalized"])
@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.5)], ids=repr)
def test_columns_of_few_entries_have_the_optimum_of_all_entries(
    penalty: Penalty, offset: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The objective agrees with and without coordinate descent; bounds hold for both."""
    H, y = few_entries(0)
    loss = LogLoss().on(np.sign(y), np.full(300, 1.0))
    answers = []
    monkeypatch.setattr(smooth_primal, "MANY_COLUMNS", 10)
    for way in (lambda function: function, lambda function: None):
        monkeypatch.setattr(descent_loop, "compiled", way)
        master = SupportVectorMaster(loss, penalty, offset=offset)
        result = ColumnGeneration(master, FeaturePricer(H), columns_per_round=80, tol=1e-7).run()
        assert result.gap <= 1e-7
        answers.append(result)
    first, second = answers
    rounding = 1e-10 * first.objective
    assert first.bound <= second.objective + rounding
    assert second.bound <= first.objective + rounding
    assert first.objective == pytest.approx(second.objective, rel=2e-7)


def test_entries_of_columns_say_what_the_columns_say() -> None:
    """Outputs and scores over the entries that are not 0 are those of all, centred or not."""
    H, y = few_entries(1)
    coef, whole = y[:80], np.arange(80)
    for centred in (True, False):
        store, dense = (ColumnStore(300, centred=centred) for _ in range(2))
        dense.entries = None
        for each in (store, dense):
            each.append(list(H.T[:50]))
            each.append(list(H.T[50:]))
        assert store.entries is not None
        np.testing.assert_allclose(store.combine(coef), dense.combine(coef), atol=1e-12)
        np.testing.assert_allclose(store.scores(whole, y), dense.scores(whole, y), atol=1e-12)
        np.testing.assert_allclose(
            store.scores(whole[::7], y), dense.scores(whole[::7], y), atol=1e-12
        )
    store.append([np.ones(300)])
    assert store.entries is None
