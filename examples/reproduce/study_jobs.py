"""What the studies share: options, records in CSV files, jobs, and the table of how they were made.

A study imports this file, ``study_data.py`` and ``page_tables.py`` from the folder above its own.
"""

from __future__ import annotations

import csv
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Generic, TypeVar, get_type_hints

import numpy as np
from matplotlib.axes import Axes
from page_tables import csv_rows, table
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from cgboost.inspection.report.page import made_with
from cgboost.studies.scripts import options

Kind = TypeVar("Kind")
MADE = "made with"


class Store(Generic[Kind]):
    """Records of one kind, in memory and in a CSV file that grows with them.

    Parameters
    ----------
    path : Path
        Read if it is there.
    kind : type
        A dataclass of words, numbers and tuples of numbers.
    **texts : callable
        How the numbers of a field are written, by default with six digits.
    """

    def __init__(self, path: Path, kind: type[Kind], **texts: Callable[[Any], str]) -> None:
        self._path, self._kind, self._texts = path, kind, texts
        self._types: dict[str, Any] = get_type_hints(kind)
        self.rows: list[Kind] = [self._read(row) for row in csv_rows(path)]

    def extend(self, records: Iterable[Kind]) -> None:
        """Write each record as soon as it is there, and keep it as it would be read."""
        names = [field.name for field in fields(self._kind)]  # type: ignore[arg-type]
        for record in records:
            new = not self._path.is_file()
            row = {name: self._text(name, getattr(record, name)) for name in names}
            with self._path.open("a", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, names, lineterminator="\n")
                if new:
                    writer.writeheader()
                writer.writerow(row)
            self.rows.append(self._read(row))

    def replace(self, records: Iterable[Kind]) -> None:
        """Write these records instead of all that there are."""
        path = self._path.with_suffix(".new")
        path.unlink(missing_ok=True)
        new = Store(path, self._kind, **self._texts)
        new.extend(records)
        path.replace(self._path)
        self.rows = new.rows

    def _read(self, row: dict[str, str]) -> Kind:
        return self._kind(**{name: _value(row[name], kind) for name, kind in self._types.items()})

    def _text(self, name: str, value: Any) -> str:
        if isinstance(value, tuple):
            return " ".join(self._text(name, number) for number in value)
        return self._texts.get(name, _six_digits)(value)


def _six_digits(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _four_places(value: float) -> str:
    return f"{value:.2e}" if 0 < abs(value) < 1e-3 else f"{value:.4f}"


def _value(text: str, kind: Any) -> Any:
    return kind(text) if kind in (str, int, float) else tuple(map(float, text.split()))


@dataclass(frozen=True)
class Record:
    """What was measured of one model.

    Attributes
    ----------
    study, data, model : str
        The part of the study, the rows, and the model or what is measured of it.
    seed : int
    values : tuple of float
    seconds : float
        CPU time of the fit.
    """

    study: str
    data: str
    model: str
    seed: int
    values: tuple[float, ...]
    seconds: float = 0.0


class Measured(Store[Record]):
    """Such records."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, Record, values=_four_places, seconds="{:.2f}".format)

    def known(self) -> set[tuple[str, str, str, int]]:
        """Study, data, model and seed of what there is."""
        return {(r.study, r.data, r.model, r.seed) for r in self.rows}

    def chosen(self, study: str, data: str, model: str) -> list[Record]:
        """Records of all seeds, in their order."""
        wanted = (study, data, model)
        found = [r for r in self.rows if (r.study, r.data, r.model) == wanted]
        return sorted(found, key=lambda record: record.seed)

    def values(self, study: str, data: str, model: str) -> np.ndarray:
        """A row of numbers for each seed."""
        return np.array([run.values for run in self.chosen(study, data, model)])


def draw_band(axis: Axes, x: Any, lines: Any, colour: str, label: str, style: str = "-") -> None:
    """Mean and one standard deviation of lines, one for each seed."""
    mean, spread = np.mean(lines, axis=0), np.std(lines, axis=0)
    axis.plot(x, mean, style, color=colour, label=label)
    axis.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)


@dataclass(frozen=True)
class Job:
    """Something to measure once for each seed.

    Attributes
    ----------
    study, data : str
    seed : int
    measure : callable
        Returns its records, which have the same study, data and seed.
    """

    study: str
    data: str
    seed: int
    measure: Callable[[], Iterable[Record]]


def study_options(about: str, name: str, studies: Sequence[str] = (), **defaults: Any) -> Namespace:
    """Options of a study's script: data, folder of the page and its records, seeds, parts.

    Parameters
    ----------
    about : str
        The script's docstring.
    name : str
        The study; its page and records are in the folder of this name in docs/studies.
    studies : sequence of str
        The parts that can be chosen.
    **defaults
        Further options, as in :func:`cgboost.studies.scripts.options`.
    """
    common = {"data": None, "docs": Path("docs/studies") / name, "seeds": [0, 1, 2, 3, 4]}
    parts = {"studies": tuple(studies)} if studies else {}
    return options(about, **(common | parts | defaults))


def measure(measured: Measured, jobs: Sequence[Job], packages: Sequence[str]) -> None:
    """Do the jobs whose records are not there; versions and machine become a record too."""
    there = {(study, data, seed) for study, data, _, seed in measured.known()}
    wanted = [job for job in jobs if (job.study, job.data, job.seed) not in there]
    if not wanted:
        return
    line = made_with(*packages)
    if (MADE, line, "", 0) not in measured.known():
        measured.extend([Record(MADE, line, "", 0, ())])
    for job in followed(wanted):
        measured.extend(list(job.measure()))


def followed(jobs: Sequence[Job]) -> Iterator[Job]:
    """The jobs, one after the other, with a line on the standard error stream."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=len(jobs))
        for job in jobs:
            progress.update(task, description=f"{job.study}: {job.data}, seed {job.seed}")
            yield job
            progress.advance(task)


def made(measured: Measured) -> str:
    """Table of seeds, CPU time, versions and machine."""
    runs = [record for record in measured.rows if record.study != MADE]
    seeds = sorted({record.seed for record in runs})
    lines = [record.data for record in measured.rows if record.study == MADE]
    minutes = sum(record.seconds for record in runs) / 60
    row = (f"{seeds[0]} to {seeds[-1]}", f"{minutes:.1f}", "; and ".join(lines))
    return table([row], "seeds | CPU minutes of all fits, one core | made with")
