"""Pictures of the importance of each feature (estimators/boosting/tree_importances.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cgboost.inspection import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Vector = NDArray[np.float64]


class WithImportances(Protocol):
    """What the picture needs."""

    @property
    def feature_importances_(self) -> Vector:
        """Share of each feature."""


def plot_importance(
    model: WithImportances, *, top: int = 20, per_class: bool = False, axes: Axes | None = None
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
    axes : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If ``top`` is less than 1, the model has no ``feature_importances_``, or ``per_class`` is
        set for a model without ``class_importances_``.
    """
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top!r}")
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
    figure, axis = drawing.panel(axes)
    left = np.zeros(len(order))
    for k, (name, part) in enumerate(_parts(model, overall, per_class)):
        width = 100.0 * part[order]
        axis.barh(range(len(order)), width, left=left, label=name, **drawing.area_style(k))
        left += width
    names = getattr(model, "feature_names_in_", np.arange(len(overall)))
    axis.set_yticks(range(len(order)), [drawing.named(names[j]) for j in order])
    axis.invert_yaxis()
    drawing.label(axis, "Variable importance", "share of the total, %", "feature")
    if per_class:
        drawing.legend_beside(axis)
    return figure


def _parts(model: Any, overall: Vector, per_class: bool) -> list[tuple[str, Vector]]:
    """Name and share of each part of the bars."""
    if not per_class:
        return [("all", overall)]
    if not hasattr(model, "class_importances_"):
        raise ValueError(f"per_class=True needs a model with classes, got {type(model).__name__}")
    squared = model.class_importances_**2
    parts = squared / (squared.sum() or 1.0)
    return [(f"class {label}", part) for label, part in zip(model.classes_, parts, strict=True)]
