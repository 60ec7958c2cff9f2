"""Callbacks of a tree search that see values of the model, not those of its columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cgboost.generation.callbacks import Callback, as_callback, keeps_records
from cgboost.integer.reporting.callbacks import TreeState
from cgboost.integer.result import BranchAndPriceResult


def in_own_sense(
    callback: Callable[[TreeState], Any],
    value: Callable[[float], float],
    ended: Callable[[BranchAndPriceResult], BranchAndPriceResult],
) -> Callback:
    """A callback whose objective and bound have the sense and the constant of the model.

    One that keeps records gets those of the search, from which this goes on.

    Parameters
    ----------
    callback : callable
        As for :class:`~cgboost.BranchAndPrice`.
    value : callable
        The value in the model of one in the search, which minimises.
    ended : callable
        What has come of the search, from its result.
    """
    own = as_callback(callback)
    return own if keeps_records(own) else OwnSense(own, value, ended)


class OwnSense(Callback):
    """See :func:`in_own_sense`."""

    def __init__(
        self,
        callback: Callback,
        value: Callable[[float], float],
        ended: Callable[[BranchAndPriceResult], BranchAndPriceResult],
    ) -> None:
        self.callback, self.value, self.ended = callback, value, ended

    def __call__(self, current: TreeState) -> Any:
        """A node is done."""
        return self.callback(self._translated(current))

    def waiting(self, state: TreeState) -> Any:
        """A round of a node is done."""
        return self.callback.waiting(self._translated(state))

    def finish(self, result: BranchAndPriceResult) -> None:
        """The search has ended."""
        result = self.ended(result)
        bound = None if result.bound is None else self.value(result.bound)
        objective = self.value(result.objective)
        self.callback.finish(replace(result, objective=objective, bound=bound))

    def close(self) -> None:
        """Give back what it holds."""
        self.callback.close()

    def _translated(self, state: TreeState) -> TreeState:
        bound, objective = self.value(state.bound), self.value(state.objective)
        return replace(state, bound=bound, objective=objective)
