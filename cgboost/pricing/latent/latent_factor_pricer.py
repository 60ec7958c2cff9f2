"""Latent factors in spaces: the centred training rows X̃, or their images under a kernel.

Deflated data (I − TTᵀΓ)X̃ are never made: they act through what is taken out of vectors ([M]
Corollary 2 and eq. 43). Nor are centred ones:

    X̃ᵀa = Xᵀa − μ·Σa        X̃w = Xw − e·(μᵀw)

With ``scale`` they are X̃D⁻¹ for the standard deviations on the diagonal of D.

For a pseudo-response u and the factors T so far, the direction of steepest descent in deflated data
is w = X̃ᵀa with a = (I − ΓTTᵀ)u; on the training rows it is X̃w without its part in T.

As columns the hypotheses are linear, t = X̃w with ‖w‖ = 1; the best one against the pseudo-response
u has w ∝ X̃ᵀu. Under the constraint tᵀΓtⱼ = 0 it has w ∝ (X̃ − TTᵀΓX̃)ᵀu: the same in deflated
data, in closed form. A search is therefore exact, and one that finds nothing proves something.

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006: Algorithm
3 with a ``LinearFactorSpace``, Algorithm 5 with a ``KernelFactorSpace``.

Several outputs may share their factors: for the pseudo-responses U, shape (n_rows, n_outputs), w is
the left and v the right singular vector of X̃ᵀU with the largest singular value: the direction along
which the outputs together fall most steeply, max Σ_k (tᵀu_k)² over t = X̃w. It is the factor of the
one pseudo-response Uv. With squared errors that is PLS with several responses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from cgboost.arrays import Matrix, Vector, blocks_of
from cgboost.generation.columns import Column
from cgboost.generation.history import Round
from cgboost.generation.protocols import MasterState, Priced
from cgboost.kernels import Kernel, kernel_values
from cgboost.pricing.latent.factors import (
    FactorBasis,
    FactorHypothesis,
    KernelFactors,
    LinearFactors,
    in_units,
    product,
)

ENTRIES_IN_CACHE = 2**16
"""Entries of X that are used for two products while they are at hand."""


class LinearFactorSpace:
    """Linear combinations of the features.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        float32 stays float32, sparse stays sparse.
    weights : ndarray of shape (n_rows,)
        Not negative; they weigh the means, and lengths and angles of factors.
    scale : bool
        Whether features are divided by their standard deviations.

    Attributes
    ----------
    means : ndarray of shape (n_features,)
        μ.
    variation : ndarray of shape (n_features,)
        Σ w(x − μ)² of every feature as it is.
    scales : ndarray of shape (n_features,) or None
        The standard deviations, √(Σ w(x − μ)²/Σw), 1 for a constant feature; None: without
        ``scale``.
    """

    def __init__(self, X: Any, weights: Vector, *, scale: bool = False) -> None:
        self.X, self.weights = X, weights
        self.precision = float(np.finfo(X.dtype).eps)
        self.means = product(X.T, weights) / weights.sum()
        self.variation = _variation(X, weights, self.means)
        self.scales: Vector | None = None
        if scale:
            deviations = np.sqrt(self.variation / weights.sum())
            constant = deviations <= ROUNDED * self.precision * np.abs(self.means)
            self.scales = np.where(constant, 1.0, deviations)

    @property
    def total_variation(self) -> float:
        """Σ w‖x̃‖² of the features as factors are made of them."""
        squares = 1.0 if self.scales is None else self.scales**2
        return float(np.sum(self.variation / squares))

    def search(self, *, deflate: bool) -> LinearFactorSearch:
        """A search without factors."""
        return LinearFactorSearch(self, deflate=deflate)

    def transposed(self, a: Vector) -> Vector:
        """X̃ᵀa."""
        return in_units(product(self.X.T, a) - self.means * a.sum(), self.scales)

    def products(self, responses: Vector) -> Vector:
        """UᵀX̃X̃ᵀU of pseudo-responses U, shape (n_outputs, n_outputs)."""
        slopes = np.column_stack([self.transposed(u) for u in responses.T])
        return np.asarray(slopes.T @ slopes, dtype=np.float64)

    def lengths(self) -> tuple[Vector, Vector]:
        """‖x̃ⱼ‖ and ‖xⱼ‖ for every feature, the first with the rounding of the second."""
        squares = (
            self.X.multiply(self.X).sum(axis=0)
            if sparse.issparse(self.X)
            else np.einsum("ij,ij->j", self.X, self.X, dtype=np.float64)
        )
        bare = np.asarray(squares, dtype=np.float64).ravel()
        n_rows = self.X.shape[0]
        sums = product(self.X.T, np.ones(n_rows))
        centred = bare - 2.0 * self.means * sums + n_rows * self.means**2
        lengths = np.sqrt(np.maximum(centred, 0.0)), np.sqrt(bare)
        return in_units(lengths[0], self.scales), in_units(lengths[1], self.scales)

    def there_and_back(self, w: Vector) -> tuple[Vector, Vector]:
        """X̃w and X̃ᵀΓX̃w, in one pass over X where its rows are contiguous."""
        w = in_units(w, self.scales)
        shift = float(self.means @ w)
        if not (isinstance(self.X, np.ndarray) and self.X.flags.c_contiguous):
            values = product(self.X, w) - shift
            return values, self.transposed(self.weights * values)
        values, pulled = np.empty(self.X.shape[0]), np.zeros(len(w))
        w = w.astype(self.X.dtype, copy=False)
        step = max(1, ENTRIES_IN_CACHE // max(1, self.X.shape[1]))
        for rows in blocks_of(len(values), step):
            block = self.X[rows]
            values[rows] = block @ w - shift
            weighted = self.weights[rows] * values[rows]
            pulled += weighted.astype(block.dtype, copy=False) @ block
        pulled -= self.means * float(self.weights @ values)
        return values, in_units(pulled, self.scales)


def _variation(X: Any, weights: Vector, means: Vector) -> Vector:
    """Σ w(x − μ)² of every feature, by blocks of rows, or of the entries that are there."""
    if sparse.issparse(X):
        entries = X.tocoo()
        rows, columns = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
        own, count = weights[rows], X.shape[1]
        away = own * (entries.data - means[columns]) ** 2
        absent = np.maximum(weights.sum() - np.bincount(columns, own, count), 0.0)
        return np.asarray(np.bincount(columns, away, count) + absent * means**2)
    total = np.zeros(X.shape[1])
    step = max(1, ENTRIES_IN_CACHE // max(1, X.shape[1]))
    for rows in blocks_of(X.shape[0], step):
        away = X[rows] - means
        away *= away
        total += weights[rows] @ away
    return total


class KernelFactorSpace:
    """Linear combinations in the feature space of a kernel; the Gram matrix is made once.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    kernel : Kernel
        Fitted, with k(x, z) = k(z, x).
    weights : ndarray of shape (n_rows,)
    name : str
        For messages.

    Attributes
    ----------
    centres : ndarray of shape (n_rows, n_features)
        A copy: models keep it, and X is the caller's.
    shares : ndarray of shape (n_rows,)
        The weights, divided by their sum.
    means : ndarray of shape (n_rows,)
        Mean of the kernel over the training rows, for every centre.
    roots : ndarray of shape (n_rows,)
        |k(x, x)|^½.

    Raises
    ------
    ValueError
        If the Gram matrix is not symmetric.
    """

    def __init__(self, X: Matrix, kernel: Kernel, weights: Vector, *, name: str) -> None:
        self.weights, self.kernel, self.name = weights, kernel, name
        centres = kernel.centres(X, slice(None))
        self._gram = kernel_values(name, kernel, X, centres)
        self.centres = np.array(centres, order="C")
        self.precision = float(np.finfo(self._gram.dtype).eps)
        self.shares = weights / weights.sum()
        self.means = product(self._gram, self.shares)
        self.roots = np.sqrt(np.abs(np.diag(self._gram)).astype(np.float64))
        apart = float(np.abs(product(self._gram.T, self.shares) - self.means).max())
        largest = max(float(self.roots.max()) ** 2, float(np.abs(self.means).max()))
        if apart > np.sqrt(self.precision) * largest:
            raise ValueError(
                f"kernel {name!r} is not symmetric: means of k(x, z) and of k(z, x) over the "
                f"training rows differ by {apart:.3g}"
            )

    def search(self, *, deflate: bool) -> KernelFactorSearch:
        """A search without factors."""
        return KernelFactorSearch(self, deflate=deflate)

    def products(self, responses: Vector) -> Vector:
        """UᵀK̃U of pseudo-responses U, shape (n_outputs, n_outputs)."""
        images = np.column_stack([self.image(u) for u in responses.T])
        return np.asarray(0.5 * (responses.T @ images + images.T @ responses), dtype=np.float64)

    def image(self, a: Vector) -> Vector:
        """K̃a with K̃ = (I − e·sᵀ)K(I − s·eᵀ) and the shares s."""
        image = product(self._gram, a - self.shares * a.sum())
        return image - float(self.shares @ image)


WITHIN = 1e-13
"""A change of u this far from the span of the factors, relative to u, is within it. Projection
leaves some units of rounding, of which hundreds are allowed for."""

REFRESH = 1e-6
"""A slope that has fallen this much since it was computed from X is computed anew. Updates keep the
rounding of the first, 1e-16 of it: ten digits are left then."""

ROUNDING_UNITS = 1e3
"""Lengths of this many units of rounding, relative to what they came from, are 0."""

ROUNDED = 10.0
"""A slope, or a square rKr, of no more units of rounding than this is 0."""

INDEFINITE = 1e3
"""A negative square of so many units of rounding shows that a kernel is indefinite."""


@dataclass(frozen=True)
class Direction:
    """A direction of descent.

    Attributes
    ----------
    length : float
        ‖w‖.
    values : ndarray of shape (n_rows,)
        What it is on the training rows, times any positive number.
    parts : tuple of ndarray
        What the search itself needs to know of it.
    """

    length: float
    values: Vector
    parts: tuple[Vector, ...]


class LinearFactorSearch:
    """Factors of a :class:`~cgboost.pricing.latent.latent_factor_pricer.LinearFactorSpace`.

    One pass over X makes X̃w, and with it the loading of the factor. A second one for X̃ᵀu is saved
    where u has only changed within the span of the factors, as with the squared error:
    X̃ᵀΓTz = Pz.
    """

    def __init__(self, space: LinearFactorSpace, *, deflate: bool) -> None:
        self.space, self.precision = space, space.precision
        self.family = LinearFactors(space.means, deflate, space.scales)
        self.basis = FactorBasis(space.weights)
        self._loading = np.zeros(0)
        self._size_of_means = float(np.linalg.norm(in_units(space.means, space.scales)))
        self._response = self._slope = np.zeros(0)
        self._computed = 0.0

    def direction(self, response: Vector) -> Direction:
        """W = X̃ᵀa, with length 1, and X̃w."""
        w = self._slopes(response)
        if self.family.deflated and self.basis.count:
            w = w - self.family.loadings.values @ (self.basis.factors.T @ response)
        length, unit = float(np.linalg.norm(w)), self.precision * self._size_of_means
        if length <= ROUNDED * unit * float(np.abs(response).sum()):
            length = 0.0  # of constant features no more than this is left
        w = w / length if length > 0 else w
        values, pulled = self.space.there_and_back(w)
        return Direction(length, values, (w, pulled))

    def is_stationary(self, response: Vector) -> bool:
        """Whether every |x̃ⱼᵀa| is rounding of ‖x̃ⱼ‖‖a‖, or of the means taken out.

        The steepest direction alone, short against the steepest of an earlier round, does not show
        this: features of smaller units have shorter slopes.
        """
        a = self.basis.deflated(response) if self.family.deflated else response
        centred, bare = self.space.lengths()
        least = self.precision * (ROUNDING_UNITS * centred + ROUNDED * bare)
        return bool(
            (np.abs(self.space.transposed(a)) <= least * float(np.linalg.norm(response))).all()
        )

    def offer(self, direction: Direction, along: Vector, length: float) -> None:
        """W gets a column, of which ``along`` and a rest of this length are left of its values."""
        w, pulled = direction.parts
        self.family.put(self.basis.count, w, length)
        if len(along):
            pulled = pulled - self.family.loadings.values @ along
        self._loading = pulled / length

    def accept(self, values: Vector) -> None:
        """P gets a column."""
        self.basis.append(values)
        self.family.loadings.put(len(self.family.loadings), self._loading)

    def _slopes(self, response: Vector) -> Vector:
        """X̃ᵀu."""
        if len(self._response) and self.basis.count and self.family.deflated:
            change = response - self._response
            along = self.basis.factors.T @ change
            rest = change - self.basis.weighted(self.basis.factors @ along)
            if np.linalg.norm(rest) <= WITHIN * np.linalg.norm(self._response):
                slope = self._slope + self.family.loadings.values @ along
                if np.linalg.norm(slope) > REFRESH * self._computed:
                    self._response, self._slope = response, slope
                    return slope
        self._response, self._slope = response, self.space.transposed(response)
        self._computed = float(np.linalg.norm(self._slope))
        return self._slope


class KernelFactorSearch:
    """Factors of a ``KernelFactorSpace``: one product with K for each."""

    def __init__(self, space: KernelFactorSpace, *, deflate: bool) -> None:
        self.space, self.precision = space, space.precision
        self.family = KernelFactors(
            space.name, space.kernel, space.centres, space.shares, space.means, deflate
        )
        self.basis = FactorBasis(space.weights)

    def direction(self, response: Vector) -> Direction:
        """a, and K̃a.

        Raises
        ------
        ValueError
            If aᵀK̃a is negative beyond rounding, whose unit is that of |u|ᵀ|K||u|, which is at
            most (Σ|u_i| k(x_i, x_i)^½)²: the kernel is not positive semi-definite.
        """
        a = self.basis.deflated(response) if self.family.deflated else response
        image = self.space.image(a)
        square = float(a @ image)
        unit = self.precision * float(np.abs(response) @ self.space.roots) ** 2
        if square < -INDEFINITE * unit:
            raise ValueError(
                f"kernel {self.space.name!r} is not positive semi-definite: rKr = {square:.3g} "
                "for the pseudo-response r of a round; use a kernel that is, or add a multiple of "
                "the identity to a precomputed one"
            )
        length = float(np.sqrt(square)) if square > ROUNDED * unit else 0.0
        return Direction(length, image, (a,))

    def is_stationary(self, response: Vector) -> bool:
        """Never: functions 1e8 times smaller than others are rounding of their kernel's values."""
        return False

    def offer(self, direction: Direction, along: Vector, length: float) -> None:
        """A gets a column, and so does TᵀΓK̃A."""
        self.family.put(self.basis.count, direction.parts[0], along, length)

    def accept(self, values: Vector) -> None:
        """The basis alone grows."""
        self.basis.append(values)


FactorSpace = LinearFactorSpace | KernelFactorSpace
"""Training rows, in which any number of searches for factors may run."""

FactorSearch = LinearFactorSearch | KernelFactorSearch
"""Factors found so far, and the way to the next; its ``family`` has the one offered last, too."""

EXACT = 10.0 * float(np.finfo(np.float64).eps)
"""A response of this share of the output it is a residual of is 0."""

SPENT = 1e5
"""Of a factor as little as this, in units of rounding, may be new: the data span no more."""

SETTLED = 1e-7
"""A slope along a factor that is as small as this, relative to that of the response, is 0. A gap
goes with its square, 1e-14: less would be the rounding of the loss."""

OPTIMAL = Priced(columns=(), exact=True, max_excess=0.0, total_excess=0.0, n_evaluated=1)
"""Of a search that found all slopes to be 0."""

NO_FURTHER = Priced(columns=(), exact=True, n_evaluated=1, exhausted=True)
"""Of a search that found no further factor, though those there might have better coefficients."""


class LatentFactorPricer:
    """Prices out the next latent factor.

    Parameters
    ----------
    deflate : bool, default=True
        Whether factors are made orthogonal to those in the master. Otherwise they are directions of
        steepest descent, of length 1 (gradient descent in function space).

    """

    def __init__(self, space: FactorSpace, *, deflate: bool = True) -> None:
        self.deflate = deflate
        self._search = space.search(deflate=deflate)
        self._steepest, self._first_response = 0.0, 0.0

    @property
    def family(self) -> Any:
        """The factors in the master, as functions of new rows (and perhaps one offered since)."""
        return self._search.family

    @property
    def basis(self) -> FactorBasis:
        """The same on the training rows."""
        return self._search.basis

    def note(self, turn: Round) -> bool:
        """A callback of the loop: the last factor, too, is in the basis when a run has ended."""
        self._follow(turn.state)
        return False

    def memory(self) -> dict[str, Any]:
        """The search but for its rows, and the scales of what is nothing."""
        own = {name: value for name, value in vars(self._search).items() if name != "space"}
        return {"search": own, "scales": (self._steepest, self._first_response)}

    def recall(self, memory: dict[str, Any]) -> None:
        """Go on from these factors."""
        vars(self._search).update(memory["search"])
        self._steepest, self._first_response = memory["scales"]

    def price(self, state: MasterState, limit: int) -> Priced:
        """The next factor, at most one whatever the limit."""
        self._follow(state)
        response = state.pseudo_response
        size = float(np.linalg.norm(response))
        self._first_response = max(self._first_response, size)
        nothing = ROUNDING_UNITS * self._search.precision
        if size <= max(nothing * self._first_response, EXACT * _size_of_output(state)):
            return OPTIMAL
        direction = self._search.direction(response)
        self._steepest = max(self._steepest, direction.length / size)
        if direction.length <= nothing * self._steepest * size:
            return OPTIMAL if self._is_settled(response, size) else NO_FURTHER
        values, along = direction.values, np.zeros(0)
        if self.deflate:
            values, along = self.basis.without(values)
        length, before = self.basis.length(values), self.basis.length(direction.values)
        if length <= SPENT * self._search.precision * before:
            return NO_FURTHER
        factor = values / length
        excess = float(state.rule.excess(np.array([response @ factor]))[0])
        if limit == 0:
            return Priced((), exact=True, max_excess=excess, total_excess=excess, n_evaluated=1)
        number = self.basis.count
        self._search.offer(direction, along, length)
        column = Column(factor, ("factor", number), FactorHypothesis(self.family, number))
        return Priced([column], exact=True, max_excess=excess, total_excess=excess, n_evaluated=1)

    def _is_settled(self, response: Vector, size: float) -> bool:
        """Whether no intercept, no coefficients of the factors and no direction are better."""
        slopes = [response.sum() / np.sqrt(self.basis.weights.sum())]
        if self.deflate:  # otherwise T is in the span of the features, along which there is none
            slopes.extend(self.basis.factors.T @ response)
        found = bool(np.abs(slopes).max() <= SETTLED * size)
        return found and self._search.is_stationary(response)

    def _follow(self, state: MasterState) -> None:
        """Take note that the factor offered last is in the master; outputs may share it."""
        if sum(column.output == 0 for column in state.columns) > self.basis.count:
            self._search.accept(np.asarray(state.columns[-1].values, dtype=np.float64))


def _size_of_output(state: MasterState) -> float:
    """That of the output, in units of the response: how far rounding may move the latter."""
    return 0.0 if state.curvature is None else float(np.linalg.norm(state.curvature * state.output))


class SharedFactorPricer(LatentFactorPricer):
    """Prices out the next latent factor of several outputs.

    Parameters
    ----------
    deflate : bool, default=True
        As in :class:`LatentFactorPricer`.
    scale : bool, default=False
        Whether the pseudo-response of an output counts in units of its length in the first round,
        (Σ u²/w)^½: for squared errors that is the standard deviation of the response.
    """

    def __init__(
        self, space: FactorSpace, n_outputs: int, *, deflate: bool = True, scale: bool = False
    ) -> None:
        super().__init__(space, deflate=deflate)
        self._space, self._n_outputs = space, n_outputs
        self._first_sizes = np.zeros(n_outputs)
        self._units: Vector | None = None if scale else np.ones(n_outputs)

    def memory(self) -> dict[str, Any]:
        """Also how large the pseudo-response of each output was."""
        return {**super().memory(), "first_sizes": self._first_sizes, "units": self._units}

    def recall(self, memory: dict[str, Any]) -> None:
        """Go on from these factors."""
        super().recall(memory)
        self._first_sizes = memory.get("first_sizes", self._first_sizes)  # 0.2.0 had neither
        self._units = memory.get("units", self._units)

    def price(self, state: MasterState, limit: int) -> Priced:
        """The next factor, once for every output."""
        self._follow(state)
        if self._units is None:
            counting = self.basis.weights > 0
            first = state.pseudo_response[counting]
            lengths = np.sqrt((first.T**2 / self.basis.weights[counting]).sum(axis=1))
            self._units = np.where(lengths > 0, lengths, 1.0)
        mixture = self._mixture(state.pseudo_response / self._units) / self._units
        single = replace(
            state,
            columns=[column for column in state.columns if column.output == 0],
            pseudo_response=state.pseudo_response @ mixture,
            curvature=None,
        )
        sizes = np.linalg.norm(state.pseudo_response, axis=0)
        self._first_sizes = np.maximum(self._first_sizes, sizes)
        priced = super().price(single, limit)
        if priced is OPTIMAL and not self._are_settled(state.pseudo_response, sizes):
            return NO_FURTHER
        columns = [
            replace(column, key=(column.key, k), output=k)
            for column in priced.columns
            for k in range(self._n_outputs)
        ]
        return replace(priced, columns=columns)

    def _are_settled(self, responses: Vector, sizes: Vector) -> bool:
        """Whether every output is: where one has longer slopes, rounding hides the others'."""
        gone = sizes <= ROUNDING_UNITS * self._search.precision * self._first_sizes
        outputs = zip(responses.T, sizes, gone, strict=True)
        return all(nothing or self._is_settled(u, float(size)) for u, size, nothing in outputs)

    def _mixture(self, responses: Vector) -> Vector:
        """v, with a positive entry of largest size."""
        left = np.column_stack([self.basis.deflated(u) for u in responses.T])
        _, vectors = np.linalg.eigh(self._space.products(left if self.deflate else responses))
        v = vectors[:, -1]
        return np.asarray(v * np.sign(v[np.argmax(np.abs(v))]), dtype=np.float64)
