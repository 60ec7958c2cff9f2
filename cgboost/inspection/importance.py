"""Pictures of what features and kernels are worth: bars of importances and of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.inspection import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cgboost.proofs.certificate import Certificate


REST = "#bbbbbb"
"""Colour of the bar that stands for many kernels or features: none that stands for a class."""

NOTHING_TO_SEE = 1e-9
"""Below this gap its parts are rounding."""

SHORTEST_BAR = 2e-3
"""A bar of a smaller share of the gap cannot be seen."""


@drawing.on_ax
def plot_importance(
    model: Any, *, top: int = 20, per_class: bool = False, ax: Axes | None = None
) -> Figure:
    """Draw the importances of the most important features, in per cent.

    Parameters
    ----------
    model : fitted estimator
        With ``feature_importances_``; names are its ``feature_names_in_``, or indices.
    top : int, default=20
        Maximum number of features; features with importance 0 are left out.
    per_class : bool, default=False
        Divide the bars by class: feature l and class k have I²_lk / (K·Σ_l I²_l).
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If ``top`` is less than 1, the model has no ``feature_importances_``, or ``per_class`` is
        set for a model without ``class_importances_``.
    """
    drawing.check_top(top)
    known = hasattr(type(model), "feature_importances_")  # perhaps not fitted: that error comes
    if not known and not hasattr(model, "feature_importances_"):
        linear = hasattr(model, "coef_")
        other = "; its coef_ has a number for each feature" if linear else ""
        raise ValueError(
            f"plot_importance needs feature_importances_, which {type(model).__name__} does not "
            f"have{other}; sklearn.inspection.permutation_importance suits every model"
        )
    overall = np.asarray(model.feature_importances_)
    order = np.argsort(-overall, kind="stable")[: min(top, int(np.count_nonzero(overall)))]
    parts = [(name, 100.0 * part[order]) for name, part in _parts(model, overall, per_class)]
    figure, axis = drawing.panel(ax)
    drawing.bars(axis, parts, 0.8)
    names = getattr(model, "feature_names_in_", np.arange(len(overall)))
    axis.set_yticks(range(len(order)), [drawing.named(names[j]) for j in order])
    axis.invert_yaxis()
    drawing.label(axis, "Variable importance", "share of the total, %", "feature")
    return figure


def _parts(model: Any, overall: Vector, per_class: bool) -> list[tuple[str | None, Vector]]:
    """Name and share of each part of the bars."""
    if not per_class:
        return [(None, overall)]
    if not hasattr(model, "class_importances_"):
        raise ValueError(f"per_class=True needs a model with classes, got {type(model).__name__}")
    squared = model.class_importances_**2
    parts = squared / (squared.sum() or 1.0)
    return [(f"class {label}", part) for label, part in zip(model.classes_, parts, strict=True)]


@drawing.on_ax
def plot_kernel_weights(model: Any, *, top: int = 20, ax: Axes | None = None) -> Figure:
    """Draw the weights η of the kernels of a model as bars, the largest on top.

    The model is f = Σ_p η_p K_p r + b, η ≥ 0: a support vector machine with the kernel Σ_p η_p K_p.
    A kernel that helps no more than the others has η_p = 0.

    With several classes, a bar is the mean over the classes, divided into parts by class. Kernels
    with weight 0 are counted in the title; beyond ``top``, one bar has the total weight of the
    rest.

    Parameters
    ----------
    model : fitted kernel estimator
        With ``kernel_weights_``, that is, with ``penalty="group"``.
    top : int, default=20
        Maximum number of kernels with a separate bar.
    ax : matplotlib Axes, optional

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
    drawing.check_top(top)
    names, weights = _weights_of(model)
    shares = weights / weights.shape[1]
    totals = shares.sum(axis=1)
    order = np.argsort(-totals, kind="stable")[: int(np.sum(totals > 0))]
    shown, rest = order[:top], order[top:]
    figure, axis = drawing.panel(ax, bars=len(shown) + bool(len(rest)))
    classes = getattr(model, "classes_", None) if shares.shape[1] > 1 else None
    labels_of = [None] * shares.shape[1] if classes is None else [f"class {c}" for c in classes]
    drawing.bars(axis, zip(labels_of, shares[shown].T, strict=True), 0.7)
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


@drawing.on_ax
def plot_violations(certificate: Certificate, *, top: int = 20, ax: Axes | None = None) -> Figure:
    """Draw where a model falls short of its optimum: the parts of the gap by feature, as bars.

    Bars that could not be seen are left out: those of less than 0.2 %, and all where the gap is
    below 1e-9 and its parts are rounding.

    Parameters
    ----------
    certificate : Certificate
        Of :func:`cgboost.certify`.
    top : int, default=20
        Maximum number of features. One bar has the sum of the others, smaller ones too, and the
        last bar is what rows contribute, with the number of the worst.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If ``top`` is less than 1.
    """
    drawing.check_top(top)
    nothing = certificate.gap < NOTHING_TO_SEE
    bars = [] if nothing else _bars_of_gap(certificate, top)
    figure, axis = drawing.panel(ax, bars=max(len(bars), 1))
    drawing.bars(axis, [(None, 100.0 * np.array([share for _, share in bars]))], 0.8)
    axis.set_yticks(range(len(bars)), [name for name, _ in bars])
    axis.invert_yaxis()
    axis.set_xlim(0.0, None if bars else 100.0)
    told = f"at most {certificate.gap:.2g} (relative) above the optimum"
    if nothing:
        told = f"nothing to see, the gap is below {NOTHING_TO_SEE:g}"
    drawing.label(axis, f"{certificate.model}: {told}", "share of the gap, %", "feature")
    return figure


def _bars_of_gap(certificate: Certificate, top: int) -> list[tuple[str, float]]:
    """Labels of the bars, and their shares of the gap."""
    whole = float(certificate.of_features.sum() + certificate.of_rows.sum()) or 1.0
    features, rows = certificate.of_features / whole, certificate.of_rows / whole
    order = np.argsort(-features, kind="stable")[: int(np.count_nonzero(features))]
    n_shown = min(top, int(np.sum(features >= SHORTEST_BAR)))
    shown, rest = order[:n_shown], order[n_shown:]
    bars = [(drawing.named(certificate.names[j]), float(features[j])) for j in shown]
    others = f"{len(rest)} other feature{'s' if len(rest) > 1 else ''}"
    bars.append((others, float(features[rest].sum())))
    bars.append((f"{len(rows)} rows, most: row {rows.argmax()}", float(rows.sum())))
    return [(name, share) for name, share in bars if share >= SHORTEST_BAR]


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
