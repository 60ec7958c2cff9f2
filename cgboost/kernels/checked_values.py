"""Checked kernel values: a kernel returns a finite matrix, or an error names the kernel."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from cgboost.arrays import Matrix
from cgboost.exceptions import KernelError, see
from cgboost.kernels.expansions import float_dtype
from cgboost.kernels.kernel import Kernel, with_parts
from cgboost.kernels.sparse_rows import is_sparse

SEE = see("kernel-values")

ROWS_ASKED = 5
"""Rows that a kernel of the user's is asked about twice."""

SAME_VALUE = 1e-5
"""Values of the same two rows may differ by this, relative to the largest: float32 and products of
other sizes leave less."""

PAIRWISE = "; a function k(a, b) of two single rows becomes a kernel by cgboost.PairwiseKernel(k)"


def kernel_values(name: str, kernel: Kernel, X: Matrix, Z: Matrix) -> Matrix:
    """``kernel(X, Z)``, checked: a finite array of shape (len(X), len(Z)).

    Raises
    ------
    KernelError
        Names the kernel and the problem with its values, or the exception it raised.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            values = kernel(X, Z)
        except (KernelError, MemoryError):
            raise
        except Exception as error:
            raise failed(f"kernel {name!r}", error, X, Z) from error
        return checked_values(name, values, X, Z)


def failed(called: str, error: Exception, X: Matrix, Z: Matrix, whence: str = "") -> KernelError:
    """The error of a kernel that raised another one on two sets of rows.

    Parameters
    ----------
    called : str
        The kernel, in words.
    error : Exception
        What it raised.
    X, Z : ndarray or sparse matrix
        What it was given.
    whence : str
        What these are parts of, in words.
    """
    kind = "sparse rows (a scipy.sparse matrix in CSR)" if is_sparse(X) else "rows"
    return KernelError(
        f"{called} failed on two sets of {kind}, of shapes {X.shape} and {Z.shape}{whence}: "
        f"{type(error).__name__}: {error}{PAIRWISE}{SEE}"
    )


def checked_values(name: str, values: Any, X: Matrix, Z: Matrix) -> Matrix:
    """The values returned by a kernel for X and Z, as a finite array of shape (len(X), len(Z)).

    Integers and lists are converted to an array of floats.

    Raises
    ------
    KernelError
        Names the kernel and the problem with its values.
    """
    wanted = (X.shape[0], Z.shape[0])
    try:
        array = np.asarray(cast(Any, values).toarray() if is_sparse(values) else values)
    except ValueError as error:  # rows of different lengths
        raise KernelError(f"kernel {name!r} returned no matrix ({error}){SEE}") from error
    if array.dtype.kind not in "fiub":
        raise KernelError(
            f"kernel {name!r} returned {type(values).__name__} of {array.dtype} values; it must "
            f"return an array of real numbers of shape {wanted}{SEE}"
        )
    if array.shape != wanted:
        raise KernelError(
            f"kernel {name!r} returned shape {array.shape} for {wanted[0]} rows and {wanted[1]} "
            f"centres; it must return {wanted}{PAIRWISE}{SEE}"
        )
    if array.dtype.kind != "f":
        array = array.astype(float_dtype(X))
    return finite(name, array)


def check_function(name: str, kernel: Kernel, X: Matrix) -> None:
    """Check that a kernel is a function of two rows, and leaves them as they are.

    One of cgboost's own is not checked, unless it calls a function of the user's.

    Parameters
    ----------
    kernel : Kernel
        Fitted.
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        As the kernel sees them.

    Raises
    ------
    KernelError
        If a value differs when it is asked for again, with fewer rows; if rows are changed.
    """
    if kernel.is_precomputed or not any(map(_is_users, with_parts(kernel))):
        return
    rows = np.unique(np.linspace(0, X.shape[0] - 1, ROWS_ASKED).astype(np.intp))
    kernel = kernel.released()
    own, centres = X[rows], kernel.centres(X, rows)
    if X.dtype != object:
        own, centres = own.astype(np.float64), centres.astype(np.float64)
    kept = [own.copy(), centres.copy()]
    values = kernel_values(name, kernel, own, centres)
    if not all(map(_unchanged, kept, (own, centres))):
        raise KernelError(
            f"kernel {name!r} changes the rows that it is given: write X = X - 1 instead of "
            f"X -= 1, or begin with X = X.copy(){SEE}"
        )
    if len(rows) > 1:
        own, centres, values = own[1:], centres[:-1], values[1:, :-1]
    again = kernel_values(name, kernel, own, centres)
    apart = np.abs(again - values)
    if apart.max() > SAME_VALUE * np.abs(values).max():
        i, j = np.unravel_index(int(apart.argmax()), apart.shape)
        raise KernelError(
            f"kernel {name!r} is no function of two rows: k(x, z) was {values[i, j]:.6g}, and "
            f"{again[i, j]:.6g} when it was asked for again, of the same x and z among fewer rows. "
            f"It must depend on nothing else: neither on chance nor on the rows next to them{SEE}"
        )


def _is_users(kernel: Kernel) -> bool:
    """Whether a kernel, besides its parts, is of the user's making."""
    return not type(kernel).__module__.startswith("cgboost.") or hasattr(kernel, "function")


def _unchanged(before: Matrix, after: Matrix) -> bool:
    if is_sparse(before):
        return bool((before != after).nnz == 0)
    if before.dtype == object:
        return all(own is other for own, other in zip(before.flat, after.flat, strict=True))
    return bool(np.array_equal(before, after, equal_nan=True))


def finite(name: str, values: Matrix) -> Matrix:
    """The values, or a sum of them, of a kernel.

    Raises
    ------
    KernelError
        If one of them is not finite.
    """
    if not np.isfinite(values).all():
        raise KernelError(
            f"kernel {name!r} returned {values[~np.isfinite(values)][0]} for some rows; "
            f"scale the features (to [0, 1], say) or check its formula{SEE}"
        )
    return values
