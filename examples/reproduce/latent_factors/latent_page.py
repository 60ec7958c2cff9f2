"""Pictures and tables of the study's page: what was measured, and what the paper prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from latent_models import (
    CLASS_LOSSES,
    COUNTS,
    DAMPING,
    LOSSES,
    MACHINE_COSTS,
    NAME,
    Curve,
    Data,
    Matrix,
    Record,
    rbf,
    standardised,
)
from latent_outliers import OUTLIER_HEADER, outlier_rows
from latent_printed import PAPER, TABLES, Pair, Printed
from latent_ranking import RANKING_HEADER, ranking_rows
from latent_ridge import RIDGE_HEADER, ridge_rows
from latent_shared import SHARED_HEADER, shared_rows
from matplotlib.figure import Figure
from page_tables import table
from scipy.stats import ttest_rel
from sklearn.decomposition import PCA
from study_jobs import Measured, Store

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
    plot_objectives(models, ax=axis)
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
        plot_factors(model.fit(X, y), X, y, ax=axis)
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
    axis.plot(MACHINE_COSTS, np.median(values, axis=0), label=label, **style)


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


LEVEL = 0.05
SHOWN_COUNTS = (1, 2, 3, 5, 10, 15, 20, 25)
HEADER = "data | loss | training | paper | test | paper | factors | paper | against squared error"
Key = tuple[str, str, str]


def tables(folder: Path) -> dict[str, str]:
    """All tables, made from the records in a folder."""
    groups = grouped(Store(folder / "blf_splits.csv", Record).rows)
    curves = Store(folder / "blf_curves.csv", Curve).rows
    moved = Measured(folder / "blf_outliers.csv").rows
    together = Measured(folder / "blf_shared.csv").rows
    ranked = Measured(folder / "blf_ranking.csv").rows
    penalised = Measured(folder / "blf_penalty.csv").rows
    areas = [curve for curve in curves if curve.data == NAME]
    found = {
        f"table-{number}": table(table_rows(groups, kernel, target), HEADER)
        for (kernel, target), (number, _) in TABLES.items()
    }
    return found | {
        "away": table(away_rows(groups), "means | further away | models"),
        "principal": table(principal_rows(groups), "data | loss | BLF | PCA | test | BLF | PCA"),
        "outliers": table(outlier_rows(moved), OUTLIER_HEADER),
        "penalty": table(ridge_rows(penalised), RIDGE_HEADER),
        "ranking": table(ranking_rows(ranked), RANKING_HEADER),
        "shared": table(shared_rows(together), SHARED_HEADER),
        "wins": table(win_rows(groups), "data | BLF better | PCA better | no difference"),
        "factors": table(area_rows(areas), "loss | " + " | ".join(map(str, SHOWN_COUNTS))),
        "machines": table(
            machine_rows(areas), "features | " + " | ".join(map("{:g}".format, MACHINE_COSTS))
        ),
    }


def grouped(records: Iterable[Record]) -> dict[Key, list[Record]]:
    """Records of each kernel, data set and model, by split."""
    groups: dict[Key, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.split):
        groups.setdefault((record.kernel, record.data, record.model), []).append(record)
    return groups


def table_rows(groups: dict[Key, list[Record]], kernel: str, target: str) -> Iterator[list[str]]:
    """Rows of one of Tables 1 to 4, as far as there are records."""
    for key in PAPER:
        if key in groups and key[0] == kernel and is_regression(key) == (target == "numbers"):
            yield table_row(groups, key)


def is_regression(key: Key) -> bool:
    """Whether a data set has numbers to find."""
    return (key[0], key[1], "absolute_error") in PAPER


def table_row(groups: dict[Key, list[Record]], key: Key) -> list[str]:
    """One model on one data set."""
    row = [key[1], WORDS[key[2]]]
    for own, theirs in pairs(groups[key], PAPER[key]):
        away = f"**{shown(own)}**" if is_away(own, theirs) else shown(own)
        row += [away, shown(theirs)]
    return [*row, *[""] * (8 - len(row)), compared(groups, key)]


def pairs(records: Sequence[Record], printed: Printed) -> Iterator[tuple[Pair, Pair]]:
    """Ours and theirs: training, test, and number of factors."""
    yield moments([record.train for record in records]), printed.train
    yield moments([record.test for record in records]), printed.test
    if printed.size is not None:
        yield moments([record.size for record in records]), printed.size


def moments(values: Sequence[float]) -> Pair:
    """Mean and standard deviation."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return float(np.mean(values)), spread


def shown(pair: Pair) -> str:
    """Mean ± standard deviation."""
    return f"{pair[0]:.2f} ± {pair[1]:.2f}"


def is_away(own: Pair, theirs: Pair) -> bool:
    """Whether our mean is more than the paper's standard deviation from the paper's mean."""
    return abs(own[0] - theirs[0]) > theirs[1]


def compared(groups: dict[Key, list[Record]], key: Key) -> str:
    """What the paired t-test says of the test results next to those of the squared error."""
    base = groups.get((key[0], key[1], "squared_error"), [])
    if key[2] in ("squared_error", "svm"):
        return ""
    lower = is_regression(key)
    return {1: "better", -1: "worse", 0: "no difference"}[verdict(groups[key], base, lower=lower)]


def verdict(one: Sequence[Record], other: Sequence[Record], *, lower: bool = False) -> int:
    """1 if the first is significantly better on test rows, −1 if worse, else 0."""
    left, right = ([record.test for record in records] for records in (one, other))
    difference = np.mean(left) - np.mean(right)
    if len(left) != len(right) or len(left) < 2 or np.array_equal(left, right):
        return 0
    if ttest_rel(left, right).pvalue >= LEVEL:
        return 0
    return 1 if (difference < 0) == lower else -1


def away_rows(groups: dict[Key, list[Record]]) -> Iterator[list[str]]:
    """How many means are further from the paper's than the paper's standard deviation."""
    known = [key for key in PAPER if key in groups]
    compared_with = [list(pairs(groups[key], PAPER[key])) for key in known]
    for place, name in enumerate(("training results", "test results", "numbers of factors")):
        some = [found[place] for found in compared_with if place < len(found)]
        yield [name, str(sum(is_away(own, theirs) for own, theirs in some)), str(len(some))]


def principal_rows(groups: dict[Key, list[Record]]) -> Iterator[list[str]]:
    """Latent factors compared with principal components."""
    for (kernel, name, model), records in groups.items():
        if not model.startswith("pca"):
            continue
        loss = model.removeprefix("pca ")
        own = groups[kernel, name, loss]
        row = [name, WORDS[loss]]
        row += [shown(moments([record.test for record in some])) for some in (own, records)]
        row.append({1: "BLF better", -1: "PCA better", 0: "no difference"}[verdict(own, records)])
        yield [*row, *(shown(moments([r.size for r in some])) for some in (own, records))]


def win_rows(groups: dict[Key, list[Record]]) -> Iterator[list[str]]:
    """How often latent factors are better, worse and no different, as the paper counts it."""
    counts: dict[bool, list[int]] = {True: [], False: []}
    for (kernel, name, model), records in groups.items():
        if model.startswith("pca"):
            own = groups[kernel, name, model.removeprefix("pca ")]
            counts[name == "WBC"].append(verdict(own, records))
    for where, found in (("the first four", counts[False]), ("WBC", counts[True])):
        yield [where, *(str(found.count(sign)) for sign in (1, -1, 0))]


def area_rows(curves: Sequence[Curve]) -> Iterator[list[str]]:
    """Median and quartiles at some numbers of factors."""
    for loss in LOSSES if curves else ():
        values = values_of(curves, NAME, loss)
        counts = [min(count, values.shape[1]) for count in SHOWN_COUNTS]
        yield [WORDS[loss], *(quartiles(values[:, count - 1]) for count in counts)]


def machine_rows(curves: Sequence[Curve]) -> Iterator[list[str]]:
    """Medians of linear support vector machines over C."""
    pairs = [(count, loss) for count in COUNTS for loss in LOSSES]
    names = [(f"svm on {n} factors of {loss}", f"{n} factors, {WORDS[loss]}") for n, loss in pairs]
    for model, name in [*names, ("svm on all features", "all")] if curves else ():
        medians = np.median(values_of(curves, NAME, model), axis=0)
        yield [name, *(f"{median:.3f}" for median in medians)]


def quartiles(values: np.ndarray) -> str:
    """Median and the two quartiles."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return f"{middle:.3f} ({low:.3f}, {high:.3f})"
