"""Dual variables of a support-vector loss: one for each end of every row's box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class BoxVariables:
    """Dual variables u of the rows' boxes: r = base + Σ sign·u by row, 0 ≤ u ≤ cap.

    The base is the point of the row's box that is nearest to 0, and is 0 for most losses. A row has
    an upper variable if its box reaches above the base, a lower variable if it reaches below. The
    hinge has one variable a row, ε-insensitive loss two; a row of weight zero has none.

    Attributes
    ----------
    base : ndarray of shape (n_rows,)
    row : ndarray of shape (n_variables,)
        Upper variables come first.
    sign : ndarray of shape (n_variables,)
        +1 for upper variables, −1 for lower ones.
    cap, curvature : ndarray of shape (n_variables,)
    target : ndarray of shape (n_variables,)
        The target of each variable's row.
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
    ) -> BoxVariables:
        """The variables of a box ``lower ≤ r ≤ upper``."""
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
        """The pseudo-response r of dual variables u, shape (n_rows,)."""
        n_rows = len(self.base)
        return self.base + np.bincount(self.row, weights=self.sign * u, minlength=n_rows)

    def values(self, response: Vector) -> Vector:
        """The u inside their caps nearest to a pseudo-response, shape (n_variables,)."""
        return np.clip(self.sign * (response - self.base)[self.row], 0.0, self.cap)

    def gain(self) -> Vector:
        """What the first unit of each variable adds to the dual objective at f = 0."""
        return self.sign * self.target - self.epsilon

    def rate(self, output: Vector) -> Vector:
        """What the first unit of each variable adds at output f.

        Without curvature and without a mass, a positive rate wants u = cap, a negative one u = 0.
        """
        return self.sign * (self.target - output[self.row]) - self.epsilon
