"""A loss along a few directions: its value, gradient and Hessian, as sums over rows.

    L(f + b + Σ_k c_k h_k)     over (b, c_1, …, c_m)

That is all that a master needs of the rows when it chooses few coefficients at a time. The
protocol says so: wherever the rows are, they can be asked for these sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cgboost.arrays import Vector


@dataclass(frozen=True)
class Quadratic:
    """The second-order model of a loss at a point.

    Attributes
    ----------
    value : float
        Loss of the training rows.
    gradient : ndarray of shape (1 + m,)
        By the constant and the coefficients.
    hessian : ndarray of shape (1 + m, 1 + m)
        Of a loss that is straight at all rows, Σ w hhᵀ.
    holdout : float
        Loss of the rows held out.
    """

    value: float
    gradient: Vector
    hessian: Vector
    holdout: float = 0.0

    def merged(self, other: Quadratic) -> Quadratic:
        """Of the rows of both."""
        return Quadratic(
            self.value + other.value,
            self.gradient + other.gradient,
            self.hessian + other.hessian,
            self.holdout + other.holdout,
        )

    def along(self, basis: Vector) -> Quadratic:
        """By other variables v, of which those here are ``basis @ v``."""
        return Quadratic(
            self.value, basis.T @ self.gradient, basis.T @ self.hessian @ basis, self.holdout
        )

    def damped(self, share: float) -> Quadratic:
        """With a share of its diagonal added to the Hessian: where that is singular, definite."""
        hessian = self.hessian + share * np.diag(np.diag(self.hessian))
        return Quadratic(self.value, self.gradient, hessian, self.holdout)


class Ranges(Protocol):
    """Ranges of the columns of an output."""

    @property
    def extremes(self) -> Sequence[tuple[float, float]]:
        """The least and the largest value of every column, over the rows that count."""
        ...


class LossSums(Protocol):
    """A loss of one or several outputs, along columns of each that are where its rows are."""

    @property
    def parts(self) -> Sequence[Ranges]:
        """Of each output."""
        ...

    @property
    def weight(self) -> float:
        """Σ w of the training rows."""
        ...

    @property
    def holdout_weight(self) -> float:
        """Σ w of the rows held out."""
        ...

    @property
    def attains_minimum(self) -> bool:
        """Whether a loss near 0 is near a minimum; otherwise only f without end makes it 0."""
        ...

    @property
    def is_smooth(self) -> bool:
        """Whether the loss has a curvature."""
        ...

    def quadratic(
        self, coefs: Sequence[Vector], intercepts: Vector, last: Sequence[int]
    ) -> Quadratic:
        """The loss at f_k = intercept_k + Σ coef·h.

        Parameters
        ----------
        coefs : sequence of ndarray
            Of the first columns of each output.
        intercepts : ndarray of shape (n_outputs,)
        last : sequence of int
            For each output the number of its last coefficients that the gradient and the Hessian
            have: after the intercepts of all outputs those of the first output, of the second, ….
        """
        ...

    def move(self, coefs: Sequence[Vector], intercepts: Vector) -> tuple[Vector, Vector]:
        """The outputs are f_k = intercept_k + Σ coef·h from now on.

        Returns
        -------
        output, pseudo_response : ndarray of shape (n_rows,) or (n_rows, n_outputs)
            f, and −∂L/∂f on the training rows; of shape (0,) where the rows are elsewhere.
        """
        ...
