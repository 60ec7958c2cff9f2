"""The log of a tree search: a table of lines, and on a terminal a live line below them."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from cgboost.generation.live_line import Reporter, bar_of_width, duration, gap_in_words
from cgboost.generation.progress import IN_WORDS, columns_in_words
from cgboost.integer.reporting.callbacks import TreeState
from cgboost.integer.result import BranchAndPriceResult

WIDTHS = {"time": 9, "nodes": 6, "open": 5, "columns": 7, "bound": 15, "best": 15, "gap": 7}
"""Columns of the table of a log, and their widths."""

RARER = 10
"""Lines of the table on a terminal, where a live line is redrawn below it: one in so many
intervals."""

STATUSES = ("branched", "cut_off", "integral", "infeasible", "undivided", "unfinished")


class TreeProgress(Reporter):
    """The log of a search: time, nodes, the bound, the best solution and who has found it.

    A callback of :class:`~cgboost.BranchAndPrice`, which ``verbose=1`` adds. It is also called
    between the rounds of a node; in the root, it shows the bound of the rounds so far. A line is
    written every ``interval`` seconds, and for every better solution; on a terminal, and in a
    notebook with ipywidgets, a live line is redrawn below them, and lines are rarer. The last lines
    have the result and the totals.

    Parameters
    ----------
    label : str, default=""
        Prefix of every line, followed by a space.
    interval : float, default=2.0
        Seconds between lines without a terminal.
    console : rich.console.Console or None
        Where to write; None means the standard error stream.
    every_node : bool, default=False
        Whether every node has a line.
    """

    def __init__(
        self,
        label: str = "",
        *,
        interval: float = 2.0,
        console: Any = None,
        every_node: bool = False,
    ) -> None:
        self.every_node = every_node
        super().__init__(f"{label.rstrip()} " if label.strip() else "", interval, console)

    def _start_afresh(self) -> None:
        super()._start_afresh()
        self._seconds, self._has_head = 0.0, False
        self._best: float | None = None

    def __call__(self, state: TreeState) -> None:
        """A node is done."""
        self._show(state, is_node=True)

    def waiting(self, state: TreeState) -> None:
        """Show where the search is."""
        self._show(state)

    def _show(self, state: TreeState, *, is_node: bool = False) -> None:
        if state.seconds < self._seconds:  # another run
            self.close()
            self._start_afresh()
        self._seconds = state.seconds
        is_better = math.isfinite(state.objective) and state.objective != self._best
        pause = RARER * self.interval if self._is_lively else self.interval
        is_due = state.seconds - self._written >= pause
        if is_better or is_due or (self.every_node and is_node):
            self._best = state.objective
            self._written = state.seconds
            self._write_row(state, state.found_by if is_better else "")
        if self._is_due(state.seconds):
            words = _in_words(self.label, state)
            task = {"description": words, "words": "", "completed": 0.0, "total": None}
            self._draw(bar_of_width(1), task)

    def _write_row(self, state: TreeState, found_by: str) -> None:
        """A line of the table, below its head."""
        if not self._has_head:
            self._has_head = True
            head = " ".join(f"{name:>{width}}" for name, width in WIDTHS.items())
            self._write(f"{self.label}{head}  found by")
        cells = (
            duration(state.seconds) if state.seconds >= 600 else f"{state.seconds:.1f} s",
            state.n_nodes,
            state.n_open,
            state.n_columns,
            _number(state.bound),
            _number(state.objective),
            gap_in_words(state.gap) if math.isfinite(state.gap) else "",
        )
        pairs = zip(cells, WIDTHS.values(), strict=True)
        row = " ".join(f"{cell:>{width}}" for cell, width in pairs)
        self._write(f"{self.label}{row}  {found_by}".rstrip())

    def finish(self, result: BranchAndPriceResult) -> None:
        """Write the result and the totals."""
        self.close()
        self._write(
            f"{self.label}{IN_WORDS[result.stop_reason]} after {_nodes(result.n_nodes)}, "
            f"{result.seconds:.1f} s: "
            f"objective {_number(result.objective)}, bound {_number(result.bound)}, gap "
            f"{gap_in_words(result.gap)}, {columns_in_words(result.n_generated)}"
        )
        if totals := _totals(result):
            self._write(f"{self.label}{totals}")


def _totals(result: BranchAndPriceResult) -> str:
    """Nodes by outcome, and when the best solution was there."""
    counts = Counter(result.tree["status"].tolist())
    parts = [f"{counts[own]} {own.replace('_', ' ')}" for own in STATUSES if counts[own]]
    words = [f"nodes: {', '.join(parts)}"] if parts else []
    if len(result.columns):
        words.append(f"solution of {columns_in_words(len(result.columns))}")
        own = result.tree["incumbent"]
        if len(own) and np.isfinite(own[-1]):
            seconds = float(result.tree["seconds"][np.argmax(own == own[-1])])
            words.append(f"best from {seconds:.1f} s on")
    return "; ".join(words)


def _in_words(label: str, state: TreeState) -> str:
    return (
        f"{label}{_nodes(state.n_nodes)}, {state.n_open} open, bound {_number(state.bound)}, best "
        f"{_number(state.objective)}, gap {gap_in_words(state.gap)}, "
        f"{columns_in_words(state.n_columns)}, {duration(state.seconds)}"
    )


def _nodes(number: int) -> str:
    return "1 node" if number == 1 else f"{number} nodes"


def _number(value: float | None) -> str:
    return "none" if value is None or not math.isfinite(value) else f"{value:.8g}"
