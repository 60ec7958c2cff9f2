"""A vertex of a piecewise linear objective, and the way down along its edges.

The quantities have a kink at 0 each, where the slope of the objective rises from a lower to an
upper one. At a vertex as many of them, x, are 0 as it has edges; the others follow from these,

    y = T·x + value

With −dual, the slope in x of all that does not bend there, x = 0 is optimal where

    lower ≤ dual ≤ upper

From one vertex a step goes along an edge, on which the objective falls, to the edge's minimum,
across as many kinks as pay (Barrodale, Roberts, *An improved algorithm for discrete ℓ1 linear
approximation*, SIAM J. Numerical Analysis 10, 1973). Edges are compared by their slope relative to
their length (Forrest, Goldfarb, *Steepest-edge simplex algorithms for linear programming*, Math.
Programming 57, 1992), which is bounded from step to step as in Devex (Harris, Math. Programming 5,
1973).
"""

from __future__ import annotations

from enum import Enum, auto

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.optimizers.simplex.tableau import Tableau

VIOLATION = 1e-9
"""A dual may be outside its limits by this share of the upper one."""

SMALLEST_PIVOT = 1e-9
"""Kinks that are approached at less than this share of the fastest, or of the quantity that moves,
do not end a step."""

FEW_KINKS = 16
"""Kinks that are looked for one by one, before all are sorted: most steps end before. Paths of
3000 × 300 take 4 % longer with 4, 2 % with 8."""


class StepOutcome(Enum):
    """What became of a step."""

    DONE = auto()
    NONE = auto()  # no edge falls
    ENDLESS = auto()  # one has no end


class KinkedVertex:
    """A vertex of some quantities, by their numbers.

    Parameters
    ----------
    matrix : ndarray of shape (n_others, n_zero)
        T.
    at_zero, others : ndarray of int
        Numbers of the quantities x and y.

    Attributes
    ----------
    value, side : ndarray of shape (n_others,)
        Of y, and 1 above the kink, −1 below it.
    dual : ndarray of shape (n_zero,)
    """

    def __init__(self, matrix: Vector, at_zero: Indices, others: Indices) -> None:
        self.table = Tableau(matrix)
        self.at_zero, self.others = at_zero, others
        self.value, self.side = np.zeros(len(others)), np.ones(len(others))
        self.dual = np.zeros(len(at_zero))
        self.endless = 0, 0.0  # the edge on which the objective falls without end, and which way
        self.slopes_are(np.zeros((2, max(at_zero.max(initial=0), others.max(initial=0)) + 1)))

    def slopes_are(self, slopes: Vector) -> None:
        """The upper and the lower slope at each kink, shape (2, n_quantities)."""
        self._slopes = slopes
        self._upper, self._lower = slopes.take(self.at_zero, axis=1)
        self._most = (1.0 + VIOLATION) * self._upper
        self._least = self._lower - VIOLATION * self._upper
        self._ends = slopes.take(self.others, axis=1)
        self._jump = self._ends[0] - self._ends[1]

    @property
    def own_slope(self) -> Vector:
        """What the kinks of y add to the slope in y, shape (n_others,)."""
        slope: Vector = np.where(self.side > 0, self._ends[0], self._ends[1])
        return slope

    def measure(self) -> None:
        """The lengths of the edges."""
        self._length = np.sqrt(1.0 + self.table.squares())

    # ------------------------------------------------------------------ what comes and goes

    def append_zero(self, columns: Vector, numbers: Indices) -> None:
        """Further quantities that are 0, and what y gains from them; their duals are not known."""
        self.table.append_columns(columns)
        self.at_zero = np.append(self.at_zero, numbers)
        self.dual = np.append(self.dual, np.zeros(len(numbers)))

    def append(self, rows: Vector, numbers: Indices, value: Vector) -> None:
        """Further quantities y."""
        self.table.append_rows(rows)
        self.others = np.append(self.others, numbers)
        self.value = np.append(self.value, value)
        self.side = np.append(self.side, np.where(value > 0, 1.0, -1.0))
        self.slopes_are(self._slopes)

    def keep(self, places: Indices) -> None:
        """Leave some of y."""
        self.table.keep_rows(places)
        self.others, self.value = self.others[places], self.value[places]
        self.side = self.side[places]
        self.slopes_are(self._slopes)

    # ------------------------------------------------------------------ a step

    def step(self) -> StepOutcome:
        """Along the edge that falls fastest for its length, to its minimum."""
        table, dual, length = self.table, self.dual, self._length
        if not len(dual):
            return StepOutcome.NONE
        above = dual - self._most
        off = np.maximum(above, self._least - dual)
        place = int((off / length).argmax())
        slope = float(off[place])
        if not slope > 0:
            return StepOutcome.NONE
        up = bool(above[place] > 0)
        column = table.column(place)
        ahead = column * self.side
        if up:
            np.negative(ahead, out=ahead)
        meets = (ahead > SMALLEST_PIVOT * ahead.max(initial=1.0)).nonzero()[0]
        speeds = ahead.take(meets)
        times = self.value.take(meets) * self.side.take(meets) / speeds
        order = first_kinks(times, self._jump.take(meets) * speeds, slope)
        if not order:
            self.endless = place, 1.0 if up else -1.0
            return StepOutcome.ENDLESS
        kink, time = int(meets[order[-1]]), max(0.0, float(times[order[-1]]))
        self.value += (time if up else -time) * column
        dual[place] -= self._upper[place] if up else self._lower[place]
        if len(order) > 1:
            crossed = meets[order[:-1]]
            self.side[crossed] *= -1.0
            dual -= table.combined(crossed, self._jump[crossed] * self.side[crossed])
        row = table.row(kink)
        pivot = float(row[place])
        share = float(dual[place]) / pivot
        dual -= share * row
        dual[place] = share + self._ends[0 if self.side[kink] > 0 else 1, kink]
        stretch = float(length[place]) / abs(pivot)
        np.maximum(length, stretch * np.abs(row), out=length)
        length[place] = max(stretch, 1.0)
        table.exchange(kink, place, column, row)
        self._exchange(kink, place)
        self.value[kink], self.side[kink] = (time, 1.0) if up else (-time, -1.0)
        return StepOutcome.DONE

    def _exchange(self, row: int, place: int) -> None:
        """What is kept besides the tableau."""
        ends, upper, lower = self._ends, self._ends.item(0, row), self._ends.item(1, row)
        ends[0, row], ends[1, row] = self._upper[place], self._lower[place]
        self._jump[row] = self._upper[place] - self._lower[place]
        self._upper[place], self._lower[place] = upper, lower
        self._most[place] = (1.0 + VIOLATION) * upper
        self._least[place] = lower - VIOLATION * upper
        number = self.others[row]
        self.others[row], self.at_zero[place] = self.at_zero[place], number


def first_kinks(times: Vector, drops: Vector, slope: float) -> list[int]:
    """The kinks until the slope is used up, in the order of their times; none if it is not.

    Most steps meet few of them: the first are looked for one by one before all are sorted. The
    times of all but the last are overwritten.
    """
    order: list[int] = []
    for _ in range(min(FEW_KINKS, len(times))):
        place = int(times.argmin())
        order.append(place)
        slope -= float(drops[place])
        if slope <= 0.0:
            return order
        times[place] = np.inf
    rest = times.argsort(kind="stable")[: len(times) - len(order)]
    end = int(drops[rest].cumsum().searchsorted(slope))
    return [*order, *rest[: end + 1].tolist()] if end < len(rest) else []
