"""Gains charts of some models, and the functions of a first stage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gini_data import Data
from gini_models import MODELS, available
from matplotlib.figure import Figure

from cgboost import TransformRegressor
from cgboost.inspection.metrics import plot_gains
from cgboost.inspection.model_pictures import plot_transformations

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
        plot_gains(data.y_test, scores, axes=axis)
        axis.set_title(f"{data.name}: cumulative gains", loc="left", fontweight="bold")
    figure.savefig(path)


def draw_functions(data: Data, path: Path) -> None:
    """The first stage of transform regression."""
    model = TransformRegressor(random_state=SEED).fit(data.X, data.y)
    plot_transformations(model, 0).savefig(path, dpi=80)
