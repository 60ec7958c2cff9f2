"""A block as a live model in HiGHS, of which only the costs and the bounds change."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from cgboost._solvers import LimitError, Program, SolverError, run_interruptible, solve
from cgboost.arrays import Vector
from cgboost.generation.protocols import ZERO_REDUCED_COST
from cgboost.integer.branching.decisions import Apart, ComponentRow, Together
from cgboost.integer.branching.rules import INTEGRAL
from cgboost.integer.decomposition.model import checked, filled_highs, set_options
from cgboost.integer.decomposition.pricing.block import (
    NO_POINT,
    Block,
    BlockError,
    BlockRequest,
    BlockTimeError,
    Found,
)

logger = logging.getLogger(__name__)

SMALL = 50
"""Blocks with fewer variables are solved without presolving."""

MIXED_FEASIBILITY = 1e-9
"""What rows and whole numbers may be missed by where whole and continuous variables have a row in
common: x ≤ 1000 y with y = 1e-6, which is then made 0, would leave an x of a thousandth."""

KNOWN_POINTS = 200
"""Points that a block remembers, the last ones, against which every optimum is held."""

SOLUTIONS = 5
"""Solutions that HiGHS met on the way and that become columns too, at most, from each block."""


class HighsBlock:
    """A block as a live model in HiGHS.

    Rows for pairs (Ryan and Foster) and for counted columns (Vanderbeck) come and go with the
    decisions of the node.

    Parameters
    ----------
    rows : sequence of hashable
        Names of the rows of the master.
    afresh : bool, default=False
        Whether answers do not depend on what was asked before. A block without integer variables
        begins with its last basis otherwise, which takes a quarter of the time, and leads to
        another of several best points.

    Attributes
    ----------
    waiting : callable or None
        Called while HiGHS solves a problem; true ends it without result.
    """

    def __init__(self, block: Block, rows: Sequence[Hashable], *, afresh: bool = False) -> None:
        self._afresh = afresh
        self.waiting: Callable[[], bool] | None = None
        self.block, self._all_rows = block, rows
        self._rows = {name: place for place, name in enumerate(rows)}
        self._n = len(block.variables)
        self._all = np.arange(self._n, dtype=np.int32)
        self._known, self._end = np.zeros((0, self._n)), math.inf
        self._open()

    def _open(self) -> None:
        """A new model."""
        block = self.block
        self._extra: tuple[Any, ...] = ()
        self._counts: list[Any] = []
        self._places: list[int] = []
        self._highs = filled_highs(
            f"block {block.name!r}",
            block.cost,
            (block.lower, block.upper),
            sp.csr_array(block.matrix),
            (block.row_lower, block.row_upper),
            block.integer,
        )
        presolve = "off" if self._n < SMALL else "choose"
        set_options(self._highs, mip_rel_gap=0.0, mip_abs_gap=ZERO_REDUCED_COST, presolve=presolve)
        if block.integer.any() and not block.integer.all():
            set_options(
                self._highs,
                mip_feasibility_tolerance=MIXED_FEASIBILITY,
                primal_feasibility_tolerance=MIXED_FEASIBILITY,
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has a new model."""
        return partial(HighsBlock, afresh=self._afresh), (self.block, self._all_rows)

    def solve(self, request: BlockRequest) -> Found:
        """The least cost over the integer points that a node allows."""
        if (request.lower > request.upper).any():
            return NO_POINT
        self._end = time.perf_counter() + (math.inf if request.seconds is None else request.seconds)
        if self._afresh:  # clearSolver leaves something of the last run
            self._open()
        counted = self.block.discrete
        rows = (row for row in request.duals if counted and isinstance(row, ComponentRow))
        self._adapt(request.restrictions, tuple(rows))
        self._call("changeColsCost", self._n, self._all, request.cost)
        self._call("changeColsBounds", self._n, self._all, request.lower, request.upper)
        for place, row in enumerate(self._counts):
            self._call("changeColCost", self._places[place], -request.duals[row])
        self._run()
        if self._highs.getModelStatus().name == "kUnboundedOrInfeasible":
            _, presolve = self._highs.getOptionValue("presolve")
            set_options(self._highs, presolve="off")
            self._run()
            set_options(self._highs, presolve=presolve)
        return self._held_against_known(request, self._found(request.cost))

    def _held_against_known(self, request: BlockRequest, found: Found) -> Found:
        """The answer, unless a point that was found before costs less: then it proves nothing.

        A solver may call a worse point optimal, as highspy 1.14.0 did.
        """
        known = self._known
        if not self._extra and len(known):  # pairs and counted columns ask for more than bounds
            allowed = ((known >= request.lower) & (known <= request.upper)).all(axis=1)
            costs = np.where(allowed, known @ request.cost, math.inf)
            best = int(costs.argmin())
            size = float(np.abs(known[best]) @ np.abs(request.cost))
            if costs[best] < found.bound - INTEGRAL * max(1.0, size):
                logger.warning(
                    "the pricing problem of block %r is called optimal at %.6g, and a point that "
                    "was found before costs %.6g: nothing is proved by it",
                    self.block.name, found.bound, costs[best],
                )  # fmt: skip
                return Found(-math.inf, [known[best], *found.points])
        if found.points:
            self._known = np.vstack([known, *found.points])[-KNOWN_POINTS:]
        return found

    @property
    def _seconds_left(self) -> float:
        """For the present request."""
        return max(0.0, self._end - time.perf_counter())

    def _run(self) -> None:
        """Solve the problem, for as long as there is time."""
        used = 0.0 if self._is_mixed else self._highs.getRunTime()  # of a linear program: for life
        set_options(self._highs, time_limit=used + self._seconds_left)
        if run_interruptible(self._highs, self.waiting or bool):
            raise KeyboardInterrupt

    @property
    def _is_mixed(self) -> bool:
        """Whether some variable of the model has to be whole."""
        return bool(self.block.integer.any()) or bool(self._counts)

    def _found(self, cost: Vector) -> Found:
        import highspy

        status, highs = self._highs.getModelStatus(), self._highs
        kinds = highspy.HighsModelStatus
        if status == kinds.kInfeasible:
            return NO_POINT
        if status in (kinds.kTimeLimit, kinds.kInterrupt):
            raise BlockTimeError("the time limit was reached in a pricing problem")
        if status in (kinds.kUnbounded, kinds.kUnboundedOrInfeasible):
            raise BlockError(
                f"the pricing problem of block {self.block.name!r}, with {self.block.some}, is "
                "unbounded, or has no point, though no direction shows it: give its variables "
                "bounds"
            )
        if status not in (kinds.kOptimal, kinds.kModelEmpty):
            raise BlockError(f"HiGHS ends block {self.block.name!r} with {status.name}")
        info = highs.getInfo()
        integer = self._is_mixed
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
        """Rows and variables for the decisions of this node, instead of those of the last one."""
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
            found = solve(program, "highs", time_limit=self._seconds_left)
            return float(math.floor(found.objective + INTEGRAL))
        except LimitError as error:
            raise BlockTimeError("the time limit was reached in a pricing problem") from error
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
