"""Cosine normalisation of a kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cgboost.exceptions import KernelError, see
from cgboost.kernels.base import Kernel, Norms, values_of_products
from cgboost.kernels.expansions import (
    Expansion,
    Matrix,
    ScaledExpansion,
    Vector,
)
from cgboost.kernels.rounding import Arithmetic, Rounding

LARGEST_DOUBT = 0.1
"""A normalising factor with a larger relative error than this is not bounded."""

SMALLEST_DIAGONAL = float(np.finfo(np.float32).tiny / np.finfo(np.float32).eps)
"""Below this k(x, x) may have lost digits to underflow, and is not bounded."""


@dataclass(frozen=True)
class Normalized(Kernel):
    """k(x, z) / √(k(x, x) k(z, z)), and 0 where k(x, x) is 0."""

    kernel: Kernel

    def __post_init__(self) -> None:
        if self.kernel.is_precomputed:
            raise ValueError("a Precomputed kernel cannot be normalised: normalise its matrix")

    def fit(self, X: Matrix) -> Kernel:
        return Normalized(self.kernel.fit(X))

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        if self.of_products:
            values = values_of_products(self, X, Z)
            self.refine(values, X, Z)
            return values
        values = self.kernel(X, Z)
        values = values * self._scale(X)[:, None]
        values *= self._scale(Z)
        return values

    def diagonal(self, X: Matrix) -> Norms:
        return (self._scale(X) > 0).astype(X.dtype)

    @property
    def of_products(self) -> bool:
        return self.kernel.of_products

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        self.kernel.fill(out, products, x_norms, z_norms)
        out *= self._scale_from(x_norms)[:, None]
        out *= self._scale_from(z_norms)

    def sum_from_products(
        self, products: Matrix, x_norms: Norms, z_norms: Norms, weights: Vector
    ) -> Vector:
        scaled = weights * self._scale_from(z_norms)
        total = self.kernel.sum_from_products(products, x_norms, z_norms, scaled)
        return total * self._scale_from(x_norms)

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        return (self._scale_from(norms) > 0).astype(norms.dtype)

    def expansion_cost(self, n_centres: int, n_features: int, n_rows: int) -> float:
        own = (n_centres + n_rows) * n_features
        return self.kernel.expansion_cost(n_centres, n_features, n_rows) + own

    def expanded(self, centres: Matrix, weights: Vector) -> Expansion:
        scaled = weights * self._scale(centres)
        return ScaledExpansion(self.kernel.expanded(centres, scaled), self._scale)

    def refine(self, values: Matrix, X: Matrix, Z: Matrix) -> None:
        if all(np.all(self.kernel.diagonal(rows) == 1.0) for rows in (X, Z)):  # as it was
            self.kernel.refine(values, X, Z)

    def rounding(self, arithmetic: Arithmetic) -> Rounding | None:
        if not self.of_products:
            return None
        diagonal = self.kernel.diagonal_from_norms(arithmetic.norms)
        refined = arithmetic.refined and bool(np.all(diagonal == 1.0))
        own = self.kernel.rounding(replace(arithmetic, refined=refined))
        if own is None:
            return None
        positive = diagonal > 0
        ratio = np.divide(own.size**2, diagonal, out=np.zeros_like(diagonal), where=positive)
        doubt = own.diagonal * float(ratio.max(initial=0.0))  # relative error of the diagonal
        smallest = float(diagonal[positive].min(initial=np.inf))
        if not doubt <= LARGEST_DOUBT or smallest < SMALLEST_DIAGONAL:
            return None
        relative = 1.1 * (own.relative + 1.2 * doubt + 8.0 * arithmetic.unit)
        return Rounding(relative, np.sqrt(ratio), diagonal=0.0)

    def _scale(self, X: Matrix) -> Norms:
        return self._inverse_root(self.kernel.diagonal(X))

    def _scale_from(self, norms: Norms) -> Norms:
        return self._inverse_root(self.kernel.diagonal_from_norms(norms))

    def _inverse_root(self, diagonal: Norms) -> Norms:
        if np.any(diagonal < 0):
            raise KernelError(
                f"{self.kernel} cannot be normalised: k(x, x) = {diagonal.min():.3g}"
                f"{see('kernel-values')}"
            )
        return np.divide(1.0, np.sqrt(diagonal), out=np.zeros_like(diagonal), where=diagonal > 0)
