"""A line that is drawn again and again where it is, by rich; and what stands in it."""

from __future__ import annotations

import math
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import BarColumn, Progress


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
