"""Sums and normalisations of kernels."""

import numpy as np
import pytest

from cgboost import RBF, KernelLibrary, Linear, Polynomial, Precomputed
from cgboost.exceptions import KernelError
from cgboost.kernels import Kernel, Normalized

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(7, 4)), RNG.normal(size=(5, 4))


@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(3, coef0=2.0), RBF(0.3), Linear() + RBF(2.0)], ids=str
)
def test_diagonal_and_normalisation(kernel: Kernel) -> None:
    """Diagonal is k(x, x), and the normalised kernel has k(x, z)/√(k(x, x) k(z, z))."""
    full = kernel(X, X)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(full), rtol=1e-12)
    root = np.sqrt(np.diag(full))
    np.testing.assert_allclose(Normalized(kernel)(X, X), full / np.outer(root, root), rtol=1e-12)
    np.testing.assert_allclose(Normalized(kernel).diagonal(X), 1.0)


def test_normalised_kernel_of_a_zero_row_is_zero() -> None:
    """A row of zeros has no direction: its cosine with anything is 0, not NaN."""
    rows = np.vstack([np.zeros(4), X])
    values = Normalized(Linear())(rows, rows)
    assert np.all(values[0] == 0)
    assert np.all(values[:, 0] == 0)
    np.testing.assert_array_equal(Normalized(Linear()).diagonal(rows), [0.0] + [1.0] * len(X))


def test_widths_inside_composites_are_set() -> None:
    """Fitting a sum or a normalised kernel fits the kernels in it."""
    fitted = Normalized(Linear() + RBF()).fit(X)
    width = RBF().fit(X).gamma
    np.testing.assert_allclose(fitted(X, Z), Normalized(Linear() + RBF(width))(X, Z))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Precomputed() + Linear(), "cannot be part of a sum"),
        (lambda: Normalized(Precomputed()), "cannot be normalised"),
    ],
)
def test_a_matrix_cannot_be_part_of_a_composite(make: object, message: str) -> None:
    """Precomputed values are combined as matrices."""
    with pytest.raises(ValueError, match=message):
        make()


def test_a_negative_diagonal_names_the_kernel() -> None:
    """A kernel with k(x, x) < 0 cannot be normalised, and is named as in its library."""
    kernel = KernelLibrary({"mine": lambda A, B: -(A @ B.T)}, normalize=True).fit(X)["mine"]
    with pytest.raises(KernelError, match=r"kernel 'mine' cannot be normalised: k\(x, x\) = -"):
        kernel(X, Z)
    negative = Normalized(Polynomial(1, coef0=-100.0))
    with pytest.raises(KernelError, match=r"Polynomial.*cannot be normalised: k\(x, x\) = -"):
        negative(X, Z)
