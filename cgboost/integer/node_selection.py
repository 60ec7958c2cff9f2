"""Node selection: the choice of the next open node of a tree."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cgboost.integer.branching.decisions import Decision, Row, check_whole


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the tree.

    Attributes
    ----------
    number : int
        In the order of creation; the root is 0.
    parent : int
        −1 for the root.
    decisions : tuple of Decision
        From the root to this node.
    bound : float
        Lower bound on all integer solutions below the node; initially the bound of the parent.
    depth : int
    near : tuple or None
        Duals of the parent, to choose the initial columns of the node.
    at_most : float
        Only solutions up to this cost are searched; another node has the others.
    n_divided : int
        Number of times that the solutions of least cost were separated from the others.
    """

    number: int
    parent: int = -1
    decisions: tuple[Decision, ...] = ()
    bound: float = float("-inf")
    depth: int = 0
    near: object = None
    at_most: float = float("inf")
    n_divided: int = 0

    @property
    def rows(self) -> tuple[Row, ...]:
        """The decisions that are rows of the master."""
        return tuple(d for d in self.decisions if isinstance(d, Row))


class NodeSelection(Protocol):
    """The open nodes."""

    def start(self) -> None:
        """Forget the last run."""
        ...

    def push(self, nodes: Sequence[Node]) -> None:
        """Take in the children of a node, the most promising first."""
        ...

    def pop(self) -> Node:
        """The next node."""
        ...

    def nodes(self) -> Sequence[Node]:
        """All open nodes."""
        ...


@dataclass
class BestBound:
    """The node with the smallest bound; among ties the deepest, and among these the first child."""

    _heap: list[tuple[float, int, int, Node]] = field(default_factory=list, init=False)

    def start(self) -> None:
        """Forget the last run."""
        self._heap.clear()

    def push(self, nodes: Sequence[Node]) -> None:
        """See :class:`NodeSelection`."""
        for node in nodes:
            heapq.heappush(self._heap, (node.bound, -node.depth, node.number, node))

    def pop(self) -> Node:
        """See :class:`NodeSelection`."""
        return heapq.heappop(self._heap)[-1]

    def nodes(self) -> Sequence[Node]:
        """See :class:`NodeSelection`."""
        return [entry[-1] for entry in self._heap]


@dataclass
class DepthFirst:
    """The first child of the last divided node: early solutions, but a late bound.

    Parameters
    ----------
    max_dive : int, default=100
        After this many nodes, the search continues from the node with the smallest bound; a count
        without an upper bound could otherwise be increased forever.
    """

    max_dive: int = 100
    _stack: list[Node] = field(default_factory=list, init=False)
    _taken: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        check_whole("max_dive", self.max_dive, 1)

    def start(self) -> None:
        """Forget the last run."""
        self._stack.clear()
        self._taken = 0

    def push(self, nodes: Sequence[Node]) -> None:
        """See :class:`NodeSelection`."""
        self._stack.extend(reversed(nodes))

    def pop(self) -> Node:
        """See :class:`NodeSelection`."""
        self._taken += 1
        if self._taken % self.max_dive:
            return self._stack.pop()
        least = min(range(len(self._stack)), key=lambda k: self._stack[k].bound)
        return self._stack.pop(least)

    def nodes(self) -> Sequence[Node]:
        """See :class:`NodeSelection`."""
        return list(self._stack)
