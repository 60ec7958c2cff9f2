"""Tables of the study's page, made from its records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean

from page_tables import plus_minus, table
from picture import CURVES, OURS, TITLES, frontier
from results import Record, best, read_records

MODELS = (
    "SVC",
    "2-norm, exact",
    "2-norm, exact, balanced",
    "2-norm, greedy",
    "2-norm, greedy, refitted",
    "2-norm, greedy from means, refitted",
)
EVERY_KERNEL = MODELS[:3]
TABLE_SIZES = (50, 100, 200, 400, 600)
FILE = "frontier.csv"


def tables(folder: Path) -> dict[str, str]:
    """All tables, made from the records in a folder."""
    records = read_records(folder / FILE)
    sizes = " | ".join(map(str, TABLE_SIZES))
    found = {
        "chosen": (chosen_rows, "kernels | model | columns | kernel, C | validation | test"),
        "kernels": (kernel_rows, "kernels | γ or p | " + " | ".join(EVERY_KERNEL)),
        "frontier": (frontier_rows, f"kernels | model | {sizes}"),
        "lowest": (lowest_rows, "kernels | columns | by | lowest error | model"),
    }
    return {name: table(rows(records), head) for name, (rows, head) in found.items()}


def chosen_rows(records: Sequence[Record]) -> Iterable[Sequence[str]]:
    """For each kind of kernel and each model: kernel and C chosen on validation in every seed."""
    for likeness, method in ((name, model) for name in TITLES for model in MODELS):
        models = best(records, lambda r: (r.likeness, r.method) == (likeness, method))  # noqa: B023
        if models:
            numbers = ", ".join(f"{r.numbers} ({r.C:g})" for r in unique(models))
            yield (
                TITLES[likeness],
                method,
                f"{mean(model.columns for model in models):.0f}",
                numbers,
                plus_minus([model.validation for model in models]),
                f"**{plus_minus([model.test for model in models])}**",
            )


def unique(models: Sequence[Record]) -> list[Record]:
    """One record for each choice of kernel and C."""
    return list({(model.numbers, model.C): model for model in models}.values())


def kernel_rows(records: Sequence[Record]) -> Iterable[Sequence[str]]:
    """Mean test error of every kernel and sum of kernels, C chosen on validation."""
    for likeness in TITLES:
        dense = [r for r in records if r.likeness == likeness and r.method in EVERY_KERNEL]
        for numbers in sorted({r.numbers for r in dense}, key=by_number):
            cells = []
            for method in EVERY_KERNEL:
                models = best(dense, lambda r: (r.numbers, r.method) == (numbers, method))  # noqa: B023
                cells.append(plus_minus([model.test for model in models]) if models else "")
            yield TITLES[likeness], numbers.replace("+", ", "), *cells


def by_number(numbers: str) -> tuple[int, list[float]]:
    """Single kernels first, each group by size."""
    parts = [float(number) for number in numbers.split("+")]
    return len(parts), parts


def frontier_rows(records: Sequence[Record]) -> Iterable[Sequence[str]]:
    """Mean test error with at most so many columns; the lowest of each column in bold."""
    for likeness in TITLES:
        errors = {
            method: {size: mean_test(records, likeness, method, size) for size in TABLE_SIZES}
            for method in CURVES
        }
        smallest = {size: min(at[size] for at in errors.values()) for size in TABLE_SIZES}
        for method, at in errors.items():
            if min(at.values()) < float("inf"):
                cells = [
                    f"**{error:.2f}**" if error == smallest[size] else f"{error:.2f}"
                    for size, error in at.items()
                ]
                yield TITLES[likeness], method, *(cell.replace("inf", "") for cell in cells)


def mean_test(records: Sequence[Record], likeness: str, method: str, size: int) -> float:
    """Mean test error over the seeds; infinite where a seed has no model so small."""
    n_seeds = len({r.seed for r in records if r.likeness == likeness})
    models = frontier(records, likeness, method, size)
    if not models or len(models) < n_seeds:
        return float("inf")
    return mean(r.test for r in models)


def lowest_rows(records: Sequence[Record]) -> Iterable[Sequence[str]]:
    """The method with the lowest error at 100 and at 200 columns, of ours and of the others."""
    for likeness in TITLES:
        for size in (100, 200):
            for group, methods in (("cgboost", OURS), ("others", set(CURVES) - set(OURS))):
                error, method = min(
                    (mean_test(records, likeness, method, size), method) for method in methods
                )
                if error < float("inf"):
                    tests = [r.test for r in frontier(records, likeness, method, size)]
                    yield TITLES[likeness], str(size), group, plus_minus(tests), method
