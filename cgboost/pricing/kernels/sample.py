"""A sample of kernel columns: their scales, their symmetry, and the precision that they need."""

from __future__ import annotations

import numpy as np

from cgboost.arrays import Indices, Matrix
from cgboost.exceptions import KernelError, KernelScaleWarning, see, warn_caller
from cgboost.parallel.blas import blas_threads
from cgboost.pricing.kernels.blocks import KernelData

COLUMNS, ROWS = 8, 256
"""Columns that are looked at, and on how many rows."""

SCALE_RATIO = 1e6
"""Column norms of two kernels may differ by this factor before a warning is given."""

SCALE_ADVICE = (
    "Let kernels see features of mean 0 and variance 1 and put them on one scale: "
    f"KernelLibrary(kernels, standardize=True, normalize=True){see('kernel-scales')}"
)

ROUGH = 1e-3
"""Errors of float32 values, relative to how much a column varies, from which on rows are taken in
float64: those far from the origin have such, and those so large that their powers overflow."""


class KernelSample:
    """What a few columns, evenly spread, tell about kernels.

    Attributes
    ----------
    norms : dict of str to float
        A typical column norm of each kernel.
    largest : float
        The largest |k| seen.
    symmetric : list of bool
        Whether a kernel is made of inner products and symmetric.
    rough : bool
        Whether float32 is too narrow for the values of a kernel.
    """

    def __init__(self, data: KernelData) -> None:
        n_rows = data.n_rows
        centres = _spread(n_rows, COLUMNS)
        rows = np.union1d(centres, _spread(n_rows, ROWS))
        count = len(data.kernels)
        self.norms = dict.fromkeys(data.names, 0.0)
        self.largest = 0.0
        self.symmetric = [False] * count
        places = np.searchsorted(rows, centres)
        exact: dict[int, Matrix] = {}
        with blas_threads(1):
            for stratum, values in data.blocks(range(count), rows, centres, np.float64):
                mean_squares = np.einsum("ij,ij->j", values, values) / len(rows)
                self.largest = max(self.largest, float(np.abs(values).max()))
                self.norms[data.names[stratum]] = float(np.sqrt(n_rows * np.median(mean_squares)))
                if data.kernels[stratum].of_products:
                    square = values[places]
                    off = 1e-6 * np.abs(square).max()
                    apart = np.abs(square - square.T)
                    self.symmetric[stratum] = bool((apart <= off + 1e-3 * np.abs(square)).all())
                    exact[stratum] = values.copy()
            self.rough = _is_rough(data, exact, rows, centres)

    def warn_about_scales(self) -> None:
        """Warn where the penalty decides by scale alone.

        Warns
        -----
        KernelScaleWarning
            If the column norms of two kernels differ by more than 1e6.
        """
        positive = [norm for norm in self.norms.values() if norm > 0]
        if positive and max(positive) > SCALE_RATIO * min(positive):
            sizes = ", ".join(f"{name} {norm:.1e}" for name, norm in self.norms.items())
            warn_caller(
                f"column norms differ by more than {SCALE_RATIO:.0e} between kernels ({sizes}): "
                f"the penalty then decides by scale alone. {SCALE_ADVICE}",
                KernelScaleWarning,
            )


def _is_rough(data: KernelData, exact: dict[int, Matrix], rows: Indices, centres: Indices) -> bool:
    """Whether values of kernels, by stratum, are far from these if computed in float32."""
    with np.errstate(all="ignore"):
        try:
            for stratum, values in data.blocks(list(exact), rows, centres, np.float32):
                spread = np.std(exact[stratum], axis=0)
                off = np.abs(values - exact[stratum]).max(axis=0)
                if np.any((off > ROUGH * spread) & (spread > 0)):
                    return True
        except KernelError:  # not finite
            return True
    return False


def _spread(n_rows: int, count: int) -> Indices:
    """At most so many rows, evenly spread."""
    return np.unique(np.linspace(0, n_rows - 1, count).astype(np.intp))
