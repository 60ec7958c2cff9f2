"""What a tree search tells while it runs: its state after every node, also in other values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cgboost.generation.callbacks import Callback
from cgboost.integer.result import BranchAndPriceResult


@dataclass(frozen=True)
class TreeState:
    """What callbacks of a tree search see after every node.

    Attributes
    ----------
    n_nodes, n_open : int
        Nodes done, and open ones.
    bound, objective, gap : float
        The bound holds for all solutions, also between the rounds of the root.
    n_columns : int
        In the pool.
    seconds : float
        Since the start.
    found_by : str
        What has found the best solution: a heuristic, "node" or "start"; empty while there is none.
    """

    n_nodes: int
    n_open: int
    bound: float
    objective: float
    gap: float
    n_columns: int
    seconds: float
    found_by: str = ""


class OwnSense(Callback):
    """A callback whose objective and bound have the sense and the constant of a model.

    Parameters
    ----------
    callback : Callback
        One that keeps no records: these are of the search, from which it goes on.
    value : callable
        The value in the model of one in the search, which minimises.
    ended : callable
        What has come of the search, from its result.
    """

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
