"""The base class of kernels and the structure they may declare; sums, products and powers.

A kernel is a function k(X, Z) of two sets of rows with values of shape (len(X), len(Z)). It need
not be positive semi-definite: CG-Boost only uses each K(·, x_j) as a column ([B] section 2.3). [B]
is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.

Two optional structures make a kernel cheap:

* values computed from inner products (``of_products``) of all columns of X or of some
  (``restricted``): all such kernels of a library on the same columns share one matrix product;
* weighted sums Σ_j w_j k(x, z_j) that need no kernel values at all (``expansion``).

The formulas are in ``numeric/`` and ``objects/``; in a fit, :mod:`cgboost.pricing.kernels.blocks`
has the values of a whole library computed, block of rows by block.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from inspect import signature
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Matrix, Vector, blocks_of
from cgboost.exceptions import KernelError, see
from cgboost.kernels.expansions import (
    Arithmetic,
    Expansion,
    Rounding,
    SummedExpansion,
    Weights,
    as_floats,
    float_dtype,
)
from cgboost.kernels.gradients import (
    Slopes,
    no_gradient,
    power_slope,
    product_of_slopes,
    product_rule,
    row_blocks,
    sum_of_slopes,
)
from cgboost.kernels.parameters import Parametrized
from cgboost.kernels.sparse_rows import (
    chunks,
    entries,
    is_sparse,
    products_of,
    squared_norms,
    whole_power,
)

Norms = NDArray[np.floating[Any]]

KernelFunction = Callable[[Matrix, Matrix], Matrix]

DIAGONAL_ROWS = 16
"""Rows with which a kernel is called for its diagonal: calls cost more than a few values."""


class Kernel(Parametrized, ABC):
    """A kernel k(x, z); sums, products, powers and multiples of kernels are kernels.

    Your own kernel only needs ``__call__``. If its values are functions of inner products, derive
    it from :class:`ProductKernel`.
    """

    @abstractmethod
    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        """Kernel values of every row of X with every centre in Z, shape (len(X), len(Z))."""

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        """The kernel, with its data-dependent parameters set from the training rows.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
        sample_weight : ndarray of shape (n_rows,), optional
            Positive: a row of weight w counts as w rows. Your own kernel may leave this argument
            out; it is then given the rows alone.
        """
        return self

    def diagonal(self, X: Matrix) -> Norms:
        """k(x, x) of every row, shape (len(X),)."""
        parts = [X[rows] for rows in blocks_of(X.shape[0], DIAGONAL_ROWS)]
        values = [np.diagonal(self(own, own)) for own in parts]
        return np.concatenate(values) if values else np.zeros(0, dtype=float_dtype(X))

    def centres(self, X: Matrix, rows: Any) -> Matrix:
        """The representation of training rows ``rows`` as centres: by default the rows."""
        return X[rows]

    @property
    def is_precomputed(self) -> bool:
        """Whether X contains the kernel values; such a kernel cannot be summed or normalised."""
        return False

    @property
    def takes_objects(self) -> bool:
        """Whether rows may be non-numeric; the kernel is then called with arrays of objects."""
        parts = list(self.parts())
        return bool(parts) and all(part.takes_objects for part in parts)

    def parts(self) -> Iterator[Kernel]:
        """The kernels that it consists of: the kernels in its fields, and in tuples there."""
        for _, value in _fields(self):
            yield from _kernels_in(value)

    def released(self) -> Kernel:
        """The kernel as stored in a fitted model: without values remembered from training."""
        return rebuilt(self, lambda part: part.released())

    # ------------------------------------------------------------------ inner products

    @property
    def of_products(self) -> bool:
        """Whether k(x, z) is a function of only x·z, ‖x‖² and ‖z‖²."""
        return False

    def from_products(
        self, products: Matrix, x_norms: Norms, z_norms: Norms, out: Matrix | None = None
    ) -> Matrix:
        """Kernel values from inner products, for kernels that are ``of_products``.

        Parameters
        ----------
        products : ndarray of shape (n_rows, n_centres)
            X Zᵀ; not changed unless it is ``out``.
        x_norms, z_norms : ndarray of shape (n_rows,) and (n_centres,)
            Squared norms of the rows, as computed by :func:`squared_norms`.
        out : ndarray of shape (n_rows, n_centres), optional
            Array for the values; it may be ``products``.

        Returns
        -------
        ndarray of shape (n_rows, n_centres)
            ``out``, or a new array of the dtype of ``products``.
        """
        values = np.empty_like(products) if out is None else out
        for rows in chunks(products):
            self.fill(values[rows], products[rows], x_norms[rows], z_norms)
        return values

    def sum_from_products(
        self, products: Matrix, x_norms: Norms, z_norms: Norms, weights: Vector
    ) -> Vector:
        """Σ_j w_j k(x, z_j) from inner products, for kernels that are ``of_products``.

        Parameters
        ----------
        products, x_norms, z_norms
            As in :meth:`from_products`.
        weights : ndarray of shape (n_centres,)

        Returns
        -------
        ndarray of shape (n_rows,)
            Summed in float64, without a matrix of kernel values.
        """
        total = np.empty(len(products))
        for rows in chunks(products):
            values = np.empty_like(products[rows])
            self.fill(values, products[rows], x_norms[rows], z_norms)
            total[rows] = values.astype(np.float64, copy=False) @ weights
        return total

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        """k(x, x) from ‖x‖², shape (n_rows,), for kernels that are ``of_products``."""
        raise self._no_products("diagonal_from_norms")

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        """Write the values of a few rows to ``out``; called by ``from_products``."""
        raise self._no_products("fill")

    def _no_products(self, method: str) -> KernelError:
        if self.of_products or self.of_distances:
            what = "of_products" if self.of_products else "of_distances"
            return KernelError(f"{self} is {what} and lacks the method {method} that this needs")
        return KernelError(f"{self} has no values from inner products: call it with X and Z")

    @property
    def of_distances(self) -> bool:
        """Whether k(x, z) is a function of only ‖x − z‖², and k(x, x) = 1."""
        return False

    def fill_from_distances(self, out: Matrix, squares: Matrix) -> None:
        """Write the values for some ‖x − z‖² to ``out``, for kernels that are ``of_distances``."""
        raise self._no_products("fill_from_distances")

    def restricted(self) -> tuple[Callable[[Matrix], Matrix], Kernel] | None:
        """Columns of X, and a kernel of products on them that equals this one; None otherwise.

        The returned columns compare equal if they are the same, and can be keys of a dict.
        """
        return None

    def refine(self, values: Matrix, X: Matrix, Z: Matrix) -> None:
        """Recompute, in place, values that are too inaccurate when computed from inner products.

        Parameters
        ----------
        values : ndarray of shape (len(X), len(Z))
            As computed by :meth:`from_products`.
        X, Z : ndarray
            The rows, in the precision of the values.
        """
        return  # most kernels lose none

    def rounding(self, arithmetic: Arithmetic) -> Rounding | None:
        """Bound on the rounding error of values from inner products; None if unknown.

        A kernel without this bound is priced in float64, regardless of the precision of the rows.

        Parameters
        ----------
        arithmetic : Arithmetic
            Norms of the rows, and the precision of the inner products.
        """
        return None

    # ------------------------------------------------------------------ weighted sums

    def expansion(
        self, centres: Matrix, weights: Vector, n_rows: int | None = None
    ) -> Expansion | None:
        """The function Σ_j w_j k(x, z_j) without its centres, if that is faster.

        Kernels are symmetric: with coefficients as weights, this is a prediction; with a
        pseudo-response over training rows as weights, it gives the scores of all columns.

        Parameters
        ----------
        centres : ndarray of shape (n_centres, n_features)
        weights : ndarray of shape (n_centres,)
        n_rows : int, optional
            Number of rows on which it will be evaluated; by default the number of centres.

        Returns
        -------
        Expansion or None
            None if the kernel has no such structure, or if it needs more operations than the
            kernel values.
        """
        n_centres = centres.shape[0]
        rows = n_centres if n_rows is None else n_rows
        if cost_of_expansion(self, centres, n_centres, rows) > rows * n_centres * entries(centres):
            return None
        return self.expanded(centres, weights)

    def expansion_cost(self, n_centres: int, n_features: int, n_rows: int) -> float:
        """Multiplications to build an expansion and evaluate it on ``n_rows``; inf without one.

        Computing kernel values from a separate product needs n_rows·n_centres·n_features.
        """
        return math.inf

    @property
    def expands_sparse(self) -> bool:
        """Whether expansions accept sparse rows and only use vectors of at most n_features."""
        return False

    def expanded(self, centres: Matrix, weights: Vector) -> Expansion:
        """The expansion of a kernel with a finite ``expansion_cost``, even if it is slower."""
        raise KernelError(f"{self} has no expansion: sum its values")

    # ------------------------------------------------------------------ derivatives by the centre

    def slopes(self, products: Matrix, x_norms: Norms, z_norms: Norms) -> Slopes:
        """Values and slopes from inner products, for kernels that are ``of_products``.

        Parameters
        ----------
        products : ndarray of shape (n_rows, n_centres)
            X Zᵀ; it is not changed.
        x_norms, z_norms : ndarray of shape (n_rows,) and (n_centres,)
            Squared norms.
        """
        raise no_gradient(self)

    def diagonal_slopes(self, norms: Norms) -> Norms:
        """Derivative of k(z, z) by ‖z‖², shape (n_centres,), for kernels ``of_products``."""
        raise no_gradient(self)

    def centre_gradient(self, X: Matrix, Z: Matrix, weights: Matrix) -> Matrix:
        """Gradient of Σ_ij w_ij k(x_i, z_j) by the centres z_j.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
        Z : ndarray of shape (n_centres, n_features)
        weights : ndarray of shape (n_rows, n_centres)

        Returns
        -------
        ndarray of shape (n_centres, n_features)
            Added up in float64; the products are made in the precision of X.

        Raises
        ------
        KernelError
            If the kernel has no gradient by its centre.
        """
        if not self.of_products:
            raise no_gradient(self)
        if is_sparse(X) or is_sparse(Z):
            raise KernelError(f"the gradient of {self} by its centre needs dense rows")
        return gradient_from_products(self, X, Z, weights)

    def diagonal_gradient(self, Z: Matrix) -> Matrix:
        """Gradient of k(z, z) by z, shape (n_centres, n_features): twice that by one argument."""
        return 2.0 * self.centre_gradient(Z, Z, np.eye(len(Z)))

    # ------------------------------------------------------------------ composites

    def __add__(self, other: Kernel) -> Kernel:
        if not isinstance(other, Kernel):
            raise _cannot("added to", self, other)
        return Sum((*_terms(self), *_terms(other)))

    def __radd__(self, other: object) -> Kernel:
        if isinstance(other, int) and other == 0:  # where sum() begins
            return self
        raise _cannot("added to", self, other)

    def __sub__(self, other: Kernel) -> Kernel:
        if not isinstance(other, Kernel):
            raise _cannot("subtracted from", self, other)
        return self + -other

    def __neg__(self) -> Kernel:
        return -1.0 * self

    def __mul__(self, other: float | Kernel) -> Kernel:
        if isinstance(other, Kernel):
            return Product((*_factors(self), *_factors(other)))
        if isinstance(other, bool) or not isinstance(other, Real):
            raise _cannot("multiplied by", self, other)
        if not math.isfinite(other):
            raise ValueError(f"the weight of a kernel must be a finite number, got {other!r}")
        return Sum(tuple((float(other) * own, kernel) for own, kernel in _terms(self)))

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> Kernel:
        if isinstance(other, bool) or not isinstance(other, Real):
            raise _cannot("divided by", self, other)
        if other == 0:
            raise ValueError(f"{self} cannot be divided by {other!r}")
        return self * (1.0 / float(other))

    def __rtruediv__(self, other: object) -> Kernel:
        raise _cannot("divided by", other, self)

    def __pow__(self, exponent: int) -> Kernel:
        return Power(self, exponent)


def _cannot(done: str, one: object, other: object) -> TypeError:
    """The error of arithmetic that has no meaning for kernels, with what has one."""
    words = f"{one!r} and {other!r} cannot be" if done == "added to" else f"{one!r} cannot be"
    words += " added" if done == "added to" else f" {done} {other!r}"
    return TypeError(
        f"{words}: kernels are added and multiplied, weighted by numbers (0.5 * RBF(), RBF() / 2) "
        "and raised to whole powers; a constant is the model's offset=, a function k(X, Z) becomes "
        f"a kernel by FunctionKernel(k){see('kernels-and-libraries')}"
    )


def with_parts(kernel: Kernel) -> Iterator[Kernel]:
    """The kernel itself, and all kernels inside of it."""
    yield kernel
    for part in kernel.parts():
        yield from with_parts(part)


def fitted(kernel: Kernel, X: Matrix, sample_weight: Weights = None) -> Kernel:
    """``kernel.fit``, with weights unless there are none or it takes none."""
    if sample_weight is None or "sample_weight" not in signature(kernel.fit).parameters:
        return kernel.fit(X)
    return kernel.fit(X, sample_weight)


def rebuilt(kernel: Kernel, change: Callable[[Kernel], Kernel]) -> Kernel:
    """A kernel with each of its parts changed; itself where nothing does."""
    changes = {}
    for name, value in _fields(kernel):
        new = _changed(value, change)
        if new is not value:
            changes[name] = new
    return cast(Kernel, replace(cast(Any, kernel), **changes)) if changes else kernel


def _fields(kernel: Any) -> list[tuple[str, Any]]:
    if not is_dataclass(kernel):
        return []
    return [(field.name, getattr(kernel, field.name)) for field in fields(kernel) if field.init]


def _kernels_in(value: Any) -> Iterator[Kernel]:
    if isinstance(value, Kernel):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _kernels_in(part)


def _changed(value: Any, change: Callable[[Kernel], Kernel]) -> Any:
    if isinstance(value, Kernel):
        return change(value)
    if isinstance(value, tuple) and any(True for _ in _kernels_in(value)):
        new = [_changed(part, change) for part in value]
        same = all(one is other for one, other in zip(new, value, strict=True))
        return value if same else tuple(new)
    return value


def gradient_from_products(
    kernel: Kernel, X: Matrix, Z: Matrix, weights: Matrix, products: Matrix | None = None
) -> Matrix:
    """``kernel.centre_gradient`` of dense rows by its slopes; X Zᵀ may be known already."""
    X, Z = as_floats(X), as_floats(Z)
    weights = weights.astype(X.dtype, copy=False)
    gradient, along = np.zeros(Z.shape), np.zeros(len(Z))
    z_norms = squared_norms(Z)
    for rows in row_blocks(len(X), len(Z)):
        block = X[rows]
        own = products_of(block, Z) if products is None else products[rows]
        slopes = kernel.slopes(own, squared_norms(block), z_norms)
        gradient += (weights[rows] * slopes.by_product).T @ block
        if slopes.by_norm is not None:
            along += np.einsum("ij,ij->j", weights[rows], slopes.by_norm)
    gradient += 2.0 * along[:, None] * Z
    return gradient


def values_of_products(kernel: Kernel, X: Matrix, Z: Matrix) -> Matrix:
    """``kernel(X, Z)`` of a kernel that is ``of_products``."""
    values = products_of(as_floats(X), as_floats(Z))
    return kernel.from_products(values, squared_norms(X), squared_norms(Z), out=values)


def cost_of_expansion(kernel: Kernel, X: Matrix, n_centres: int, n_rows: int) -> float:
    """``kernel.expansion_cost`` over rows like X; inf where it would take a matrix of features."""
    if not is_sparse(X):
        return kernel.expansion_cost(n_centres, X.shape[1], n_rows)
    if not kernel.expands_sparse:
        return math.inf
    return kernel.expansion_cost(n_centres, round(entries(X)), n_rows)


def check_kernels(what: str, parts: Any) -> None:
    """Raise ValueError unless the parts of what is made of kernels are kernels."""
    if not isinstance(parts, (list, tuple)):
        raise ValueError(f"{what} of kernels must have a tuple of them, got {parts!r}")
    for kernel in parts:
        if not isinstance(kernel, Kernel):
            raise ValueError(
                f"{what} must be of kernels such as RBF(), got {kernel!r}: a function k(X, Z) is a "
                "kernel of a KernelLibrary"
            )


@dataclass(frozen=True)
class Sum(Kernel):
    """Σ weight·kernel: a composite kernel in the sense of [B] eq. 2."""

    terms: tuple[tuple[float, Kernel], ...]

    def __post_init__(self) -> None:
        if not isinstance(self.terms, tuple) or any(
            not isinstance(term, tuple) or len(term) != 2 for term in self.terms
        ):
            raise ValueError(
                f"the terms of a sum must be a tuple of pairs (weight, kernel), got {self.terms!r}"
            )
        check_kernels("a sum", [kernel for _, kernel in self.terms])
        if any(kernel.is_precomputed for _, kernel in self.terms):
            raise ValueError("Precomputed cannot be part of a sum: add the matrices instead")

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        return Sum(
            tuple((weight, fitted(kernel, X, sample_weight)) for weight, kernel in self.terms)
        )

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        if self.of_products:
            return values_of_products(self, X, Z)
        return sum(
            (weight * kernel(X, Z) for weight, kernel in self.terms),
            start=np.zeros((), dtype=float_dtype(X)),
        )

    def diagonal(self, X: Matrix) -> Norms:
        return sum(
            (weight * kernel.diagonal(X) for weight, kernel in self.terms),
            start=np.zeros((), dtype=float_dtype(X)),
        )

    @property
    def of_products(self) -> bool:
        return all(kernel.of_products for _, kernel in self.terms)

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        total, values = np.zeros_like(out), np.empty_like(out)
        for weight, kernel in self.terms:
            kernel.fill(values, products, x_norms, z_norms)
            values *= weight
            total += values
        out[...] = total

    def sum_from_products(
        self, products: Matrix, x_norms: Norms, z_norms: Norms, weights: Vector
    ) -> Vector:
        total = np.zeros(len(products))
        for weight, kernel in self.terms:
            total += kernel.sum_from_products(products, x_norms, z_norms, weight * weights)
        return total

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        return sum(
            (weight * kernel.diagonal_from_norms(norms) for weight, kernel in self.terms),
            start=np.zeros((), dtype=norms.dtype),
        )

    def slopes(self, products: Matrix, x_norms: Norms, z_norms: Norms) -> Slopes:
        return sum_of_slopes(
            [
                kernel.slopes(products, x_norms, z_norms).scaled(weight)
                for weight, kernel in self.terms
            ]
        )

    def diagonal_slopes(self, norms: Norms) -> Norms:
        return sum(
            (weight * kernel.diagonal_slopes(norms) for weight, kernel in self.terms),
            start=np.zeros((), dtype=norms.dtype),
        )

    def centre_gradient(self, X: Matrix, Z: Matrix, weights: Matrix) -> Matrix:
        if self.of_products:
            return super().centre_gradient(X, Z, weights)
        return sum(
            (kernel.centre_gradient(X, Z, weight * weights) for weight, kernel in self.terms),
            start=np.zeros(()),
        )

    def expansion_cost(self, n_centres: int, n_features: int, n_rows: int) -> float:
        costs = (kernel.expansion_cost(n_centres, n_features, n_rows) for _, kernel in self.terms)
        return sum(costs)

    @property
    def expands_sparse(self) -> bool:
        return all(kernel.expands_sparse for _, kernel in self.terms)

    def rounding(self, arithmetic: Arithmetic) -> Rounding | None:
        rough = replace(arithmetic, refined=False)
        parts = [(weight, part.rounding(rough)) for weight, part in self.terms]
        relative = diagonal = (len(parts) + 2) * arithmetic.unit
        squares = np.zeros_like(arithmetic.norms)
        for weight, own in parts:
            if own is None:
                return None
            squares += abs(weight) * own.size**2
        relative += max(own.relative for _, own in parts if own is not None)
        diagonal += max(own.diagonal for _, own in parts if own is not None)
        return Rounding(relative, np.sqrt(squares), diagonal)

    def expanded(self, centres: Matrix, weights: Vector) -> Expansion:
        return SummedExpansion(
            [kernel.expanded(centres, weight * weights) for weight, kernel in self.terms]
        )


def _terms(kernel: Kernel) -> tuple[tuple[float, Kernel], ...]:
    return kernel.terms if isinstance(kernel, Sum) else ((1.0, kernel),)


@dataclass(frozen=True)
class Product(Kernel):
    """Π_p k_p(x, z): positive semidefinite if the factors are (Schur product theorem).

    It is large if all factors are: rows must be similar in every factor, not just in one.
    """

    factors: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        check_kernels("a product", self.factors)
        if any(kernel.is_precomputed for kernel in self.factors):
            raise ValueError(
                "Precomputed cannot be a factor of a product: multiply the matrices instead"
            )

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        return Product(tuple(fitted(kernel, X, sample_weight) for kernel in self.factors))

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        if self.of_products:
            return values_of_products(self, X, Z)
        return math.prod(
            (kernel(X, Z) for kernel in self.factors), start=np.ones((), dtype=float_dtype(X))
        )

    def diagonal(self, X: Matrix) -> Norms:
        return math.prod(
            (kernel.diagonal(X) for kernel in self.factors), start=np.ones((), dtype=float_dtype(X))
        )

    @property
    def of_products(self) -> bool:
        return all(kernel.of_products for kernel in self.factors)

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        total, values = np.ones_like(out), np.empty_like(out)
        for kernel in self.factors:
            kernel.fill(values, products, x_norms, z_norms)
            total *= values
        out[...] = total

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        return math.prod(
            (kernel.diagonal_from_norms(norms) for kernel in self.factors),
            start=np.ones((), dtype=norms.dtype),
        )

    def slopes(self, products: Matrix, x_norms: Norms, z_norms: Norms) -> Slopes:
        return product_of_slopes(
            [kernel.slopes(products, x_norms, z_norms) for kernel in self.factors]
        )

    def diagonal_slopes(self, norms: Norms) -> Norms:
        values = [kernel.diagonal_from_norms(norms) for kernel in self.factors]
        rule = product_rule(self.factors, values)
        return sum((kernel.diagonal_slopes(norms) * rest for kernel, rest in rule), np.zeros(()))

    def centre_gradient(self, X: Matrix, Z: Matrix, weights: Matrix) -> Matrix:
        if self.of_products:
            return super().centre_gradient(X, Z, weights)
        rule = product_rule(self.factors, [kernel(X, Z) for kernel in self.factors])
        return sum(
            (kernel.centre_gradient(X, Z, weights * rest) for kernel, rest in rule), np.zeros(())
        )

    def rounding(self, arithmetic: Arithmetic) -> Rounding | None:
        rough = replace(arithmetic, refined=False)
        parts = [kernel.rounding(rough) for kernel in self.factors]
        size = np.ones_like(arithmetic.norms)
        relative = diagonal = len(parts) * math.log1p(arithmetic.unit)
        for own in parts:
            if own is None:
                return None
            size = size * own.size
            relative += math.log1p(own.relative)
            diagonal += math.log1p(own.diagonal)
        # Π(1 + ε_p) − 1, times the product of the sizes, with one rounding for each factor
        return Rounding(math.expm1(relative), size, math.expm1(diagonal))


@dataclass(frozen=True)
class Power(Kernel):
    """k(x, z)^exponent with an integer exponent ≥ 1: a product of equal factors."""

    kernel: Kernel
    exponent: int

    def __post_init__(self) -> None:
        whole = isinstance(self.exponent, (int, np.integer)) and not isinstance(self.exponent, bool)
        if not whole or self.exponent < 1:
            raise ValueError(
                f"the exponent of a kernel must be a whole number ≥ 1, got {self.exponent!r}"
            )
        check_kernels("a power", [self.kernel])
        if self.kernel.is_precomputed:
            raise ValueError("Precomputed has no powers: take those of its matrix instead")

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        return Power(fitted(self.kernel, X, sample_weight), self.exponent)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        if self.of_products:
            return values_of_products(self, X, Z)
        return whole_power(self.kernel(X, Z), self.exponent)

    def diagonal(self, X: Matrix) -> Norms:
        return whole_power(self.kernel.diagonal(X), self.exponent)

    @property
    def of_products(self) -> bool:
        return self.kernel.of_products

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        values = np.empty_like(out)
        self.kernel.fill(values, products, x_norms, z_norms)
        out[...] = whole_power(values, self.exponent)

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        return whole_power(self.kernel.diagonal_from_norms(norms), self.exponent)

    def slopes(self, products: Matrix, x_norms: Norms, z_norms: Norms) -> Slopes:
        own = self.kernel.slopes(products, x_norms, z_norms)
        return own.after(
            whole_power(own.values, self.exponent), power_slope(own.values, self.exponent)
        )

    def diagonal_slopes(self, norms: Norms) -> Norms:
        own = self.kernel.diagonal_from_norms(norms)
        return power_slope(own, self.exponent) * self.kernel.diagonal_slopes(norms)

    def centre_gradient(self, X: Matrix, Z: Matrix, weights: Matrix) -> Matrix:
        if self.of_products:
            return super().centre_gradient(X, Z, weights)
        return self.kernel.centre_gradient(
            X, Z, weights * power_slope(self.kernel(X, Z), self.exponent)
        )

    def rounding(self, arithmetic: Arithmetic) -> Rounding | None:
        return Product((self.kernel,) * int(self.exponent)).rounding(arithmetic)


def _factors(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.factors if isinstance(kernel, Product) else (kernel,)
