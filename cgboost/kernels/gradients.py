"""Derivatives of kernels by their centres: ∂k(x, z)/∂z.

A kernel k = φ(x·z, ‖x‖², ‖z‖²) has

    ∂k/∂z = φ₁ x + 2 φ₃ z        with the slopes φ₁ = ∂φ/∂(x·z), φ₃ = ∂φ/∂‖z‖²,

so that with weights w_ij of all rows and centres

    Σ_i w_ij ∂k(x_i, z_j)/∂z_j  =  [(w∘φ₁)ᵀ X]_j + 2 (Σ_i w_ij φ₃ij) z_j,

one more product of the size of X Zᵀ. Cosine normalisation k/√(k(x,x) k(z,z)) adds the slope of the
diagonal, dφ(c, c, c)/dc. A kernel of another kind gives ``centre_gradient`` itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Matrix, blocks_of
from cgboost.exceptions import KernelError, see
from cgboost.kernels.sparse_rows import whole_power

Norms = NDArray[np.floating[Any]]

VALUES_AT_ONCE = 2**18
"""Slopes that are made at a time: few enough for a cache, enough for a fast matrix product."""

FEWEST_ROWS = 64
"""Rows of a block at least, so that its products are products of matrices."""


@dataclass(frozen=True, eq=False)
class Slopes:
    """Kernel values φ and their slopes, each of shape (n_rows, n_centres).

    Attributes
    ----------
    values : ndarray
        φ(x·z, ‖x‖², ‖z‖²).
    by_product : ndarray
        ∂φ/∂(x·z).
    by_norm : ndarray or None
        ∂φ/∂‖z‖²; None where it is 0.
    """

    values: Matrix
    by_product: Matrix
    by_norm: Matrix | None = None

    @classmethod
    def of_distance(cls, values: Matrix, slope: Matrix) -> Slopes:
        """Slopes of ψ(‖x − z‖²) = ψ(‖x‖² + ‖z‖² − 2 x·z), from ψ and ψ'."""
        return cls(values, -2.0 * slope, slope)

    def scaled(self, factor: Any) -> Slopes:
        """Slopes of a multiple; a factor a row, a centre or for all, that does not vary with z."""
        by_norm = None if self.by_norm is None else factor * self.by_norm
        return Slopes(factor * self.values, factor * self.by_product, by_norm)

    def after(self, values: Matrix, slope: Matrix) -> Slopes:
        """Slopes of g(k), from g and g' at k."""
        by_norm = None if self.by_norm is None else slope * self.by_norm
        return Slopes(values, slope * self.by_product, by_norm)

    def normalized(self, scale: Norms, drift: Norms) -> Slopes:
        """Slopes of s(‖z‖²)·k, from s and its relative slope s'/s for each centre."""
        own = self.scaled(scale)
        by_norm = own.values * drift
        if own.by_norm is not None:
            by_norm += own.by_norm
        return Slopes(own.values, own.by_product, by_norm)


def sum_of_slopes(parts: Sequence[Slopes]) -> Slopes:
    """Slopes of Σ k_p."""
    norms = [part.by_norm for part in parts if part.by_norm is not None]
    return Slopes(
        _total([part.values for part in parts]),
        _total([part.by_product for part in parts]),
        _total(norms) if norms else None,
    )


def product_of_slopes(parts: Sequence[Slopes]) -> Slopes:
    """Slopes of Π k_p, by the product rule."""
    result = parts[0]
    for part in parts[1:]:
        crossed = result.after(result.values * part.values, part.values)
        other = part.after(crossed.values, result.values)
        both = sum_of_slopes([crossed, other])
        result = Slopes(crossed.values, both.by_product, both.by_norm)
    return result


def power_slope(base: Any, exponent: int) -> Any:
    """Derivative exponent·base^(exponent − 1) of a whole power."""
    return whole_power(base, exponent - 1) * exponent if exponent > 1 else np.ones_like(base)


def product_rule(factors: Sequence[Any], values: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Every factor with the product of the values of the others."""
    for place, factor in enumerate(factors):
        others = [value for other, value in enumerate(values) if other != place]
        yield factor, math.prod(others, start=np.ones(()))


def _total(arrays: Sequence[Matrix]) -> Matrix:
    return sum(arrays[1:], start=arrays[0])


def no_gradient(kernel: Any) -> KernelError:
    """The error of a kernel that does not say how its values change with the centre."""
    return KernelError(
        f"kernel {kernel!r} has no gradient by its centre, which free centres need: those of "
        "inner products and distances have one (RBF, Polynomial, Matern), your own gives "
        f"centre_gradient(X, Z, weights). Or take centers='rows'{see('kernels-and-libraries')}"
    )


def row_blocks(n_rows: int, n_centres: int) -> Iterator[slice]:
    """Blocks of rows whose slopes are made at a time."""
    step = max(FEWEST_ROWS, VALUES_AT_ONCE // max(1, n_centres))
    return blocks_of(n_rows, step)
