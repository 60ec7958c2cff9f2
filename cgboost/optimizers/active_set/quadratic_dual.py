"""The restricted dual under a quadratic penalty, a point of it with its gap, and its systems.

    max  gain(r) − ½Σ weight·φ(s)²       s = Hᵀr + constant,    r in its boxes

with φ(s) = s where α is free and s₊ where α ≥ 0; with Σr = 0 for a free offset, and ½(Σr)² less
for a penalized one. The coefficients are α = φ(s), but for their units, and the multiplier of Σr is
the offset b (the 2-norm: Bi, Zhang, Bennett, KDD 2004, eq. 7 to 12, with z eliminated).

The box of every row's pseudo-response is in at most two pieces. With one of its variables kept, a
row's r runs from one corner to another; with both, the tube of ε-insensitive loss bends its gain at
a third corner between them. The *status* of a row says where its r is: 0, 2 and 4 are the corners,
1 and 3 the insides of the pieces. An active set method moves rows from one status to the next.

Its Newton steps solve a system of the rows inside their boxes, (H W Hᵀ + E) d = right side: H holds
the free rows over the active columns, W and E are diagonal. Where there are fewer rows than columns
it is solved as it stands. The product HWHᵀ is then kept, and only what has changed since the last
system is computed anew: rows that come, columns that come or go. Where there are more rows than
columns, a system of the size of the columns does the same (Sherman, Morrison, Woodbury).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from cgboost.arrays import Indices, Mask, Vector
from cgboost.forks import cached_property
from cgboost.generation.protocols import gap_scale
from cgboost.losses.dual.support_vector import BoxVariables

ROUNDING = 1e-12
"""Rates and values closer than this, relative to the largest, are equal. Sums over many rows leave
little less; without it rows would go back and forth between two pieces."""

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
        size[line[upper], 1] = variables.costs[kept[upper]]
        size[line[~upper], 0] = variables.costs[kept[~upper]]
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


@dataclass(frozen=True)
class WeightedSubmatrix:
    """Rows and columns at hand.

    Attributes
    ----------
    values : ndarray of shape (n_lines, n_columns)
    row : ndarray of int, shape (n_lines,)
        Training rows, ascending.
    weights : ndarray of shape (n_columns,)
        The diagonal of W.
    """

    values: Vector
    row: Indices
    weights: Vector

    def part(self, lines: Indices, columns: Indices, *, weighted: bool = True) -> Vector:
        """Some columns on some lines, copied; each multiplied by the root of its weight, or not."""
        every = len(columns) == len(self.weights)
        part = self.values[lines] if every else self.values[np.ix_(lines, columns)]
        if weighted:
            part *= np.sqrt(self.weights[columns])
        return part


NEGLIGIBLE_SUM = 1e-14
"""Σr this small compared with Σ|r| counts as 0; otherwise it costs what it takes to bring it there.
Some fifty units of the rounding of the sum itself: below it there is nothing to bring there."""


@dataclass(frozen=True)
class QuadraticDual:
    """The data of one restricted problem.

    Attributes
    ----------
    block : WeightedSubmatrix
        The (scaled) columns on the rows that have a box here, and their weights.
    constant : ndarray of shape (n_columns,)
        What all other rows add to s.
    gain : float
        Gain of all rows, with those of the boxes at their middle corners.
    total : float
        Sum of r over all other rows.
    two_sided : bool
        Whether α is free.
    offset : {"none", "penalized", "free"}
    scale : callable
        What a gap is relative to, at an objective.
    """

    block: WeightedSubmatrix
    constant: Vector
    boxes: RowBoxes
    gain: float
    total: float
    two_sided: bool
    offset: str
    scale: Callable[[float], float] = gap_scale

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
        return s if self.two_sided else np.maximum(s, 0.0)

    def pieces(self, s: Vector) -> Vector:
        """Which linear piece of φ every s is in; φ varies with s where that is not 0."""
        return np.ones(len(s)) if self.two_sided else np.sign(self.coefficients(s))

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
        lost += np.maximum(coef * (best - exact), 0.0)
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
        if self.offset == "free" and abs(total) > NEGLIGIBLE_SUM * float(np.abs(r).sum()):
            lost += abs(total) * float(np.abs(self.boxes.slopes).max(initial=0.0))
        value = self.gain + float(self.boxes.gain(r).sum())
        value -= 0.5 * float(self.block.weights @ self.coefficients(exact) ** 2)
        value -= 0.5 * total**2 if self.offset == "penalized" else 0.0
        return DualIterate(r, offset, s, output, lost, self.scale(value + lost))


@dataclass(frozen=True)
class DualIterate:
    """A feasible point, up to Σr = 0, and the coefficients that go with it.

    Attributes
    ----------
    r : ndarray of shape (n_lines,)
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


ROWS_KEPT = 1.5
"""Rows that are no longer wanted are dropped when there are this many times those that are."""


class KeptProducts:
    """H W Hᵀ over the active columns, for the rows that were asked for before.

    Attributes
    ----------
    n_products : int
        Multiplications spent so far.
    """

    def __init__(self) -> None:
        self._row: Indices = np.zeros(0, dtype=np.intp)
        self._active: Mask = np.zeros(0, dtype=bool)
        self._products = np.zeros((0, 0))
        self.n_products = 0

    def of(self, block: WeightedSubmatrix, lines: Indices, active: Mask) -> Vector:
        """The products of some lines with each other, shape (n_lines, n_lines)."""
        self._update_columns(block, lines, active)
        place = self._places(block.row[lines])
        if (place < 0).any():
            self._add(block, lines[place < 0])
            place = self._places(block.row[lines])
        return self._products[np.ix_(place, place)]

    def _places(self, row: Indices) -> Indices:
        """Where rows stand among those kept, −1 for those that do not."""
        if not self._row.size:
            return np.full(len(row), -1, dtype=np.intp)
        order = np.argsort(self._row)
        found = order[np.searchsorted(self._row, row, sorter=order).clip(max=len(order) - 1)]
        return np.where(self._row[found] == row, found, -1)

    def _update_columns(self, block: WeightedSubmatrix, lines: Indices, active: Mask) -> None:
        """Account for columns that have come or gone; drop rows where that is cheaper."""
        new = len(active) - len(self._active)
        before = np.append(self._active, np.zeros(new, dtype=bool))
        self._active = active.copy()
        changed = np.flatnonzero(before != active)
        if not (changed.size and self._row.size):
            return
        wanted = self._places(block.row[lines])
        wanted = wanted[wanted >= 0]
        if len(self._row) > ROWS_KEPT * len(lines):
            self._keep(wanted)
        update = len(changed) * len(self._row) ** 2
        if update > np.count_nonzero(active) * len(wanted) ** 2:
            self._keep(wanted[:0])
            return
        kept_lines = np.searchsorted(block.row, self._row)
        for columns, sign in ((changed[active[changed]], 1.0), (changed[~active[changed]], -1.0)):
            if columns.size:
                part = block.part(kept_lines, columns)
                self._products += sign * (part @ part.T)
                self.n_products += len(columns) * len(self._row) ** 2

    def _keep(self, place: Indices) -> None:
        self._row, self._products = self._row[place], self._products[np.ix_(place, place)]

    def restrict(self, row: Indices) -> None:
        """Drop all rows but some training rows."""
        if not (there := np.isin(self._row, row)).all():
            self._keep(np.flatnonzero(there))

    def _add(self, block: WeightedSubmatrix, lines: Indices) -> None:
        columns = np.flatnonzero(self._active)
        old = len(self._row)
        new = block.part(lines, columns)
        products = np.empty((old + len(lines), old + len(lines)))
        products[:old, :old] = self._products
        products[old:, old:] = new @ new.T
        if old:
            kept_lines = np.searchsorted(block.row, self._row)
            weighted = new * np.sqrt(block.weights[columns])
            products[:old, old:] = block.part(kept_lines, columns, weighted=False) @ weighted.T
            products[old:, :old] = products[:old, old:].T
        self.n_products += len(columns) * len(lines) * (2 * old + len(lines))
        self._row, self._products = np.append(self._row, block.row[lines]), products


class ByRows:
    """The system as it stands.

    Parameters
    ----------
    products : ndarray of shape (n_free + n_left, n_free + n_left)
        H W Hᵀ of the free rows, and of those that have just left.
    diagonal : ndarray of shape (n_free,)
        The diagonal of E.
    """

    def __init__(self, products: Vector, diagonal: Vector) -> None:
        n_free = len(diagonal)
        self._left = products[:n_free, n_free:]
        system = products[:n_free, :n_free].copy(order="F")
        system[np.diag_indices(n_free)] += diagonal
        self._factor = _cholesky(system)

    def solve(self, right: Vector) -> Vector:
        """d, of the shape of ``right``."""
        return np.asarray(dpotrs(self._factor, right, lower=1)[0])

    def response_to(self, change: Vector) -> Vector:
        """What a change of the rows that have left does to the free ones."""
        return self._left @ change


class ByColumns:
    """The same through a system of the size of the columns.

    Parameters
    ----------
    of_free, of_left : ndarray of shape (n_free, n_active), (n_left, n_active)
        Columns times the roots of their weights, on the free rows and on those that have left.
    diagonal : ndarray of shape (n_free,)
    """

    def __init__(self, of_free: Vector, of_left: Vector, diagonal: Vector) -> None:
        self._of_free, self._of_left, self._diagonal = of_free, of_left, diagonal
        scaled = (of_free / np.sqrt(diagonal)[:, None]).T
        system = scaled @ scaled.T
        system[np.diag_indices_from(system)] += 1.0
        self._factor = _cholesky(system)

    def solve(self, right: Vector) -> Vector:
        """d, of the shape of ``right``."""
        scaled = (right.T / self._diagonal).T
        if not self._factor.size:
            return scaled
        inner = np.asarray(dpotrs(self._factor, self._of_free.T @ scaled, lower=1)[0])
        return scaled - ((self._of_free @ inner).T / self._diagonal).T

    def response_to(self, change: Vector) -> Vector:
        """What a change of the rows that have left does to the free ones."""
        return self._of_free @ (change @ self._of_left)


def free_rows(
    block: WeightedSubmatrix,
    kept: KeptProducts,
    lines: Indices,
    left: Indices,
    active: Mask,
    diagonal: Vector,
) -> ByRows | ByColumns:
    """The system of some lines in the form that is smaller.

    Parameters
    ----------
    lines, left : ndarray of int
        The free lines, and those that have just left.
    active : ndarray of bool, shape (n_columns,)
    diagonal : ndarray of shape (len(lines),)
        Positive.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the system is singular in floating point.
    """
    columns = np.flatnonzero(active)
    if len(lines) <= len(columns):
        return ByRows(kept.of(block, np.append(lines, left), active), diagonal)
    return ByColumns(block.part(lines, columns), block.part(left, columns), diagonal)


def _cholesky(system: Vector) -> Vector:
    if not system.size:
        return system
    factor, failed = dpotrf(system, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the system of the free rows is singular")
    return np.asarray(factor)
