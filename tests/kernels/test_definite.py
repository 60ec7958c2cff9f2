"""Kernels without RKHS are found, with the smallest eigenvalue; those with one are not."""

import pickle

import numpy as np
import pytest

from cgboost import RBF, Linear, On, Polynomial, Precomputed
from cgboost.exceptions import IndefiniteKernelError, KernelError
from cgboost.kernels.definite import MOST_CHECKED, check_definite, check_gram, is_known_definite
from cgboost.kernels.precomputed import FunctionKernel

X = np.random.default_rng(0).normal(size=(300, 3))


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
    assert str(pickle.loads(pickle.dumps(info.value))) == str(info.value)


def test_what_is_checked() -> None:
    """Values as they are given, at the columns of the training rows; asymmetric ones, and zeros.

    Kernels that a formula knows to be definite are not: not those with a negative part.
    """
    good = X[:30] @ X[:30].T
    check_definite("given", Precomputed(), good)
    with pytest.raises(IndefiniteKernelError, match="smallest eigenvalue"):
        check_definite("given", Precomputed(), good - 0.1 * np.eye(30))
    with pytest.raises(IndefiniteKernelError, match="not symmetric"):
        check_gram("mine", np.eye(4) + np.triu(np.full((4, 4), 0.1), 1))
    check_gram("zero", np.zeros((5, 5)))
    polynomial, indefinite = Polynomial(3, coef0=1.0), Polynomial(2, coef0=-1.0)
    known = [RBF(0.3) * polynomial, 2.0 * Linear() + RBF(1.0), On(RBF(), 0), RBF(0.2) ** 2]
    assert all(is_known_definite(kernel) for kernel in known)
    check_definite("known", known[0], None)  # type: ignore[arg-type]
    unknown = [Linear() - RBF(1.0), indefinite, RBF(1.0) * indefinite]
    assert not any(is_known_definite(kernel) for kernel in unknown)
