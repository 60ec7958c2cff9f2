"""The pictures of docs/methods/adaboost.md and docs/methods/classical_boosters.md.

Run as ``python examples/stagewise_pictures.py [folder]``; the folder is docs/methods unless named.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.datasets import make_moons

from cgboost import AdaBoostClassifier, AnyBoostRegressor


def boundary(axes: Axes, n_estimators: int) -> None:
    """Rows as large as AdaBoost weights them, over the probability of the second class."""
    X, y = make_moons(200, noise=0.25, random_state=0)
    model = AdaBoostClassifier(n_estimators=n_estimators).fit(X, y)
    weights = np.exp(-np.where(y == 1, 1, -1) * model.decision_function(X))
    across, up = np.meshgrid(np.linspace(-1.8, 2.8, 300), np.linspace(-1.4, 1.8, 300))
    grid = np.column_stack([across.ravel(), up.ravel()])
    shares = model.predict_proba(grid)[:, 1].reshape(across.shape)
    axes.contourf(across, up, shares, levels=np.linspace(0, 1, 11), cmap="coolwarm", alpha=0.5)
    sizes = 12 * weights / weights.mean()
    axes.scatter(*X.T, c=y, s=sizes, cmap="coolwarm", edgecolors="black", linewidths=0.4)
    axes.set(title=f"round {n_estimators}", xticks=[], yticks=[])


def losses(axes: Axes) -> None:
    """A curve with outliers, fitted for squared and for absolute error."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-2, 2, size=150))
    y = np.sin(2 * x) + 0.1 * rng.normal(size=150)
    y[::15] += 6.0
    axes.plot(x, y, ".", color="grey", label="rows")
    for loss in ("squared_error", "absolute_error"):
        model = AnyBoostRegressor(loss=loss, learning_rate=0.3, n_estimators=40, random_state=0)
        axes.step(x, model.fit(x[:, None], y).predict(x[:, None]), label=loss)
    axes.plot(x, np.sin(2 * x), "--", color="black", label="sin 2x")
    axes.set(xlabel="x", ylabel="y")


def main(folder: Path) -> None:
    """Draw both pictures."""
    figure, panels = plt.subplots(1, 3, figsize=(9, 2.8), layout="constrained")
    for axes, n_estimators in zip(panels, (1, 10, 100), strict=True):
        boundary(axes, n_estimators)
    figure.savefig(folder / "adaboost.png", dpi=80)
    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    losses(axes)
    figure.legend(loc="outside upper center", ncols=4)
    figure.savefig(folder / "anyboost.png", dpi=80)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/methods"))
