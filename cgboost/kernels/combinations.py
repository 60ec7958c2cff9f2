"""Combinations of kernels: weighted sums over a library, and cosine normalisation.

Σ_p Σ_j w_pj k_p(x, z_pj) over the kernels of a library is computed in the cheapest way for each.

A kernel with an expansion (:meth:`Kernel.expansion`) does not need its centres. Other kernels of
inner products share one product with the union of their centres, and all remaining kernels are
called directly. The choice between the first two depends on the number of operations: a quadratic
kernel is nearly free if an RBF needs the products with its centres anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Matrix, Vector, blocks_of
from cgboost.exceptions import KernelError, see
from cgboost.kernels.checked_values import finite, kernel_values
from cgboost.kernels.expansions import (
    Arithmetic,
    Expansion,
    Rounding,
    ScaledExpansion,
    Weights,
    as_floats,
    float_dtype,
)
from cgboost.kernels.gradients import Slopes
from cgboost.kernels.kernel import (
    Kernel,
    Norms,
    check_kernels,
    cost_of_expansion,
    fitted,
    values_of_products,
)
from cgboost.kernels.numeric.inner_products import Linear
from cgboost.kernels.sparse_rows import (
    chunks,
    entries,
    inner_products,
    is_sparse,
    like,
    squared_norms,
    stacked,
    transposed,
)

PREDICTED_VALUE_COST = 64
"""Multiplications in a matrix product that take as long as one kernel value made from it."""

PICK_COST = 32
"""Multiplications in a matrix product that take as long as picking one number out of it."""

VALUES_AT_ONCE = 2**18
"""Kernel values made at once: few enough for a processor's cache."""

FEWEST_BLOCK_ROWS = 64
"""Rows of a block, however many centres there are: a smaller product costs more a row."""


class WeightedCentres(NamedTuple):
    """One kernel's part of a sum, Σ_j weights_j k(x, centres_j).

    Centres of several kernels are the same if they are the same array.
    """

    name: str
    kernel: Kernel
    centres: Sequence[NDArray[Any]]
    weights: Vector


KernelSumParts = list[WeightedCentres]


def library_sum(X: Matrix, parts: Sequence[WeightedCentres]) -> Vector:
    """The sum of all parts on the rows of X, shape (len(X),).

    Products are made in the precision of X; sums add up in float64.

    Raises
    ------
    KernelError
        Naming the kernel whose values are no finite matrix.
    """
    expanded, sharing, called = _ways(parts, X)
    total = np.zeros(X.shape[0])
    with np.errstate(over="ignore", invalid="ignore"):
        for part in expanded:
            total += finite(part.name, _from_expansion(X, part))
        if sharing:
            total += _from_products(X, sharing)
    for part in called:
        total += _from_calls(X, part)
    return total


def _ways(parts: Sequence[WeightedCentres], X: Matrix) -> list[KernelSumParts]:
    """The parts to be expanded, those to be made from products, those to be called."""
    n_rows, n_features = X.shape[0], entries(X)
    expanded, from_products, called = [], [], []
    known: set[int] = set()
    costs = []
    for part in parts:
        rows = part.centres[0] if is_sparse(part.centres[0]) else X
        costs.append(cost_of_expansion(part.kernel, rows, len(part.centres), n_rows))
    # those without an expansion come first: their centres cost the others nothing
    for cost, part in sorted(zip(costs, parts, strict=True), key=lambda pair: -pair[0]):
        centres = set(map(id, part.centres))
        new = len(centres - known if part.kernel.of_products else centres)
        if cost < n_rows * (new * n_features + PREDICTED_VALUE_COST * len(part.centres)):
            expanded.append(part)
        elif part.kernel.of_products:
            from_products.append(part)
            known |= centres
        else:
            called.append(part)
    return [expanded, from_products, called]


def _from_products(X: Matrix, parts: KernelSumParts) -> Vector:
    """The sum of parts that are made from products of X with centres, in one pass over X."""
    layout = _laid_out(parts, entries(X))
    centres = stacked([z for own in layout for z in own.centres]).astype(float_dtype(X), copy=False)
    z_norms = squared_norms(centres)
    used = _used_features(X, centres)
    compact = transposed(np.ascontiguousarray(centres[:, used]) if used is not None else centres)
    total = np.zeros(X.shape[0])
    for rows in _blocks(X.shape[0], centres.shape[0]):
        block = as_floats(X[rows])
        products = inner_products(block if used is None else block[:, used], compact)
        x_norms = squared_norms(block)
        for own in layout:
            for part, pick, weight in zip(own.parts, own.picks, own.weights, strict=True):
                its = products[:, own.columns][:, pick]
                norms = z_norms[own.columns][pick]
                values = part.kernel.sum_from_products(its, x_norms, norms, weight)
                total[rows] += finite(part.name, values)
    return total


class _SharedCentres(NamedTuple):
    """Parts that use the products of the same centres.

    Attributes
    ----------
    centres : list of ndarray
        Each once.
    columns : slice
        Where their products are among those of all.
    picks, weights : list
        For each part the places of its centres among these, and their weights.
    """

    parts: KernelSumParts
    centres: list[NDArray[Any]]
    columns: slice
    picks: list[Any]
    weights: list[Vector]


def _laid_out(parts: KernelSumParts, n_features: float) -> list[_SharedCentres]:
    """All parts together if sharing products is cheaper than picking them, else each alone."""
    n_centres = sum(len(part.centres) for part in parts)
    saved = n_centres - len(_union(parts))
    together = saved * n_features > PICK_COST * n_centres
    layout: list[_SharedCentres] = []
    start = 0
    for group in [parts] if together else [[part] for part in parts]:
        union = _union(group)
        columns = slice(start, start + len(union))
        layout.append(_SharedCentres(group, list(union.values()), columns, *_picked(group, union)))
        start = columns.stop
    return layout


def _union(parts: KernelSumParts) -> dict[int, NDArray[Any]]:
    """The different centres of all parts, by their identity."""
    return {
        key: z for part in parts for key, z in zip(map(id, part.centres), part.centres, strict=True)
    }


def _picked(parts: KernelSumParts, union: Iterable[int]) -> tuple[list[Any], list[Vector]]:
    """For each part the places of its centres in the union, each once, and their weights."""
    places = {key: place for place, key in enumerate(union)}
    picks: list[Any] = []
    weights = []
    for part in parts:
        mine = np.array([places[key] for key in map(id, part.centres)], dtype=np.intp)
        total = np.bincount(mine, part.weights, minlength=len(places))
        pick = np.unique(mine)
        picks.append(slice(None) if len(pick) == len(places) else pick)
        weights.append(total[pick].astype(np.float64, copy=False))
    return picks, weights


def _used_features(X: Matrix, centres: Matrix) -> Indices | None:
    """The features that are not 0 in all centres, if a product without the others is cheaper."""
    n_centres, n_features = centres.shape
    if X.shape[0] < FEWEST_BLOCK_ROWS or is_sparse(X) or is_sparse(centres):
        return None
    used = np.flatnonzero(centres.any(axis=0))
    saved = n_centres * (n_features - len(used))
    return used if saved > PICK_COST * len(used) else None


def _from_expansion(X: Matrix, part: WeightedCentres) -> Vector:
    centres = stacked(part.centres).astype(float_dtype(X), copy=False)
    return part.kernel.expanded(centres, part.weights)(X)


def _from_calls(X: Matrix, part: WeightedCentres) -> Vector:
    """One part, by its kernel's own values."""
    centres = stacked(part.centres)
    total = np.empty(X.shape[0])
    for rows in _blocks(X.shape[0], centres.shape[0]):
        block = like(X[rows], centres)
        total[rows] = kernel_values(part.name, part.kernel, block, centres) @ part.weights
    return total


def _blocks(n_rows: int, n_centres: int) -> Iterator[slice]:
    step = max(FEWEST_BLOCK_ROWS, VALUES_AT_ONCE // n_centres)
    return blocks_of(n_rows, step)


LARGEST_DOUBT = 0.1
"""A normalising factor with a larger relative error than this is not bounded."""

SMALLEST_DIAGONAL = float(np.finfo(np.float32).tiny / np.finfo(np.float32).eps)
"""Below this k(x, x) may have lost digits to underflow, and is not bounded."""


@dataclass(frozen=True)
class Normalized(Kernel):
    """k(x, z) / √(k(x, x) k(z, z)), and 0 if k(x, x) is 0.

    A kernel with k(x, x) = 0 ≠ k(x, z), such as a negative distance, cannot be normalised. That of
    inner products in some space can: k(x, z)² ≤ k(x, x) k(z, z).
    """

    kernel: Kernel
    name: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        check_kernels("a normalised kernel", [self.kernel])
        if self.kernel.is_precomputed:
            raise ValueError("a Precomputed kernel cannot be normalised: normalise its matrix")

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        return Normalized(fitted(self.kernel, X, sample_weight), self.name)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        if self.of_products:
            values = values_of_products(self, X, Z)
            self.refine(values, X, Z)
            return values
        values, x_scale, z_scale = self.kernel(X, Z), self._scale(X), self._scale(Z)
        self._check_zeros(values, x_scale, z_scale)
        values = values * x_scale[:, None]
        values *= z_scale
        return values

    def diagonal(self, X: Matrix) -> Norms:
        return (self._scale(X) > 0).astype(float_dtype(X))

    @property
    def of_products(self) -> bool:
        return self.kernel.of_products

    @property
    def of_distances(self) -> bool:
        return self.kernel.of_distances

    def fill_from_distances(self, out: Matrix, squares: Matrix) -> None:
        self.kernel.fill_from_distances(out, squares)  # k(x, x) = 1

    def restricted(self) -> tuple[Callable[[Matrix], Matrix], Kernel] | None:
        own = self.kernel.restricted()
        return None if own is None else (own[0], Normalized(own[1], self.name))

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        self.from_products(products, x_norms, z_norms, out)

    def from_products(
        self, products: Matrix, x_norms: Norms, z_norms: Norms, out: Matrix | None = None
    ) -> Matrix:
        if self.of_distances:  # k(x, x) = 1
            return self.kernel.from_products(products, x_norms, z_norms, out)
        values = np.empty_like(products) if out is None else out
        x_scale = self._inverse_root(self.kernel.diagonal_from_norms(x_norms))
        z_scale = self._inverse_root(self.kernel.diagonal_from_norms(z_norms))
        for rows in chunks(products):
            self.kernel.fill(values[rows], products[rows], x_norms[rows], z_norms)
            self._check_zeros(values[rows], x_scale[rows], z_scale)
            values[rows] *= x_scale[rows, None]
            values[rows] *= z_scale
        return values

    def sum_from_products(
        self, products: Matrix, x_norms: Norms, z_norms: Norms, weights: Vector
    ) -> Vector:
        x_scale = self._inverse_root(self.kernel.diagonal_from_norms(x_norms))
        z_scale = self._inverse_root(self.kernel.diagonal_from_norms(z_norms))
        total = self.kernel.sum_from_products(products, x_norms, z_norms, weights * z_scale)
        self._check_zeros(total[:, None], x_scale, np.ones(1))
        return total * x_scale

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        scale = self._inverse_root(self.kernel.diagonal_from_norms(norms))
        return (scale > 0).astype(norms.dtype)

    def slopes(self, products: Matrix, x_norms: Norms, z_norms: Norms) -> Slopes:
        own = self.kernel.slopes(products, x_norms, z_norms)
        if self.of_distances:  # k(x, x) = 1
            return own
        x_scale = self._inverse_root(self.kernel.diagonal_from_norms(x_norms))
        diagonal = self.kernel.diagonal_from_norms(z_norms)
        drift = _over(-0.5 * self.kernel.diagonal_slopes(z_norms), diagonal)
        return own.scaled(x_scale[:, None]).normalized(self._inverse_root(diagonal), drift)

    def diagonal_slopes(self, norms: Norms) -> Norms:
        return np.zeros_like(norms)

    def centre_gradient(self, X: Matrix, Z: Matrix, weights: Matrix) -> Matrix:
        if self.of_products:
            return super().centre_gradient(X, Z, weights)
        scale, diagonal = self._scale(Z), self.kernel.diagonal(Z)
        scaled = weights * self._scale(X)[:, None] * scale
        # (1/√d)' = −½ d'/d · 1/√d with the diagonal d = k(z, z)
        drift = _over(-0.5 * np.einsum("ij,ij->j", scaled, self.kernel(X, Z)), diagonal)
        own = self.kernel.centre_gradient(X, Z, scaled)
        return own + drift[:, None] * self.kernel.diagonal_gradient(Z)

    def expansion_cost(self, n_centres: int, n_features: int, n_rows: int) -> float:
        own = (n_centres + n_rows) * n_features
        return self.kernel.expansion_cost(n_centres, n_features, n_rows) + own

    @property
    def expands_sparse(self) -> bool:
        return self.kernel.expands_sparse

    def expanded(self, centres: Matrix, weights: Vector) -> Expansion:
        scaled = weights * self._scale(centres)
        return ScaledExpansion(self.kernel.expanded(centres, scaled), self._scale)

    def refine(self, values: Matrix, X: Matrix, Z: Matrix) -> None:
        if type(self.kernel).refine is Kernel.refine:
            return  # which does nothing
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

    def _check_zeros(self, values: Matrix, x_scale: Norms, z_scale: Norms) -> None:
        """Raise KernelError where k(x, x) or k(z, z) is 0, and k(x, z) is not but for underflow."""
        for own, scale, other in ((values, x_scale, z_scale), (values.T, z_scale, x_scale)):
            rows = np.flatnonzero(scale == 0)
            if not len(rows):
                continue
            tiny = np.sqrt(np.finfo(scale.dtype).tiny)
            limit = tiny * np.divide(1.0, other, out=np.full_like(other, tiny), where=other > 0)
            sizes = np.abs(own[rows])
            if np.any(sizes > limit):
                raise self._cannot(
                    f"k(x, x) = 0 for a row with values |k(x, z)| up to {float(sizes.max()):.3g}"
                )

    def _inverse_root(self, diagonal: Norms) -> Norms:
        if not np.all(np.isfinite(diagonal)):
            worst = diagonal[~np.isfinite(diagonal)][0]
            raise self._cannot(f"k(x, x) = {worst:.3g}", "scale the features, or check its formula")
        if np.any(diagonal < 0):
            raise self._cannot(f"k(x, x) = {diagonal.min():.3g}")
        return np.divide(1.0, np.sqrt(diagonal), out=np.zeros_like(diagonal), where=diagonal > 0)

    def _cannot(
        self, why: str, what_to_do: str = "give it to a library with normalize=False"
    ) -> KernelError:
        called = f"kernel {self.name!r}" if self.name else str(self.kernel)
        return KernelError(
            f"{called} cannot be normalised: {why}; {what_to_do}{see('kernel-values')}"
        )


def _over(numbers: Norms, diagonal: Norms) -> Norms:
    """numbers/diagonal, and 0 where the diagonal is 0, as the kernel's values are there."""
    return np.divide(numbers, diagonal, out=np.zeros_like(numbers), where=diagonal > 0)


@dataclass(frozen=True)
class Cosine(Normalized):
    """k(x, z) = x·z / (‖x‖ ‖z‖), and 0 if a row is 0: the linear kernel, normalised.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import Cosine
    >>> Cosine()(np.array([[3.0, 4.0]]), np.array([[1.0, 0.0], [6.0, 8.0]]))
    array([[0.6, 1. ]])
    """

    kernel: Kernel = field(default=Linear(), init=False, repr=False)
    name: str = field(default="", init=False, compare=False, repr=False)

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        return self
