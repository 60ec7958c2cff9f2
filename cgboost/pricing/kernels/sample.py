"""A few columns of each kernel, looked at before the first pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import KernelScaleWarning, see, warn_caller
from cgboost.pricing.kernels.blocks import KernelData

Indices = NDArray[np.intp]

COLUMNS, ROWS = 8, 256
"""Columns that are looked at, and on how many rows."""

SCALE_RATIO = 1e6
"""Column norms of two kernels may differ by this factor before a warning is given."""

SCALE_ADVICE = (
    "Scale the features first (sklearn.preprocessing.StandardScaler, or to [0, 1]), or normalise "
    'the kernels: library=KernelLibrary({"linear": Linear(), "quadratic": Polynomial(2), "rbf": '
    f"RBF()}}, normalize=True), with the kernels that you use{see('kernel-scales')}"
)


class KernelSample:
    """What a few columns, evenly spread, tell about kernels.

    Attributes
    ----------
    norms : dict of str to float
        A typical column norm of each kernel.
    symmetric : list of bool
        Whether a kernel is made of inner products and symmetric.
    """

    def __init__(self, data: KernelData) -> None:
        n_rows = len(data.X)
        centres = _spread(n_rows, COLUMNS)
        rows = np.union1d(centres, _spread(n_rows, ROWS))
        self.norms: dict[str, float] = {}
        self.symmetric: list[bool] = []
        for stratum, (name, kernel) in enumerate(zip(data.names, data.kernels, strict=True)):
            columns = data.columns(np.full(len(centres), stratum), centres, rows).astype(np.float64)
            mean_squares = np.mean(columns**2, axis=1)
            self.norms[name] = float(np.sqrt(n_rows * np.median(mean_squares)))
            square = columns[:, np.searchsorted(rows, centres)]
            same = np.allclose(square, square.T, rtol=1e-3, atol=1e-6 * np.abs(square).max())
            self.symmetric.append(kernel.of_products and same)

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


def _spread(n_rows: int, count: int) -> Indices:
    """At most so many rows, evenly spread."""
    return np.unique(np.linspace(0, n_rows - 1, count).astype(np.intp))
