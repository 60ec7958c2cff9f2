"""Callbacks of a tree search that see values of the model, not those of its columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cgboost.generation.callbacks import ClosingCallback
from cgboost.integer.reporting.callbacks import FinishingCallback, TreeState, WaitingCallback
from cgboost.integer.result import BranchAndPriceResult


@dataclass(frozen=True)
class OwnSense:
    """A callback whose objective and bound have the sense and the constant of the model.

    Attributes
    ----------
    callback : callable
        As for :class:`~cgboost.BranchAndPrice`.
    value : callable
        The value in the model of one in the search, which minimises.
    """

    callback: Callable[[TreeState], Any]
    value: Callable[[float], float]

    def __call__(self, state: TreeState) -> Any:
        """A node is done."""
        return self.callback(self._translated(state))

    def waiting(self, state: TreeState) -> None:
        """A round of a node is done."""
        if isinstance(self.callback, WaitingCallback):
            self.callback.waiting(self._translated(state))

    def finish(self, result: BranchAndPriceResult) -> None:
        """The search has ended."""
        if isinstance(self.callback, FinishingCallback):
            bound = None if result.bound is None else self.value(result.bound)
            objective = self.value(result.objective)
            self.callback.finish(replace(result, objective=objective, bound=bound))

    def close(self) -> None:
        """Give back what it holds."""
        if isinstance(self.callback, ClosingCallback):
            self.callback.close()

    def _translated(self, state: TreeState) -> TreeState:
        bound, objective = self.value(state.bound), self.value(state.objective)
        return replace(state, bound=bound, objective=objective)
