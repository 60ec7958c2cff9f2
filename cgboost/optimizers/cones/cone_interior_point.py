"""Restricted dual of the group penalty, by an interior point method over the kernels' cones.

    max over r   gain(r)          √(rᵀK_g r) ≤ limit_g for every block    penalty Σ limit_g‖f_g‖
    max over r   gain(r) − ½θ²    √(rᵀK_g r) ≤ limit_g·θ                  penalty ½(Σ limit_g‖f_g‖)²

with r in the box of the loss, and Σr = 0 where the offset is free, output by output where the loss
is of several (:class:`~cgboost.losses.dual.side_by_side.SideBySide`). The model is Σ η_g K_g r + b:
the same r for all kernels, weighted by η ≥ 0, which makes one kernel machine of them (Bach,
Lanckriet, Jordan, *Multiple kernel learning, conic duality, and the SMO algorithm*, ICML 2004).

A session holds the blocks; more may come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from cgboost._solvers import SolverFailure
from cgboost.arrays import Vector
from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.cones.cone_blocks import Block, BlockStore, FactorBlock, OutputsBlock
from cgboost.optimizers.cones.cone_steps import (
    ConeIterate,
    ConeProblem,
    cone_start,
    cone_step,
    open_products,
)
from cgboost.optimizers.interior_point.interior_session import FINEST_SHARE, NO_BETTER, PURIFICATION
from cgboost.optimizers.solver_options import check_time, deadline_of
from cgboost.parallel.threads import LARGE, available, blas_threads
from cgboost.tolerances import SMALLEST

CONE_STEPS = 150
"""Steps of one solve at most. Some fifteen are usual; kernels that differ in scale by 10¹⁵ take up
to a hundred."""

STANDSTILL = 1e-8
"""Steps shorter than this get nowhere."""

LEAST_SCALE = 1e-7
"""Objectives count as no less than this share of the loss without a model: an optimum of 0 could
not be met to any relative gap."""

FOR_ZEROS = 1e-9
"""What exact zeros among the weights and in r may cost, relative to the objective: models with them
are sparse, and no answer is asked for that this would spoil."""

SLACK_CONE = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5)
"""A kernel whose share is below this times the slack of its cone is out; in turn."""

PROGRESS = 0.9
"""A step leads on where it brings the gap, the products or the heads below this share of the least
so far. Where r begins far outside the cones, the heads show it long before the gap does."""

END = (1e-3, 1e-5, 1e-7, 1e-9)
"""How near to an end of its box, as a share of it, r is taken for it, in turn."""


@dataclass(frozen=True)
class ConeSolution:
    """An optimum of the restricted problem, up to a gap.

    Attributes
    ----------
    u : ndarray of shape (n_variables,)
    response : ndarray of shape (n_rows,)
        r: in the box, with Σr = 0 where the offset is free, inside all cones up to rounding.
    weights : ndarray of shape (n_blocks,)
        η ≥ 0 of the blocks K_g as they were given; 0 where a kernel is not in the model.
    intercept : float, or ndarray of shape (n_outputs,) if there are several
        The multiplier of Σr = 0.
    level : float
        That of the mass.
    objective, bound : float
        Of the model Σ η_g K_g r + intercept, and of r. The optimum is between them.
    steps : int
        Interior point steps that it took.
    """

    u: Vector
    response: Vector
    weights: Vector
    intercept: float | Vector
    level: float
    objective: float
    bound: float
    steps: int

    @property
    def gap(self) -> float:
        """By how much the objective is above the bound."""
        return self.objective - self.bound


class ConeSession:
    """The restricted dual of a group penalty, over blocks that come one after the other.

    Parameters
    ----------
    loss : SupportVectorLoss
        Its boxes must contain 0. Caps may be infinite where it has curvature. With its own margin
        choice only the squared penalty has a dual.
    offset : {"none", "penalized", "free"}
        A penalized offset is a block more, K = 11ᵀ with limit 1; of several outputs √(Σ b²) is.
    squared : bool
        Whether the penalty is ½(Σ‖f‖)² and not Σ‖f‖.
    """

    def __init__(
        self,
        loss: SupportVectorLoss,
        *,
        offset: Literal["none", "penalized", "free"],
        squared: bool = False,
    ) -> None:
        _check(loss, squared=squared)
        self.loss, self.squared = loss, squared
        self._free = offset == "free"
        self._store = BlockStore(*(part.n_rows for part in loss.parts))
        self._numbers: list[int] = []
        self._offset_block: int | None = None
        if offset == "penalized":
            self._offset_block = 0
            ones = [FactorBlock(np.ones((part.n_rows, 1))) for part in loss.parts]
            self._store.add(OutputsBlock(ones), 1.0)

    def __len__(self) -> int:
        """How many blocks were added."""
        return len(self._numbers)

    def add(self, blocks: Sequence[Block], limits: Vector) -> None:
        """Put more blocks into the session, with the limits of their cones."""
        first = len(self._store)
        self._store.add_all(blocks, limits)
        self._numbers.extend(range(first, len(self._store)))

    def solve(self, time_limit: float | None = None, accuracy: float = 0.0) -> ConeSolution:
        """The optimum over the blocks in the session.

        Parameters
        ----------
        time_limit : float or None
            In seconds.
        accuracy : float
            Relative gap at which it may end; 0: as near as can be.

        Raises
        ------
        LimitError
            If the time is over.
        SolverFailure
            If products of the kernels overflow. Where digits are lost the best point found is the
            answer, and its gap tells.
        """
        deadline = deadline_of(time_limit)
        problem = ConeProblem(self.loss, self._store, self._free, self.squared)
        if (trivial := self._trivial()) is not None:
            return trivial
        descent = _Descent(problem, max(PURIFICATION * accuracy, FINEST_SHARE))
        work = float(len(self._store) + self.loss.n_rows / 3) * self.loss.n_rows**2
        with np.errstate(all="ignore"), blas_threads(available() if work > LARGE else 1):
            best = descent.follow(deadline)
            return self._solution(_Answer(problem, best), descent)

    def _trivial(self) -> ConeSolution | None:
        """The answer where only r = 0 is feasible: no variables, or only of one sign."""
        variables = self.loss.variables
        signs = np.unique(variables.sign)
        if len(variables) and not (self._free and len(signs) == 1):
            self._check_signs()
            return None
        if self.loss.chooses_margin:
            raise ValueError("a loss with its own margin needs rows, of both signs")
        ends = variables.sign * variables.linear()
        intercept = 0.0
        if self._free and len(variables):
            intercept = float(ends.max() if signs[0] > 0 else ends.min())
        return ConeSolution(
            u=np.zeros(len(variables)),
            response=np.zeros(self.loss.n_rows),
            weights=np.zeros(len(self)),
            intercept=self._by_output(np.full(len(self.loss.parts), intercept)),
            level=0.0,
            objective=self.loss.value(np.full(self.loss.n_rows, intercept)),
            bound=0.0,
            steps=0,
        )

    def _check_signs(self) -> None:
        """With free offsets, r is 0 for an output whose variables are of one sign."""
        signs = [np.unique(part.variables.sign) for part in self.loss.parts]
        if self._free and any(len(own) == 1 for own in signs):
            raise ValueError("each output needs rows whose r may be positive, and others")

    def _by_output(self, intercept: Vector) -> float | Vector:
        return float(intercept[0]) if len(intercept) == 1 else intercept

    def _solution(self, answer: _Answer, descent: _Descent) -> ConeSolution:
        allowance = max(PURIFICATION * descent.wanted_gap, FOR_ZEROS) * descent.scale
        answer = answer.with_ends(allowance).with_few_kernels(allowance).or_nothing()
        weights = answer.weights / self._store.limits**2
        intercept = answer.at.offset
        if self._offset_block is not None:
            intercept = weights[self._offset_block] * self._store.sums(answer.response)
        return ConeSolution(
            u=self.loss.variables.values(answer.response),
            response=answer.response,
            weights=weights[self._numbers],
            intercept=self._by_output(intercept),
            level=answer.at.level,
            objective=answer.objective,
            bound=answer.bound,
            steps=descent.steps,
        )


def _check(loss: SupportVectorLoss, *, squared: bool) -> None:
    variables = loss.variables
    if variables.base.any():
        raise ValueError(
            "the boxes of the loss must contain 0 for a group penalty; the first that does not is "
            f"of row {np.flatnonzero(variables.base)[0]}"
        )
    if not (np.isfinite(variables.costs) | (variables.curvature > 0)).all():
        raise ValueError("costs must be finite where the loss has no curvature (no hard margin)")
    if loss.chooses_margin and not squared:
        raise ValueError("a loss with its own margin needs the square of the group penalty")


class _Descent:
    """Steps from the start to a relative gap.

    Attributes
    ----------
    wanted_gap : float
        The relative gap to reach.
    scale : float
        What it is relative to.
    """

    def __init__(self, problem: ConeProblem, wanted_gap: float) -> None:
        self.problem, self.wanted_gap = problem, wanted_gap
        self._at, unit = cone_start(problem)
        self._least = LEAST_SCALE * max(problem.loss.value(np.zeros(problem.loss.n_rows)), unit)
        self.scale, self.steps = 1.0, 0

    def follow(self, deadline: float) -> ConeIterate:
        """The best iterate found."""
        at, least, since, best = self._at, np.inf, 0, self._at
        most = np.full(2, np.inf)
        for _ in range(CONE_STEPS):
            gap = self._gap(at)
            if not np.isfinite(gap):
                break
            ways = np.array([open_products(self.problem, at), self._outside(at)])
            moves = gap < PROGRESS * least or bool((ways < PROGRESS * most).any())
            since = 0 if moves else since + 1
            most = np.minimum(ways, most)
            if gap < least:
                least, best = gap, at
            if gap <= self.wanted_gap or since > NO_BETTER:
                break
            at, length = cone_step(self.problem, at)
            self.steps += 1
            if not length > STANDSTILL:
                break
            check_time(deadline, "the cone method")
        if not np.isfinite(self._gap(best)):
            raise SolverFailure("kernels are so large that their products overflow")
        return best

    def _outside(self, at: ConeIterate) -> float:
        """By how much the heads of cones exceed what they may be in the end."""
        return 0.0 if self.problem.squared else float((at.slack.head - 1.0).max(initial=0.0))

    def _gap(self, at: ConeIterate) -> float:
        problem, store = self.problem, self.problem.store
        sizes = np.sqrt(np.maximum(store.products(at.slack.body, at.slack.body), 0.0))
        weights = at.weights
        output = store.spread(at.offset) - store.sum_in_rows(
            store.combination((weights, at.slack.body))
        )
        objective = _penalty(problem, float(weights @ sizes)) + problem.loss.value(output)
        _, bound = _bound(problem, at.response, float(sizes.max(initial=0.0)))
        self.scale = max(abs(objective), abs(bound), self._least, SMALLEST)
        return (objective - bound) / self.scale


def _penalty(problem: ConeProblem, norm: float) -> float:
    return 0.5 * norm**2 if problem.squared else norm


def _bound(problem: ConeProblem, response: Vector, size: float) -> tuple[Vector, float]:
    """A feasible pseudo-response near the given one, whose largest ‖Lᵀr‖ this is, and its bound."""
    loss = problem.loss
    shrunk = response if problem.squared else response / max(1.0, size)
    feasible = loss.feasible(shrunk, balanced=problem.free_offset)
    return feasible, loss.gain(feasible) - (0.5 * size**2 if problem.squared else 0.0)


class _Answer:
    """The model and the bound that an iterate stands for.

    Attributes
    ----------
    response : ndarray of shape (n_rows,)
        Feasible.
    weights : ndarray of shape (n_blocks,)
        Of the blocks as the store has them, divided by their squared limits.
    """

    def __init__(
        self, problem: ConeProblem, at: ConeIterate, response: Vector | None = None
    ) -> None:
        self.problem, self.at = problem, at
        store = problem.store
        response = at.response if response is None else response
        body = store.images(response)
        size, in_rows = np.sqrt(np.maximum(store.products(body, body), 0.0)), store.in_rows(body)
        largest = float(size.max(initial=0.0))
        self.response, self.bound = _bound(problem, response, largest)
        if problem.squared and not np.array_equal(self.response, response):  # it may be longer
            body = store.images(self.response)
            moved = float(store.products(body, body).max(initial=0.0))
            self.bound -= 0.5 * max(moved - largest**2, 0.0)
        factor = 1.0 if problem.squared else 1.0 / max(1.0, largest)
        self._sizes = factor * size
        self._in_rows = factor * in_rows
        self.weights = at.weights
        self.objective = self._objective(self.weights)

    def _objective(self, weights: Vector) -> float:
        penalty = _penalty(self.problem, float(weights @ self._sizes))
        output = self._in_rows @ weights + self.problem.store.spread(self.at.offset)
        return penalty + self.problem.loss.value(output)

    def with_ends(self, allowance: float) -> _Answer:
        """The answer with r at the ends of its box where it is near, if that costs no more."""
        loss = self.problem.loss
        for nearness in END:
            response = _at_ends(self.at, loss, nearness)
            if self.problem.free_offset:
                parts = zip(loss.parts, self.problem.store.rows, strict=True)
                own = [_balanced(response[rows], part) for part, rows in parts]
                response = np.concatenate(own)
            other = _Answer(self.problem, self.at, response)
            if other.bound >= self.bound - allowance and (
                other.objective <= self.objective + allowance
            ):
                return other
        return self

    def with_few_kernels(self, allowance: float) -> _Answer:
        """The answer without the kernels whose cones are slack, if that costs no more."""
        weights, total = self.weights, float(self.weights @ self._sizes)
        if not total > 0:
            return self
        head = np.maximum(self.at.slack.head, SMALLEST)
        slack = np.maximum(1.0 - self._sizes / head, 0.0)
        share = weights * head / max(float(weights @ head), SMALLEST) * len(weights)
        for caution in SLACK_CONE:
            few = np.where(share < caution * slack, 0.0, weights)
            if (objective := self._objective(few)) <= self.objective + allowance:
                self.weights, self.objective = few, objective
                break
        return self

    def or_nothing(self) -> _Answer:
        """The answer, or no model where that is better, as it can be where no digit is left."""
        nothing = self.problem.loss.value(np.zeros_like(self.response))
        if not self.objective <= nothing:
            self.at = replace(self.at, offset=0.0 * self.at.offset)
            self.weights, self.objective = np.zeros_like(self.weights), nothing
        return self


def _at_ends(at: ConeIterate, loss: SupportVectorLoss, nearness: float) -> Vector:
    """The response with those entries at 0 or an end of their box that are pushed there."""
    variables = loss.variables
    u = variables.values(at.response)
    usual = float((at.low + at.high).mean())
    costs = variables.costs
    size = np.where(np.isfinite(costs), costs, max(float(np.abs(u).max(initial=0.0)), SMALLEST))
    u = np.where((u < nearness * size) & (at.low > nearness * usual), 0.0, u)
    u = np.where((costs - u < nearness * size) & (at.high > nearness * usual), costs, u)
    return variables.response(u)


def _balanced(response: Vector, loss: SupportVectorLoss) -> Vector:
    """The response with Σr = 0, by changes of what is inside its box, if that is possible."""
    for _ in range(2):  # the second time for the rounding of the first
        excess = float(response.sum())
        room = np.minimum(response - loss.lower, loss.upper - response)
        inside = np.minimum(room, np.abs(response))  # what is 0 stays
        total = float(inside.sum())
        if not 0 < abs(excess) < total:
            break
        response = response - excess * inside / total
    return response
