"""Positive semi-definiteness of kernels, checked: without it there is no RKHS.

A kernel is positive semi-definite if K(Z, Z) has no negative eigenvalue for any rows Z. The
eigenvalues over a random part of the rows show most kernels that are not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf

from cgboost.arrays import Matrix
from cgboost.exceptions import IndefiniteKernelError
from cgboost.generation.packed import PackedMatrix
from cgboost.kernels.checked_values import kernel_values
from cgboost.kernels.combinations import Normalized
from cgboost.kernels.kernel import Kernel, Power, Product, Sum
from cgboost.kernels.numeric.distances import RBF, Matern, RationalQuadratic
from cgboost.kernels.numeric.inner_products import Linear, Polynomial
from cgboost.kernels.on_columns import On
from cgboost.kernels.sparse_rows import ordered
from cgboost.tolerances import SMALLEST

MOST_CHECKED = 200
"""Rows whose kernel values are checked: their eigenvalues take a few milliseconds."""

NEGATIVE, NEGATIVE_NARROW = 1e-9, 1e-5
"""Eigenvalues below 0 by no more than this, relative to the largest, are rounding errors of values
in float64 and in float32; sums over 200 rows are below by ten times less."""

ASYMMETRIC = 1e3
"""Values k(x, z) and k(z, x) may differ by this times the above: their eigenvalues are checked."""


ALWAYS = (Linear, RBF, Matern, RationalQuadratic)
"""Kernels that are positive semi-definite whatever their parameters and rows."""

CLOSED = (Product, Power, Normalized, On)
"""Kernels made of others that are positive semi-definite if these are."""


def is_known_definite(kernel: Kernel) -> bool:
    """Whether a formula says that a kernel is positive semi-definite for all rows."""
    if isinstance(kernel, Sum):
        weights = [weight for weight, _ in kernel.terms]
        return min(weights, default=0.0) >= 0 and all(map(is_known_definite, kernel.parts()))
    if isinstance(kernel, CLOSED):
        return all(map(is_known_definite, kernel.parts()))
    if isinstance(kernel, Polynomial):
        return kernel.coef0 >= 0
    return type(kernel) in ALWAYS


def check_definite(name: str, kernel: Kernel, X: Matrix) -> None:
    """Check that a kernel is symmetric and positive semi-definite on a random part of the rows.

    A kernel whose formula says so is not checked.

    Parameters
    ----------
    kernel : Kernel
        Fitted.
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        As the kernel sees them.

    Raises
    ------
    IndefiniteKernelError
        With the smallest eigenvalue found, and what to do.
    """
    if is_known_definite(kernel):
        return
    n_rows = X.shape[0]
    rows: Any = np.arange(n_rows)
    if n_rows > MOST_CHECKED:
        rows = np.sort(np.random.default_rng(0).permutation(n_rows)[:MOST_CHECKED])
    own, centres = X[rows], kernel.centres(X, rows)
    if X.dtype != object and not kernel.is_precomputed:
        own, centres = ordered(own, np.float64), ordered(centres, np.float64)
    check_gram(name, kernel_values(name, kernel, own, centres))


def check_whole(name: str, kernel: Kernel, gram: PackedMatrix, *, narrow: bool) -> None:
    """Check that the matrix of a kernel for all rows is positive semi-definite.

    It is if a Cholesky factor exists. A kernel whose formula says so is not checked.

    Parameters
    ----------
    narrow : bool
        Whether its values were given in float32.

    Raises
    ------
    IndefiniteKernelError
        With the smallest eigenvalue, and what to do.
    """
    if is_known_definite(kernel):
        return
    full = np.asarray(gram)
    allowed = NEGATIVE_NARROW if narrow else NEGATIVE
    ridge = allowed * float(np.abs(full).sum(axis=0).max(initial=0.0))  # of the eigenvalues' bound
    raised = full + max(ridge, SMALLEST) * np.eye(len(full))
    if dpotrf(raised, lower=1, overwrite_a=1, clean=0)[1] > 0:
        check_gram(name, full, allowed)


def check_gram(name: str, values: Matrix, allowed: float | None = None) -> None:
    """Check that the values of a kernel for the same rows and centres are positive semi-definite.

    Eigenvalues may be below 0 by ``allowed`` times the largest; None: as the dtype asks for.

    Raises
    ------
    IndefiniteKernelError
        With the smallest eigenvalue, or two values that should be equal.
    """
    if allowed is None:
        allowed = NEGATIVE if values.dtype == np.float64 else NEGATIVE_NARROW
    gram = values.astype(np.float64, copy=False)
    largest = float(np.abs(gram).max(initial=0.0))
    if largest == 0.0:
        return
    apart = np.abs(gram - gram.T)
    if apart.max() > ASYMMETRIC * allowed * largest:
        i, j = np.unravel_index(int(apart.argmax()), apart.shape)
        raise IndefiniteKernelError(
            name, f"it is not symmetric, k(x, z) = {gram[i, j]:.6g} and k(z, x) = {gram[j, i]:.6g}"
        )
    eigenvalues = np.linalg.eigvalsh(0.5 * (gram + gram.T))
    if eigenvalues[0] < -allowed * max(abs(float(eigenvalues[-1])), largest):
        raise IndefiniteKernelError(
            name,
            f"the smallest eigenvalue of its values for {len(gram)} rows is "
            f"{eigenvalues[0]:.3g}, the largest {eigenvalues[-1]:.3g}",
        )
