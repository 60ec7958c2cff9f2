"""Dual variables of a support-vector loss: the two sides of every training row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cgboost.losses import SupportVectorLoss

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Sides:
    """The pseudo-response as r_i = Σ sign_k u_k over the sides k of row i, with 0 ≤ u_k ≤ cap_k.

    A row has an upper side if its loss charges for outputs that are too low, a lower side if it
    charges for outputs that are too high. The hinge has one side a row, ε-insensitive loss two;
    a row of weight zero has none.

    Attributes
    ----------
    row : ndarray of shape (n_sides,)
    sign : ndarray of shape (n_sides,)
        +1 for upper sides, −1 for lower ones.
    cap : ndarray of shape (n_sides,)
    """

    row: Indices
    sign: Vector
    cap: Vector
    loss: SupportVectorLoss

    @classmethod
    def of(cls, loss: SupportVectorLoss) -> Sides:
        """All sides with a positive cap, upper ones first."""
        upper, lower = np.flatnonzero(loss.upper > 0), np.flatnonzero(loss.lower < 0)
        return cls(
            row=np.concatenate([upper, lower]),
            sign=np.repeat([1.0, -1.0], [len(upper), len(lower)]),
            cap=np.concatenate([loss.upper[upper], -loss.lower[lower]]),
            loss=loss,
        )

    def __len__(self) -> int:
        return len(self.row)

    def response(self, u: Vector) -> Vector:
        """The pseudo-response r of side values u, shape (n_rows,)."""
        return np.bincount(self.row, weights=self.sign * u, minlength=self.loss.n_rows).astype(
            np.float64
        )

    def gain(self) -> Vector:
        """What one unit of each side adds to the dual objective at f = 0."""
        return self.sign * self.loss.target[self.row] - self.loss.epsilon

    def rate(self, output: Vector) -> Vector:
        """What one unit of each side adds at output f: positive wants u = cap, negative u = 0."""
        return self.sign * (self.loss.target - output)[self.row] - self.loss.epsilon
