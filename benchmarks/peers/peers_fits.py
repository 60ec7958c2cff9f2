"""What is measured: one record a fit, and the choice among candidates on the validation rows."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any, TypeVar

from peers_entrants import Entrant
from peers_tasks import Rows, Task, score

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Fit:
    """One fitted candidate of one entrant.

    Attributes
    ----------
    task, model : str
    seed : int
        Of the rows.
    candidate : str
        Its parameters.
    validation, test : float
        Errors or areas in percent, or root mean square errors.
    fit_seconds, predict_seconds : float
        CPU time; predictions are those of the test rows.
    size : float
        Columns, trees, support vectors, …, as the entrant calls them.
    gap : float
        Certified relative gap; infinite for a search that proves nothing, nan where the class
        has no such thing.
    compared : float
        Objective reached, or difference of coefficients, where contestants solve one problem.
    error : str
        What was raised; empty for a fit that worked.
    """

    task: str
    model: str
    seed: int
    candidate: str
    validation: float = nan
    test: float = nan
    fit_seconds: float = nan
    predict_seconds: float = nan
    size: float = nan
    gap: float = nan
    compared: float = nan
    error: str = ""


@dataclass(frozen=True)
class Class:
    """What there is to say about one estimator class.

    Attributes
    ----------
    name, package, version, licence, python : str
        From the metadata of the installed package.
    checks : int
        Checks of scikit-learn's ``check_estimator`` that were run, skipped ones left out.
    failed : str
        Names of those that failed, joined by spaces.
    seconds : float
    error : str
        Why the class could not be imported, or its checks not be finished.
    """

    name: str
    package: str
    version: str
    licence: str
    python: str
    checks: int = 0
    failed: str = ""
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class Summary:
    """The chosen fits of one entrant on one task.

    Attributes
    ----------
    fits : list of Fit
        For each seed the candidate that validation prefers; empty if none worked.
    total_seconds : float
        Median over the seeds of the time of all candidates together.
    error : str
        The first error among its fits.
    """

    model: str
    fits: list[Fit]
    total_seconds: float
    error: str

    def mean(self, name: str) -> float:
        """Mean of a number of the chosen fits."""
        return statistics.mean(getattr(fit, name) for fit in self.fits)

    def median(self, name: str) -> float:
        """Median of a number of the chosen fits."""
        return statistics.median(getattr(fit, name) for fit in self.fits)

    def spread(self, name: str) -> float:
        """Standard deviation of a number of the chosen fits; 0 of one."""
        numbers = [getattr(fit, name) for fit in self.fits]
        return statistics.stdev(numbers) if len(numbers) > 1 else 0.0


def summarised(fits: Sequence[Fit], task: str, higher_is_better: bool) -> dict[str, Summary]:
    """For each model of a task its chosen fits, in the order in which models were measured."""
    own = [fit for fit in fits if fit.task == task]
    found = {}
    for model in dict.fromkeys(fit.model for fit in own):
        runs = [fit for fit in own if fit.model == model]
        worked = [fit for fit in runs if not fit.error]
        by_seed = [[fit for fit in worked if fit.seed == s] for s in {fit.seed: 0 for fit in runs}]
        by_seed = [group for group in by_seed if group]
        found[model] = Summary(
            model,
            [preferred(group, higher_is_better) for group in by_seed],
            statistics.median(sum(f.fit_seconds for f in g) for g in by_seed) if by_seed else nan,
            next((fit.error for fit in runs if fit.error), ""),
        )
    return found


def preferred(fits: Sequence[Fit], higher_is_better: bool) -> Fit:
    """The fit with the best validation score; of equals the smallest."""
    sign = -1.0 if higher_is_better else 1.0
    return min(fits, key=lambda f: (sign * f.validation, 0.0 if isnan(f.size) else f.size))


ERROR_LENGTH = 120


def measured(task: Task, seed: int, rows: Rows | None = None) -> Iterator[Fit]:
    """The first candidate of every entrant, then the second of every entrant, and so on.

    So what else the machine does meets all of them alike. An entrant that raises is out for this
    seed, with its error on record.
    """
    rows = rows or task.rows(seed)
    out: set[str] = set()
    for turn in range(max(len(entrant.candidates) for entrant in task.entrants)):
        for entrant in task.entrants:
            if turn < len(entrant.candidates) and entrant.name not in out:
                fit = one_fit(task, entrant, entrant.candidates[turn], seed, rows)
                if fit.error:
                    out.add(entrant.name)
                yield fit


def one_fit(task: Task, entrant: Entrant, candidate: Any, seed: int, rows: Rows) -> Fit:
    """Fit, predict and count; whatever is raised becomes a record."""
    head = (task.name, entrant.name, seed, worded(candidate))
    try:
        X, X_validation, X_test = rows.forms[entrant.form]
        y, y_validation, y_test = rows.y
        model = entrant.make(**candidate)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clock = time.process_time()
            model.fit(X, y)
            fitted = time.process_time()
            test = score(task.measure, model, X_test, y_test)
            predicted = time.process_time()
            validation = score(task.measure, model, X_validation, y_validation)
        return Fit(
            *head,
            validation=validation(),
            test=test(),
            fit_seconds=fitted - clock,
            predict_seconds=predicted - fitted,
            size=entrant.size(model),
            gap=float(getattr(model, "gap_", nan)),
            compared=entrant.compared(model, rows) if entrant.compared else nan,
        )
    except Exception as error:  # a peer may raise anything, and the table says what
        return Fit(*head, error=in_short(error))


def worded(candidate: Any) -> str:
    """Parameters as they would be written in a call."""
    return ", ".join(f"{name}={value}" for name, value in candidate.items()) or "default"


def in_short(error: BaseException) -> str:
    """Its class and the first line of what it says."""
    lines: Sequence[str] = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:ERROR_LENGTH].rstrip(": ")
