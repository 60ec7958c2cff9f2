"""Sparse rows: products, norms, moments and centres as those of dense rows."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cgboost import RBF, KernelLibrary, Linear, Matern, Polynomial
from cgboost.exceptions import KernelError
from cgboost.kernels import Normalized, kernel_values, squared_norms
from cgboost.kernels.combinations import WeightedCentres, library_sum
from cgboost.kernels.kernel import cost_of_expansion
from cgboost.kernels.sparse_rows import (
    SparseScaler,
    bits,
    entries,
    inner_products,
    like,
    most_entries,
    root_mean_squares,
    single,
    stacked,
    total_variance,
    transposed,
)

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(30, 12)) * (RNG.random((30, 12)) < 0.3)
DENSE[4] = 0.0
KINDS = [sp.csr_matrix, sp.csr_array]
KERNELS = [
    Linear(),
    Polynomial(2, coef0=1.0),
    Matern(0.2, nu=0.5),
    Linear() + 0.5 * RBF(0.2),
    Normalized(Polynomial(2)),
]


def with_duplicates(X: np.ndarray) -> sp.csr_array:
    """The same rows, the first number of which is kept in two halves."""
    rows, columns = np.nonzero(X)
    data = X[rows, columns]
    data[0] /= 2.0
    starts = np.searchsorted(rows, np.arange(len(X) + 1))
    starts[1:] += 1
    twice = np.concatenate([[data[0]], data]), np.concatenate([[columns[0]], columns]), starts
    return sp.csr_array(twice, shape=X.shape)


def root_mean_squares_of(X: np.ndarray) -> np.ndarray:
    """Of the numbers of each column that are not 0."""
    return np.sqrt((X**2).sum(axis=0) / (X != 0).sum(axis=0))


@pytest.mark.parametrize("kind", KINDS)
def test_products_and_moments(kind: Any) -> None:
    """Products, norms, the total variance and the scale of features are those of dense rows."""
    X = kind(DENSE)
    np.testing.assert_allclose(inner_products(X, transposed(X[:5])), DENSE @ DENSE[:5].T)
    np.testing.assert_allclose(inner_products(DENSE, transposed(X)), DENSE @ DENSE.T)
    np.testing.assert_allclose(inner_products(X, transposed(DENSE)), DENSE @ DENSE.T)
    np.testing.assert_allclose(squared_norms(X), (DENSE**2).sum(axis=1))
    assert squared_norms(X.astype(np.float32)).dtype == np.float32
    assert total_variance(X) == pytest.approx(DENSE.var(axis=0).sum())
    assert RBF().fit(X).gamma == pytest.approx(RBF().fit(DENSE).gamma)
    scale = root_mean_squares(X)
    np.testing.assert_allclose(scale, root_mean_squares_of(DENSE))
    scaler = SparseScaler.of(X)
    np.testing.assert_allclose(scaler.transform(X).toarray(), DENSE / scale)
    np.testing.assert_allclose(scaler.transform(DENSE), DENSE / scale)
    assert type(scaler.transform(X)) is kind
    np.testing.assert_allclose(scaler.inverse_transform(scaler.transform(X)).toarray(), DENSE)
    assert scaler.transform(X.astype(np.float32)).dtype == np.float32
    assert root_mean_squares(kind((3, 2))).tolist() == [1.0, 1.0]


def test_numbers_in_parts_add_up_and_are_counted() -> None:
    """Where a number is kept as a sum of two, norms and moments are of the sum.

    Operations and roundings are counted by the numbers that are there.
    """
    X = with_duplicates(DENSE)
    assert not X.has_canonical_format
    np.testing.assert_allclose(squared_norms(X), (DENSE**2).sum(axis=1))
    assert total_variance(X) == pytest.approx(DENSE.var(axis=0).sum())
    np.testing.assert_allclose(root_mean_squares(X), root_mean_squares_of(DENSE))
    assert not X.has_canonical_format  # it is the user's: nobody has touched it
    np.testing.assert_allclose(RBF(0.3)(X, X), RBF(0.3)(DENSE, DENSE))
    X = sp.csr_array(([1.0] * 5, ([0, 0, 0, 0, 1], [0, 1, 2, 3, 0])), shape=(3, 1000))
    assert entries(X) == pytest.approx(5 / 3)
    assert most_entries(X) == 4
    assert entries(DENSE) == most_entries(DENSE) == 12
    assert entries(sp.csr_array((3, 4))) == most_entries(sp.csr_array((3, 4))) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_centres(kind: Any) -> None:
    """Single rows are stacked to what they were taken from, and equal ones have equal bits."""
    X = kind(DENSE)
    centres = [single(X, place) for place in (3, 4, 9)]
    together = stacked(centres)
    assert type(together) is kind
    np.testing.assert_array_equal(together.toarray(), DENSE[[3, 4, 9]])
    assert bits(single(X, 3)) == bits(centres[0]) != bits(centres[2])
    np.testing.assert_array_equal(stacked([single(DENSE, 3), single(DENSE, 4)]), DENSE[3:5])
    assert like(DENSE, X).nnz == X.nnz
    np.testing.assert_array_equal(like(X, DENSE), DENSE)


@pytest.mark.parametrize("centres_are_sparse", [False, True])
@pytest.mark.parametrize("rows_are_sparse", [False, True])
def test_weighted_sums(rows_are_sparse: bool, centres_are_sparse: bool) -> None:
    """Rows and centres of a model may each be dense or sparse."""
    X = sp.csr_array(DENSE) if rows_are_sparse else DENSE
    Z = sp.csr_matrix(DENSE[:20]) if centres_are_sparse else DENSE[:20]
    weights = RNG.normal(size=20)
    kernels = dict(enumerate([*KERNELS, KernelLibrary({"own": linear}).kernels["own"]]))
    centres = [single(Z, j) for j in range(20)]
    parts = [WeightedCentres(str(n), kernel, centres, weights) for n, kernel in kernels.items()]
    expected = sum(kernel(DENSE, DENSE[:20]) @ weights for kernel in kernels.values())
    np.testing.assert_allclose(library_sum(X, parts), expected, rtol=1e-9)


def linear(A: Any, B: Any) -> Any:
    """Inner products, by a function that needs both of one kind."""
    assert sp.issparse(A) == sp.issparse(B)
    return A @ B.T


def test_no_matrix_of_features() -> None:
    """A quadratic kernel of sparse rows has no expansion: its matrix would be a dense one."""
    X = sp.random(800, 30, density=0.1, format="csr", random_state=0)
    weights = np.ones(800)
    assert Polynomial(2).expansion(X, weights) is None
    assert Normalized(Linear() + Polynomial(2)).expansion(X, weights) is None
    assert cost_of_expansion(Polynomial(2), X, 800, 800) == np.inf
    assert Polynomial(2).expansion(X.toarray(), weights) is not None
    for kernel in (Linear(), Polynomial(1, coef0=2.0), Normalized(Linear())):
        expansion = kernel.expansion(X, weights)
        assert expansion is not None
        expected = kernel(X.toarray(), X.toarray()) @ weights
        np.testing.assert_allclose(expansion(X), expected, rtol=1e-9)


def test_a_kernel_that_needs_dense_rows_says_so() -> None:
    """The error names the kernel and says that the rows are sparse."""
    library = KernelLibrary({"mine": lambda A, B: np.abs(A[:, None] - B[None]).sum(axis=2)})
    X = sp.csr_matrix(DENSE)
    with pytest.raises(KernelError, match="kernel 'mine' failed on two sets of sparse rows"):
        kernel_values("mine", library.fit(X)["mine"], X, X)
