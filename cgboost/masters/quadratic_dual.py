"""The restricted dual of the 2-norm, and a point of it with its gap.

    max  gain(r) − ½Σ weight·φ(s)²       s = Hᵀr + constant,    r in its boxes

with φ(s) = s where α is free and max(0, s) where α ≥ 0; with Σr = 0 for a free offset, and ½(Σr)²
less for a penalized one. The coefficients are α = φ(s), the multiplier of Σr is the offset b. (Bi,
Zhang, Bennett, KDD 2004, eq. 7 to 12, with z eliminated.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cgboost.losses.sides import Vector
from cgboost.masters.free_rows import Block, Mask
from cgboost.masters.row_boxes import RowBoxes

BALANCED = 1e-14
"""Σr this small beside Σ|r| counts as 0; otherwise it costs what it takes to bring it there."""


@dataclass(frozen=True)
class QuadraticDual:
    """The data of one restricted problem.

    Attributes
    ----------
    block : Block
        The (scaled) columns on the rows that have a box here, and their weights.
    constant : ndarray of shape (n_columns,)
        What all other rows add to s.
    boxes : RowBoxes
    gain : float
        Gain of all rows, with those of the boxes at their middle corners.
    total : float
        Sum of r over all other rows.
    two_sided : bool
        Whether α is free.
    offset : {"none", "penalized", "free"}
    """

    block: Block
    constant: Vector
    boxes: RowBoxes
    gain: float
    total: float
    two_sided: bool
    offset: str

    @cached_property
    def unit(self) -> float:
        """The mean squared length of a row of H, or the inverse of its box where that is larger."""
        some = self.block.values[:: max(1, len(self.boxes) // 100)]
        lengths = np.square(some) @ self.block.weights
        return max(float(lengths.sum()) / max(1, len(lengths)), 1.0 / self.extent)

    @cached_property
    def extent(self) -> float:
        """The mean size of a box."""
        sizes = self.boxes.corners[:, 2] - self.boxes.corners[:, 0]
        return float(sizes.mean()) if len(sizes) else 1.0

    def coefficients(self, s: Vector) -> Vector:
        """φ(s)."""
        return s if self.two_sided else np.maximum(s, 0.0)

    def active(self, s: Vector) -> Mask:
        """Columns whose φ varies with s."""
        return np.ones(len(s), dtype=bool) if self.two_sided else s > 0

    def scores(self, r: Vector) -> Vector:
        """s, shape (n_columns,)."""
        return r @ self.block.values + self.constant

    def output(self, s: Vector) -> Vector:
        """The output on the rows that have a box, without the offset."""
        return self.block.values @ (self.block.weights * self.coefficients(s))

    def mismatch(self, s: Vector, exact: Vector) -> float:
        """What the coefficients φ(s) lose against those of the exact s; at least 0."""
        coef = self.coefficients(s)
        lost = 0.5 * (coef - exact) ** 2
        if not self.two_sided:
            lost = np.where(exact < 0, (0.5 * coef - exact) * coef, lost)
        return float(self.block.weights @ lost)

    def point(self, r: Vector, offset: float) -> DualIterate:
        """The iterate at an r inside the boxes."""
        s = self.scores(r)
        return self.iterate(r, offset, s, self.output(s), s)

    def iterate(
        self, r: Vector, offset: float, s: Vector, output: Vector, exact: Vector
    ) -> DualIterate:
        """The iterate with the coefficients φ(s), where ``exact`` are the scores of r."""
        total = float(r.sum()) + self.total
        if self.offset == "penalized":
            offset = total
        lost = self.mismatch(s, exact) + float(self.boxes.shortfall(r, output + offset).sum())
        if self.offset == "free" and abs(total) > BALANCED * float(np.abs(r).sum()):
            lost += abs(total) * float(np.abs(self.boxes.slopes).max(initial=0.0))
        value = self.gain + float(self.boxes.gain(r).sum())
        value -= 0.5 * float(self.block.weights @ self.coefficients(exact) ** 2)
        value -= 0.5 * total**2 if self.offset == "penalized" else 0.0
        return DualIterate(r, offset, s, output, lost, max(1.0, abs(value + lost)))


@dataclass(frozen=True)
class DualIterate:
    """A feasible point, up to Σr = 0, and the coefficients that go with it.

    Attributes
    ----------
    r : ndarray of shape (n_lines,)
    offset : float
    s : ndarray of shape (n_columns,)
        The scores of r, but for rounding: where large terms cancel, it fits the output better.
    output : ndarray of shape (n_lines,)
        Without the offset.
    gap : float
        Primal objective of the coefficients less dual objective of r.
    scale : float
        What the gap is relative to.
    """

    r: Vector
    offset: float
    s: Vector
    output: Vector
    gap: float
    scale: float

    @property
    def relative_gap(self) -> float:
        """The gap relative to the objective."""
        return self.gap / self.scale
