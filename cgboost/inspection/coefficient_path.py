"""Pictures of paths: coefficients of linear models, sizes of thinned ensembles, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from cgboost.arrays import Vector
from cgboost.inspection import drawing
from cgboost.optional import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cgboost.estimators.common.certified import RegularizationPath
    from cgboost.estimators.thinning.thinning_path import ThinningPath

Against = Literal["alpha", "l1_norm"]

OTHERS = "#b4b4b4"
"""Colour of the features that are not labelled."""

LINE_OF_TEXT = 0.052
"""Labels are at least this share of the panel's height apart."""


def plot_path(
    path: RegularizationPath | ThinningPath,
    *,
    ax: Axes | None = None,
    feature_names: Sequence[str] | None = None,
    n_labels: int = 10,
    x: Against = "alpha",
) -> Figure:
    """Draw the coefficients of the models of a path, and their scores if there are any.

    For the path of a thinned ensemble, draw its scores against the numbers of members.

    Features that no model uses are not drawn, but counted in the title. With several outputs, a
    line is the Euclidean norm of a feature's coefficients over the outputs. Coefficients of models
    with ``standardize=True`` are multiplied by the standard deviation of their feature.

    Parameters
    ----------
    path : RegularizationPath or ThinningPath
        A path of linear models, ``SparseLinearRegressor().path(X, y)``; or the result of
        ``ThinnedEnsemble(forest).path(X, y)``, which only uses ``ax``.
    ax : matplotlib Axes, optional
        By default a new figure, with the scores in a separate panel. On given axes, only the best
        model is marked.
    feature_names : sequence of str of length n_features, optional
        By default the ``feature_names_in_`` of the models, or x0, x1, ….
    n_labels : int, default=10
        Number of features with a colour and a label: those with the largest final coefficients.
    x : {"alpha", "l1_norm"}, default="alpha"
        The horizontal axis: the parameter (α or C) on a logarithmic scale, with the sparsest model
        on the left, or Σ|β|.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If ``path`` is not a path, its models are not linear, ``x`` is unknown, ``n_labels`` is
        negative, the number of names differs from the number of features, or the path of an
        ensemble has no scores.
    """
    if not hasattr(path, "models"):
        hint = ": give model.model_.path(X, y)" if hasattr(path, "model_") else ""
        hint = ": give model.path(X, y)" if hasattr(path, "path") else hint
        name = type(path).__name__
        raise ValueError(f"path must be what path() of a linear model returns, got a {name}{hint}")
    if hasattr(path, "n_members_in"):
        return _draw_sizes(cast("ThinningPath", path), ax)
    if x not in get_args(Against):
        raise ValueError(f"x must be one of {get_args(Against)}, got {x!r}")
    if n_labels < 0:
        raise ValueError(f"n_labels must be at least 0, got {n_labels!r}")
    falling = path.parameter != "C"
    order = np.argsort(-path.values if falling else path.values, kind="stable")
    deviations = getattr(path.models[-1], "_deviations", None)
    unit = "" if deviations is None else " × standard deviation"
    coefs = path.coefs[..., order] * (1.0 if deviations is None else deviations[:, None])
    names = list(map(drawing.named, _names(path, feature_names, coefs.shape[-2])))
    sizes = np.abs(coefs).sum(axis=-2)
    places = path.values[order] if x == "alpha" else sizes.reshape(-1, len(order)).sum(axis=0)
    lines = coefs if coefs.ndim == 2 else np.linalg.norm(coefs, axis=0)
    scored = not np.isnan(path.scores).any()
    figure, axes = _panels(ax, both=scored)
    for axis in axes:
        if x == "alpha":
            axis.set_xscale("log")
    _draw_lines(axes[0], places, lines, names, n_labels)
    if places[0] != places[-1]:
        axes[0].set_xlim(places[0], places[-1])
    elif places[0] > 0:  # one model: at the right, next to the labels
        axes[0].set_xlim(places[0] * (2.0 if x == "alpha" and falling else 0.5), places[0])
    used = int(lines.any(axis=1).sum())
    gap = max(model.gap_ for model in path.models)
    models = f"{len(order)} model" + "s" * (len(order) != 1)
    title = f"{used} of {len(lines)} features in {models}, certified gaps ≤ {gap:.0e}"
    xlabel = f"Σ|β|{unit}" if x == "l1_norm" else {"alpha": "α"}.get(path.parameter, path.parameter)
    drawing.label(
        axes[0], title, xlabel, ("coefficient β" if coefs.ndim == 2 else "‖β‖ over outputs") + unit
    )
    if scored:
        best = int(np.flatnonzero(order == path.models.index(path.best))[0])
        _draw_scores(axes, places, path.scores[order], best, path.score_name)
    return figure


def _panels(ax: Axes | None, *, both: bool) -> tuple[Figure, list[Axes]]:
    """The panel of the coefficients, and that of the scores below it in a new figure."""
    if ax is not None or not both:
        figure, axis = drawing.panel(ax, (8.0, 4.6))
        return figure, [axis]
    require("matplotlib", "a picture")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 6.0), dpi=120, layout="constrained")
    axes = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    return figure, list(axes)


def _names(path: RegularizationPath, names: Sequence[str] | None, count: int) -> list[str]:
    if names is None:
        names = getattr(path.models[0], "feature_names_in_", None)
    if names is None:
        return [f"x{j}" for j in range(count)]
    if len(names) != count:
        raise ValueError(f"feature_names must have {count} names, one a feature, got {len(names)}")
    return [str(name) for name in names]


def _draw_lines(
    axis: Axes, places: Vector, lines: Vector, names: Sequence[str], n_labels: int
) -> None:
    """One line a feature, the strongest at the end in colour and with a name."""
    at_end = np.abs(lines[:, -1])
    strongest = np.argsort(-at_end, kind="stable")[:n_labels]
    strongest = strongest[at_end[strongest] > 0]
    others = np.setdiff1d(np.flatnonzero(lines.any(axis=1)), strongest)
    ends: dict[str, Any] = {}
    if len(places) == 1:  # which is no line
        ends = {"marker": "o", "markersize": 4, "clip_on": False}
    for j in others:
        axis.plot(places, lines[j], color=OTHERS, linewidth=0.6, zorder=1, **ends)
    for rank, j in enumerate(strongest):
        style = drawing.thin_line(rank) | {"linewidth": 1.6, "zorder": 3} | ends
        axis.plot(places, lines[j], label=names[j], **style)
    axis.axhline(0.0, color=drawing.INK, linewidth=0.6, zorder=2)
    _label_ends(axis, lines[strongest, -1], [names[j] for j in strongest])


def _label_ends(axis: Axes, ends: Vector, names: Sequence[str]) -> None:
    """The names to the right of the panel, moved apart, each with a line to its curve's end."""
    if not len(ends):
        return
    bottom, top = axis.get_ylim()
    shares = (ends - bottom) / (top - bottom)
    order = np.argsort(shares, kind="stable")
    apart = _moved_apart(shares[order])
    for place, j in zip(apart.tolist(), order.tolist(), strict=True):
        axis.annotate(
            names[j],
            xy=(1.0, shares[j]),
            xytext=(1.035, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize="small",
            color=drawing.INK,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": drawing.colour(j),
                "linewidth": 1.0,
                "relpos": (0.0, 0.5),
                "shrinkA": 2,
                "shrinkB": 0,
            },
        )
    axis.set_ylim(bottom, top)


def _moved_apart(places: Vector) -> Vector:
    """Places in rising order, moved as little as leaves a line of text between neighbours.

    The least squares of the moves: the isotonic regression of places less their distance.
    """
    from sklearn.isotonic import isotonic_regression

    steps = LINE_OF_TEXT * np.arange(len(places))
    most = max(0.0, 1.0 - float(steps[-1]))
    moved = isotonic_regression(places - steps, y_min=0.0, y_max=most) + steps
    return np.asarray(moved, dtype=np.float64)


def _draw_scores(
    axes: Sequence[Axes], places: Vector, scores: Vector, best: int, score_name: str
) -> None:
    """The scores of the models in the last panel, and a line through the best one in all."""
    at = places[best]
    for axis in axes:
        axis.axvline(at, color=drawing.INK, linewidth=0.9, linestyle=":", zorder=2)
    if len(axes) == 1:
        return
    marker = drawing.curve_marker(len(places))
    axes[1].plot(places, scores, color=drawing.colour(0), linewidth=1.4, marker=marker)
    axes[1].plot(
        [at], [scores.max()], "o", color=drawing.colour(5), markersize=5, zorder=4, clip_on=False
    )
    drawing.keep_in_view(axes[1], scores[len(scores) // 4 :])
    name = axes[0].get_xlabel()
    axes[0].set_xlabel("")
    drawing.label(axes[1], f"best at {name} = {at:.3g}: {scores.max():.4g}", name, score_name)


def _draw_sizes(path: ThinningPath, ax: Axes | None) -> Figure:
    """Scores against the numbers of members, on a logarithmic scale."""
    if np.isnan(path.scores).all():
        raise ValueError("the path has no scores to draw: give path() an eval_set")
    figure, axis = drawing.panel(ax, (7.0, 4.0))
    sizes = np.array([model.n_members_ for model in path.models])
    axis.plot(sizes, path.scores, "o-", color=drawing.PALETTE[0], label="thinned")
    best = int(np.nanargmax(path.scores))
    axis.plot(sizes[best], path.scores[best], "o", color=drawing.PALETTE[5], label="best")
    if not np.isnan(path.whole_score):
        name = f"all {path.n_members_in} members"
        axis.axhline(path.whole_score, color=drawing.INK, linewidth=1, linestyle="--", label=name)
    drawing.logarithmic_counts(axis)
    axis.legend(frameon=False)
    gap = max(model.gap_ for model in path.models)
    title = f"{len(sizes)} sizes of {path.n_members_in} members, certified gaps ≤ {gap:.0e}"
    drawing.label(axis, title, "members", path.score_name)
    return figure
