"""Scores of kernel columns with more digits than float64.

Where kernel values are as large as 1e12, as those of a polynomial of raw features, the scores of
the optimum are sums of large terms that cancel, and float64 leaves too few digits to prove a gap.
NumPy's widest number type has eleven bits more on most machines. It has no fast linear algebra, so
only the columns that float64 leaves undecided are scored with it, near the end of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.kernels.expansions import Arithmetic
from cgboost.pricing.kernels.shared_products import SharedKernelProducts
from cgboost.tolerances import UNIT_ROUNDOFF

EXTENDED_UNIT = 0.5 * float(np.finfo(np.longdouble).eps)
"""Unit roundoff of NumPy's widest type; on some machines that of float64."""

AT_ONCE = 2**20
"""Kernel values that are held at a time, at most."""


def extended_scores(
    kernels: Sequence[Any], X: NDArray[np.floating[Any]], centres: Indices, response: Vector
) -> tuple[Vector, Vector]:
    """r·K(·, x_j) of some centres, and bounds on the errors.

    Parameters
    ----------
    kernels : sequence of Kernel
        Fitted, of products: they share them.
    X : ndarray of shape (n_rows, n_features)
    centres : ndarray of int
    response : ndarray of shape (n_rows,)

    Returns
    -------
    scores, errors : ndarray of shape (n_kernels, n_centres)
        A kernel whose rounding is not known counts as off by the rounding of each value to float64.
    """
    rows = np.flatnonzero(response)
    wide, weights = X.astype(np.longdouble), response[rows].astype(np.longdouble)
    norms = np.einsum("ij,ij->i", X, X)
    arithmetic = Arithmetic(norms, X.shape[1] + 1, EXTENDED_UNIT)
    sums = (len(rows) + 4) * EXTENDED_UNIT
    scores, errors = np.empty((2, len(kernels), len(centres)))
    step = max(1, AT_ONCE // max(1, len(rows)))
    roundings = [kernel.rounding(arithmetic) for kernel in kernels]
    for start in range(0, len(centres), step):
        block = slice(start, start + step)
        own = centres[block]
        shared = SharedKernelProducts(wide[rows], wide[own])
        for k, (kernel, rounding) in enumerate(zip(kernels, roundings, strict=True)):
            values = shared.values(kernel)
            found = weights @ values
            if rounding is not None:
                size = float(np.abs(response[rows]) @ rounding.size[rows]) * rounding.size[own]
                off = (rounding.relative + sums) * size
            else:
                off = (UNIT_ROUNDOFF + sums) * (np.abs(weights) @ np.abs(values))
            scores[k, block] = found
            errors[k, block] = off + UNIT_ROUNDOFF * np.abs(found)
    return scores, errors
