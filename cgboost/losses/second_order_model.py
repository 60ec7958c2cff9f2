"""A loss along a few directions: its value, gradient and Hessian, as sums over rows.

    L(f + b + Σ_k c_k h_k)     over (b, c_1, …, c_m)

That is all that a master needs of the rows when it chooses few coefficients at a time. The
protocols say so: wherever the rows are, they can be asked for these sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


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


class LossSums(Protocol):
    """A loss that is known by sums over the rows, whatever number of outputs it has."""

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


class Ranges(Protocol):
    """Ranges of the columns of an output."""

    @property
    def extremes(self) -> Sequence[tuple[float, float]]:
        """The least and the largest value of every column, over the rows that count."""
        ...


class RowSums(LossSums, Ranges, Protocol):
    """A loss with one output, along columns that are where its rows are."""

    def quadratic(self, coef: Vector, intercept: float, last: int) -> Quadratic:
        """The loss at f = intercept + Σ coef·h, by the intercept and the last coefficients.

        Parameters
        ----------
        coef : ndarray of shape (n_coefficients,)
            Of the first columns.
        intercept : float
        last : int
            Number of the last coefficients that the gradient and the Hessian have.
        """
        ...

    def move(self, coef: Vector, intercept: float) -> tuple[Vector, Vector]:
        """The output is f = intercept + Σ coef·h from now on.

        Returns
        -------
        output, pseudo_response : ndarray of shape (n_rows,)
            f, and −∂L/∂f on the training rows; of shape (0,) where the rows are elsewhere.
        """
        ...


@runtime_checkable
class JointSums(LossSums, Protocol):
    """A loss of several outputs, along columns of each of them."""

    @property
    def parts(self) -> Sequence[Ranges]:
        """Of each output."""
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
        output, pseudo_response : ndarray of shape (n_rows, n_outputs)
            Of shape (0,) where the rows are elsewhere.
        """
        ...
