"""Pricing of all blocks of a model.

    min Σ_v (c_v − Σ_i r_i a_iv − p_v) z_v − r_k − s   over the integer points z of block k,

with the duals r of the linking rows, those of the convexity row r_k, and what the decisions of a
node add: prices p of variables and a constant s per column.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from concurrent import futures
from dataclasses import dataclass
from functools import cached_property

import numpy as np

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
from cgboost.integer.decomposition.model import Vector
from cgboost.integer.decomposition.pricing.block import Block, BlockRequest, BlockTimeError, Found
from cgboost.integer.decomposition.pricing.block_problem import BlockProblem
from cgboost.parallel.executors import Executor
from cgboost.parallel.item_tasks import ItemTasks
from cgboost.pricing.blockwise import Query, sendable_state


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
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        rows: Sequence[Hashable],
        *,
        component_rows: bool,
        residual: bool = False,
        executor: Executor | futures.Executor | None = None,
    ) -> None:
        kinds: tuple[type, ...] = (VariableBound, VariableRow, CountRow, Together, Apart)
        kinds = (*kinds, ComponentRow) if component_rows else kinds
        self.respects = (*kinds, Residual) if residual else kinds
        self.seconds_left: float | None = None
        self.problems = [BlockProblem(block, rows, afresh=executor is not None) for block in blocks]
        self._tasks = ItemTasks(_Work(rows, residual), self.problems, executor)

    def price(self, state: MasterState, limit: int) -> Priced:
        """The columns of least reduced cost of each block, and the bound of each."""
        answers = self._tasks.answers(_Query(sendable_state(state), self.seconds_left, limit > 0))
        known = [answer for answer in answers if answer is not None]
        unique = {column.key: (reduced, column) for _, own in known for reduced, column in own}
        best = sorted(unique.values(), key=lambda each: each[0])
        columns = [column for _, column in best[:limit]]
        if len(known) < len(answers):
            return Priced(columns=columns)
        bounds = [bound for bound, _ in known]
        names = [problem.block.name for problem in self.problems]
        return Priced(
            columns=columns,
            exact=True,
            reduced_cost=dict(zip(names, bounds, strict=True)),
            n_evaluated=sum(len(own) for _, own in known),
        )

    def close(self) -> None:
        """Leave nothing behind with the workers of the executor."""
        self._tasks.close()


@dataclass(frozen=True, eq=False)
class _Query(Query):
    """With the time that is left, where it is asked, and whether columns are wanted."""

    columns: bool

    @cached_property
    def _started(self) -> float:
        return time.perf_counter()

    @property
    def seconds_left(self) -> float | None:
        """Of the time limit, since this process was first asked."""
        passed = time.perf_counter() - self._started
        return None if self.seconds is None else max(0.0, self.seconds - passed)


Answer = tuple[float, list[tuple[float, Column]]]
"""The least reduced cost of a block; columns, each with its own."""


class _Work:
    """Pricing of a block; None where the time is up."""

    def __init__(self, rows: Sequence[Hashable], residual: bool) -> None:
        self._rows = {name: place for place, name in enumerate(rows)}
        self._residual = residual

    def __call__(self, query: _Query, problem: BlockProblem) -> Answer | None:
        block, duals = problem.block, query.duals
        values, seconds = np.asarray(duals), query.seconds_left
        cost = block.cost - block.linking.T @ values
        for variable, price in duals.prices.items():
            if variable in block.places:
                cost[block.places[variable]] -= price
        constant = float(values[block.convexity]) + duals.constant(block.name)
        lower, upper = block.bounds(duals.restrictions, duals.rhs if self._residual else None)
        request = BlockRequest(cost, lower, upper, duals.restrictions, duals.extra, seconds)
        try:
            found = problem.solve(request)
        except BlockTimeError:
            return None
        columns = self._columns(block, found, cost, constant, duals) if query.columns else []
        return found.bound - constant, columns

    def _columns(
        self, block: Block, answer: Found, cost: Vector, constant: float, duals: Duals
    ) -> list[tuple[float, Column]]:
        found = []
        for point in answer.points:
            column = block.column(point)
            reduced = float(cost @ point) - constant
            for row, dual in duals.extra.items():
                if isinstance(row, ComponentRow):
                    reduced -= dual * row.coefficient(column, self._rows)
            if reduced < -ZERO_REDUCED_COST * max(1.0, abs(column.cost)):
                found.append((reduced, column))
        return found
