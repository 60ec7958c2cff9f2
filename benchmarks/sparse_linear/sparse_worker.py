"""Fits in a child process, which is stopped by its own CPU timer.

The parent sends the name of a task and a limit in seconds, one line each fit; the child answers
with one line of JSON. Drawing rows, importing and compiling (a fit of few rows before) are not
timed.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import warnings
from dataclasses import asdict, dataclass
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
from sparse_data import Problem
from sparse_solvers import SOLVERS, Fitted, Solver
from sparse_tasks import MEMORY, Task, all_tasks

from cgboost.studies.scripts import timed

SHORT = 0.5
"""CPU seconds below which a fit is measured three times, and the median counts."""

NONZERO = 1e-8
"""Coefficients below this share of the largest are not counted."""


@dataclass(frozen=True)
class Answer:
    """What a fit says.

    Attributes
    ----------
    seconds, objective, bound, megabytes : float
        CPU time; objective as we evaluate it, nan for another loss; certified bound, nan without;
        peak of the whole process.
    nonzeros : int
    error : str
        Empty, or why there is no answer.
    """

    seconds: float = nan
    objective: float = nan
    bound: float = nan
    nonzeros: int = 0
    megabytes: float = nan
    error: str = ""


class Worker:
    """A child process for one solver, started when it is needed.

    Parameters
    ----------
    solver : str
    data : str or None
        Folder of real data.
    """

    def __init__(self, solver: str, data: str | None) -> None:
        folder = ["--data", data] if data else []
        here = str(Path(__file__).parent)
        self._command = [sys.executable, here, "--serve", solver, *folder]
        self._process: subprocess.Popen[str] | None = None

    def ask(self, task: Task) -> Answer:
        """Fit; a child that its timer or the system has stopped is an answer too."""
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{task.name}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if line:
            return Answer(**json.loads(line))
        status = self._process.wait()
        self._process = None
        if status == -signal.SIGPROF:
            return Answer(error=f"stopped after {task.limit} s")
        return Answer(error=f"ended with status {status}")

    def close(self) -> None:
        """End the child."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
            self._process = None


def serve(name: str, data: str | None) -> None:
    """In the child: a line of JSON for every task that is named on the standard input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what solvers print is no answer
    most = MEMORY * 2**30
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    warnings.simplefilter("ignore")
    solver, tasks = SOLVERS[name], {task.name: task for task in all_tasks(data)}
    warmed: set[str] = set()
    for line in sys.stdin:
        task = tasks[line.strip()]
        print(json.dumps(asdict(answer(solver, task, warmed))), file=answers, flush=True)


def answer(solver: Solver, task: Task, warmed: set[str]) -> Answer:
    """Fit once, or three times if that is quick."""
    try:
        problem = task.make()
        if problem.kind not in warmed:
            solver.fit(few_rows(problem.kind, penalised=problem.cost > 0))
            warmed.add(problem.kind)
        signal.setitimer(signal.ITIMER_PROF, task.limit)  # the process ends when it is over
        seconds, fitted = timed(solver.fit, problem)
        times = [seconds]
        if seconds < SHORT:
            times += [timed(solver.fit, problem)[0] for _ in range(2)]
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    except Exception as error:  # a package that is missing, memory, no optimum, …
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        return Answer(megabytes=peak_megabytes(), error=in_short(error))
    return described(problem, fitted, statistics.median(times))


def described(problem: Problem, fitted: Fitted, seconds: float) -> Answer:
    """The answer of a fit."""
    peak = peak_megabytes()
    coef = np.asarray(fitted.coef, dtype=np.float64)
    objective = problem.objective(coef, fitted.intercept) if fitted.comparable else nan
    count = int(np.count_nonzero(np.abs(coef) > NONZERO * np.abs(coef).max(initial=0.0)))
    return Answer(seconds, objective, fitted.bound, count, peak)


def peak_megabytes() -> float:
    """Largest resident memory of this process until now."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_short(error: BaseException) -> str:
    """Its kind and the first words of its first line."""
    text: Any = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {text[0][:80]}".rstrip(": ")


def few_rows(kind: Any, *, penalised: bool) -> Problem:
    """A problem with which a solver imports and compiles what it needs."""
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((40, 5)))
    y = X[:, 0] + 0.5 * rng.standard_normal(40)
    if kind == "hinge":
        return Problem("hinge", X, np.where(y > 0, 1.0, -1.0), 1.0)
    return Problem("quantile", X, y, 0.01 if penalised else 0.0)
