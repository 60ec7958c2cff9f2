"""Kernel values that are no finite matrix are an error that names the kernel."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cgboost import KernelLibrary, Polynomial
from cgboost.exceptions import KernelError
from cgboost.kernels import kernel_values

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


def test_overflow_names_the_kernel() -> None:
    """A polynomial of huge features overflows: the error says which kernel and what to do."""
    with pytest.raises(KernelError, match="kernel 'cubic' returned -?inf.*scale the features"):
        kernel_values("cubic", Polynomial(9), 1e40 * X, 1e40 * Z)
