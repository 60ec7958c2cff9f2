"""The fit of a model that obeys: prices that are high enough, and rates met by a search.

A fit is a run of column generation, or a few, each from the columns of the one before:

* While something is beyond its limit the price M of what is beyond is raised, as it may be below
  the multiplier of a limit. Where the highest price does not help, the constraints contradict each
  other, which a run without a loss proves (:mod:`cgboost.estimators.constrained.infeasible`).
* Limits on rates of predictions are prices of positive predictions, which change what rows cost: a
  row of group g costs λ_g/n_g more where it is predicted positive (the cost-sensitive reduction of
  Agarwal, Beygelzimer, Dudík, Langford, Wallach, *A reductions approach to fair classification*,
  ICML 2018). A bracketed secant method moves λ until the rates on the training rows keep to their
  limits, and where they jump over them blends the models on both sides. Every problem on the
  way is certified; that they lead to the best model is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cgboost.estimators.common.fit_loop import FittedOutput, FittedRun
from cgboost.estimators.common.rows import Vector
from cgboost.estimators.constrained.columns import ObeyingStumps
from cgboost.estimators.constrained.data import Seen
from cgboost.estimators.constrained.infeasible import raise_infeasible
from cgboost.estimators.constrained.problem import Problem
from cgboost.exceptions import see, warn_caller
from cgboost.generation.history import StopReason, relative_gap
from cgboost.pricing.constrained.hinges import HingeFunction
from cgboost.pricing.features.features import Feature
from cgboost.pricing.features.stumps import CONSTANT_STUMP, Stump

OBEYED = 1e-6
"""What may be left beyond a limit, relative to it or to 1."""

DEARER = 10.0
"""The price is raised by this factor …"""

HIGHEST_PRICE = 1e5
"""… up to this, relative to the cost of all rows."""

MOST_FITS = 8
"""Fits of a search for one rate at most, before two of them are blended; twice as many for several
rates."""

FIRST_STEP = 0.15
"""The price of rates that is tried first, relative to the cost of all rows. On Adult, 0.13 to 0.16
are wanted."""

FAR_INSIDE = 0.7
"""A rate below this share of its limit may leave room for a better model."""

NARROW = 0.5
"""A bracket of prices this wide, relative to its upper end, is narrow enough for a blend."""

MEAN_PARTS = (0.0, 0.5, 0.25, 0.75)
"""Parts of the mean of all models that the two models of a blend have, in the order of trial."""

TIE_BREAKING = 0.95
"""The share of a model in a blend that only tells rows of the same output apart."""

SHARES = 17
"""Shares of each model that are tried first, evenly spread."""

MOST_SHIFTS = 1000
"""Shifts of an offset that are tried, at quantiles of the output …"""

MOST_CUTS = 5
"""… of those with which rates keep to their limits so many, the smallest ones, …"""

SIZES = (2.0, 1.0, 0.5, 0.25, 0.1)
"""… in models of these sizes, and constants."""

OUT_OF_TIME = (StopReason.TIME, StopReason.INTERRUPTED)
"""Fits that ended with these are not tried again at a higher price."""

BISECTIONS = 20
"""Steps that look for a share between two of these."""

Run = Callable[[], list[FittedRun]]


def obeying_runs(problem: Problem, run: Run, called: str) -> list[FittedRun]:
    """The runs of a fit that keeps to all limits.

    Parameters
    ----------
    problem : Problem
        Its prices are left as they are in the end.
    run : callable
        Runs column generation at the present prices.
    called : str
        Who warns.

    Raises
    ------
    InfeasibleConstraintsError
        If something stays beyond its limit.
    """
    runs = _at_sufficient_price(problem, run)
    if not any(constraint.of_rates for constraint in problem.constraints):
        return runs
    free_bound = runs[0].bound  # of a relaxation: rates have no limits in it
    runs = _with_rates(problem, run, runs, called)
    objective = problem.value(runs[0].outputs[0])
    gap = relative_gap(objective, free_bound)
    history = {name: values.copy() for name, values in runs[0].history.items()}
    history["bound"][:] = history["gap"][:] = np.nan  # on the way to another problem
    for name, value in (("objective", objective), ("bound", free_bound), ("gap", gap)):
        history[name][runs[0].best_round] = np.nan if value is None else value
    found = replace(runs[0], objective=objective, bound=free_bound, gap=gap, history=history)
    return [found]


def _at_sufficient_price(problem: Problem, run: Run) -> list[FittedRun]:
    while True:
        runs = run()
        if not problem.constraints or _beyond(problem, runs) <= OBEYED:
            return runs
        if problem.price >= HIGHEST_PRICE or runs[0].stop_reason in OUT_OF_TIME:
            raise_infeasible(problem, runs, _beyond(problem, runs))
        problem.price *= DEARER


def _beyond(problem: Problem, runs: list[FittedRun]) -> float:
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
class _Search:
    """Where the search for one rate is at.

    ``points`` has the prices so far, with ``sign`` times the rate at each: it falls with the price.
    """

    sign: float
    limit: float
    points: list[tuple[float, float]]

    @property
    def cheap(self) -> tuple[float, float] | None:
        """The highest price at which the rate is above its limit."""
        return max((point for point in self.points if point[1] > self.limit), default=None)

    @property
    def dear(self) -> tuple[float, float] | None:
        """The lowest price at which the rate is below its limit."""
        return min((point for point in self.points if point[1] <= self.limit), default=None)

    def next(self) -> float:
        """The price to try next: a secant step to just below the limit, inside the bracket."""
        aim, dear, cheap = 0.5 * self.limit, self.dear, self.cheap
        if cheap is None:
            assert dear is not None
            return dear[0] - FIRST_STEP
        if dear is None:
            return cheap[0] + FIRST_STEP
        share = (cheap[1] - aim) / (cheap[1] - dear[1])
        return cheap[0] + float(np.clip(share, 0.1, 0.9)) * (dear[0] - cheap[0])

    @property
    def is_narrow(self) -> bool:
        """Whether a blend of the models at both ends will do."""
        if self.cheap is None or self.dear is None:
            return False
        return abs(self.dear[0] - self.cheap[0]) <= NARROW * abs(self.dear[0])


@dataclass(frozen=True)
class _Fit:
    """A fit of the search: its runs, and the prices and multipliers that belong to it."""

    runs: list[FittedRun]
    prices: dict[tuple[int, str], float]
    multipliers: Any


def _with_rates(problem: Problem, run: Run, runs: list[FittedRun], called: str) -> list[FittedRun]:
    """The runs at prices of rates where these are below their limits."""
    searches: dict[tuple[int, str], _Search] = {}
    fits: list[_Fit] = []
    while True:
        fits.append(_Fit(runs, dict(problem.rate_prices), problem.multipliers))
        rates = _rates(problem, runs)
        for place, (rate, limit) in rates.items():
            if place not in searches and abs(rate) > limit:
                searches[place] = _Search(float(np.sign(rate)), limit, [])
            if place in searches:
                search = searches[place]
                price = search.sign * problem.rate_prices.get(place, 0.0)
                search.points.append((price, search.sign * rate))
        if _keeps(rates):
            return _up_to_the_limit(problem, fits, searches, rates)
        last = len(fits) >= MOST_FITS * len(rates)
        if last or all(search.is_narrow for search in searches.values()):
            blended = _blended(problem, fits, searches)
            if blended is not None:
                return blended
        if last:
            break
        for place, search in searches.items():
            problem.rate_prices[place] = search.sign * search.next()
        runs = _at_sufficient_price(problem, run)
    nearest = min(fits, key=lambda fit: _excess(_rates(problem, fit.runs)))
    runs, problem.rate_prices = nearest.runs, nearest.prices
    problem.multipliers = nearest.multipliers
    words = ", ".join(
        f"{part}: {rate:.4f}, limit {limit:g}"
        for (_, part), (rate, limit) in _rates(problem, runs).items()
    )
    moved = _moved(problem, nearest)
    if moved is not None:
        warn_caller(
            f"{called}: after {len(fits)} fits the rates on the training rows were not within "
            f"their limits ({words}); they are for a model of another size and offset, which may "
            f"cost accuracy: allow more, or limit the score{see('constraints')}",
            ConvergenceWarning,
        )
        return moved
    warn_caller(
        f"{called}: after {len(fits)} fits the rates on the training rows are not within their "
        f"limits ({words}): allow more, or limit the score{see('constraints')}",
        ConvergenceWarning,
    )
    return runs


def _up_to_the_limit(
    problem: Problem,
    fits: list[_Fit],
    searches: dict[tuple[int, str], _Search],
    rates: dict[tuple[int, str], tuple[float, float]],
) -> list[FittedRun]:
    """The last fit, which keeps to all limits; or, where its rate is far inside, a better blend.

    Where a rate jumps over its limit from price to price, the next model may pay for more than is
    asked for. One between it and a model beyond the limit costs less.
    """
    fit = fits[-1]
    if not any(abs(rates[place][0]) < FAR_INSIDE * rates[place][1] for place in searches):
        return fit.runs
    blended = _blended(problem, fits, searches)
    if blended is not None:
        better = problem.value(blended[0].outputs[0]) < problem.value(fit.runs[0].outputs[0])
        if better and _beyond(problem, blended) <= OBEYED:
            return blended
    problem.rate_prices, problem.multipliers = fit.prices, fit.multipliers
    return fit.runs


def _moved(problem: Problem, fit: _Fit) -> list[FittedRun] | None:
    """The best of some models t·f + b that keep to all limits; None if none does.

    Beyond the largest output nobody is predicted positive, and all rates are equal: so it is for
    t = 0, too.
    """
    output, tried = fit.runs[0].outputs[0], [(0.0, 0.0)]
    if _has_offset(problem):
        values = output.values(problem.rows.X)
        cuts = [cut for cut in _cuts(values) if _keeps(_rates_of(problem, values - cut))]
        tried += [(size, -size * cut) for cut in cuts[:MOST_CUTS] for size in SIZES]
        tried += [(0.0, sign * size) for sign in (-1.0, 1.0) for size in SIZES]
    models = [_of_size(problem, output, *each) for each in tried]
    for model in sorted(models, key=problem.value):
        runs = _as_runs(problem, fit, model)
        if _keeps(_rates(problem, runs)) and _beyond(problem, runs) <= OBEYED:
            problem.rate_prices, problem.multipliers = {}, None  # it is no optimum at any prices
            return runs
    return None


def _cuts(values: Vector) -> Vector:
    """Values between those of an output, and beyond them; the smallest first."""
    distinct = np.unique(values)
    if len(distinct) > MOST_SHIFTS:
        distinct = np.unique(np.quantile(values, np.linspace(0.0, 1.0, MOST_SHIFTS)))
    ends = distinct[[0, -1]] + np.array([-1.0, 1.0])
    cuts = np.concatenate([ends[:1], 0.5 * (distinct[1:] + distinct[:-1]), ends[1:]])
    nearest: Vector = cuts[np.argsort(np.abs(cuts), kind="stable")]
    return nearest


def _has_offset(problem: Problem) -> bool:
    """Whether a model may have any offset: a free one, or the constant stump."""
    return problem.free_offset or isinstance(problem.family, ObeyingStumps)


def _of_size(problem: Problem, output: FittedOutput, size: float, offset: float) -> FittedOutput:
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


def _keeps(rates: dict[tuple[int, str], tuple[float, float]]) -> bool:
    """Whether all rates are within their limits."""
    return all(abs(rate) <= limit for rate, limit in rates.values())


def _excess(rates: dict[tuple[int, str], tuple[float, float]]) -> float:
    """The largest rate, relative to its limit."""
    return max(abs(rate) / max(limit, 1e-12) for rate, limit in rates.values())


def _blended(
    problem: Problem, fits: list[_Fit], searches: dict[tuple[int, str], _Search]
) -> list[FittedRun] | None:
    """A blend of two models around the limit of a rate; None if no blend keeps to all limits.

    Limits that are convex hold for it, since they hold for both. Outputs are continuous in the
    share of each, so that rates change by few rows at a time; where many rows have the same output
    in both, a part of the mean of all models tells them apart.
    """
    if len(searches) != 1:
        return None
    (place, search) = next(iter(searches.items()))
    outputs = [fit.runs[0].outputs[0] for fit in fits]
    mean = outputs[0]
    for count, output in enumerate(outputs[1:], start=2):
        mean = blend(mean, output, 1.0 / count)
    for part in MEAN_PARTS:
        ends = [blend(output, mean, part) if part else output for output in outputs]
        found = _first_blend(problem, ends, place, search)
        if found is not None:
            return _as_runs(problem, fits[found[1]], found[0])
    for number, output in enumerate(outputs):
        for other in outputs:
            nearby = blend(other, output, TIE_BREAKING)
            shifted = _shifted(problem, nearby, other, place, search)
            if shifted is not None:
                runs = _as_runs(problem, fits[number], shifted)
                if _beyond(problem, runs) <= OBEYED:
                    return runs
    return None


def _as_runs(problem: Problem, fit: _Fit, output: FittedOutput) -> list[FittedRun]:
    """The runs of a fit with another model."""
    problem.rate_prices, problem.multipliers = fit.prices, fit.multipliers
    return [replace(fit.runs[0], outputs=[output])]


def _shifted(
    problem: Problem,
    nearby: FittedOutput,
    other: FittedOutput,
    place: tuple[int, str],
    search: _Search,
) -> FittedOutput | None:
    """A model with a small shift of its offset; None if no shift makes its rates right.

    Of a model that leaves many rows at 0, another one tells these apart in a blend, and the shift
    says where they are divided. It is too small for the other rows to matter.
    """
    if not _has_offset(problem):
        return None
    values = nearby.values(problem.rows.X)
    reach = (1.0 - TIE_BREAKING) * float(np.abs(other.values(problem.rows.X)).max(initial=0.0))
    ends = values - reach, values + reach
    share = _share(problem, *ends, place, search)
    if share is None:
        return None
    return _of_size(problem, nearby, 1.0, (2.0 * share - 1.0) * reach)


def _first_blend(
    problem: Problem, ends: list[FittedOutput], place: tuple[int, str], search: _Search
) -> tuple[FittedOutput, int] | None:
    """A blend of two models, those of near prices first, and the number of the dearer one."""
    values = [end.values(problem.rows.X) for end in ends]
    rates = [search.sign * _rates_of(problem, f)[place][0] for f in values]
    prices = [point[0] for point in search.points]
    pairs = [
        (abs(prices[i] - prices[j]), i, j)
        for i in range(len(ends))
        for j in range(len(ends))
        if rates[i] > search.limit >= rates[j]
    ]
    for _, i, j in sorted(pairs):
        share = _share(problem, values[i], values[j], place, search)
        if share is not None:
            return blend(ends[i], ends[j], share), j
    return None


def _share(
    problem: Problem, first: Vector, second: Vector, place: tuple[int, str], search: _Search
) -> float | None:
    """The share of the second output at which all rates are within their limits.

    Rates need not fall all the way: each place where they cross the limit is looked at.
    """

    def over(share: float) -> bool | None:
        """Whether the rate is above its limit; None if all are within theirs."""
        rates = _rates_of(problem, (1.0 - share) * first + share * second)
        if _keeps(rates):
            return None
        return search.sign * rates[place][0] > search.limit

    shares = np.linspace(0.0, 1.0, SHARES)
    sides = [over(share) for share in shares]
    if None in sides:
        return float(shares[sides.index(None)])
    for left in range(SHARES - 1):
        low, high = float(shares[left]), float(shares[left + 1])
        if sides[left] == sides[left + 1]:
            continue
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            side = over(middle)
            if side is None:
                return middle
            low, high = (middle, high) if side == sides[left] else (low, middle)
    return None


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


def _rates(problem: Problem, runs: list[FittedRun]) -> dict[tuple[int, str], tuple[float, float]]:
    """Every rate that is limited, and its limit."""
    return _rates_of(problem, runs[0].outputs[0].values(problem.rows.X))


def _rates_of(problem: Problem, output: Vector) -> dict[tuple[int, str], tuple[float, float]]:
    """The rates of an output on the training rows."""
    seen = Seen(
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
