"""Parts of the cone method: its blocks, their Newton systems, and the scaling of the cones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.generation.packed import PackedMatrix
from cgboost.optimizers.cones.cone_blocks import (
    BlockStore,
    FactorBlock,
    GramBlock,
    low_rank_factor,
)
from cgboost.optimizers.cones.cone_equations import ConeEquations
from cgboost.optimizers.cones.cone_scaling import Cones, ConeVector, NesterovToddScaling
from tests.effort import examples

N_ROWS = 15
SEEDS = st.integers(0, 10**6)


def store_of(factors: list[np.ndarray], limits: np.ndarray, grams: int) -> BlockStore:
    """A store whose first blocks are given by Gram matrices."""
    store = BlockStore(N_ROWS)
    for g, (H, limit) in enumerate(zip(factors, limits, strict=True)):
        store.add(GramBlock(H @ H.T) if g < grams else FactorBlock(H), limit)
    return store


@settings(max_examples=examples(30))
@given(seed=SEEDS, grams=st.integers(0, 3), n_free=st.integers(0, 2))
def test_equations_solve_the_dense_system(seed: int, grams: int, n_free: int) -> None:
    """With Gram matrices, columns or both, and rows of weight 0, the solution is the dense one."""
    rng = np.random.default_rng(seed)
    factors = [rng.normal(size=(N_ROWS, 2)) for _ in range(3)]
    limits, h = rng.uniform(0.5, 2.0, size=3), rng.uniform(0.1, 5.0, size=3)
    weights = np.where(rng.random(N_ROWS) < 0.2, 0.0, 10.0 ** rng.uniform(-3, 3, size=N_ROWS))
    free, diagonal = rng.normal(size=(N_ROWS, n_free)), rng.uniform(size=n_free)
    store = store_of(factors, limits, grams)
    omega = store.images(rng.normal(size=N_ROWS))
    a, c, e = rng.normal(size=N_ROWS), rng.normal(size=3), rng.normal(size=n_free)
    scaled = [H / limit for H, limit in zip(factors, limits, strict=True)]
    K = sum(weight * H @ H.T for weight, H in zip(h, scaled, strict=True))
    border = np.hstack([store.in_rows(omega), free])
    there = np.flatnonzero(weights)
    top = np.diag(1.0 / weights[there]) + K[np.ix_(there, there)]
    bottom = np.diag(np.concatenate([0.5 / h, diagonal]))
    system = np.block([[top, border[there]], [-border[there].T, bottom]])
    dense = np.linalg.solve(system, np.concatenate([a[there], c, e]))
    found = ConeEquations(store, h, omega, weights, free, diagonal).solve(a, c, e)
    np.testing.assert_allclose(found.response[there], dense[: len(there)], rtol=1e-6, atol=1e-8)
    assert not found.response[weights == 0].any()
    rest = np.concatenate([found.along, found.free])
    np.testing.assert_allclose(rest, dense[len(there) :], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("grams", [0, 2, 40])
def test_a_store_has_the_products_of_its_blocks(grams: int) -> None:
    """Images, sums and inner products are those of the kernels over their squared limits."""
    rng = np.random.default_rng(0)
    factors = [rng.normal(size=(N_ROWS, 1 + g % 3)) for g in range(40)]
    limits, weights = rng.uniform(0.5, 2.0, size=40), rng.uniform(size=40)
    store = store_of(factors, limits, grams)
    kernels = [H @ H.T / limit**2 for H, limit in zip(factors, limits, strict=True)]
    x, z = rng.normal(size=(2, N_ROWS))
    left, right = store.images(x), store.images(z)
    np.testing.assert_allclose(store.products(left, right), [x @ K @ z for K in kernels])
    np.testing.assert_allclose(store.in_rows(left).T, [K @ x for K in kernels])
    pairs = zip(weights[:grams], kernels[:grams], strict=True)
    total = sum((weight * K for weight, K in pairs), np.zeros((N_ROWS, N_ROWS)))
    packed = PackedMatrix.of(total).triangle
    np.testing.assert_allclose(store.combined(weights)[0], packed)
    both = store.combination((2.0, left), (weights, right))
    expected = sum(K @ (2.0 * x + w * z) for w, K in zip(weights, kernels, strict=True))
    np.testing.assert_allclose(store.sum_in_rows(both), expected)
    np.testing.assert_allclose(store.limits, limits)


@settings(max_examples=examples(30))
@given(seed=SEEDS, rank=st.integers(0, 6), exponent=st.integers(-9, 9))
def test_a_matrix_of_low_rank_is_its_factor(seed: int, rank: int, exponent: int) -> None:
    """As many columns as its rank reproduce it, and with fewer there is no factor."""
    H = 10.0**exponent * np.random.default_rng(seed).normal(size=(N_ROWS, rank))
    factor = low_rank_factor(PackedMatrix.of(H @ H.T), 6)
    assert factor is not None
    assert factor.shape == (N_ROWS, rank)
    np.testing.assert_allclose(factor @ factor.T, H @ H.T, atol=1e-13 * np.square(H).sum())
    if rank:
        assert low_rank_factor(PackedMatrix.of(H @ H.T), rank - 1) is None


def test_factors_keep_the_digits_of_vectors_nearly_orthogonal_to_a_kernel() -> None:
    """‖Hᵀρ‖ = 1 for a ρ of length 10⁹, which leaves ρᵀ(Kρ) without a digit."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(N_ROWS, 2))
    basis = np.linalg.qr(H, mode="complete")[0]
    rho = 1e9 * basis[:, -1] + np.linalg.pinv(H).T @ np.array([0.6, 0.8])
    store = store_of([H], np.ones(1), 1)
    image = store.images(rho)
    assert np.sqrt(store.products(image, image)) == pytest.approx(1.0, abs=1e-5)


@settings(max_examples=examples(50))
@given(seed=SEEDS)
def test_the_scaling_of_cones_through_inner_products(seed: int) -> None:
    """W takes the multiplier where W⁻¹ takes the slack; division undoes x ∘ v; moves end."""
    rng = np.random.default_rng(seed)
    factors = [rng.normal(size=(N_ROWS, 3)) for _ in range(3)]
    store = store_of(factors, rng.uniform(0.5, 2.0, size=3), 2)

    def inside(margin: float) -> ConeVector:
        body = store.images(rng.normal(size=N_ROWS))
        return ConeVector(np.sqrt(store.products(body, body)) + margin, body)

    def assert_same(left: ConeVector, right: ConeVector, size: float) -> None:
        np.testing.assert_allclose(left.head, right.head, rtol=1e-6, atol=1e-8 * size)
        bodies = (store.in_rows(own.body) for own in (left, right))
        np.testing.assert_allclose(*bodies, rtol=1e-6, atol=1e-6 * size)

    slack, dual = inside(rng.uniform(1e-3, 2.0)), inside(rng.uniform(1e-3, 2.0))
    vector = ConeVector(rng.normal(size=3), store.images(rng.normal(size=N_ROWS)))
    cones = Cones(store)
    scaling = NesterovToddScaling(cones, store, slack, dual)
    one = scaling.apply(dual)
    size = np.abs(one.head).max()
    assert_same(one, scaling.undo(slack), size)
    assert_same(scaling.undo(scaling.apply(vector)), vector, size)
    assert_same(cones.divided(slack, cones.jordan(slack, vector)), vector, 1.0)

    def room(t: float) -> float:  # how far inside their cones all points are after a move
        at = cones.combination((1.0, slack), (t, vector))
        return float((at.head - np.sqrt(store.products(at.body, at.body))).min())

    length = cones.reach(slack, vector)
    if np.isfinite(length):
        assert room(0.999 * length) > 0
        assert room(1.001 * length) < 0
    else:
        assert room(1e6) > 0
