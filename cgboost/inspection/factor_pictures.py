"""Pictures of latent factors: the rows by their first two, errors by their number, objectives.

They read what every fitted model of :mod:`cgboost` has, and so compare latent factors with other
models too. They draw on a figure of their own, without pyplot and so without a display, unless axes
are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import type_of_target

from cgboost.inspection import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Table = dict[str, NDArray[Any]]
Sets = Mapping[str, tuple[ArrayLike, ArrayLike]]

MARKERS = ("o", "^", "s", "D", "v", "P")
DASHES = ("-", "--", ":", "-.")


def plot_factors(model: Any, X: ArrayLike, y: ArrayLike, *, axes: Axes | None = None) -> Figure:
    """Draw rows by the first two factors, one colour a class, or a colour scale for numbers.

    Parameters
    ----------
    model : fitted transformer
        With ``transform``: a ``BLFClassifier`` or ``BLFRegressor``, a pipeline that ends with one,
        or a PCA to compare them with.
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        Classes, or numbers: what they are for a regressor, whatever they look like.
    axes : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If the model has fewer than two factors, or ``y`` not one entry for each row.
    """
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
    figure, [axis] = drawing.panels(None if axes is None else [axes], 1, vertical=True)
    first, second = factors[:, 0], factors[:, 1]
    numbers = is_regressor(model) or type_of_target(target).startswith("continuous")
    if numbers:
        points = axis.scatter(first, second, c=target, cmap="viridis", s=14, linewidths=0)
        figure.colorbar(points, ax=axis, label="y")
    else:
        for k, label in enumerate(np.unique(target)):
            rows = target == label
            style: dict[str, Any] = {"marker": MARKERS[k % len(MARKERS)], "s": 14, "alpha": 0.6}
            style |= {"color": drawing.colour(k), "linewidths": 0, "label": f"class {label}"}
            axis.scatter(first[rows], second[rows], **style)
        axis.legend(frameon=False)
    drawing.label(axis, "Rows by their first two factors", "factor 1", "factor 2")
    return figure


def component_errors(model: Any, sets: Sets) -> Table:
    """Error of a fitted model cut off after 1, 2, … factors.

    Parameters
    ----------
    model : fitted estimator
        With ``staged_predict``, or a pipeline that ends with one.
    sets : mapping of str to (X, y)
        What errors are wanted on, ``{"train": (X, y), "test": (X_test, y_test)}`` say.

    Returns
    -------
    dict of str to ndarray
        ``"components"``, and for each of the sets the share of wrong labels of a classifier or the
        mean squared error of a regressor.

    Raises
    ------
    ValueError
        If there is no set.
    """
    if not sets:
        raise ValueError("sets must name at least one pair (X, y), got none")
    wrong = is_classifier(model)
    before = None
    if hasattr(model, "steps"):
        before, model = model[:-1], model[-1]
    errors = {
        name: _errors(model, X if before is None else before.transform(X), np.asarray(y), wrong)
        for name, (X, y) in sets.items()
    }
    counts = np.arange(1, 1 + max(map(len, errors.values())))
    return {"components": counts} | errors


def plot_components(models: Mapping[str, Any], sets: Sets, *, axes: Axes | None = None) -> Figure:
    """Draw the error of some models against the number of factors.

    Parameters
    ----------
    models : mapping of str to fitted estimator
        Either classifiers or regressors, as for :func:`component_errors`: a colour each.
    sets : mapping of str to (X, y)
        As there: a kind of line each.
    axes : matplotlib Axes, optional

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
    figure, [axis] = drawing.panels(None if axes is None else [axes], 1, vertical=True)
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


def plot_objectives(models: Mapping[str, Any], *, axes: Axes | None = None) -> Figure:
    """Draw the training loss of some models, round by round.

    Parameters
    ----------
    models : mapping of str to fitted estimator
        With ``history_`` of one run; each round adds one factor to a latent factor model.
    axes : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If a model has no history.
    ValueError
        If there is no model, or one with a run for each class.
    """
    if not models:
        raise ValueError("models must name at least one fitted model, got none")
    figure, [axis] = drawing.panels(None if axes is None else [axes], 1, vertical=True)
    curves = [_curve(name, model) for name, model in models.items()]
    for k, (name, (rounds, objective)) in enumerate(zip(models, curves, strict=True)):
        axis.plot(rounds, objective, label=name, **drawing.thin_line(k) | {"linewidth": 1.6})
    everything = np.concatenate([objective for _, objective in curves])
    drawing.log_if_wide(axis, everything)
    axis.legend(frameon=False)
    axis.locator_params(axis="x", integer=True)
    drawing.label(axis, "Training loss", "round", "loss")
    return figure


def _errors(model: Any, X: ArrayLike, y: NDArray[Any], wrong: bool) -> NDArray[np.float64]:
    stages = model.staged_predict(X)
    return np.array([np.mean(stage != y if wrong else np.square(stage - y)) for stage in stages])


def _curve(name: str, model: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rounds and objectives."""
    history = getattr(model, "history_", None)
    if history is None:
        raise NotFittedError(f"model {name!r} ({type(model).__name__}) has no history_: call fit")
    if "class" in history:
        raise ValueError(f"model {name!r} has a run for each class: fit it on two classes")
    return np.asarray(history["round"]), np.asarray(history["objective"])
