"""The history as a small drawing: inline SVG, no script, readable on any background."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.inspection.drawing import LOG_FROM
from cgboost.inspection.report.facts import SCORES, Table, runs_of
from cgboost.inspection.report.markup import escaped

Vector = NDArray[np.float64]

WIDTH, HEIGHT, EDGE = 220.0, 48.0, 4.0
MOST_POINTS = 200

INK = "currentColor"
SCORE_INK = "#D55E00"
"""Dark enough for white paper and light enough for a black one."""


@dataclass(frozen=True)
class Curve:
    """One line of a drawing.

    Attributes
    ----------
    values : ndarray of shape (n_points,)
        Those that are not finite are left out.
    ink : str
    dashed : bool
    ringed : int or None
        The point that makes the model.
    """

    values: Vector
    ink: str = INK
    dashed: bool = False
    ringed: int | None = None


def sparklines(history: Table, kept: Sequence[int]) -> list[tuple[str, str]]:
    """Drawings of a history, each with its caption.

    Parameters
    ----------
    history : mapping of str to ndarray
        As models keep it: one entry a round, of one run or of one for each ``class``.
    kept : sequence of int
        For each run the round that makes the model.

    Returns
    -------
    list of (caption, SVG)
        Objective and bound; then each score on held-out rows.
    """
    runs = runs_of(history)
    curves = [Curve(_numbers(run["objective"])) for run in runs]
    caption = "objective by round"
    bounds = [np.fmax.accumulate(_numbers(run["bound"])) for run in runs if "bound" in run]
    if any(np.isfinite(bound).any() for bound in bounds):
        curves += [Curve(bound, dashed=True) for bound in bounds]
        caption = "objective and (dashed) bound by round"
    drawings = [(caption, sparkline(curves, caption))]
    for name in history:
        if name.startswith(SCORES) and np.isfinite(_numbers(history[name])).any():
            words = f"{name.replace('_', ' ')} by round"
            scores = [
                Curve(_numbers(run[name]), ink=SCORE_INK, ringed=place)
                for run, place in zip(runs, kept, strict=True)
            ]
            drawings.append((words, sparkline(scores, words)))
    return drawings


def sparkline(curves: Sequence[Curve], title: str) -> str:
    """Curves over a common scale, logarithmic where they span more than two decades.

    The scale is that of the undashed curves; what lies far below them leaves the drawing.
    """
    scale = _Scale.of(curves)
    thin = len(curves) > 2
    parts = [_drawn(curve, scale, 1.0 if thin else 1.6) for curve in curves]
    return (
        f'<svg role="img" aria-label="{escaped(title)}" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
        f'width="{WIDTH:g}" height="{HEIGHT:g}" fill="none">{"".join(parts)}</svg>'
    )


@dataclass(frozen=True)
class _Scale:
    """Where numbers stand."""

    last: int
    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, curves: Sequence[Curve]) -> _Scale:
        main = np.concatenate([curve.values for curve in curves if not curve.dashed])
        main = main[np.isfinite(main)]
        if not len(main):
            main = np.zeros(1)
        low, high = float(main.min()), float(main.max())
        log = low > 0 and high > LOG_FROM * low
        others = np.concatenate([curve.values for curve in curves])
        with np.errstate(invalid="ignore"):
            floor = low / LOG_FROM if log else 2 * low - high
            near = others[np.isfinite(others) & (others >= floor) & (others <= high)]
        low = float(near.min()) if len(near) else low
        last = max(len(curve.values) for curve in curves) - 1
        return cls(
            max(1, last), math.log(low) if log else low, math.log(high) if log else high, log
        )

    def x(self, number: int) -> float:
        return EDGE + (WIDTH - 2 * EDGE) * number / self.last

    def y(self, value: float) -> float | None:
        """None for what is out of sight."""
        if not math.isfinite(value) or (self.log and value <= 0):
            return None
        size = self.high - self.low
        share = ((math.log(value) if self.log else value) - self.low) / size if size else 0.5
        if not -1e-9 <= share <= 1 + 1e-9:
            return None
        return HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * share


def _drawn(curve: Curve, scale: _Scale, width: float) -> str:
    count = len(curve.values)
    numbers = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).astype(int)).tolist()
    points = [
        f"{scale.x(number):.1f},{y:.1f}"
        for number in numbers
        if (y := scale.y(float(curve.values[number]))) is not None
    ]
    style = f'stroke="{curve.ink}" stroke-width="{width:g}" stroke-linejoin="round"'
    dashes = ' stroke-dasharray="4 3" opacity="0.7"' if curve.dashed else ""
    drawn = f'<polyline points="{" ".join(points)}" {style}{dashes}/>' if points else ""
    if curve.ringed is not None and curve.ringed < count:
        y = scale.y(float(curve.values[curve.ringed]))
        if y is not None:
            place = f'cx="{scale.x(curve.ringed):.1f}" cy="{y:.1f}" r="3"'
            drawn += f'<circle {place} stroke="{curve.ink}" stroke-width="1.6"/>'
    return drawn


def _numbers(values: Any) -> Vector:
    return np.asarray(values, dtype=np.float64)
