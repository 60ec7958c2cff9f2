"""Kernels of one's own: what they need, what they get for it, and what they are told they lack."""

import numpy as np
import pytest

from cgboost import RBF, Linear, Polynomial, Precomputed
from cgboost.exceptions import KernelError
from cgboost.kernels import FunctionKernel, Kernel, Normalized, squared_norms

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(70, 4)), RNG.normal(size=(5, 4))


class Wave(Kernel):
    """A kernel of a user: nothing but ``__call__``."""

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return np.cos(X.sum(axis=1)[:, None] - Z.sum(axis=1))


@pytest.mark.parametrize(
    "kernel", [Wave(), Normalized(Wave()), 2 * Wave() + Linear(), Normalized(2 * Wave())]
)
def test_a_kernel_of_ones_own_needs_only_its_values(kernel: Kernel) -> None:
    """Sums and normalisations of a kernel that has nothing but ``__call__`` work."""
    full = kernel(X, X)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(full), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(X, Z), kernel(np.vstack([X, Z]), Z)[:70], rtol=1e-12)


@pytest.mark.parametrize(
    "kernel",
    [Wave(), FunctionKernel(lambda A, B: A @ B.T, "mine"), Precomputed(), Linear() + Wave()],
)
def test_kernels_without_structure_say_so(kernel: Kernel) -> None:
    """They have no products and no expansion; asked all the same, they name themselves."""
    assert not kernel.of_products
    assert kernel.expansion(X, np.ones(len(X)), n_rows=10**9) is None
    norms = squared_norms(X), squared_norms(Z)
    for ask in (
        lambda: Wave().from_products(X @ Z.T, *norms),
        lambda: Wave().sum_from_products(X @ Z.T, *norms, np.ones(5)),
        lambda: Wave().diagonal_from_norms(norms[0]),
        lambda: Wave().expanded(X, np.ones(len(X))),
    ):
        with pytest.raises(KernelError, match=r"Wave.* has no (values|expansion)"):
            ask()


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


@pytest.mark.parametrize("n_rows", [0, 1, 16, 33])
def test_the_diagonal_of_a_function_takes_few_calls(n_rows: int) -> None:
    """k(x, x) is that of the formula, in the precision of the rows; 16 rows are one call."""
    calls = []

    def laplacian(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        calls.append(len(A))
        return (1.0 + A[:, None, 0] * B[:, 0]) * np.exp(-np.abs(A[:, None] - B).sum(axis=-1))

    rows = RNG.normal(size=(n_rows, 3)).astype(np.float32)
    diagonal = FunctionKernel(laplacian).diagonal(rows)
    assert diagonal.dtype == np.float32
    np.testing.assert_allclose(diagonal, 1.0 + rows[:, 0] ** 2, rtol=1e-6)
    assert len(calls) == -(-n_rows // 16)


def test_whole_numbers_do_not_overflow() -> None:
    """Pixels of 0 to 255 in bytes give the same values as the same pixels in floats."""
    pixels = RNG.integers(0, 256, size=(6, 40), dtype=np.uint8)
    for kernel in (Linear(), Polynomial(3, gamma=0.5, coef0=1.0), RBF(1e-6)):
        expected = kernel(pixels.astype(float), pixels.astype(float))
        np.testing.assert_allclose(kernel(pixels, pixels), expected, rtol=1e-5)
