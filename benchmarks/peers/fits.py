"""What was measured: one record a fit, and the choice among candidates on the validation rows."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from math import isnan, nan
from pathlib import Path
from typing import Any, Generic, TypeVar, get_type_hints

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


class Store(Generic[Kind]):
    """Records of one kind, in memory and in a CSV file that grows with them.

    Parameters
    ----------
    path : Path
        Read if it is there.
    kind : type
        ``Fit`` or ``Class``.
    """

    def __init__(self, path: Path, kind: type[Kind]) -> None:
        self._path, self._kind = path, kind
        self._types: dict[str, Any] = get_type_hints(kind)
        self.rows: list[Kind] = []
        if path.is_file():
            with path.open(newline="", encoding="utf-8") as file:
                self.rows = [self._read(row) for row in csv.DictReader(file)]

    def extend(self, records: Iterable[Kind]) -> None:
        """Write the records, and keep them as they would be read."""
        new = not self._path.is_file()
        names = [field.name for field in fields(self._kind)]  # type: ignore[arg-type]
        with self._path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names, lineterminator="\n")
            if new:
                writer.writeheader()
            for record in records:
                row = {name: _text(getattr(record, name)) for name in names}
                writer.writerow(row)
                self.rows.append(self._read(row))

    def _read(self, row: dict[str, str]) -> Kind:
        return self._kind(**{name: kind(row[name]) for name, kind in self._types.items()})


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


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
