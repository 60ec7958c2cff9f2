"""Steps of the cone interior point method: predictor, corrector, and how far they go.

    max  linear·u − ½Σ curvature·u² − ½height²     r = Σ sign·u,  0 ≤ u ≤ costs,  ‖L_gᵀr‖ ≤ τ_g

Every block has a cone (τ, −Lᵀr) and its multiplier (t, y), y a vector of the same space. The heads
τ are all 1; where the penalty is the square of the group norm, they are the variable ``height``. At
the optimum y = ηLᵀr with the weight η = t/τ of the kernel, and the model is f = Σ Ly + b. So

    linear − sign·f − level − curvature·u + z₀ − z₁ = 0     z₀u = z₁(costs − u) = μ
    (τ, −Lᵀr) ∘ (t, y) = (μ, 0)                           height = Σt (its square only)

with Σr = 0 where b is free, for the rows of every output where there are several, and Σu = amount,
or ≤, where the loss has a mass; its multiplier is the level. The Newton equations are those of a
second-order cone program under the scaling of Nesterov and Todd. Heads need not be 1 at the start:
relaxed as they are, any u is inside all cones.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from cgboost.arrays import Vector
from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.cones.cone_blocks import BlockStore
from cgboost.optimizers.cones.cone_equations import CONE_REFINEMENTS, ConeEquations
from cgboost.optimizers.cones.cone_scaling import Cones, ConeVector, NesterovToddScaling
from cgboost.tolerances import SMALLEST

CONE_BOUNDARY = 0.99
"""Share of the way to the nearest boundary that a step goes at most. Cones are curved: the last per
cent of the way costs later steps more than it gains."""


START_INSIDE = 0.5
"""Variables start at this share of their costs."""

LOSING_SHARE = 0.2
"""They start at this share of `START_INSIDE` where they lose from the first unit on, so that r is
not 0 at the start if both ends of every row's box are there."""

RELAXED = 1.2
"""Heads of cones start at this multiple of what r needs. Much more would take steps to come back
from, less would begin too near to the boundary."""

CENTRAL = 10.0
"""Products start at this multiple of the mean linear term: what is far from feasible needs room
before it needs to be small."""

FAR_OUT = 0.25
"""Products are larger by this power of how far r is outside the cones at the start. Features in raw
units, 10⁵ outside, then take 40 steps and not 61."""

LEAST_SHRINKAGE = 1e-2
"""With the squared penalty u is shrunk to the best multiple of it, but no further than this: a u
much nearer to 0 than to its cost is hard to move. At 1e-4 features in raw units next to others
led nowhere; at 1 digits are lost on the way to a small u."""

SMALLER = 0.1
"""Products Kr are evaluated anew where r is at most this share of what it was when they were."""

ALIGNED = 1.0
"""Multipliers are brought into line with r where that opens at most this multiple of the gap."""


@dataclass(frozen=True)
class ConeProblem:
    """The restricted dual of a loss over the blocks of a store.

    Attributes
    ----------
    free_offset : bool
        Whether Σr = 0.
    squared : bool
        Whether the penalty is ½(Σ‖f‖)².
    """

    loss: SupportVectorLoss
    store: BlockStore
    free_offset: bool
    squared: bool

    def by_row(self, values: Vector) -> Vector:
        """Sums over the variables of each row."""
        rows = self.loss.variables.row
        return np.bincount(rows, weights=values, minlength=self.loss.n_rows).astype(np.float64)


@dataclass(frozen=True)
class ConeNumbers:
    """What an iterate is made of, or the changes of it along a direction.

    Attributes
    ----------
    u, low, high : ndarray of shape (n_variables,)
        Variables and the multipliers of u ≥ 0 and u ≤ costs (0 where the cost is infinite).
    slack, dual : ConeVector
        (τ, −Lᵀr) and (t, y).
    response : ndarray of shape (n_rows,)
        r. It has digits that u loses where a row's two variables are large.
    offset : ndarray of shape (n_outputs,)
    room : float
        amount − Σu of a mass that may be less, otherwise 0.
    """

    u: Vector
    low: Vector
    high: Vector
    slack: ConeVector
    dual: ConeVector
    height: float
    response: Vector
    offset: Vector
    level: float
    room: float


@dataclass(frozen=True)
class ConeIterate(ConeNumbers):
    """A point inside the box and all cones, with its multipliers.

    Attributes
    ----------
    measured : float
        ‖r‖ where Kr was last evaluated, and not changed by Newton steps alone.
    """

    measured: float

    @property
    def weights(self) -> Vector:
        """The weights η = t/τ of the blocks."""
        return self.dual.head / np.maximum(self.slack.head, SMALLEST)


SUMMED = [part.name for part in fields(ConeNumbers) if part.name not in ("slack", "dual")]
"""The parts that add up as numbers do."""


class NewtonEquations:
    """The Newton equations at an iterate."""

    def __init__(self, problem: ConeProblem, at: ConeIterate) -> None:
        self.problem, self.at = problem, at
        loss, store = problem.loss, problem.store
        self.variables = variables = loss.variables
        self.bounded = np.isfinite(variables.costs)
        self.over = np.where(self.bounded, variables.costs - at.u, 1.0)
        self.cones = cones = Cones(store)
        self.scaling = scaling = NesterovToddScaling(cones, store, at.slack, at.dual)
        self.sums_to = loss.mass
        self.bounds_mass = loss.mass is not None and loss.mass.at_most
        self._residuals()
        self.give = 1.0 / (variables.curvature + at.low / at.u + at.high / self.over)
        self.weights = problem.by_row(self.give)
        there = np.where(self.weights > 0, self.weights, 1.0)
        self._per_row = 1.0 / there
        free: list[Vector] = []
        if problem.free_offset:
            free = [store.spread(own) for own in np.eye(len(store.sizes))]
        diagonal = [0.0] * len(free)
        if self.sums_to is not None:
            self._tilt = problem.by_row(variables.sign * self.give) * self._per_row
            free.append(self._tilt)
            own = float(self.give.sum()) - float(self.weights @ self._tilt**2)
            diagonal.append(max(own, 0.0) + (at.room / at.level if self.bounds_mass else 0.0))
        border = np.stack(free, axis=1) if free else np.zeros((loss.n_rows, 0))
        self._equations = ConeEquations(
            store, scaling.h, scaling.omega, self.weights, border, np.array(diagonal)
        )
        self._no_free = np.zeros(len(free))
        if problem.squared:
            nothing = np.zeros(loss.n_rows)
            self._by_height = self._equations.solve(nothing, scaling.head, self._no_free)
            self._stiffness = scaling.head @ self._by_height.along + 1.0 - scaling.h.sum()

    def _residuals(self) -> None:
        at, variables = self.at, self.variables
        loss, squared = self.problem.loss, self.problem.squared
        store = self.problem.store
        self.output = store.sum_in_rows(at.dual.body) + store.spread(at.offset)
        self.side = (
            variables.linear()
            - variables.curvature * at.u
            - variables.sign * self.output[variables.row]
            - at.level
            + at.low
            - at.high
        )
        self.heads = np.zeros(len(at.slack.head)) if squared else 1.0 - at.slack.head
        self.missing = 0.0
        if loss.mass is not None:
            self.missing = loss.mass.amount - float(at.u.sum()) - at.room

    @property
    def count(self) -> int:
        """How many products of μ there are: a cone counts for two."""
        boxes = len(self.variables) + int(np.count_nonzero(self.bounded))
        return boxes + 2 * len(self.at.slack.head) + int(self.bounds_mass)

    def predictor(self) -> ConeNumbers:
        """The direction to products of 0, as exact as it takes to say how far one may go."""
        at, zero = self.at, np.zeros(len(self.at.u))
        back = self.cones.combination((-1.0, at.dual))
        return self._direction(zero, zero, back, 0.0, refinements=0)

    def corrector(self, affine: ConeNumbers, mu: float) -> ConeNumbers:
        """The direction to products of μ, with what the predictor leaves of second order."""
        cones, scaling, at = self.cones, self.scaling, self.at
        point = scaling.apply(at.dual)
        bent = cones.jordan(scaling.undo(affine.slack), scaling.apply(affine.dual))
        aim = cones.combination((-1.0, bent))
        aim = ConeVector(aim.head + mu, aim.body)
        change = scaling.undo(cones.divided(point, aim))
        change = cones.combination((1.0, change), (-1.0, at.dual))
        low, high = mu - affine.u * affine.low, mu + affine.u * affine.high
        return self._direction(low, high, change, mu - affine.room * affine.level)

    def _direction(
        self,
        low: Vector,
        high: Vector,
        change: ConeVector,
        mass: float,
        refinements: int = CONE_REFINEMENTS,
    ) -> ConeNumbers:
        """The direction to these products; ``change`` is what the cones ask of (t, y)."""
        at, problem, variables = self.at, self.problem, self.variables
        store, scaling = problem.store, self.scaling
        pull = self.side + low / at.u - at.low
        pull -= np.where(self.bounded, high / self.over - at.high, 0.0)
        by_row = problem.by_row(variables.sign * pull * self.give) * self._per_row
        free: list[float] = []
        if problem.free_offset:
            free = store.sums(at.response).tolist()
        if self.sums_to is not None:
            own = float(pull @ self.give) - float((self.weights * self._tilt) @ by_row)
            own -= self.missing
            if self.bounds_mass:
                own += mass / at.level - at.room
            free.append(own)
        found = self._equations.solve(
            by_row - store.sum_in_rows(change.body),
            -scaling.head * self.heads,
            np.array(free),
            refinements,
        )
        height = 0.0
        if problem.squared:
            left = at.height - float(at.dual.head.sum()) - float(change.head.sum())
            height = (float(scaling.head @ found.along) - left) / self._stiffness
            found = type(found)(
                *(one - height * other for one, other in zip(found, self._by_height, strict=True))
            )
        heads = self.heads + height
        body = store.images(found.response)
        dual = ConeVector(
            change.head + scaling.head * found.along + scaling.h * heads,
            store.combination((1.0, change.body), (scaling.h, body), (found.along, scaling.omega)),
        )
        level = float(found.free[-1]) if self.sums_to is not None else 0.0
        u = self._of_variables(pull, by_row, found.response, level)
        return ConeNumbers(
            u=u,
            low=(low - at.low * u) / at.u - at.low,
            high=np.where(self.bounded, (high + at.high * u) / self.over - at.high, 0.0),
            slack=ConeVector(heads, store.combination((-1.0, body))),
            dual=dual,
            height=height,
            response=found.response,
            offset=found.free[: len(at.offset)] if problem.free_offset else 0.0 * at.offset,
            level=level,
            room=(mass - at.room * level) / at.level - at.room if self.bounds_mass else 0.0,
        )

    def _of_variables(self, pull: Vector, by_row: Vector, response: Vector, level: float) -> Vector:
        variables, row = self.variables, self.variables.row
        own = pull - variables.sign * by_row[row]
        if self.sums_to is not None:
            own -= level * (1.0 - variables.sign * self._tilt[row])
        own += variables.sign * (response * self._per_row)[row]
        return own * self.give

    def length(self, move: ConeNumbers) -> float:
        """How far one may go before something is no longer positive, ∞ if there is no end."""
        at = self.at
        sides = [
            _reach(at.u, move.u),
            _reach(self.over, np.where(self.bounded, -move.u, 0.0)),
            _reach(at.low, move.low),
            _reach(np.where(self.bounded, at.high, 1.0), move.high),
            self.cones.reach(at.slack, move.slack),
            self.cones.reach(at.dual, move.dual),
        ]
        if self.bounds_mass:
            pair = np.array([at.room, at.level]), np.array([move.room, move.level])
            sides.append(_reach(*pair))
        return min(sides)

    def after(self, move: ConeNumbers, length: float) -> ConeIterate:
        """The point at this length along a move."""
        at, cones = self.at, self.cones
        slack = cones.combination((1.0, at.slack), (length, move.slack))
        dual = cones.combination((1.0, at.dual), (length, move.dual))
        sums = {name: getattr(at, name) + length * getattr(move, name) for name in SUMMED}
        return replace(at, slack=slack, dual=dual, **sums)


def cone_start(problem: ConeProblem) -> tuple[ConeIterate, float]:
    """A point well inside the box and the relaxed cones, and the mean linear term."""
    loss, store, variables = problem.loss, problem.store, problem.loss.variables
    linear, costs, curvature = variables.linear(), variables.costs, variables.curvature
    bounded = np.isfinite(costs)
    usual = float(np.abs(linear).mean())
    far = np.maximum(linear, 0.1 * usual) / np.where(curvature > 0, curvature, 1.0)
    u = np.where(bounded, START_INSIDE * np.where(bounded, costs, 1.0), np.maximum(far, SMALLEST))
    both = np.bincount(variables.row, minlength=loss.n_rows)[variables.row] == 2
    u[both & (linear < 0)] *= LOSING_SHARE
    if problem.free_offset:
        for rows in store.rows:
            own = (rows.start <= variables.row) & (variables.row < rows.stop)
            above, below = own & (variables.sign > 0), own & (variables.sign < 0)
            up, down = u[above].sum(), u[below].sum()
            u[above] *= min(1.0, down / up)
            u[below] *= min(1.0, up / down)
    if loss.mass is not None:
        most = loss.mass.amount * (1.0 if loss.chooses_margin else START_INSIDE)
        u = np.minimum(u * min(most / float(u.sum()), 2.0), np.where(bounded, 0.9 * costs, np.inf))
    response = variables.response(u)
    body = store.images(response)
    size = np.sqrt(np.maximum(store.products(body, body), 0.0))
    largest = float(size.max(initial=0.0))
    if problem.squared and not loss.chooses_margin:
        quadratic = max(largest**2 + float(curvature @ u**2), SMALLEST)
        worthwhile = max(float(linear @ u), 0.01 * usual * float(u.sum())) / quadratic
        shrunk = min(1.0, max(worthwhile, LEAST_SHRINKAGE))
        u, response, size, largest = u * shrunk, response * shrunk, size * shrunk, largest * shrunk
        body = store.combination((shrunk, body))
    unit = max(usual or largest**2 / float(u.sum()), SMALLEST)
    worth = unit * float(u.sum())
    outside = 1.0 if problem.squared else max(1.0, largest) ** FAR_OUT
    mu = CENTRAL * outside * worth / (len(u) + np.count_nonzero(bounded) + 2 * len(store))
    height = max(RELAXED * largest, 1e-3 * np.sqrt(worth)) if problem.squared else 0.0
    heads = np.maximum(1.0, RELAXED * size)
    if problem.squared:
        heads = np.full(len(store), height)
    slack = ConeVector(heads, store.combination((-1.0, body)))
    weights = mu / Cones(store).determinant(slack)
    if problem.squared and len(store):
        weights *= height / float(weights @ heads)
    dual = ConeVector(weights * heads, store.combination((weights, body)))
    room, level = 0.0, 0.0
    if loss.mass is not None and loss.mass.at_most:
        room = max(loss.mass.amount - float(u.sum()), 0.1 * loss.mass.amount)
        level = mu / room
    rate = linear - curvature * u - variables.sign * store.sum_in_rows(dual.body)[variables.row]
    force = max(float(np.abs(rate) @ u), mu * len(u)) / float(u.sum())
    least = max(unit, force)
    low, high = (np.maximum(side, 0.0) + least for side in (level - rate, rate - level))
    at = ConeIterate(
        u=u,
        low=low,
        high=np.where(bounded, high, 0.0),
        slack=slack,
        dual=dual,
        height=height,
        response=response,
        offset=np.zeros(len(store.sizes)),
        level=level,
        room=room,
        measured=float(np.linalg.norm(response)),
    )
    return at, worth


def cone_step(problem: ConeProblem, at: ConeIterate) -> tuple[ConeIterate, float]:
    """One step of Mehrotra's method; the next iterate and the length of the step."""
    newton = NewtonEquations(problem, at)
    total = open_products(problem, at)
    affine = newton.predictor()
    left = open_products(problem, newton.after(affine, min(1.0, newton.length(affine))))
    share = min(1.0, max(0.0, left / total)) if total > 0 else 0.0
    move = newton.corrector(affine, share**3 * total / newton.count)
    length = min(1.0, CONE_BOUNDARY * newton.length(move))
    new = newton.after(move, length)
    return _aligned(problem, _evaluated(problem, new)), length


def open_products(problem: ConeProblem, at: ConeIterate) -> float:
    """The sum of all products that are to be 0: what is open between primal and dual."""
    bounded = np.isfinite(problem.loss.variables.costs)
    over = np.where(bounded, problem.loss.variables.costs - at.u, 0.0)
    cones = Cones(problem.store).products(at.slack, at.dual)
    return float(at.u @ at.low + over @ at.high + cones.sum()) + at.room * at.level


def _evaluated(problem: ConeProblem, at: ConeIterate) -> ConeIterate:
    """The iterate with Lᵀr as it follows from r, not from r at the start and all changes.

    Products with factors are always that exact. Products Kr have an error that grows with r, so
    that changes are to be preferred until r has become much smaller than it was.
    """
    store, size = problem.store, float(np.linalg.norm(at.response))
    if size < SMALLER * at.measured:
        at = replace(at, measured=size)
        body = store.combination((-1.0, store.images(at.response)))
    else:
        body = replace(at.slack.body, inner=-store.inner(at.response))
    return replace(at, slack=ConeVector(at.slack.head, body))


def _aligned(problem: ConeProblem, at: ConeIterate) -> ConeIterate:
    """The iterate with y = ηLᵀr, as at the optimum, where that opens no more than is open.

    The model has the same r for all kernels. Multipliers that are free to differ from it leave an
    error that vanishes no faster than their products, and a high cost makes much of it.
    """
    store, variables = problem.store, problem.loss.variables
    body = store.combination((-at.weights, at.slack.body))
    shift = store.sum_in_rows(body) - store.sum_in_rows(at.dual.body)
    inside = np.minimum(at.u, variables.costs - at.u)
    if np.abs(shift)[variables.row] @ inside > ALIGNED * open_products(problem, at):
        return at
    return replace(at, dual=ConeVector(at.dual.head, body))


def _reach(at: Vector, move: Vector) -> float:
    falls = move < 0
    return float((-at[falls] / move[falls]).min(initial=np.inf))
