"""Orthonormal columns: Gram matrices, coefficients to and fro, dependent columns, other centres."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import RBF, Linear, Polynomial, Precomputed
from cgboost.exceptions import IndefiniteKernelError, KernelError
from cgboost.generation.columns import Column
from cgboost.kernels.kernel import Kernel
from cgboost.kernels.kernel_family import KernelFamily, KernelHypothesis
from cgboost.optimizers.rkhs.orthonormal_basis import (
    OrthonormalBasis,
    cholesky_of_independent,
)
from tests.effort import examples

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))


def columns_at(
    kernel: Kernel, rows: list[int], *, centres: np.ndarray | None = None, dtype: type = np.float64
) -> list[Column]:
    """Columns of training rows, or of other centres; their row is then −1."""
    family = KernelFamily("k", kernel)
    points = X[rows] if centres is None else centres
    numbers = rows if centres is None else [-1] * len(centres)
    values = kernel(X, points).astype(dtype)
    return [
        Column(values[:, j], ("k", j), KernelHypothesis(family, numbers[j], points[j]), "k")
        for j in range(len(points))
    ]


@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(3, coef0=1.0)], ids=repr)
@settings(max_examples=examples(60))
@given(seed=st.integers(0, 1000), blocks=st.lists(st.integers(0, 6), min_size=1, max_size=4))
def test_columns_are_orthonormal_and_span_the_same(
    kernel: Kernel, seed: int, blocks: list[int]
) -> None:
    """Uβ = Hα and ‖β‖² = αᵀK(Z, Z)α, there and back, however the columns come."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))[: sum(blocks)].tolist()
    basis, start = OrthonormalBasis("k", len(X)), 0
    for size in blocks:
        basis.add(columns_at(kernel, rows[start : start + size]))
        start += size
    alpha = rng.normal(size=len(rows)) * np.isin(np.arange(len(rows)), basis.independent)
    beta = basis.coefficients(alpha)
    H, gram = kernel(X, X[rows]), kernel(X[rows], X[rows])
    size = np.abs(H) @ np.abs(alpha) + 1.0
    assert np.all(np.abs(basis.values @ beta - H @ alpha) <= 1e-10 * size)
    assert beta @ beta == pytest.approx(alpha @ gram @ alpha, rel=1e-8, abs=1e-9)
    again = basis.expansion(beta)
    assert np.all(np.abs(H @ again - H @ alpha) <= 1e-9 * size)
    assert basis.squares == pytest.approx((basis.values**2).sum(axis=1))


def test_dependent_columns_add_nothing() -> None:
    """A linear kernel of three features has a span of three; a column twice is one, zeros none."""
    basis = OrthonormalBasis("k", len(X))
    chosen = basis.add(columns_at(Linear(), list(range(8))))
    assert chosen.sum() == len(basis) == 3
    assert not basis.add(columns_at(Linear(), [0, 12])).any()
    alpha = RNG.normal(size=10)
    H = Linear()(X, X[[*range(8), 0, 12]])
    assert basis.values @ basis.coefficients(alpha) == pytest.approx(H @ alpha)
    expansion = basis.expansion(basis.coefficients(alpha))
    assert H @ expansion == pytest.approx(H @ alpha)
    assert np.count_nonzero(expansion) == 3
    nothing = OrthonormalBasis("k", len(X))
    assert not nothing.add(columns_at(0.0 * Linear(), [0, 1])).any()
    assert nothing.expansion(np.zeros(0)).tolist() == [0.0, 0.0]


def test_centres_that_are_no_rows() -> None:
    """Their inner products come from the family: the same basis as with the values known."""
    centres = RNG.normal(size=(4, 3))
    basis = OrthonormalBasis("k", len(X))
    basis.add(columns_at(RBF(0.5), [0, 1]))
    basis.add(columns_at(RBF(0.5), [], centres=centres))
    basis.add(columns_at(RBF(0.5), [5]))
    points = np.vstack([X[[0, 1]], centres, X[[5]]])
    assert basis.factor == pytest.approx(np.linalg.cholesky(RBF(0.5)(points, points)))


def test_narrow_columns_lose_what_is_rounding() -> None:
    """Values in float32 lose what is smaller than their rounding, and nothing blows up."""
    basis = OrthonormalBasis("k", len(X))
    basis.add(columns_at(RBF(1e-4), list(range(20)), dtype=np.float32))
    assert 0 < len(basis) < 20
    assert np.abs(basis.values).max() < 2.0


def test_an_indefinite_kernel_is_an_error() -> None:
    """A squared distance below 0 names the kernel and the smallest eigenvalue."""
    basis = OrthonormalBasis("given", len(X))
    family = KernelFamily("given", Precomputed())
    values = np.eye(len(X)) + 2.0 * np.eye(len(X), k=1) + 2.0 * np.eye(len(X), k=-1)
    columns = [
        Column(values[:, j], ("given", j), KernelHypothesis(family, j, np.array([j])), "given")
        for j in range(3)
    ]
    basis.add(columns[:1])
    with pytest.raises(IndefiniteKernelError, match=r"'given'.*for 3 centres is -1\.83"):
        basis.add(columns[1:])


def test_columns_without_inner_products_are_refused() -> None:
    """One without a centre, and other centres of a kernel that is given by its values."""
    with pytest.raises(TypeError, match="is no function"):
        OrthonormalBasis("k", 2).add([Column(np.ones(2), "one")])
    family = KernelFamily("given", Precomputed())
    one = KernelHypothesis(family, -1, np.array([0]))
    with pytest.raises(KernelError, match="must be training rows"):
        family.inner_products([one], [one])


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 1000), rank=st.integers(0, 6))
def test_the_factor_reproduces_the_gram_matrix(seed: int, rank: int) -> None:
    """Of any rank: independent rows are as many as the rank, and FFᵀ is the matrix."""
    rng = np.random.default_rng(seed)
    part = rng.normal(size=(6, rank))
    gram = part @ part.T
    factor, independent = cholesky_of_independent(gram, 1e-10 * np.diag(gram))
    assert independent.sum() == rank
    assert factor @ factor.T == pytest.approx(gram, abs=1e-7)
    assert np.all(np.triu(factor[independent], 1) == 0.0)
