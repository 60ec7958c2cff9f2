"""Pricing of all blocks of a model.

    min Σ_v (c_v − Σ_i r_i a_iv − p_v) z_v − r_k − s   over the integer points z of block k,

with the duals r of the linking rows, those of the convexity row r_k, and what the decisions of a
node add: prices p of variables and a constant s per column. Where that has no end, the block
answers with a ray, along which it falls, and has no bound.

A block has a special algorithm where one fits, HiGHS otherwise. Where it has directions without
end, they are asked for first; where costs fall in none of them, some point is the best.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.forks import cached_property
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import Duals
from cgboost.generation.protocols import ZERO_REDUCED_COST, MasterState, Priced
from cgboost.integer.branching.decisions import (
    Apart,
    ComponentRow,
    CountRow,
    Residual,
    Together,
    VariableBound,
    VariableRow,
)
from cgboost.integer.branching.rules import INTEGRAL
from cgboost.integer.decomposition.pricing.assignment_block import AssignmentBlock
from cgboost.integer.decomposition.pricing.block import (
    NO_POINT,
    Block,
    BlockRequest,
    BlockSolver,
    BlockTimeError,
    Found,
)
from cgboost.integer.decomposition.pricing.conflict_block import ConflictBlock
from cgboost.integer.decomposition.pricing.highs_block import HighsBlock
from cgboost.integer.decomposition.pricing.knapsack_block import KnapsackBlock
from cgboost.integer.decomposition.pricing.path_block import PathBlock
from cgboost.integer.decomposition.pricing.ray_problem import RayProblem
from cgboost.parallel.executors import Executor
from cgboost.parallel.item_tasks import ItemTasks
from cgboost.pricing.blockwise import PricingQuery, sendable_state

logger = logging.getLogger(__name__)


SPECIAL: tuple[type[BlockSolver], ...] = (
    KnapsackBlock,
    PathBlock,
    AssignmentBlock,
    ConflictBlock,
)
"""Special algorithms; the first that fits a block is taken."""

MOST_APART = 20
"""Points of equal blocks from one round, at most. Nine bin packings of 40 to 50 pieces took 0.44 of
the time with so many, and 1.1 of it with five, of which each earns half of the best one."""


class BlockProblem:
    """The pricing problem of a block.

    Parameters
    ----------
    block : Block
    rows : sequence of hashable
        Names of the rows of the master.
    afresh : bool, default=False
        Whether answers do not depend on what was asked before.

    Attributes
    ----------
    special : BlockSolver or None
        The special algorithm for the block. HiGHS is asked where decisions are no bounds of
        variables, and where the algorithm gives no answer.
    waiting : callable or None
        See :class:`HighsBlock`.
    """

    def __init__(self, block: Block, rows: Sequence[Hashable], *, afresh: bool = False) -> None:
        self.block, self._rows, self._afresh = block, rows, afresh
        kind = next((kind for kind in SPECIAL if kind.fits(block)), None)
        self.special = None if kind is None else kind(block)
        self._rays = RayProblem.of(block) if block.has_rays else None
        self._general: HighsBlock | None = None
        self.waiting: Callable[[], bool] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Other processes wait for nothing here."""
        return {**vars(self), "waiting": None}

    @property
    def is_over(self) -> bool:
        """Whether no answer is wanted any more."""
        return self.waiting is not None and self.waiting()

    def solve(self, request: BlockRequest) -> Found:
        """The least cost over the integer points that a node allows."""
        if (request.lower > request.upper).any():
            return NO_POINT
        if self.is_over:
            raise BlockTimeError("the model is solved")
        started = time.perf_counter()
        if self._rays is not None:
            self._rays.waiting = self.waiting
            direction, cost = self._rays.solve(request)
            if direction is not None:
                return Found(-math.inf, [], [direction])
            request = replace(request, cost=cost)
        if self.special is not None and request.only_bounds:
            found = self.special.solve(request)
            if found is not None:
                return found
        if self._general is None:
            self._general = HighsBlock(self.block, self._rows, afresh=self._afresh)
        self._general.waiting = self.waiting
        if request.seconds is not None:
            left = max(0.0, request.seconds - (time.perf_counter() - started))
            request = replace(request, seconds=left)
        return self._general.solve(request)


class BlockPricer:
    """Prices all blocks of a model.

    Parameters
    ----------
    blocks : sequence of Block
    rows : sequence of hashable
        Of the master.
    component_rows : bool
        Whether counted columns (Vanderbeck's rows) are respected: where all values are whole.
    residual : bool, default=False
        Whether no column gives a linking row more than it still needs: where these have one
        variable of a block each, and no negative values.
    executor : Executor, concurrent.futures.Executor or None
        Solves the blocks; None: one after another.
    marks : mapping of str to str, optional
        Hashes of the parts of the model, by which a search of another one is known.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        rows: Sequence[Hashable],
        *,
        component_rows: bool,
        residual: bool = False,
        executor: Executor | futures.Executor | None = None,
        marks: Mapping[str, str] | None = None,
    ) -> None:
        kinds: tuple[type, ...] = (VariableBound, VariableRow, CountRow, Together, Apart)
        kinds = (*kinds, ComponentRow) if component_rows else kinds
        self.respects = (*kinds, Residual) if residual else kinds
        self.marks = dict(marks or {})
        self.seconds_left: float | None = None
        self.problems = [BlockProblem(block, rows, afresh=executor is not None) for block in blocks]
        self._work = _Work(rows, residual)
        self._tasks = ItemTasks(self._work, self.problems, executor)

    def price(self, state: MasterState, limit: int) -> Priced:
        """The columns of least reduced cost of each block, and the bound of each.

        Where the rows of the master are not met, and nothing new is found, costs are left out: they
        may hide what helps to meet the rows behind what is cheap.
        """
        started = time.perf_counter()
        priced = self._priced(state, limit, self.seconds_left, costs=True)
        if math.isfinite(state.objective):
            return priced
        held = {column.key for column in state.columns}
        if any(column.key not in held for column in priced.columns):
            return priced
        left = self.seconds_left
        if left is not None:
            left -= time.perf_counter() - started
            if left <= 0:
                return replace(priced, exact=False)
        priced = self._priced(state, limit, left, costs=False)
        fresh = [column for column in priced.columns if column.key not in held]
        return replace(priced, columns=fresh, exact=priced.exact and not fresh)

    def _priced(
        self, state: MasterState, limit: int, seconds: float | None, *, costs: bool
    ) -> Priced:
        query = _Query(sendable_state(state), seconds, limit > 0, costs)
        answers = self._tasks.answers(query)
        known = [answer for answer in answers if answer is not None]
        unique = {column.key: (reduced, column) for _, own in known for reduced, column in own}
        best = sorted(unique.values(), key=lambda each: each[0])
        columns = [column for _, column in best[:limit]]
        if len(known) < len(answers):
            return Priced(columns=columns)
        names = [problem.block.name for problem in self.problems]
        bounds = dict(zip(names, (bound for bound, _ in known), strict=True))
        if -math.inf in bounds.values():  # along a ray
            return Priced(columns=columns)
        return Priced(
            columns=columns,
            exact=not (costs and self._is_refuted(bounds, state)),
            reduced_cost=bounds,
            without_costs=not costs,
            n_evaluated=sum(len(own) for _, own in known),
        )

    def _is_refuted(self, bounds: Mapping[Hashable, float], state: MasterState) -> bool:
        """Whether a column in use that a pricing problem allows costs less than its bound."""
        duals = Duals.of_state(state)
        blocks = {problem.block.name: problem.block for problem in self.problems}
        requests: dict[Hashable, tuple[BlockRequest, float]] = {}
        for number in np.flatnonzero(state.coef > INTEGRAL).tolist():
            column = state.columns[number]
            block = blocks.get(column.block)
            if block is None or column.ray:
                continue
            if block.name not in requests:
                requests[block.name] = self._work.request(block, duals)
            request, constant = requests[block.name]
            earned = sum(self._work.counted(column, duals)) - constant
            if earned + block.cost_of(column, request.cost) >= bounds[block.name]:
                continue
            z = block.point(column)
            if (z < request.lower).any() or (z > request.upper).any():
                continue
            terms = np.array([*(request.cost * z), -constant, *self._work.counted(column, duals)])
            allowed = INTEGRAL * max(1.0, float(np.abs(terms).sum()))
            if terms.sum() < bounds[block.name] - allowed:
                logger.warning(
                    "the pricing problem of block %r is called optimal at %.6g, and the column %r "
                    "costs %.6g: nothing is proved by it",
                    block.name, bounds[block.name], column.key, terms.sum(),
                )  # fmt: skip
                return True
        return False

    @property
    def is_here(self) -> bool:
        """Whether blocks are solved one after another, where it is asked."""
        return self._tasks.executor is None

    def close(self) -> None:
        """Leave nothing behind with the workers of the executor."""
        self._tasks.close()


@dataclass(frozen=True, eq=False)
class _Query(PricingQuery):
    """With the time that is left where it is asked, whether columns are wanted and costs count."""

    columns: bool
    costs: bool

    @cached_property
    def _started(self) -> float:
        return time.perf_counter()

    @property
    def seconds_left(self) -> float | None:
        """Of the time limit, since this process was first asked."""
        passed = time.perf_counter() - self._started
        return None if self.seconds is None else max(0.0, self.seconds - passed)


BlockAnswer = tuple[float, list[tuple[float, Column]]]
"""The least reduced cost of a block; columns, each with its own."""


class _Work:
    """Pricing of a block; None where the time is up."""

    def __init__(self, rows: Sequence[Hashable], residual: bool) -> None:
        self._rows = {name: place for place, name in enumerate(rows)}
        self._residual = residual

    def __call__(self, query: _Query, problem: BlockProblem) -> BlockAnswer | None:
        block, duals = problem.block, query.duals
        request, constant = self.request(block, duals, query.seconds_left, costs=query.costs)
        try:
            found = problem.solve(request)
        except BlockTimeError:
            return None
        columns = []
        if query.columns:
            others = _apart(problem, request, found, constant, query)
            found = replace(found, points=[*found.points, *others])
            columns = self._columns(block, found, request.cost, constant, duals)
        return found.bound - constant, columns

    def request(
        self, block: Block, duals: Duals, seconds: float | None = None, *, costs: bool = True
    ) -> tuple[BlockRequest, float]:
        """The pricing problem of a block, and what every column earns."""
        values = np.asarray(duals)
        cost = (block.cost if costs else 0.0 * block.cost) - block.prices(values)
        for variable, price in duals.prices.items():
            if variable in block.places:
                cost[block.places[variable]] -= price
        constant = float(values[block.convexity]) + duals.constant(block.name)
        lower, upper = block.bounds(duals.restrictions, duals.rhs if self._residual else None)
        request = BlockRequest(cost, lower, upper, duals.restrictions, duals.extra, seconds)
        return request, constant

    def counted(self, column: Column, duals: Duals) -> list[float]:
        """What a column costs in rows that count columns."""
        return [
            -dual * row.coefficient(column, self._rows)
            for row, dual in duals.extra.items()
            if isinstance(row, ComponentRow)
        ]

    def _columns(
        self, block: Block, answer: Found, cost: Vector, constant: float, duals: Duals
    ) -> list[tuple[float, Column]]:
        found = [(float(cost @ ray), block.ray_column(ray)) for ray in answer.rays]
        for point in answer.points:
            column = block.column(point)
            reduced = float(cost @ point) - constant + sum(self.counted(column, duals))
            if reduced < -ZERO_REDUCED_COST * max(1.0, abs(column.cost)):
                found.append((reduced, column))
        return found


def _apart(
    problem: BlockProblem, request: BlockRequest, found: Found, constant: float, query: _Query
) -> list[Vector]:
    """Further points of equal blocks: each the best without the linked variables of those before.

    A solution takes several points of such a block, and has these side by side, where one point a
    round makes many rounds. Only a special algorithm is asked.
    """
    block, points = problem.block, found.points[:1]
    if problem.special is None or block.has_rays or not request.only_bounds:
        return []
    upper = request.upper.copy()
    while points and len(points) < min(block.copies, MOST_APART):
        used = block.linked & (points[-1] > request.lower)
        upper[used] = request.lower[used]
        if not used.any() or query.seconds_left == 0.0 or problem.is_over:
            break
        other = problem.special.solve(replace(request, upper=upper.copy()))
        if other is None or not other.points or other.bound >= constant:
            break
        points.append(other.points[0])
    return points[1:]
