"""How a boosted model gets better from round to round: a table of errors, and the loss curve.

Both read the staged predictions and the history that all boosting estimators have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier

from cgboost.inspection import drawing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Table = dict[str, NDArray[Any]]
Sets = Mapping[str, tuple[ArrayLike, ArrayLike]]

ROUNDS = (10, 30, 100, 300)
"""Rounds after which errors are usually shown."""

EVERY_ROUND = 30
"""A model with no more rounds than these is drawn after each of them."""


def error_table(model: Any, sets: Sets, rounds: Sequence[int] = ROUNDS) -> Table:
    """Errors after some rounds: the share of wrong labels, or root mean squares of residuals.

    Parameters
    ----------
    model : fitted classifier or regressor
        With ``staged_predict``, whose first predictions are those after round 1.
    sets : mapping of str to (X, y)
        What errors are wanted on, ``{"train": (X, y), "test": (X_test, y_test)}`` say.
    rounds : sequence of int, default=(10, 30, 100, 300)
        Rounds that the model does not have are left out.

    Returns
    -------
    dict of str to ndarray
        ``"round"``, and the errors on each of the sets.

    Raises
    ------
    ValueError
        If there is no set, or a round is not a whole number of at least 1.
    """
    if not sets:
        raise ValueError("sets must name at least one pair (X, y), got none")
    if any(number != int(number) or number < 1 for number in rounds):
        raise ValueError(f"rounds must be whole numbers ≥ 1, got {list(rounds)!r}")
    errors = {
        name: np.array(list(_errors(model, X, np.asarray(y), max(rounds))))
        for name, (X, y) in sets.items()
    }
    reached = min(len(values) for values in errors.values())
    kept = np.array([number for number in rounds if number <= reached], dtype=int)
    return {"round": kept} | {name: values[kept - 1] for name, values in errors.items()}


def plot_stages(
    model: Any,
    sets: Sets | None = None,
    rounds: Sequence[int] | None = None,
    *,
    axes: Iterable[Axes] | None = None,
) -> Figure:
    """Draw the loss after every round, and the errors of :func:`error_table`.

    Where the fit has held rows out itself to choose the number of stages, their loss stands beside
    that of the training rows, both relative to the loss of a constant, and the stage that was
    chosen is ringed.

    Parameters
    ----------
    model : fitted classifier or regressor
        With ``staged_predict`` and ``history_``.
    sets : mapping of str to (X, y), optional
        As in :func:`error_table`; without any there is no panel of errors.
    rounds : sequence of int, optional
        As there; by default (10, 30, 100, 300), or all rounds of a model that has at most 30.
    axes : iterable of matplotlib Axes, optional
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
        figure, [left] = drawing.panels(axes, 1, vertical=True)
        _draw_losses(left, model)
        return figure
    if rounds is None:
        count = int(model.n_iter_)
        rounds = range(1, count + 1) if 1 <= count <= EVERY_ROUND else ROUNDS
    table = error_table(model, sets, rounds)
    figure, (left, right) = drawing.panels(axes, 2, vertical=False)
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
    """The training loss by round; or, relative to its start, beside that of the holdout rows."""
    history = model.history_
    holdout = np.asarray(history.get("holdout_loss", np.zeros(1)))
    classes = np.unique(history["class"]) if "class" in history else [None]
    for k, label in enumerate(classes):
        mine = slice(None) if label is None else history["class"] == label
        name = "loss" if label is None else f"class {label}"
        rounds, loss = history["round"][mine], np.asarray(history["objective"][mine])
        if not holdout.any():
            axis.plot(rounds, loss, color=drawing.colour(k), label=name)
            continue
        share, held = loss / loss[0], holdout[mine] / holdout[mine][0]
        best = int(np.argmin(held))
        name = "" if label is None else f", class {label}"
        colour = drawing.colour(k)
        axis.plot(rounds, share, "--", color=colour, linewidth=1, label=f"training{name}")
        axis.plot(rounds, held, "o-", color=colour, markersize=3, label=f"holdout{name}")
        axis.plot(rounds[best], held[best], "o", color=colour, mfc="none", markersize=10)
    drawing.log_if_wide(axis, np.asarray(history["objective"]))
    if len(classes) > 1 or holdout.any():
        axis.legend(frameon=False)
    if holdout.any():
        axis.locator_params(axis="x", integer=True)
        drawing.label(axis, "Loss, share of that of a constant", "stages", "share")
    else:
        drawing.label(axis, "Training loss", "round", "loss")


def _errors(model: Any, X: ArrayLike, y: NDArray[Any], last: int) -> Iterator[float]:
    """The error after round 1, 2, … and at most ``last``."""
    wrong = is_classifier(model)
    for found in islice(model.staged_predict(X), last):
        error = np.mean(found != y) if wrong else np.sqrt(np.mean(np.square(found - y)))
        yield float(error)
