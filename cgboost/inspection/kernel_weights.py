"""Picture of the kernel weights η of multiple kernel learning.

The model is f = Σ_p η_p K_p r + b, η ≥ 0: a support vector machine with the kernel Σ_p η_p K_p. A
kernel that helps no more than the others has η_p = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from cgboost.inspection import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Vector = NDArray[np.float64]

REST = "#bbbbbb"
"""Colour of the bar that stands for many kernels: none of those that stand for a class."""


def plot_kernel_weights(model: Any, *, top: int = 20, axes: Axes | None = None) -> Figure:
    """Draw the weights of the kernels of a model as bars, the largest on top.

    With several classes, a bar is the mean over the classes, divided into parts by class. Kernels
    with weight 0 are counted in the title; beyond ``top``, one bar has the total weight of the
    rest.

    Parameters
    ----------
    model : fitted kernel estimator
        With ``kernel_weights_``, that is, with ``penalty="group"``.
    top : int, default=20
        Maximum number of kernels with a separate bar.
    axes : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    ValueError
        If it has no kernel weights, or ``top`` is less than 1.
    """
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top!r}")
    names, weights = _weights_of(model)
    shares = weights / weights.shape[1]
    totals = shares.sum(axis=1)
    order = np.argsort(-totals, kind="stable")[: int(np.sum(totals > 0))]
    shown, rest = order[:top], order[top:]
    figure, axis = drawing.panel(axes)
    if axes is None:
        figure.set_size_inches(8.0, 1.4 + 0.26 * (len(shown) + bool(len(rest))))
    _draw_bars(axis, shares[shown], getattr(model, "classes_", None))
    labels = [drawing.named(names[p]) for p in shown]
    if len(rest):
        axis.barh(len(shown), totals[rest].sum(), facecolor=REST, height=0.7)
        labels.append(f"{len(rest)} more")
    axis.set_yticks(range(len(labels)), labels, fontsize=9 if len(labels) <= 12 else 8)
    axis.set_ylim(max(len(labels), 1) - 0.4, -0.6)
    axis.set_xlim(left=0.0)
    title = f"{len(order)} of {len(names)} kernels have a weight"
    drawing.label(axis, title, "weight η" if shares.shape[1] == 1 else "mean weight η", "")
    return figure


def _draw_bars(axis: Axes, shares: Vector, classes: Any) -> None:
    """A bar for each kernel, made of parts where there are several classes."""
    left = np.zeros(len(shares))
    many = shares.shape[1] > 1
    for k, part in enumerate(shares.T):
        name = {"label": f"class {classes[k]}"} if many and classes is not None else {}
        style: dict[str, Any] = drawing.area_style(k) | name
        axis.barh(np.arange(len(shares)), part, left=left, height=0.7, **style)
        left += part
    if many and classes is not None:
        drawing.legend_beside(axis)


def _weights_of(model: Any) -> tuple[tuple[str, ...], Vector]:
    """Names, and weights of shape (n_kernels, n_classes), or (n_kernels, 1)."""
    check_is_fitted(model)
    weights = getattr(model, "kernel_weights_", None)
    if weights is None:
        raise ValueError(
            "model must have kernel weights, as CGBoostClassifier(penalty='group') has, got "
            f"{model!r}"
        )
    return tuple(weights), np.array([np.atleast_1d(w) for w in weights.values()], dtype=np.float64)
