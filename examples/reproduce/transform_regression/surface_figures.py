"""Figures 1 to 3 of the paper: surfaces after some stages, views along the inputs, errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image
from surface import STAGES, VARIANTS, Surface, model
from transform_regression.measured import Measured

from cgboost import TransformRegressor
from cgboost.additive.stage import Stage
from cgboost.inspection import drawing

Vector = NDArray[np.float64]

PICTURE_SEED = 3
"""A seed with which the initial algorithm still finds something after the third stage."""

PICTURE_SHARE = 0.3
SHOWN = {"initial": (1, 2, 10), "transform": (1, 2, 3, 10)}
TITLES = {"initial": "initial algorithm", "transform": "transform regression"}
PAPER_INITIAL = 0.239


def picture_models(data: Surface) -> dict[str, TransformRegressor]:
    """The two models that the figures show."""
    return {name: model(name, PICTURE_SEED, PICTURE_SHARE).fit(data.X, data.z) for name in SHOWN}


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
