"""Twice differentiable losses: Moreau–Yosida smoothing of those with kinks.

A loss given by the box of its pseudo-responses r, of width c_i a row, becomes

    L_h(f) = Σ_i  max over lower ≤ r ≤ upper of  r (t_i − f_i) − ε|r| − ½ (q_i + h/c_i) r²,

which lies at most ½ h c_i below the loss in every row (Nesterov, Math. Program. 103, 2005): of the
hinge the Huberised hinge, quadratic over a width h next to the kink. Losses that have a quadratic
term q > 0, and those with two derivatives, stay as they are.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.exceptions import UnsupportedLossError
from cgboost.losses import SupportVectorLoss
from cgboost.losses.loss import WeightedLoss
from cgboost.tolerances import SMALLEST

SMOOTHING_WIDTH = 0.5
"""Smoothing width h relative to the spread of the targets. On MNIST odd/even test errors with
widths from 0.1 to 1 differ by less than their spread over splits, and Newton steps are few."""


class CurvedLoss(Protocol):
    """What optimal coefficients ask of a loss on the training rows."""

    n_rows: int

    def value(self, output: Vector) -> float:
        """L(f)."""

    def pseudo_response(self, output: Vector) -> Vector:
        """R = −∂L/∂f, shape (n_rows,)."""

    def curvature(self, output: Vector, *, majorised: bool = False) -> Vector:
        """∂²L/∂f_i²; majorised, of a parabola through L(f) that is nowhere below L."""

    def on_part(self, rows: Indices) -> CurvedLoss:
        """The loss of some rows, at prices that make up for those left out."""


class SmoothedBox:
    """The smoothed loss of a box of pseudo-responses.

    Parameters
    ----------
    loss : SupportVectorLoss
        Without a mass.
    width : float
        H, in the units of the output.
    """

    def __init__(self, loss: SupportVectorLoss, width: float) -> None:
        self.loss, self.width, self.n_rows = loss, width, loss.n_rows
        costs = np.maximum(np.abs(loss.lower), np.abs(loss.upper))
        quadratic = np.zeros(self.n_rows) if loss.curvature is None else loss.curvature
        kinked = (quadratic == 0) & np.isfinite(costs)
        self._quadratic = quadratic + np.where(kinked, width / np.maximum(costs, SMALLEST), 0.0)

    def value(self, output: Vector) -> float:
        """L_h(f)."""
        distance = self.loss.target - output
        r = self._response(distance)
        gain = r * distance - self.loss.epsilon * np.abs(r) - 0.5 * self._quadratic * r**2
        return float(gain.sum())

    def pseudo_response(self, output: Vector) -> Vector:
        """The maximising r: soft(t − f, ε)/(q + h/c) inside its box."""
        return self._response(self.loss.target - output)

    def curvature(self, output: Vector, *, majorised: bool = False) -> Vector:
        """1/(q + h/c) where r is inside its box; majorised r/(t − f) where it is at its ends.

        A parabola of that curvature, with its vertex where errors become free, lies above the loss
        (iteratively reweighted least squares): a step to the minimum of all of them goes down.
        """
        distance = self.loss.target - output
        over = np.maximum(np.abs(distance) - self.loss.epsilon, 0.0)
        r = self._response(distance)
        inside = (self.loss.lower < r) & (r < self.loss.upper) & (over > 0)
        bent = np.where(inside, 1.0 / self._quadratic, 0.0)
        if not majorised:
            return bent
        return np.where(inside | (r == 0), bent, np.abs(r) / np.maximum(over, SMALLEST))

    def on_part(self, rows: Indices) -> SmoothedBox:
        """The loss of some rows, smoothed over the same width."""
        return SmoothedBox(self.loss.on_part(rows), self.width)

    def _response(self, distance: Vector) -> Vector:
        soft = np.sign(distance) * np.maximum(np.abs(distance) - self.loss.epsilon, 0.0)
        return np.clip(soft / self._quadratic, self.loss.lower, self.loss.upper)


class TwiceDifferentiable:
    """A loss that is smooth enough as it is."""

    def __init__(self, loss: object) -> None:
        self.loss: Any = getattr(loss, "on_rows", loss)
        self.n_rows: int = self.loss.n_rows

    def value(self, output: Vector) -> float:
        """L(f)."""
        with np.errstate(over="ignore"):  # a step too far costs inf, and is taken back
            return float(self.loss.value(output))

    def pseudo_response(self, output: Vector) -> Vector:
        """R = −∂L/∂f."""
        r: Vector = self.loss.pseudo_response(output)
        return r

    def curvature(self, output: Vector, *, majorised: bool = False) -> Vector:
        """∂²L/∂f_i²; majorised, the largest of all rows in every row."""
        own: Vector = self.loss.curvature(output)
        if majorised:
            return np.full(len(own), float(own.max(initial=0.0)) or 1.0)
        return own

    def on_part(self, rows: Indices) -> TwiceDifferentiable:
        """The loss of some rows, for a loss with weights of rows."""
        own = self.loss
        if not isinstance(own, WeightedLoss):
            raise UnsupportedLossError(f"{own!r} has no weights of rows to be cut")
        share = len(rows) / own.n_rows
        return TwiceDifferentiable(own.loss.on(own.target[rows], own.weights[rows] / share))


def smoothed(loss: object, width: float | None = None) -> CurvedLoss:
    """A loss as optimal coefficients ask for it.

    Parameters
    ----------
    loss : SupportVectorLoss, or a smooth loss on its rows
    width : float, optional
        Of the smoothing, in the units of the output; by default half the spread of the targets.

    Raises
    ------
    UnsupportedLossError
        For a loss that chooses its own margin or tube.
    """
    if not isinstance(loss, SupportVectorLoss):
        return TwiceDifferentiable(loss)
    if loss.mass is not None:
        raise UnsupportedLossError(
            "a loss that chooses its own margin or tube is smoothed at a level: loss.at_level(…)"
        )
    cost = np.minimum(np.maximum(np.abs(loss.lower), np.abs(loss.upper)), 1.0 / SMALLEST)
    return SmoothedBox(
        loss, SMOOTHING_WIDTH * _spread(loss.target, cost) if width is None else width
    )


def _spread(target: Vector, cost: Vector) -> float:
    """Standard deviation of the targets, by their cost; 1 where all are equal."""
    weights = cost / max(float(cost.max(initial=0.0)), SMALLEST)
    total = float(weights.sum())
    if not total > 0:
        return 1.0
    mean = float(weights @ target) / total
    return float(np.sqrt(weights @ (target - mean) ** 2 / total)) or 1.0
