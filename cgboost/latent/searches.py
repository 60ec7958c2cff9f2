"""The search for factors: the next one, from a pseudo-response and from those that are there.

For a pseudo-response u and the factors T so far, the direction of steepest descent in deflated data
is w = X̃ᵀa with a = (I − ΓTTᵀ)u; on the training rows it is X̃w without its part in T.

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cgboost.latent.basis import Basis
from cgboost.latent.factors import KernelFactors, LinearFactors

if TYPE_CHECKING:
    from cgboost.latent.spaces import KernelSpace, LinearSpace

Vector = NDArray[np.float64]

WITHIN = 1e-13
"""A change of u this far from the span of the factors, relative to u, is within it."""

REFRESH = 1e-6
"""A slope that has fallen this much since it was computed from X is computed anew."""

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


class Search(Protocol):
    """Factors found so far, and the way to the next.

    Attributes
    ----------
    family : LinearFactors or KernelFactors
        The factors as functions of new rows, the one offered last included.
    basis : Basis
        Those accepted, on the training rows.
    precision : float
        Unit of rounding of the data.
    """

    family: Any
    basis: Basis
    precision: float

    def direction(self, response: Vector) -> Direction:
        """The direction of steepest descent for a pseudo-response."""
        ...

    def offer(self, direction: Direction, along: Vector, length: float) -> None:
        """Make a direction the next factor of the family.

        Parameters
        ----------
        direction : Direction
        along : ndarray of shape (n_factors,)
            What was taken out of its values along the factors of the basis.
        length : float
            How long the rest was.
        """
        ...

    def accept(self, values: Vector) -> None:
        """Put the factor offered last into the basis."""
        ...


class LinearSearch:
    """Factors of a :class:`~cgboost.latent.spaces.LinearSpace`.

    One pass over X makes X̃w, and with it the loading of the factor. A second one for X̃ᵀu is saved
    where u has only changed within the span of the factors, as with the squared error:
    X̃ᵀΓTz = Pz.
    """

    def __init__(self, space: LinearSpace, *, deflate: bool) -> None:
        self.space, self.precision = space, space.precision
        self.family = LinearFactors(space.means, deflate)
        self.basis = Basis(space.weights)
        self._loading = np.zeros(0)
        self._size_of_means = float(np.linalg.norm(space.means))
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

    def offer(self, direction: Direction, along: Vector, length: float) -> None:
        """W gets a column."""
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


class KernelSearch:
    """Factors of a :class:`~cgboost.latent.spaces.KernelSpace`: one product with K for each."""

    def __init__(self, space: KernelSpace, *, deflate: bool) -> None:
        self.space, self.precision = space, space.precision
        self.family = KernelFactors(
            space.name, space.kernel, space.centres, space.shares, space.means, deflate
        )
        self.basis = Basis(space.weights)

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

    def offer(self, direction: Direction, along: Vector, length: float) -> None:
        """A gets a column, and so does TᵀΓK̃A."""
        self.family.put(self.basis.count, direction.parts[0], along, length)

    def accept(self, values: Vector) -> None:
        """The basis alone grows."""
        self.basis.append(values)
