"""Gradients of kernels by their centres, against central differences in float64."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from cgboost import (
    RBF,
    Cosine,
    KernelLibrary,
    Laplacian,
    Linear,
    Matern,
    On,
    Polynomial,
    RationalQuadratic,
)
from cgboost.exceptions import KernelError
from cgboost.kernels import Kernel, Normalized, Power, Product, Sum
from cgboost.kernels.precomputed import FunctionKernel

SHIFT = 1e-5
"""Step of the differences: its square and the rounding over it are both about 1e-10."""

ATOMS: list[Kernel] = [
    Linear(),
    Polynomial(1, coef0=0.5),
    Polynomial(2),
    Polynomial(3, gamma=0.5, coef0=1.0),
    Polynomial(5, gamma=0.2, coef0=0.3),
    RBF(0.3),
    Matern(0.2, nu=0.5),
    Matern(0.2, nu=1.5),
    Matern(0.2, nu=2.5),
    RationalQuadratic(1.3, alpha=0.7),
]


@dataclass(frozen=True)
class OwnKernel(Kernel):
    """(1 + x·z)², with its gradient, as a user writes it."""

    def __call__(self, X: Any, Z: Any) -> Any:
        return (1.0 + X @ Z.T) ** 2

    def centre_gradient(self, X: Any, Z: Any, weights: Any) -> Any:
        """Σ_i 2 w_ij (1 + x_i·z_j) x_i."""
        return (2.0 * weights * (1.0 + X @ Z.T)).T @ X


def composites() -> Iterator[Kernel]:
    """Sums, products, powers, parts of columns and normalised ones, nested."""
    own = OwnKernel()
    yield from (Normalized(kernel) for kernel in ATOMS)
    yield Cosine()
    yield 0.5 * Linear() + 2.0 * RBF(0.2)
    yield Polynomial(2, coef0=1.0) * RBF(0.1) * Matern(0.3)
    yield Power(RBF(0.2) + Linear(), 3)
    yield Normalized(Power(Linear() + 0.3 * Polynomial(2), 2) * RBF(0.1))
    yield Product((Normalized(Polynomial(3)), Sum(((0.5, RBF(0.4)), (1.0, Linear())))))
    yield own
    yield Normalized(own)
    yield Normalized(own + RBF(0.3)) * own
    yield Power(0.5 * own + Linear(), 2)
    yield On(RBF(0.4), [0, 2]) + On(Normalized(Polynomial(2)), 1)
    yield Normalized(On(Polynomial(2, coef0=0.5), slice(1, 3)) * On(RBF(0.2), [0]))


def difference(kernel: Kernel, X: np.ndarray, Z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The gradient of Σ w k(x, z) by central differences, one feature at a time."""
    gradient = np.empty(Z.shape)
    for feature in range(Z.shape[1]):
        step = SHIFT * (np.arange(Z.shape[1]) == feature)
        change = kernel(X, Z + step) - kernel(X, Z - step)
        gradient[:, feature] = np.einsum("ij,ij->j", weights, change) / (2.0 * SHIFT)
    return gradient


@pytest.mark.parametrize("kernel", [*ATOMS, *composites()], ids=repr)
def test_the_gradient_is_that_of_differences(kernel: Kernel) -> None:
    """Σ_ij w_ij ∂k(x_i, z_j)/∂z_j equals central differences, whatever the kernel is made of."""
    rng = np.random.default_rng(0)
    X, Z, weights = rng.normal(size=(9, 4)), rng.normal(size=(5, 4)), rng.normal(size=(9, 5))
    expected = difference(kernel, X, Z, weights)
    found = kernel.centre_gradient(X, Z, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kernel", ATOMS, ids=repr)
def test_values_and_the_diagonal_go_with_the_slopes(kernel: Kernel) -> None:
    """Slopes carry the kernel's own values, and the diagonal's slope is that of k(z, z)."""
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    norms = (X**2).sum(axis=1), (Z**2).sum(axis=1)
    slopes = kernel.slopes(X @ Z.T, *norms)
    np.testing.assert_allclose(slopes.values, kernel(X, Z), rtol=1e-12)
    ends = [kernel.diagonal_from_norms(norms[1] + step) for step in (SHIFT, -SHIFT)]
    change = (ends[0] - ends[1]) / (2.0 * SHIFT)
    np.testing.assert_allclose(kernel.diagonal_slopes(norms[1]), change, rtol=1e-8, atol=1e-10)


def test_a_centre_may_be_a_row_and_a_row_may_be_zero() -> None:
    """Where z = x a kernel of the distance has slope 0, and a normalised one is 0 at a zero row."""
    X = np.vstack([np.eye(3), np.zeros(3)])
    for kernel in (RBF(0.5), Matern(0.5, nu=0.5), Matern(0.5, nu=1.5), Normalized(Polynomial(2))):
        gradient = kernel.centre_gradient(X, X, np.eye(4))
        np.testing.assert_allclose(gradient, 0.0, atol=1e-15)


def test_narrow_rows_give_the_same_to_their_precision() -> None:
    """With float32 rows the products are made in float32, and sums in float64."""
    rng = np.random.default_rng(2)
    X, Z = rng.normal(size=(3000, 6)), rng.normal(size=(200, 6))
    weights = rng.normal(size=(3000, 200))
    kernel = Normalized(Polynomial(4, coef0=1.0))
    wide = kernel.centre_gradient(X, Z, weights)
    narrow = kernel.centre_gradient(*(own.astype(np.float32) for own in (X, Z, weights)))
    assert narrow.dtype == np.float64
    np.testing.assert_allclose(narrow, wide, rtol=1e-3, atol=1e-3 * np.abs(wide).max())


@pytest.mark.parametrize(
    "kernel",
    [Laplacian(0.5), FunctionKernel(lambda X, Z: X @ Z.T, "mine"), Normalized(Laplacian(0.5))],
)
def test_a_kernel_without_a_gradient_says_so(kernel: Kernel) -> None:
    """The error names the kernel and the two ways out."""
    X = np.eye(3)
    with pytest.raises(
        KernelError, match=r"no gradient by its centre.*gives centre_gradient.*centers='rows'"
    ):
        kernel.centre_gradient(X, X, np.eye(3))


def test_kernels_of_a_library_have_gradients_as_they_were_fitted() -> None:
    """Widths taken from the rows, and the library's normalisation, are part of the gradient."""
    X = np.random.default_rng(3).normal(size=(20, 3))
    library = KernelLibrary({"rbf": RBF(), "cubic": Polynomial(3, coef0=1.0)}, normalize=True)
    for kernel in library.fit(X).values():
        weights = np.ones((20, 2))
        expected = difference(kernel, X, X[:2] + 0.1, weights)
        found = kernel.centre_gradient(X, X[:2] + 0.1, weights)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
