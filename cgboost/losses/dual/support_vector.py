"""Losses of support-vector machines, described by their dual.

    loss(f) = max over r in R of  Σ r_i (target_i − f_i) − ε|r_i| − ½ curvature_i r_i²

R is a box ``lower ≤ r ≤ upper``, perhaps with a *mass*: Σ|r| is given, or at most so much. So a
loss is a target, a tube width ε and a set for the pseudo-response r = −∂loss/∂f. Hinge and
ε-insensitive loss are two choices of the box; absolute and quantile loss are two more. The mass is
the dual of a level that the model chooses itself, the margin ρ of ν-classification or the ε of
ν-regression, and the ν of both is the mass as a share of the rows. Curvature smooths: the squared
hinge, Huber. Each end of a row's box has a dual variable u (:class:`BoxVariables`).

With a mass, the loss of a given output is a fractional knapsack, and a pseudo-response is made
feasible by a projection; both are solved exactly by sorting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from cgboost.arrays import Indices, Vector
from cgboost.forks import cached_property
from cgboost.tolerances import LARGEST_COST


def check_labels(labels: Vector) -> None:
    """Labels must be ±1."""
    if not (right := (labels == 1.0) | (labels == -1.0)).all():
        raise ValueError(f"labels must be −1 or 1, got {labels[~right].min()!r}")


def check_costs(target: Vector, costs: Vector) -> None:
    """Costs must be finite, not negative, one a row, and at most 1e300 together.

    Makers of losses call this parameter ``price``.
    """
    if np.shape(costs) != np.shape(target):
        raise ValueError(
            f"price must have one entry a row: shape {np.shape(costs)} for {np.shape(target)}"
        )
    if not np.all((costs >= 0) & np.isfinite(costs)):
        wrong = costs[~((costs >= 0) & np.isfinite(costs))]
        raise ValueError(f"price must be finite and not negative, got {float(wrong[0])!r}")
    if np.sum(costs / LARGEST_COST) > 1.0:
        raise ValueError(
            f"the costs of all rows together must be at most {LARGEST_COST:g}, got up to "
            f"{np.max(costs):g} for each of {len(costs)} rows: choose a smaller C, or a larger "
            "alpha"
        )


def check_epsilon(epsilon: float) -> None:
    """ε must be finite and not negative."""
    if not (isinstance(epsilon, Real) and 0 <= epsilon < np.inf):
        raise ValueError(f"epsilon must be at least 0, got {epsilon!r}")


def check_share(nu: float, costs: Vector) -> None:
    """ν must be in (0, 1], and the costs that it is a share of not be 0 for every row."""
    if not (isinstance(nu, Real) and 0 < nu <= 1):
        raise ValueError(f"nu must be in (0, 1], got {nu!r}")
    if not np.any(costs):
        raise ValueError(f"nu={nu:g} is a share of the costs, which are 0 for all rows")


SAME_SUM = 1e-12
"""Sums of weights that differ by this, relative to the sum of all, are equal.

Rounding leaves about 1e-15; which of two best values is found must not depend on it.
"""


def weighted_quantile(values: Vector, weights: Vector, level: float) -> float:
    """Where the weights of the values, in their order, add up to ``level``; the middle of a gap.

    Parameters
    ----------
    values, weights : ndarray of shape (n,)
        At least one; weights are not negative.
    level : float
        From 0 to the sum of all weights.
    """
    order = np.argsort(values, kind="stable")
    ordered, sums = values[order], np.cumsum(weights[order])
    rounding = SAME_SUM * sums[-1]
    first = min(int(np.searchsorted(sums, level - rounding)), len(ordered) - 1)
    later = min(int(np.searchsorted(sums, level + rounding)), len(ordered) - 1)
    return float(0.5 * (ordered[first] + ordered[later]))


def weighted_median(values: Vector, weights: Vector) -> float:
    """The middle of the values between which Σ w|v − c| is least."""
    return weighted_quantile(values, weights, 0.5 * float(weights.sum()))


def fractional_knapsack(
    rate: Vector,
    upper: Vector,
    curvature: Vector,
    total: float | None = None,
    *,
    at_most: bool = False,
) -> tuple[Vector, float]:
    """Maximise Σ rate·u − ½ Σ curvature·u² over 0 ≤ u ≤ upper with Σu = total, or ≤ total.

    Parameters
    ----------
    rate, upper, curvature : ndarray of shape (n,)
        ``curvature`` is zero or positive throughout.
    total : float or None
        None: the sum is free.
    at_most : bool
        Whether the sum may also be less than ``total``.

    Returns
    -------
    u : ndarray of shape (n,)
    level : float
        The multiplier of the sum: u is at its end where the rate is well above the level, and at 0
        where it is below. 0 where the sum does not matter.
    """
    free = _maximiser(0.0, rate, upper, curvature)
    if total is None or not len(upper) or (at_most and free.sum() <= total):
        return free, 0.0
    if curvature.any():
        slope = 1.0 / curvature
        level = _multiplier(rate * slope, slope, np.zeros(len(upper)), upper, total)
        return _maximiser(level, rate, upper, curvature), level
    order = np.argsort(-rate, kind="stable")
    filled = np.cumsum(upper[order])
    last = min(int(np.searchsorted(filled, total)), len(order) - 1)
    u = np.zeros(len(upper))
    u[order[:last]] = upper[order[:last]]
    u[order[last]] = min(upper[order[last]], total - (filled[last - 1] if last else 0.0))
    return u, float(rate[order[last]])


def project_on_sum(values: Vector, lower: Vector, upper: Vector, total: float) -> Vector:
    """The point nearest to ``values`` with lower ≤ x ≤ upper and Σx = total: clip(values − λ)."""
    level = _multiplier(values, np.ones(len(values)), lower, upper, total)
    return np.clip(values - level, lower, upper)


def _maximiser(level: float, rate: Vector, upper: Vector, curvature: Vector) -> Vector:
    if curvature.any():
        return np.clip((rate - level) / curvature, 0.0, upper)
    return np.where(rate > level, upper, 0.0)


def _multiplier(values: Vector, slope: Vector, lower: Vector, upper: Vector, total: float) -> float:
    """Root λ of the decreasing, piecewise linear Σ clip(values − λ·slope, lower, upper) − total."""

    def residual(level: float) -> float:
        return float(np.clip(values - level * slope, lower, upper).sum()) - total

    breaks = np.concatenate([(values - upper) / slope, (values - lower) / slope])
    breaks = np.sort(breaks[np.isfinite(breaks)])
    ends = breaks[[0, -1]] if breaks.size else np.zeros(2)
    breaks = np.concatenate([[ends[0] - 1.0], breaks, [ends[1] + 1.0]])
    low, high = 0, len(breaks) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if residual(breaks[middle]) > 0 else (low, middle)
    at_low, at_high = residual(breaks[low]), residual(breaks[high])
    if at_low == at_high:
        return float(breaks[low])
    level = float(breaks[low] + (breaks[high] - breaks[low]) * at_low / (at_low - at_high))
    inside = values - level * slope  # a step of Newton's: wide boxes leave the level few digits
    rate = float(slope[(lower < inside) & (inside < upper)].sum())
    return level + residual(level) / rate if rate > 0 else level


ZERO_SUM = 1e-15
"""Σr this small compared with Σ|r| counts as 0. That is the rounding of the sum itself: no
projection does better, and more would weaken bounds with a free offset."""


CONSTANT_FOUND = 1e-6
"""The best constant is found to this share of the range of the targets, to know the size of the
loss there."""


NEAR_KINK = 1e-13
"""A row this near to a kink, relative to the sizes of y and f, may be on either side of it: some
hundred units of rounding, since f is a sum."""


def quadratic_term(cost: Vector) -> Vector:
    """1/cost, the quadratic term of a loss ½ cost e²; 1 where a row costs nothing and has r = 0."""
    return 1.0 / np.where(cost > 0, cost, 1.0)


@dataclass(frozen=True)
class Mass:
    """Σ|r| = amount, or ≤ amount."""

    amount: float
    at_most: bool = False


@dataclass(frozen=True)
class BoxVariables:
    """Dual variables u of the rows' boxes: r = base + Σ sign·u by row, 0 ≤ u ≤ costs.

    The base is the point of the row's box that is nearest to 0, and is 0 for most losses. A row has
    an upper variable if its box reaches above the base, a lower variable if it reaches below. The
    hinge has one variable a row, ε-insensitive loss two; a row of weight zero has none. Quantile
    loss has two, or one from the lower end of the box (``SupportVectorLoss.from_lower``).

    Attributes
    ----------
    base : ndarray of shape (n_rows,)
    row : ndarray of shape (n_variables,)
        Upper variables come first.
    sign : ndarray of shape (n_variables,)
        +1 for upper variables, −1 for lower ones.
    costs, curvature : ndarray of shape (n_variables,)
        A unit of error on this side costs so much: C·w for the hinge.
    target : ndarray of shape (n_variables,)
        The target of each variable's row.
    """

    base: Vector
    row: Indices
    sign: Vector
    costs: Vector
    curvature: Vector
    target: Vector
    epsilon: float

    def __len__(self) -> int:
        return len(self.row)

    def response(self, u: Vector) -> Vector:
        """The pseudo-response r of dual variables u, shape (n_rows,)."""
        n_rows = len(self.base)
        return self.base + np.bincount(self.row, weights=self.sign * u, minlength=n_rows)

    def values(self, response: Vector) -> Vector:
        """The u within their costs nearest to a pseudo-response, shape (n_variables,)."""
        return np.clip(self.sign * (response - self.base)[self.row], 0.0, self.costs)

    def linear(self) -> Vector:
        """What the first unit of each variable adds to the dual objective at f = 0.

        It is the linear term of the restricted dual: all that an optimizer sees of y, but signs.
        """
        return self.sign * self.target - self.epsilon

    def rate(self, output: Vector) -> Vector:
        """What the first unit of each variable adds at output f.

        Without curvature and without a mass, a positive rate wants u = costs, a negative one u = 0.
        """
        return self.sign * (self.target - output[self.row]) - self.epsilon


@dataclass(frozen=True)
class SupportVectorLoss:
    """A convex loss given by the set of its pseudo-responses.

    Attributes
    ----------
    target : ndarray of shape (n_rows,)
        ±1 for the hinge, y for regression, 0 where the margin is a level.
    lower, upper : ndarray of shape (n_rows,)
        The box of the pseudo-response; its ends are the costs of one unit of error, C·w. Where it
        does not contain 0 there may be no ε, curvature or mass.
    epsilon : float
        Half width of the tube inside which errors are free.
    curvature : ndarray of shape (n_rows,) or None
        Of the dual: 1/(w ℓ''), the inverse of that of the loss. Zero everywhere (None) or positive
        everywhere.
    mass : Mass or None
        With an exact mass every row must have one variable.
    level_is_offset : bool
        Whether the level is to be taken for the model's offset (novelty detection).
    from_lower : bool
        Whether a row without a kink at r = 0 has one variable, from the lower end of its box.
    """

    target: Vector
    lower: Vector
    upper: Vector
    epsilon: float = 0.0
    curvature: Vector | None = None
    mass: Mass | None = None
    level_is_offset: bool = False
    from_lower: bool = False

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return len(self.target)

    @property
    def parts(self) -> Sequence[SupportVectorLoss]:
        """The losses of the outputs that its rows belong to, one after the other: itself."""
        return [self]

    @cached_property
    def variables(self) -> BoxVariables:
        """The dual variables."""
        base = np.clip(0.0, self.lower, self.upper)
        if self.from_lower and self.mass is None and self.curvature is None and not self.epsilon:
            base = np.where((self.upper > 0) & np.isfinite(self.lower), self.lower, base)
        above, below = np.flatnonzero(self.upper > base), np.flatnonzero(self.lower < base)
        row = np.concatenate([above, below])
        return BoxVariables(
            base=base,
            row=row,
            sign=np.repeat([1.0, -1.0], [len(above), len(below)]),
            costs=np.concatenate([(self.upper - base)[above], (base - self.lower)[below]]),
            curvature=np.zeros(len(row)) if self.curvature is None else self.curvature[row],
            target=self.target[row],
            epsilon=self.epsilon,
        )

    @property
    def chooses_margin(self) -> bool:
        """Whether it has its own margin: it is then 0 at f = 0 and has no separate scale."""
        return self.mass is not None and not self.mass.at_most

    def in_units(self, unit: float, *, curvature: float) -> Self:
        """The same loss of costs in units of ``unit``, its curvature multiplied."""
        return replace(
            self,
            lower=self.lower / unit,
            upper=self.upper / unit,
            mass=None if self.mass is None else replace(self.mass, amount=self.mass.amount / unit),
            curvature=None if self.curvature is None else self.curvature * curvature,
        )

    def shifted(self, by: float | Vector) -> Self:
        """The loss of targets less ``by``, which has the same value at f − ``by``."""
        return replace(self, target=self.target - by)

    def at_level(self, level: float) -> Self:
        """The loss with its margin or tube fixed, less what the level itself costs.

        A row whose r has one sign has the level in its target, t − sε; of a tube it is the ε.
        """
        up, down = self.lower >= 0, self.upper <= 0
        if not (up | down).all():
            return replace(self, epsilon=self.epsilon + max(0.0, level), mass=None)
        target = self.target - np.where(up, level, -level)
        return replace(self, target=target, mass=None, level_is_offset=False)

    def on_part(self, rows: NDArray[np.intp]) -> Self:
        """The loss of some rows, at costs that make up for those left out.

        Not for losses with a mass.
        """
        share = len(rows) / self.n_rows
        return replace(
            self,
            target=self.target[rows],
            lower=self.lower[rows] / share,
            upper=self.upper[rows] / share,
            curvature=None if self.curvature is None else self.curvature[rows] * share,
        )

    @cached_property
    def shrinks(self) -> bool:
        """Whether t·r is feasible for every feasible r and 0 ≤ t ≤ 1."""
        contains_0 = bool(((self.lower <= 0) & (self.upper >= 0)).all())
        return contains_0 and not self.chooses_margin

    def value(self, output: Vector) -> float:
        """Total loss of the model output f, with the best level."""
        variables, rate = self.variables, self.variables.rate(output)
        u, _ = self._best_variables(rate)
        constant = float(variables.base @ (self.target - output))
        # not curvature @ u**2: of large costs that is 0·∞
        return constant + float(rate @ u) - 0.5 * float((variables.curvature * u) @ u)

    def magnitude(self, output: Vector, response: Vector) -> float:
        """Σ of the sizes of the numbers that the loss is a difference of, at their costs.

        A row costs what it may pull by where f is off by rounding: at a kink all of its cost,
        whatever share of it |r| is.
        """
        size = np.abs(self.target) + np.abs(output) + self.epsilon
        costs = np.abs(response)
        for near in (output - NEAR_KINK * size, output + NEAR_KINK * size):
            u, _ = self._best_variables(self.variables.rate(near))
            costs = np.maximum(costs, np.abs(self.variables.response(u)))
        return float(costs @ size)

    def empty(self, *, offset: bool) -> float:
        """The loss at 0; with an offset, of a constant that is nearly the best one."""
        return self._of_constants if offset else self.value(np.zeros(self.n_rows))

    @cached_property
    def _of_constants(self) -> float:
        nothing = np.zeros(self.n_rows)
        if not self.n_rows:
            return self.value(nothing)
        low, high = float(self.target.min()), float(self.target.max())
        best = minimize_scalar(
            lambda constant: self.value(nothing + constant),
            bounds=(low, high),
            method="bounded",
            options={"xatol": CONSTANT_FOUND * (high - low)},
        )
        return min(float(best.fun), *(self.value(nothing + end) for end in (0.0, low, high)))

    def level(self, output: Vector) -> float:
        """The best level for the model output f: ε, or −ρ; 0 without a mass."""
        return self._best_variables(self.variables.rate(output))[1]

    def slack(self, output: Vector) -> Vector:
        """Slack ξ of every row: how far f is on the side that costs, 0 where it is free."""
        rate = self.variables.rate(output)
        over = np.maximum(rate - self._best_variables(rate)[1], 0.0)
        return np.bincount(self.variables.row, weights=over, minlength=self.n_rows).astype(
            np.float64
        )

    def gain(self, response: Vector) -> float:
        """Dual objective of a feasible pseudo-response, without the penalty's conjugate."""
        return self.linear_gain(response) - 0.5 * self.squared(response)

    def ray_gain(self, response: Vector, quadratic: float) -> float:
        """Maximum of gain(t·r) − ½·t²·quadratic over the feasible t in [0, 1].

        With a margin of the loss's own choice only t = 1 is feasible.
        """
        if not self.shrinks:
            return self.gain(response) - 0.5 * quadratic
        gain, quadratic = self.linear_gain(response), quadratic + self.squared(response)
        if gain <= 0:
            return 0.0
        step = 1.0 if quadratic <= gain else gain / quadratic
        return step * gain - 0.5 * step**2 * quadratic

    def linear_gain(self, response: Vector) -> float:
        """The part Σ target_i r_i − ε|r_i| of the gain."""
        return float(self.target @ response - self.epsilon * np.abs(response).sum())

    def squared(self, response: Vector) -> float:
        """Σ curvature_i r_i², of which the gain loses half."""
        return 0.0 if self.curvature is None else float(self.curvature @ response**2)

    def feasible(self, response: Vector, *, balanced: bool) -> Vector:
        """A pseudo-response near the given one that is feasible (and has Σr = 0 if ``balanced``).

        A bound may only be computed at a feasible dual, and solvers deliver theirs up to a
        tolerance. Without a mass it is the nearest one.
        """
        if self.mass is not None and self.chooses_margin:
            return self._of_exact_mass(response, self.mass.amount, balanced=balanced)
        inside = np.clip(response, self.lower, self.upper)
        if balanced and abs(inside.sum()) > ZERO_SUM * np.abs(inside).sum():
            inside = project_on_sum(response, self.lower, self.upper, 0.0)
        if self.mass is not None and (size := np.abs(inside).sum()) > self.mass.amount:
            inside *= self.mass.amount / size
        return inside

    def _of_exact_mass(self, response: Vector, amount: float, *, balanced: bool) -> Vector:
        variables, u = self.variables, self.variables.values(response)
        parts = (
            [variables.sign > 0, variables.sign < 0]
            if balanced
            else [np.ones(len(variables), dtype=bool)]
        )
        for part in parts:
            nothing = np.zeros(np.count_nonzero(part))
            u[part] = project_on_sum(u[part], nothing, variables.costs[part], amount / len(parts))
        return variables.response(u)

    def _best_variables(self, rate: Vector) -> tuple[Vector, float]:
        variables, mass = self.variables, self.mass
        if mass is None:
            return fractional_knapsack(rate, variables.costs, variables.curvature)
        return fractional_knapsack(
            rate, variables.costs, variables.curvature, mass.amount, at_most=mass.at_most
        )


def one_class(price: Vector, nu: float) -> SupportVectorLoss:
    """Minimum over ρ of Σ price_i·max(0, ρ − f_i) − νPρ, P = Σ price_i; the model is f − ρ.

    At most a share ν of the rows (by price) comes to lie below 0 (Schölkopf et al., Neural
    Computation 13, 2001; with the 1-norm Rätsch et al., IEEE PAMI 24, 2002).
    """
    check_costs(price, price)
    check_share(nu, price)
    n_rows = len(price)
    return SupportVectorLoss(
        target=np.zeros(n_rows),
        lower=np.zeros(n_rows),
        upper=price.copy(),
        mass=Mass(nu * float(price.sum())),
        level_is_offset=True,
    )
