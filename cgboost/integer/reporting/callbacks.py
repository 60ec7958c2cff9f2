"""What a tree search tells while it runs: its state after every node, and the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

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
    """

    n_nodes: int
    n_open: int
    bound: float
    objective: float
    gap: float
    n_columns: int
    seconds: float


@runtime_checkable
class WaitingCallback(Protocol):
    """A callback that is called between the rounds of a node, too: one node may take long."""

    def waiting(self, state: TreeState) -> None:
        """Called after every round of every relaxation."""
        ...


@runtime_checkable
class FinishingCallback(Protocol):
    """A callback that is told of the end."""

    def finish(self, result: BranchAndPriceResult) -> None:
        """Called once with the result, where there is one."""
        ...
