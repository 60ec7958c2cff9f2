"""Pictures of fitted models, drawn without a display on a new figure, or on given axes.

Of transform regression the functions that make up a stage; of latent factors the rows by their
first two, errors by their number, and objectives, which other models have too; of kernel models
what each kernel is worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import type_of_target

from cgboost.additive.stage import Stage, Stages
from cgboost.additive.trees.transformation import Transformation
from cgboost.arrays import Vector
from cgboost.estimators.common.class_outputs import output_labels, output_place
from cgboost.estimators.common.parameters import check_count
from cgboost.inspection import drawing
from cgboost.inspection.learning_curves import Sets, Table, staged_errors
from cgboost.inspection.pipelines import last_step
from cgboost.inspection.report.facts import output_kind
from cgboost.tables.binning import Intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


DRAWN_ROWS = 2000
"""Rows that are drawn behind a function; of more, evenly spaced ones."""

MOST_BARS = 16
"""Categories of one panel; of more those with the largest values of either sign."""


@dataclass(frozen=True)
class _Panel:
    """One function of a stage.

    Attributes
    ----------
    weight : float
        What the function is multiplied by in the stage.
    labels : list of str or None
        Of the categories, as they are drawn, where the input is one.
    regressor : int or None
        Which of the earlier outputs the input itself is.
    x : ndarray of shape (n_rows,) or None
        Rows that are drawn behind it.
    """

    name: str
    weight: float
    function: Transformation
    labels: list[str] | None
    regressor: int | None
    x: Vector | None

    def range(self) -> float:
        """How far apart the values are, the other inputs being 0."""
        bounds, _ = segments(self.function, self.regressor)
        both = self.weight * bounds if self.labels is None else self._bars()
        return float(np.ptp(both)) if both.size else 0.0

    def _bars(self) -> Vector:
        return self.weight * self.function.intercept[self.function.leaf]


def segments(function: Transformation, regressor: int | None = None) -> tuple[Vector, Vector]:
    """The straight pieces of a function of a number, where all other inputs are 0.

    Parameters
    ----------
    function : Transformation
        Of a numeric input.
    regressor : int or None
        Where the input is an earlier output, which one: it is a regressor of the leaves too.

    Returns
    -------
    values, x : ndarray of shape (n_pieces, 2)
        At the two ends of each piece, in ascending order of x; missing values have none.
    """
    groups = function.groups
    if not isinstance(groups, Intervals):
        return np.zeros((0, 2)), np.zeros((0, 2))
    bounds = np.concatenate([[groups.low], groups.edges, [groups.high]])
    leaf = function.leaf[:-1]
    starts = np.flatnonzero(np.append(True, leaf[1:] != leaf[:-1]))
    ends = np.append(starts[1:], len(leaf))
    x = np.column_stack([bounds[starts], bounds[ends]])
    own = leaf[starts][:, None]
    values = function.intercept[own] + function.slope[own] * groups.regressor(x)
    if regressor is not None and function.coef.shape[1] > regressor:
        values = values + function.coef[own, regressor] * x
    return values, x


@drawing.on_ax
def plot_transformations(
    model: Any,
    stage: int = 0,
    X: Any = None,
    *,
    output: Any = None,
    top: int = 12,
    ax: Iterable[Axes] | None = None,
) -> Figure:
    """Draw the functions whose sum is a stage: λ h(x).

    For a classifier, the title of the figure, or the titles of given axes, name the class.

    Functions of numbers are piecewise linear, functions of categories are bars. If leaves have
    earlier outputs as regressors, the line is the function with these at 0, about their mean
    (except for the output that is the input of the function); the points of ``X`` show their
    effect.

    Parameters
    ----------
    model : fitted TransformRegressor or TransformClassifier
    stage : int, default=0
        0, 1, …, or −1 for the last.
    X : array-like or data frame of shape (n_rows, n_features), optional
        Rows to draw behind the functions.
    output : class label or int, optional
        Label of a class, or its index in ``classes_``; integers are read as labels first. By
        default the first. Two classes have one output, the f of the second class: its label, or 0.
    top : int, default=12
        Maximum number of functions; those with the widest range are drawn.
    ax : iterable of matplotlib Axes, optional
        One per function.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    IndexError
        If there is no such output.
    ValueError
        If there is no such stage, or the number of axes differs from the number of functions.
    """
    stages = model._stages_of(output)
    if not -len(stages) <= stage < len(stages):
        raise ValueError(f"stage must be one of the {len(stages)} of the model, got {stage!r}")
    number = stage % len(stages)
    labels = output_labels(model)
    own = f", class {drawing.named(labels[output_place(output, labels)])}" if labels else ""
    rows = None if X is None else _thinned(model._rows(X))
    earlier = None if rows is None else Stages(stages).all_outputs(rows, number)
    panels = _panels(model, stages[number], rows, earlier)
    widest = sorted(range(len(panels)), key=lambda k: -panels[k].range())[:top]
    panels = [panels[k] for k in sorted(widest)]
    figure, places = drawing.grid(ax, len(panels))
    for panel, axis in zip(panels, places, strict=True):
        if panel.labels is None:
            _draw_line(axis, panel, earlier)
        else:
            _draw_bars(axis, panel)
        title = drawing.named(panel.name) + ("" if ax is None else own)
        drawing.label(axis, title, "", "")
    if ax is None:
        figure.suptitle(f"Stage {number} of {len(stages)}, counted from 0{own}", x=0.01, ha="left")
    return figure


def _panels(model: Any, stage: Stage, rows: Vector | None, earlier: Vector | None) -> list[_Panel]:
    """The terms of a stage, and its link."""
    n_features = int(model.n_features_in_)
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(n_features)])
    panels = []
    for weight, term in stage.terms:
        own = term.feature < n_features
        k = term.feature if own else term.feature - n_features
        source = rows if own else earlier
        x = None if source is None else source[:, k]
        known = model._schema.categories[k] if own else None
        labels = None if known is None else [*drawing.values_named(known), "missing"]
        name = str(names[k]) if own else f"output of stage {k}"
        panels.append(_Panel(name, weight, term, labels, None if own else k, x))
    if stage.link is not None:
        total = None
        if rows is not None and earlier is not None:
            total = Stage(stage.intercept, stage.terms)(rows, earlier)
        panels.append(_Panel("link of the sum", 1.0, stage.link, None, None, total))
    return panels


def _draw_line(axis: Axes, panel: _Panel, earlier: Vector | None) -> None:
    if panel.x is not None and earlier is not None:
        values = panel.weight * panel.function(panel.x, earlier)
        axis.plot(panel.x, values, ".", color="#bbbbbb", markersize=2, zorder=1)
        missing = np.isnan(panel.x)
        if missing.any():
            level = float(values[missing].mean())
            axis.axhline(level, color=drawing.INK, linestyle=":", linewidth=1, label="missing")
            axis.legend(frameon=False, fontsize="small")
    values, x = segments(panel.function, panel.regressor)
    gap = np.full((len(x), 1), np.nan)  # a line is not drawn through what is no number
    broken = (
        np.column_stack([x, gap]).ravel(),
        panel.weight * np.column_stack([values, gap]).ravel(),
    )
    axis.plot(*broken, color=drawing.colour(0), linewidth=1.8, solid_capstyle="butt")


def _draw_bars(axis: Axes, panel: _Panel) -> None:
    values = panel._bars()
    chosen = np.sort(np.argsort(-np.abs(values), kind="stable")[:MOST_BARS])
    chosen = chosen[np.argsort(values[chosen], kind="stable")]
    assert panel.labels is not None
    names = [panel.labels[k] for k in chosen]
    axis.barh(range(len(chosen)), values[chosen], color=drawing.colour(0), height=0.7)
    size = 8 if len(chosen) <= 10 else 7
    axis.set_yticks(range(len(chosen)), names, fontsize=size)
    axis.axvline(0.0, color=drawing.INK, linewidth=0.8)


def _thinned(rows: Vector) -> Vector:
    return rows[:: max(1, -(-len(rows) // DRAWN_ROWS))]


MARKERS = ("o", "^", "s", "D", "v", "P")

DASHES = ("-", "--", ":", "-.")


@drawing.on_ax
def plot_factors(
    model: Any, X: ArrayLike, y: ArrayLike, *, biplot: int = 0, ax: Axes | None = None
) -> Figure:
    """Draw rows by their first two factors, coloured by class or, for numbers, by a colour scale.

    Where the model knows the share of the variation of X along its factors
    (``explained_variance_ratio_``), the axes have it.

    Parameters
    ----------
    model : fitted transformer
        With ``transform``: a ``BLFClassifier`` or ``BLFRegressor``, a pipeline that ends with one,
        or a PCA to compare them with.
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        Classes or numbers. For a regressor they are always treated as numbers.
    biplot : int, default=0
        Features that are arrows: those that go most with the two factors. An arrow is the
        correlations of the feature with them over the rows, times the reach of the rows. Of a
        pipeline they are the features that its last step is given.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If the model has fewer than two factors, ``y`` does not have one entry per row, or
        ``biplot`` is not a whole number from 0 on, or X is a sparse matrix then.
    """
    check_count("biplot", biplot, least=0)
    own, (rows,), names = last_step(model, X)
    if biplot and sparse.issparse(rows):
        raise ValueError(
            f"biplot={biplot!r} needs dense rows, got a {type(rows).__name__}: give X.toarray()"
        )
    factors, target = np.asarray(model.transform(X)), np.asarray(y)
    if factors.shape[1] < 2:
        raise ValueError(
            f"plot_factors needs two factors, the model has {factors.shape[1]}: fit it with "
            "n_components=2 or more"
        )
    if target.shape != factors.shape[:1]:
        raise ValueError(
            f"y must have shape ({len(factors)},), one entry for each row of X, got {target.shape}"
        )
    figure, axis = drawing.panel(ax)
    first, second = factors[:, 0], factors[:, 1]
    numbers = is_regressor(model) or type_of_target(target).startswith("continuous")
    if numbers:
        points = axis.scatter(first, second, c=target, cmap="viridis", s=14, linewidths=0)
        figure.colorbar(points, ax=axis, label="y")
    else:
        for k, label in enumerate(np.unique(target)):
            own_rows = target == label
            style: dict[str, Any] = {"marker": MARKERS[k % len(MARKERS)], "s": 14, "alpha": 0.6}
            style |= {"color": drawing.colour(k), "linewidths": 0, "label": f"class {label}"}
            axis.scatter(first[own_rows], second[own_rows], **style)
        axis.legend(frameon=False)
    if biplot:
        _draw_arrows(axis, rows, names, factors[:, :2], biplot)
    shares = getattr(own, "explained_variance_ratio_", None)
    ends = ["", ""] if shares is None else [f" ({share:.0%} of X)" for share in shares[:2]]
    title = "Rows by their first two factors" + (", and features" if biplot else "")
    drawing.label(axis, title, f"factor 1{ends[0]}", f"factor 2{ends[1]}")
    return figure


def _draw_arrows(
    axis: Axes, X: ArrayLike, names: Sequence[str] | None, factors: Vector, count: int
) -> None:
    """The features that go most with two factors, as arrows of their correlations.

    These are the same whether features are centred and scaled, as in the fit, or not.
    """
    if names is None:
        names = list(getattr(X, "columns", [])) or [f"x{j}" for j in range(np.shape(X)[1])]
    rows = np.asarray(X, dtype=np.float64)
    rows = rows - rows.mean(axis=0)
    scores = factors - factors.mean(axis=0)
    lengths = np.outer(np.linalg.norm(rows, axis=0), np.linalg.norm(scores, axis=0))
    along = np.divide(rows.T @ scores, lengths, out=np.zeros(lengths.shape), where=lengths > 0)
    chosen = np.argsort(-np.linalg.norm(along, axis=1), kind="stable")[:count]
    reach = np.abs(factors).max(axis=0)
    for j in chosen:
        tip = along[j] * reach
        style = {"arrowstyle": "->", "color": drawing.INK, "linewidth": 1.0}
        axis.annotate("", tip, (0.0, 0.0), arrowprops=style)
        side = "left" if tip[0] >= 0 else "right"
        axis.annotate(drawing.named(names[j]), tip, fontsize="small", ha=side, va="bottom")


def component_errors(model: Any, sets: Sets) -> Table:
    """Error of a fitted model truncated after 1, 2, … factors.

    Parameters
    ----------
    model : fitted estimator
        With ``staged_predict``, or a pipeline that ends with one.
    sets : mapping of str to (X, y)
        The sets for the errors, such as ``{"train": (X, y), "test": (X_test, y_test)}``.

    Returns
    -------
    dict of str to ndarray
        ``"components"``, and for each set the share of wrong labels of a classifier or the mean
        squared error of a regressor.

    Raises
    ------
    ValueError
        If there is no set.
    """
    if not sets:
        raise ValueError("sets must name at least one pair (X, y), got none")
    before = None
    if hasattr(model, "steps"):
        before, model = model[:-1], model[-1]
    seen = {name: X if before is None else before.transform(X) for name, (X, _) in sets.items()}
    errors = {
        name: np.array(list(staged_errors(model, seen[name], y))) for name, (_, y) in sets.items()
    }
    counts = np.arange(1, 1 + max(map(len, errors.values())))
    return {"components": counts} | errors


@drawing.on_ax
def plot_components(models: Mapping[str, Any], sets: Sets, *, ax: Axes | None = None) -> Figure:
    """Draw the error of some models against the number of factors.

    Parameters
    ----------
    models : mapping of str to fitted estimator
        Either classifiers or regressors, as in :func:`component_errors`; one colour each.
    sets : mapping of str to (X, y)
        As in :func:`component_errors`; one line style each.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If there is no model or no set, or there are both classifiers and regressors.
    """
    kinds = {is_classifier(model) for model in models.values()}
    if len(kinds) != 1:
        found = ", ".join(type(model).__name__ for model in models.values()) or "none"
        raise ValueError(f"models must be all classifiers or all regressors, got {found}")
    figure, axis = drawing.panel(ax)
    for k, (name, model) in enumerate(models.items()):
        table = component_errors(model, sets)
        counts = table.pop("components")
        for j, (group, errors) in enumerate(table.items()):
            style: dict[str, Any] = {"color": drawing.colour(k), "label": f"{name}, {group}"}
            style |= {"linestyle": DASHES[j % len(DASHES)]}
            axis.plot(counts, errors, marker=drawing.curve_marker(len(counts)), **style)
    axis.legend(frameon=False)
    axis.locator_params(axis="x", integer=True)
    name = "share of wrong labels" if kinds == {True} else "mean squared error"
    drawing.label(axis, "Error against number of factors", "factors", name)
    return figure


@drawing.on_ax
def plot_objectives(models: Mapping[str, Any], *, ax: Axes | None = None) -> Figure:
    """Draw the training loss of some models, round by round.

    Parameters
    ----------
    models : mapping of str to fitted estimator
        With ``history_`` of one run; each round adds one factor to a latent factor model.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If a model has no history.
    ValueError
        If there is no model, or a model has one run per class or quantile.
    """
    if not models:
        raise ValueError("models must name at least one fitted model, got none")
    figure, axis = drawing.panel(ax)
    curves = [_curve(name, model) for name, model in models.items()]
    for k, (name, (rounds, objective)) in enumerate(zip(models, curves, strict=True)):
        axis.plot(rounds, objective, label=name, **drawing.thin_line(k) | {"linewidth": 1.6})
    everything = np.concatenate([objective for _, objective in curves])
    drawing.log_if_wide(axis, everything)
    axis.legend(frameon=False)
    axis.locator_params(axis="x", integer=True)
    drawing.label(axis, "Training loss", "round", "loss")
    return figure


def _curve(name: str, model: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rounds and objectives."""
    history = getattr(model, "history_", None)
    if history is None:
        raise NotFittedError(f"model {name!r} ({type(model).__name__}) has no history_: call fit")
    if kind := output_kind(history):
        one = "two classes" if kind == "class" else "one quantile"
        raise ValueError(f"model {name!r} has a run for each {kind}: fit a model of {one}")
    if np.count_nonzero(np.asarray(history["round"]) == 0) > 1:
        raise ValueError(
            f"model {name!r} is a mean of several runs: give one of its holdout_models_"
        )
    return np.asarray(history["round"]), np.asarray(history["objective"])


@drawing.on_ax
def plot_kernel_importance(
    importance: Mapping[str, Any], *, top: int = 20, ax: Iterable[Axes] | None = None
) -> Figure:
    """Draw the decrease of a score without each kernel, and the kernels' shares of the output.

    Parameters
    ----------
    importance : Bunch
        The result of :func:`~cgboost.inspection.kernel_importance`. Bars for the decrease of the
        score are means over its repetitions, with one standard deviation on either side.
    top : int, default=20
        Maximum number of kernels; those with the largest decrease are shown.
    ax : two matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If ``top`` is less than 1.
    """
    drawing.check_top(top)
    means = np.asarray(importance["importances_mean"])
    order = np.argsort(-means, kind="stable")[:top]
    figure, (left, right) = drawing.panels(ax, 2, vertical=False)
    places = np.arange(len(order))
    left.barh(
        places,
        means[order],
        xerr=np.asarray(importance["importances_std"])[order],
        error_kw={"ecolor": drawing.INK, "capsize": 3.0},
        **drawing.area_style(0),
    )
    right.barh(places, 100.0 * np.asarray(importance["shares"])[order], **drawing.area_style(1))
    for axis in (left, right):
        axis.axvline(0.0, color=drawing.INK, linewidth=0.8)
        axis.set_yticks(places, [drawing.named(importance["kernels"][p]) for p in order])
        axis.invert_yaxis()
    score = f"fall of the score (now {importance['score']:.3g}) with its values permuted"
    drawing.label(left, "What kernels are worth", score, "kernel")
    drawing.label(right, "What the output is made of", "share of its variance, %", "")
    return figure
