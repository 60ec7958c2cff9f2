"""All entrants of a task, in turn: times, scores, sizes, certificates, and errors as they come."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from math import nan
from typing import Any

from entrants import Entrant
from fits import Fit
from task_rows import Rows
from tasks import Task, score

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
