"""What all kernels promise: values, sums, rounding, gradients and prices by their formulas."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import cgboost.kernels.expansions
import cgboost.kernels.sparse_rows
from cgboost import KernelLibrary, RationalQuadratic
from cgboost.exceptions import KernelError
from cgboost.kernels import Kernel, Normalized, Power, squared_norms
from cgboost.kernels.definite import check_gram
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing import KernelPool, StrataPricer
from tests.cases import law
from tests.effort import examples
from tests.kernels.cases import (
    EXPANDING,
    KERNELS,
    OF_PRODUCTS,
    KernelCase,
    arithmetic,
    by_formula,
    rows,
    rows_for,
)
from tests.pricing.cases import state_of

SCALES, N_FEATURES = (1e-3, 1.0, 30.0), (1, 7, 300)
RQ = RationalQuadratic(1.0)
SHIFT = 1e-5
"""Step of differences: its square and the rounding over it are both about 1e-10."""


def two_sets(case: KernelCase, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, centres that are others, and weights of the centres."""
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(9, 4)), rng.normal(size=(6, 4))
    return rows_for(case, X), rows_for(case, Z), rng.normal(size=6)


@law(KERNELS)
def test_values_and_the_diagonal_are_those_of_the_formula(case: KernelCase) -> None:
    """In the precision of the rows; where another package has the kernel, they are its values."""
    kernel, (X, Z, _) = case.make(), two_sets(case)
    expected, exact = case.formula(X, Z), {"rtol": 1e-10, "atol": 1e-14}
    np.testing.assert_allclose(kernel(X, Z), expected, **exact)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(case.formula(X, X)), rtol=1e-10)
    if case.peer is not None:
        np.testing.assert_allclose(kernel(X, Z), case.peer(X, Z), rtol=1e-10, atol=1e-14)
    single = X.astype(np.float32), Z.astype(np.float32)
    if case.narrow:
        assert kernel(*single).dtype == kernel.diagonal(single[0]).dtype == np.float32
    np.testing.assert_allclose(kernel(*single), expected, rtol=1e-3, atol=1e-5)


@law(KERNELS, lambda case: case.make().of_products)
@pytest.mark.parametrize("chunk", [1, 2**16])
def test_values_and_sums_follow_from_products(
    case: KernelCase, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever ``out`` is, in chunks or not; products are changed only where they are ``out``."""
    monkeypatch.setattr(cgboost.kernels.sparse_rows, "PRODUCTS_AT_ONCE", chunk)
    kernel, rng = case.make(), np.random.default_rng(0)
    X, Z, weights = rng.normal(size=(70, 4)), rng.normal(size=(5, 4)), rng.normal(size=5)
    X[3] = 0.0
    products, norms, expected = X @ Z.T, (squared_norms(X), squared_norms(Z)), case.formula(X, Z)
    untouched, other = products.copy(), np.full_like(products, np.nan)
    close = {"rtol": 1e-10, "atol": 1e-12 * max(1.0, np.abs(expected).max())}
    fresh = kernel.from_products(products, *norms)
    np.testing.assert_allclose(fresh, expected, **close)
    assert not np.shares_memory(fresh, products)
    assert kernel.from_products(products, *norms, out=other) is other
    total = kernel.sum_from_products(products, *norms, weights)
    np.testing.assert_allclose(total, expected @ weights, **close)
    np.testing.assert_array_equal(products, untouched)
    single = kernel.from_products(products.astype(np.float32), *norms)
    assert single.dtype == np.float32
    assert kernel.from_products(products, *norms, out=products) is products
    np.testing.assert_array_equal(other, fresh)
    np.testing.assert_array_equal(products, fresh)
    diagonal = kernel.diagonal_from_norms(norms[1])
    np.testing.assert_allclose(diagonal, np.diag(case.formula(Z, Z)), rtol=1e-8)


@law(KERNELS)
def test_a_kernel_is_a_value(case: KernelCase) -> None:
    """Pickled, fitted, made of its own parameters or cloned it is equal, with the same hash."""
    kernel, (X, _, _) = case.make(), two_sets(case)
    own = kernel.get_params(deep=False)
    again = [
        pickle.loads(pickle.dumps(kernel)),
        type(kernel)(**own),
        kernel.set_params(**own),
        kernel.set_params(**kernel.get_params()),
    ]
    fitted = kernel.fit(X)
    assert fitted == fitted.fit(X)
    np.testing.assert_array_equal(fitted(X, X), kernel(X, X))
    assert all(other == kernel and hash(other) == hash(kernel) for other in again)
    assert clone(kernel) is kernel


@law(KERNELS, lambda case: case.make().of_products)
@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 10**6),
    scale=st.sampled_from(SCALES),
    n_features=st.sampled_from(N_FEATURES),
)
def test_rounding_is_bounded(case: KernelCase, seed: int, scale: float, n_features: int) -> None:
    """Values in float32 are within the bound, if there is one; none is larger than its sizes."""
    kernel, X = case.make(), rows(seed, scale=scale, n_features=n_features)
    bound = kernel.rounding(arithmetic(X, np.float32))
    if bound is None:
        assert not case.bounded
        return
    exact = case.formula(X.astype(np.float64), X.astype(np.float64))
    sizes = np.outer(bound.size, bound.size)
    with np.errstate(over="ignore"):
        computed = kernel(X, X)
    assert np.all(np.abs(exact) <= sizes * (1 + 1e-9) + 1e-300)
    assert np.all(np.abs(computed - exact) <= bound.relative * sizes + 1e-38)


@law(KERNELS)
def test_prices_claim_no_less_than_there_is(case: KernelCase) -> None:
    """Pricing in float32 claims no excess that is below the exact one."""
    kernel = case.make()
    for scale in SCALES:
        for n_features in (count for count in N_FEATURES if count >= case.fewest):
            X = rows_for(case, rows(0, scale=scale, n_features=n_features))
            response = np.random.default_rng(3).normal(size=len(X))
            gram = case.formula(X.astype(np.float64), X.astype(np.float64))
            terms = float((np.abs(gram) @ np.abs(response)).max())
            exact = float(np.abs(gram @ response).max()) - 1.0
            pool = KernelPool(KernelLibrary({"own": kernel}), X, block_size=8)
            for tol in (1e12, 1e-6):
                state = state_of(response, OneNormEntry(True))
                priced = StrataPricer(pool, tol=tol).price(state, 1)
                assert priced.max_excess >= exact - 1e-11 * terms


@law(KERNELS)
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_sparse_rows_have_the_values_of_dense_ones(case: KernelCase, kind: type) -> None:
    """A kernel that needs dense rows says so by its name."""
    kernel, rng = case.make(), np.random.default_rng(0)
    X = rng.normal(size=(30, 12)) * (rng.random((30, 12)) < 0.3)
    X[4] = 0.0
    if case.sparse:
        np.testing.assert_allclose(kernel(kind(X), kind(X[:7])), kernel(X, X[:7]), atol=1e-13)
        np.testing.assert_allclose(kernel.diagonal(kind(X)), kernel.diagonal(X), atol=1e-13)
        assert kernel.fit(kind(X)) == kernel
    elif type(kernel).__module__.endswith("differences"):
        with pytest.raises(KernelError, match=rf"{type(kernel).__name__}.*needs dense rows"):
            kernel(kind(X), kind(X))


@law(KERNELS)
def test_the_gradient_is_that_of_differences(case: KernelCase) -> None:
    """Σ_ij w_ij ∂k(x_i, z_j)/∂z_j equals central differences; without one the error says so."""
    kernel, rng = case.make(), np.random.default_rng(0)
    X, Z, weights = rng.normal(size=(9, 4)), rng.normal(size=(5, 4)), rng.normal(size=(9, 5))
    if not case.gradient:
        words = r"no gradient by its centre.*gives centre_gradient.*centers='rows'"
        with pytest.raises(KernelError, match=words):
            kernel.centre_gradient(X, Z, weights)
        return
    expected = np.empty(Z.shape)
    for feature in range(Z.shape[1]):
        step = SHIFT * (np.arange(Z.shape[1]) == feature)
        change = kernel(X, Z + step) - kernel(X, Z - step)
        expected[:, feature] = np.einsum("ij,ij->j", weights, change) / (2.0 * SHIFT)
    found = kernel.centre_gradient(X, Z, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


@law(KERNELS, lambda case: case.gradient and case.make().of_products)
def test_values_and_the_diagonal_go_with_the_slopes(case: KernelCase) -> None:
    """Slopes carry the kernel's own values, and the diagonal's slope is that of k(z, z)."""
    kernel, (X, Z, _) = case.make(), two_sets(case)
    norms = squared_norms(X), squared_norms(Z)
    slopes = kernel.slopes(X @ Z.T, *norms)
    np.testing.assert_allclose(slopes.values, kernel(X, Z), rtol=1e-12)
    ends = [kernel.diagonal_from_norms(norms[1] + step) for step in (SHIFT, -SHIFT)]
    change = (ends[0] - ends[1]) / (2.0 * SHIFT)
    np.testing.assert_allclose(kernel.diagonal_slopes(norms[1]), change, rtol=1e-8, atol=1e-10)


@law(KERNELS, lambda case: case.definite)
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_rounding_is_no_evidence_of_indefiniteness(case: KernelCase, scale: float) -> None:
    """Values of any scale, in either precision and of sparse rows, pass as semi-definite."""
    X = rows_for(case, np.random.default_rng(0).normal(size=(120, 4)))
    kernel = scale * case.make()
    for own in [X, X.astype(np.float32), *([sp.csr_matrix(X)] if case.sparse else [])]:
        check_gram("mine", kernel(own, own))


def expands(case: KernelCase) -> bool:
    """Whether a kernel has sums without values."""
    return math.isfinite(case.make().expansion_cost(40, 4, 9))


@law(KERNELS, expands)
@pytest.mark.parametrize("block", [1, 7, 1024])
@pytest.mark.parametrize("precisions", [("f8", "f8"), ("f4", "f4"), ("f8", "f4"), ("f4", "f8")])
def test_an_expansion_is_the_sum_of_the_values(
    case: KernelCase, precisions: tuple[str, str], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few rows at a time, in the precision that rows and centres both have; sums in float64."""
    monkeypatch.setattr(cgboost.kernels.expansions, "ROWS_AT_ONCE", block)
    rng = np.random.default_rng(0)
    X, Z, weights = rng.normal(size=(30, 4)), rng.normal(size=(60, 4)), rng.normal(size=60)
    X[7], Z[5] = 0.0, 0.0
    X, Z = X.astype(precisions[0]), Z.astype(precisions[1])
    values = case.formula(X, Z)
    size = (np.abs(values) @ np.abs(weights)).max()
    found = case.make().expanded(Z, weights)(X)
    assert found.dtype == np.float64
    off = 1e-12 if precisions == ("f8", "f8") else 1e-5
    np.testing.assert_allclose(found, values @ weights, rtol=0, atol=off * size)


@settings(max_examples=examples(100))
@given(kernel=EXPANDING, seed=st.integers(0, 10**6))
def test_expansions_of_any_nesting(kernel: Kernel, seed: int) -> None:
    """Sums and normalisations of linear and quadratic kernels, nested, with rows of zeros."""
    rng = np.random.default_rng(seed)
    X, Z, weights = rng.normal(size=(9, 3)), rng.normal(size=(40, 3)), rng.normal(size=40)
    X[4], Z[2] = 0.0, 0.0
    values = by_formula(kernel, X, Z)
    size = (np.abs(values) @ np.abs(weights)).max(initial=1.0)
    assert math.isfinite(kernel.expansion_cost(40, 3, 9))
    found = kernel.expanded(Z, weights)(X)
    np.testing.assert_allclose(found, values @ weights, rtol=0, atol=1e-12 * size)


@settings(max_examples=examples(60))
@given(
    kernel=OF_PRODUCTS,
    exponent=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_kernels_of_any_nesting(kernel: Kernel, exponent: int, seed: int, dtype: type) -> None:
    """They, their products, powers and normalisations: by formula, semi-definite, bounded."""
    A = np.random.default_rng(seed).normal(size=(9, 3))
    A[1], A[2] = 0.0, A[0]
    norms = squared_norms(A)
    for own in (kernel, kernel * RQ, kernel**2, Normalized(kernel * RQ)):
        values, expected = own(A, A), by_formula(own, A, A)
        scale = max(1.0, np.abs(expected).max())
        close = {"rtol": 1e-9 if own is kernel else 1e-7, "atol": 1e-9 * scale}
        assert own.of_products
        np.testing.assert_allclose(values, expected, **close)
        np.testing.assert_allclose(own.from_products(A @ A.T, norms, norms), expected, **close)
        np.testing.assert_allclose(own.diagonal_from_norms(norms), np.diag(expected), **close)
        np.testing.assert_allclose(values, values.T, rtol=1e-9, atol=1e-12 * scale)
        assert np.linalg.eigvalsh(values).min() >= -1e-9 * scale
        assert pickle.loads(pickle.dumps(own)) == own
    A = rows(seed, scale=0.5, n_features=5).astype(dtype)
    for own in (Power(kernel, exponent), kernel * RQ):
        bound = own.rounding(arithmetic(A, dtype))
        if bound is None:
            continue
        norms = squared_norms(A)
        values, exact = own.from_products(A @ A.T, norms, norms), by_formula(own, A, A)
        off = np.abs(values.astype(np.float64) - exact)
        sizes = np.outer(bound.size, bound.size)
        assert np.all(off <= (bound.relative + 1e-14) * sizes + 1e-37)
