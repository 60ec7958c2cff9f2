"""The restricted dual under a quadratic penalty, and a point of it with its gap.

    max  gain(r) − ½Σ weight·φ(s)²       s = Hᵀr + constant,    r in its boxes

with φ(s) = sign(s)·(|s| − limit)₊ where α is free and (s − limit)₊ where α ≥ 0; with Σr = 0 for a
free offset, and ½(Σr)² less for a penalized one. The coefficients are α = φ(s), but for their
units, and the multiplier of Σr is the offset b. The limit is 0 for the 2-norm (Bi, Zhang, Bennett,
KDD 2004, eq. 7 to 12, with z eliminated) and positive for the elastic net.

The box of every row's pseudo-response is in at most two pieces. With one of its variables kept, a
row's r runs from one corner to another; with both, the tube of ε-insensitive loss bends its gain at
a third corner between them. The *status* of a row says where its r is: 0, 2 and 4 are the corners,
1 and 3 the insides of the pieces. An active set method moves rows from one status to the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cgboost.losses.dual.support_vector import BoxVariables, Indices, Vector
from cgboost.masters.dual_solvers.schur_complement import Block

ROUNDING = 1e-12
"""Rates and values closer than this, relative to the largest, are equal."""

RowStatus = NDArray[np.int8]


@dataclass(frozen=True)
class RowBoxes:
    """The boxes of the rows that have a variable in the session.

    Attributes
    ----------
    row : ndarray of int, shape (n_lines,)
        Their training rows, ascending.
    corners : ndarray of shape (n_lines, 3)
        Ascending. Where there is one piece the middle one is equal to another: to the third for a
        lower piece, to the first for an upper one.
    slopes : ndarray of shape (n_lines, 2)
        What a unit of r adds to the gain within each piece, at output 0.
    exists : ndarray of bool, shape (n_lines, 2)
        Which pieces there are.
    curvature, centre : ndarray of shape (n_lines,)
        The gain loses ½·curvature·(r − centre)².
    """

    row: Indices
    corners: Vector
    slopes: Vector
    exists: NDArray[np.bool_]
    curvature: Vector
    centre: Vector

    @classmethod
    def of(cls, variables: BoxVariables, kept: Indices, fixed: Vector) -> RowBoxes:
        """The boxes of the kept variables, where the others make the pseudo-response ``fixed``."""
        row, line = np.unique(variables.row[kept], return_inverse=True)
        upper = variables.sign[kept] > 0
        size = np.zeros((len(row), 2))
        size[line[upper], 1] = variables.cap[kept[upper]]
        size[line[~upper], 0] = variables.cap[kept[~upper]]
        target, curvature = np.empty(len(row)), np.empty(len(row))
        target[line], curvature[line] = variables.target[kept], variables.curvature[kept]
        centre = fixed[row]
        corners = centre[:, None] + np.stack([-size[:, 0], 0.0 * centre, size[:, 1]], axis=1)
        exists = size > 0
        if variables.epsilon == 0:  # no bend between the pieces: they are one
            both = exists.all(axis=1)
            corners[both, 1], exists[both, 0] = corners[both, 0], False
        slopes = target[:, None] + np.array([variables.epsilon, -variables.epsilon])
        return cls(row, corners, slopes, exists, curvature, centre)

    def __len__(self) -> int:
        return len(self.row)

    def clip(self, r: Vector) -> Vector:
        """The nearest pseudo-response inside the boxes."""
        return np.clip(r, self.corners[:, 0], self.corners[:, 2])

    def status(self, r: Vector) -> RowStatus:
        """Where each row stands, given r inside the boxes."""
        low, middle, high = self.corners.T
        below = np.where(r <= low, 0, 1)
        above = np.where(r >= high, 4, 3)
        return np.where(r < middle, below, np.where(r > middle, above, 2)).astype(np.int8)

    def at_corners(self, status: RowStatus, r: Vector) -> Vector:
        """The r, with rows that stand at a corner moved there."""
        corner = np.take_along_axis(self.corners, status[:, None] // 2, axis=1)[:, 0]
        return np.where(status % 2 == 1, r, corner)

    def slope(self, inside: Indices, status: RowStatus) -> Vector:
        """Slopes of the pieces that some rows are inside of."""
        return self.slopes[inside, status[inside] // 2]

    def moved(self, status: RowStatus, r: Vector, pull: Vector, most: int) -> tuple[RowStatus, int]:
        """Where rows go from where they stand, and how many should go.

        Those that have left their piece go to the corner at its end. Those at a corner whose rate
        along a piece has the right sign go inside, if they are among the ``most`` of the largest
        rates.

        Parameters
        ----------
        status : ndarray of shape (n_lines,)
        r : ndarray of shape (n_lines,)
            Inside its piece or beyond its ends.
        pull : ndarray of shape (n_lines,)
            What slopes must exceed for r to grow: the output, and the derivative of every
            quadratic term.
        most : int
        """
        lines, inside = np.arange(len(self)), status % 2 == 1
        above, below = np.minimum(status // 2, 1), np.maximum(status // 2 - 1, 0)
        slack = ROUNDING * float(np.abs(r).max(initial=0.0))
        under = inside & (r < self.corners[lines, above] - slack)
        over = inside & (r > self.corners[lines, above + 1] + slack)
        rate = self.slopes - pull[:, None]
        noise = ROUNDING * float(np.abs(self.slopes).max(initial=0.0))
        rises = (self.exists & (rate > noise))[lines, above] & ~inside & (status < 4)
        falls = (self.exists & (rate < -noise))[lines, below] & ~inside & (status > 0)
        count = int(np.count_nonzero(under | over | rises | falls))
        size = np.where(rises, rate[lines, above], np.where(falls, -rate[lines, below], 0.0))
        if np.count_nonzero(size) > most:
            few = np.zeros(len(size), dtype=bool)
            few[np.argpartition(-size, most)[:most]] = True
            rises, falls = rises & few, falls & few
        step = (rises | over).astype(np.int8) - (falls | under).astype(np.int8)
        return status + step, count

    def gain(self, r: Vector, output: Vector | float = 0.0) -> Vector:
        """What r adds, beyond its middle corner, if a unit of it costs ``output``."""
        middle = self.corners[:, 1]
        slope = np.where(r < middle, self.slopes[:, 0], self.slopes[:, 1])
        bent = (r - self.centre) ** 2 - (middle - self.centre) ** 2
        return (slope - output) * (r - middle) - 0.5 * self.curvature * bent

    def fenchel_gap(self, r: Vector, output: Vector) -> Vector:
        """How much more each row could add at the best r for the given output; at least 0."""
        bends = self.curvature > 0
        best = np.zeros(len(self))
        for piece in (0, 1):
            rate = self.slopes[:, piece] - output
            end = np.where(rate > 0, self.corners[:, piece + 1], self.corners[:, piece])
            turning = self.centre + rate / np.where(bends, self.curvature, 1.0)
            inside = np.clip(turning, self.corners[:, piece], self.corners[:, piece + 1])
            best = np.maximum(best, self.gain(np.where(bends, inside, end), output))
        return np.maximum(best - self.gain(r, output), 0.0)


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
    limit : ndarray of shape (n_columns,), or 0
        With a penalized offset, 0.
    """

    block: Block
    constant: Vector
    boxes: RowBoxes
    gain: float
    total: float
    two_sided: bool
    offset: str
    limit: Vector | float = 0.0

    @cached_property
    def unit(self) -> float:
        """The mean squared length of a row of H, or the inverse of its box where that is larger."""
        some = self.block.values[:: max(1, len(self.boxes) // 100)]
        lengths = np.square(some) @ self.block.weights
        return max(float(lengths.sum()) / max(1, len(lengths)), 1.0 / self.mean_box)

    @cached_property
    def mean_box(self) -> float:
        """The mean size of a box."""
        sizes = self.boxes.corners[:, 2] - self.boxes.corners[:, 0]
        return float(sizes.mean()) if len(sizes) else 1.0

    def coefficients(self, s: Vector) -> Vector:
        """φ(s)."""
        if not self.two_sided:
            return np.maximum(s - self.limit, 0.0)
        return np.copysign(np.maximum(np.abs(s) - self.limit, 0.0), s)

    def pieces(self, s: Vector) -> Vector:
        """Which linear piece of φ every s is in; φ varies with s where that is not 0."""
        if self.two_sided and not np.any(self.limit):
            return np.ones(len(s))
        return np.sign(self.coefficients(s))

    def scores(self, r: Vector) -> Vector:
        """s, shape (n_columns,)."""
        return r @ self.block.values + self.constant

    def output(self, s: Vector) -> Vector:
        """The output on the rows that have a box, without the offset."""
        return self.block.values @ (self.block.weights * self.coefficients(s))

    def mismatch(self, s: Vector, exact: Vector) -> float:
        """What the coefficients φ(s) lose against those of the exact s; at least 0."""
        coef, best = self.coefficients(s), self.coefficients(exact)
        lost = 0.5 * (coef - best) ** 2
        lost += np.maximum(self.limit * np.abs(coef) - coef * (exact - best), 0.0)
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
        lost = self.mismatch(s, exact) + float(self.boxes.fenchel_gap(r, output + offset).sum())
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
