"""What was measured, in CSV files that grow split by split."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

SPLITS = 100


@dataclass(frozen=True)
class Record:
    """One model on one split.

    Attributes
    ----------
    data, kernel, model : str
        The model is a loss, "svm", or "pca" and a loss.
    split : int
    train, test : float
        Accuracy in per cent, or mean squared error.
    size : float
        Number of factors; C of a support vector machine.
    seconds : float
        CPU time of the choice of the size, and the fit.
    """

    data: str
    kernel: str
    model: str
    split: int
    train: float
    test: float
    size: float
    seconds: float


@dataclass(frozen=True)
class Curve:
    """A row of numbers from one split.

    Attributes
    ----------
    data, model : str
    split : int
    values : tuple of float
        Errors or areas under the curve, by number of factors or by C.
    """

    data: str
    model: str
    split: int
    values: tuple[float, ...]


class Store:
    """Records of one kind, in memory and in a file.

    Parameters
    ----------
    path : Path
        Read if it is there.
    kind : type
        ``Record`` or ``Curve``.
    """

    def __init__(self, path: Path, kind: type[Any]) -> None:
        self._path, self._kind = path, kind
        self._types = get_type_hints(kind)
        self.rows: list[Any] = []
        if path.is_file():
            with path.open(newline="", encoding="utf-8") as file:
                self.rows = [self._read(row) for row in csv.DictReader(file)]

    def known(self) -> set[tuple[str, int]]:
        """Data set and split of what there is."""
        return {(row.data, row.split) for row in self.rows}

    def extend(self, splits: Iterable[list[Any]]) -> None:
        """Write the records of each split as soon as they are there."""
        for rows in splits:
            new = not self._path.is_file()
            with self._path.open("a", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                if new:
                    writer.writerow(field.name for field in fields(self._kind))
                written = [[_text(getattr(row, name)) for name in self._types] for row in rows]
                writer.writerows(written)
            names = list(self._types)
            self.rows += [self._read(dict(zip(names, row, strict=True))) for row in written]

    def _read(self, row: dict[str, str]) -> Any:
        return self._kind(**{name: _value(row[name], kind) for name, kind in self._types.items()})


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_text, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _value(text: str, kind: Any) -> Any:
    return kind(text) if kind in (str, int, float) else tuple(map(float, text.split()))
