"""The pictures: Figures 1 to 6 of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmark_data import Data, Matrix, rbf, standardised
from contenders import CLASS_LOSSES, DAMPING
from matplotlib.figure import Figure
from records import Curve, Record
from sklearn.decomposition import PCA
from thrombin import COSTS, COUNTS, LOSSES, NAME

from cgboost import BLFClassifier, Precomputed
from cgboost.inspection import drawing
from cgboost.inspection.model_pictures import plot_factors, plot_objectives

WORDS = {
    "squared_error": "squared error",
    "log_loss": "log loss",
    "exponential": "exponential",
    "absolute_error": "absolute error",
    "svm": "SVM",
}
ROUNDS = 50
DPI = 90


def draw_objectives(data: Data, path: Path) -> None:
    """Figure 1: the training loss with and without deflation, with and without refit."""
    [X] = standardised(data.X)
    gram = rbf(data.width)(X, X)
    models = {}
    for deflate in (True, False):
        for refit in (True, False):
            model = BLFClassifier(
                ROUNDS,
                kernel=Precomputed(),
                deflate=deflate,
                refit=refit,
                newton_damping=DAMPING,
            )
            name = f"{'' if deflate else 'no '}deflation, {'' if refit else 'no '}refit"
            models[name] = model.fit(gram, data.y)
    figure, [axis] = new_figure(1)
    plot_objectives(models, axes=axis)
    axis.set_title("Diabetes, RBF kernel: training log loss", loc="left", fontsize="medium")
    save(figure, path)


def draw_factors(data: Data, path: Path) -> None:
    """Figure 2: the rows by principal components, and by factors of two losses."""
    [X] = standardised(data.X)
    models: dict[str, Any] = {
        "PCA": PCA(2, random_state=0),
        "squared error (PLS)": BLFClassifier(2, loss="squared_error"),
        "log loss": BLFClassifier(2, loss="log_loss", newton_damping=DAMPING),
    }
    y = np.where(data.y > 0, "malignant", "benign")
    figure, axes = new_figure(len(models))
    for axis, (name, model) in zip(axes, models.items(), strict=True):
        plot_factors(model.fit(X, y), X, y, axes=axis)
        axis.set_title(f"Cancer: {name}", loc="left", fontsize="medium")
    for axis in axes[:-1]:
        axis.get_legend().remove()
    save(figure, path)


def draw_results(records: Sequence[Record], curves: Sequence[Curve], folder: Path) -> None:
    """Figures 3 to 6, as far as there are records for them."""
    if any(curve.data == "WBC" for curve in curves):
        draw_errors(curves, folder / "blf_components.png")
    if any(record.model.startswith("pca") for record in records):
        draw_sizes(records, folder / "blf_principal.png")
    if any(curve.data == NAME for curve in curves):
        draw_areas(curves, folder / "blf_dorothea.png")


def draw_errors(curves: Sequence[Curve], path: Path) -> None:
    """Figure 3: mean error against number of factors."""
    figure, [axis] = new_figure(1)
    for k, loss in enumerate(LOSSES):
        for part, dashes in (("test", "-"), ("train", "--")):
            means = values_of(curves, "WBC", f"{loss} {part}").mean(axis=0)
            label = f"{WORDS[loss]}, {part}"
            counts = np.arange(1, len(means) + 1)
            style: dict[str, Any] = {"marker": ".", "color": drawing.colour(k)}
            axis.plot(counts, means, linestyle=dashes, label=label, **style)
    axis.legend(frameon=False)
    axis.set_ylim(bottom=0)
    drawing.label(axis, "WBC, linear: wrong labels, mean of all splits", "factors", "error, %")
    save(figure, path)


def draw_sizes(records: Sequence[Record], path: Path) -> None:
    """Figure 4: how many latent factors and principal components are chosen."""
    names = sorted({record.data for record in records if record.model.startswith("pca")})
    places = [(name, loss) for name in names for loss in CLASS_LOSSES]
    figure, [axis] = new_figure(1, height=5.0)
    for k, (prefix, label) in enumerate((("", "latent factors"), ("pca ", "principal components"))):
        sizes = [sizes_of(records, name, prefix + loss) for name, loss in places]
        axis.errorbar(
            [np.mean(size) for size in sizes],
            np.arange(len(places)) + 0.3 * k - 0.15,
            xerr=[np.std(size) for size in sizes],
            fmt="o",
            color=drawing.colour(k),
            label=label,
        )
    axis.set_yticks(range(len(places)), [f"{name}, {WORDS[loss]}" for name, loss in places])
    axis.invert_yaxis()
    axis.set_xlim(left=0)
    axis.legend(frameon=False)
    drawing.label(axis, "Factors chosen, RBF kernel (mean ± STD)", "number", "")
    save(figure, path)


def draw_areas(curves: Sequence[Curve], path: Path) -> None:
    """Figures 5 and 6: areas under the curve, medians and quartiles."""
    figure, (left, right) = new_figure(2, height=4.4)
    for k, loss in enumerate(LOSSES):
        values = values_of(curves, NAME, loss)
        counts = np.arange(1, values.shape[1] + 1) + 0.2 * k - 0.1
        low, middle, high = np.quantile(values, (0.25, 0.5, 0.75), axis=0)
        style: dict[str, Any] = {"color": drawing.colour(k), "label": WORDS[loss]}
        left.errorbar(counts, middle, yerr=[middle - low, high - middle], fmt="o-", **style)
        for count, dashes in zip(COUNTS, ("-", "--"), strict=True):
            name = f"svm on {count} factors of {loss}"
            label = f"{count} factors, {WORDS[loss]}"
            draw_costs(right, values_of(curves, NAME, name), dashes, k, label)
    everything = values_of(curves, NAME, "svm on all features")
    draw_costs(right, everything, ":", 2, "all features")
    for axis in (left, right):
        axis.legend(frameon=False, fontsize="small")
    right.set_xscale("log")
    drawing.label(left, "Dorothea: latent factors", "factors", "area under the ROC curve")
    drawing.label(right, "Dorothea: linear SVM, median", "C", "area under the ROC curve")
    save(figure, path)


def draw_costs(axis: Any, values: Matrix, dashes: str, k: int, label: str) -> None:
    """One curve over C."""
    style: dict[str, Any] = {"color": drawing.colour(k), "linestyle": dashes, "marker": "."}
    axis.plot(COSTS, np.median(values, axis=0), label=label, **style)


def values_of(curves: Sequence[Curve], data: str, model: str) -> Matrix:
    """Shape (n_splits, n_values); curves that stopped early go on at their last value."""
    rows = [curve.values for curve in curves if (curve.data, curve.model) == (data, model)]
    longest = max(map(len, rows))
    return np.array([[*row, *[row[-1]] * (longest - len(row))] for row in rows])


def sizes_of(records: Sequence[Record], data: str, model: str) -> list[float]:
    """Numbers of factors with the kernel, split by split."""
    wanted = ("rbf", data, model)
    return [r.size for r in records if (r.kernel, r.data, r.model) == wanted]


def new_figure(count: int, *, height: float = 3.8) -> tuple[Figure, list[Any]]:
    """A figure with panels side by side."""
    width = 6.5 if count == 1 else 4.6 * count
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def save(figure: Figure, path: Path) -> None:
    """Write it."""
    figure.savefig(path, dpi=DPI)
