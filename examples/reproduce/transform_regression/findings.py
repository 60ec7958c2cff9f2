"""The page of the study: tables of what was measured beside the paper's numbers."""

from __future__ import annotations

import csv
import os
import platform
import statistics
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from findings_words import PAGE, READING
from gini_models import MODELS
from measured import Measured, Record, mean_and_spread
from surface import SHARES, VARIANTS
from surface_figures import PAPER_INITIAL, PICTURE_SEED, PICTURE_SHARE, filled

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
PACKAGES = ("numpy", "scipy", "scikit-learn", "lightgbm")


def write_page(measured: Measured, docs: Path) -> None:
    """Write docs/transform_study.md."""
    runs = [run for run in measured.records if run.study == "surface"]
    page = PAGE.format(
        machine=machine(),
        n_seeds=len({run.seed for run in runs}),
        minutes=f"{sum(run.seconds for run in measured.records) / 60:.0f}",
        surface=table(
            surface_rows(measured),
            "held out | method | " + " | ".join(map(str, SHOWN_STAGES)) + " | 10 stages, all seeds",
        ),
        luck=luck(measured),
        limit=f"{NEAR * PAPER_INITIAL:.3f}",
        picture_seed=PICTURE_SEED,
        picture=picture_words(measured),
        gini=table(gini_rows(measured), "data | model | paper | ours | CPU s"),
        reading=READING.strip(),
        benchmark=benchmark(docs / "transform_benchmark.csv"),
    )
    (docs / "transform_study.md").write_text(page, encoding="utf-8")


def machine() -> str:
    """Versions, and how many cores there are."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    cores = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    return f"Python {platform.python_version()}, {', '.join(found)}; {cores}"


def table(rows: Iterable[Sequence[str]], head: str) -> str:
    """A Markdown table."""
    lines = [f"| {head} |", "|" + " --- |" * (head.count("|") + 1)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


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


def luck(measured: Measured) -> str:
    """Of how many seeds the initial algorithm comes near the paper's error."""
    words = []
    for share in SHARES:
        last = [run.values[-1] for run in measured.chosen("surface", f"{share:g}", "initial")]
        near = sum(error <= NEAR * PAPER_INITIAL for error in last)
        if last:
            words.append(f"{near} of {len(last)} seeds with {share:.0%} held out")
    return " and ".join(words)


def picture_words(measured: Measured) -> str:
    """Errors of the seed that the pictures show."""
    words = []
    for variant in ("initial", "transform"):
        for run in measured.chosen("surface", f"{PICTURE_SHARE:g}", variant):
            if run.seed == PICTURE_SEED:
                errors = ", ".join(f"{error:.3f}" for error in run.values)
                words.append(f"{VARIANTS[variant].split(' (')[0]}: {errors}")
    return "; ".join(words)


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
                    worded(runs),
                    f"{statistics.mean(run.seconds for run in runs):.1f}",
                )


def worded(runs: Sequence[Record]) -> str:
    """Mean ± standard deviation of one number of each run."""
    mean, spread = mean_and_spread([run.values[0] for run in runs])
    return f"{mean:.3f} ± {spread:.3f}"


def benchmark(path: Path) -> str:
    """What benchmarks/transform_regression.py has measured."""
    if not path.is_file():
        return "Not measured."
    with path.open(newline="", encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    rows = [benchmark_row(record) for record in records]
    head = "part | model | rows | features | stages | s | CPU s | CPU s a stage | peak GB"
    pairs = [
        [r for r in records if (r["part"], r["model"]) == ("lightgbm", model)]
        for model in ("transform", "LightGBM")
    ]
    if not all(pairs):
        return table(rows, head)
    wall, cpu = (
        ", ".join(f"{float(a[name]) / float(b[name]):.1f}" for a, b in zip(*pairs, strict=True))
        for name in ("seconds", "cpu_seconds")
    )
    return (
        f"{table(rows, head)}\n\nTransform regression with 10 stages took {wall} times as long as "
        "LightGBM with `linear_tree=True` and 100 rounds, in turn on the same two cores, and "
        f"{cpu} times its CPU time."
    )


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
