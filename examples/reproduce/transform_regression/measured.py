"""What was measured, in a CSV file that grows model by model."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Record:
    """One fitted model.

    Attributes
    ----------
    study : str
        "surface" or "gini".
    data : str
        Share of the rows held out, as text, or the data set.
    model : str
    seed : int
        Of what is held out.
    values : tuple of float
        Test errors after 1, 2, … stages; or one Gini coefficient.
    seconds : float
        CPU time of the fit.
    """

    study: str
    data: str
    model: str
    seed: int
    values: tuple[float, ...]
    seconds: float


class Measured:
    """Records in memory and in a file.

    Parameters
    ----------
    path : Path
        Read if it is there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.records: list[Record] = []
        if path.is_file():
            with path.open(newline="", encoding="utf-8") as file:
                self.records = [_read(row) for row in list(csv.reader(file))[1:]]

    def known(self) -> set[tuple[str, str, str, int]]:
        """Study, data, model and seed of what there is."""
        return {(r.study, r.data, r.model, r.seed) for r in self.records}

    def extend(self, records: Iterable[Record]) -> None:
        """Write each record as soon as it is there."""
        for record in records:
            new = not self._path.is_file()
            with self._path.open("a", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                if new:
                    writer.writerow(field.name for field in fields(Record))
                row = _written(record)
                writer.writerow(row)
            self.records.append(_read(row))

    def chosen(self, study: str, data: str, model: str) -> list[Record]:
        """Records of all seeds, in their order."""
        wanted = (study, data, model)
        found = [r for r in self.records if (r.study, r.data, r.model) == wanted]
        return sorted(found, key=lambda record: record.seed)


def mean_and_spread(numbers: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation; one number has a spread of 0."""
    spread = statistics.stdev(numbers) if len(numbers) > 1 else 0.0
    return statistics.mean(numbers), spread


def _written(record: Record) -> list[str]:
    values = " ".join(
        f"{value:.2e}" if 0 < abs(value) < 1e-3 else f"{value:.4f}" for value in record.values
    )
    head = [record.study, record.data, record.model, str(record.seed)]
    return [*head, values, f"{record.seconds:.2f}"]


def _read(row: Sequence[str]) -> Record:
    study, data, model, seed, values, seconds = row
    return Record(study, data, model, int(seed), tuple(map(float, values.split())), float(seconds))
