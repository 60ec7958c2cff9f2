"""The records, the picture and the tables of the study of free centres."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, ScalarFormatter
from page_tables import plus_minus, table
from study_jobs import Store


@dataclass(frozen=True)
class Record:
    """One model on one split.

    Attributes
    ----------
    data : str
    seed : int
    method : str
    kernel : str
    C : float
    columns : int
        Centres or support vectors.
    validation, test : float
        Errors in percent.
    fit_seconds, predict_seconds : float
        Of the processor; predictions for all test rows. Nan for the models of stages but the last.
    objective, bound : float
        Of the fit, and its certified lower bound; of the SVC its dual objective as the bound.
    """

    data: str
    seed: int
    method: str
    kernel: str
    C: float
    columns: int
    validation: float
    test: float
    fit_seconds: float
    predict_seconds: float
    objective: float
    bound: float


COLOURS = {
    "free centres": "#0072B2",
    "SVC on free centres": "#009E73",
    "Nyström, class means": "#D55E00",
    "Nyström, random rows": "#F0C27B",
    "SVC": "#333333",
}
TITLES = {
    "mnist-1000": "MNIST odd/even, 1000 rows",
    "mnist-10000": "MNIST odd/even, 10000 rows",
    "mnist-60000": "MNIST odd/even, 60000 rows",
    "digits": "8×8 digits odd/even, 600 rows",
    "adult": "Adult, 8000 rows",
    "coil": "COIL 2000, 4000 rows (100 − AUC)",
}


def records_of(folder: Path) -> Store[Record]:
    """The records of a folder."""
    percent = "{:.3f}".format
    return Store(folder / "free_centres.csv", Record, validation=percent, test=percent)


def chosen(records: Iterable[Record], data: str, method: str, size: float = np.inf) -> list[Record]:
    """For each seed the model that validation prefers, of at most ``size`` columns."""
    best: dict[int, Record] = {}
    for record in records:
        if (record.data, record.method) == (data, method) and record.columns <= size:
            rival = best.setdefault(record.seed, record)
            if (record.validation, record.columns) < (rival.validation, rival.columns):
                best[record.seed] = record
    return [best[seed] for seed in sorted(best)]


def tables(folder: Path) -> dict[str, str]:
    """All tables, made from the records in a folder."""
    records = records_of(folder).rows
    head = "data | method | columns | kernel (C) | test error | fit, CPU s | predict, CPU s"
    gaps = "data | kernel (C) | columns | bound | SVC's dual objective | objective | gap"
    return {
        "errors": table(error_rows(records), head),
        "gaps": table(gap_rows(records), gaps),
    }


def error_rows(records: Sequence[Record]) -> Iterator[Sequence[str]]:
    """Models at every number of columns, and the SVC."""
    for data, title in TITLES.items():
        seeds = {record.seed for record in records if record.data == data}
        for method in COLOURS:
            mine = [r for r in records if (r.data, r.method) == (data, method)]
            sizes = sorted({r.columns for r in mine}) if method != "SVC" else [10**9]
            for size in sizes:
                models = chosen(
                    [r for r in mine if r.columns == size or size == 10**9], data, method
                )
                if models and len(models) == len(seeds):
                    yield error_row(title, method, models)


def error_row(title: str, method: str, models: Sequence[Record]) -> Sequence[str]:
    """Means over the splits."""
    kernels = dict.fromkeys(f"{model.kernel} ({model.C:g})" for model in models)
    fit = [model.fit_seconds for model in models]
    predict = [model.predict_seconds for model in models]
    return (
        title,
        method,
        f"{fmean(model.columns for model in models):.0f}",
        ", ".join(kernels),
        plus_minus([model.test for model in models]),
        "" if np.isnan(fit).any() else f"{fmean(fit):.2f}",
        "" if np.isnan(predict).any() else f"{fmean(predict):.3f}",
    )


def gap_rows(records: Sequence[Record]) -> Iterator[Sequence[str]]:
    """Certificates of the largest models of the first split, and the SVC's dual objective."""
    for data, title in TITLES.items():
        own = [r for r in records if r.data == data and r.seed == 0]
        machines = {(r.kernel, r.C): r.bound for r in own if r.method == "SVC"}
        most = max((r.columns for r in own if r.method == "free centres"), default=0)
        for r in own:
            if r.method != "free centres" or r.columns < most or np.isnan(r.bound):
                continue
            if (r.kernel, r.C) not in machines:
                continue
            yield (
                title,
                f"{r.kernel} ({r.C:g})",
                str(r.columns),
                f"{r.bound:.6g}",
                f"{machines[r.kernel, r.C]:.6g}",
                f"{r.objective:.6g}",
                f"{(r.objective - r.bound) / max(1.0, r.objective):.3f}",
            )


def draw(records: Sequence[Record], path: Path) -> None:
    """Write the picture: error against number of columns."""
    names = [name for name in TITLES if any(record.data == name for record in records)]
    if not names:
        return
    n_columns = min(3, len(names))
    n_lines = -(-len(names) // n_columns)
    canvas = Figure(figsize=(4.4 * n_columns, 3.8 * n_lines + 0.5), layout="constrained")
    panels = canvas.subplots(n_lines, n_columns, squeeze=False).ravel()
    for panel, name in zip(panels, names, strict=False):
        for method in COLOURS:
            draw_method(panel, records, name, method)
        panel.set_title(TITLES[name], loc="left", fontsize="medium", fontweight="bold")
        panel.set(xscale="log", xlabel="columns (centres, support vectors)")
        panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        panel.xaxis.set_major_formatter(ScalarFormatter())
        panel.minorticks_off()
        panel.grid(axis="y", color="#eeeeee")
        panel.spines[["top", "right"]].set_visible(False)
        low, high = panel.get_ylim()
        missing = max(0.0, 1.0 - (high - low))  # a panel shows at least one point
        panel.set_ylim(low - missing / 2, high + missing / 2)
    for panel in panels[len(names) :]:
        panel.remove()
    for panel in panels[: len(names) : n_columns]:
        panel.set_ylabel("test error (%)")
    handles = panels[0].get_legend_handles_labels()
    canvas.legend(*handles, loc="outside lower center", ncols=5, frameon=False, fontsize="small")
    canvas.savefig(path, dpi=110)


def draw_method(axes: Axes, records: Sequence[Record], data: str, method: str) -> None:
    """The mean over the splits of the models that validation prefers; the SVC as a point."""
    colour = COLOURS[method]
    if method == "SVC":
        models = chosen(records, data, method)
        if models:
            x, error = fmean(m.columns for m in models), fmean(m.test for m in models)
            axes.plot([x], [error], "o", color=colour, label=method)
            axes.axhline(error, color=colour, linewidth=0.8, linestyle=":")
        return
    mine = [record for record in records if (record.data, record.method) == (data, method)]
    sizes = sorted({record.columns for record in mine})
    curve = [chosen([r for r in mine if r.columns == size], data, method) for size in sizes]
    n_seeds = len({record.seed for record in records if record.data == data})
    drawn = [(size, own) for size, own in zip(sizes, curve, strict=True) if len(own) == n_seeds]
    if drawn:
        error = [fmean(model.test for model in models) for _, models in drawn]
        style = "-" if method == "free centres" else "--"
        marker = "." if len(drawn) == 1 else ""
        axes.plot([size for size, _ in drawn], error, style + marker, color=colour, label=method)
