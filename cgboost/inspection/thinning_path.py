"""Picture of a thinning path: the score of each size, compared with that of the whole ensemble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cgboost.inspection import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Vector = NDArray[np.float64]


class SizePath(Protocol):
    """What the picture asks of a ``ThinningPath``."""

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Numbers of members."""
        ...

    @property
    def models(self) -> list[Any]:
        """Fitted, with their ``gap_`` and ``n_members_``."""
        ...

    @property
    def scores(self) -> Vector:
        """Of the models; nan where there are only training rows."""
        ...

    @property
    def score_name(self) -> str:
        """What the scores are called."""
        ...

    @property
    def n_members_in(self) -> int:
        """Members of the whole ensemble."""
        ...

    @property
    def whole_score(self) -> float:
        """The score of the whole ensemble; nan without an ``eval_set``."""
        ...


def draw_sizes(path: SizePath, ax: Axes | None) -> Figure:
    """Scores against the numbers of members, on a logarithmic scale.

    Raises
    ------
    ValueError
        If the path has no scores.
    """
    if np.isnan(path.scores).all():
        raise ValueError("the path has no scores to draw: give path() an eval_set")
    figure, axis = drawing.panel(ax)
    if ax is None:
        figure.set_size_inches(7.0, 4.0)
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
