"""A row of the comparison: the same work for cgboost and for what its users would else call."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cgboost.studies.scripts import timed

OURS = "cgboost"
LONG = 10.0
"""Seconds of one run from which three runs are enough, and no run for warming up is made."""


@dataclass(frozen=True)
class Row:
    """One piece of work.

    Attributes
    ----------
    name : str
        What is done, for instance ``"l1, MNIST 1000"``; unique.
    data : callable
        Makes what the entrants are given, outside the time that is measured.
    entrants : mapping
        ``cgboost`` first, then each peer: a function of the data that returns what ``score`` reads.
        A package that is not installed raises an ImportError there and is left out of the table.
    score : callable, optional
        Of the data and what an entrant returned: a short text, such as its error on fresh rows.
    goal : float, optional
        The ratio of cgboost to the fastest peer that is wanted.
    """

    name: str
    data: Callable[[], Any]
    entrants: Mapping[str, Callable[[Any], Any]]
    score: Callable[[Any, Any], str] = field(default=lambda data, fitted: "")
    goal: float | None = None


@dataclass(frozen=True)
class Figure:
    """What one entrant needed for one row: CPU seconds (median), and its score."""

    row: str
    entrant: str
    seconds: float
    score: str


def measured(row: Row, repeats: int, names: tuple[str, ...] = ()) -> list[Figure]:
    """Medians of several runs, the entrants in turn; ``names`` chooses some of them."""
    data = row.data()
    entrants = {name: run for name, run in row.entrants.items() if not names or name in names}
    seconds: dict[str, list[float]] = {}
    scores: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, run in entrants.items():
            try:
                first, fitted = timed(run, data)
            except ImportError:
                continue
            scores[name] = row.score(data, fitted)
            seconds[name] = [first] if first > LONG else []
        for turn in range(repeats):
            for name in scores:
                if turn < 2 or seconds[name][0] <= LONG:
                    seconds[name].append(timed(entrants[name], data)[0])
    return [
        Figure(row.name, name, statistics.median(spent), scores[name])
        for name, spent in seconds.items()
    ]


def in_child(arguments: list[str], package: Path | None = None) -> Any:
    """What this script prints as JSON when it is run with these arguments in a new process.

    ``package`` is a checkout whose cgboost is imported there in place of this one's.
    """
    environment = dict(os.environ)
    if package is not None:
        environment["PYTHONPATH"] = str(package.resolve())
    script = [sys.executable, str(Path(__file__).parent), *arguments, "--child"]
    answer = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    if answer.returncode:
        return None
    return json.loads(answer.stdout.splitlines()[-1])


def peak_megabytes(row: Row, name: str) -> float:
    """By how much one run raises the largest memory of this process; for a process of its own."""
    data = row.data()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = row.entrants[name](data)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    del kept
    return (after - before) / 1024.0
