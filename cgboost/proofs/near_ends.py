"""The ends of the values of all models of a set: where a multiplier and a dual point meet them.

    max v  over  P(a, b) ≤ V     =     min over t ≥ 0 of   t V + max (v − t P)

Three ways to t. The profile of the objective (:mod:`cgboost.proofs.near_profiles`) is for curved
losses and for many rows, where three digits are enough. Of a piecewise linear loss max v − tP is
the fit itself with a tilt s = 1/t, and the primal simplex goes from its vertex to that of the next
s, where P crosses V. In general the tangents of the loss are a linear program, with t as the dual
of its budget. All hand u and t to :meth:`~cgboost.proofs.near_problem.NearProblem.bound`, which
prices all columns and proves the end whatever they are, and all have models on the way, which
attain it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.optimizers.linear.tangent_program import TangentProgram
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.simplex.primal_simplex import EndlessFailure, PrimalSimplex
from cgboost.optimizers.solver_options import solver_errors_as_master_errors
from cgboost.proofs.near_problem import Model, NearProblem, side_by_side
from cgboost.proofs.near_profiles import Profiles
from cgboost.proofs.near_search import KnownColumns, RangeEnd, Search
from cgboost.proofs.near_values import Value
from cgboost.tolerances import SMALLEST

MOST_ROUNDS = 300
"""Programs for one end, at most; beyond that its gap says how far it has come."""

INSIDE_BOX = 1e-7
"""A response this share of its box away from both ends is inside."""

MISSED = 0.1
"""Tangents are taken where parts miss more than this share of the tolerance in all."""

NEARLY_FEASIBLE = 1.0
"""Columns are priced as soon as an answer's objective exceeds the level by no more than this share
of the room."""

LARGE_OFFSET = 1e4
"""No offset is larger than so many times the largest target, output and column: one that is means
that there is no end."""

NEARER = 0.1
"""All columns are priced when this share of the distance is left open, then of what that was."""

SAME_VERTEX = 1e-12
"""Vertices whose objectives are that near are one."""

MOST_FAILURES = 30
"""Tilts at which there is no end."""

LONGEST_EDGE = 1e12
"""Models farther away are not looked at."""

BELOW = 1e-9
"""A tilt this share below that of an edge without end has a vertex."""

STEEPER = 8.0
"""A tilt grows or falls by no more than this factor at a time."""

logger = logging.getLogger(__name__)


class Ends:
    """Finds ends, one after the other, with what it has learned from those before.

    Parameters
    ----------
    problem : NearProblem
    tol : float
        Relative gap.
    """

    def __init__(self, problem: NearProblem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        self._profiles = Profiles(problem, tol) if Profiles.takes(problem, tol) else None
        self._tilts = Tilts(problem, tol) if Tilts.takes(problem) else None
        self._latest: Tangents | None = None

    @property
    def _tangents(self) -> Tangents:
        """The program, as the last end left it; a new one after a failure."""
        if self._latest is None or self._latest.failed:
            self._latest = Tangents(self.problem, self.tol)
        return self._latest

    def end(self, value: Value, sign: float) -> RangeEnd:
        """The largest value times a sign."""
        for way in (self._profiles, self._tilts) if value.is_linear else ():
            try:
                if way is not None:
                    return way.end(value, sign)
            except MasterError as failure:
                logger.info("an end is left to the next way: %s", failure)
        tangents = self._tangents
        found = tangents.end(value, sign)
        if not tangents.failed:
            return found
        again = self._tangents.end(value, sign)  # the basis of other ends had lost its digits
        return RangeEnd(max(found.attained, again.attained), min(found.bound, again.bound))


# --------------------------------------------------------------- piecewise linear: the simplex


@dataclass(frozen=True, eq=False)
class Vertex:
    """The optimum with a tilt."""

    tilt: float
    model: Model
    value: float


class Tilts:
    """Ends of piecewise linear losses, by the vertices of tilted problems.

    Training rows with the same features and the same target are one row here.

    Parameters
    ----------
    problem : NearProblem
    tol : float
    """

    def __init__(self, problem: NearProblem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        self._known = KnownColumns(problem)
        self._tilt: float | None = None
        self._base: PrimalSimplex | None = None
        self.merged = problem.merged

    @staticmethod
    def takes(problem: NearProblem) -> bool:
        """Whether the simplex is for the problem."""
        return PrimalSimplex.takes(problem.loss, problem.master.form)

    def branch(self) -> PrimalSimplex:
        """A copy of the simplex at the optimum."""
        if self._base is None:
            best, columns = self.problem.best, self._known.columns
            self._base = PrimalSimplex(self.merged.loss, self.problem.master.form)
            self._base.add(self.merged.values(columns))
            coef = np.zeros(len(columns))
            coef[: len(best.coef)] = best.coef
            self._base.start_near(coef, best.intercept)
            with solver_errors_as_master_errors():
                self._base.solve(None)
        return self._base.branched()

    def end(self, value: Value, sign: float) -> RangeEnd:
        """The largest value times a sign."""
        search = Search(self.problem, value, sign, self.tol)
        walk = Walk(self, search, list(self._known.columns), self.branch())
        tilt = self._tilt or walk.first_tilt()
        for _ in range(MOST_ROUNDS):
            try:
                with solver_errors_as_master_errors():
                    walk.to(tilt)
            except MasterError as failure:
                walk.too_steep(tilt, failure.__cause__)
            if search.ended or walk.stuck or (walk.priced and search.stalled):
                break
            tilt = walk.next_tilt(tilt)
        if not search.ended:  # there may be no vertex above the level, but a ray
            raise MasterError("tilts do not meet the end")
        self._tilt = tilt
        if self._known.after(walk.columns):
            self._base = None
        return search.end


class Walk:
    """From vertex to vertex, to where the objective crosses the level.

    Parameters
    ----------
    tilts : Tilts
    search : Search
    columns : list of Column
        Those of the simplex.
    simplex : PrimalSimplex
        At the optimum.
    """

    def __init__(
        self, tilts: Tilts, search: Search, columns: list[Column], simplex: PrimalSimplex
    ) -> None:
        self.tilts, self.search, self.columns, self.simplex = tilts, search, columns, simplex
        self._n_first = len(columns)
        problem = search.problem
        self.low = Vertex(0.0, problem.best, search.start)
        self.high: Vertex | None = None
        self._steep, self._failures, self._same = np.inf, 0, False
        self._near, self.priced = NEARER, False
        self._worth = search.worth_of(columns)
        self._offset = 0.0 if problem.offset == "none" else search.sign * search.value.offset

    def first_tilt(self) -> float:
        """One at which what the best model has of the value is worth the room."""
        best = self.search.problem.best
        size = float(np.abs(self._worth[: len(best.coef)]) @ np.abs(best.coef)) + abs(self._offset)
        return self.search.problem.room / (size or float(np.abs(best.coef).sum()) or 1.0)

    @property
    def stuck(self) -> bool:
        """Whether nothing more is to be found."""
        return self._failures > MOST_FAILURES

    def to(self, tilt: float) -> None:
        """The vertex of a tilt; over all columns there are, where it is worth to look for them.

        A pass over all columns may take longer than the way to a vertex. The bound that it would
        give, were no column missing, says when: each time that is much nearer than the last time.
        """
        search, problem = self.search, self.search.problem
        missing, self.priced = self._missing_at_once(tilt), False
        while True:
            if missing:
                self.columns += missing
                self.simplex.add(self.tilts.merged.values(missing))
                self._worth = np.append(self._worth, search.worth_of(missing))
                if self.priced:  # vertices of fewer columns say nothing of those to come
                    self.low, self.high = Vertex(0.0, problem.best, search.start), None
            self.simplex.tilt(tilt * self._worth, tilt * self._offset)
            found = self.simplex.solve(None)
            output = found.output[problem.groups]
            model = problem.model(found.coef, found.intercept, output)
            point = Vertex(tilt, model, search.of(self.columns, model))
            hoped = point.value + (problem.set_level - model.objective) / tilt
            self._take(point)
            if search.open(hoped) > self._near:
                break
            response = self.tilts.merged.spread(found.response)
            missing, self.priced = list(search.price(1.0 / tilt, response, self.columns)), True
            self._near *= NEARER
            if not missing or search.ended:
                break

    def _missing_at_once(self, tilt: float) -> list[Column]:
        """Columns that the value asks for, where none of those here has any of it."""
        if self._worth.any() or self._offset:
            return []
        return list(self.search.price(1.0 / tilt, self.search.problem.response, self.columns))

    def _take(self, point: Vertex) -> None:
        """Take note of a vertex, and of the model between those on both sides of the level."""
        search, problem = self.search, self.search.problem
        known = [own.model.objective for own in (self.low, self.high) if own is not None]
        self._same = any(abs(point.model.objective - own) <= SAME_VERTEX * own for own in known)
        if point.model.objective <= problem.set_level:
            self.low = point
        else:
            self.high = point
        search.attained = max(search.attained, self.low.value)
        if self.high is not None:
            between = problem.between(self.low.model, self.high.model, problem.set_level)
            search.attained = max(search.attained, search.of(self.columns, between))

    def too_steep(self, tilt: float, failure: BaseException | None) -> None:
        """Take note of a tilt at which there is no end, or none that was found.

        Models on an edge without end are beyond the level, and it is known how steep it is. After
        other failures the simplex begins again at the optimum.
        """
        self._steep, self._failures = min(self._steep, tilt), self._failures + 1
        if isinstance(failure, EndlessFailure):
            self._go_along(failure.start, failure.ray)
            return
        self.simplex = self.tilts.branch()
        if new := self.columns[self._n_first :]:
            self.simplex.add(self.tilts.merged.values(new))

    def _go_along(self, start: RestrictedPoint, ray: RestrictedPoint) -> None:
        """The model at the level on the way to the end of an edge, and how steep that is."""
        search, problem = self.search, self.search.problem
        group, step = problem.groups, 1.0
        ends: list[Vertex] = []
        while len(ends) < 2 and step < LONGEST_EDGE:
            model = problem.model(
                start.coef + step * ray.coef,
                start.intercept + step * ray.intercept,
                (start.output + step * ray.output)[group],
            )
            if model.objective > problem.set_level:
                ends.append(Vertex(np.inf, model, search.of(self.columns, model)))
            step *= 8.0
        if len(ends) < 2:
            return
        between = problem.between(self.low.model, ends[0].model, problem.set_level)
        search.attained = max(search.attained, search.of(self.columns, between))
        if (gained := ends[1].value - ends[0].value) > 0:
            steepness = (ends[1].model.objective - ends[0].model.objective) / gained
            self._steep = min(self._steep, steepness)

    def next_tilt(self, last: float) -> float:
        """Where the objective is expected to cross the level.

        It grows about as the square of the tilt. Where that leads to a vertex that is known, the
        tilt at which the two on both sides are equally good finds their edge, or one beyond it.
        """
        problem, low, high = self.search.problem, self.low, self.high
        if last >= self._steep:
            below = (1.0 - BELOW) * self._steep
            return below if below < last and below > low.tilt else 0.5 * (low.tilt + self._steep)
        level, start = problem.set_level, problem.best.objective
        rise = [max(0.0, own - start) ** 0.5 for own in (low.model.objective, level)]
        if high is None:
            factor = rise[1] / rise[0] if rise[0] > 0 else STEEPER
            after = low.tilt * min(factor, STEEPER) if low.tilt > 0 else STEEPER * last
            return float(after if after < self._steep else 0.5 * (low.tilt + self._steep))
        middle = 0.5 * (low.tilt + high.tilt)
        apart = high.value - low.value
        chord = (high.model.objective - low.model.objective) / apart if apart > 0 else middle
        chord = chord if chord > 0 else middle
        top = (high.model.objective - start) ** 0.5
        if self._same or top <= rise[0]:
            return float(chord)
        share = (rise[1] - rise[0]) / (top - rise[0])
        after = low.tilt + share * (high.tilt - low.tilt)
        return float(after if after not in (0.0, last) else chord)


# ------------------------------------------------------------------------ any loss: tangents


class Tangents:
    """Ends of any loss, by a program of its tangents.

    Parameters
    ----------
    problem : NearProblem
    tol : float

    Attributes
    ----------
    failed : bool
        Whether the simplex has given up: what its program says next is of no use.
    """

    def __init__(self, problem: NearProblem, tol: float) -> None:
        self.problem, self.tol, self.failed = problem, tol, False
        self.columns, values = list(problem.columns), problem.values
        best, response = problem.best, problem.response
        target = float(np.abs(best.output).max(initial=1.0))
        largest = float(np.abs(values).max(initial=1.0))
        self._most_offset = LARGE_OFFSET * (target + problem.set_level * largest)
        self._charged = problem.offset == "penalized"
        self.program = TangentProgram(
            len(response),
            problem.room,
            two_sided=problem.two_sided,
            offset=problem.offset == "free",
            most_coef=problem.set_level,
            most_offset=self._most_offset,
        )
        if self._charged:
            values = np.vstack([np.ones(len(response)), values])
        self._enter(values)
        if problem.rows.sharp:  # both sides of the kinks
            low, high = problem.box
            width = np.where(np.isfinite(high - low), high - low, 1.0)
            inside = np.minimum(response - low, high - response) > INSIDE_BOX * width
            for way in (-target, target):
                self._touch(best.output + way, np.flatnonzero(inside))
            return
        bends = max(float(problem.rows.curvature(best.output).sum()), SMALLEST)
        far = float(np.sqrt(2.0 * problem.room / bends))  # where outputs together use up the room
        for way in (-2.0, -1.0, 1.0, 2.0):
            # a loss that bends more farther out (e^−yf) may be beyond all numbers there
            there = problem.model(best.coef, best.intercept, best.output + way * far)
            there = problem.between(best, there, problem.set_level + problem.room)
            self._touch(there.output, np.arange(len(response)))

    def _enter(self, values: Vector) -> None:
        """New columns of the program."""
        scores = values @ self.problem.response
        self.program.add_columns(values, np.column_stack([1.0 - scores, 1.0 + scores]))

    def _take(self, new: Sequence[Column]) -> None:
        """Take in columns."""
        if len(new):
            self.columns += new
            self._enter(side_by_side(new, len(self.problem.response)))

    def _touch(self, output: Vector, rows: Indices) -> None:
        """Take in the tangents of some parts at an output."""
        if not len(rows):
            return
        problem = self.problem
        slopes = (problem.response - problem.rows.response(output))[rows]
        constants = problem.parts(output)[rows] - slopes * output[rows]
        self.program.add_tangents(rows, slopes, constants)

    def _refine(self, *outputs: Vector) -> bool:
        """Take in tangents at outputs, of the rows whose parts miss something there."""
        found, problem = False, self.problem
        for output in outputs:
            missed = problem.parts(output) - self.program.parts(output)
            rows = np.flatnonzero(missed > MISSED * self.tol * problem.room / len(missed))
            self._touch(output, rows)
            found = found or len(rows) > 0
        return found

    def end(self, value: Value, sign: float) -> RangeEnd:
        """The largest value times a sign."""
        problem, search = self.problem, Search(self.problem, value, sign, self.tol)
        # without any room: columns of which nothing is here yet, and ends at coefficients of 0
        self._take(search.price(0.0, problem.response, self.columns))
        new: Sequence[Column]
        for _ in range(MOST_ROUNDS):
            try:
                found, multiplier, response = self._optimum(value, sign)
            except MasterError as failure:
                logger.info("an end stays as it is: %s", failure)
                self.failed = True
                return search.end
            inner = problem.between(problem.best, found, problem.set_level)
            search.attained = max(search.attained, search.of(self.columns, inner))
            # far out a curved loss may be beyond all numbers, and its tangents say little
            outer = found
            if not problem.rows.sharp:
                outer = problem.between(problem.best, found, problem.set_level + problem.room)
            refined = self._refine(outer.output, inner.output)
            new, over = (), found.objective - problem.set_level
            priced = over <= NEARLY_FEASIBLE * problem.room or not refined
            if priced:
                new = search.price(multiplier, response, self.columns)
            if search.ended or (priced and search.stalled) or not (refined or len(new)):
                break
            self._take(new)
        self.program.trim()
        if abs(found.intercept) >= (1.0 - INSIDE_BOX) * self._most_offset:
            search.bound = np.inf
        return search.end

    def _optimum(self, value: Value, sign: float) -> tuple[Model, float, Vector]:
        """The program's model, its multiplier t, and u/t."""
        problem, worth, sizes = self.problem, np.zeros(0), np.zeros(0)
        if self.columns:
            worth, sizes = value.worth(self.columns), value.sizes(self.columns)
        if self._charged:
            worth, sizes = np.append(value.offset, worth), np.append(0.0, sizes)
        offset = value.offset if problem.offset == "free" else 0.0
        point = self.program.solve(sign * worth, sign * sizes, sign * offset)
        output = point.coef @ self.program.values + point.intercept
        coef, b = point.coef, point.intercept
        if self._charged:
            coef, b = coef[1:], float(coef[0])
        multiplier = max(point.multiplier, SMALLEST)
        return (
            problem.model(coef, b, output),
            multiplier,
            problem.response - (point.slopes / multiplier),
        )
