"""Matérn kernels: like the Gaussian kernel, but for rougher functions.

With the scaled distance a = √(4νγ)·‖x − z‖ = √(2ν)·‖x − z‖/ℓ

    ν = 1/2   exp(−a)
    ν = 3/2   (1 + a) exp(−a)
    ν = 5/2   (1 + a + a²/3) exp(−a)

(Rasmussen, Williams, *Gaussian Processes for Machine Learning*, 2006, eq. 4.14 to 4.17).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cgboost.arrays import Matrix
from cgboost.exceptions import KernelError
from cgboost.kernels.expansions import Arithmetic, Rounding, Weights
from cgboost.kernels.gradients import Slopes
from cgboost.kernels.kernel import Kernel, Norms
from cgboost.kernels.numeric.inner_products import ProductKernel, is_positive
from cgboost.kernels.numeric.rbf import (
    distance_sizes,
    fill_squared_distances,
    mean_squared_distance,
    squared_distance_error,
)
from cgboost.kernels.sparse_rows import entries, squared_norms
from cgboost.tolerances import UNIT_ROUNDOFF

ORDERS = (0.5, 1.5, 2.5)

NEAR_DISTANCE = 2.0**-10
"""With ν = 1/2, scaled distances below this are made from x − z where values are in float64."""

PAIRS = 2**20
"""Numbers of a block of differences x − z."""


@dataclass(frozen=True)
class Matern(ProductKernel):
    """k(x, z) = M_ν(√(4νγ)·‖x − z‖), the Matérn kernel of order ν = 1/2, 3/2 or 5/2.

    Parameters
    ----------
    gamma : float or None
        As in ``RBF``, which is the limit for ν → ∞ with the same gamma. None means
        1 / mean‖x_i − x_j‖² over all pairs of training rows, unless ``length_scale`` is given.
    nu : {0.5, 1.5, 2.5}, default=1.5
        Functions of the model have ν − 1/2 derivatives: none (a kink at every centre), one, two.
    length_scale : float, optional
        ℓ instead of gamma = 1/(2ℓ²): ``Matern(length_scale=l, nu=nu)`` has the values of
        scikit-learn's kernel ``Matern(l, nu=nu)``.

    Notes
    -----
    With ν = 1/2, the root amplifies rounding errors at ‖x − z‖ = 0: an error of 1e-16 in the
    squared distance from inner products causes an error of 1e-8 in the distance. Values of rows
    this close are therefore recomputed from x − z in float64; in float32, and in sums of kernels,
    the bounds on rounding errors are wide.

    Examples
    --------
    >>> from cgboost import KernelLibrary, Linear, Matern
    >>> KernelLibrary({"linear": Linear(), "rough": Matern(nu=0.5), "smooth": Matern(nu=2.5)})
    KernelLibrary(linear, rough, smooth)
    >>> Matern(0.02, nu=0.5) == Matern(nu=0.5, length_scale=5.0).fit([[0.0]])
    True
    """

    gamma: float | None = None
    nu: float = 1.5
    length_scale: float | None = None

    def __post_init__(self) -> None:
        if self.nu not in ORDERS:
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5, got {self.nu!r}")
        for name in ("gamma", "length_scale"):
            value = getattr(self, name)
            if value is not None and not is_positive(value):
                raise ValueError(f"{name} must be a positive number or None, got {value!r}")
        if self.gamma is not None and self.length_scale is not None:
            raise ValueError(
                f"gamma={self.gamma!r} and length_scale={self.length_scale!r} are two names of the "
                "same width, gamma = 1/(2·length_scale²): give one of them"
            )

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        if self.gamma is not None:
            return self
        if self.length_scale is not None:
            return Matern(0.5 / self.length_scale**2, self.nu)
        return Matern(1.0 / mean_squared_distance(X, sample_weight), self.nu)

    @property
    def _rate(self) -> float:
        """4νγ: what squared distances are multiplied by."""
        if self.length_scale is not None:
            return 2.0 * self.nu / self.length_scale**2
        if self.gamma is None:
            raise KernelError(
                "Matern(gamma=None) has no width yet: call fit(X), or give gamma or length_scale"
            )
        return 4.0 * self.nu * self.gamma

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        rate = self._rate
        fill_squared_distances(out, products, x_norms, z_norms)
        out *= rate
        np.sqrt(out, out=out)
        decay = np.exp(-out)
        if self.nu == 0.5:
            out[...] = decay
            return
        if self.nu == 2.5:
            out *= 1.0 + out / 3.0
        out += 1.0
        out *= decay

    def refine(self, values: Matrix, X: Matrix, Z: Matrix) -> None:
        if self.nu != 0.5 or values.dtype != np.float64:
            return
        rows, centres = np.nonzero(values > math.exp(-NEAR_DISTANCE))
        step = max(1, int(PAIRS / entries(X)))
        for start in range(0, len(rows), step):
            i, j = rows[start : start + step], centres[start : start + step]
            squares = squared_norms(X[i] - Z[j])
            values[i, j] = np.exp(-np.sqrt(self._rate * squares))

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        return np.ones_like(norms)

    def slopes(self, products: Matrix, x_norms: Norms, z_norms: Norms) -> Slopes:
        rate = self._rate
        distances = np.empty_like(products)
        fill_squared_distances(distances, products, x_norms, z_norms)
        distances *= rate
        np.sqrt(distances, out=distances)
        decay = np.exp(-distances)
        if self.nu == 0.5:  # no derivative at z = x, where the mean of all directions is 0
            over = np.divide(0.5, distances, out=np.zeros_like(decay), where=distances > 0)
            return Slopes.of_distance(decay, -rate * over * decay)
        if self.nu == 1.5:  # a = √s: dψ/ds = ψ'(a)/(2a) = −½ e^(−a)
            return Slopes.of_distance((1.0 + distances) * decay, -0.5 * rate * decay)
        values = (1.0 + distances * (1.0 + distances / 3.0)) * decay
        return Slopes.of_distance(values, -rate / 6.0 * (1.0 + distances) * decay)

    def diagonal_slopes(self, norms: Norms) -> Norms:
        return np.zeros_like(norms)

    def rounding(self, arithmetic: Arithmetic) -> Rounding | None:
        if self.gamma is None and self.length_scale is None:
            return None
        # a² is off by δ = factor·4νγ(‖x‖² + ‖z‖²) at most. With ν > 1/2 the slopes of M over a²
        # are −exp(−a)/2 and −(1 + a) exp(−a)/6: the value is off by δ/2
        size = distance_sizes(self._rate * arithmetic.norms)
        factor, evaluation = squared_distance_error(arithmetic), 16.0 * arithmetic.unit
        if self.nu != 0.5:
            return Rounding(0.5 * factor + evaluation, size, diagonal=0.0)
        # with ν = 1/2 it is off by |Δa| ≤ √δ, and by δ/a where the others are made from x − z
        if arithmetic.refined and arithmetic.unit <= UNIT_ROUNDOFF:
            own = arithmetic.gamma(extra=8)
            return Rounding(1.01 * factor / NEAR_DISTANCE + own + evaluation, size, diagonal=0.0)
        return Rounding(math.sqrt(factor) + evaluation, np.sqrt(size), diagonal=0.0)
