"""One model, every backend: processor time, rounds and certified gap, for the how-to on solvers.

    python benchmarks/solver_choice.py [--solvers auto highs …] [--limit 15] [--write]

Odd against even digits with three kernels, 1347 rows and 4041 columns, in both norms, and LPBoost
over stumps. Times are of the processor, so that other work on the machine counts little; a fit
under three seconds is timed three times, and the least is kept. ``--write`` puts the table into
``docs/user_guide/how_to_solvers.md``, between its markers.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples" / "reproduce"))

from page_tables import refresh
from page_tables import table as page_table
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from cgboost import RBF, CGBoostClassifier, KernelLibrary, Linear, LPBoostClassifier, Polynomial
from cgboost.generation import Round
from cgboost.inspection.report.page import made_with
from cgboost.studies.scripts import options
from solvers import available_backends

PAGE = Path(__file__).parents[1] / "docs" / "user_guide" / "how_to_solvers.md"
TABLE = "solver-choice"
NAMES = ("auto", "highs", "clarabel", "piqp", "osqp", "scipy", "cvxpy:CLARABEL")
SHORT = 3.0
"""Seconds below which a fit is timed three times."""

Fit = Callable[[str, list[Callable[[Round], bool]]], Any]


@dataclass(frozen=True)
class Outcome:
    """One fit: seconds of the processor, and how far it came."""

    seconds: float
    rounds: int = 0
    gap: float = 0.0
    failure: str = ""

    def words(self, fastest: float) -> str:
        """The cell of the table."""
        if self.failure:
            return f"{self.failure} (gap {self.gap:.0e}, {self.rounds} rounds)"
        return f"{self.seconds / fastest:.1f} ({self.rounds} rounds)"


def problems() -> dict[str, tuple[str, Fit]]:
    """Each problem: the class of its restricted master, and a fit by solver and callbacks."""
    X, digit = load_digits(return_X_y=True)
    X_train, _, y_train, _ = train_test_split(X / 16, digit % 2, random_state=0)
    kernels = {"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF()}
    library = KernelLibrary(kernels, normalize=True)
    cancer, label = load_breast_cancer(return_X_y=True)

    def mixture(penalty: str) -> Fit:
        def fit(solver: str, callbacks: list[Callable[[Round], bool]]) -> Any:
            model = CGBoostClassifier(library, penalty=penalty, solver=solver, callbacks=callbacks)
            return model.fit(X_train, y_train)

        return fit

    def stumps(solver: str, callbacks: list[Callable[[Round], bool]]) -> Any:
        return LPBoostClassifier(solver=solver, callbacks=callbacks).fit(cancer, label)

    return {
        "kernels, 1-norm (LP)": ("lp", mixture("l1")),
        "kernels, 2-norm (QP)": ("qp", mixture("l2")),
        "stumps, 1-norm (LP)": ("lp", stumps),
    }


def outcome(fit: Fit, solver: str, limit: float) -> Outcome:
    """One fit, stopped after the round in which it has used up its time."""
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = fit(solver, [lambda _: time.process_time() - start > limit])
    except Exception as error:  # a backend that gives up is a result here
        return Outcome(time.process_time() - start, gap=float("inf"), failure=type(error).__name__)
    seconds, rounds = time.process_time() - start, len(model.history_["round"])
    reason = f"not in {limit:g} s" if model.stop_reason_ == "callback" else str(model.stop_reason_)
    return Outcome(seconds, rounds, model.gap_, "" if model.converged_ else reason)


def best_of(fit: Fit, solver: str, limit: float) -> Outcome:
    """The quickest of three, where that takes no time to speak of."""
    first = outcome(fit, solver, limit)
    if first.seconds > SHORT:
        return first
    again = [outcome(fit, solver, limit) for _ in range(2)]
    return min([first, *again], key=lambda one: one.seconds)


def measured(names: list[str], limit: float) -> dict[str, dict[str, Outcome]]:
    """Outcomes by problem and solver, of the solvers that can do a problem."""
    found: dict[str, dict[str, Outcome]] = {}
    for case, (kind, fit) in problems().items():
        found[case] = {}
        for name in names:
            if name in {"auto", *available_backends(kind)}:
                found[case][name] = best_of(fit, name, limit)
                print(case, name, found[case][name], flush=True)
    return found


def table(found: dict[str, dict[str, Outcome]], names: list[str]) -> Iterator[str]:
    """The lines of the table, in Markdown; times relative to the fastest of a problem."""
    fastest = {
        case: min(one.seconds for one in of.values() if not one.failure)
        for case, of in found.items()
    }
    yield "| solver | " + " | ".join(found) + " |"
    yield "| --- |" + " --- |" * len(found)
    for name in names:
        cells = [of[name].words(fastest[case]) if name in of else "–" for case, of in found.items()]
        yield f"| `{name}` | " + " | ".join(cells) + " |"
    yield "| the fastest, seconds | " + " | ".join(f"{s:.2g}" for s in fastest.values()) + " |"


def main() -> None:
    """Measure, and write if asked."""
    given = options(__doc__, solvers=list(NAMES), limit=15.0, write=False)
    found = measured(given.solvers, given.limit)
    lines = list(table(found, given.solvers))
    print("\n".join(lines))
    if given.write:
        packages = made_with("highspy", "clarabel", "piqp", "osqp", "scipy", "cvxpy")
        tables = {TABLE: "\n".join(lines), "made": page_table([[packages]], "made with")}
        refresh(PAGE, tables)


if __name__ == "__main__":
    main()
