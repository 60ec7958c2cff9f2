"""The pricing problem of a block: a special algorithm where one fits, HiGHS otherwise.

Where a block has directions without end, they are asked for first; where costs fall in none of
them, some point is the best.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

from cgboost.integer.decomposition.pricing.assignment_block import AssignmentBlock
from cgboost.integer.decomposition.pricing.block import (
    NO_POINT,
    Block,
    BlockRequest,
    BlockSolver,
    Found,
)
from cgboost.integer.decomposition.pricing.conflict_block import ConflictBlock
from cgboost.integer.decomposition.pricing.highs_block import HighsBlock
from cgboost.integer.decomposition.pricing.knapsack_block import KnapsackBlock
from cgboost.integer.decomposition.pricing.path_block import PathBlock
from cgboost.integer.decomposition.pricing.ray_problem import RayProblem

SPECIAL: tuple[type[BlockSolver], ...] = (
    KnapsackBlock,
    PathBlock,
    AssignmentBlock,
    ConflictBlock,
)
"""Special algorithms; the first that fits a block is taken."""


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

    def solve(self, request: BlockRequest) -> Found:
        """The least cost over the integer points that a node allows."""
        if (request.lower > request.upper).any():
            return NO_POINT
        started = time.perf_counter()
        if self._rays is not None:
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
