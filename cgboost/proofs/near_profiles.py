"""The ends of linear values, where the profile of the objective meets the level.

    g(θ) = min P(a, b)  over  v(a, b) = θ

is convex, and the end is the largest θ with g(θ) ≤ V. Its slope s is the multiplier of v = θ, so
that u = r/s and t = 1/s bound the end (:mod:`cgboost.proofs.near_problem`).

At a θ, the kinks of the loss and of |a_j| are rounded about the duals that are known, which move
to those of the answer: no width has to go to 0 (proximal method of multipliers: Rockafellar,
Mathematics of Operations Research 1, 1976). What is left is solved by Newton's method, to which
only the rows near a kink count (Li, Sun, Toh, SIAM Journal on Optimization 28, 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from cgboost.arrays import Vector
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.proofs.near_problem import LEAST_ROOM, NearProblem
from cgboost.proofs.near_search import KnownColumns, RangeEnd, Search
from cgboost.proofs.near_values import Value
from cgboost.tolerances import SMALLEST

LOOSEST_VERTEX = 1e-3
"""Of a sharp loss the last digits are those of a vertex: below this tolerance the simplex is as
fast …"""

ROWS_FOR_A_COLUMN = 20
"""… and where it has fewer rows than this for each column, at an optimum with many kinks: duals
move too slowly there (stumps of continuous features)."""

MOST_LOST = 3
"""After so many ends that were not found the others are left to the next way."""

MOST_THETAS = 60
"""Values of θ that are tried."""

STEPS_AT_ONCE = 3
"""Newton steps until duals and θ are moved."""

CURVED_WIDTH = 0.02
"""Coefficients of curved losses are rounded over this share of what all outputs may move by:
Newton's steps need no help there, and duals come to rest sooner."""

PULL = 2.0
"""A coefficient may move an output by this part of the width while its dual goes from 0 to 1."""

NEAR_KINKS = 1.5
"""Rows that are rounded at first, as a multiple of the coefficients …"""

WIDTH_OF_RESIDUALS = 0.05
"""… over this share of the mean residual at least, since many may be at their kinks."""

WIDER_AT_FIRST = 8.0
"""The first step is one of kinks that are so many times as wide."""

NO_GRADIENT = 1e-2
"""Gradients below this share of the tolerance are 0 …"""

FIRST_TOLERANCE = 0.1
"""… and of this one for the first moves."""

FIRST_MOVES = 6
"""The moves that are the first."""

PRICED_AFTER = 5
"""The move after which columns are priced for the first time: most that are missing are then known,
and later ones would have to begin again."""

BENT_AT_LEAST = 1e-9
"""Added to the Hessian, relative to its largest diagonal entry: some directions do not bend."""

FLAT_ENOUGH = 0.2
"""A step ends where the slope along it is at most this share of what it was."""

MOST_TRIALS = 30
"""Points of a line search."""

FARTHEST = 3.0
"""A move multiplies the distance from the optimum by no more than this."""

LEAST_RISE = 1e-3
"""The rise of the objective counts as at least this share of the room."""


class Profiles:
    """Ends of linear values, one after the other.

    Parameters
    ----------
    problem : NearProblem
    tol : float
        Relative gap.
    """

    def __init__(self, problem: NearProblem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        self._known = KnownColumns(problem)
        self._failures = 0
        merged, best = problem.merged, problem.best
        output = best.output[merged.first]
        self.centre = merged.gathered(problem.response)
        constant = problem.offset != "none"
        self.table = np.ones((len(output), 1 if constant else 0))
        self.free = problem.offset == "free"
        self.start = np.array([best.intercept] if constant else [])
        self.width = self._width(output, len(best.coef) + len(self.start))
        self.bent = problem.merged.rows.bent(self.width)
        self._take(problem.columns, best.coef)

    @staticmethod
    def takes(problem: NearProblem, tol: float) -> bool:
        """Whether the method is one for this problem."""
        low, high = problem.box
        if problem.rows.sharp:
            enough = len(problem.merged.first) >= ROWS_FOR_A_COLUMN * len(problem.columns)
            return tol >= LOOSEST_VERTEX and enough and bool(np.isfinite(high - low).all())
        return tol > 0

    def _width(self, output: Vector, n_columns: int) -> float:
        """Of the output, over which kinks are rounded."""
        problem, rows = self.problem, self.problem.merged.rows
        if not rows.sharp:  # as far as all outputs together may move
            bends = max(float(rows.curvature(output).sum()), SMALLEST)
            return float(CURVED_WIDTH * np.sqrt(2.0 * problem.room / bends))
        loss = problem.merged.loss
        away = np.abs(np.abs(loss.target - output) - loss.epsilon)
        count = min(len(away) - 1, int(NEAR_KINKS * n_columns))
        near = 2.0 * float(np.partition(away, count)[count])
        return max(near, WIDTH_OF_RESIDUALS * float(away.mean())) or 1.0

    def _take(self, columns: Sequence[Column], coef: Vector) -> None:
        """Columns that are there from the start."""
        values = self.problem.merged.values(columns)
        self.table = np.column_stack([self.table, values.T])
        self.start = np.append(self.start, coef)

    def end(self, value: Value, sign: float) -> RangeEnd:
        """The largest value times a sign.

        Raises
        ------
        MasterError
            If its bound is not near enough to what is attained.
        """
        if self._failures >= MOST_LOST:
            raise MasterError("other profiles have not met the level")
        search = Search(self.problem, value, sign, self.tol)
        profile = Profile(self, search, self._known.columns)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            profile.run()
        if often := self._known.after(profile.columns):
            self._take(often, np.zeros(len(often)))
        if not search.ended:
            self._failures += 1
            raise MasterError("the profile does not meet the level")
        return search.end


@dataclass(frozen=True, eq=False)
class Point:
    """Coefficients with their output, the objective, and the value."""

    z: Vector
    output: Vector
    objective: float
    value: float


class Profile:
    """The profile of one value.

    Parameters
    ----------
    profiles : Profiles
    search : Search
    columns : sequence of Column
        Those to begin with.
    """

    def __init__(self, profiles: Profiles, search: Search, columns: Sequence[Column]) -> None:
        self.profiles, self.search = profiles, search
        self.problem = problem = search.problem
        self.rows, self.bent = problem.merged.rows, profiles.bent
        self.columns, self.table = list(columns), profiles.table
        self._n_other = len(profiles.start) - len(self.columns)
        self.z, self.centre = profiles.start, profiles.centre
        offset = search.sign * search.value.offset
        self.worth = np.append(np.full(self._n_other, offset), self.search.worth_of(self.columns))
        self._limits()
        self.duals = np.clip(self.table.T @ self.centre, self.low, self.high)
        if not self.worth.any():
            self._enter(list(search.price(0.0, problem.response, self.columns)))
        if not self.worth.any():
            raise MasterError("no coefficient has any of the value")
        self.best = self._point(self.z)
        self.room = problem.set_level - self.best.objective
        if not self.room > LEAST_ROOM * problem.set_level:
            raise MasterError("there is no room")
        self.inside = self.best

    def _limits(self) -> None:
        """Where the duals of coefficients end, and how fast they move with them."""
        n = len(self.z)
        self.low, self.high = np.full(n, -1.0 if self.problem.two_sided else -np.inf), np.ones(n)
        sizes = np.sqrt(np.einsum("ij,ij->j", self.table, self.table) / len(self.table))
        self.pull = PULL * sizes / self.profiles.width
        if self._n_other:
            self.low[0] = -1.0
            if self.profiles.free:
                self.low[0] = self.high[0] = self.pull[0] = 0.0

    def _enter(self, new: Sequence[Column]) -> None:
        """New columns, with coefficients of 0."""
        if not new:
            return
        values = self.problem.merged.values(new)
        self.columns += new
        self.table = np.column_stack([self.table, values.T])
        self.z = np.append(self.z, np.zeros(len(new)))
        self.worth = np.append(self.worth, self.search.worth_of(new))
        self._limits()
        scores = np.append(self.duals, values @ self.centre)
        self.duals = np.clip(scores, self.low, self.high)

    def _point(self, z: Vector) -> Point:
        """A model; coefficients that may not be negative are at least 0."""
        if not self.problem.two_sided:
            z = np.append(z[: self._n_other], np.maximum(z[self._n_other :], 0.0))
        output = self.table @ z
        size = float(np.abs(z[1:] if self.profiles.free else z).sum())
        objective = float(self.rows.values(output).sum()) + size
        return Point(z, output, objective, float(self.worth @ z))

    def run(self) -> None:
        """From the optimum to the end."""
        self._leave()
        for move in range(MOST_THETAS):
            response, slope, missed = self._newton(FIRST_TOLERANCE if move < FIRST_MOVES else 1.0)
            point = self._point(self.z)
            self._take_inside(point)
            if not np.isfinite(point.objective):
                return
            if slope <= 0:
                continue
            gain = float(self.rows.gains(response).sum())
            bound = (self.problem.set_level * (1.0 + missed) - gain) / slope
            tol, start = self.profiles.tol, self.best.value
            gained = self.inside.value - start
            wanted = tol * max(abs(self.search.start), gained)
            found = bound - self.inside.value <= wanted
            if (found or move == PRICED_AFTER) and self._proven(slope, response):
                return
            self._move(point, slope)

    def _take_inside(self, point: Point) -> None:
        """The last model on the way from the optimum that is convex to be within the level."""
        rise = point.objective - self.best.objective
        share = min(1.0, self.room / rise) if rise > 0 else 1.0
        value = self.best.value + share * (point.value - self.best.value)
        if np.isfinite(rise) and value > self.inside.value:
            start = np.append(self.best.z, np.zeros(len(point.z) - len(self.best.z)))
            self.inside = Point(start + share * (point.z - start), point.output, 0.0, value)

    def _proven(self, slope: float, response: Vector) -> bool:
        """Price all columns, and take in what is missing; whether the end is found."""
        search, problem, z = self.search, self.problem, self.inside.z
        coef = z[self._n_other :]
        intercept = float(z[0]) if self._n_other else 0.0
        output = (self.table[:, : len(z)] @ z)[problem.merged.groups]
        model = problem.between(
            problem.best, problem.model(coef, intercept, output), problem.set_level
        )
        search.attained = max(search.attained, search.of(self.columns, model))
        spread = problem.merged.spread(response)
        self._enter(list(search.price(1.0 / slope, spread, self.columns)))
        return search.ended

    # ------------------------------------------------------------------ from one θ to the next

    def _leave(self) -> None:
        """Along a step of Newton's to about the level, where kinks are rounded more widely."""
        _, bent = self.rows.rounded(self.best.output, WIDER_AT_FIRST * self.bent, self.centre)
        step = self._solved(bent, self._flat(), self.worth[:, None])[:, 0]
        step *= np.sqrt(2.0 * self.room / (self.worth @ step))
        start = self.z
        for _ in range(MOST_TRIALS):
            self.z = start + step
            rise = (self._point(self.z).objective - self.best.objective) / self.room
            if 0.5 <= rise <= 1.0:
                return
            share = (1.0 / max(rise, LEAST_RISE)) ** 0.5 if np.isfinite(rise) else 0.0
            step *= min(max(0.9 * share, 0.1), FARTHEST)

    def _move(self, point: Point, slope: float) -> None:
        """To the θ at which a power of the distance from the optimum meets the level."""
        rise, away = point.objective - self.best.objective, point.value - self.best.value
        power = max(1.0, slope * away / rise) if rise > 0 else 2.0
        factor = (self.room / max(rise, LEAST_RISE * self.room)) ** (1.0 / power)
        factor = min(max(factor, 1.0 / FARTHEST), FARTHEST)
        least = (self.inside.value - self.best.value) / away if away > 0 else factor
        start = np.append(self.best.z, np.zeros(len(self.z) - len(self.best.z)))
        self.z = start + max(factor, least) * (self.z - start)

    # ------------------------------------------------------------------ at one θ

    def _flat(self) -> Vector:
        """How coefficients near 0 bend."""
        raw = self.duals + self.pull * self.z
        return np.where((raw > self.low) & (raw < self.high), self.pull, 0.0)

    def _solved(self, bent: Vector, flat: Vector, right: Vector) -> Vector:
        """Newton's equations for some right sides."""
        counts = np.flatnonzero(bent)
        table = self.table[counts] if len(counts) < len(bent) else self.table
        hessian = (table.T * bent[counts]) @ table
        hessian.flat[:: len(hessian) + 1] += flat
        ridge = BENT_AT_LEAST * max(float(hessian.diagonal().max()), float(self.pull.max()))
        hessian.flat[:: len(hessian) + 1] += ridge
        _, found, info = lapack.dposv(hessian, right)
        if info or not np.isfinite(found).all():
            raise MasterError("Newton's equations have no solution")
        return np.asarray(found)

    def _newton(self, ease: float) -> tuple[Vector, float, float]:
        """Response, slope of the profile, and what the response misses of its columns."""
        small = NO_GRADIENT * max(self.profiles.tol, FIRST_TOLERANCE if ease < 1.0 else 0.0)
        output = self.table @ self.z
        for step in range(STEPS_AT_ONCE + 1):
            response, bent = self.rows.rounded(output, self.bent, self.centre)
            duals = np.clip(self.duals + self.pull * self.z, self.low, self.high)
            gradient = duals - self.table.T @ response
            slope = float(gradient @ self.worth) / float(self.worth @ self.worth)
            missed = float(np.abs(gradient - slope * self.worth).max())
            if missed <= small or step == STEPS_AT_ONCE:
                break
            right = np.column_stack([-gradient, self.worth])
            first, second = self._solved(bent, self._flat(), right).T
            way = first - float(self.worth @ first) / float(self.worth @ second) * second
            output = self._search_line(output, way, float(gradient @ way))
        self.centre, self.duals = response, duals
        return response, slope, missed

    def _search_line(self, output: Vector, way: Vector, falls: float) -> Vector:
        """Go along the way to where the rounded objective is about flat."""
        across = self.table @ way

        def slope(share: float) -> float:
            response, _ = self.rows.rounded(output + share * across, self.bent, self.centre)
            duals = np.clip(self.duals + self.pull * (self.z + share * way), self.low, self.high)
            return float(duals @ way - response @ across)

        low, high, at_low, at_high = 0.0, 1.0, falls, slope(1.0)
        share, last = 1.0, 0
        found = at_high
        for _ in range(MOST_TRIALS):
            if abs(found) <= FLAT_ENOUGH * abs(falls) or (share == 1.0 and found < 0):
                break
            finite = np.isfinite(at_high)
            share = high - at_high * (high - low) / (at_high - at_low) if finite else 0.5 * high
            found = slope(share)
            side = 1 if not found <= 0 else -1
            if side > 0:
                high, at_high = share, found
                at_low *= 0.5 if last > 0 else 1.0
            else:
                low, at_low = share, found
                at_high *= 0.5 if last < 0 else 1.0
            last = side
        self.z = self.z + share * way
        return output + share * across
