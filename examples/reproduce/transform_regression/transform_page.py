"""Pictures and tables of the study's page: what was measured next to the paper's numbers."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from page_tables import csv_rows, plus_minus, table
from PIL import Image
from study_data import Data
from study_jobs import Measured
from transform_models import MODELS, SHARES, STAGES, VARIANTS, Surface, available, surface_model

from cgboost import TransformRegressor
from cgboost.additive.stage import Stage
from cgboost.inspection import drawing
from cgboost.inspection.metrics import plot_gains
from cgboost.inspection.model_pictures import plot_transformations

Vector = NDArray[np.float64]

PICTURE_SEED = 3
"""A seed with which the initial algorithm still finds something after the third stage."""

PICTURE_SHARE = 0.3
SHOWN = {"initial": (1, 2, 10), "transform": (1, 2, 3, 10)}
TITLES = {"initial": "initial algorithm", "transform": "transform regression"}
PAPER_INITIAL = 0.239


def picture_models(data: Surface) -> dict[str, TransformRegressor]:
    """The two models that the figures show."""
    return {
        name: surface_model(name, PICTURE_SEED, PICTURE_SHARE).fit(data.X, data.z) for name in SHOWN
    }


def draw_surfaces(models: dict[str, TransformRegressor], data: Surface, path: Path) -> None:
    """Figures 1 and 3: the target, and models after some stages, on the test points."""
    drawn = [("target", data.z_test)]
    for name, shown in SHOWN.items():
        staged = list(models[name].staged_predict(data.X_test))
        for stage in shown:
            reached = min(stage, len(staged))
            error = float(np.sqrt(np.mean(np.square(staged[reached - 1] - data.z_test))))
            words = f"{TITLES[name]}, {reached} stage{'s' * (reached > 1)}: {error:.3f}"
            drawn.append((words, staged[reached - 1]))
    figure = Figure(figsize=(13, 6.6), dpi=72)
    figure.subplots_adjust(left=0.0, right=0.97, bottom=0.03, top=0.95, wspace=0.08, hspace=0.12)
    side = round(np.sqrt(len(data.z_test)))
    for place, (words, values) in enumerate(drawn):
        axis: Any = figure.add_subplot(2, 4, place + 1, projection="3d")
        grids = (part.reshape(side, side) for part in (*data.X_test.T, values))
        axis.plot_surface(*grids, cmap="viridis", vmin=-5, vmax=7, linewidth=0.2)
        axis.set(zlim=(-6, 8), xticks=(-1, 0, 1), yticks=(-1, 0, 1), xlabel="x", ylabel="y")
        axis.view_init(elev=25, azim=-60)
        axis.set_title(words, fontsize="medium", y=0.96)
    figure.savefig(path)
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)


def draw_views(fitted: TransformRegressor, data: Surface, path: Path) -> None:
    """Figure 2: the test points as the first stage of the initial algorithm sees them."""
    stage = fitted.stages_[0]
    sums = Stage(stage.intercept, stage.terms)(data.X_test, np.zeros((len(data.X_test), 0)))
    assert stage.link is not None
    views = [
        (data.X_test[:, term.feature], term, weight, "xy"[term.feature])
        for weight, term in stage.terms
    ]
    views.append((sums, stage.link, 1.0, "the additive model"))
    figure = Figure(figsize=(4.2 * len(views), 3.6), dpi=100, layout="constrained")
    panels = figure.subplots(1, len(views), squeeze=False, sharey=True)[0]
    for axis, (x, function, weight, name) in zip(panels, views, strict=True):
        fine = np.linspace(x.min(), x.max(), 1000)
        curve = fitted.intercept_ + weight * function(fine, np.zeros((len(fine), 0)))
        axis.plot(x, data.z_test, ".", color="#999999", markersize=3)
        axis.plot(fine, curve, color=drawing.colour(0), linewidth=2)
        drawing.label(axis, f"Seen along {name}", name, "target" if axis is panels[0] else "")
    figure.savefig(path)


def draw_errors(measured: Measured, path: Path) -> None:
    """Figure 3d: errors by stage, all variants, a line a seed and the mean of the seeds."""
    figure = Figure(figsize=(10.5, 5), dpi=90, layout="constrained")
    axis = figure.subplots()
    stages = np.arange(1, STAGES + 1)
    for k, (name, title) in enumerate(VARIANTS.items()):
        runs = measured.chosen("surface", f"{PICTURE_SHARE:g}", name)
        if not runs:
            continue
        lines = np.array([filled(run.values) for run in runs])
        axis.plot(stages, lines.T, color=drawing.colour(k), linewidth=0.6, alpha=0.35)
        means = lines.mean(axis=0)
        axis.plot(stages, means, ".-", color=drawing.colour(k), linewidth=2, label=title)
    style: dict[str, Any] = {"color": drawing.INK, "markersize": 9}
    axis.plot(STAGES, PAPER_INITIAL, "*", label="initial algorithm, paper", **style)
    axis.set_yscale("log")
    axis.set_xticks(stages)
    drawing.legend_beside(axis)
    drawing.label(axis, "Error on the test points", "stages", "root mean square error")
    figure.savefig(path)


def filled(values: Sequence[float]) -> Vector:
    """Errors after 1, …, 10 stages: a model that ended before stays what it was."""
    return np.array([*values, *[values[-1]] * (STAGES - len(values))])


SEED = 0
CHARTS = (
    "transform regression",
    "linear regression tree",
    "stepwise linear regression",
    "LightGBM",
)


def draw_gains(sets: Sequence[Data], path: Path) -> None:
    """A panel for each data set."""
    figure = Figure(figsize=(13, 4.2), dpi=90, layout="constrained")
    for axis, data in zip(figure.subplots(1, len(sets), squeeze=False)[0], sets, strict=True):
        names = [name for name in CHARTS if name in available()]
        scores = {name: MODELS[name](data, SEED) for name in names}
        plot_gains(data.y_test, scores, ax=axis)
        axis.set_title(f"{data.name}: cumulative gains", loc="left", fontweight="bold")
    figure.savefig(path)


def draw_functions(data: Data, path: Path) -> None:
    """The first stage of transform regression."""
    model = TransformRegressor(random_state=SEED).fit(data.X, data.y)
    plot_transformations(model, 0).savefig(path, dpi=80)


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
    return own | {
        "benchmark": table(map(benchmark_row, csv_rows(folder / "transform_benchmark.csv")), head)
    }


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
    """Mean and spread of every model, next to the paper's."""
    names = dict.fromkeys(run.data for run in measured.rows if run.study == "gini")
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


def benchmark_row(record: dict[str, str]) -> Sequence[str]:
    """One fit that benchmarks/transform_regression.py has measured."""
    names = ("part", "model", "rows", "features", "stages")
    cpu = float(record["cpu_seconds"])
    return (
        *(record[name] for name in names),
        f"{float(record['seconds']):.1f}",
        f"{cpu:.1f}",
        f"{cpu / int(record['stages']):.2f}",
        record["peak_gb"],
    )
