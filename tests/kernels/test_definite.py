"""Kernels without RKHS are found, with the smallest eigenvalue; those with one are not."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from cgboost import RBF, Linear, Matern, On, Polynomial, Precomputed
from cgboost.exceptions import IndefiniteKernelError, KernelError
from cgboost.kernels import Normalized
from cgboost.kernels.base import Kernel
from cgboost.kernels.definite import MOST_CHECKED, check_definite, check_gram, is_known_definite
from cgboost.kernels.precomputed import FunctionKernel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(
    "kernel",
    [RBF(1.0), RBF(1e-8), Linear(), Polynomial(3, coef0=1.0), Matern(), Normalized(Polynomial(2))],
    ids=repr,
)
def test_kernels_of_the_package_pass(kernel: Kernel, scale: float) -> None:
    """Rounding of values of any scale, in either precision and of sparse rows, is no evidence."""
    for rows in (X, X.astype(np.float32), sp.csr_matrix(X)):
        fitted = (scale * kernel).fit(rows)
        check_definite("mine", fitted, rows)


def test_the_smallest_eigenvalue_is_named() -> None:
    """tanh(x·z − 1) is none; the message has the kernel's name, the eigenvalue and cures."""
    sigmoid = FunctionKernel(lambda A, B: np.tanh(A @ B.T - 1.0), "sigmoid")
    with pytest.raises(KernelError, match="kernel 'sigmoid' is not positive semi-definite") as info:
        check_definite("sigmoid", sigmoid, X)
    assert isinstance(info.value, IndefiniteKernelError)
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_CHECKED])
    smallest = np.linalg.eigvalsh(np.tanh(X[rows] @ X[rows].T - 1.0))[0]
    assert f"{smallest:.3g}" in str(info.value)
    assert "penalty='l1'" in str(info.value)


def test_the_error_travels_between_processes() -> None:
    """A pickled error is the same error."""
    error = IndefiniteKernelError("mine", "an eigenvalue is −1")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_an_asymmetric_kernel_is_named() -> None:
    """k(x, z) ≠ k(z, x) has no RKHS, whatever the eigenvalues of its symmetric part."""
    with pytest.raises(IndefiniteKernelError, match="not symmetric"):
        check_gram("mine", np.eye(4) + np.triu(np.full((4, 4), 0.1), 1))


def test_given_values_are_checked_too() -> None:
    """Precomputed values are taken at the columns of the training rows."""
    good = X[:30] @ X[:30].T
    check_definite("given", Precomputed(), good)
    with pytest.raises(IndefiniteKernelError, match="smallest eigenvalue"):
        check_definite("given", Precomputed(), good - 0.1 * np.eye(30))


def test_a_zero_kernel_is_semi_definite() -> None:
    """All its eigenvalues are 0."""
    check_gram("zero", np.zeros((5, 5)))


def test_formulas_say_which_kernels_need_no_check() -> None:
    """Kernels that are known to be definite are; one with a negative part or a function is not."""
    known = [
        RBF(0.3) * Polynomial(3, coef0=1.0),
        2.0 * Linear() + RBF(1.0),
        On(RBF(), 0),
        RBF(0.2) ** 2,
    ]
    assert all(is_known_definite(kernel) for kernel in known)
    unknown = [Linear() - RBF(1.0), Polynomial(2, coef0=-1.0), RBF(1.0) * Polynomial(2, coef0=-1.0)]
    assert not any(is_known_definite(kernel) for kernel in unknown)
