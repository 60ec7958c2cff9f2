"""How a boosted classifier gets better from round to round: a table of errors, and the loss curve.

Both read the staged predictions and the history that all boosting estimators have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgboost import drawing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Table = dict[str, NDArray[Any]]
Sets = Mapping[str, tuple[ArrayLike, ArrayLike]]

ROUNDS = (10, 30, 100, 300)
"""Rounds after which errors are usually shown."""


def error_table(model: Any, sets: Sets, rounds: Sequence[int] = ROUNDS) -> Table:
    """Share of wrong labels after some rounds.

    Parameters
    ----------
    model : fitted classifier
        With ``staged_predict``, whose first labels are those after round 1.
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
    model: Any, sets: Sets, rounds: Sequence[int] = ROUNDS, *, axes: Iterable[Axes] | None = None
) -> Figure:
    """Draw the training loss after every round, and the errors of :func:`error_table`.

    Parameters
    ----------
    model, sets, rounds
        As in :func:`error_table`; the model has ``history_``.
    axes : iterable of two matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure
    """
    table = error_table(model, sets, rounds)
    figure, (left, right) = drawing.panels(axes, 2, vertical=False)
    history = model.history_
    classes = np.unique(history["class"]) if "class" in history else [None]
    for k, label in enumerate(classes):
        mine = slice(None) if label is None else history["class"] == label
        name = "loss" if label is None else f"class {label}"
        loss = history["objective"][mine]
        left.plot(history["round"][mine], loss, color=drawing.colour(k), label=name)
    if len(classes) > 1:
        left.legend(frameon=False)
    drawing.log_if_wide(left, np.asarray(history["objective"]))
    drawing.label(left, "Training loss", "round", "loss")
    for k, name in enumerate(sets):
        right.plot(table["round"], table[name], "o-", color=drawing.colour(k), label=name)
    right.set_xscale("log")
    right.set_xticks(table["round"], [str(number) for number in table["round"]], minor=False)
    right.minorticks_off()
    right.set_ylim(bottom=0)
    right.legend(frameon=False)
    drawing.label(right, "Share of wrong labels", "rounds", "error")
    return figure


def _errors(model: Any, X: ArrayLike, y: NDArray[Any], last: int) -> Iterator[float]:
    """The error after round 1, 2, … and at most ``last``."""
    for labels in islice(model.staged_predict(X), last):
        yield float(np.mean(labels != y))
