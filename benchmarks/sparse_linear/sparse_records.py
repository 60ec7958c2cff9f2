"""Records of the sparse linear study, in a CSV file that grows with them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from math import nan
from pathlib import Path

from sparse_tasks import Task
from sparse_worker import Answer
from study_jobs import Store


@dataclass(frozen=True)
class Measured:
    """One solver on one task.

    Attributes
    ----------
    group, task, solver, version : str
        The version is that of the package; for cgboost the commit stands behind it.
    seconds : float
        CPU time of the fit.
    objective, bound : float
    nonzeros : int
    megabytes : float
        Peak of the whole process, rows included.
    error : str
    """

    group: str
    task: str
    solver: str
    version: str
    seconds: float
    objective: float
    bound: float
    nonzeros: int
    megabytes: float
    error: str

    @staticmethod
    def of(task: Task, solver: str, version: str, answer: Answer) -> Measured:
        """The record of an answer."""
        return Measured(
            task.group,
            task.name,
            solver,
            version,
            answer.seconds,
            answer.objective,
            answer.bound,
            answer.nonzeros,
            answer.megabytes if task.alone else nan,
            answer.error,
        )

    @property
    def solved(self) -> bool:
        """Whether the fit ended by itself."""
        return not self.error


def records(folder: Path) -> Store[Measured]:
    """Those of a folder; objectives and bounds with all the digits that matter."""
    full = "{:.15g}".format
    return Store(folder / "sparse_linear.csv", Measured, objective=full, bound=full)


def latest(rows: Sequence[Measured]) -> dict[str, dict[str, Measured]]:
    """By task and solver; of several records the last."""
    found: dict[str, dict[str, Measured]] = {}
    for row in rows:
        found.setdefault(row.task, {})[row.solver] = row
    return found


def version_of(package: str) -> str:
    """The installed version, and for cgboost the commit of this file's repository."""
    try:
        found = version(package)
    except PackageNotFoundError:
        found = "not installed"
    if package != "cgboost":
        return found
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    from cgboost import __version__

    return f"{__version__}+{said.stdout.strip()}" if said.returncode == 0 else __version__
