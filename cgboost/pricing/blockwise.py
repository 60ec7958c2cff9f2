"""One pricer of many independent subproblems, solved on an executor or one after another."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from cgboost.forks import cached_property
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import Duals, FunctionPricer, unpacked
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.parallel.executors import Executor
from cgboost.parallel.item_tasks import ItemTasks

PriceBlock = Callable[[Duals, Any], Any]
"""``price_block(duals, block)`` → columns, (columns, bound) or (columns, bound, exact)."""


class BlockwisePricer(Memoryless):
    """Prices blocks, each by a call of the same function, on an executor if there is one.

    The columns, their order and the bound are the same wherever a block is priced, as long as
    ``price_block`` depends on its arguments alone.

    Parameters
    ----------
    price_block : callable
        ``price_block(duals, block)`` returns what a
        :class:`~cgboost.generation.function_pricer.FunctionPricer` returns, for the columns of one
        block: ``(columns, bound)``, the bound being the least reduced cost of this block's columns.
        What it respects (``@respects``) the pricer respects. If it has an attribute
        ``seconds_left``, that is set before each call. What it keeps, such as live models by
        block, is kept in every worker.
    blocks : sequence or mapping
        Names of the blocks: those of their convexity rows, so that each has its own bound, or any
        others. A mapping gives what ``price_block`` is called with for each name.
    executor : Executor, concurrent.futures.Executor or None
        See :mod:`cgboost.parallel`. In processes and on a Dask cluster ``price_block`` and blocks
        are sent once; functions within functions can be. On threads ``price_block`` is called
        several times at once. None: one block after another.

    Examples
    --------
    >>> from cgboost.pricing import BlockwisePricer
    >>> def price_block(duals, block):
    ...     return [], 0.0
    >>> pricer = BlockwisePricer(price_block, ["machine 1", "machine 2"])
    """

    def __init__(
        self,
        price_block: PriceBlock,
        blocks: Sequence[Hashable] | Mapping[Hashable, Any],
        executor: Executor | futures.Executor | None = None,
    ) -> None:
        if not callable(price_block):
            raise TypeError(f"price_block must be callable, got {price_block!r}")
        self.price_block = price_block
        self.blocks = dict(blocks) if isinstance(blocks, Mapping) else {b: b for b in blocks}
        if not self.blocks or len(self.blocks) != len(blocks):
            raise ValueError("blocks must be names, at least one and none twice")
        self.seconds_left: float | None = None
        self._tasks = ItemTasks(_Priced(price_block), list(self.blocks.values()), executor)

    @property
    def respects(self) -> tuple[type, ...]:
        """The kinds of decisions that ``price_block`` says it respects."""
        return tuple(getattr(self.price_block, "respects", ()))

    def price(self, state: MasterState, limit: int) -> Priced:
        """The ``limit`` columns of least reduced cost of all blocks, and the bound of each."""
        answers = self._tasks.answers(PricingQuery(sendable_state(state), self.seconds_left))
        columns = [column for own, _, _ in answers for column in own]
        bounds: dict[Hashable, float] = {}
        for name, (own, bound, exact) in zip(self.blocks, answers, strict=True):
            bounds[name] = (0.0 if exact and not own else math.nan) if bound is None else bound
        exact = all(each for _, _, each in answers)
        return FunctionPricer(lambda _: (columns, _together(bounds, state), exact)).price(
            state, limit
        )

    def close(self) -> None:
        """Leave nothing behind with the workers of the executor."""
        self._tasks.close()


@dataclass(frozen=True, eq=False)
class PricingQuery:
    """What all blocks are asked in one pass.

    Attributes
    ----------
    seconds : float or None
        Time limit of the pass.
    """

    state: MasterState
    seconds: float | None

    @cached_property
    def duals(self) -> Duals:
        """The duals, with the names of the rows and the decisions."""
        return Duals.of_state(self.state)


def sendable_state(state: MasterState) -> MasterState:
    """What pricing functions see of a state: duals, rows, decisions, and the capped columns."""
    nothing = np.zeros(0)
    capped: list[Column] = [column for column in state.columns if math.isfinite(column.upper)]
    return replace(
        state, columns=capped, coef=nothing, output=nothing, slack=nothing, left=0, curvature=None
    )


class _Priced:
    """``price_block`` as work on an item."""

    def __init__(self, price_block: Any) -> None:
        self._price_block = price_block

    def __call__(self, query: PricingQuery, block: Any) -> Any:
        price_block: Any = self._price_block
        if hasattr(price_block, "seconds_left"):
            price_block.seconds_left = query.seconds
        columns, bound, exact = unpacked(price_block(query.duals, block))
        if bound is not None and not (isinstance(bound, Real) and bound == bound):
            raise ValueError(f"the bound of a block must be a number or None, got {bound!r}")
        return columns, bound, exact


def _together(bounds: Mapping[Hashable, float], state: MasterState) -> Any:
    """Bounds of blocks by their convexity rows, the least if these are no rows; None if unknown."""
    if any(math.isnan(bound) for bound in bounds.values()):
        return None
    rows = () if state.rows is None else state.rows
    return dict(bounds) if set(bounds) <= set(rows) else min(bounds.values())
