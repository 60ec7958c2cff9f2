"""Kernels of the distance ‖x − z‖, made from products x·z.

Matérn kernels are like the Gaussian kernel, but for rougher functions. With the scaled distance
a = √(4νγ)·‖x − z‖ = √(2ν)·‖x − z‖/ℓ they are

    ν = 1/2   exp(−a)
    ν = 3/2   (1 + a) exp(−a)
    ν = 5/2   (1 + a + a²/3) exp(−a)

(Rasmussen, Williams, *Gaussian Processes for Machine Learning*, 2006, eq. 4.14 to 4.17).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cgboost.arrays import Matrix, Vector, blocks_of
from cgboost.exceptions import KernelError
from cgboost.kernels.expansions import Arithmetic, Rounding, Weights
from cgboost.kernels.gradients import Slopes
from cgboost.kernels.kernel import Kernel, Norms
from cgboost.kernels.numeric.inner_products import ProductKernel, is_positive, named_family
from cgboost.kernels.sparse_rows import entries, squared_norms, total_variance
from cgboost.tolerances import UNIT_ROUNDOFF


class DistanceKernel(ProductKernel):
    """A function of ‖x − z‖² alone, which is 1 where x = z."""

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        return np.ones_like(norms)

    def diagonal_slopes(self, norms: Norms) -> Norms:
        return np.zeros_like(norms)


@dataclass(frozen=True)
class RBF(DistanceKernel):
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

    def slopes(self, products: Matrix, x_norms: Norms, z_norms: Norms) -> Slopes:
        values = np.empty_like(products)
        self.fill(values, products, x_norms, z_norms)
        return Slopes.of_distance(values, -self._width * values)

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


@dataclass(frozen=True)
class RationalQuadratic(DistanceKernel):
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

    def slopes(self, products: Matrix, x_norms: Norms, z_norms: Norms) -> Slopes:
        values = np.empty_like(products)
        self.fill(values, products, x_norms, z_norms)
        # ψ(s) = u^(−α), u = 1 + s·rate:  ψ' = −α·rate·u^(−α − 1),  u = ψ^(−1/α)
        slope = -0.5 / self._length**2 * values ** (1.0 + 1.0 / self.alpha)
        return Slopes.of_distance(values, slope)

    def rounding(self, arithmetic: Arithmetic) -> Rounding | None:
        if self.length_scale is None:
            return None
        # with t = ‖x − z‖²/(2ℓ²), which is off by δ = factor·(‖x‖² + ‖z‖²)/(2ℓ²) at most, the slope
        # of (1 + t/α)^(−α) is between −1 and 0; v = exp(log v) is off by a few units of v·|log v|
        size = distance_sizes(0.5 * arithmetic.norms / self.length_scale**2)
        factor = squared_distance_error(arithmetic)
        return Rounding(factor + 16.0 * arithmetic.unit, size, diagonal=0.0)


ORDERS = (0.5, 1.5, 2.5)

NEAR_DISTANCE = 2.0**-10
"""With ν = 1/2, scaled distances below this are made from x − z where values are in float64."""

PAIRS = 2**20
"""Numbers of a block of differences x − z."""


@dataclass(frozen=True)
class Matern(DistanceKernel):
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
        for block in blocks_of(len(rows), step):
            i, j = rows[block], centres[block]
            squares = squared_norms(X[i] - Z[j])
            values[i, j] = np.exp(-np.sqrt(self._rate * squares))

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
