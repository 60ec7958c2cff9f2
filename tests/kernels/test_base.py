"""What kernels tell about their structure: values from inner products, and the rest without."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cgboost.kernels.rows
from cgboost import RBF, Linear, Polynomial, Precomputed
from cgboost.exceptions import KernelError
from cgboost.kernels import FunctionKernel, Kernel, Normalized, ProductKernel, squared_norms
from tests.kernels.formulas import OF_PRODUCTS, by_formula

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(70, 4)), RNG.normal(size=(5, 4))
X[3] = 0.0

KERNELS = [
    Linear(),
    Polynomial(2),
    Polynomial(3, gamma=0.5, coef0=1.0),
    RBF(0.4),
    Linear() + 0.5 * RBF(0.1),
    Normalized(Polynomial(2)),
    Normalized(Linear() + Polynomial(2)),
    0.5 * (Normalized(Linear()) + RBF(0.3)),
]


class Cosine(Kernel):
    """A kernel of a user: nothing but ``__call__``."""

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return np.cos(X.sum(axis=1)[:, None] - Z.sum(axis=1))


@given(kernel=OF_PRODUCTS, seed=st.integers(0, 10**6))
def test_values_and_diagonals_follow_from_products_and_norms(kernel: Kernel, seed: int) -> None:
    """Products and squared norms alone give the values and the diagonal of any such kernel."""
    rng = np.random.default_rng(seed)
    rows, centres = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    rows[1], centres[2] = 0.0, rows[0]
    expected = by_formula(kernel, rows, centres)
    close = {"rtol": 1e-9, "atol": 1e-9 * np.abs(expected).max(initial=1.0)}
    norms = squared_norms(rows), squared_norms(centres)
    assert kernel.of_products
    np.testing.assert_allclose(kernel(rows, centres), expected, **close)
    np.testing.assert_allclose(kernel.from_products(rows @ centres.T, *norms), expected, **close)
    np.testing.assert_allclose(
        kernel.diagonal_from_norms(norms[1]), np.diag(by_formula(kernel, centres, centres)), **close
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("chunk", [1, 2**16])
def test_products_are_changed_only_where_they_are_the_output(
    kernel: Kernel, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever ``out`` is, and in chunks or not, the values are the same."""
    monkeypatch.setattr(cgboost.kernels.rows, "PRODUCTS_AT_ONCE", chunk)
    products, norms = X @ Z.T, (squared_norms(X), squared_norms(Z))
    untouched, other = products.copy(), np.full_like(products, np.nan)
    fresh = kernel.from_products(products, *norms)
    assert not np.shares_memory(fresh, products)
    assert kernel.from_products(products, *norms, out=other) is other
    np.testing.assert_array_equal(products, untouched)
    assert kernel.from_products(products, *norms, out=products) is products
    np.testing.assert_array_equal(other, fresh)
    np.testing.assert_array_equal(products, fresh)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_weighted_sums_follow_from_products(kernel: Kernel) -> None:
    """Σ_j w_j k(x, z_j) from products is that of the values, and leaves the products alone."""
    products, weights = X @ Z.T, RNG.normal(size=len(Z))
    untouched = products.copy()
    total = kernel.sum_from_products(products, squared_norms(X), squared_norms(Z), weights)
    np.testing.assert_allclose(total, by_formula(kernel, X, Z) @ weights, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(products, untouched)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_single_precision_is_kept(kernel: Kernel) -> None:
    """Single precision rows give single precision values; their sums are in double precision."""
    rows, centres = X.astype(np.float32), Z.astype(np.float32)
    products, norms = rows @ centres.T, (squared_norms(rows), squared_norms(centres))
    assert kernel(rows, centres).dtype == np.float32
    assert kernel.diagonal(rows).dtype == np.float32
    assert kernel.from_products(products, *norms).dtype == np.float32
    assert kernel.sum_from_products(products, *norms, np.ones(5)).dtype == np.float64


@pytest.mark.parametrize("n_rows", [0, 1, 16, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_diagonal_of_a_function_takes_few_calls(n_rows: int, dtype: type) -> None:
    """k(x, x) is that of the formula, in the precision of the rows; 16 rows are one call."""
    calls = []

    def laplacian(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        calls.append(len(A))
        return (1.0 + A[:, None, 0] * B[:, 0]) * np.exp(-np.abs(A[:, None] - B).sum(axis=-1))

    rows = RNG.normal(size=(n_rows, 3)).astype(dtype)
    diagonal = FunctionKernel(laplacian).diagonal(rows)
    assert diagonal.dtype == dtype
    np.testing.assert_allclose(diagonal, 1.0 + rows[:, 0] ** 2, rtol=1e-6)
    assert len(calls) == -(-n_rows // 16)


def test_whole_numbers_do_not_overflow() -> None:
    """Pixels of 0 to 255 in bytes give the same values as the same pixels in floats."""
    pixels = RNG.integers(0, 256, size=(6, 40), dtype=np.uint8)
    for kernel in KERNELS[:3]:
        np.testing.assert_allclose(
            kernel(pixels, pixels), kernel(pixels.astype(float), pixels.astype(float)), rtol=1e-5
        )


def test_a_single_precision_rbf_is_nearly_1_on_the_diagonal() -> None:
    """Distances of equal rows are 0 but for the rounding of ‖x‖²."""
    rows = RNG.uniform(size=(200, 784)).astype(np.float32)
    gamma = 0.02
    rounding = gamma * squared_norms(rows).max() * 20 * np.finfo(np.float32).eps
    assert np.abs(np.diag(RBF(gamma)(rows, rows)) - 1).max() <= rounding


@pytest.mark.parametrize(
    "kernel",
    [Cosine(), FunctionKernel(lambda A, B: A @ B.T, "mine"), Precomputed(), Linear() + Cosine()],
)
def test_kernels_without_structure_say_so(kernel: Kernel) -> None:
    """They have no products and no expansion; asked all the same, they name themselves."""
    assert not kernel.of_products
    assert kernel.expansion(X, np.ones(len(X)), n_rows=10**9) is None
    norms = squared_norms(X), squared_norms(Z)
    for ask in (
        lambda: Cosine().from_products(X @ Z.T, *norms),
        lambda: Cosine().sum_from_products(X @ Z.T, *norms, np.ones(5)),
        lambda: Cosine().diagonal_from_norms(norms[0]),
        lambda: Cosine().expanded(X, np.ones(len(X))),
    ):
        with pytest.raises(KernelError, match=r"Cosine.* has no (values|expansion)"):
            ask()


@pytest.mark.parametrize(
    "kernel", [Cosine(), Normalized(Cosine()), 2 * Cosine() + Linear(), Normalized(2 * Cosine())]
)
def test_a_kernel_of_ones_own_needs_only_its_values(kernel: Kernel) -> None:
    """Sums and normalisations of a kernel that has nothing but ``__call__`` work."""
    full = kernel(X, X)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(full), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(X, Z), kernel(np.vstack([X, Z]), Z)[:70], rtol=1e-12)


def test_a_product_kernel_of_ones_own_is_its_formula() -> None:
    """``fill`` and the diagonal are all that a new kernel of inner products needs."""

    class Rational(ProductKernel):
        def fill(self, out, products, x_norms, z_norms):
            np.divide(1.0, 1.0 + x_norms[:, None] + z_norms - 2 * products, out=out)

        def diagonal_from_norms(self, norms):
            return np.ones_like(norms)

    distances = ((X[:, None] - Z) ** 2).sum(axis=2)
    np.testing.assert_allclose(Rational()(X, Z), 1 / (1 + distances), rtol=1e-10)
    np.testing.assert_allclose(Rational().diagonal(X), 1.0)
    np.testing.assert_allclose(
        (Rational() + Linear())(X, Z), 1 / (1 + distances) + X @ Z.T, rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("asked", ["diagonal_from_norms", "fill"])
def test_what_a_kernel_of_products_lacks_is_named(asked: str) -> None:
    """A kernel that says that it is one of products, without the methods that this needs."""

    class Half(Kernel):
        of_products = True

        def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
            return X @ Z.T

    arguments = [np.ones(2)] if asked == "diagonal_from_norms" else [np.ones((2, 2))] * 4
    with pytest.raises(KernelError, match=f"is of_products and lacks the method {asked} that"):
        getattr(Half(), asked)(*arguments)
