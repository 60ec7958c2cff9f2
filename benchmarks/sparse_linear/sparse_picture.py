"""Picture of the 54 settings: our time against that of every peer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sparse_page import PEERS, Group, bound_of, fastest, suboptimality, whole_settings
from sparse_solvers import OURS
from sparse_tasks import SIZES

from cgboost.inspection import drawing

MARKERS = "osD^"
RATIOS = (1, 10, 100)
RANGE = np.array([1e-3, 1e2])
EXACT_ENOUGH = 1e-5
"""Relative suboptimality up to which a point is filled."""


def draw(group: Group, path: Path) -> None:
    """A panel for each size, a point for each setting and peer that ended."""
    canvas = Figure(figsize=(10.0, 4.2), dpi=110, layout="constrained")
    panels = canvas.subplots(1, len(SIZES), sharey=True)
    for axis, (n, p) in zip(panels, SIZES, strict=True):
        size = f"{n} × {p}"
        for ratio in RATIOS:
            axis.plot(RANGE, ratio * RANGE, color="#bbbbbb", linewidth=0.8, zorder=0)
            axis.text(
                RANGE[0] * 1.3, ratio * RANGE[0] * 1.5, f"{ratio} ×", color="#777777", fontsize=8
            )
        for k, peer in enumerate(PEERS):
            draw_peer(axis, group, size, peer, k)
        axis.set(xscale="log", yscale="log", xlim=RANGE * [1.0, 0.05], ylim=RANGE * [1.0, 1.0])
        drawing.label(axis, size, "cgboost, CPU s", "the other, CPU s" if axis is panels[0] else "")
    handles, labels = panels[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=len(PEERS), frameon=False)
    canvas.savefig(path)


def draw_peer(axis: Axes, group: Group, size: str, peer: str, k: int) -> None:
    """Filled where its objective is exact to 1e-5, else hollow."""
    points: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for cells, runs in whole_settings(group):
        run = fastest(runs, PEERS[peer])
        if cells[0] != size or OURS not in runs or run is None or not run.solved:
            continue
        exact = suboptimality(run, bound_of(runs)) <= EXACT_ENOUGH
        points[exact].append((runs[OURS].seconds, run.seconds))
    colour = drawing.colour(k)
    for exact, places in points.items():
        x, y = np.array(places).reshape(-1, 2).T
        face = colour if exact else "none"
        axis.scatter(
            x,
            y,
            s=22,
            marker=MARKERS[k],
            facecolors=face,
            edgecolors=colour,
            linewidths=1.0,
            label=peer if exact else None,
        )
