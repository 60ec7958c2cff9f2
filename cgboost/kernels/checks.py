"""Kernel values, checked: whatever a kernel returns is a finite matrix, or an error names it."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgboost.exceptions import KernelError, see
from cgboost.kernels.base import Kernel
from cgboost.kernels.expansions import Matrix

SEE = see("kernel-values")


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
            raise KernelError(
                f"kernel {name!r} failed on two sets of rows, of shapes {X.shape} and {Z.shape}: "
                f"{type(error).__name__}: {error}{SEE}"
            ) from error
        return checked_values(name, values, X, Z)


def checked_values(name: str, values: Any, X: Matrix, Z: Matrix) -> Matrix:
    """What a kernel returned for X and Z, as a finite array of shape (len(X), len(Z)).

    Whole numbers and lists become an array of floats.

    Raises
    ------
    KernelError
        Naming the kernel and what is wrong with its values.
    """
    wanted = (len(X), len(Z))
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise KernelError(f"kernel {name!r} returned no matrix ({error}){SEE}") from error
    if array.dtype.kind not in "fiub":
        raise KernelError(
            f"kernel {name!r} returned {type(values).__name__} of {array.dtype} values; it must "
            f"return an array of real numbers of shape {wanted}{SEE}"
        )
    if array.shape != wanted:
        raise KernelError(
            f"kernel {name!r} returned shape {array.shape} for {len(X)} rows and {len(Z)} "
            f"centres; it must return {wanted}{SEE}"
        )
    if array.dtype.kind != "f":
        array = array.astype(np.result_type(X.dtype, np.float32))
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
