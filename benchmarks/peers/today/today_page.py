"""The tables of the page, from the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path

from page_tables import table
from study_jobs import Store
from today_tasks import OURS, TASKS, Entrant, Task


@dataclass(frozen=True)
class Outcome:
    """What came of an entrant of a task.

    Attributes
    ----------
    task, entrant, version : str
    first, again : float
        CPU seconds of the first call, and of the shorter of two more.
    words : str
        What the answer is worth, with bars between.
    error : str
        Why there is none.
    """

    task: str
    entrant: str
    version: str = ""
    first: float = nan
    again: float = nan
    words: str = ""
    error: str = ""


def tables(folder: Path) -> dict[str, str]:
    """A table for each task, and what it was made with."""
    rows = Store(folder / "today.csv", Outcome).rows
    found = {
        task.name: table(
            task_rows(task, {row.entrant: row for row in rows if row.task == task.name}),
            " | ".join(("", "version", *task.heads, "first call, s", "CPU s")),
        )
        for task in TASKS
    }
    made = (folder / "today.txt").read_text(encoding="utf-8").strip()
    return found | {"versions": table([(made,)], "made with")}


def task_rows(task: Task, found: dict[str, Outcome]) -> Iterator[Sequence[str]]:
    """Who has an answer, ours in bold; then who has none, and why."""
    known = {entrant.name: entrant for entrant in task.entrants}
    for name, entrant in known.items():
        if name in found and not found[name].error:
            own = found[name]
            seconds = (f"{own.first:.2g}", f"{own.again:.2g}")
            yield (_name(entrant), own.version, *own.words.split(" | "), *seconds)
    for name, entrant in known.items():
        if name in found and found[name].error:
            own = found[name]
            assert isnan(own.first)
            yield (_name(entrant), own.version, own.error, *[""] * (len(task.heads) + 1))


def _name(entrant: Entrant) -> str:
    return f"**{entrant.name}**" if entrant.package == OURS else entrant.name
