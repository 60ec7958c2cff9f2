"""How far computed kernel values may be from exact ones.

A kernel value computed in floating point with unit roundoff u is off by at most

    relative · size(x) · size(z),      and      |k(x, z)| ≤ size(x) · size(z),

with one number for the kernel and one for each row. Sums of kernel values inherit such a bound at
the price of one dot product: Σ |w_i| size(x_i) · size(z). It begins with the error of an inner
product, γ_n ‖x‖‖z‖ with γ_n = n·u/(1 − n·u) where no term goes through more than n additions
(Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 3.1), and each kernel
follows it through its formula (:meth:`Kernel.rounding`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Arithmetic:
    """What rounding depends on besides the kernel.

    Attributes
    ----------
    norms : ndarray of shape (n_rows,)
        Squared norms ‖x‖² of the rows, in float64.
    n_terms : int
        Roundings that a term of an inner product goes through: the number of features, or less
        where the product is summed up in parts.
    unit : float
        Unit roundoff: half of the eps of the dtype that values are computed in.
    refined : bool
        Whether the rows are at hand, so that :meth:`Kernel.refine` follows.
    """

    norms: Vector
    n_terms: int
    unit: float
    refined: bool = False

    def gamma(self, extra: int = 0) -> float:
        """γ_n for n = n_terms + extra roundings in a row."""
        steps = (self.n_terms + extra) * self.unit
        return steps / (1.0 - steps) if steps < 1.0 else np.inf


@dataclass(frozen=True)
class Rounding:
    """The bound of the module's docstring.

    Attributes
    ----------
    relative : float
    size : ndarray of shape (n_rows,)
    diagonal : float
        The same as ``relative``, for k(x, x) as the kernel's ``diagonal`` makes it.
    """

    relative: float
    size: Vector
    diagonal: float
