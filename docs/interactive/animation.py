"""The moving picture: LPBoost in the plane, from the scene of the interactive page.

    python docs/interactive/animation.py

Columns arrive and the bound meets the objective. A picture of the last step stands next to it, for
readers who want no motion and for what shows no moving pictures.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.patches import Circle
from numpy.typing import NDArray
from PIL import Image

Vector = NDArray[np.float64]

FOLDER = Path(__file__).parent
NAME = "column_generation"
INCHES, DOTS = (7.6, 3.7), 100
BETWEEN = 3
"""Pictures of the model on its way from one round to the next, while much changes."""
MUCH = 0.01
"""Falls of the objective, relative to it, that are worth such pictures."""
SHARES = (1.0, 0.7, 0.4)
"""How strong colours are at the edges of what has them."""
SOFT = "#5b6472"
BANDS = [-1.6, -1.2, -0.8, -0.4, -0.1, 0.1, 0.4, 0.8, 1.2, 1.6]
"""Levels of the model's output between which the ground has one colour: flat pictures are small."""
COLORS = {"objective": "#c2410c", "bound": "#0f766e", "best": "#7c3aed", "text": "#1f2530"}
CLASSES = {1: "#2563eb", -1: "#d97706"}
GROUND = LinearSegmentedColormap.from_list("ground", ["#eebd86", "#ffffff", "#9db9f6"])
MILLISECONDS = {"solved": 550, "priced": 700, "between": 60, "last": 4000}


class Plane:
    """The model's output on a grid, for any weights of the columns."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.points = np.array(data["points"])
        self.gammas = np.repeat(data["gammas"], len(self.points))
        self.centres = np.tile(self.points, (len(data["gammas"]), 1))
        low, high = self.points.min(axis=0) - 0.35, self.points.max(axis=0) + 0.35
        self.extent = (low[0], high[0], low[1], high[1])
        self.x, self.y = np.meshgrid(
            np.linspace(low[0], high[0], 140), np.linspace(low[1], high[1], 95)
        )

    def output(self, coef: Vector) -> Vector:
        """Σ α_j exp(−γ_j‖x − c_j‖²) at every place of the grid."""
        total = np.zeros_like(self.x)
        for j in np.flatnonzero(coef):
            squares = (self.x - self.centres[j, 0]) ** 2 + (self.y - self.centres[j, 1]) ** 2
            total += coef[j] * np.exp(-self.gammas[j] * squares)
        return total


def draw_plane(
    axis: Axes, plane: Plane, scene: dict[str, Any], coef: Vector, duals: Vector, best: int | None
) -> None:
    """Points as large as their duals on the colours of the model; the column that enters."""
    values = plane.output(coef)
    axis.contourf(plane.x, plane.y, values, levels=BANDS, cmap=GROUND, extend="both")
    if coef.any():
        axis.contour(plane.x, plane.y, values, levels=[0], colors=COLORS["text"], linewidths=2.2)
    y = np.array(scene["target"])
    for label, mark in ((1, "o"), (-1, "s")):
        rows = y == label
        size = 9 + 42 * np.abs(duals[rows])
        axis.scatter(
            *plane.points[rows].T, s=size, c=CLASSES[label], marker=mark, ec="white", lw=0.7
        )
    if best is not None:
        reach = 1 / np.sqrt(2 * plane.gammas[best])
        look = {"ec": COLORS["best"], "lw": 2.0, "ls": (0, (4, 3))}
        axis.add_patch(Circle(plane.centres[best], reach, fc=COLORS["best"] + "22", **look))
        axis.scatter(*plane.centres[best], s=130, fc="none", ec=COLORS["best"], lw=2.4)
    axis.set(xlim=plane.extent[:2], ylim=plane.extent[2:], xticks=[], yticks=[])
    axis.spines[:].set_color("#d9dde3")


def draw_gap(axis: Axes, scene: dict[str, Any], place: int, priced: bool) -> None:
    """The objective falls, the bound rises."""
    rounds = scene["rounds"]
    upper = [one["objective"] for one in rounds[: place + 1]]
    lower = [one["bound"] for one in rounds[: place + priced]]
    axis.fill_between(range(len(lower)), lower, upper[: len(lower)], color="#e8ebef", lw=0)
    axis.plot(upper, "o-", color=COLORS["objective"], ms=4, lw=2)
    axis.plot(lower, "s-", color=COLORS["bound"], ms=3.8, lw=2)
    axis.set(
        xlim=(-0.6, len(rounds) - 0.4),
        ylim=(0, 64),
        xlabel="round",
        yticks=[0, 20, 40, 60],
        xticks=range(0, 16, 3),
    )
    axis.spines[["top", "right"]].set_visible(False)
    axis.spines[["left", "bottom"]].set_color("#aab2bd")
    axis.tick_params(color="#aab2bd", labelcolor=SOFT, labelsize=8.5)
    axis.xaxis.label.set(color=SOFT, size=9)
    look = {"transform": axis.transAxes, "ha": "right", "size": 11, "weight": "bold"}
    shown = [("objective", upper[-1:], "least over the columns so far", 0.95)]
    shown += [("bound", lower[-1:], "holds for all 120 columns", 0.77)]
    for name, values, meaning, height in shown:
        for value in values:
            axis.text(1, height, f"{name} {value:.2f}", color=COLORS[name], **look)
            axis.text(1, height - 0.07, meaning, color=SOFT, **(look | {"size": 8, "weight": None}))


def words(scene: dict[str, Any], place: int, priced: bool) -> str:
    """What happens, in a line."""
    now, count = scene["rounds"][place], scene["n_columns"]
    if not now["coef"] and not priced:
        return f"Round {place}: no column yet, and every point asks for a change"
    if not priced:
        return (
            f"Round {place}: solve with {len(now['coef'])} columns; large points ask for a change"
        )
    if place == len(scene["rounds"]) - 1:
        return f"Round {place}: none of {count} columns is worth more than it costs: proven optimal"
    worth = f"{abs(now['worth']):.2f}"
    return f"Round {place}: {count} columns priced; the best is worth {worth}, costs 1, enters"


def picture(
    plane: Plane, scene: dict[str, Any], place: int, *, priced: bool, coef: Vector, duals: Vector
) -> Image.Image:
    """One picture, on a white card with a thin frame, for light and dark pages."""
    figure = plt.figure(
        figsize=INCHES, dpi=DOTS, facecolor="white", edgecolor="#d9dde3", linewidth=2
    )
    last = priced and place == len(scene["rounds"]) - 1
    best = scene["rounds"][place]["best"] if priced and not last else None
    draw_plane(figure.add_axes((0.025, 0.045, 0.52, 0.80)), plane, scene, coef, duals, best)
    draw_gap(figure.add_axes((0.60, 0.145, 0.375, 0.70)), scene, place, priced)
    color = COLORS["best"] if last else COLORS["text"]
    text = words(scene, place, priced)
    figure.text(0.025, 0.90, text, size=11.5, weight="bold", color=color)
    with io.BytesIO() as file:
        figure.savefig(file, format="png")
        plt.close(figure)
        return Image.open(io.BytesIO(file.getvalue())).convert("RGB")


def pictures(scene: dict[str, Any]) -> Iterator[tuple[Image.Image, int]]:
    """All pictures, and how long each is shown in milliseconds."""
    plane, rounds = Plane(scene["data"]), scene["rounds"]
    states = []
    for one in rounds:
        coef = np.zeros(scene["n_columns"])
        for j, value in one["coef"]:
            coef[j] = value
        states.append((coef, np.array(one["duals"])))
    for place, (coef, duals) in enumerate(states):
        fall = rounds[place - 1]["objective"] / rounds[place]["objective"] - 1 if place else 0.0
        if fall > MUCH:
            for share in np.linspace(0, 1, BETWEEN + 2)[1:-1]:
                mixed = [
                    (1 - share) * a + share * b
                    for a, b in zip(states[place - 1], states[place], strict=True)
                ]
                moving = picture(plane, scene, place, priced=False, coef=mixed[0], duals=mixed[1])
                yield moving, MILLISECONDS["between"]
        yield (
            picture(plane, scene, place, priced=False, coef=coef, duals=duals),
            MILLISECONDS["solved"],
        )
        last = place == len(rounds) - 1
        shown = picture(plane, scene, place, priced=True, coef=coef, duals=duals)
        yield shown, MILLISECONDS["last" if last else "priced"]


def palette() -> Image.Image:
    """The colours of all pictures: those that are drawn, and their way to white at edges."""
    inks = [*COLORS.values(), *CLASSES.values(), SOFT, "#aab2bd"]
    mixed = [share * np.array(to_rgb(ink)) + 1 - share for ink in inks for share in SHARES]
    grounds = [GROUND(value)[:3] for value in np.linspace(0, 1, len(BANDS) + 1)]
    light = [to_rgb(ink) for ink in ("#ffffff", "#e8ebef", "#d9dde3", "#ece4fc")]
    holder = Image.new("P", (1, 1))
    holder.putpalette(
        (255 * np.array([*mixed, *grounds, *light])).round().astype(int).ravel().tolist()
    )
    return holder


def main() -> None:
    """Write the moving picture and the still one."""
    scene = json.loads((FOLDER / "scenes" / "lpboost.json").read_text(encoding="utf-8"))
    drawn, times = zip(*pictures(scene), strict=True)
    colours = palette()  # one for all, so that what stays is the same
    images = [image.quantize(palette=colours, dither=Image.Dither.NONE) for image in drawn]
    target = FOLDER / f"{NAME}.webp"
    look: dict[str, Any] = {"lossless": True, "quality": 100, "method": 4}
    first, *others = [image.convert("RGB") for image in images]
    first.save(target, save_all=True, append_images=others, duration=list(times), loop=0, **look)
    images[-1].save(FOLDER / f"{NAME}.png", optimize=True)
    for path in (target, FOLDER / f"{NAME}.png"):
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
