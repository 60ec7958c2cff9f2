"""How far computed kernel values may be from exact ones.

A kernel value computed in floating point with unit roundoff u is off by at most

    relative · size(x) · size(z),      and      |k(x, z)| ≤ size(x) · size(z),

with one number for the kernel and one for each row. Sums of kernel values inherit such a bound at
the price of one dot product: Σ |w_i| size(x_i) · size(z). It begins with the error of an inner
product, γ_n ‖x‖‖z‖ with γ_n = n·u/(1 − n·u) where no term goes through more than n additions
(Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 3.1), and follows it
through the formula of the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from cgboost.kernels import RBF, Kernel, Linear, Normalized, Polynomial, Sum

Vector = NDArray[np.float64]

LARGEST_DOUBT = 0.1
"""A normalising factor with a larger relative error than this is not bounded."""


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
    """

    norms: Vector
    n_terms: int
    unit: float

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


@singledispatch
def rounding(kernel: Kernel, arithmetic: Arithmetic) -> Rounding | None:
    """The rounding of a kernel's values; None where nothing is known of it.

    Values of a kernel of one's own are then taken as they are.
    """
    return None


@rounding.register
def _(kernel: Linear, arithmetic: Arithmetic) -> Rounding | None:
    relative = arithmetic.gamma()
    return Rounding(relative, np.sqrt(arithmetic.norms), diagonal=relative)


@rounding.register
def _(kernel: Polynomial, arithmetic: Arithmetic) -> Rounding | None:
    # |γ x·z + c| ≤ γ‖x‖‖z‖ + |c| ≤ √(γ‖x‖² + |c|)·√(γ‖z‖² + |c|), and so are its errors
    base = kernel.gamma * arithmetic.norms + abs(kernel.coef0)
    relative = float(np.expm1(kernel.degree * np.log1p(arithmetic.gamma(extra=6))))
    return Rounding(relative, base ** (0.5 * kernel.degree), diagonal=relative)


@rounding.register
def _(kernel: RBF, arithmetic: Arithmetic) -> Rounding | None:
    if kernel.gamma is None:
        return None
    # the exponent γ‖x − z‖² is off by at most δ = factor·γ(‖x‖² + ‖z‖²), the value by exp(δ) − 1
    scaled = kernel.gamma * arithmetic.norms
    factor = 2.0 * arithmetic.gamma(extra=8)
    farthest = min(1.0, max(1e-300, 2.0 * factor * float(scaled.max(initial=0.0))))
    relative = factor * np.expm1(farthest) / farthest + 8.0 * arithmetic.unit
    return Rounding(float(relative), 1.0 + scaled, diagonal=0.0)


@rounding.register
def _(kernel: Sum, arithmetic: Arithmetic) -> Rounding | None:
    relative = diagonal = (len(kernel.terms) + 2) * arithmetic.unit
    squares = np.zeros_like(arithmetic.norms)
    parts = [(weight, rounding(part, arithmetic)) for weight, part in kernel.terms]
    for weight, own in parts:
        if own is None:
            return None
        squares += abs(weight) * own.size**2
    relative += max(own.relative for _, own in parts if own is not None)
    diagonal += max(own.diagonal for _, own in parts if own is not None)
    return Rounding(relative, np.sqrt(squares), diagonal)


@rounding.register
def _(kernel: Normalized, arithmetic: Arithmetic) -> Rounding | None:
    own = rounding(kernel.kernel, arithmetic)
    if own is None:
        return None
    diagonal = kernel.kernel.diagonal_from_norms(arithmetic.norms)
    positive = diagonal > 0
    ratio = np.divide(own.size**2, diagonal, out=np.zeros_like(diagonal), where=positive)
    doubt = own.diagonal * float(ratio.max(initial=0.0))  # relative error of the diagonal
    smallest = float(diagonal[positive].min(initial=np.inf))
    tiny = np.finfo(np.float32).tiny / np.finfo(np.float32).eps
    if not doubt <= LARGEST_DOUBT or smallest < tiny:
        return None
    relative = 1.1 * (own.relative + 1.2 * doubt + 8.0 * arithmetic.unit)
    return Rounding(relative, np.sqrt(ratio), diagonal=0.0)
