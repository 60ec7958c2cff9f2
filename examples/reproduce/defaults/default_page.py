"""Picture and tables of the study's page, made from its records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import default_boosters
import numpy as np
from default_models import CHANGES, CLASSES, NUMBERS, OURS, THEIRS
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from page_tables import plus_minus, table
from scipy.stats import rankdata
from study_jobs import Measured, made

from cgboost.inspection import drawing

ERROR, COLUMNS = 0, 1
MODELS = (THEIRS, *CHANGES)
WORDS = {CLASSES: "wrong labels, %", NUMBERS: "absolute error, % of the median's"}


def data_sets(records: Measured, task: str) -> list[str]:
    """Names of the data sets of a task, in the order of the records."""
    return list(dict.fromkeys(r.data for r in records.rows if r.study == task))


def means(records: Measured, task: str, entry: int) -> np.ndarray:
    """Means over the splits, shape (n_data_sets, n_models)."""
    names = data_sets(records, task)
    return np.array(
        [[records.values(task, data, m)[:, entry].mean() for m in MODELS] for data in names]
    )


def seconds(records: Measured, task: str, model: str) -> float:
    """Mean CPU time of a fit."""
    found = [r.seconds for r in records.rows if r.study == task and r.model == model]
    return float(np.mean(found))


def tables(folder: Path) -> dict[str, str]:
    """All tables of the page."""
    records = Measured(folder / "defaults.csv")
    return {
        "choices-classes": choices(records, CLASSES),
        "choices-numbers": choices(records, NUMBERS),
        "beside-classes": beside(records, CLASSES),
        "beside-numbers": beside(records, NUMBERS),
        "made": made(records),
    } | default_boosters.tables(folder)


def choices(records: Measured, task: str) -> str:
    """Every model over all data sets, the best mean rank first."""
    errors, columns = means(records, task, ERROR), means(records, task, COLUMNS)
    ranks = np.mean([rankdata(row) for row in errors], axis=0)
    shares = columns / columns[:, [0]]
    rows = []
    for k in np.argsort(ranks, kind="stable"):
        name = f"**{MODELS[k]}**" if MODELS[k] == OURS else MODELS[k]
        share = f"{np.median(shares[:, k]):.2f} (at most {shares[:, k].max():.2f})"
        cost = f"{seconds(records, task, MODELS[k]):.2f}"
        rows.append((name, f"{errors[:, k].mean():.2f}", f"{ranks[k]:.2f}", share, cost))
    head = f"model | {WORDS[task]} | mean rank | columns / support vectors | CPU s"
    return table(rows, head)


def beside(records: Measured, task: str) -> str:
    """The default compared with SVC or SVR, data set by data set; lower errors in bold."""
    return table(list(beside_rows(records, task)), BESIDE_HEAD.format(words=WORDS[task]))


BESIDE_HEAD = "data | ours: {words} | SVC, SVR | our columns | support vectors | largest gap"


def beside_rows(records: Measured, task: str) -> Iterator[tuple[str, ...]]:
    """A row for each data set, and one of how often each is ahead."""
    ahead = [0, 0]
    for data in data_sets(records, task):
        ours, theirs = (records.values(task, data, model) for model in (OURS, THEIRS))
        texts = [plus_minus(list(runs[:, ERROR])) for runs in (ours, theirs)]
        better = int(ours[:, ERROR].mean() > theirs[:, ERROR].mean())
        if ours[:, ERROR].mean() != theirs[:, ERROR].mean():
            texts[better] = f"**{texts[better]}**"
            ahead[better] += 1
        sizes = [f"{runs[:, COLUMNS].mean():.0f}" for runs in (ours, theirs)]
        yield (data, *texts, *sizes, f"{ours[:, 2].max():.0e}")
    yield ("lower mean error", str(ahead[0]), str(ahead[1]), "", "", "")


def draw(records: Measured, path: Path) -> None:
    """Errors and numbers of columns of both, a dot for each data set."""
    figure = Figure(figsize=(8.4, 4.2), dpi=90, layout="constrained")
    left, right = figure.subplots(1, 2)
    for k, task in enumerate((CLASSES, NUMBERS)):
        places = [MODELS.index(THEIRS), MODELS.index(OURS)]
        for axis, entry in ((left, ERROR), (right, COLUMNS)):
            x, y = means(records, task, entry)[:, places].T
            axis.plot(x, y, "o", color=drawing.colour(k), label=task, alpha=0.8)
    diagonal(left, "error in per cent", 1.0)
    diagonal(right, "columns", 0.5)
    left.legend(frameon=False)
    figure.savefig(path)


def diagonal(axis: Axes, what: str, share: float) -> None:
    """Log scales, and the lines of equality and of a share of it."""
    axis.set_xscale("log")
    axis.set_yscale("log")
    ends = np.array([min(axis.get_xlim()[0], axis.get_ylim()[0]), max(*axis.get_xlim())])
    axis.plot(ends, ends, "-", color="grey", linewidth=1)
    if share != 1.0:
        axis.plot(ends, share * ends, "--", color="grey", linewidth=1)
    names = ("support vectors of SVC and SVR", "columns of the default model")
    if what != "columns":
        names = (f"SVC and SVR: {what}", f"the default model: {what}")
    drawing.label(axis, "", *names)
