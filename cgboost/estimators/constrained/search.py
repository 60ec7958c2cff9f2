"""The fit of a model that obeys: prices that are high enough, and rates met by a search.

A fit is a run of column generation, or a few, each from the columns of the one before:

* While something is beyond its limit the price M of what is beyond is raised, as it may be below
  the multiplier of a limit. Where the highest price does not help, the constraints contradict each
  other, which a run without a loss proves (:mod:`cgboost.estimators.constrained.infeasible`).
* Limits on rates of predictions are prices of positive predictions, which change what rows cost: a
  row of group g costs λ_g/n_g more where it is predicted positive (the cost-sensitive reduction of
  Agarwal, Beygelzimer, Dudík, Langford, Wallach, *A reductions approach to fair classification*,
  ICML 2018). A bracketed secant method moves λ. What a fit at a price says is the order of the
  rows: of the models seen, blends of two of them and a constant, each with its best offset, the
  one with the fewest errors on the training rows whose rates keep to their limits is taken. Every
  problem on the way is certified; that they lead to the best model is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations_with_replacement, product
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_runs import FittedOutput, FittedRun
from cgboost.estimators.constrained.data import Grouping, MeasuredModel
from cgboost.estimators.constrained.infeasible import raise_infeasible
from cgboost.estimators.constrained.problem import ConstrainedProblem
from cgboost.estimators.constrained.thresholds import (
    TIED,
    Cuts,
    best_thresholds,
    prices_of_rates,
    widened,
)
from cgboost.exceptions import TrivialModelWarning, see, warn_caller
from cgboost.generation.history import StopReason, relative_gap
from cgboost.pricing.constrained.hinges import HingeFunction
from cgboost.pricing.univariate.feature_pricer import Feature
from cgboost.pricing.univariate.stumps import CONSTANT_STUMP, Stump

OBEYED = 1e-6
"""What may be left beyond a limit, relative to it or to 1."""

DEARER = 10.0
"""The price is raised by this factor …"""

HIGHEST_PRICE = 1e5
"""… up to this, relative to the cost of all rows."""

MOST_FITS = 8
"""Fits of a search for one rate at most; so many times more for several rates."""

FIRST_STEP = 0.15
"""The step of a price, relative to the cost of all rows, where the thresholds of groups need none.
On Adult, 0.13 to 0.22 are wanted."""

ENOUGH_OF_LIMIT = 0.8
"""A rate of this share of the limit is as near as it need be."""

LEAST_PRICE_STEP = 0.1
"""Steps are at least this share of the bracket, or of the first one."""

SEARCH_GAP = 1e-2
"""The relative gap of the fits of a search: what they say is the order of the rows."""

NARROW, NARROWER = 0.3, 0.05
"""A bracket of prices this wide, relative to its upper end, is narrow enough; the second one where
what was found with the first is nearly a constant: few columns say few things, and models at the
two ends of a wide bracket may break the limits to either side. Of twelve fits (250 rows, parity of
0.03), 0.05 at first gives two 0.4 to 0.8 points of accuracy more, and takes 1.3 times as long."""

AIMS = {NARROW: 0.9, NARROWER: 0.5}
"""A step is to this share of the limit; of few columns models jump over what is just below it."""

BLENDED = 8
"""So many of the best models are blended with each other, where offsets can be moved …"""

SHARES = {True: 9, False: 257}
"""… with so many shares, evenly spread; more where offsets cannot be moved."""

SIZES = (1.0, 2.0, 0.5, 0.25, 0.1)
"""Sizes of a model that are tried; its predictions are the same with all of them."""

NEARLY_CONSTANT = 0.2
"""A model that predicts the rarer class for less than this share of what it did without limits on
rates is hardly more than a constant. With 0.1 one of those fits is 3 points worse, with 0.4 none is
better."""

CONSTANT_OUTPUT = 1e-6
"""Outputs of a model that differ by less than this, relative to the largest, are a constant: its
columns were not worth their price, but for rounding."""

OUT_OF_TIME = (StopReason.TIME, StopReason.INTERRUPTED)
"""Fits that ended with these are not tried again at a higher price."""

Run = Callable[[float], list[FittedRun]]


def obeying_runs(problem: ConstrainedProblem, run: Run, called: str) -> list[FittedRun]:
    """The runs of a fit that keeps to all limits.

    Parameters
    ----------
    problem : ConstrainedProblem
        Its prices are left as they are in the end.
    run : callable
        Runs column generation at the present prices, to a relative gap: the larger one of what is
        asked of it and of the fit.
    called : str
        Who warns.

    Raises
    ------
    InfeasibleConstraintsError
        If something stays beyond its limit.
    """
    of_rates = any(constraint.of_rates for constraint in problem.constraints)
    searched = of_rates and problem.step_feature is None
    runs = _at_sufficient_price(problem, partial(run, SEARCH_GAP if searched else 0.0))
    if searched and _Decisions.of(problem).surely_obeyed(runs[0].outputs[0].values(problem.rows.X)):
        runs = _at_sufficient_price(problem, partial(run, 0.0))  # there is nothing to search
    if not of_rates:
        return runs
    free_bound = runs[0].bound  # of a relaxation: rates have no limits in it
    if problem.step_feature is not None and not problem.family.has_steps:
        free_bound = -np.inf  # offsets of groups are not in it
    runs = _with_rates(problem, run, runs, called)
    objective = problem.value(runs[0].outputs[0])
    gap = relative_gap(objective, free_bound)
    history = {name: values.copy() for name, values in runs[0].history.items()}
    history["bound"][:] = history["gap"][:] = np.nan  # on the way to another problem
    for name, value in (("objective", objective), ("bound", free_bound), ("gap", gap)):
        history[name][runs[0].best_round] = np.nan if value is None else value
    found = replace(runs[0], objective=objective, bound=free_bound, gap=gap, history=history)
    return [found]


def _at_sufficient_price(
    problem: ConstrainedProblem, run: Callable[[], list[FittedRun]]
) -> list[FittedRun]:
    while True:
        runs = run()
        if not problem.constraints or _beyond(problem, runs) <= OBEYED:
            return runs
        if problem.price >= HIGHEST_PRICE or runs[0].stop_reason in OUT_OF_TIME:
            raise_infeasible(problem, runs, _beyond(problem, runs))
        problem.price *= DEARER


def _beyond(problem: ConstrainedProblem, runs: list[FittedRun]) -> float:
    """The largest excess over a limit, relative to it or to 1."""
    declared = problem.declared(problem.target)
    extension, limits = problem.limit_rows(declared)
    excess = 0.0
    if len(limits):
        output = runs[0].outputs[0].values(problem.rows.X)
        values = extension.matrix @ output
        drawn = [_drawn(runs[0], budget.features) for budget in declared.budgets]
        beyond = np.append(values, drawn) - limits
        excess = float(np.max(beyond / np.maximum(1.0, np.abs(limits)), initial=0.0))
    multipliers = problem.multipliers
    if multipliers is not None and runs[0].best_round in multipliers.convex:
        broken = multipliers.convex[runs[0].best_round][1]
        excess = max(excess, max(broken, default=0.0))
    return excess


def _drawn(run: FittedRun, features: frozenset[int]) -> float:
    """Σ|α| of the columns of some features."""
    output, total = run.outputs[0], 0.0
    for hypothesis, coef in zip(output.hypotheses, output.coef.tolist(), strict=True):
        own = getattr(hypothesis, "feature", getattr(hypothesis, "index", None))
        total += abs(coef) if own in features else 0.0
    return total


@dataclass
class _RateSearch:
    """Where the search for one rate is at.

    ``points`` has the prices so far, with ``sign`` times the rate at each: it falls with the price.
    ``step`` is the first one.
    """

    sign: float
    limit: float
    step: float
    points: list[tuple[float, float]]

    @property
    def cheap(self) -> tuple[float, float] | None:
        """The highest price at which the rate is above its limit."""
        return max((point for point in self.points if point[1] > self.limit), default=None)

    @property
    def dear(self) -> tuple[float, float] | None:
        """The lowest price at which the rate is below its limit."""
        return min((point for point in self.points if point[1] <= self.limit), default=None)

    def next(self, share: float) -> float:
        """The price to try next: a secant step to a share of the limit, inside the bracket."""
        aim, dear, cheap = share * self.limit, self.dear, self.cheap
        if cheap is None:
            assert dear is not None
            return dear[0] - self.step
        if dear is None:
            first, step = self.points[0], 1.0
            if cheap[0] > first[0] and cheap[1] < first[1]:
                slope = (first[1] - cheap[1]) / (cheap[0] - first[0])
                step = (cheap[1] - aim) / slope / self.step
            return cheap[0] + float(np.clip(step, LEAST_PRICE_STEP, 1.0)) * self.step
        step = (cheap[1] - aim) / (cheap[1] - dear[1])
        step = float(np.clip(step, LEAST_PRICE_STEP, 1.0 - LEAST_PRICE_STEP))
        return cheap[0] + step * (dear[0] - cheap[0])

    def is_narrow(self, share: float) -> bool:
        """Whether prices between the two ends would hardly make other models."""
        if self.cheap is None or self.dear is None:
            return False
        if self.dear[1] >= ENOUGH_OF_LIMIT * self.limit:
            return True
        return abs(self.dear[0] - self.cheap[0]) <= share * abs(self.dear[0])


@dataclass(frozen=True)
class _Fit:
    """A fit of the search: its runs, and the prices and multipliers that belong to it."""

    runs: list[FittedRun]
    prices: dict[tuple[int, str], float]
    multipliers: Any


@dataclass(frozen=True)
class _Decisions:
    """Predictions of an output less a cut, measured at many cuts at once.

    Attributes
    ----------
    places : list of (int, str)
        Of the rates.
    vectors : ndarray of shape (n_rates, n_rows)
        Each rate is a·[f > 0] …
    limits : ndarray of shape (n_rates,)
        … and at most this on either side.
    gains : ndarray of shape (n_rows,)
        What the errors fall by where a row is predicted positive: its weight, times its label.
    movable : bool
        Whether a model may have any offset.
    """

    places: list[tuple[int, str]]
    vectors: NDArray[np.float64]
    limits: Vector
    gains: Vector
    movable: bool

    @classmethod
    def of(cls, problem: ConstrainedProblem) -> _Decisions:
        """The rates that are limited, and whether offsets may move under all other limits."""
        places, vectors, limits = [], [], []
        for number, constraint in enumerate(problem.constraints):
            if not constraint.of_rates:
                continue
            known: Any = constraint
            grouping = problem.groups[known.groups_of]
            for part, vector in known.differences(grouping, problem.target, problem.weights):
                places.append((number, part))
                vectors.append(vector)
                limits.append(known.limit)
        declared = problem.declared(problem.target)
        sums = [abs(row.vector.sum()) for row in declared.rows]
        still = bool(declared.convex or declared.own) or max(sums, default=0.0) > TIED
        return cls(
            places,
            np.array(vectors),
            np.array(limits),
            problem.rows.weights * problem.target,
            (problem.free_offset or problem.family.has_steps) and not still,
        )

    def keep(self, rates: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether rates, one a row, are within their limits in each column."""
        return np.asarray((np.abs(rates) <= widened(self.limits)[:, None]).all(axis=0))

    def obeyed(self, f: Vector) -> bool:
        """Whether predictions of these outputs, as they are, keep to the limits."""
        return bool(self.keep(self.vectors @ (f > 0)[:, None]).all())

    def surely_obeyed(self, f: Vector) -> bool:
        """Whether they do on whichever side of 0 rounding puts each of the rows tied with 0."""
        tied = TIED * float(np.abs(f).max(initial=0.0))
        sure, unsure = f > tied, (f > -tied) & (f <= tied)
        spread = [
            part @ unsure for part in (self.vectors.clip(min=0.0), self.vectors.clip(max=0.0))
        ]
        return bool(self.keep((self.vectors @ sure)[:, None] + np.column_stack(spread)).all())

    def best(self, f: Vector) -> tuple[float, float]:
        """The best cut within the limits, after −Σ gains of the rows predicted positive there.

        Where the cut is fixed, outputs that keep to the limits only as they are rounded come after
        all others.
        """
        if not self.movable:
            if not self.obeyed(f):
                return np.inf, 0.0
            last = 0.0 if self.surely_obeyed(f) else 2.0 * float(np.abs(self.gains).sum())
            return last - float(self.gains @ (f > 0)), 0.0
        cuts = Cuts.of(f, self.gains, self.vectors, TIED * float(np.abs(f).max(initial=0.0)))
        cuts.rates[:, -1] = 0.0  # all rows together, but for rounding
        place = int(np.argmin(np.where(self.keep(cuts.rates), -cuts.gains, np.inf)))
        return -float(cuts.gains[place]), float(cuts.thresholds[place])

    def near(self, f: Vector, n_positive: int) -> Vector:
        """The rates where about so many rows are predicted positive: no fit is then a constant."""
        tied, cut = TIED * np.abs(f).max(), np.sort(f)[len(f) - 1 - n_positive]
        sides = [f > cut + tied, f > cut - tied]
        number = [int(side.sum()) for side in sides]
        below = abs(number[1] - n_positive) < abs(number[0] - n_positive)
        below = below if number[0] > 0 and number[1] < len(f) else number[0] == 0
        return self.vectors @ sides[below]


def _with_rates(
    problem: ConstrainedProblem, run: Run, runs: list[FittedRun], called: str
) -> list[FittedRun]:
    """The runs of the model with the fewest errors whose rates are within their limits."""
    rows, decisions = problem.rows.X, _Decisions.of(problem)
    free = runs[0].outputs[0].values(rows)
    if problem.step_feature is not None:
        if np.ptp(free) <= CONSTANT_OUTPUT * np.abs(free).max(initial=0.0):
            runs = _of_the_score(problem, runs, decisions, called)
            free = runs[0].outputs[0].values(rows)
        own = _by_group(problem, runs, decisions, free)
        _warn_of_a_constant(problem, free, own, called)
        return own
    if decisions.surely_obeyed(free):
        return runs
    found: list[FittedRun] | None = None
    fits, values = [_Fit(runs, {}, problem.multipliers)], [free]
    sides, widths = (True, False) if decisions.movable else (False,), (NARROW, NARROWER)
    for balanced, narrow in product(sides, widths):
        _search(problem, run, decisions, fits, values, balanced=balanced, narrow=narrow)
        found = _best(problem, decisions, fits, values)
        if found is not None and not _is_constant(problem, free, found):
            return found
    if found is None:
        return _nearest(problem, decisions, fits, called)
    _warn_of_a_constant(problem, free, found, called)
    return found


def _warn_of_a_constant(
    problem: ConstrainedProblem, free: Vector, found: list[FittedRun], called: str
) -> None:
    """Warn of a model that predicts one class for nearly all training rows."""
    if not _is_constant(problem, free, found):
        return
    warn_caller(
        f"{called}: within the limits on rates the best model found predicts the positive class "
        f"for {100 * _share(problem, found):.3g} % of the training rows "
        f"({100 * np.average(free > 0, weights=problem.weights):.3g} % without these limits), "
        f"which is nearly a constant: allow more, raise C, or limit the score{see('constraints')}",
        TrivialModelWarning,
    )


def _of_the_score(
    problem: ConstrainedProblem, runs: list[FittedRun], decisions: _Decisions, called: str
) -> list[FittedRun]:
    """The score of the one model that is given, for thresholds, which have no use for a size.

    The model without limits is a constant here: C is so small, or one class so heavy, that the
    score is not worth its price. If it is not the only column, a warning says so.
    """
    output, score = runs[0].outputs[0], problem.family.score(problem.pool)
    if score is None or np.ptp(score.values) == 0.0:
        warn_caller(
            f"{called}: without limits on rates the best model for C={problem.C:g} is a constant, "
            "so that no threshold tells rows of a group apart; a larger value may change that"
            f"{see('trivial-models')}",
            TrivialModelWarning,
        )
        return runs
    middle = np.average(score.values, weights=np.abs(decisions.gains))
    rises = float(decisions.gains @ (score.values - middle)) >= 0.0
    path = [*output.path[:-1], (np.array([1.0 if rises else -1.0]), 0.0)]
    strata = np.array([score.stratum])
    own = replace(output, hypotheses=[score.hypothesis], strata=strata, path=path)
    return [replace(runs[0], outputs=[own])]


def _by_group(
    problem: ConstrainedProblem, runs: list[FittedRun], decisions: _Decisions, free: Vector
) -> list[FittedRun]:
    """The runs with a threshold for each group: steps of the feature that is the group."""
    assert problem.step_feature is not None
    name = next(c.groups_of for c in problem.constraints if c.of_rates)
    grouping = problem.groups[name]
    chosen = best_thresholds(
        free, grouping.codes, decisions.gains, decisions.vectors, decisions.limits
    )
    total = float(np.abs(decisions.gains).sum())
    worst = float(decisions.gains.clip(min=0.0).sum())  # where no row is predicted positive
    problem.errors = (worst - chosen.gain) / total, (worst - chosen.bound) / total
    relative = (chosen.prices / total).tolist()
    problem.rate_prices = dict(zip(decisions.places, relative, strict=True))
    steps, edges = np.diff(-chosen.thresholds), _edges(grouping)
    stumps = [Stump(problem.step_feature, float(edge)) for edge in edges]
    offset = -float(chosen.thresholds[0]) + 0.5 * float(steps.sum())
    output = runs[0].outputs[0]
    twice = [(2.0 * output.coef, 2.0 * output.intercept)]
    # 2·(step/2): blending halves it again
    added = FittedOutput(stumps, np.array(["stump"] * len(steps)), [(steps, 0.0)], output.sizes)
    whole = blend(added, replace(output, path=[*output.path[:-1], *twice]), 0.5)
    return [replace(runs[0], outputs=[_of_size(problem, whole, 1.0, offset)])]


def _edges(grouping: Grouping) -> Vector:
    """Numbers between those of neighbouring groups: x > edge in the upper one alone.

    Raises
    ------
    ValueError
        If two groups are the same number.
    """
    labels = np.asarray(grouping.labels, dtype=np.float64)
    lower, upper = labels[:-1], labels[1:]
    if not (lower < upper).all():
        same = grouping.labels[:-1][~(lower < upper)][0]
        raise ValueError(
            f"groups {grouping.name!r}: {same} and the next group are the same number of 53 bits, "
            f"so that no step tells them apart: number the groups from 0{see('constraints')}"
        )
    middle = 0.5 * lower + 0.5 * upper
    return np.asarray(np.where((lower <= middle) & (middle < upper), middle, lower))


def _search(
    problem: ConstrainedProblem,
    run: Run,
    decisions: _Decisions,
    fits: list[_Fit],
    values: list[Vector],
    *,
    balanced: bool,
    narrow: float,
) -> None:
    """Add fits at other prices, until those around the limits are near to each other.

    ``balanced``: of problems in which no constant is cheap; rates are then those of as many
    positive predictions as the first fit has. ``narrow``: how near prices are then.
    """
    n_rows = len(values[0])
    n_positive = int(np.clip(np.sum(values[0] > 0), 1, n_rows - 1))
    searches: dict[tuple[int, str], _RateSearch] = {}
    problem.balanced, problem.rate_prices, output = balanced, {}, values[0]
    # a narrower bracket is looked for among other models: steps of another size lead to them
    first = _prices_of_thresholds(problem, decisions, output) if narrow == NARROW else {}
    for _ in range(MOST_FITS * len(decisions.places)):
        if fits[-1].runs[0].stop_reason in OUT_OF_TIME:
            break
        rates = decisions.near(output, n_positive) if balanced else decisions.vectors @ (output > 0)
        for place, rate, limit in zip(decisions.places, rates, decisions.limits, strict=True):
            if place not in searches and abs(rate) > limit:
                sign = float(np.sign(rate))
                step = sign * first.get(place, 0.0)
                step = step if step > LEAST_PRICE_STEP * FIRST_STEP else FIRST_STEP
                searches[place] = _RateSearch(sign, float(limit), step, [])
            if place in searches:
                search = searches[place]
                price = search.sign * problem.rate_prices.get(place, 0.0)
                search.points.append((price, search.sign * float(rate)))
        if all(search.is_narrow(narrow) for search in searches.values()):
            break
        for place, search in searches.items():
            problem.rate_prices[place] = search.sign * search.next(AIMS[narrow])
        runs = _at_sufficient_price(problem, partial(run, SEARCH_GAP))
        fits.append(_Fit(runs, dict(problem.rate_prices), problem.multipliers))
        output = runs[0].outputs[0].values(problem.rows.X)
        values.append(output)
    problem.balanced = False


def _prices_of_thresholds(
    problem: ConstrainedProblem, decisions: _Decisions, f: Vector
) -> dict[tuple[int, str], float]:
    """What rates cost, relative to all rows, where each group has a threshold on an output."""
    found: dict[tuple[int, str], float] = {}
    for number in {number for number, _ in decisions.places}:
        own = [k for k, (owner, _) in enumerate(decisions.places) if owner == number]
        constraint: Any = problem.constraints[number]
        codes = problem.groups[constraint.groups_of].codes
        vectors, limits = decisions.vectors[own], decisions.limits[own]
        prices = prices_of_rates(f, codes, decisions.gains, vectors, limits)
        prices /= np.abs(decisions.gains).sum()
        found.update({decisions.places[k]: float(v) for k, v in zip(own, prices, strict=True)})
    return found


def _share(problem: ConstrainedProblem, runs: list[FittedRun]) -> float:
    """The share of the training rows that are predicted positive."""
    output = runs[0].outputs[0].values(problem.rows.X)
    return float(np.average(output > 0, weights=problem.weights))


def _is_constant(problem: ConstrainedProblem, free: Vector, runs: list[FittedRun]) -> bool:
    """Whether it predicts one class for nearly all training rows, unlike the free model."""
    share, before = _share(problem, runs), float(np.average(free > 0, weights=problem.weights))
    return min(share, 1.0 - share) < NEARLY_CONSTANT * min(before, 1.0 - before)


def _best(
    problem: ConstrainedProblem, decisions: _Decisions, fits: list[_Fit], values: list[Vector]
) -> list[FittedRun] | None:
    """The best blend of two fits, at its best offset; None if no one keeps to all limits.

    Limits that are convex hold for it, since they hold for both. Of the sizes at which it predicts
    the same, it has the one with the lowest objective. What counts are the outputs of the model
    itself, which may be rounded unlike the blended outputs.
    """
    rows, mean = problem.rows.X, fits[0].runs[0].outputs[0]
    for count, fit in enumerate(fits[1:], start=2):  # it tells rows apart that are tied in each
        mean = blend(mean, fit.runs[0].outputs[0], 1.0 / count)
    last = fits[-1].runs[0]
    fits = [*fits, replace(fits[-1], runs=[replace(last, outputs=[mean])])]
    values = [*values, mean.values(rows)]
    numbers = list(range(len(fits)))
    single = [decisions.best(f)[0] for f in values]
    if decisions.movable:
        numbers = [0, numbers[-1], *sorted(numbers[1:-1], key=single.__getitem__)[:BLENDED]]
    shares = np.linspace(0.0, 1.0, SHARES[decisions.movable]).tolist()
    tried = [
        (*decisions.best((1.0 - share) * values[i] + share * values[j]), i, j, share)
        for i, j in combinations_with_replacement(numbers, 2)
        for share in shares[: 1 if i == j else None]
    ]
    for _, cut, i, j, share in sorted((t for t in tried if t[0] < np.inf), key=itemgetter(0)):
        output = blend(fits[i].runs[0].outputs[0], fits[j].runs[0].outputs[0], share)
        f = _of_size(problem, output, 1.0, -cut).values(rows)
        if decisions.obeyed(f):
            break
    else:
        return None
    if not decisions.movable:
        return _as_runs(problem, fits[j], output)
    scales = [(size, -size * cut) for size in SIZES]
    if (f > 0).all() or not (f > 0).any():  # a constant is as good
        scales = [(0.0, float(np.sign(f[0])) * size) for size in SIZES]
        fits[j] = replace(fits[j], prices={}, multipliers=None)  # it is no optimum at any prices
    each = [_as_runs(problem, fits[j], _of_size(problem, output, *scale)) for scale in scales]
    obeying = [
        one
        for one in each[1:]
        if _beyond(problem, one) <= OBEYED and decisions.obeyed(one[0].outputs[0].values(rows))
    ]
    best = min([each[0], *obeying], key=lambda one: problem.value(one[0].outputs[0]))
    return _as_runs(problem, fits[j], best[0].outputs[0])


def _nearest(
    problem: ConstrainedProblem, decisions: _Decisions, fits: list[_Fit], called: str
) -> list[FittedRun]:
    """The fit whose rates are the nearest to their limits, with a warning."""
    nearest = min(fits, key=lambda fit: _excess(_rates(problem, fit.runs)))
    words = ", ".join(
        f"{part}: {rate:.4f}, limit {limit:g}"
        for (_, part), (rate, limit) in _rates(problem, nearest.runs).items()
    )
    warn_caller(
        f"{called}: after {len(fits)} fits the rates on the training rows are not within their "
        f"limits ({words}): allow more, or limit the score{see('constraints')}",
        ConvergenceWarning,
    )
    return _as_runs(problem, nearest, nearest.runs[0].outputs[0])


def _as_runs(problem: ConstrainedProblem, fit: _Fit, output: FittedOutput) -> list[FittedRun]:
    """The runs of a fit with another model."""
    problem.rate_prices, problem.multipliers = fit.prices, fit.multipliers
    return [replace(fit.runs[0], outputs=[output])]


def _of_size(
    problem: ConstrainedProblem, output: FittedOutput, size: float, offset: float
) -> FittedOutput:
    """size·f + offset; without a free offset that is the coefficient of the constant stump."""
    coef, intercept = output.path[-1]
    if problem.free_offset or not offset:
        path = [*output.path[:-1], (size * coef, size * intercept + offset)]
        return replace(output, path=path)
    constant = Stump(CONSTANT_STUMP, -np.inf)
    twice = [(np.full(1, 2.0 * offset), 0.0)]
    unit = FittedOutput([constant], np.array(["stump"]), twice, output.sizes)
    path = [*output.path[:-1], (2.0 * size * coef, 2.0 * size * intercept)]
    return blend(unit, replace(output, path=path), 0.5)


def _excess(rates: dict[tuple[int, str], tuple[float, float]]) -> float:
    """The largest rate, relative to its limit."""
    return max(abs(rate) / max(limit, 1e-12) for rate, limit in rates.values())


def _identity(hypothesis: Any) -> Any:
    """What tells whether two models have a basis function in common."""
    known = isinstance(hypothesis, (Stump, HingeFunction, Feature))
    return hypothesis if known else id(hypothesis)


def blend(first: FittedOutput, second: FittedOutput, share: float) -> FittedOutput:
    """(1 − share)·first + share·second, with the stages of the second before the last one."""
    hypotheses, strata = list(second.hypotheses), second.strata.tolist()
    places = {_identity(h): place for place, h in enumerate(hypotheses)}
    coef = np.append(share * second.coef, np.zeros(len(first.coef)))
    for h, stratum, value in zip(first.hypotheses, first.strata, first.coef, strict=False):
        place = places.setdefault(_identity(h), len(hypotheses))
        if place == len(hypotheses):
            hypotheses.append(h)
            strata.append(str(stratum))
        coef[place] += (1.0 - share) * value
    intercept = (1.0 - share) * first.intercept + share * second.intercept
    path = [*second.path[:-1], (coef[: len(hypotheses)], intercept)]
    return FittedOutput(hypotheses, np.array(strata, dtype=str), path, second.sizes)


def _rates(
    problem: ConstrainedProblem, runs: list[FittedRun]
) -> dict[tuple[int, str], tuple[float, float]]:
    """Every rate that is limited, and its limit."""
    return _rates_of(problem, runs[0].outputs[0].values(problem.rows.X))


def _rates_of(
    problem: ConstrainedProblem, output: Vector
) -> dict[tuple[int, str], tuple[float, float]]:
    """The rates of an output on the training rows."""
    seen = MeasuredModel(
        output,
        problem.target,
        problem.weights,
        problem.groups,
        problem.cost,
        problem.features,
        {},
    )
    return {
        (number, measure.part): (measure.value, measure.limit)
        for number, constraint in enumerate(problem.constraints)
        if constraint.of_rates
        for measure in constraint.measured(seen)
    }
