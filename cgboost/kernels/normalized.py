"""Cosine normalisation of a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgboost.exceptions import KernelError, see
from cgboost.kernels.base import Kernel, Norms, values_of_products
from cgboost.kernels.expansions import (
    Expansion,
    Matrix,
    ScaledExpansion,
    Vector,
)


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
            return values_of_products(self, X, Z)
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
