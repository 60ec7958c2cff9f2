"""Kernel values, checked: whatever a kernel returns is a finite matrix, or an error names it."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from cgboost.exceptions import KernelError, see
from cgboost.kernels.base import Kernel
from cgboost.kernels.expansions import Matrix, float_dtype
from cgboost.kernels.rows import is_sparse

SEE = see("kernel-values")

PAIRWISE = "; a function k(a, b) of two objects becomes a kernel by PairwiseKernel(k)"


def kernel_values(name: str, kernel: Kernel, X: Matrix, Z: Matrix) -> Matrix:
    """``kernel(X, Z)``, checked: a finite array of shape (len(X), len(Z)).

    Raises
    ------
    KernelError
        Naming the kernel and what is wrong with its values, or what it raised.
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
        f"{type(error).__name__}: {error}{PAIRWISE if X.dtype == object else ''}{SEE}"
    )


def checked_values(name: str, values: Any, X: Matrix, Z: Matrix) -> Matrix:
    """What a kernel returned for X and Z, as a finite array of shape (len(X), len(Z)).

    Whole numbers and lists become an array of floats.

    Raises
    ------
    KernelError
        Naming the kernel and what is wrong with its values.
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
        hint = PAIRWISE if X.dtype.kind == "O" else ""
        raise KernelError(
            f"kernel {name!r} returned shape {array.shape} for {wanted[0]} rows and {wanted[1]} "
            f"centres; it must return {wanted}{hint}{SEE}"
        )
    if array.dtype.kind != "f":
        array = array.astype(float_dtype(X))
    return finite(name, array)


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
