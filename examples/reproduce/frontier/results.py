"""What was measured: one record a model, and the choice among them on the validation set."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Record:
    """One fitted model: errors in percent.

    Attributes
    ----------
    seed : int
    likeness : str
        "rbf", "cosine" or "jittered".
    numbers : str
        The γ or p of its kernels, joined by "+".
    method : str
    C : float
    columns : int
        Columns, centres or support vectors of the model.
    validation, test : float
    gap : float
        Certified relative gap; nan for methods without one.
    """

    seed: int
    likeness: str
    numbers: str
    method: str
    C: float
    columns: int
    validation: float
    test: float
    gap: float


Choice = Callable[[Record], bool]


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write the records as CSV, errors to a hundredth of a percent."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(Record))
        for record in records:
            rounded = asdict(record)
            rounded |= {name: f"{rounded[name]:.2f}" for name in ("validation", "test")}
            writer.writerow((rounded | {"gap": f"{record.gap:.1e}"}).values())


def read_records(path: Path) -> list[Record]:
    """Read what :func:`write_records` wrote; an absent file holds no records."""
    if not path.is_file():
        return []
    kinds = [int, str, str, str, float, int, float, float, float]
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return [Record(*(kind(text) for kind, text in zip(kinds, row, strict=True))) for row in rows]


def merged(old: Iterable[Record], new: Sequence[Record]) -> list[Record]:
    """The new records, and the old ones of other seeds and likenesses."""
    replaced = {(record.seed, record.likeness) for record in new}
    kept = [record for record in old if (record.seed, record.likeness) not in replaced]
    return sorted([*kept, *new], key=astuple)


def best(records: Iterable[Record], wanted: Choice) -> list[Record]:
    """For each seed the wanted record with the lowest validation error.

    Of equals the one with the fewest columns; seeds without a wanted record are left out.
    """
    chosen: dict[int, Record] = {}
    for record in filter(wanted, records):
        rival = chosen.setdefault(record.seed, record)
        if (record.validation, record.columns) < (rival.validation, rival.columns):
            chosen[record.seed] = record
    return [chosen[seed] for seed in sorted(chosen)]


def mean_and_spread(numbers: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation; one number has a spread of 0."""
    spread = statistics.stdev(numbers) if len(numbers) > 1 else 0.0
    return statistics.mean(numbers), spread
