"""What the studies share: options, jobs with a progress line, and the table of how they were made.

A study imports this file, ``page_tables.py``, and the records of
``transform_regression/measured.py`` from the folder above its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from page_tables import table
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from transform_regression.measured import Measured, Record

from cgboost.inspection.report.page import made_with

MADE = "made with"


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


def study_options(about: str, data: str, name: str, studies: Sequence[str]) -> argparse.Namespace:
    """The options of a study's script: data, docs, seeds, studies.

    Parameters
    ----------
    about : str
        The script's docstring; its first line is the description.
    data : str
        What the folder of data must hold.
    name : str
        The study; its page and records are in the folder of this name in docs/studies.
    studies : sequence of str
        The parts that can be chosen.
    """
    parser = argparse.ArgumentParser(description=about.split("\n")[0])
    parser.add_argument("--data", help=f"folder with {data}")
    parser.add_argument(
        "--docs",
        type=Path,
        default=Path("docs/studies") / name,
        help="folder of the page and its records",
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--studies", nargs="*", choices=studies, default=studies)
    return parser.parse_args()


def measure(measured: Measured, jobs: Sequence[Job], packages: Sequence[str]) -> None:
    """Do the jobs whose records are not there; versions and machine become a record too."""
    there = {(study, data, seed) for study, data, _, seed in measured.known()}
    wanted = [job for job in jobs if (job.study, job.data, job.seed) not in there]
    if not wanted:
        return
    line = made_with(*packages)
    if (MADE, line, "", 0) not in measured.known():
        measured.extend([Record(MADE, line, "", 0, (), 0.0)])
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
    runs = [record for record in measured.records if record.study != MADE]
    seeds = sorted({record.seed for record in runs})
    lines = [record.data for record in measured.records if record.study == MADE]
    minutes = sum(record.seconds for record in runs) / 60
    row = (f"{seeds[0]} to {seeds[-1]}", f"{minutes:.1f}", "; and ".join(lines))
    return table([row], "seeds | CPU minutes of all fits, one core | made with")
