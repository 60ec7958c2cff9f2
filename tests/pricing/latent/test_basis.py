"""Matrices that grow by columns, and the orthonormal basis made of one."""

import pickle

import numpy as np
import pytest

from cgboost.pricing.latent import Basis, Columns


def filled(weights: np.ndarray, count: int = 20) -> Basis:
    """A basis of random factors."""
    rng = np.random.default_rng(0)
    basis = Basis(weights)
    for _ in range(count):
        rest, _ = basis.without(rng.normal(size=len(weights)))
        basis.append(rest / basis.length(rest))
    return basis


WEIGHTS = [np.ones(50), np.random.default_rng(1).uniform(0, 3, 50) * (np.arange(50) % 7 > 0)]


def test_columns_grow_and_lose_their_last() -> None:
    """What was put is there, beyond the first room too; a column put before others ends them."""
    matrix, columns = np.random.default_rng(0).normal(size=(3, 40)), Columns(3)
    for j in range(40):
        columns.put(j, matrix[:, j])
    np.testing.assert_array_equal(columns.values, matrix)
    columns.put(5, np.ones(3))
    assert len(columns) == 6
    np.testing.assert_array_equal(
        columns.values[:, 4:], np.column_stack([matrix[:, 4], np.ones(3)])
    )


def test_pickled_columns_have_no_spare_room() -> None:
    """A pickle has the columns alone, and they can grow again."""
    columns = Columns(1000)
    columns.put(0, np.arange(1000.0))
    written = pickle.dumps(columns)
    assert len(written) < 2 * 8000
    read = pickle.loads(written)
    read.put(1, np.ones(1000))
    np.testing.assert_array_equal(read.values, np.column_stack([np.arange(1000.0), np.ones(1000)]))


@pytest.mark.parametrize("weights", WEIGHTS, ids=["uniform", "weighted"])
def test_factors_are_orthonormal(weights: np.ndarray) -> None:
    """TᵀΓT = I, to rounding."""
    T = filled(weights).factors
    np.testing.assert_allclose(T.T @ (weights[:, None] * T), np.eye(20), atol=1e-14)


@pytest.mark.parametrize("weights", WEIGHTS, ids=["uniform", "weighted"])
def test_vectors_are_split_along_the_factors(weights: np.ndarray) -> None:
    """V is Tz plus a rest with TᵀΓ(rest) = 0; what is nearly in the span is split as well."""
    basis, v = filled(weights), np.random.default_rng(2).normal(size=50)
    for vector in (v, basis.factors @ v[:20] + 1e-9 * v):
        rest, along = basis.without(vector)
        np.testing.assert_allclose(rest + basis.factors @ along, vector, atol=1e-13)
        assert np.abs(basis.factors.T @ (weights * rest)).max() <= 1e-14 * np.abs(rest).sum()


@pytest.mark.parametrize("weights", WEIGHTS, ids=["uniform", "weighted"])
def test_a_deflated_response_acts_as_deflated_data_do(weights: np.ndarray) -> None:
    """X̃ᵀ(I − ΓTTᵀ)u is (X̃ − TTᵀΓX̃)ᵀu."""
    basis, rng = filled(weights), np.random.default_rng(3)
    X, u = rng.normal(size=(50, 4)), rng.normal(size=50)
    deflated = X - basis.factors @ (basis.factors.T @ (weights[:, None] * X))
    np.testing.assert_allclose(X.T @ basis.deflated(u), deflated.T @ u, atol=1e-12)


def test_an_empty_basis_takes_nothing_away() -> None:
    """Without factors a vector is its own rest."""
    basis, v = Basis(np.ones(3)), np.arange(3.0)
    rest, along = basis.without(v)
    np.testing.assert_array_equal(rest, v)
    np.testing.assert_array_equal(basis.deflated(v), v)
    assert (len(along), basis.count, basis.factors.shape) == (0, 0, (3, 0))
