"""Thresholds of groups within limits on rates: the fewest errors, proven.

Of an output f and a group of each row, a row of group g is predicted positive if f > t_g. Which
thresholds make the fewest errors where rates of positive predictions keep to their limits?

    max  Σ_g gain_g(t_g)    under    |Σ_g rate_g(t_g)| ≤ d                             (1)

where the errors fall by gain_g(t), the sum of w·y over the rows of g with f > t, and rate_g(t) is
the sum over these rows of what each adds to the rates. Only thresholds between two of the sorted
outputs differ: a group has finitely many cuts, one of which is chosen.

The linear relaxation of (1) draws one of several cuts at random (Hardt, Price, Srebro, *Equality
of opportunity in supervised learning*, NeurIPS 2016). Its columns are cuts, priced exactly by one
pass over each group: the one with the largest gain_g − λ·rate_g for the prices λ of the limits.
At any λ,

    Σ_g max_t (gain_g − λ·rate_g)(t) + Σ_k d_k |λ_k|                                   (2)

bounds the gain of every choice. So does (2) less what a single cut is below the maximum of its
group, for the choices with this cut: those with a cut that is further below than the best choice
known is below the bound are no better. What is left is a small integer program.

Of two groups no program is needed. From cut to cut a rate only rises or only falls, so that each
cut of one group goes with a range of cuts of the other one, whose largest gain is looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost._solvers import InfeasibleError, LimitError, Program
from cgboost._solvers import solve as solve_program
from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import Duals
from cgboost.generation.loop import ColumnGeneration
from cgboost.masters.linear.linear_master import LinearMaster

TIED = 1e-9
"""Outputs this near to each other or to 0, relative to the largest one, may change sides by
rounding."""

ROUNDING = 1e-12
"""Of a sum of weights that add up to 1. Of 20 rows in each of two groups, rates differ by 0.1 or
0.15, so that a limit is often met exactly, but for rounding."""

FIRST_WIDTH = 4.0
"""Cuts this near to the best of their group are looked at first, in mean weights of a row. With
two groups of Adult the best choice is 2 to 5 rows below the bound."""

MOST_CUTS = 400
"""Cuts of a group in the integer program at most, evenly spread over those that are near, …"""

MOST_NODES = 100
"""… and nodes of its tree: five groups of 32561 rows have thousands of cuts that are nearly as
good, among which a proof takes a minute, for 7 rows."""

RATE_UNITS = 1e3
"""Rates are multiplied by it in the integer program, whose rows hold up to 1e-9."""


@dataclass(frozen=True)
class Cuts:
    """What is predicted positive at each threshold that makes a difference to some rows.

    Attributes
    ----------
    thresholds : ndarray of shape (n_cuts,)
        Descending: of none of the rows, …, of all of them.
    gains : ndarray of shape (n_cuts,)
        Sums of gains over the rows above the threshold.
    rates : ndarray of shape (n_rates, n_cuts)
        The same of what rows add to each rate.
    """

    thresholds: Vector
    gains: Vector
    rates: NDArray[np.float64]

    @classmethod
    def of(cls, f: Vector, gains: Vector, vectors: NDArray[np.float64], tied: float) -> Cuts:
        """The cuts between outputs that differ by more than ``tied``."""
        order = np.argsort(-f, kind="stable")
        s, nothing = f[order], np.zeros((len(vectors), 1))
        ends = np.concatenate([s[:1] + 1.0, 0.5 * (s[1:] + s[:-1]), s[-1:] - 1.0])
        apart = np.concatenate([[True], s[:-1] - s[1:] > tied, [True]])
        rates = np.column_stack([nothing, np.cumsum(vectors[:, order], axis=1)])
        return cls(ends[apart], np.append(0.0, np.cumsum(gains[order]))[apart], rates[:, apart])

    def below(self, prices: Vector) -> Vector:
        """How far each cut is below the best one, at the prices of the rates."""
        worth = self.gains - prices @ self.rates
        return np.asarray(worth.max() - worth)

    def take(self, places: Indices) -> Cuts:
        """Some of them."""
        return Cuts(self.thresholds[places], self.gains[places], self.rates[:, places])


@dataclass(frozen=True)
class Choice:
    """A threshold for each group, and how good any choice could be.

    Attributes
    ----------
    thresholds : ndarray of shape (n_groups,)
    gain, bound : float
        That of the choice, and an upper bound on that of every choice within the limits.
    prices : ndarray of shape (n_rates,)
        λ: what a unit of each rate costs in gain; negative where the lower limit binds.
    """

    thresholds: Vector
    gain: float
    bound: float
    prices: Vector


def widened(limits: Vector) -> Vector:
    """Limits, with room for the rounding of a sum of weights."""
    return np.asarray(limits + ROUNDING)


def best_thresholds(
    f: Vector, groups: Indices, gains: Vector, vectors: NDArray[np.float64], limits: Vector
) -> Choice:
    """The thresholds of (1).

    Parameters
    ----------
    f : ndarray of shape (n_rows,)
    groups : ndarray of int, shape (n_rows,)
        From 0 on; each has rows.
    gains : ndarray of shape (n_rows,)
        What the errors fall by where a row is predicted positive.
    vectors : ndarray of shape (n_rates, n_rows)
        What a row that is predicted positive adds to each rate; the sum over all rows is 0, so
        that one class for all rows keeps to all limits.
    limits : ndarray of shape (n_rates,)
    """
    cuts, unit = _cuts_of_groups(f, groups, gains, vectors)
    prices = _prices(cuts, limits)
    bound = sum(float((own.gains - prices @ own.rates).max()) for own in cuts)
    bound += float(limits @ np.abs(prices))
    best = max(([0] * len(cuts), [-1] * len(cuts)), key=lambda places: _gain(cuts, places))
    width, pair = FIRST_WIDTH, _best_of_two(cuts, limits)
    proven = pair is not None
    best = pair or best
    while not proven:
        found, complete = _choice(cuts, prices, limits, width)
        if found is not None and _gain(cuts, found) > _gain(cuts, best):
            best = found
        missing = bound - _gain(cuts, best)
        proven = complete and missing <= width
        if width >= missing or (found is not None and not complete):
            break
        width = missing if found is not None else min(4.0 * width, missing)
    gain = _gain(cuts, best)
    thresholds = np.array([own.thresholds[k] for own, k in zip(cuts, best, strict=True)])
    return Choice(thresholds, unit * gain, unit * (gain if proven else bound), unit * prices)


def prices_of_rates(
    f: Vector, groups: Indices, gains: Vector, vectors: NDArray[np.float64], limits: Vector
) -> Vector:
    """λ of the relaxation of (1), as for :func:`best_thresholds`."""
    cuts, unit = _cuts_of_groups(f, groups, gains, vectors)
    return unit * _prices(cuts, limits)


def _cuts_of_groups(
    f: Vector, groups: Indices, gains: Vector, vectors: NDArray[np.float64]
) -> tuple[list[Cuts], float]:
    """The cuts of each group, and the unit of their gains."""
    tied = TIED * float(np.abs(f).max(initial=0.0))
    unit = float(np.abs(gains).mean()) or 1.0
    members = [np.flatnonzero(groups == g) for g in range(int(groups.max()) + 1)]
    return [Cuts.of(f[own], gains[own] / unit, vectors[:, own], tied) for own in members], unit


def _gain(cuts: Sequence[Cuts], places: Sequence[int]) -> float:
    return sum(float(own.gains[k]) for own, k in zip(cuts, places, strict=True))


def _best_of_two(cuts: Sequence[Cuts], limits: Vector) -> list[int] | None:
    """The best choice of two groups; None for more, or where a rate both rises and falls."""
    if len(cuts) != 2:
        return None
    first, second = cuts
    start = np.zeros(len(first.gains), dtype=np.intp)
    stop = np.full(len(first.gains), len(second.gains))
    for own, other, limit in zip(first.rates, second.rates, widened(limits), strict=True):
        sign = 1.0 if other[-1] >= other[0] else -1.0
        if (np.diff(sign * other) < 0.0).any():
            return None
        start = np.maximum(start, np.searchsorted(sign * other, -limit - sign * own))
        stop = np.minimum(stop, np.searchsorted(sign * other, limit - sign * own, side="right"))
    best = int((first.gains + _largest_between(second.gains, start, stop)).argmax())
    return [best, int(start[best] + second.gains[start[best] : stop[best]].argmax())]


def _largest_between(values: Vector, start: Indices, stop: Indices) -> Vector:
    """The largest of ``values[start:stop]`` for each pair of ends, −inf where there is none.

    Two windows as long as the largest power of two that fits cover each range.
    """
    found = np.full(len(start), -np.inf)
    windows, width = values, 1
    while True:
        own = np.flatnonzero((stop - start >= width) & (stop - start < 2 * width))
        found[own] = np.maximum(windows[start[own]], windows[stop[own] - width])
        if 2 * width > len(values):
            return found
        windows, width = np.maximum(windows[:-width], windows[width:]), 2 * width


def _prices(cuts: Sequence[Cuts], limits: Vector) -> Vector:
    """λ of the linear relaxation, by column generation over the cuts."""
    n_groups, n_rates = len(cuts), len(limits)
    rows = range(n_groups + 2 * n_rates)
    senses = ["=="] * n_groups + ["<="] * (2 * n_rates)
    rhs = np.concatenate([np.ones(n_groups), limits, limits])
    unit = np.eye(n_groups)

    def column(g: int, place: int) -> Column:
        rates = cuts[g].rates[:, place]
        values = np.concatenate([unit[g], rates, -rates])
        return Column(values, (g, place), cost=-float(cuts[g].gains[place]), block=g)

    def price(duals: Duals) -> tuple[list[Column], Mapping[Any, float]]:
        y = np.asarray(duals)
        net = y[n_groups + n_rates :] - y[n_groups : n_groups + n_rates]  # λ
        found, reduced = [], {}
        for g, own in enumerate(cuts):
            worth = own.gains - net @ own.rates
            found.append(column(g, int(worth.argmax())))
            reduced[g] = -float(worth.max()) - float(y[g])
        return found, reduced

    master = LinearMaster(rows, senses, rhs, copies=dict.fromkeys(range(n_groups), 1.0))
    master.add([column(g, place) for g in range(n_groups) for place in (0, -1)])
    duals = ColumnGeneration(master, price, tol=1e-9).run().duals
    y = np.array([duals[row] for row in rows])
    return np.asarray(y[n_groups + n_rates :] - y[n_groups : n_groups + n_rates])


def _choice(
    cuts: Sequence[Cuts], prices: Vector, limits: Vector, width: float
) -> tuple[list[int] | None, bool]:
    """The best choice among the cuts that are near to the best of their group.

    Returns
    -------
    places : list of int or None
        Of the cut of each group; None where no choice of these is within the limits.
    complete : bool
        Whether the search came to its end.
    """
    near = [np.flatnonzero(own.below(prices) <= width) for own in cuts]
    complete = max(map(len, near)) <= MOST_CUTS
    spread = [np.linspace(0, len(n) - 1, min(len(n), MOST_CUTS)).astype(np.intp) for n in near]
    near = [places[kept] for places, kept in zip(near, spread, strict=True)]
    kept = [own.take(places) for own, places in zip(cuts, near, strict=True)]
    ends = np.cumsum([0, *map(len, near)])
    one = sparse.block_diag([np.ones((1, len(places))) for places in near])
    rates, most = RATE_UNITS * np.hstack([own.rates for own in kept]), RATE_UNITS * widened(limits)
    program = Program(
        cost=-np.concatenate([own.gains for own in kept]),
        matrix=sparse.vstack([one, sparse.csr_array(rates)], format="csr"),
        row_lower=np.concatenate([np.ones(len(cuts)), -most]),
        row_upper=np.concatenate([np.ones(len(cuts)), most]),
        upper=1.0,
        integrality=np.ones(ends[-1], dtype=bool),
    )
    options = {
        "mip_feasibility_tolerance": 1e-9,
        "mip_rel_gap": 0.0,
        "mip_max_nodes": MOST_NODES,
    }
    try:
        x = solve_program(program, "highs", options=options).x
    except InfeasibleError:
        return None, complete
    except LimitError as error:
        if error.solution is None:
            return None, False
        x, complete = error.solution.x, False
    found = [
        int(places[np.argmax(x[start:end])])
        for places, start, end in zip(near, ends[:-1], ends[1:], strict=True)
    ]
    total = sum(own.rates[:, k] for own, k in zip(cuts, found, strict=True))
    # HiGHS keeps to a row up to 1e-9, which is ROUNDING in units of rates
    within = bool((np.abs(total) <= widened(limits) + 2.0 * ROUNDING).all())
    return (found, complete) if within else (None, False)
