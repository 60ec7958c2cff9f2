"""Effects of single features on predictions, with error bars from models of several holdouts.

The partial dependence on a feature x_j is the mean prediction over rows, with x_j set to one value
in all of them (Friedman, *Greedy function approximation*, Annals of Statistics 29, 2001).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.inspection import partial_dependence
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.estimators.common.class_outputs import output_place
from cgboost.inspection import drawing
from cgboost.inspection.model_forms import table_of_features
from cgboost.tables.frames import frame_of, is_frame
from cgboost.tables.table_columns import is_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


DRAWN_FROM = 1000
"""Rows that predictions are the mean of; of more, evenly spaced ones."""

N_POINTS = 40
"""Values of a number at most."""


@dataclass(frozen=True)
class Effect:
    """The partial dependence on a feature.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Numbers, or categories.
    mean, std : ndarray of shape (n_values,)
        Over the models of the holdouts; with one model, the standard deviation is 0.
    label : class label or None
        The class of the probability; None for a regressor.
    """

    feature: str
    values: NDArray[Any]
    mean: Vector
    std: Vector
    label: Any = None

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.values.dtype.kind in "fiu"


def effects(
    model: Any,
    X: Any,
    features: Sequence[int | str] | None = None,
    *,
    output: Any = None,
    top: int = 6,
) -> list[Effect]:
    """Partial dependence on features, each from all models of the holdouts.

    Parameters
    ----------
    model : fitted estimator with ``feature_importances_``
        A transform regression with ``n_holdouts`` above 1 gives error bars. For a classifier, the
        effect is on the probability of a class, or on f if it has no probabilities.
    X : array-like or data frame of shape (n_rows, n_features)
        Rows over which predictions are averaged.
    features : sequence of int or str, optional
        Indices or names; by default the ``top`` most important, in that order.
    output : class label or int, optional
        Label of a class, or its index in ``classes_``; integers are read as labels first. By
        default the last.
    top : int, default=6

    Returns
    -------
    list of Effect

    Raises
    ------
    ValueError
        If there is no such feature.
    IndexError
        If there is no such class.
    """
    check_is_fitted(model)
    X = table_of_features(model, X)
    has_names = is_frame(X)
    # scikit-learn's partial dependence takes frames of pandas alone
    table: Any = frame_of(X).to_pandas() if has_names else np.asarray(X)
    rows = (table.iloc if has_names else table)[:: max(1, -(-len(table) // DRAWN_FROM))]
    names = [str(name) for name in rows.columns] if has_names else None
    if features is None:
        order = np.argsort(-model.feature_importances_, kind="stable")[:top]
        features = [int(j) for j in order if model.feature_importances_[j] > 0]
    labels = list(getattr(model, "classes_", ()))
    place = output_place(output, labels, default=-1)
    found = []
    for feature in features:
        number = names.index(feature) if names is not None and feature in names else feature
        if not isinstance(number, (int, np.integer)) or not 0 <= number < rows.shape[1]:
            known = f"0, …, {rows.shape[1] - 1}" if names is None else str(names)
            raise ValueError(f"features must be among {known}, got {feature!r}")
        column = (rows.iloc if has_names else rows)[:, number]
        found.append(_effect(model, rows, column, int(number), names, place))
    return found


def _effect(
    model: Any, rows: Any, column: Any, number: int, names: list[str] | None, place: int
) -> Effect:
    """One feature, for the class of this place."""
    values = _values(column)
    key: Any = number if names is None else names[number]
    if column.dtype.kind in "iu":  # scikit-learn draws no line between whole numbers
        rows = rows.astype({key: np.float64} if names is not None else np.float64)
    is_category = values.dtype.kind not in "fiu"
    labels = list(getattr(model, "classes_", ()))
    curves = []
    for own in getattr(model, "holdout_models_", [model]):
        found = partial_dependence(
            own,
            rows,
            [key],
            custom_values={key: values},
            categorical_features=[key] if is_category else None,
            kind="average",
        )["average"]
        if len(labels) == 2:  # there is the second alone
            other = 1.0 - found if hasattr(model, "predict_proba") else -found
            found = np.concatenate([other, found])
        curves.append(found[place])
    name = f"x{number}" if names is None else names[number]
    label = labels[place] if labels else None
    return Effect(name, values, np.mean(curves, axis=0), np.std(curves, axis=0), label)


def _values(column: Any) -> NDArray[Any]:
    """Values of a feature: quantiles of numbers, all categories."""
    if column.dtype.kind in "fiu":
        numbers = np.asarray(column.dropna() if hasattr(column, "dropna") else column, dtype=float)
        shares = np.linspace(0.0, 1.0, N_POINTS)
        return np.unique(np.quantile(numbers[~np.isnan(numbers)], shares))
    found = {value for value in column.tolist() if not is_missing(value)}
    return np.array(sorted(found, key=str), dtype=object)


@drawing.on_ax
def plot_effects(
    model: Any,
    X: Any,
    features: Sequence[int | str] | None = None,
    *,
    output: Any = None,
    top: int = 6,
    ax: Iterable[Axes] | None = None,
) -> Figure:
    """Draw partial dependence: a line, or dots, and one standard deviation on either side.

    For a classifier, the vertical axis names the class.

    Parameters
    ----------
    model, X, features, output, top
        As in :func:`effects`.
    ax : iterable of matplotlib Axes, optional
        One for each feature.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    IndexError, ValueError
        As :func:`effects`; if no feature is used, or the number of axes differs from the number of
        features.
    """
    found = effects(model, X, features, output=output, top=top)
    if not found:
        raise ValueError("the model uses no feature: there is nothing to draw")
    figure, places = drawing.grid(ax, len(found))
    kind = "probability" if hasattr(model, "predict_proba") else "score"
    for effect, axis in zip(found, places, strict=True):
        drawing.label(axis, drawing.named(effect.feature), "", "")
        what = "" if effect.label is None else f"{kind} of class {drawing.named(effect.label)}"
        low, high = effect.mean - effect.std, effect.mean + effect.std
        if effect.is_numeric:
            shade: dict[str, Any] = {"color": drawing.colour(0), "alpha": 0.25, "linewidth": 0}
            axis.fill_between(effect.values, low, high, **shade)
            axis.plot(effect.values, effect.mean, color=drawing.colour(0), linewidth=1.8)
            axis.set_ylabel(what, fontsize=8)
        else:
            places_of = np.arange(len(effect.values))
            axis.errorbar(effect.mean, places_of, xerr=effect.std, fmt="o", color=drawing.colour(0))
            axis.set_yticks(places_of, drawing.values_named(effect.values), fontsize=8)
            axis.set_xlabel(what, fontsize=8)
    return figure
