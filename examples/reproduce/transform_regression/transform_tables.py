"""Tables of the study's page: what was measured beside the paper's numbers."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from gini_models import MODELS
from page_tables import plus_minus, table
from surface import SHARES, VARIANTS
from surface_figures import PAPER_INITIAL, PICTURE_SEED, PICTURE_SHARE, filled
from transform_regression.measured import Measured

NEAR = 1.5
"""Within this factor of the paper's error the initial algorithm counts as reproduced."""

SHOWN_STAGES = (1, 2, 3, 5, 10)
PAPER_GINI = {
    ("Adult", "transform regression"): 0.655,
    ("Adult", "linear regression tree"): 0.559,
    ("Adult", "first stage"): 0.566,
    ("Adult", "stepwise linear regression"): 0.429,
    ("COIL", "transform regression"): 0.431,
    ("COIL", "linear regression tree"): 0.382,
    ("COIL", "first stage"): 0.311,
    ("COIL", "stepwise linear regression"): 0.373,
}


def tables(folder: Path) -> dict[str, str]:
    """All tables, made from the records in a folder."""
    measured = Measured(folder / "transform_results.csv")
    stages = " | ".join(map(str, SHOWN_STAGES))
    found = {
        "surface": (surface_rows, f"held out | method | {stages} | 10 stages, all seeds"),
        "near": (near_rows, f"held out | seeds | at most {NEAR * PAPER_INITIAL:.3f}"),
        "pictured": (picture_rows, "stage | " + " | ".join(map(str, range(1, 11)))),
        "gini": (gini_rows, "data | model | paper | ours | CPU s"),
    }
    own = {name: table(rows(measured), head) for name, (rows, head) in found.items()}
    head = "part | model | rows | features | stages | s | CPU s | CPU s a stage | peak GB"
    return own | {"benchmark": table(benchmark_rows(folder / "transform_benchmark.csv"), head)}


def surface_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Mean error after some stages, and the least and largest of all seeds after ten."""
    for share in SHARES:
        for variant, title in VARIANTS.items():
            runs = measured.chosen("surface", f"{share:g}", variant)
            if runs:
                lines = [filled(run.values) for run in runs]
                means = [statistics.mean(line[k - 1] for line in lines) for k in SHOWN_STAGES]
                last = [float(line[-1]) for line in lines]
                ends = f"{min(last):.3f} to {max(last):.3f}"
                yield f"{share:.0%}", title, *(f"{mean:.3f}" for mean in means), ends


def near_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """With how many seeds the initial algorithm comes near the paper's error."""
    for share in SHARES:
        last = [run.values[-1] for run in measured.chosen("surface", f"{share:g}", "initial")]
        near = sum(error <= NEAR * PAPER_INITIAL for error in last)
        yield f"{share:.0%}", str(len(last)), str(near)


def picture_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Errors of the seed that the pictures show."""
    for variant in ("initial", "transform"):
        for run in measured.chosen("surface", f"{PICTURE_SHARE:g}", variant):
            if run.seed == PICTURE_SEED:
                errors = (f"{error:.3f}" for error in filled(run.values))
                yield VARIANTS[variant].split(" (")[0], *errors


def gini_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Mean and spread of every model, beside the paper's."""
    names = dict.fromkeys(run.data for run in measured.records if run.study == "gini")
    for data in names:
        for model in MODELS:
            runs = measured.chosen("gini", data, model)
            if runs:
                paper = PAPER_GINI.get((data, model))
                yield (
                    data,
                    model,
                    "" if paper is None else f"{paper:.3f}",
                    plus_minus([run.values[0] for run in runs], 3),
                    f"{statistics.mean(run.seconds for run in runs):.1f}",
                )


def benchmark_rows(path: Path) -> Iterator[Sequence[str]]:
    """What benchmarks/transform_regression.py has measured; none without its file."""
    if path.is_file():
        with path.open(newline="", encoding="utf-8") as file:
            yield from map(benchmark_row, csv.DictReader(file))


def benchmark_row(record: dict[str, str]) -> Sequence[str]:
    """One fit."""
    names = ("part", "model", "rows", "features", "stages")
    cpu = float(record["cpu_seconds"])
    return (
        *(record[name] for name in names),
        f"{float(record['seconds']):.1f}",
        f"{cpu:.1f}",
        f"{cpu / int(record['stages']):.2f}",
        record["peak_gb"],
    )
