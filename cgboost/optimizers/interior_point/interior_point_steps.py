"""Newton steps of the interior-point method.

An interior point method for the restricted dual of the 1-norm and the elastic net, warm-started.

    max  linear·u − ½Σ curvature·u² − ½Σ softness·α²
    s + softness·α = Hᵀr + constant,  r = Σ sign·u,  0 ≤ u ≤ upper,  |s| ≤ limit

or s ≤ limit where α ≥ 0. A column of limit 0, as the free offset, has s = 0. Without softness, as
under the 1-norm, s is the whole score; with it, α = (score − s)/softness costs ½φ(score)²/softness,
where φ(score) = sign(score)·(|score| − limit)₊. The multipliers of s + … are the coefficients α.

Mehrotra's predictor and corrector steps on

    linear − sign·(Hα) − curvature·u + z₀ − z₁ = 0      z₀u = z₁(upper − u) = μ
    α = w₁ − w₀                                       w₀(limit + s) = w₁(limit − s) = μ

Generated columns are dense and much fewer than the rows, so that a step solves the small dense
system (HᵀWH + D)Δα = … of ``normal_equations.py``, where D includes the softness. A simplex basis
would be as dense, but costs a factorisation for every few pivots. Duals that are central and not a
vertex make better columns, too: the restricted problem need only be solved to a fraction of the gap
that the last columns have opened (Gondzio, González-Brevis, Munari, *Large-scale optimization with
the primal-dual column generation method*, Math. Prog. Comp. 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.optimizers.live_dual import BoxedDual
from cgboost.tolerances import SMALLEST

TO_THE_BOUNDARY = 0.995
"""Share of the way to the nearest limit that a step goes at most."""

SHORT = 0.1
"""A corrected step shorter than this is compared with one that only centres."""

CENTRING = 0.3
"""A step that only centres aims at this share of the mean product."""

LEAST_DISTANCE = 1e-14
"""Distances from a limit count as no less than this share of it: rounding may leave of them 0."""

CORRECTORS = 2
"""Centrality correctors in one step, which cost a fraction of a factorisation."""

LONG = 0.9
"""Centrality correctors are tried where a step is shorter than this."""

FURTHER = 0.3
"""They are to go this much further."""

LEAST_GAIN = 0.1
"""They are kept if they lead this share of `FURTHER` further."""

OUTLIER = 0.1
"""A product off the mean by this factor is to be corrected."""

LEAST_STEP = 1e-8
"""Steps shorter than this get nowhere. A hundred of them, the most of a solve, would move nothing
by more than a millionth."""

FAR = 0.9
"""Scores start at this share of their limit at most."""

RECENTRING_SHARE = 0.3
"""Recentring moves a variable by at most this share of its range."""


@dataclass
class Iterate:
    """A point with everything positive that must be: u, upper − u, z; limit ± s, w.

    Attributes
    ----------
    u, low, high : ndarray of shape (n_variables,)
        Variable values and the multipliers of u ≥ 0 and u ≤ upper.
    coef, s, below, above : ndarray of shape (n_columns,)
        α, s (not the whole score where there is softness) and the multipliers of s ≥ −limit and
        s ≤ limit (0 where there is no such limit).
    """

    u: Vector
    low: Vector
    high: Vector
    coef: Vector
    s: Vector
    below: Vector
    above: Vector

    def slacks(self, data: BoxedDual) -> tuple[Vector, Vector, Vector, Vector]:
        """Distances from the four limits; 1 where there is none."""
        limited = data.limit > 0
        closest = LEAST_DISTANCE * data.limit
        under = np.where(limited & data.two_sided, np.maximum(data.limit + self.s, closest), 1.0)
        over = np.where(limited, np.maximum(data.limit - self.s, closest), 1.0)
        return self.u, np.maximum(data.upper - self.u, LEAST_DISTANCE * data.upper), under, over

    @property
    def duals(self) -> tuple[Vector, Vector, Vector, Vector]:
        """The multipliers of the four limits."""
        return self.low, self.high, self.below, self.above

    def shrink(self, data: BoxedDual) -> None:
        """Shrink r as a whole until every score is inside its limit; r = 0 is feasible."""
        s, beyond = data.scores(self.u), data.softness * self.coef
        limited = data.limit > 0
        within = s - beyond
        size = np.where(data.two_sided, np.abs(within), within)[limited] / data.limit[limited]
        if (most := float(np.max(size, initial=0.0))) > FAR:
            self.u = data.neutral + (self.u - data.neutral) * (FAR / most)
            self.s = inside_limits(data, s * (FAR / most) - beyond)

    def recentre(self, data: BoxedDual, mu: float) -> None:
        """Raise every product of a slack and its multiplier to ``mu``.

        The smaller of the two is raised, relative to its range. That opens residuals, which full
        steps close again; a point near the boundary would allow no full step.
        """
        from_low, from_high = self.slacks(data)[:2]
        self.u = self.u + _away_from_limits(from_low, from_high, *self.duals[:2], data.upper, mu)
        from_low, from_high = self.slacks(data)[:2]
        self.low, self.high = (
            np.maximum(self.low, mu / from_low),
            np.maximum(self.high, mu / from_high),
        )
        above, below = data.limit > 0, (data.limit > 0) & data.two_sided
        under, over = self.slacks(data)[2:]
        move = _away_from_limits(under, over, self.below, self.above, 2.0 * data.limit, mu)
        self.s = self.s + np.where(above, move, 0.0)
        under, over = self.slacks(data)[2:]
        self.below = np.where(below, np.maximum(self.below, mu / under), 0.0)
        self.above = np.where(above, np.maximum(self.above, mu / over), 0.0)


def inside_limits(data: BoxedDual, s: Vector) -> Vector:
    """Scores to start from, well inside their limits; 0 where there is none."""
    return np.clip(s, -FAR * data.limit, FAR * data.limit)


def _away_from_limits(
    from_low: Vector, from_high: Vector, low: Vector, high: Vector, width: Vector, mu: float
) -> Vector:
    """Moves that bring each product of a small slack and a large multiplier up to ``mu``."""
    move = np.zeros(len(width))
    up = (from_low * low < mu) & (low * width > from_low)
    move[up] = np.minimum(mu / low[up], RECENTRING_SHARE * width[up]) - from_low[up]
    down = (from_high * high < mu) & (high * width > from_high)
    move[down] -= np.minimum(mu / high[down], RECENTRING_SHARE * width[down]) - from_high[down]
    return move


class InteriorDirection(NamedTuple):
    """A direction: changes of α, s, slacks and multipliers, and how far it may be followed.

    The first length is that of α and the multipliers, the second that of the slacks.
    """

    coef: Vector
    s: Vector
    g: Vector
    z: Vector
    lengths: tuple[float, float]


class Descent:
    """Predictor and corrector steps from an iterate, which :meth:`write` moves.

    The four limits lie side by side: slacks g = (u, upper − u, limit + s, limit − s), multipliers
    z = (z₀, z₁, w₀, w₁), so that an operation on all of them is one call. A step of a problem of a
    few hundred rows and columns would otherwise be the overhead of calls for the most part.

    Attributes
    ----------
    gap : float
        Σ gz, and what the residuals are worth in the objective.
    objective : float
        Primal objective.
    """

    def __init__(self, data: BoxedDual, at: Iterate) -> None:
        self.data, self._at = data, at
        n, m = len(at.u), len(at.coef)
        self._sides = slice(0, n), slice(n, 2 * n), slice(2 * n, 2 * n + m), slice(2 * n + m, None)
        self._u, self._coef, self._s = at.u.copy(), at.coef.copy(), at.s.copy()
        self._z = np.concatenate(at.duals)
        limited = data.limit > 0
        below = limited & data.two_sided
        self._free = np.flatnonzero(~limited)
        self._below, self._above = below.astype(np.float64), limited.astype(np.float64)
        there = np.concatenate([np.ones(2 * n, dtype=bool), below, limited])
        self._absent = None if there.all() else ~there
        self._there = there.astype(np.float64)
        self._count = max(1, int(np.count_nonzero(there)))
        closest = LEAST_DISTANCE * data.limit
        self._closest = np.concatenate([np.zeros(n), LEAST_DISTANCE * data.upper, closest, closest])
        self._g, self._bends = np.empty(len(there)), np.empty(len(there))
        self._curved = bool(data.curvature.any())
        self._strict = data.refined and bool(limited.any())
        self._soft, self._hard = data.softness > 0, data.softness == 0
        self._tied = self._curved or bool(self._soft.any())
        self._equations = data.equations()
        self._measure()
        self.mark()

    def mark(self) -> None:
        """Keep this point in mind."""
        self._marked = self._u, self._coef, self._s, self._z

    def return_to_mark(self) -> None:
        """Go back to the point kept in mind, to be written; no step may follow."""
        self._u, self._coef, self._s, self._z = self._marked

    def write(self) -> None:
        """Move the iterate to where the steps have led."""
        at = self._at
        at.u, at.coef, at.s = self._u, self._coef, self._s
        at.low, at.high, at.below, at.above = (self._z[side] for side in self._sides)

    def _measure(self) -> None:
        """Slacks, residuals and what they are worth, at the present point."""
        data, g, z = self.data, self._g, self._z
        first, second, third, fourth = self._sides
        g[first] = self._u
        np.subtract(data.upper, self._u, out=g[second])
        np.add(data.limit, self._s, out=g[third])
        np.subtract(data.limit, self._s, out=g[fourth])
        np.maximum(g, self._closest, out=g)
        if self._absent is not None:
            g[self._absent] = 1.0
        rate = data.rate(self._coef)
        self._slope = rate - data.curvature * self._u if self._curved else rate
        self._side_residual = self._slope + z[first] - z[second]
        self._coef_residual = self._coef + z[third] - z[fourth]
        self._score_residual = missed = data.softness * self._coef + self._s - data.scores(self._u)
        self._total = float(g @ z)
        infeasibility = abs(self._coef[self._hard] @ missed[self._hard])
        infeasibility += abs(self._u @ self._side_residual)
        infeasibility += 0.5 * (missed[self._soft] ** 2 / data.softness[self._soft]).sum()
        self.gap = self._total + float(infeasibility)
        self.objective = data.objective(self._coef, rate)
        if self._strict:  # scores a little above limits near 0 count for nothing in the sums above
            self.gap = max(self.gap, self.objective - data.bound(self._u))

    def step(self) -> bool:
        """Take one step; False if it led nowhere."""
        data, z, total = self.data, self._z, self._total
        first, second, third, fourth = self._sides
        self._inverse = 1.0 / self._g
        self._ratio = ratio = z * self._inverse
        weights = ratio[first] + ratio[second]
        if self._curved:
            weights += data.curvature
        self._weights = np.reciprocal(weights, out=weights)
        stiffness = ratio[third] + ratio[fourth]
        stiffness[self._free] = np.inf
        self._give = 1.0 / stiffness
        self._equations.factor(data.weights_by_row(weights), self._give + data.softness)
        # the predictor, to products of 0: their changes over g are −z
        affine = self._direction(self._slope, self._give * self._coef)[2]
        share = affine * self._inverse
        slowest, fastest = float(share.min(initial=0.0)), float(share.max(initial=0.0))
        dual = min(1.0, -1.0 / slowest) if slowest < 0 else 1.0
        primal = 1.0 / (1.0 + fastest)
        if self._tied:
            primal = dual = min(primal, dual)
        targets = np.multiply(ratio, affine, out=self._bends)
        targets += z
        targets *= affine  # −Δg·Δz
        products, bent = float(z @ affine), float(targets.sum())
        left = total - primal * (total + products) + dual * products - primal * dual * bent
        mean = total / self._count
        centre = mean * max(0.0, left / total) ** 3 if total > 0 else 0.0
        targets += centre
        move = self._corrected(targets)
        if min(move.lengths) < SHORT:  # the correction has led astray
            plain = self._corrected(np.full(len(targets), CENTRING * mean))
            move = max(move, plain, key=lambda one: min(one.lengths))
        else:
            move = self._centred(move, targets, centre)
        return self._go(move)

    def _go(self, move: InteriorDirection) -> bool:
        primal, dual = move.lengths
        if not np.isfinite(move.coef.sum() + move.g.sum() + move.z.sum()):
            return False
        self._coef = self._coef + primal * move.coef
        self._u = self._u + dual * move.g[self._sides[0]]
        self._s = self._s + dual * move.s
        self._z = self._z + primal * move.z
        self._measure()
        return max(primal, dual) > LEAST_STEP

    def _centred(
        self, move: InteriorDirection, targets: Vector, centre: float
    ) -> InteriorDirection:
        """The move after correctors of products that a longer step would leave off the centre.

        Gondzio, *Multiple centrality corrections in a primal-dual method for linear programming*,
        Computational Optimization and Applications 6, 1996.
        """
        for _ in range(CORRECTORS):
            if min(move.lengths) > LONG:
                break
            primal, dual = (min(1.0, length + FURTHER) for length in move.lengths)
            products = (self._g + dual * move.g) * (self._z + primal * move.z)
            push = np.clip(products, OUTLIER * centre, centre / OUTLIER)
            push -= products
            np.maximum(push, -centre / OUTLIER, out=push)
            push += targets
            better = self._corrected(push)
            if sum(better.lengths) < sum(move.lengths) + LEAST_GAIN * FURTHER:
                break
            move, targets = better, push
        return move

    def _corrected(self, targets: Vector) -> InteriorDirection:
        """The direction to products of ``targets``, which have what they bend in them."""
        first, second, third, fourth = self._sides
        change = targets * self._inverse
        if self._absent is not None:
            change *= self._there
        change -= self._z
        pull = self._side_residual + change[first]
        pull -= change[second]
        drift = self._coef_residual + change[third]
        drift -= change[fourth]
        drift *= self._give
        coef, s, move = self._direction(pull, drift)
        change -= self._ratio * move
        primal = _length(float((change / np.maximum(self._z, SMALLEST)).min(initial=0.0)))
        dual = _length(float((move * self._inverse).min(initial=0.0)))
        if self._tied:
            primal = dual = min(primal, dual)
        return InteriorDirection(coef, s, move, change, (primal, dual))

    def _direction(self, pull: Vector, drift: Vector) -> tuple[Vector, Vector, Vector]:
        """The Newton direction (Δα, Δs, Δg) for right-hand sides of the rows and columns."""
        data = self.data
        rows = data.by_row(data.sign * (self._weights * pull))
        coef = self._equations.solve(rows @ data.block - drift - self._score_residual)
        u = self._weights * (pull - data.by_variable(data.block @ coef))
        s = self._give * coef + drift
        return coef, s, np.concatenate([u, -u, s * self._below, -s * self._above])


def _length(fastest: float) -> float:
    """The step that goes most of the way to the nearest limit, at most 1."""
    return min(1.0, -TO_THE_BOUNDARY / fastest) if fastest < 0 else 1.0


# ------------------------------------------------------------------ the optimal partition
#
# An iterate has no zeros, only small numbers. What is small compared with the others, and its
# multiplier not, is set to 0 or to its upper end, as much of it as costs no more than an allowance.

SLACK_IMPORTANCE = 0.1
"""A column of less importance than this seems slack."""

CAUTION = (1.0, SLACK_IMPORTANCE, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
"""How small what is set to its end must be, in turn. Of 425 coefficients of an elastic net (hinge
loss, 500 rows and 600 features) 0.01 took away none of 144 that were rounding, and 1e-4 takes 143:
no crossover follows there."""


def importance(data: BoxedDual, at: Iterate) -> Vector:
    """Of every column: far above 1 where it is used, far below where it is slack.

    Of |α| and limit − |s| one is 0 at the optimum; both are measured by their size elsewhere.
    """
    charged = data.limit > 0
    if not at.coef[charged].any():
        return np.ones(len(at.coef))
    share = np.abs(at.coef) * data.limit / (np.abs(at.coef[charged]) @ data.limit[charged])
    slack = 1.0 - np.abs(at.s) / np.where(charged, data.limit, 1.0)
    return np.where(charged, share * np.count_nonzero(charged) / np.maximum(slack, SMALLEST), 1.0)


def few_coefficients(data: BoxedDual, at: Iterate, allowance: float) -> Vector:
    """The coefficients, with those at 0 that will be 0 at the optimum.

    Parameters
    ----------
    allowance : float
        By how much that may raise the objective.
    """
    weight = importance(data, at)
    allowed = data.objective(at.coef, data.rate(at.coef)) + allowance
    for caution in CAUTION:
        coef = np.where(weight < caution, 0.0, at.coef)
        if data.objective(coef, data.rate(coef)) <= allowed:
            return coef
    return at.coef


def variables_at_ends(data: BoxedDual, at: Iterate, allowance: float) -> Vector:
    """The dual variables, with those at 0 or at their upper end that will be there at the optimum.

    Parameters
    ----------
    allowance : float
        How far the bound may then be below the objective.
    """
    if not len(at.u):
        return at.u
    typical = float(np.mean(at.low + at.high))
    least = data.objective(at.coef, data.rate(at.coef)) - allowance
    for caution in CAUTION:
        u = np.where(at.u < caution * at.low / typical * data.upper, 0.0, at.u)
        u = np.where(data.upper - at.u < caution * at.high / typical * data.upper, data.upper, u)
        if data.bound(u) >= least:
            return u
    return at.u


def in_basis(data: BoxedDual, at: Iterate) -> tuple[NDArray[np.bool_], Indices]:
    """The columns in use, and as many variables, those that are most inside their box.

    At a vertex that is not degenerate these are the columns and the variables of the basis.
    """
    used = importance(data, at) >= SLACK_IMPORTANCE
    used[(data.limit == 0) & (data.softness == 0)] = True  # a free offset
    with np.errstate(divide="ignore"):
        room = np.minimum(at.u / at.low, (data.upper - at.u) / at.high) / data.upper
    inside = np.argsort(-room, kind="stable")[: np.count_nonzero(used)]
    return used, np.sort(inside)
