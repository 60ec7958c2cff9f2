"""Kernel values that are no finite matrix, of no function or of no RKHS are errors with a name."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cgboost import (
    RBF,
    BLFRegressor,
    CGBoostClassifier,
    KernelLibrary,
    Linear,
    On,
    PairwiseKernel,
    Polynomial,
    Precomputed,
)
from cgboost.exceptions import IndefiniteKernelError, KernelError
from cgboost.kernels import Kernel, kernel_values
from cgboost.kernels.checked_values import check_function
from cgboost.kernels.definite import MOST_CHECKED, check_definite, check_gram, is_known_definite
from cgboost.kernels.precomputed import FunctionKernel

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(7, 4)), RNG.normal(size=(5, 4))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: A @ A.T, r"kernel 'mine' returned shape \(7, 7\) for 7 rows and 5 centres"),
        (lambda A, B: (A @ B.T).T, r"kernel 'mine' returned shape \(5, 7\).*must return \(7, 5\)"),
        (lambda A, B: np.full((7, 5), np.nan), "kernel 'mine' returned nan.*check its formula"),
        (lambda A, B: np.full((7, 5), np.inf), "kernel 'mine' returned inf.*scale the features"),
        (lambda A, B: None, "kernel 'mine' returned NoneType .* array of real numbers"),
        (lambda A, B: "values", "kernel 'mine' returned str"),
        (lambda A, B: A @ B.T + 1j, "kernel 'mine' returned ndarray of complex128 values"),
        (lambda A, B: [[1.0], [1.0, 2.0]], "kernel 'mine' returned no matrix"),
        (lambda A, B: sp.csr_array(A @ A.T), r"kernel 'mine' returned shape \(7, 7\)"),
        (lambda A, B: 1e300 * (A @ B.T) ** 9 * 1e300, "'mine' returned -?inf.*scale the features"),
    ],
)
@pytest.mark.parametrize("normalize", [False, True])
def test_bad_kernel_values_name_the_kernel(
    function: Callable[..., Any], message: str, normalize: bool
) -> None:
    """A user's kernel with values that are no real, finite matrix is named, normalised or not."""

    def on_the_diagonal_too(A: np.ndarray, B: np.ndarray) -> Any:
        return function(A, B) if len(A) > 1 else np.ones((1, 1))

    library = KernelLibrary({"mine": on_the_diagonal_too}, normalize=normalize)
    with pytest.raises(KernelError, match=message):
        kernel_values("mine", library.fit(X)["mine"], X, Z)


def test_sparse_values_are_made_dense() -> None:
    """A kernel may return a sparse matrix, as a product of sparse rows is one."""
    kernel = KernelLibrary({"mine": lambda A, B: sp.csr_array(A @ B.T)}).fit(X)["mine"]
    values = kernel_values("mine", kernel, X, Z)
    assert isinstance(values, np.ndarray)
    np.testing.assert_array_equal(values, X @ Z.T)


CHANCE = np.random.default_rng(3)


def noise(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Numbers of chance."""
    return CHANCE.random((len(A), len(B)))


def in_place(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A product of rows that it changes."""
    A -= 0.5
    return A @ B.T


class Shared(Kernel):
    """A kernel that divides by the largest value of those it is asked for together."""

    def __call__(self, A: Any, B: Any) -> Any:
        values = np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))
        return values / values[:, -1:]


@pytest.mark.parametrize(
    ("library", "message"),
    [
        ({"mine": noise}, "'mine' is no function of two rows: k.x, z. was 0.*depend on nothing"),
        ({"mine": 0.5 * KernelLibrary({"n": noise}).kernels["n"] + RBF(0.1)}, "'mine' is no func"),
        ({"mine": On(noise, [0, 1])}, "kernel 'mine' is no function of two rows"),
        ({"mine": Shared()}, "kernel 'mine' is no function of two rows"),
        ({"mine": PairwiseKernel(lambda a, b: CHANCE.random())}, "'mine' is no function"),
        ({"rbf": RBF(), "mine": in_place}, "kernel 'mine' changes the rows .* X - 1 instead of"),
    ],
    ids=["function", "sum", "on", "class", "pairwise", "in-place"],
)
def test_what_is_no_function_of_two_rows_is_refused(library: Any, message: str) -> None:
    """Chance, the company of other rows and changes in place are found before there is a model."""
    A = np.random.default_rng(1).normal(size=(30, 3))
    kept, y = A.copy(), np.tile([0, 1], 15)
    with pytest.raises(KernelError, match=message):
        CGBoostClassifier(library=library).fit(A, y)
    np.testing.assert_array_equal(A, kept)
    if library == {"mine": noise}:
        with pytest.raises(KernelError, match="is no function of two rows"):
            BLFRegressor(kernel=noise).fit(A, A[:, 0])


@pytest.mark.parametrize("rows", [X, X[:1], sp.csr_array(X), X.astype(np.float32)])
def test_functions_of_two_rows_pass(rows: Any) -> None:
    """Dense, sparse and single rows, float32, and values of products of another size pass."""
    library = KernelLibrary(
        {"dot": lambda A, B: A @ B.T, "narrow": lambda A, B: (A @ B.T).astype(np.float32)}
    )
    for name, kernel in library.fit(rows).items():
        check_function(name, kernel, rows)


def test_what_needs_no_check_passes() -> None:
    """No value is computed of known formulas; objects and missing values stay as they are."""
    nothing: Any = None
    check_function("rbf", RBF(0.1) + Polynomial(2), nothing)
    words = np.array([["apple"], ["pear"], [None], ["fig"]], dtype=object)
    kernel = PairwiseKernel(lambda a, b: float(a == b))
    check_function("same", kernel.fit(words), words)


LONG = np.random.default_rng(0).normal(size=(300, 3))


def test_the_smallest_eigenvalue_is_named() -> None:
    """tanh(x·z − 1) is none; the message has the kernel's name, the eigenvalue and cures."""
    sigmoid = FunctionKernel(lambda A, B: np.tanh(A @ B.T - 1.0), "sigmoid")
    with pytest.raises(KernelError, match="kernel 'sigmoid' is not positive semi-definite") as info:
        check_definite("sigmoid", sigmoid, LONG)
    assert isinstance(info.value, IndefiniteKernelError)
    rows = np.sort(np.random.default_rng(0).permutation(len(LONG))[:MOST_CHECKED])
    smallest = np.linalg.eigvalsh(np.tanh(LONG[rows] @ LONG[rows].T - 1.0))[0]
    assert f"{smallest:.3g}" in str(info.value)
    assert "penalty='l1'" in str(info.value)
    assert str(pickle.loads(pickle.dumps(info.value))) == str(info.value)


def test_what_is_checked() -> None:
    """Values as they are given, at the columns of the training rows; asymmetric ones, and zeros.

    Kernels that a formula knows to be definite are not: not those with a negative part.
    """
    good = LONG[:30] @ LONG[:30].T
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
