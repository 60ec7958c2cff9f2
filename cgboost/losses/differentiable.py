"""Losses with a gradient, for stagewise and corrective boosting.

Each gives its value, the pseudo-response r = −∂loss/∂f, the Newton weights ∂²loss/∂f² (their
diagonal), the best constant, and the best step along a direction. Sample weights multiply the loss
of a row. Names are scikit-learn's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

NEWTON_STEPS = 100
"""Steps of a line search at most; Newton's method with bisection needs far fewer."""

FLAT = 1e-14
"""A slope this small beside the first one ends a line search."""

SLOW = 0.25
"""A Newton step that leaves more than this of the slope is followed by a bisection."""

LONGEST_DOUBLING = 60
"""A step that still goes down after so many doublings has no minimum."""


class DifferentiableLoss(ABC):
    """A convex loss of the output f on the training rows.

    Parameters
    ----------
    target : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
        Not negative.
    """

    n_outputs = 1
    attains_minimum = True
    """Whether a loss near 0 is near a minimum; otherwise only f without end makes it 0."""

    def __init__(self, target: Vector, weights: Vector) -> None:
        if np.shape(target) != np.shape(weights):
            raise ValueError(
                f"weights must have one entry a row: shape {np.shape(weights)} for "
                f"{np.shape(target)}"
            )
        self.target, self.weights = target, weights

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return len(self.weights)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of f and r: (n_rows,), or (n_rows, n_outputs) for several outputs."""
        return (self.n_rows,) if self.n_outputs == 1 else (self.n_rows, self.n_outputs)

    @abstractmethod
    def value(self, output: Vector) -> float:
        """Σ w_i loss_i(f_i)."""

    @abstractmethod
    def pseudo_response(self, output: Vector) -> Vector:
        """The negative gradient r = −∂loss/∂f, of the shape of f."""

    @abstractmethod
    def curvature(self, output: Vector) -> Vector:
        """The diagonal of ∂²loss/∂f², of the shape of f; 0 where the loss is piecewise linear."""

    @abstractmethod
    def constant(self) -> float | Vector:
        """The best constant output; shape (n_outputs,) where there are several."""

    def newton_step(self, output: Vector, direction: Vector) -> float:
        """r·h / h·Wh for the direction h and the Newton weights W; 0 where the latter is 0."""
        slope = float(np.vdot(self.pseudo_response(output), direction))
        bend = float(np.vdot(self.curvature(output), direction**2))
        return slope / bend if bend > 0 else 0.0

    def line_search(self, output: Vector, direction: Vector) -> float:
        """The c that minimises the loss of f + c·h, for the direction h.

        Newton's method on the derivative, kept inside a bracket that every evaluation narrows.

        Raises
        ------
        UnboundedStepError
            If the loss falls without end along h (a perfect classifier).
        """

        def slope(step: float) -> float:
            return float(np.vdot(self.pseudo_response(output + step * direction), direction))

        first = slope(0.0)
        if first == 0.0:
            return 0.0
        sign = float(np.sign(first))
        low, high = 0.0, self._beyond(slope, sign, first)
        step, before = sign * self.newton_step(output, direction), np.inf
        for _ in range(NEWTON_STEPS):
            if not low < step < high:
                step = 0.5 * (low + high)
            here = sign * slope(sign * step)
            if abs(here) <= FLAT * abs(first) or high - low <= np.spacing(high):
                break
            low, high = (step, high) if here > 0 else (low, step)
            bend = float(np.vdot(self.curvature(output + sign * step * direction), direction**2))
            slow = abs(here) > SLOW * before  # the diagonal may be far from the whole Hessian
            step = 0.5 * (low + high) if slow or bend <= 0 else step + here / bend
            before = abs(here)
        return sign * step

    def _beyond(self, slope: object, sign: float, first: float) -> float:
        """A step at which the loss no longer falls."""
        assert callable(slope)
        step = 1.0
        for _ in range(LONGEST_DOUBLING):
            here = sign * slope(sign * step)
            if here <= 0.0:
                return step
            step *= 2.0
        raise UnboundedStepError("the loss falls without end along this column")


class UnboundedStepError(ValueError):
    """A line search has no end: the column is right on every row that it says anything of."""
