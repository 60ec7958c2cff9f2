"""Pricing of all blocks of a model.

    min Σ_v (c_v − Σ_i r_i a_iv − p_v) z_v − r_k − s   over the integer points z of block k,

with the duals r of the linking rows, those of the convexity row r_k, and what the decisions of a
node add: prices p of variables and a constant s per column.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import Duals
from cgboost.generation.protocols import ZERO_REDUCED_COST, MasterState, Priced
from cgboost.integer.decisions import (
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
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        rows: Sequence[Hashable],
        *,
        component_rows: bool,
        residual: bool = False,
    ) -> None:
        kinds: tuple[type, ...] = (VariableBound, VariableRow, CountRow, Together, Apart)
        kinds = (*kinds, ComponentRow) if component_rows else kinds
        self.respects = (*kinds, Residual) if residual else kinds
        self._residual = residual
        self.seconds_left: float | None = None
        self._rows = {name: place for place, name in enumerate(rows)}
        self.problems = [BlockProblem(block, rows) for block in blocks]

    def price(self, state: MasterState, limit: int) -> Priced:
        """The columns of least reduced cost of each block, and the bound of each."""
        duals = Duals.of_state(state)
        values = np.asarray(duals)
        found: list[tuple[float, Column]] = []
        bounds: dict[Hashable, float] = {}
        for problem in self.problems:
            block = problem.block
            cost = block.cost - block.linking.T @ values
            for variable, price in duals.prices.items():
                if variable in block.places:
                    cost[block.places[variable]] -= price
            constant = float(values[block.convexity]) + duals.constant(block.name)
            lower, upper = block.bounds(duals.restrictions, duals.rhs if self._residual else None)
            request = BlockRequest(
                cost, lower, upper, duals.restrictions, duals.extra, self.seconds_left
            )
            try:
                answer = problem.solve(request)
            except BlockTimeError:
                return Priced(columns=[column for _, column in found[:limit]])
            bounds[block.name] = answer.bound - constant
            if limit:
                found += self._columns(block, answer, cost, constant, duals)
        unique = {column.key: (reduced, column) for reduced, column in found}
        best = sorted(unique.values(), key=lambda each: each[0])
        return Priced(
            columns=[column for _, column in best[:limit]],
            exact=True,
            reduced_cost=bounds,
            n_evaluated=len(found),
        )

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
