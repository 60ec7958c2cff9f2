"""Kernels of inner products: their base class, linear and polynomial kernels."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from cgboost.arrays import Matrix, Vector
from cgboost.kernels.expansions import (
    Arithmetic,
    Expansion,
    PolynomialExpansion,
    Rounding,
    weighted_moment,
    weighted_sum,
)
from cgboost.kernels.gradients import Slopes, power_slope
from cgboost.kernels.kernel import Kernel, Norms, values_of_products
from cgboost.kernels.sparse_rows import squared_norms, whole_power

AnyKernel = TypeVar("AnyKernel", bound=Kernel)


class ProductKernel(Kernel):
    """A kernel that is a function of x·z, ‖x‖² and ‖z‖², given by a subclass.

    A subclass defines ``fill(out, products, x_norms, z_norms)``, where ``out`` may be ``products``,
    and ``diagonal_from_norms(norms)``.
    """

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        values = values_of_products(self, X, Z)
        self.refine(values, X, Z)
        return values

    def diagonal(self, X: Matrix) -> Norms:
        return self.diagonal_from_norms(squared_norms(X))

    @property
    def of_products(self) -> bool:
        return True

    @abstractmethod
    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None: ...

    @abstractmethod
    def diagonal_from_norms(self, norms: Norms) -> Norms: ...


@dataclass(frozen=True)
class Linear(ProductKernel):
    """k(x, z) = x·z."""

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        if out is not products:
            out[...] = products

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        return norms

    def slopes(self, products: Matrix, x_norms: Norms, z_norms: Norms) -> Slopes:
        return Slopes(products, np.ones_like(products))

    def diagonal_slopes(self, norms: Norms) -> Norms:
        return np.ones_like(norms)

    def rounding(self, arithmetic: Arithmetic) -> Rounding | None:
        relative = arithmetic.gamma()
        return Rounding(relative, np.sqrt(arithmetic.norms), diagonal=relative)

    def expansion_cost(self, n_centres: int, n_features: int, n_rows: int) -> float:
        return (n_centres + n_rows) * n_features

    @property
    def expands_sparse(self) -> bool:
        return True

    def expanded(self, centres: Matrix, weights: Vector) -> Expansion:
        return PolynomialExpansion(0.0, weighted_sum(centres, weights))


@dataclass(frozen=True)
class Polynomial(ProductKernel):
    """k(x, z) = (gamma·x·z + coef0)^degree."""

    degree: int = 2
    gamma: float = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.degree, Real) or self.degree < 1 or self.degree % 1:
            raise ValueError(f"degree must be a positive whole number, got {self.degree!r}")
        if not is_positive(self.gamma):
            raise ValueError(f"gamma must be a positive number, got {self.gamma!r}")
        if not isinstance(self.coef0, Real):
            raise ValueError(f"coef0 must be a number, got {self.coef0!r}")

    @classmethod
    def family(
        cls,
        degrees: Sequence[int],
        *,
        gamma: float = 1.0,
        coef0: float = 0.0,
        name: str = "polynomial",
    ) -> dict[str, Polynomial]:
        """Kernels of several degrees, named by degree; together they need one matrix product.

        Examples
        --------
        >>> from cgboost import KernelLibrary, Linear, Polynomial
        >>> KernelLibrary({"linear": Linear(), **Polynomial.family([2, 3], coef0=1.0)})
        KernelLibrary(linear, polynomial 2, polynomial 3)
        """
        return named_family(
            f"{name} ", "degrees", degrees, lambda degree: cls(degree, gamma, coef0)
        )

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        base = products
        if self.gamma != 1.0:
            base = np.multiply(products, self.gamma, out=out)
        if self.coef0 != 0.0:
            base = np.add(base, self.coef0, out=out)
        result = whole_power(base, self.degree)
        if result is not out:
            out[...] = result

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        values = np.empty_like(norms)
        self.fill(values, norms, norms, norms)
        return values

    def slopes(self, products: Matrix, x_norms: Norms, z_norms: Norms) -> Slopes:
        base = self.gamma * products + self.coef0
        slope = power_slope(base, int(self.degree))
        return Slopes(slope * base * (1.0 / self.degree), self.gamma * slope)

    def diagonal_slopes(self, norms: Norms) -> Norms:
        return self.gamma * power_slope(self.gamma * norms + self.coef0, int(self.degree))

    def rounding(self, arithmetic: Arithmetic) -> Rounding | None:
        # |γ x·z + c| ≤ γ‖x‖‖z‖ + |c| ≤ √(γ‖x‖² + |c|)·√(γ‖z‖² + |c|), and so are its errors
        base = self.gamma * arithmetic.norms + abs(self.coef0)
        relative = float(np.expm1(self.degree * np.log1p(arithmetic.gamma(extra=6))))
        return Rounding(relative, base ** (0.5 * self.degree), diagonal=relative)

    def expansion_cost(self, n_centres: int, n_features: int, n_rows: int) -> float:
        if self.degree > 2:
            return math.inf
        if self.degree == 1:
            return (n_centres + n_rows) * n_features
        # the matrix is symmetric: making it takes half
        return (0.5 * n_centres + n_rows) * n_features**2

    @property
    def expands_sparse(self) -> bool:
        return self.degree == 1

    def expanded(self, centres: Matrix, weights: Vector) -> Expansion:
        gamma, coef0, total = self.gamma, self.coef0, float(np.sum(weights))
        if self.degree == 1:
            return PolynomialExpansion(coef0 * total, weighted_sum(centres, gamma * weights))
        vector = None
        if coef0 != 0.0:
            vector = weighted_sum(centres, 2.0 * gamma * coef0 * weights)
        return PolynomialExpansion(
            coef0**2 * total, vector, weighted_moment(centres, gamma**2 * weights)
        )


def named_family(
    prefix: str, what: str, numbers: Any, kernel: Callable[[Any], AnyKernel]
) -> dict[str, AnyKernel]:
    """The kernel of every number, named by it; errors say ``what`` is wrong."""
    if not isinstance(numbers, Iterable) or isinstance(numbers, str):
        raise ValueError(f"{what} must be a list of numbers, got {numbers!r}")
    kernels = [(number, kernel(number)) for number in numbers]
    family = {f"{prefix}{number:g}": own for number, own in kernels}
    if not kernels or len(family) < len(kernels):
        given = [number for number, _ in kernels]
        raise ValueError(f"{what} must be one or more different numbers, got {given}")
    return family


def is_positive(value: object) -> bool:
    """Whether a parameter is a positive, finite number."""
    return isinstance(value, Real) and 0 < float(value) < math.inf
