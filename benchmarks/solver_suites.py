"""Every backend on 32 Netlib LPs and 51 Maros–Mészáros QPs, judged by our residuals.

Each answer is measured against the program itself (`solvers.program.solution`) and against the
published optimum; what the solver says of itself decides nothing. One process a problem, so that a
backend without a time limit can be stopped.

    python benchmarks/solver_suites.py --data DATA [--time-limit 5] [--solvers highs piqp] [--write]

``--write`` refreshes the tables of ``docs/development/solvers.md``.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples" / "reproduce"))

import numpy as np
import scipy.io
import scipy.sparse as sp
from page_tables import csv_rows, refresh

from cgboost.studies.scripts import options, timed
from solvers import Program, Solution, SolverError, Status, available_backends, open_session, solve
from solvers.api import get_backend

PAGE = Path(__file__).parents[1] / "docs" / "development" / "solvers.md"
INFINITE = 1e19
LEVELS = (1e-4, 1e-6)
RELIABLE = 0.9
"""Backends that solve a smaller part of a suite are left out of the comparison of times."""
SHORT = 0.3
"""A solve that takes less than this many seconds is timed three times; the fastest counts."""


@dataclass(frozen=True)
class Problem:
    """A program and its published optimum, which is good to ``precision``."""

    name: str
    program: Program
    optimum: float
    precision: float


@dataclass(frozen=True)
class Outcome:
    """What one backend made of one problem: an answer measured by us, or words."""

    residual: float = np.inf
    error: float = np.inf
    claimed: bool = False
    seconds: float = np.nan
    words: str = ""

    def solved(self, level: float, precision: float) -> bool:
        """Whether residuals and value are right to ``level`` (no finer than the reference)."""
        return self.residual <= level and self.error <= max(level, precision)

    def verdict(self, level: float, precision: float) -> str:
        """One of ``solved``, ``wrong`` (an answer that misses the level) and ``failed``."""
        if self.words:
            return "failed"
        return "solved" if self.solved(level, precision) else "wrong"

    def is_false(self, precision: float) -> bool:
        """Whether it was returned as optimal and is not, to 1e-6."""
        return self.claimed and not self.solved(1e-6, precision)


def read_mps(path: Path) -> Program:
    """The LP in an MPS file, by HiGHS's reader."""
    import highspy

    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    if model.readModel(str(path)) != highspy.HighsStatus.kOk:
        raise ValueError(f"HiGHS cannot read {path}")
    lp = model.getLp()
    sign = 1.0 if lp.sense_ == highspy.ObjSense.kMinimize else -1.0
    entries = (lp.a_matrix_.value_, lp.a_matrix_.index_, lp.a_matrix_.start_)
    by_column = lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise
    build = sp.csc_array if by_column else sp.csr_array
    return Program(
        cost=sign * np.asarray(lp.col_cost_),
        matrix=build(tuple(map(np.asarray, entries)), shape=(lp.num_row_, lp.num_col_)),
        row_lower=np.asarray(lp.row_lower_),
        row_upper=np.asarray(lp.row_upper_),
        lower=np.asarray(lp.col_lower_),
        upper=np.asarray(lp.col_upper_),
        constant=sign * lp.offset_,
    )


def read_maros(path: Path) -> Program:
    """The QP in a .mat file: all bounds are rows of A, integers are small, infinity is 1e20."""
    data = scipy.io.loadmat(path)
    matrix = sp.csr_array(data["A"].astype(np.float64))
    quadratic = sp.csc_array(data["P"].astype(np.float64))
    lower, upper = (np.asarray(data[k], dtype=np.float64).ravel() for k in ("l", "u"))
    return Program(
        cost=np.asarray(data["q"], dtype=np.float64).ravel(),
        matrix=matrix,
        row_lower=np.where(lower <= -INFINITE, -np.inf, lower),
        row_upper=np.where(upper >= INFINITE, np.inf, upper),
        lower=-np.inf,
        quadratic=(quadratic + quadratic.T) / 2,
        constant=float(np.asarray(data["r"], dtype=np.float64).ravel()[0]),
    )


def netlib(data: Path) -> Iterator[Problem]:
    """The linear programs; their optima are known to all digits."""
    for row in csv_rows(data / "netlib" / "optimal_values.csv"):
        program = read_mps(data / "netlib" / row["file"])
        yield Problem(Path(row["file"]).stem, program, float(row["optimal_value"]), 1e-9)


def maros(data: Path) -> Iterator[Problem]:
    """The quadratic programs; their published values are confirmed to 1e-5."""
    for row in csv_rows(data / "maros" / "reference_values.csv"):
        program = read_maros(data / "maros" / f"{row['name']}.mat")
        yield Problem(row["name"], program, float(row["optimal_value"]), 1e-5)


def measure(problem: Problem, solution: Solution, seconds: float) -> Outcome:
    """Judge an answer by its residuals and by the published optimum."""
    residuals = (solution.primal_residual, solution.dual_residual, solution.duality_gap)
    value = problem.program.objective_value(solution.x)
    return Outcome(
        residual=float(np.nan_to_num(np.max(residuals), nan=np.inf)),
        error=abs(value - problem.optimum) / (1.0 + abs(problem.optimum)),
        claimed=solution.status is Status.OPTIMAL,
        seconds=seconds,
    )


def attempt(problem: Problem, solver: str, limit: float) -> Outcome:
    """Solve once, and twice more for the clock where that is cheap."""
    settings = {} if solver.startswith("cvxpy:") else {"time_limit": limit}
    solve(Program([1.0], upper=1.0, quadratic=[1.0] if problem.program.is_qp else None), solver)
    run = partial(solve, problem.program, solver, **settings)
    solution, times = None, []
    while solution is None or (len(times) < 3 and times[0] < SHORT):
        try:
            seconds, solution = timed(run, clock=time.perf_counter)
        except SolverError as error:
            return Outcome(words=f"{type(error).__name__}: {error}")
        times.append(seconds)
    live = open_session(problem.program, solver).solve(**settings)  # not checked as `solve` is
    outcome = measure(problem, solution, min(times))
    live_outcome = measure(problem, live, min(times))
    return live_outcome if live_outcome.is_false(problem.precision) else outcome


def attempt_in_process(problem: Problem, solver: str, limit: float) -> Outcome:
    """The same in its own process, which is ended some time after the limit."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(
        target=lambda: sender.send(attempt(problem, solver, limit)), daemon=True
    )
    process.start()
    sender.close()
    try:
        found = receiver.recv() if receiver.poll(5 * limit) else None
    except EOFError:
        return Outcome(words="the process died")
    finally:
        process.kill()
        process.join()
    if found is None or found.seconds > 1.5 * limit:
        return Outcome(words=f"more than {limit:g} s")
    return found


def compare(
    problems: Sequence[Problem], names: Sequence[str], limit: float
) -> dict[str, dict[str, Outcome]]:
    """Every outcome, by backend and problem."""
    table: dict[str, dict[str, Outcome]] = {name: {} for name in names}
    for problem in problems:
        for name in names:
            outcome = table[name][problem.name] = attempt_in_process(problem, name, limit)
            if outcome.verdict(1e-6, problem.precision) != "solved":
                print(
                    f"{problem.name:10} {name:15} residual {outcome.residual:.1e} value "
                    f"{outcome.error:.1e} {'CLAIMED' * outcome.claimed} {outcome.words}",
                    flush=True,
                )
    return table


def report(problems: Sequence[Problem], table: dict[str, dict[str, Outcome]]) -> list[str]:
    """The table in Markdown."""
    names = list(table)
    solved = {
        name: {p.name for p in problems if table[name][p.name].solved(1e-4, p.precision)}
        for name in names
    }
    timed = [name for name in names if len(solved[name]) >= RELIABLE * len(problems)]
    common = set.intersection(*(solved[name] for name in timed)) if timed else set()
    means = {
        name: np.exp(np.mean([np.log(table[name][problem].seconds) for problem in common]))
        for name in timed
        if common
    }
    lines = [
        "| | solved / wrong / failed at 1e-4 | at 1e-6 | claimed optimal, but wrong | time |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name in names:
        cells = []
        for level in LEVELS:
            counts = Counter(table[name][p.name].verdict(level, p.precision) for p in problems)
            cells.append(f"{counts['solved']} / {counts['wrong']} / {counts['failed']}")
        false = sum(table[name][p.name].is_false(p.precision) for p in problems)
        ratio = f"{means[name] / min(means.values()):.1f}" if name in means else "–"
        lines.append(f"| `{name}` | {cells[0]} | {cells[1]} | {false} | {ratio} |")
    return lines


def tables(data: Path, names: Sequence[str], limit: float) -> dict[str, str]:
    """Run both suites and return their tables."""
    import cvxpy  # noqa: F401 - once here, not in every process

    found = {}
    for title, kind, read in (("netlib", "lp", netlib), ("maros", "qp", maros)):
        problems = list(read(data))
        able = [name for name in names if kind in get_backend(name).capabilities]
        found[title] = "\n".join(report(problems, compare(problems, able, limit)))
        print(f"{title}: {len(problems)} problems", found[title], sep="\n", flush=True)
    return found


def main() -> None:
    """Run the suites."""
    solvers = ["auto", *available_backends()]
    given = options(__doc__, data=Path, time_limit=5.0, solvers=solvers, write=False)
    found = tables(given.data, given.solvers, given.time_limit)
    if given.write:
        refresh(PAGE, found)


if __name__ == "__main__":
    main()
