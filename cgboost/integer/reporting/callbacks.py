"""What a tree search tells while it runs: its state after every node."""

from __future__ import annotations

from dataclasses import dataclass


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
