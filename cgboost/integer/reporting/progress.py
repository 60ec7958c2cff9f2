"""Progress of a tree search: a live line on a terminal or in a notebook, else plain lines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cgboost.generation.callbacks import Callback
from cgboost.generation.live_line import (
    bar_of_width,
    can_redraw,
    duration,
    error_console,
    gap_in_words,
    started,
)
from cgboost.generation.progress import IN_WORDS, REDRAWN
from cgboost.integer.reporting.callbacks import TreeState
from cgboost.integer.result import BranchAndPriceResult

if TYPE_CHECKING:
    from rich.progress import Progress


class TreeProgress(Callback):
    """One live line: nodes, the bound, the best solution, the gap between them, columns, time.

    A callback of :class:`~cgboost.BranchAndPrice`. It is also called between the rounds of
    a node, and therefore updated during long ones; in the root, it shows the bound of the rounds so
    far. On a terminal, and in a notebook with
    ipywidgets, the line is redrawn in place; elsewhere a plain line is written at most once every
    ``interval`` seconds and at the end.

    Parameters
    ----------
    label : str, default=""
        Prefix of every line, followed by a space.
    interval : float, default=2.0
        Seconds between lines without a terminal.
    console : rich.console.Console or None
        Where to write; None means the standard error stream.
    """

    def __init__(self, label: str = "", *, interval: float = 2.0, console: Any = None) -> None:
        self.label, self.interval = f"{label.rstrip()} " if label.strip() else "", interval
        self._console = error_console() if console is None else console
        self._live: Progress | None = None
        self._is_lively = can_redraw(self._console)
        self._shown = 0.0

    def __call__(self, state: TreeState) -> None:
        """A node is done."""
        self.waiting(state)

    def waiting(self, state: TreeState) -> None:
        """Show where the search is, unless it was shown just now."""
        if state.seconds < self._shown:  # another run
            self.close()
            self._shown = 0.0
        pause = REDRAWN if self._is_lively else self.interval
        if state.seconds - self._shown < pause:
            return
        self._shown = state.seconds
        if not self._is_lively:
            self._write(_in_words(self.label, state))
            return
        task = {"description": _in_words(self.label, state), "words": "", "completed": 0.0}
        if self._live is None:
            self._live = started(self._console, bar_of_width(1), {**task, "total": None})
            self._is_lively = self._live is not None
            return
        self._live.update(self._live.task_ids[0], **task)  # type: ignore[arg-type]
        self._live.refresh()

    def finish(self, result: BranchAndPriceResult) -> None:
        """Write a final line with the result."""
        self.close()
        self._write(
            f"{self.label}{IN_WORDS[result.stop_reason]} after {_nodes(result.n_nodes)}, "
            f"{result.seconds:.1f} s: "
            f"objective {_number(result.objective)}, bound {_number(result.bound)}, gap "
            f"{gap_in_words(result.gap)}, {result.n_generated} columns"
        )

    def close(self) -> None:
        """Erase the live line and release the terminal, at every end of the search."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _write(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)


def _in_words(label: str, state: TreeState) -> str:
    return (
        f"{label}{_nodes(state.n_nodes)}, {state.n_open} open, bound {_number(state.bound)}, best "
        f"{_number(state.objective)}, gap {gap_in_words(state.gap)}, {state.n_columns} columns, "
        f"{duration(state.seconds)}"
    )


def _nodes(number: int) -> str:
    return "1 node" if number == 1 else f"{number} nodes"


def _number(value: float | None) -> str:
    return "none" if value is None or not math.isfinite(value) else f"{value:.8g}"
