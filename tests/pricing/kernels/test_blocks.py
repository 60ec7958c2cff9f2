"""Blocks of kernel values, from as few products as can be, and what a sample of columns tells."""

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import cgboost.kernels.sparse_rows
from cgboost import RBF, CGBoostClassifier, KernelLibrary, Linear, Matern, On, Polynomial
from cgboost.exceptions import KernelError, KernelScaleWarning
from cgboost.kernels import FunctionKernel, Kernel, Normalized, ProductKernel
from cgboost.pricing.kernels import blocks
from cgboost.pricing.kernels.blocks import KernelData, SharedKernelProducts
from cgboost.pricing.kernels.pass_plan import KernelSample

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
    product = SharedKernelProducts.__init__

    def counted(shared: SharedKernelProducts, A: np.ndarray, Z: np.ndarray) -> None:
        made.append(A.shape[1])
        product(shared, A, Z)

    monkeypatch.setattr(SharedKernelProducts, "__init__", counted)
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
    monkeypatch.setattr(cgboost.kernels.sparse_rows, "PRODUCTS_AT_ONCE", 1)
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(40, n_features)), rng.normal(size=(9, n_features))
    for shared, centres in ((SharedKernelProducts(X, Z), Z), (SharedKernelProducts(X, X), X)):
        wanted = centres if places is None else centres[places]
        for kernel in [*SHARING, *SHARING[::-1]]:
            values = shared.values(kernel, places)
            np.testing.assert_allclose(values, kernel(X, wanted), rtol=1e-12, atol=1e-14)


ROWS = np.random.default_rng(0).uniform(size=(600, 5))


class Weighted(ProductKernel):
    """x·z ‖x‖², which is made of products and not symmetric."""

    def fill(self, out, products, x_norms, z_norms):
        out[...] = products * x_norms[:, None]

    def diagonal_from_norms(self, norms):
        return norms**2


def test_symmetry_is_seen_not_believed() -> None:
    """Kernels of products are symmetric if their values are; functions are never taken for it."""
    kernels = [Linear(), Weighted(), RBF(0.5), FunctionKernel(lambda A, B: A @ B.T)]
    sample = KernelSample(KernelData(ROWS, tuple("abcd"), kernels, 64))
    assert sample.symmetric == [True, False, True, False]


def test_typical_norms_are_those_of_columns_on_all_rows() -> None:
    """From a few columns on some of the rows, within a quarter."""
    kernels = [Linear(), Polynomial(3)]
    sample = KernelSample(KernelData(ROWS, ("linear", "cubic"), kernels, 64))
    for kernel, norm in zip(kernels, sample.norms.values(), strict=True):
        assert norm == pytest.approx(
            np.median(np.linalg.norm(kernel(ROWS, ROWS), axis=0)), rel=0.25
        )


def test_only_wild_differences_are_warned_about() -> None:
    """A factor of 10⁵ passes, one of 10⁷ does not, and columns of zeros do not count."""
    zero, small = 0.0 * Linear(), 1e-5 * Linear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelSample(
            KernelData(ROWS, tuple("abc"), [Linear(), small, zero], 64)
        ).warn_about_scales()
    tiny = KernelSample(KernelData(ROWS, ("a", "b"), [Linear(), 1e-7 * Linear()], 64))
    with pytest.warns(KernelScaleWarning, match=r"a \d\.\de\+\d\d, b \d"):
        tiny.warn_about_scales()


@pytest.mark.parametrize("kernel", [RBF(0.5), On(RBF(0.5), [0, 1, 2]), Matern()], ids=str)
def test_float32_rows_far_from_the_origin_are_predicted_as_they_were_fitted(kernel: Any) -> None:
    """The outputs of the training rows cost what the objective says, whatever their mean."""
    rng = np.random.default_rng(0)
    ROWS = rng.normal(size=(120, 3))
    y = np.where(ROWS[:, 0] * ROWS[:, 1] > 0, 1, -1)
    rows = (ROWS + 1e3).astype(np.float32)
    model = CGBoostClassifier({"k": kernel}).fit(rows, y)
    errors = np.maximum(0.0, 1.0 - y * model.decision_function(rows)).sum()
    assert errors + np.abs(model.dual_coef_).sum() == pytest.approx(model.objective_, rel=1e-6)


def test_powers_that_overflow_in_float32_are_taken_in_float64() -> None:
    """A normalised polynomial of large float32 rows is that of float64 rows."""
    rng = np.random.default_rng(0)
    ROWS = 1e10 * (rng.normal(size=(100, 3)) + 1)
    y = ROWS[:, 0] * ROWS[:, 1] > 0
    library = KernelLibrary({"q": Polynomial(2)}, normalize=True)
    narrow, wide = (
        CGBoostClassifier(library, C=5).fit(ROWS.astype(dtype), y) for dtype in (np.float32, float)
    )
    assert narrow.n_columns_ == wide.n_columns_ > 0
    assert narrow.objective_ == pytest.approx(wide.objective_, rel=1e-5)
