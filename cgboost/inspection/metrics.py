"""Gains charts and their Gini coefficient, for 0/1 and other non-negative targets.

A gains chart (a lift curve) sorts the rows by decreasing score and shows the share of the target's
total in the first rows: with sorted rows, weights w and a target y,

    x_k = Σ_{i≤k} w_i / Σ w_i      g_k = Σ_{i≤k} w_i y_i / Σ w_i y_i

Rows with equal scores are joined by a straight line. Random scores follow the diagonal. The Gini
coefficient is the area between the chart and the diagonal, relative to the area of a perfect
predictor, whose scores are the target.

Hand, *Construction and Assessment of Classification Rules*, 1997; used for targets of both kinds
by Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, 2006, section 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.arrays import Vector
from cgboost.inspection import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def gini_coefficient(
    y: ArrayLike, score: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Gini coefficient of the gains chart: 0 for random scores, 1 for a perfect order of the rows.

    Only the order of the scores matters. For a 0/1 target it is 2·AUC − 1.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The target, not negative.
    score : array-like of shape (n_rows,)
        Higher scores mean a higher expected target; may be infinite.
    sample_weight : array-like of shape (n_rows,) or None

    Returns
    -------
    float
        From −1, for the worst possible order, to 1.

    Raises
    ------
    ValueError
        For different lengths, nan, a negative target, or a target that is the same in all rows.
    """
    target, scores, weights = _checked(y, score, sample_weight)
    # The ratio of the areas is that of y − min y, whose differences are not lost in a large mean.
    target = target - target.min()
    if not target.any():
        raise ValueError(
            "y must have more than one value, in rows of positive weight: no order is better than "
            "another"
        )
    found = _area(*_chart(target, scores, weights))
    return found / _area(*_chart(target, target, weights))


def gains_chart(
    y: ArrayLike, score: ArrayLike, sample_weight: ArrayLike | None = None
) -> tuple[Vector, Vector]:
    """The cumulative gains chart.

    Parameters
    ----------
    y, score, sample_weight
        As in :func:`gini_coefficient`.

    Returns
    -------
    rows, gained : ndarray of shape (n_scores + 1,)
        Share of the rows with the highest scores, and their share of the target's total, with one
        point per distinct score; from (0, 0) to (1, 1).

    Raises
    ------
    ValueError
        For different lengths, nan, a negative target, or a target that is 0 in all rows.
    """
    return _chart(*_checked(y, score, sample_weight))


@drawing.on_ax
def plot_gains(
    y: ArrayLike,
    scores: Mapping[str, ArrayLike],
    sample_weight: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw the gains charts of some models, with a perfect predictor and the diagonal.

    Parameters
    ----------
    y, sample_weight
        As in :func:`gini_coefficient`.
    scores : mapping of str to array-like of shape (n_rows,)
        Scores of each model; the legend gives their Gini coefficients.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If there is no model, and as in :func:`gini_coefficient`.
    """
    if not scores:
        raise ValueError("scores must name at least one model, got none")
    curves = [
        (
            f"{name}: Gini {gini_coefficient(y, score, sample_weight):.3f}",
            gains_chart(y, score, sample_weight),
        )
        for name, score in scores.items()
    ]
    figure, axis = drawing.panel(ax)
    for k, (name, chart) in enumerate(curves):
        axis.plot(*chart, label=name, **drawing.thin_line(k))
    plain: dict[str, Any] = {"color": drawing.INK, "linewidth": 1.0}
    axis.plot(*gains_chart(y, y, sample_weight), "--", label="perfect", **plain)
    axis.plot([0, 1], [0, 1], ":", label="random", **plain)
    drawing.label(axis, "Cumulative gains", "share of rows", "share of target")
    drawing.legend_beside(axis)
    return figure


def _chart(target: Vector, scores: Vector, weights: Vector) -> tuple[Vector, Vector]:
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(order) - 1)
    rows = np.cumsum(weights[order])[last]
    gained = np.cumsum((weights * target)[order])[last]
    return np.append(0.0, rows / rows[-1]), np.append(0.0, gained / gained[-1])


def _area(rows: Vector, gained: Vector) -> float:
    """The area between a chart and the diagonal."""
    return float(np.trapezoid(gained - rows, rows))


def _checked(
    y: ArrayLike, score: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Vector, Vector, Vector]:
    """Target and weights, both with a largest value of 1, and scores of the rows that count."""
    target, scores = _numbers("y", y), _numbers("score", score)
    weights = (
        np.ones(len(target)) if sample_weight is None else _numbers("sample_weight", sample_weight)
    )
    for name, values in (("score", scores), ("sample_weight", weights)):
        if len(values) != len(target):
            raise ValueError(
                f"{name} must have one entry for each of the {len(target)} rows of y, got "
                f"{len(values)}"
            )
    for name, values in (("y", target), ("sample_weight", weights)):
        if not np.isfinite(values).all() or values.min(initial=0.0) < 0:
            worst = values[~(np.isfinite(values) & (values >= 0))][0]
            raise ValueError(f"{name} must be finite and not negative, got {worst:g}")
    counting = weights > 0
    target, scores, weights = target[counting], scores[counting], weights[counting]
    if not target.any():
        raise ValueError("y must not be 0 in every row of positive weight")
    return target / target.max(), scores, weights / weights.max()


def _numbers(name: str, values: ArrayLike) -> Vector:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers ({error})") from error
    if numbers.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {numbers.shape}")
    if np.isnan(numbers).any():
        raise ValueError(f"{name} must not have nan, got {np.isnan(numbers).sum()} of them")
    if not len(numbers):
        raise ValueError(f"{name} is empty: there must be at least one row")
    return numbers
