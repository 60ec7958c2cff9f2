"""What was measured, one record a model; the choice on the validation set; picture and tables."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import mean

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter
from page_tables import plus_minus, table
from study_jobs import Store, draw_band


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


def records_of(folder: Path) -> Store[Record]:
    """The records of a folder; errors are written to a hundredth of a percent."""
    percent = "{:.2f}".format
    texts = {"C": str, "validation": percent, "test": percent, "gap": "{:.1e}".format}
    return Store(folder / FILE, Record, **texts)


def with_free_centres(records: Sequence[Record], folder: Path) -> list[Record]:
    """The records and those of the study of free centres, which has the same splits.

    Parameters
    ----------
    records : sequence of Record
    folder : Path
        Of this study; the other one lies next to it.
    """
    path = folder.parent / "free_centres" / "free_centres.csv"
    found = list(records)
    seeds = {record.seed for record in records if record.likeness == "cosine"}
    rows = csv.DictReader(path.open(encoding="utf-8")) if path.exists() else []
    for row in rows:
        if (row["data"], row["method"]) != ("mnist-1000", "free centres"):
            continue
        if int(row["seed"]) in seeds:
            objective, bound = float(row["objective"]), float(row["bound"])
            errors = float(row["validation"]), float(row["test"])
            gap = (objective - bound) / max(1.0, abs(objective))
            power = row["kernel"].removeprefix("p=")
            size = int(row["columns"])
            own = int(row["seed"]), "cosine", power, FREE, float(row["C"]), size, *errors, gap
            found.append(Record(*own))
    return found


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


FREE = "RKHS norm, free centres"

COLOURS = {
    FREE: "#CC3311",
    "2-norm, greedy from means, refitted": "#004C80",
    "2-norm, greedy, refitted": "#0072B2",
    "2-norm, greedy": "#56B4E9",
    "1-norm, refitted": "#009E73",
    "1-norm path": "#8FD3B6",
    "Nyström, class means": "#D55E00",
    "Nyström, means": "#E69F00",
    "Nyström, random rows": "#F0C27B",
    "SVC on fewer rows": "#999999",
    "SVC": "#333333",
}
CURVES = tuple(COLOURS)[:-1]
OURS = CURVES[:6]
TITLES = {
    "rbf": "RBF of raw pixels",
    "cosine": "normalised polynomials",
    "jittered": "jittered polynomials",
}
GRID = (25, 50, 75, 100, 150, 200, 300, 400, 500, 600)


def frontier(records: Sequence[Record], likeness: str, method: str, size: int) -> list[Record]:
    """For each seed the model of a method that validation prefers, of at most ``size`` columns."""
    return best(
        records,
        lambda record: (
            (record.likeness, record.method) == (likeness, method) and record.columns <= size
        ),
    )


def draw(records: Sequence[Record], path: Path) -> None:
    """Write the picture: errors above, the gap of the greedy sequence below."""
    curves = {r.likeness for r in records if r.method in CURVES}
    likenesses = [name for name in TITLES if name in curves]
    canvas = Figure(figsize=(4.7 * len(likenesses) + 0.4, 7.5), layout="constrained")
    panels = canvas.subplots(
        2, len(likenesses), squeeze=False, sharex=True, sharey="row", height_ratios=[3, 1]
    )
    for (errors, gaps), likeness in zip(panels.T, likenesses, strict=True):
        for method in CURVES:
            draw_curve(errors, records, likeness, method)
        draw_machine(errors, records, likeness)
        draw_gap(gaps, records, likeness)
        errors.set_title(TITLES[likeness], loc="left", fontsize="medium", fontweight="bold")
        errors.set(yscale="log", yticks=[2, 3, 4, 5, 6, 8, 10, 15], ylim=(2, 20))
        errors.yaxis.set_major_formatter(ScalarFormatter())
        errors.minorticks_off()
        errors.grid(axis="y", color="#eeeeee")
        gaps.set(ylim=(0, 1.05), xlabel="columns (centres, support vectors)")
        for panel in (errors, gaps):
            panel.spines[["top", "right"]].set_visible(False)
    panels[0, 0].set_ylabel("test error (%)")
    panels[1, 0].set_ylabel("certified gap,\ngreedy 2-norm")
    handles = panels[0, 0].get_legend_handles_labels()
    canvas.legend(*handles, loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    canvas.savefig(path, dpi=110)


def draw_curve(axes: Axes, records: Sequence[Record], likeness: str, method: str) -> None:
    """Mean test error over the seeds, and a band of one standard deviation."""
    n_seeds = len({record.seed for record in records if record.likeness == likeness})
    chosen = {size: frontier(records, likeness, method, size) for size in GRID}
    sizes = [size for size, models in chosen.items() if len(models) == n_seeds]
    if not sizes:
        return
    lines = np.transpose([[r.test for r in chosen[size]] for size in sizes])
    draw_band(axes, sizes, lines, COLOURS[method], method, "-" if method in OURS else "--")


def draw_machine(axes: Axes, records: Sequence[Record], likeness: str) -> None:
    """The SVC as a point: its support vectors are what they are."""
    models = best(records, lambda r: (r.likeness, r.method) == (likeness, "SVC"))
    points = np.array([(model.columns, model.test) for model in models])
    (columns, test), (wide, high) = points.mean(axis=0), points.std(axis=0)
    axes.errorbar(columns, test, high, wide, "o", color=COLOURS["SVC"], label="SVC")


def draw_gap(axes: Axes, records: Sequence[Record], likeness: str) -> None:
    """The gap of the greedy models drawn above: their proven distance to the optimum."""
    for size in GRID:
        gaps = [r.gap for r in frontier(records, likeness, "2-norm, greedy", size)]
        axes.plot([size] * len(gaps), gaps, ".", color=COLOURS["2-norm, greedy"], markersize=4)


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
    records = with_free_centres(records_of(folder).rows, folder)
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
