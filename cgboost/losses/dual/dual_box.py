"""Dual variables of a support-vector loss: the two sides of every training row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Sides:
    """The pseudo-response as r_i = base_i + Σ sign_k u_k over the sides k of row i, 0 ≤ u ≤ cap.

    The base is the point of the row's box that is nearest to 0, and is 0 for most losses. A row has
    an upper side if its box reaches above the base, a lower side if it reaches below. The hinge has
    one side a row, ε-insensitive loss two; a row of weight zero has none.

    Attributes
    ----------
    base : ndarray of shape (n_rows,)
    row : ndarray of shape (n_sides,)
        Upper sides come first.
    sign : ndarray of shape (n_sides,)
        +1 for upper sides, −1 for lower ones.
    cap, curvature : ndarray of shape (n_sides,)
    target : ndarray of shape (n_sides,)
        The target of each side's row.
    epsilon : float
    """

    base: Vector
    row: Indices
    sign: Vector
    cap: Vector
    curvature: Vector
    target: Vector
    epsilon: float

    @classmethod
    def of(
        cls, target: Vector, lower: Vector, upper: Vector, curvature: Vector, epsilon: float
    ) -> Sides:
        """The sides of a box ``lower ≤ r ≤ upper``."""
        base = np.clip(0.0, lower, upper)
        above, below = np.flatnonzero(upper > base), np.flatnonzero(lower < base)
        row = np.concatenate([above, below])
        return cls(
            base=base,
            row=row,
            sign=np.repeat([1.0, -1.0], [len(above), len(below)]),
            cap=np.concatenate([(upper - base)[above], (base - lower)[below]]),
            curvature=curvature[row],
            target=target[row],
            epsilon=epsilon,
        )

    def __len__(self) -> int:
        return len(self.row)

    def response(self, u: Vector) -> Vector:
        """The pseudo-response r of side values u, shape (n_rows,)."""
        n_rows = len(self.base)
        return self.base + np.bincount(self.row, weights=self.sign * u, minlength=n_rows)

    def values(self, response: Vector) -> Vector:
        """The side values nearest to a pseudo-response, inside their caps; shape (n_sides,)."""
        return np.clip(self.sign * (response - self.base)[self.row], 0.0, self.cap)

    def gain(self) -> Vector:
        """What the first unit of each side adds to the dual objective at f = 0."""
        return self.sign * self.target - self.epsilon

    def rate(self, output: Vector) -> Vector:
        """What the first unit of each side adds at output f.

        Without curvature and without a mass, a positive rate wants u = cap, a negative one u = 0.
        """
        return self.sign * (self.target - output[self.row]) - self.epsilon
