"""The Gaussian kernel, and common parts of kernels of the distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cgboost.arrays import Matrix, Vector
from cgboost.exceptions import KernelError
from cgboost.kernels.expansions import Arithmetic, Rounding, Weights
from cgboost.kernels.gradients import Slopes
from cgboost.kernels.kernel import Kernel, Norms
from cgboost.kernels.numeric.inner_products import ProductKernel, is_positive, named_family
from cgboost.kernels.sparse_rows import total_variance


@dataclass(frozen=True)
class RBF(ProductKernel):
    """k(x, z) = exp(−gamma·‖x − z‖²).

    Parameters
    ----------
    gamma : float or None
        None means ``factor`` / mean‖x_i − x_j‖² over all pairs of training rows; with a factor of
        1 this is the rule of [B] section 5. If all rows are equal, it means ``factor``.
    factor : float, default=1.0
        Only for ``gamma=None``.
    """

    gamma: float | None = None
    factor: float = 1.0

    def __post_init__(self) -> None:
        if self.gamma is not None and not is_positive(self.gamma):
            raise ValueError(f"gamma must be a positive number or None, got {self.gamma!r}")
        if not is_positive(self.factor):
            raise ValueError(f"factor must be a positive number, got {self.factor!r}")
        if self.gamma is not None and self.factor != 1.0:
            raise ValueError(
                f"factor={self.factor!r} multiplies the width that gamma=None takes from the "
                f"training rows, yet gamma is {self.gamma!r}: give one of them"
            )

    @classmethod
    def family(
        cls,
        gammas: Sequence[float] | None = None,
        *,
        factors: Sequence[float] | None = None,
        name: str = "rbf",
    ) -> dict[str, RBF]:
        """Kernels of several widths, named by width; together they need one matrix product.

        Parameters
        ----------
        gammas : sequence of float, optional
        factors : sequence of float, optional
            Instead of ``gammas``: multiples of the gamma that ``RBF()`` computes from the training
            rows.
        name : str, default="rbf"

        Examples
        --------
        >>> from cgboost import KernelLibrary, Linear, RBF
        >>> KernelLibrary({"linear": Linear(), **RBF.family([0.01, 0.02, 0.04])})
        KernelLibrary(linear, rbf 0.01, rbf 0.02, rbf 0.04)
        >>> RBF.family(factors=[1, 3])
        {'rbf x1': RBF(gamma=None, factor=1), 'rbf x3': RBF(gamma=None, factor=3)}
        """
        if (gammas is None) == (factors is None):
            raise ValueError(f"give gammas or factors, got gammas={gammas!r}, factors={factors!r}")
        if factors is None:
            return named_family(f"{name} ", "gammas", gammas, cls)
        return named_family(f"{name} x", "factors", factors, lambda factor: cls(factor=factor))

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        if self.gamma is not None:
            return self
        return RBF(self.factor / mean_squared_distance(X, sample_weight))

    @property
    def of_distances(self) -> bool:
        return True

    @property
    def _width(self) -> float:
        if self.gamma is None:
            raise KernelError("RBF(gamma=None) has no width yet: call fit(X) or give gamma")
        return self.gamma

    def fill_from_distances(self, out: Matrix, squares: Matrix) -> None:
        np.multiply(squares, -self._width, out=out)
        np.exp(out, out=out)

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        gamma = self._width
        # −gamma·‖x − z‖² with gamma where it costs least
        np.multiply(products, 2.0 * gamma, out=out)
        out -= (gamma * x_norms)[:, None]
        out -= gamma * z_norms
        np.minimum(out, 0.0, out=out)
        np.exp(out, out=out)

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        return np.ones_like(norms)

    def slopes(self, products: Matrix, x_norms: Norms, z_norms: Norms) -> Slopes:
        values = np.empty_like(products)
        self.fill(values, products, x_norms, z_norms)
        return Slopes.of_distance(values, -self._width * values)

    def diagonal_slopes(self, norms: Norms) -> Norms:
        return np.zeros_like(norms)

    def rounding(self, arithmetic: Arithmetic) -> Rounding | None:
        if self.gamma is None:
            return None
        # the exponent is off by δ = factor·γ(‖x‖² + ‖z‖²) at most, the value by exp(δ) − 1
        scaled = self.gamma * arithmetic.norms
        factor = squared_distance_error(arithmetic)
        farthest = min(1.0, max(1e-300, 2.0 * factor * float(scaled.max(initial=0.0))))
        relative = factor * np.expm1(farthest) / farthest + 8.0 * arithmetic.unit
        return Rounding(float(relative), distance_sizes(scaled), diagonal=0.0)


def fill_squared_distances(out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
    """‖x − z‖² = ‖x‖² + ‖z‖² − 2 x·z into ``out``, which may be ``products``."""
    np.multiply(products, -2.0, out=out)
    out += x_norms[:, None]
    out += z_norms
    np.maximum(out, 0.0, out=out)


def distance_sizes(scaled: Vector) -> Vector:
    """One number s a row with 1 + a_x + a_z ≤ s_x s_z, for errors that grow with ‖x‖² + ‖z‖².

    Parameters
    ----------
    scaled : ndarray of shape (n_rows,)
        a = factor·‖x‖².

    Returns
    -------
    ndarray of shape (n_rows,)
        1 + a, or √(1 + 2 max a) for all rows where that is smaller on average: far from the origin
        the product of two would be many times their sum.
    """
    each, farthest = 1.0 + scaled, 1.0 + 2.0 * float(scaled.max(initial=0.0))
    same = np.full_like(each, np.sqrt(farthest))
    return same if farthest < float(each.mean()) ** 2 else each


def squared_distance_error(arithmetic: Arithmetic) -> float:
    """The error of a multiple of ‖x − z‖², made from products, relative to that of ‖x‖² + ‖z‖²."""
    return 2.0 * arithmetic.gamma(extra=8)


def mean_squared_distance(X: Matrix, sample_weight: Weights = None) -> float:
    """Mean ‖x_i − x_j‖² over all pairs of rows: twice the total variance; 1 where all are equal."""
    spread = 2.0 * total_variance(X, sample_weight)
    return spread if spread > 0 else 1.0
