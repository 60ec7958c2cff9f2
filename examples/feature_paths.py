"""Pictures of L2-Boosting and of the orthogonal greedy algorithm, for their pages in docs/.

    python examples/feature_paths.py [FOLDER]

Writes l2boost.png and orthogonal_greedy.png.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cgboost import L2BoostRegressor, OrthogonalGreedyRegressor

N_TRUE = 5


def data() -> tuple[np.ndarray, np.ndarray]:
    """200 rows, 1000 features, of which the first five matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1000))
    return X, X[:, :N_TRUE] @ [3.0, -2.5, 2.0, -1.5, 1.0] + rng.normal(size=200)


def draw(
    title: str, path: np.ndarray, criteria: dict[str, tuple[np.ndarray, int]], colours: list[str]
) -> Figure:
    """Coefficients after every step, and criteria below with what they choose."""
    figure = Figure(figsize=(7, 5.6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    for j in np.flatnonzero(path.any(axis=1)):
        style = {"color": f"C{j}", "lw": 1.8} if j < N_TRUE else {"color": "0.75", "lw": 0.7}
        upper.plot(path[j], zorder=3 if j < N_TRUE else 2, **style)
    for colour, (name, (values, best)) in zip(colours, criteria.items(), strict=True):
        shown = np.isfinite(values)
        scaled = (values - values[shown].min()) / np.ptp(values[shown])
        lower.plot(np.arange(1, len(values) + 1)[shown], scaled[shown], color=colour, label=name)
        lower.plot(best, scaled[best - 1], "o", color=colour)
        for axis in (upper, lower):
            axis.axvline(best, color=colour, ls=":", lw=1.2)
    label(upper, title, "coefficient")
    label(lower, "", "criterion, from 0 to 1")
    lower.set_xlabel("step")
    lower.legend(frameon=False)
    return figure


def label(axis: Axes, title: str, name: str) -> None:
    """Title and name of an axis, without the box around it."""
    axis.set_title(title, loc="left", fontsize=10)
    axis.set_ylabel(name)
    axis.spines[["top", "right"]].set_visible(False)


def main() -> None:
    """Draw both pictures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    X, y = data()
    whole = L2BoostRegressor(n_estimators=250).fit(X, y)
    chosen = {
        name: L2BoostRegressor(n_estimators=250, criterion=name).fit(X, y)
        for name in ("hdbic", "cv")
    }
    figure = draw(
        "L2-Boosting, learning rate 0.1: true features in colour, the others grey",
        whole.coef_path_,
        {name.upper(): (model.criterion_, model.n_iter_) for name, model in chosen.items()},
        ["black", "tab:brown"],
    )
    figure.savefig(folder / "l2boost.png", dpi=90)
    whole = OrthogonalGreedyRegressor(criterion=None).fit(X, y)
    model = OrthogonalGreedyRegressor().fit(X, y)
    figure = draw(
        "OGA: true features in colour, the others grey",
        whole.coef_path_,
        {"HDBIC": (model.criterion_, model.n_iter_)},
        ["black"],
    )
    figure.savefig(folder / "orthogonal_greedy.png", dpi=90)


if __name__ == "__main__":
    main()
