"""The record of a tree search, from which it can go on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import ResumeError
from cgboost.generation.columns import Column
from cgboost.integer.branching.decisions import Row
from cgboost.integer.node_selection import Node


@dataclass
class SearchRecord:
    """A tree search between two nodes, or between two rounds of a relaxation.

    Attributes
    ----------
    columns : list of Column
        The pool.
    divided : ndarray of bool of shape (n_rows,)
    incumbent : dict of int to float
    solutions : list
        The best ones.
    nodes : list of Node
        Open ones; the node that was being solved is one of them.
    tree : object
        The table and the closed nodes.
    counts : tuple of int
        Relaxations, pricings and probes so far.
    strong : dict or None
        What strong branching has learned.
    objective_step : float or None
        Bounds are rounded up to its multiples.
    integer : frozenset of hashable
        Variables that must be integer in a solution.
    """

    columns: list[Column]
    divided: NDArray[np.bool_]
    incumbent: dict[int, float]
    objective: float
    found_by: str
    solutions: list[tuple[float, dict[int, float], str]]
    root_duals: Any
    nodes: list[Node]
    cuts: list[Row]
    tree: Any
    counts: tuple[int, int, int]
    seconds: float
    strong: dict[str, Any] | None
    objective_step: float | None = None
    integer: frozenset[Hashable] = frozenset()

    @classmethod
    def of(cls, own: Any) -> SearchRecord:
        """Where a search is now."""
        search, strong = own.search, own.what.strong_branching
        nodes = [*own.open.nodes(), *reversed(own.waiting)]
        if own.current is not None:
            nodes.append(own.current)
        return cls(
            columns=search.pool.columns,
            divided=search.pool.divided,
            incumbent=search.incumbent,
            objective=search.objective,
            found_by=search.found_by,
            solutions=search.solutions,
            root_duals=search.root_duals,
            nodes=nodes,
            cuts=list(own.cuts),
            tree=own.tree,
            counts=(search.n_relaxations, search.n_pricings, search.n_probes),
            seconds=search.seconds,
            strong=None if strong is None else {k: _plain(v) for k, v in vars(strong).items()},
            objective_step=own.what.objective_step,
            integer=search.integer,
        )

    def restore(self, own: Any) -> None:
        """Bring a new search of the same problem there.

        Raises
        ------
        ResumeError
            With another ``objective_step``: bounds have been rounded by that of the file. With
            other integer variables: nodes have been closed by solutions that need not be any.
        """
        if own.what.objective_step != self.objective_step:
            raise ResumeError(
                f"the search in the checkpoint had objective_step={self.objective_step!r}, got "
                f"{own.what.objective_step!r}: its bounds are rounded by that; begin anew"
            )
        search, strong = own.search, own.what.strong_branching
        if search.integer != self.integer:
            raise ResumeError(
                f"the search in the checkpoint had the integer variables {_some(self.integer)}, "
                f"got {_some(search.integer)}: give its VariableBranching(integer=…), or begin anew"
            )
        search.pool.add(self.columns)
        search.pool.divided[:] = self.divided
        search.n_combined = len(search.pool)  # a limit that is used up already is one
        search.incumbent, search.objective = self.incumbent, self.objective
        search.found_by, search.solutions = self.found_by, self.solutions
        search.root_duals = self.root_duals
        search.n_relaxations, search.n_pricings, search.n_probes = self.counts
        search.started -= self.seconds
        own.tree, own.cuts = self.tree, dict.fromkeys(self.cuts)
        own.open.push(list(reversed(self.nodes)))
        if strong is not None and self.strong is not None:
            for name, value in self.strong.items():
                known = getattr(strong, name)
                if isinstance(known, defaultdict):
                    known.update(value)
                else:
                    setattr(strong, name, value)


def _some(names: frozenset[Hashable]) -> str:
    """A few names, for messages."""
    found = sorted(map(repr, names))
    return f"{', '.join(found[:3])}{', …' if len(found) > 3 else ''}" if found else "none"


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, defaultdict) else value
