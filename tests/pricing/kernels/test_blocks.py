"""Blocks of kernel values: those of the kernels, from as few products as can be."""

import pickle

import numpy as np
import pytest

import cgboost.kernels.rows
from cgboost import RBF, KernelLibrary, Linear, Matern, On, Polynomial
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
    """Norms and bounds on rounding stay behind; blocks are the same afterwards.

    An overflow within a block of shared products names its kernel.
    """
    kept = KernelData(X, ("rbf",), [RBF(0.1)], 8)
    size = len(pickle.dumps(kept))
    kept.roundings(np.float32)
    assert len(pickle.dumps(kept)) == size
    copy = pickle.loads(pickle.dumps(kept))
    (_, one), (_, two) = (
        next(d.blocks([0], slice(0, 4), slice(0, 4), float)) for d in (kept, copy)
    )
    np.testing.assert_array_equal(one, two)
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


SHARING: list[Kernel] = [
    RBF(0.1),
    RBF(3.0),
    Normalized(RBF(0.5)),
    Polynomial(3, coef0=1.0),
    Normalized(Linear()),
    Matern(0.2, nu=0.5),
]


@pytest.mark.parametrize("n_features", [1, 4])
@pytest.mark.parametrize("places", [None, np.array([8, 0, 3])])
def test_each_kernel_that_shares_a_product_has_its_own_values(
    n_features: int, places: np.ndarray | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For all centres and for some, whatever was asked for before, a few rows at a time."""
    monkeypatch.setattr(cgboost.kernels.rows, "PRODUCTS_AT_ONCE", 1)
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(40, n_features)), rng.normal(size=(9, n_features))
    for shared, centres in ((SharedProducts(X, Z), Z), (SharedProducts(X, X), X)):
        wanted = centres if places is None else centres[places]
        for kernel in [*SHARING, *SHARING[::-1]]:
            values = shared.values(kernel, places)
            np.testing.assert_allclose(values, kernel(X, wanted), rtol=1e-12, atol=1e-14)
