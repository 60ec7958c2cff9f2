"""Pricing problems of the blocks of a model.

    min Σ_v (c_v − Σ_i r_i a_iv − p_v) z_v − r_k − s   over the integer points z of block k,

with the duals r of the linking rows, those of the convexity row r_k, and what the decisions of a
node add: prices p of variables and a constant s per column. A block is a live model in HiGHS, of
which only the costs change; where it is one knapsack, dynamic programming solves it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from cgboost.exceptions import CGBoostError
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import Duals
from cgboost.generation.protocols import ZERO_REDUCED_COST, MasterState, Priced
from cgboost.integer.branching import INTEGRAL
from cgboost.integer.decisions import (
    Apart,
    ComponentRow,
    CountRow,
    Residual,
    Together,
    VariableBound,
    VariableRow,
)
from cgboost.integer.decomposition.model import Vector, checked, quiet_highs
from cgboost.pricing.knapsack import solve_knapsack
from solvers import Program, SolverError, solve

MOST_CAPACITY = 20_000
"""Largest capacity, times the number of items, over 100: beyond that the table of dynamic
programming has more than two million entries, and HiGHS is asked. The limit is a guess."""


class BlockError(CGBoostError):
    """A block's pricing problem is unbounded, or HiGHS cannot solve it."""

    section = "models-with-blocks"


class _OutOfTimeError(CGBoostError):
    """The time limit was reached within a pricing problem."""


@dataclass(frozen=True, eq=False)
class Block:
    """The data of one block, or of several equal ones.

    Attributes
    ----------
    name : hashable
        Of the block and of its convexity row.
    variables : tuple of str
    cost, lower, upper : ndarray of shape (n_variables,)
    integer : ndarray of bool
    matrix : sparse array of shape (n_rows, n_variables)
    row_lower, row_upper : ndarray of shape (n_rows,)
    linking : sparse array of shape (n_master_rows, n_variables)
        Coefficients in all rows of the master but those of convexity.
    convexity : int
        Place of the convexity row among the rows of the master.
    """

    name: Hashable
    variables: tuple[str, ...]
    cost: Vector
    lower: Vector
    upper: Vector
    integer: Any
    matrix: sp.csr_array
    row_lower: Vector
    row_upper: Vector
    linking: sp.csr_array
    convexity: int
    places: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", {v: j for j, v in enumerate(self.variables)})

    def column(self, z: Vector) -> Column:
        """The column of an integer point."""
        z = np.where(self.integer, np.round(z), z) + 0.0
        values = np.asarray(self.linking @ z, dtype=np.float64)
        values[self.convexity] = 1.0
        used = np.flatnonzero(z)
        return Column(
            values=values,
            key=(self.name, z.tobytes()),
            cost=float(self.cost @ z),
            integer=bool(self.integer.all()),
            variables={self.variables[j]: float(z[j]) for j in used},
            block=self.name,
        )

    def bounds(
        self, restrictions: Sequence[Any], left: Vector | None = None
    ) -> tuple[Vector, Vector]:
        """Bounds of the variables with those of the decisions of a node.

        And no variable gives a linking row more than ``left``, where that is given: every row has
        one variable at most.
        """
        lower, upper = self.lower.copy(), self.upper.copy()
        if left is not None:
            entries = self.linking.tocoo()
            room = np.maximum(left[entries.row], 0.0) / entries.data
            np.minimum.at(upper, entries.col, np.floor(room + INTEGRAL))
        for each in restrictions:
            mine = isinstance(each, VariableBound) and each.block in (None, self.name)
            j = self.places.get(each.variable) if mine else None
            if j is not None:
                lower[j], upper[j] = max(lower[j], each.lower), min(upper[j], each.upper)
        return lower, upper


@dataclass(frozen=True)
class Found:
    """The answer of a pricing problem.

    Attributes
    ----------
    bound : float
        Nothing costs less; inf where no point is left.
    points : list of ndarray
        The best first.
    """

    bound: float
    points: list[Vector]


class HighsBlock:
    """A block as a live model in HiGHS.

    Rows for pairs (Ryan and Foster) and for counted columns (Vanderbeck) come and go with the
    decisions of the node.

    Parameters
    ----------
    block : Block
    rows : sequence of hashable
        Names of the rows of the master.
    """

    def __init__(self, block: Block, rows: Sequence[Hashable]) -> None:
        self.block, self._all_rows = block, rows
        self._rows = {name: place for place, name in enumerate(rows)}
        self._n = len(block.variables)
        self._all = np.arange(self._n, dtype=np.int32)
        self._extra: tuple[Any, ...] = ()
        self._counts: list[Any] = []
        self._places: list[int] = []
        self._highs = quiet_highs()
        empty, nothing = np.zeros(0, dtype=np.int32), np.zeros(0)
        sizes = (self._n, block.cost, block.lower, block.upper, 0)
        self._call("addCols", *sizes, empty, empty, nothing)
        matrix = sp.csr_array(block.matrix)
        self._call(
            "addRows", len(block.row_lower), block.row_lower, block.row_upper, matrix.nnz,
            matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32), matrix.data,
        )  # fmt: skip
        kinds = block.integer.astype(np.uint8)
        self._call("changeColsIntegrality", self._n, self._all, kinds)
        for name, value in (
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", ZERO_REDUCED_COST),
            ("presolve", "off" if self._n < SMALL else "choose"),
        ):
            self._call("setOptionValue", name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has a new model."""
        return HighsBlock, (self.block, self._all_rows)

    def solve(
        self,
        cost: Vector,
        bounds: tuple[Vector, Vector],
        restrictions: Sequence[Any],
        duals: Any,
        seconds: float | None,
    ) -> Found:
        """The least cost over the integer points that a node allows."""
        lower, upper = bounds
        if (lower > upper).any():
            return Found(math.inf, [])
        counted = bool(self.block.integer.all())
        rows = (row for row in duals if counted and isinstance(row, ComponentRow))
        self._adapt(restrictions, tuple(rows))
        self._call("changeColsCost", self._n, self._all, cost)
        self._call("changeColsBounds", self._n, self._all, lower, upper)
        for place, row in enumerate(self._counts):
            self._call("changeColCost", self._places[place], -duals[row])
        limit = math.inf if seconds is None else self._highs.getRunTime() + seconds
        self._call("setOptionValue", "time_limit", limit)
        self._call("run")
        return self._found(cost)

    def _found(self, cost: Vector) -> Found:
        import highspy

        status, highs = self._highs.getModelStatus(), self._highs
        kinds = highspy.HighsModelStatus
        if status == kinds.kInfeasible:
            return Found(math.inf, [])
        if status == kinds.kTimeLimit:
            raise _OutOfTimeError("the time limit was reached in a pricing problem")
        if status in (kinds.kUnbounded, kinds.kUnboundedOrInfeasible):
            raise BlockError(
                f"the pricing problem of block {self.block.name!r} is unbounded, or has no point: "
                "extreme rays are not supported; give its variables bounds"
            )
        if status not in (kinds.kOptimal, kinds.kModelEmpty):
            raise BlockError(f"HiGHS ends block {self.block.name!r} with {status.name}")
        info = highs.getInfo()
        integer = bool(self.block.integer.any()) or bool(self._counts)
        best = info.objective_function_value
        bound = min(best, info.mip_dual_bound) if integer else best
        points = [np.array(highs.getSolution().col_value[: self._n])]
        if integer:
            saved = sorted(highs.getSavedMipSolutions(), key=lambda each: each.objective)
            points += [np.array(each.col_value[: self._n]) for each in saved[:SOLUTIONS]]
        points = [np.where(self.block.integer, np.round(z), z) for z in points]
        least = min(float(cost @ z) for z in points) if not self._counts else math.inf
        return Found(min(float(bound), least), points)

    def _adapt(self, restrictions: Sequence[Any], counted: tuple[Any, ...]) -> None:
        """Rows and variables for the decisions of this node, in place of those of the last one."""
        pairs = tuple(each for each in restrictions if isinstance(each, Together | Apart))
        if (*pairs, *counted) == self._extra:
            return
        n_rows, n = len(self.block.row_lower), self._n
        more = self._highs.getNumRow() - n_rows
        if more:
            self._call("deleteRows", more, np.arange(n_rows, n_rows + more, dtype=np.int32))
        more = self._highs.getNumCol() - n
        if more:
            self._call("deleteCols", more, np.arange(n, n + more, dtype=np.int32))
        self._extra, self._counts, self._places = (*pairs, *counted), list(counted), []
        for pair in pairs:
            (first, a), (second, b) = self._terms(pair.first), self._terms(pair.second)
            if isinstance(pair, Together):
                self._add(first, {j: -value for j, value in second.items()}, b - a, b - a)
            else:
                self._add(first, second, -math.inf, 1.0 - a - b)
        for row in counted:
            self._count(row)

    def _count(self, row: Any) -> None:
        """A binary variable that is 1 exactly if h_i ≥ v in all rows i of a set."""
        meets = []
        for name, value in sorted(row.least, key=str):
            (terms, constant), one = self._terms(name), self._binary()
            low, high, least = *self._range(terms), value - constant
            self._add(terms, {one: low - least}, low, math.inf)
            self._add(terms, {one: -(max(high, least) - least + 1)}, -math.inf, least - 1)
            meets.append(one)
        every = self._binary()
        self._places.append(every)
        for one in meets:
            self._add({every: 1.0}, {one: -1.0}, -math.inf, 0.0)
        self._add({every: 1.0}, dict.fromkeys(meets, -1.0), 1.0 - len(meets), math.inf)

    def _range(self, terms: dict[int, float]) -> tuple[float, float]:
        """Ends of a linear function over the bounds, where these are infinite over the block."""
        values, at = np.array(list(terms.values())), np.array(list(terms), dtype=np.intp)
        ends = values * self.block.lower[at], values * self.block.upper[at]
        low, high = np.minimum(*ends).sum(), np.maximum(*ends).sum()
        return (
            float(low) if math.isfinite(low) else self._least(terms, 1.0),
            float(high) if math.isfinite(high) else -self._least(terms, -1.0),
        )

    def _least(self, terms: dict[int, float], sign: float) -> float:
        """A whole number that is no more than a linear function, times a sign, over the block."""
        cost, own = np.zeros(self._n), self.block
        cost[list(terms)] = [sign * a for a in terms.values()]
        program = Program(cost, own.matrix, own.row_lower, own.row_upper, own.lower, own.upper)
        try:
            return float(math.floor(solve(program, "highs").objective + INTEGRAL))
        except SolverError as error:
            raise BlockError(
                f"a row of the master has no finite range over block {self.block.name!r}, so that "
                "columns cannot be counted by it; give the block's variables bounds"
            ) from error

    def _terms(self, row: Hashable) -> tuple[dict[int, float], float]:
        """A row of the master as a function of the variables: coefficients and constant."""
        place = self._rows[row]
        own = self.block.linking
        inside = slice(own.indptr[place], own.indptr[place + 1])
        terms = dict(zip(own.indices[inside].tolist(), own.data[inside].tolist(), strict=True))
        return terms, float(place == self.block.convexity)

    def _binary(self) -> int:
        import highspy

        place = int(self._highs.getNumCol())
        empty, nothing = np.zeros(0, dtype=np.int32), np.zeros(0)
        self._call("addCol", 0.0, 0.0, 1.0, 0, empty, nothing)
        self._call("changeColIntegrality", place, highspy.HighsVarType.kInteger)
        return place

    def _add(
        self, first: dict[int, float], second: dict[int, float], low: float, high: float
    ) -> None:
        terms = dict(first)
        for j, a in second.items():
            terms[j] = terms.get(j, 0.0) + a
        index = np.array(list(terms), dtype=np.int32)
        self._call("addRow", low, high, len(terms), index, np.array(list(terms.values()), float))

    def _call(self, name: str, *arguments: Any) -> None:
        checked(getattr(self._highs, name)(*arguments), f"{name} in block {self.block.name!r}")


SMALL = 50
"""Blocks with fewer variables are solved without presolving."""

SOLUTIONS = 5
"""Solutions that HiGHS met on the way and that become columns too, at most, from each block."""


class KnapsackBlock:
    """A block with one row of whole, positive weights, solved by dynamic programming.

    A 0/1 variable may open the capacity, ``Σ w_v z_v − C y ≤ 0``: both values of y are tried.

    Parameters
    ----------
    block : Block
    rows : sequence of hashable
        Of the master; decisions on rows are left to HiGHS.
    """

    def __init__(self, block: Block, rows: Sequence[Hashable]) -> None:
        self.block, self._all = block, rows
        self._general: HighsBlock | None = None
        self._weights = np.zeros(len(block.variables))
        own = sp.csr_array(block.matrix)
        self._weights[own.indices] = own.data
        self._switch = next(iter(np.flatnonzero(self._weights < 0).tolist()), None)
        self._capacity = float(block.row_upper[0])

    @staticmethod
    def fits(block: Block) -> bool:
        """Whether a block is such a knapsack."""
        if len(block.row_upper) != 1 or not block.integer.all() or (block.lower != 0).any():
            return False
        values = sp.csr_array(block.matrix).toarray()[0]
        high, negative = float(block.row_upper[0]), np.flatnonzero(values < 0)
        if math.isfinite(block.row_lower[0]) or not math.isfinite(high) or high < 0:
            return False
        if (values != np.round(values)).any() or (np.isinf(block.upper) & (values == 0)).any():
            return False
        if len(negative) > 1:
            return False
        capacity = high - float(values[negative].sum())
        if len(negative) and (high != 0 or block.upper[negative[0]] != 1):
            return False
        most = np.minimum(block.upper, capacity // np.where(values > 0, values, math.inf))
        items = np.log2(most[values > 0] + 1).sum()
        return bool(capacity * max(1.0, items) <= MOST_CAPACITY * 100)

    def solve(
        self,
        cost: Vector,
        bounds: tuple[Vector, Vector],
        restrictions: Sequence[Any],
        duals: Any,
        seconds: float | None,
    ) -> Found:
        """The least cost over the integer points that a node allows."""
        if any(isinstance(each, Together | Apart) for each in restrictions) or any(
            isinstance(row, ComponentRow) for row in duals
        ):
            if self._general is None:
                self._general = HighsBlock(self.block, self._all)
            return self._general.solve(cost, bounds, restrictions, duals, seconds)
        lower, upper = bounds
        lower, upper = np.ceil(lower - INTEGRAL), np.floor(upper + INTEGRAL)
        if (lower > upper).any():
            return Found(math.inf, [])
        points = []
        if self._switch is None:
            points.append(self._filled(cost, lower, upper, self._capacity))
        else:
            for on in (0.0, 1.0):
                if lower[self._switch] <= on <= upper[self._switch]:
                    low, high = lower.copy(), upper.copy()
                    low[self._switch] = high[self._switch] = on
                    points.append(self._filled(cost, low, high, 0.0))
        known = [point for point in points if point is not None]
        known.sort(key=lambda point: float(cost @ point))
        return Found(float(cost @ known[0]) if known else math.inf, known)

    def _filled(self, cost: Vector, lower: Vector, upper: Vector, capacity: float) -> Vector | None:
        """The cheapest point between bounds."""
        weights = self._weights
        left = capacity - float(weights @ lower)
        if left < 0:
            return None
        room = int(left)
        z = lower.copy()
        free = weights == 0
        z[free & (cost < 0)] = upper[free & (cost < 0)]
        own = np.flatnonzero((weights > 0) & (cost < 0) & (upper > lower))
        most = np.minimum(upper[own] - lower[own], room // weights[own])
        z[own] += solve_knapsack(-cost[own], weights[own], room, most)[0]
        return z


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
        self.problems: list[KnapsackBlock | HighsBlock] = [
            KnapsackBlock(block, rows) if KnapsackBlock.fits(block) else HighsBlock(block, rows)
            for block in blocks
        ]

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
            try:
                answer = problem.solve(
                    cost,
                    block.bounds(duals.restrictions, duals.rhs if self._residual else None),
                    duals.restrictions,
                    duals.extra,
                    self.seconds_left,
                )
            except _OutOfTimeError:
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
