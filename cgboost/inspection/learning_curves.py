"""Pictures of a fit: the path to the optimum, the columns, the learning curves.

:func:`plot_history` and :func:`plot_columns` read only the tables ``history_`` and ``columns_``.
Without given axes they create a figure without pyplot, and therefore need no display.

:func:`error_table` and :func:`plot_stages` show how a boosted model improves from round to round;
they read the staged predictions and the history that all boosting estimators have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

from cgboost.inspection import drawing
from cgboost.inspection.report.facts import kind_of, output_kind, runs_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Table = dict[str, NDArray[Any]]

LONG_CURVE = 10
"""Curves of so many rounds are shown without their first tenth."""

LEGEND_ROOM = 0.08
"""Between curves and the frame, as a share of the panel's height."""


@dataclass(frozen=True)
class _Score:
    """A score on held-out rows: the columns of a history that have it, by the names of the sets."""

    name: str
    rising: bool
    columns: dict[str, str]


def _scores_of(model: object, history: Table) -> list[_Score]:
    """The scores that were ever finite, in the order of the history."""
    monitored: Mapping[str, bool] = getattr(model, "_monitored", {})
    sets: Sequence[str] = getattr(model, "_held_sets", None) or ["validation"]
    each = max(1, len(monitored) // len(sets))  # of a set
    owner = {name: sets[min(k // each, len(sets) - 1)] for k, name in enumerate(monitored)}
    owner |= {name: "validation" for name in history if name.startswith("validation_")} | owner
    found: dict[str, _Score] = {}
    for column in (name for name in history if name in owner):
        if np.isfinite(history[column]).any():
            name = column.removeprefix(f"{owner[column]}_")
            score = found.setdefault(name, _Score(name, bool(monitored.get(column)), {}))
            score.columns[owner[column]] = column
    return list(found.values())


@dataclass(frozen=True)
class _Groups:
    """What tells columns apart: their kernel, else their output, else what kind they are.

    Attributes
    ----------
    by : str
        "kernel", "class", "quantile" or "kind".
    owner : ndarray of str, shape (n_columns,)
        The name of each column's group.
    names : list of str
        The groups that have columns, kernels in library order where the model tells it.
    """

    by: str
    owner: NDArray[np.str_]
    names: list[str]

    @classmethod
    def of(cls, model: object, columns: Table) -> _Groups:
        by = "kernel" if "kernel" in columns else output_kind(columns) or "kind"
        alike = np.full(len(columns["coefficient"]), kind_of(columns, 1))
        owner = columns.get(by, alike).astype(str)
        found = list(dict.fromkeys(owner.tolist()))
        known = [name for name in getattr(model, "columns_per_kernel_", ()) if name in found]
        return cls(by, owner, known + [name for name in found if name not in known])


class FittedModel(Protocol):
    """A model with the tables needed for pictures, each a mapping from a name to an array."""

    @property
    def history_(self) -> Mapping[str, Any]:
        """One entry per round."""

    @property
    def columns_(self) -> Mapping[str, Any]:
        """One entry per column."""


@drawing.on_ax
def plot_history(model: FittedModel, *, ax: Iterable[Axes] | None = None) -> Figure:
    """Draw objective and bound, validation scores and columns in use against generated columns.

    The restricted objective and the best bound so far enclose the optimum; the shaded area between
    them is the certified gap. Each score on held-out rows has a panel, in which each set has a
    colour. The best round of each curve (the lowest error, or the greatest score of a scorer) is
    ringed, and a dotted line stands at the model's round; where these differ, the legend also gives
    the score of the model. A long curve is shown from its first tenth of rounds on: the constant
    model that it begins with would flatten the rest. The last panel counts the columns generated so
    far that the model uses, by kernel or, without kernels, by class or quantile. A model with one
    run per class (or quantile) has one thin curve per class, without bounds, and the last panel
    counts its columns by class. So has the mean of models of several holdouts, of which the last
    panel counts all columns. Legends are outside the panels.

    Parameters
    ----------
    model : fitted estimator
        With ``history_`` and ``columns_``.
    ax : iterable of matplotlib Axes, optional
        One per panel: two, and between them one for each score of the history.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model has no history.
    ValueError
        If the number of axes differs from the number of panels.
    """
    history, columns = _table(model, "history_"), _table(model, "columns_")
    history.setdefault("bound", np.full(len(history["objective"]), np.nan))
    _add_last_bound(history, model)
    scores = _scores_of(model, history)
    several, runs = output_kind(history), runs_of(history)
    groups = _Groups.of(model, columns)
    figure, panels = drawing.panels(ax, 2 + len(scores), vertical=True, width=9.5)
    if ax is None:
        for panel in panels[1 : -1 if several else None]:
            panel.sharex(panels[0])
    _draw_objective(panels[0], history)
    drawing.counted(panels[0], history["columns"])
    one = not several and len(runs) == 1
    kept = getattr(model, "best_round_", history["round"][-1]) if one else None
    for panel, score in zip(panels[1:], scores, strict=False):
        _draw_score(panel, history, score, kept)
    if several:
        _draw_outputs(panels[-1], columns, groups, several)
    else:
        longest = max(runs, key=lambda run: len(run["round"]))
        _draw_growth(panels[-1], dict(longest), columns, groups)
    return figure


@drawing.on_ax
def plot_columns(model: FittedModel, *, ax: Iterable[Axes] | None = None) -> Figure:
    """Draw the sizes of the coefficients, largest first, and the number of columns per kernel.

    Columns without kernels are counted per class or quantile, if there are several. Columns with a
    coefficient of zero are left out of both panels.

    Parameters
    ----------
    model : fitted estimator
        With ``columns_``.
    ax : iterable of two matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model has no columns table.
    ValueError
        If there are not two axes.
    """
    columns = _table(model, "columns_")
    groups = _Groups.of(model, columns)
    figure, (left, right) = drawing.panels(ax, 2, vertical=False)
    size = np.abs(columns["coefficient"])
    order = np.argsort(-size, kind="stable")[: np.count_nonzero(size)]
    size, owner, edges = size[order], groups.owner[order], np.arange(len(order) + 1) + 0.5
    foot = size.min() / 2 if drawing.log_if_wide(left, size) else 0.0
    thickness = 0.8 * min(1.0, len(groups.names) / 3)
    for k, name in enumerate(groups.names):
        mine = owner == name
        style = drawing.area_style(k)
        steps = np.where(mine, size, np.nan)
        left.stairs(steps, edges, baseline=foot, fill=True, label=name, **style | {"linewidth": 0})
        right.bar_label(right.barh(k, np.sum(mine), thickness, **style), padding=4)
    left.set_ylim(bottom=foot)
    title = f"{len(order)} non-zero coefficients, coloured by {groups.by}"
    drawing.label(left, title, "column, largest |coefficient| first", "|coefficient|")
    right.set_yticks(range(len(groups.names)), list(map(drawing.named, groups.names)))
    right.set_ylim(max(len(groups.names), 1) - 0.5, -0.5)
    right.margins(x=0.15)
    drawing.label(right, f"Columns per {groups.by}", "columns with a non-zero coefficient", "")
    return figure


def _add_last_bound(history: Table, model: object) -> None:
    """A bound that was found after the last round, on the optimum, is one for every round."""
    last = getattr(model, "dual_bound_", None)
    unknown = not np.isfinite(np.asarray(history["bound"], dtype=np.float64)).any()
    if unknown and output_kind(history) is None and isinstance(last, float) and np.isfinite(last):
        history["bound"] = np.full(len(history["objective"]), last)
        history["gap"] = np.append(history["gap"][:-1], getattr(model, "gap_", np.inf))


def _draw_objective(axis: Axes, history: Table) -> None:
    x, objective = history["columns"], history["objective"]
    shown = [objective]
    if len(runs_of(history)) > 1:
        kind = _run_kind(history)
        for name, style, rows in _curves(history):
            axis.plot(x[rows], objective[rows], label=name, drawstyle="steps-post", **style)
        drawing.legend_beside(axis)
        title = f"Objective of each {kind}"
    else:
        bound = np.fmax.accumulate(history["bound"])
        shown.append(bound)
        title = _draw_gap(axis, x, objective, bound, history["gap"][-1])
        drawing.legend_beside(axis)
    drawing.log_if_wide(axis, np.concatenate(shown))
    drawing.keep_in_view(axis, objective)
    drawing.label(axis, title, "columns generated", "objective")


def _draw_gap(
    axis: Axes, x: NDArray[Any], objective: NDArray[Any], bound: NDArray[Any], gap: float
) -> str:
    """Draw objective and bound with the gap between them, and return the title."""
    style: dict[str, Any] = {"color": drawing.INK, "drawstyle": "steps-post"}
    style["marker"] = drawing.curve_marker(len(x))
    axis.plot(x, objective, label="objective", **style)
    known = np.flatnonzero(np.isfinite(bound))
    if len(known) == 0:
        return "Objective, without a bound"
    title = f"Objective and bound: relative gap {gap:.1e} at the end"
    if len(known) == 1 < len(x):  # a line needs two
        dash: dict[str, Any] = {
            "linestyle": "none",
            "marker": "_",
            "markersize": 16,
            "color": drawing.INK,
        }
        axis.plot(x[known], bound[known], label="bound of the model", **dash)
        return title
    axis.plot(x, bound, linestyle="--", markersize=3, label="bound, best so far", **style)
    shade: dict[str, Any] = {"color": drawing.INK, "alpha": 0.15, "linewidth": 0}
    axis.fill_between(x, bound, objective, step="post", label="certified gap", **shade)
    return title


def _draw_score(axis: Axes, history: Table, score: _Score, kept: int | None) -> None:
    """Draw a score on every set; ``kept`` is the round that makes the model, None of several runs.

    A set has a colour, and the curves of several runs have those of the runs and the dashes of the
    sets.
    """
    name = score.name.replace("_", " ")
    for k, (held, column) in enumerate(score.columns.items()):
        dashes: dict[str, Any] = {"linestyle": drawing.DASHES[k % len(drawing.DASHES)]}
        if kept is None:
            for number, (_, style, rows) in enumerate(_curves(history)):
                named = {"label": f"{held}, each {_run_kind(history)}"} if number == 0 else {}
                axis.plot(history["columns"][rows], history[column][rows], **style | dashes | named)
            continue
        rows = np.flatnonzero(np.isfinite(history[column]))
        x, y = history["columns"][rows], history[column][rows]
        best = int(np.argmax(y) if score.rising else np.argmin(y))
        model = np.flatnonzero(history["round"][rows] == kept)
        label = f"{held}: best {y[best]:.4g} with {x[best]} columns"
        if len(model) and model[0] != best:
            label += f",\nthe model has {y[model[0]]:.4g} with {x[model[0]]}"
        if len(model) and k == 0:
            axis.axvline(x[model[0]], color=drawing.INK, linestyle=":", linewidth=1)
        axis.plot(x, y, color=drawing.colour(k), marker=drawing.curve_marker(len(rows)))
        ring: dict[str, Any] = {"fillstyle": "none", "markersize": 9, "markeredgewidth": 2}
        axis.plot(x[best], y[best], "o", color=drawing.colour(k), label=label, zorder=3, **ring)
    curves = [history[column] for column in score.columns.values()]
    if kept is None:
        drawing.label(axis, f"{name} of each {_run_kind(history)}", "columns generated", name)
    else:
        _show_all_but_the_start(axis, curves)
        end = "greatest" if score.rising else "lowest"
        drawing.label(axis, f"{name}, the {end} ringed", "columns generated", name)
    if kept is not None or len(score.columns) > 1:
        drawing.legend_beside(axis)


def _run_kind(history: Table) -> str:
    """What tells several runs apart."""
    return output_kind(history) or "holdout"


def _show_all_but_the_start(axis: Axes, curves: Sequence[NDArray[Any]]) -> None:
    """Let the first tenth of long curves leave the panel where it would flatten the rest."""
    late = np.concatenate([curve[len(curve) // LONG_CURVE :] for curve in curves])
    if not np.isfinite(late).any():
        return
    low, high = np.nanmin(late), np.nanmax(late)
    if low > 0:
        drawing.log_if_wide(axis, late)
    if high > low and axis.get_yscale() == "linear":
        room = LEGEND_ROOM * (high - low)
        axis.set_ylim(low - room, high + room)


def _draw_growth(axis: Axes, history: Table, columns: Table, groups: _Groups) -> None:
    """Stack the columns of each group, placed at the round that generated them."""
    below = np.zeros(len(history["round"]))
    for k, name in enumerate(groups.names):
        generated = np.sort(columns["round"][groups.owner == name])
        above = below + np.searchsorted(generated, history["round"], "right")
        label = f"{drawing.named(name)} ({len(generated)})"
        axis.fill_between(history["columns"], below, above, label=label, **drawing.area_style(k))
        below = above
    title = f"Columns generated so far that the model uses, by {groups.by}"
    drawing.label(axis, title, "columns generated", "columns in the model")
    if groups.names:
        drawing.legend_beside(axis, reverse=True)
    else:
        axis.text(0.5, 0.5, "no columns", ha="center", va="center", transform=axis.transAxes)
        axis.set_yticks([0])
    drawing.counted(axis, history["columns"])


def _draw_outputs(axis: Axes, columns: Table, groups: _Groups, kind: str) -> None:
    """Stack the number of columns of each group, class by class or quantile by quantile."""
    outputs = np.unique(columns[kind])
    ticks = [drawing.named(label) for label in outputs]
    bottom = np.zeros(len(outputs))
    for k, name in enumerate(groups.names):
        mine = columns[kind][groups.owner == name]
        height = np.sum(mine[:, None] == outputs, axis=0)
        label = f"{drawing.named(name)} ({len(mine)})"
        axis.bar(ticks, height, bottom=bottom, label=label, **drawing.area_style(k))
        bottom += height
    drawing.label(axis, f"Columns of the model, {kind} by {kind}", kind, "columns")
    if groups.names:
        drawing.legend_beside(axis, reverse=True)


def _table(model: object, name: str) -> Table:
    table = getattr(model, name, None)
    if table is None:
        what = "give its last step, model[-1]" if hasattr(model, "steps") else "call fit first"
        what = "give its fitted model, model.model_" if hasattr(model, "model_") else what
        what = "plot_search draws it" if hasattr(model, "tree") else what
        raise NotFittedError(f"{type(model).__name__} has no {name}: {what}")
    return {key: np.asarray(values) for key, values in table.items()}


def _curves(history: Table) -> Iterator[tuple[str, dict[str, Any], NDArray[np.intp]]]:
    """Yield the name, style and rounds of the curve of each class, quantile or holdout.

    The curves of a class with several holdouts have one style, and the first of them the name.
    """
    kind = output_kind(history) or "holdout"
    for k, label in enumerate(np.unique(history[kind])):
        own = np.flatnonzero(history[kind] == label)
        starts = np.flatnonzero(history["round"][own] == 0)
        for number, rows in enumerate(np.split(own, starts[1:])):
            yield f"{kind} {label}" if number == 0 else "_", drawing.thin_line(k), rows


Sets = Mapping[str, tuple[ArrayLike, ArrayLike]]

ROUNDS = (10, 30, 100, 300)
"""Rounds after which errors are usually shown."""

EVERY_ROUND = 30
"""A model with no more rounds than these is drawn after each of them."""


def error_table(model: Any, sets: Sets, rounds: Sequence[int] = ROUNDS) -> Table:
    """Errors after some rounds: the share of wrong labels, or the root mean square of residuals.

    Parameters
    ----------
    model : fitted classifier or regressor
        With ``staged_predict``, starting with the predictions after round 1.
    sets : mapping of str to (X, y)
        The sets for the errors, such as ``{"train": (X, y), "test": (X_test, y_test)}``.
    rounds : sequence of int, default=(10, 30, 100, 300)
        Rounds that the model does not have are left out.

    Returns
    -------
    dict of str to ndarray
        ``"round"``, and the errors on each of the sets.

    Raises
    ------
    ValueError
        If there is no set, a round is not an integer of at least 1, or the model predicts several
        numbers per row.
    """
    if not sets:
        raise ValueError("sets must name at least one pair (X, y), got none")
    if any(number != int(number) or number < 1 for number in rounds):
        raise ValueError(f"rounds must be whole numbers ≥ 1, got {list(rounds)!r}")
    unit = float if is_classifier(model) else np.sqrt
    errors = {
        name: np.array([unit(e) for e in islice(staged_errors(model, X, y), max(rounds))])
        for name, (X, y) in sets.items()
    }
    reached = min(len(values) for values in errors.values())
    kept = np.array([number for number in rounds if number <= reached], dtype=int)
    return {"round": kept} | {name: values[kept - 1] for name, values in errors.items()}


@drawing.on_ax
def plot_stages(
    model: Any,
    sets: Sets | None = None,
    rounds: Sequence[int] | None = None,
    *,
    ax: Iterable[Axes] | None = None,
) -> Figure:
    """Draw the loss after every round, and the errors of :func:`error_table`.

    If the fit held out rows to choose the number of stages, their loss is drawn with the loss of
    the training rows, both relative to the loss of a constant, and the chosen stage is circled.
    With several holdouts there is a thin line for each, and a thick line for the mean of their
    models after every round; a model whose stages are complete enters unchanged.

    Parameters
    ----------
    model : fitted classifier or regressor
        With ``staged_predict`` and ``history_``.
    sets : mapping of str to (X, y), optional
        As in :func:`error_table`; without sets there is no panel of errors.
    rounds : sequence of int, optional
        As in :func:`error_table`; by default (10, 30, 100, 300), or all rounds if there are at most
        30.
    ax : iterable of matplotlib Axes, optional
        One for the loss, and one for the errors.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        As :func:`error_table`.
    """
    if sets is None:
        figure, [left] = drawing.panels(ax, 1, vertical=True)
        _draw_losses(left, model)
        return figure
    if rounds is None:
        count = int(model.n_iter_)
        rounds = range(1, count + 1) if 1 <= count <= EVERY_ROUND else ROUNDS
    table = error_table(model, sets, rounds)
    figure, (left, right) = drawing.panels(ax, 2, vertical=False)
    _draw_losses(left, model)
    for k, name in enumerate(sets):
        right.plot(table["round"], table[name], "o-", color=drawing.colour(k), label=name)
    if max(rounds) > EVERY_ROUND:
        right.set_xscale("log")
        right.set_xticks(table["round"], [str(number) for number in table["round"]], minor=False)
        right.minorticks_off()
    else:
        right.locator_params(axis="x", integer=True)
    right.set_ylim(bottom=0)
    right.legend(frameon=False)
    kind = "Share of wrong labels" if is_classifier(model) else "Root mean square error"
    drawing.label(right, kind, "rounds", "error")
    return figure


def _draw_losses(axis: Axes, model: Any) -> None:
    """The training loss by round; or, relative to its start, with that of the holdout rows."""
    history: Table = {name: np.asarray(values) for name, values in model.history_.items()}
    holdout = history.get("holdout_loss", np.zeros(1))
    kind = output_kind(history)
    outputs = [None] if kind is None else np.unique(history[kind])
    for k, label in enumerate(outputs):
        mine = slice(None) if kind is None else history[kind] == label
        own = {name: values[mine] for name, values in history.items()}
        name, colour = "" if kind is None else f"{kind} {drawing.named(label)}", drawing.colour(k)
        if holdout.any():
            _draw_holdouts(axis, runs_of(own), f", {name}" if name else "", colour)
        else:
            axis.plot(own["round"], own["objective"], color=colour, label=name or "loss")
    drawing.log_if_wide(axis, history["objective"])
    if len(outputs) > 1:
        drawing.legend_beside(axis)
    elif holdout.any():
        axis.legend(frameon=False)
    if holdout.any():
        axis.locator_params(axis="x", integer=True)
        drawing.label(axis, "Loss, share of that of a constant", "stages", "share")
    elif "gap_" in vars(model):  # with the penalty
        drawing.counted(axis, history["round"])
        drawing.label(axis, "Objective", "round", "objective")
    else:
        drawing.label(axis, "Training loss", "round", "loss")


def _draw_holdouts(axis: Axes, runs: Sequence[Mapping[str, Any]], name: str, colour: str) -> None:
    """The losses of an output: of its one run, or a thin line for each and the mean of all."""
    shares = [run["objective"] / run["objective"][0] for run in runs]
    held = [run["holdout_loss"] / run["holdout_loss"][0] for run in runs]
    best = [int(np.argmin(own)) for own in held]
    size = 10
    if len(runs) > 1:
        thin: dict[str, Any] = {"color": colour, "linewidth": 0.7, "alpha": 0.45}
        for own, there, run in zip(shares, held, runs, strict=True):
            axis.plot(run["round"], own, "--", **thin)
            axis.plot(run["round"], there, "-", **thin)
        name, size = f"{name}, mean of {len(runs)}", 6
    rounds = max((run["round"] for run in runs), key=len)
    for own, style, what in ((shares, "--", "training"), (held, "o-", "holdout")):
        mean = _mean_so_far(own, best) if len(runs) > 1 else own[0]
        width: dict[str, Any] = {"linewidth": 1.0} if what == "training" else {"markersize": 3.0}
        axis.plot(rounds[: len(mean)], mean, style, color=colour, label=what + name, **width)
    for run, there, k in zip(runs, held, best, strict=True):
        axis.plot(run["round"][k], there[k], "o", color=colour, mfc="none", markersize=size)


def _mean_so_far(curves: list[NDArray[Any]], best: list[int]) -> NDArray[Any]:
    """The mean of the models after every round, of which each ends at its best one."""
    rounds = np.arange(max(best) + 1)
    kept = [curve[np.minimum(rounds, k)] for curve, k in zip(curves, best, strict=True)]
    return np.asarray(np.mean(kept, axis=0))


def staged_errors(model: Any, X: ArrayLike, y: ArrayLike) -> Iterator[float]:
    """After round 1, 2, …: the share of wrong labels, or the mean squared error.

    Raises
    ------
    ValueError
        If the model predicts several numbers for a row.
    """
    wrong, target = is_classifier(model), np.asarray(y)
    for found in model.staged_predict(X):
        if found.ndim > 1:
            raise ValueError(
                f"errors need one prediction for each row, but {type(model).__name__} has "
                f"{found.shape[1]} of them: use its score or staged_predict"
            )
        yield float(np.mean(found != target if wrong else np.square(found - target)))
