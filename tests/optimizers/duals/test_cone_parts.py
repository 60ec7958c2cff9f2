"""Blocks of the cone method: factors of low rank, and the digits that they keep."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.generation.packed import PackedMatrix
from cgboost.optimizers.cones.cone_blocks import (
    BlockStore,
    GramBlock,
    low_rank_factor,
)
from tests.effort import examples

N_ROWS = 15
SEEDS = st.integers(0, 10**6)


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
    store = BlockStore(N_ROWS)
    store.add(GramBlock(H @ H.T), 1.0)
    image = store.images(rho)
    assert np.sqrt(store.products(image, image)) == pytest.approx(1.0, abs=1e-5)
