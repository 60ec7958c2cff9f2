"""Reports of loop and tree: a line that is drawn again where it is, by rich, or plain lines."""

from __future__ import annotations

import math
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from cgboost.generation.callbacks import Callback

if TYPE_CHECKING:
    from rich.progress import BarColumn, Progress

REDRAWN = 0.1
"""Seconds between two drawings of a live line."""


class Reporter(Callback):
    """What a run writes while it lasts: one live line where there is a terminal, plain lines else.

    Parameters
    ----------
    label : str
        Prefix of every line.
    interval : float
        Seconds between lines without a terminal.
    console : rich.console.Console or None
        Where to write; None means the standard error stream.
    """

    def __init__(self, label: str, interval: float, console: Any) -> None:
        self.label, self.interval = label, interval
        self._console = error_console() if console is None else console
        self._live: Progress | None = None
        self._start_afresh()

    def _start_afresh(self) -> None:
        """Forget an earlier run."""
        self._is_lively = can_redraw(self._console)
        self._drawn, self._written = -math.inf, 0.0

    def _is_due(self, seconds: float) -> bool:
        """Whether the live line should be drawn again, so many seconds after the start."""
        due = self._is_lively and seconds - self._drawn >= REDRAWN
        if due:
            self._drawn = seconds
        return due

    def _is_time_for_a_line(self, seconds: float) -> bool:
        """Whether it is time for another plain line."""
        due = seconds - self._written >= self.interval
        if due:
            self._written = seconds
        return due

    def _draw(self, bar: BarColumn, task: dict[str, Any]) -> None:
        """Draw the live line with this bar and these words."""
        if self._live is None:
            self._live = started(self._console, bar, task)
            self._is_lively = self._live is not None
            return
        self._live.columns = (self._live.columns[0], bar, self._live.columns[2])
        self._live.update(self._live.task_ids[0], **task)
        self._live.refresh()

    def _write(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def close(self) -> None:
        """Erase the live line and release the terminal, at every end of the run."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class PlainConsole:
    """The standard error stream, where rich is not installed."""

    is_jupyter = is_terminal = False
    is_dumb_terminal = True

    def print(self, text: str, **layout: Any) -> None:
        """Write a line."""
        sys.stderr.write(f"{text}\n")


def error_console() -> Any:
    """A console of rich on the standard error stream, or a plain one."""
    if find_spec("rich") is None:
        return PlainConsole()
    from rich.console import Console

    return Console(stderr=True)


def can_redraw(console: Any) -> bool:
    """Whether a line can be drawn again where it is."""
    if console.is_jupyter:
        return find_spec("ipywidgets") is not None
    return bool(console.is_terminal and not console.is_dumb_terminal)


def bar_of_width(width: int) -> BarColumn:
    """A bar of so many characters."""
    from rich.progress import BarColumn

    return BarColumn(bar_width=width)


def started(console: Any, bar: BarColumn, task: dict[str, Any]) -> Progress | None:
    """A live line with its first task; None where another one has the console already."""
    from rich.errors import LiveError
    from rich.progress import Progress, TextColumn
    from rich.table import Column

    fixed = Column(no_wrap=True, overflow="ellipsis")
    live = Progress(
        TextColumn("{task.description}", markup=False, table_column=fixed),
        bar,
        TextColumn("{task.fields[words]}", markup=False, table_column=fixed.copy()),
        console=console,
        auto_refresh=False,  # no thread: executors may fork
        transient=True,
        redirect_stdout=sys.stdout.isatty(),  # what goes to a file stays there
    )
    live.add_task(**task)
    try:
        live.start()
    except LiveError:
        return None
    return live


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, as a person would say it."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 600:  # a clock that stands still for a minute looks as if nothing happened
        return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def gap_in_words(gap: float) -> str:
    """Two digits, or that it is unknown."""
    return f"{gap:.1e}" if math.isfinite(gap) else "unknown"
