"""Pictures and tables of the page, made from the records.

A data set counts with the splits on which every method is measured, so that all methods have the
same ones.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mkl_data import FILES
from mkl_fits import Measured
from mkl_methods import EASY, GROUP, L1, L2, SIMPLE, SIMPLE_PAPER, SINGLE, SQUARED, UNIFORM
from page_tables import plus_minus, table
from study_jobs import Store

from cgboost.inspection import drawing

ORDER = GROUP, SQUARED, SIMPLE, SIMPLE_PAPER, EASY, UNIFORM, SINGLE, L1, L2
PEERS = SIMPLE, SIMPLE_PAPER, EASY, UNIFORM, SINGLE
"""Those that our group norm is compared with."""

Groups = dict[str, dict[str, list[Measured]]]


def grouped(records: Sequence[Measured]) -> Groups:
    """By data set and method, on the splits that all methods of the data set have."""
    found: Groups = {}
    for data in (name for name in FILES if any(row.data == name for row in records)):
        own = [row for row in records if row.data == data]
        methods = [name for name in ORDER if any(row.method == name for row in own)]
        seeds = set.intersection(*({r.seed for r in own if r.method == m} for m in methods))
        found[data] = {
            method: sorted(
                (r for r in own if r.method == method and r.seed in seeds), key=lambda r: r.seed
            )
            for method in methods
        }
    return {data: methods for data, methods in found.items() if any(methods.values())}


def tables(folder: Path) -> dict[str, str]:
    """All tables of the page."""
    records = Store(folder / "simple_mkl.csv", Measured).rows
    groups = grouped(records)
    versions = (folder / "simple_mkl.txt").read_text(encoding="utf-8").strip()
    return {
        "accuracy": by_method(groups, accuracies),
        "kernels": by_method(groups, lambda runs, _: plus_minus([r.kernels for r in runs], 1)),
        "seconds": by_method(groups, seconds),
        "goals": table(goal_rows(groups), GOALS),
        "same": table(same_rows(groups), SAME),
        "made": table([made_row(records, groups, versions)], MADE),
    }


def of_method_page(found: Mapping[str, str]) -> dict[str, str]:
    """The tables that the page of the method shows too."""
    return {name: found[name] for name in ("accuracy", "kernels")}


GOALS = (
    "data | ours | accuracy | best of the others | accuracy | difference ± standard error | "
    "kernels | kernels of SimpleMKL | longest fit, CPU s | largest gap"
)
SAME = (
    "data | objective of SimpleMKL | ours | ours lower on | "
    "kernels, SimpleMKL | kernels, ours | CPU s, SimpleMKL | CPU s, ours"
)
MADE = "splits | fits | CPU minutes | made with"


Cell = Callable[[Sequence[Measured], Mapping[str, Sequence[Measured]]], str]


def by_method(groups: Groups, cell: Cell) -> str:
    """A row for every method, a column for every data set."""
    rows = []
    for method in ORDER:
        runs = [groups[data].get(method, []) for data in groups]
        if any(runs):
            cells = [
                cell(own, groups[data]) if own else ""
                for own, data in zip(runs, groups, strict=True)
            ]
            rows.append([f"**{method}**" if "CGBoost" in method else method, *cells])
    return table(rows, " | ".join(["method", *groups]))


def accuracies(runs: Sequence[Measured], methods: Mapping[str, Sequence[Measured]]) -> str:
    """Mean ± standard deviation, bold where no other mean is higher."""
    text = plus_minus([run.accuracy for run in runs], 1)
    best = max(mean(own, "accuracy") for own in methods.values())
    return f"**{text}**" if mean(runs, "accuracy") >= best else text


def seconds(runs: Sequence[Measured], _: object) -> str:
    """Median of a fit; in brackets that of the choice before it."""
    text = f"{statistics.median(run.seconds for run in runs):.2f}"
    choosing = statistics.median(run.choosing for run in runs)
    return f"{text} ({choosing:.1f})" if choosing else text


def mean(runs: Sequence[Measured], name: str) -> float:
    """Of a number."""
    return statistics.mean(getattr(run, name) for run in runs)


def goal_rows(groups: Groups) -> list[list[str]]:
    """The group norm and half its square compared with the best of the others, split by split."""
    rows = []
    for data, methods in groups.items():
        others = [name for name in PEERS if methods.get(name)]
        best = max(others, key=lambda name: mean(methods[name], "accuracy"), default="")
        for name in (GROUP, SQUARED):
            if best and methods.get(name):
                rows.append([data, *compared(methods[name], methods[best], methods[SIMPLE])])
    return rows


def compared(
    ours: Sequence[Measured], best: Sequence[Measured], simple: Sequence[Measured]
) -> list[str]:
    """One of ours, the best of the others, and SimpleMKL."""
    differences = [own.accuracy - other.accuracy for own, other in zip(ours, best, strict=True)]
    error = statistics.stdev(differences) / sqrt(len(ours)) if len(ours) > 1 else 0.0
    return [
        ours[0].method,
        f"{mean(ours, 'accuracy'):.1f}",
        best[0].method,
        f"{mean(best, 'accuracy'):.1f}",
        f"{statistics.mean(differences):+.1f} ± {error:.1f}",
        f"{mean(ours, 'kernels'):.1f}",
        f"{mean(simple, 'kernels'):.1f}",
        f"{max(run.seconds for run in ours):.1f}",
        f"{max(run.gap for run in ours):.0e}",
    ]


def same_rows(groups: Groups) -> list[list[str]]:
    """SimpleMKL and the squared group norm with the same C: one problem, two solvers."""
    rows = []
    for data, methods in groups.items():
        theirs, ours = methods.get(SIMPLE, []), methods.get(SQUARED, [])
        if not ours:
            continue
        pairs = zip(ours, theirs, strict=True)
        lower = sum(own.objective <= other.objective for own, other in pairs)
        both = (theirs, ours)
        rows.append(
            [
                data,
                *(f"{mean(runs, 'objective'):.4f}" for runs in both),
                f"{lower} of {len(ours)}",
                *(f"{mean(runs, 'kernels'):.1f}" for runs in both),
                *(f"{statistics.median(r.seconds for r in runs):.2f}" for runs in both),
            ]
        )
    return rows


def made_row(records: Sequence[Measured], groups: Groups, versions: str) -> list[str]:
    """Splits, fits, time and versions."""
    counts = {data: len(next(iter(methods.values()))) for data, methods in groups.items()}
    minutes = sum(row.seconds + row.choosing for row in records) / 60
    splits = ", ".join(f"{data} {count}" for data, count in counts.items())
    return [splits, str(len(records)), f"{minutes:.0f}", versions]


def draw(records: Sequence[Measured], path: Path) -> None:
    """Accuracy against kernels kept, a panel for each data set."""
    groups = grouped(records)
    canvas = Figure(figsize=(10.0, 6.4), dpi=110, layout="constrained")
    panels = canvas.subplots(2, 2, squeeze=False).ravel()
    shown = [name for name in ORDER if "paper" not in name]
    for axis, (data, methods) in zip(panels, groups.items(), strict=False):
        for k, method in enumerate(shown):
            if methods.get(method):
                draw_point(axis, methods[method], k, method)
        axis.set_xscale("log")
        count = len(next(iter(methods.values())))
        drawing.label(axis, f"{data}, {count} splits", "kernels kept", "accuracy, %")
        axis.grid(color="#eeeeee")
        axis.set_axisbelow(True)
    handles, labels = panels[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    canvas.savefig(path)


MARKERS = "oXsD^vP*"


def draw_point(axis: Axes, runs: Sequence[Measured], k: int, label: str) -> None:
    """Means, with one standard error of the accuracy."""
    accuracy = [run.accuracy for run in runs]
    error = statistics.stdev(accuracy) / sqrt(len(runs)) if len(runs) > 1 else 0.0
    style = {"color": drawing.colour(k) if k < 6 else drawing.INK, "capsize": 2.0}
    axis.errorbar(
        mean(runs, "kernels"),
        mean(runs, "accuracy"),
        yerr=error,
        fmt=MARKERS[k],
        label=label,
        **style,
    )
