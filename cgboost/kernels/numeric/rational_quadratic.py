"""Rational quadratic kernel: a mixture of Gaussian kernels of all widths."""

from __future__ import annotations

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


@dataclass(frozen=True)
class RationalQuadratic(ProductKernel):
    """k(x, z) = (1 + ‖x − z‖² / (2αℓ²))^(−α).

    It is a mixture of Gaussian kernels whose widths have a gamma distribution. Its limit for α → ∞
    is RBF(1/(2ℓ²)) (Rasmussen, Williams, *Gaussian Processes for Machine Learning*, 2006,
    eq. 4.19).

    Parameters
    ----------
    length_scale : float or None
        ℓ, as in scikit-learn. None means √(mean‖x_i − x_j‖² / 2) over all pairs of training rows:
        the width of ``RBF()``.
    alpha : float, default=1.0
        The smaller, the more the widths differ, and the more slowly the values decay to 0.

    Examples
    --------
    >>> from cgboost import KernelLibrary, RationalQuadratic
    >>> KernelLibrary({"wide": RationalQuadratic(alpha=0.5), "narrow": RationalQuadratic(alpha=4)})
    KernelLibrary(wide, narrow)
    """

    length_scale: float | None = None
    alpha: float = 1.0

    def __post_init__(self) -> None:
        if self.length_scale is not None and not is_positive(self.length_scale):
            raise ValueError(
                f"length_scale must be a positive number or None, got {self.length_scale!r}"
            )
        if not is_positive(self.alpha):
            raise ValueError(f"alpha must be a positive number, got {self.alpha!r}")

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        if self.length_scale is not None:
            return self
        spread = mean_squared_distance(X, sample_weight)
        return RationalQuadratic(float(np.sqrt(0.5 * spread)), self.alpha)

    @property
    def _length(self) -> float:
        if self.length_scale is None:
            raise KernelError(
                "RationalQuadratic(length_scale=None) has no width yet: call fit(X) or give one"
            )
        return self.length_scale

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        rate = 0.5 / (self.alpha * self._length**2)
        fill_squared_distances(out, products, x_norms, z_norms)
        out *= rate
        np.log1p(out, out=out)
        out *= -self.alpha
        np.exp(out, out=out)

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        return np.ones_like(norms)

    def slopes(self, products: Matrix, x_norms: Norms, z_norms: Norms) -> Slopes:
        values = np.empty_like(products)
        self.fill(values, products, x_norms, z_norms)
        # ψ(s) = u^(−α), u = 1 + s·rate:  ψ' = −α·rate·u^(−α − 1),  u = ψ^(−1/α)
        slope = -0.5 / self._length**2 * values ** (1.0 + 1.0 / self.alpha)
        return Slopes.of_distance(values, slope)

    def diagonal_slopes(self, norms: Norms) -> Norms:
        return np.zeros_like(norms)

    def rounding(self, arithmetic: Arithmetic) -> Rounding | None:
        if self.length_scale is None:
            return None
        # with t = ‖x − z‖²/(2ℓ²), which is off by δ = factor·(‖x‖² + ‖z‖²)/(2ℓ²) at most, the slope
        # of (1 + t/α)^(−α) is between −1 and 0; v = exp(log v) is off by a few units of v·|log v|
        size = distance_sizes(0.5 * arithmetic.norms / self.length_scale**2)
        factor = squared_distance_error(arithmetic)
        return Rounding(factor + 16.0 * arithmetic.unit, size, diagonal=0.0)
