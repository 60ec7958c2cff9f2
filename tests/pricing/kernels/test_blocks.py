"""Blocks of kernel values: those of the kernels, from as few products as can be."""

import pickle

import numpy as np
import pytest

from cgboost import RBF, KernelLibrary, Linear, On, Polynomial, Precomputed
from cgboost.exceptions import KernelError
from cgboost.kernels import FunctionKernel, Kernel, Normalized
from cgboost.pricing.kernels import blocks
from cgboost.pricing.kernels.blocks import KernelData
from cgboost.pricing.kernels.shared import SharedProducts

KERNELS: list[Kernel] = [
    Linear(),
    FunctionKernel(lambda A, B: np.cos(A[:, :1] - 2.0 * B[:, 0])),
    Normalized(Polynomial(2, coef0=1.0)),
    RBF(0.1),
]
NAMES = ("linear", "own", "quadratic", "rbf")
X = np.random.default_rng(0).normal(size=(40, 300))


def data(X: np.ndarray, *, block_size: int = 16) -> KernelData:
    """These kernels on some rows."""
    return KernelData(X, NAMES, KERNELS, block_size)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("chosen", [slice(3, 20), np.array([5, 1, 30])])
def test_blocks_have_the_values_of_the_kernels(dtype: type, chosen: slice | np.ndarray) -> None:
    """For slices and lists of rows and centres, in the dtype that is asked for."""
    rows = np.array([2, 7, 39])
    blocks = data(X).blocks([3, 0, 1, 2], rows, chosen, dtype)
    seen = []
    for stratum, values in blocks:
        expected = KERNELS[stratum](X[rows], X[chosen])
        np.testing.assert_allclose(values, expected, rtol=1e-3 if dtype is np.float32 else 1e-12)
        assert values.dtype == dtype or stratum == 1
        seen.append(stratum)
    assert sorted(seen) == [0, 1, 2, 3]


def test_one_product_serves_all_kernels_of_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three kernels of inner products take one product; the function takes none."""
    products = []
    product = blocks._product
    monkeypatch.setattr(blocks, "_product", lambda *a: products.append(1) or product(*a))
    list(data(X).blocks([0, 1, 2, 3], slice(0, 5), slice(0, 7), np.float64))
    assert len(products) == 1
    list(data(X).blocks([1], slice(0, 5), slice(0, 7), np.float64))
    assert len(products) == 1


def test_columns_of_several_kernels_and_centres() -> None:
    """Each wanted pair is a column on the wanted rows, centres given twice included."""
    strata, indices = np.array([3, 0, 3, 1, 2]), np.array([7, 7, 0, 39, 7])
    for rows in (None, np.array([1, 20, 30])):
        columns = data(X).columns(strata, indices, rows)
        for stratum, index, values in zip(strata, indices, columns, strict=True):
            expected = KERNELS[stratum](X, X[[index]])[:, 0]
            np.testing.assert_allclose(values, expected if rows is None else expected[rows])


def test_products_of_float32_are_more_exact_in_parts() -> None:
    """Summed up over 128 features at a time, the error is below that bound, and beats one sum's."""
    rows = np.random.default_rng(1).uniform(size=(60, 3000)).astype(np.float32)
    exact = rows.astype(float) @ rows.astype(float).T
    unit, sizes = 2.0**-24, np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    found = blocks._product(rows, rows.copy(), 1)
    rounds = blocks._rounds(3000, np.dtype(np.float32))
    assert rounds == 128 + 24
    assert np.all(np.abs(found - exact) <= 1.01 * rounds * unit * sizes)
    assert blocks._rounds(3000, np.dtype(np.float64)) == 3001


def test_a_pickle_has_the_data_and_nothing_that_is_soon_made_again() -> None:
    """Norms and bounds on rounding stay behind; blocks are the same afterwards."""
    kept = KernelData(X, ("rbf",), [RBF(0.1)], 8)
    size = len(pickle.dumps(kept))
    kept.roundings(np.float32)
    assert len(pickle.dumps(kept)) == size
    copy = pickle.loads(pickle.dumps(kept))
    (_, one), (_, two) = (
        next(d.blocks([0], slice(0, 4), slice(0, 4), float)) for d in (kept, copy)
    )
    np.testing.assert_array_equal(one, two)


def test_a_precomputed_kernel_takes_values_by_their_numbers() -> None:
    """The centres of a given matrix are the numbers of its columns."""
    given = X[:, :40] @ X[:, :40].T
    kernels = KernelData(given, ("given",), [Precomputed()], 8)
    ((_, values),) = kernels.blocks([0], np.array([3, 4]), slice(10, 20), np.float64)
    np.testing.assert_array_equal(values, given[[3, 4], 10:20])


def test_values_that_are_not_finite_name_their_kernel() -> None:
    """An overflow within a block of shared products is reported like any other."""
    large = KernelData(1e200 * X, ("linear", "rbf"), [Linear(), RBF(0.1)], 8)
    with pytest.raises(KernelError, match="kernel 'rbf' returned nan"):
        list(large.blocks([1, 0], slice(0, 4), slice(0, 4), np.float64))


def test_kernels_on_the_same_columns_share_their_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """One product for each choice of columns, on all centres and on those that are wanted."""
    made = []
    product = SharedProducts.__init__

    def counted(shared: SharedProducts, A: np.ndarray, Z: np.ndarray) -> None:
        made.append(A.shape[1])
        product(shared, A, Z)

    monkeypatch.setattr(SharedProducts, "__init__", counted)
    widths = {f"rbf {gamma}": RBF(gamma) for gamma in (0.1, 1.0)}
    kernels = KernelLibrary(
        {f"{name} on {c}": On(k, c) for c in ([0], [3, 7]) for name, k in widths.items()}
        | {"quadratic on 0": On(Polynomial(2, coef0=1.0), [0])},
        normalize=True,
    ).fit(X)
    own = KernelData(X, tuple(kernels), list(kernels.values()), 64)
    values = {
        s: block.copy() for s, block in own.blocks(range(5), slice(0, 40), slice(0, 40), np.float64)
    }
    assert sorted(made) == [1, 2]
    columns = own.columns(np.array([4, 1, 0, 1, 2]), np.array([3, 9, 9, 0, 30]), None)
    assert sorted(made) == [1, 1, 2, 2]
    for stratum, kernel in enumerate(kernels.values()):
        np.testing.assert_allclose(values[stratum], kernel(X, X), rtol=1e-12, atol=1e-14)
    expected = [values[s][:, j] for s, j in ((4, 3), (1, 9), (0, 9), (1, 0), (2, 30))]
    np.testing.assert_allclose(columns, expected, rtol=1e-12, atol=1e-14)
