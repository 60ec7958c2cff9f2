"""Differentiable losses of the margins y_i f_i, for labels y of ±1, and of K class scores.

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax

from cgboost.losses.checks import check_labels
from cgboost.losses.differentiable import DifferentiableLoss, UnboundedStepError

Vector = NDArray[np.float64]

SMALLEST_SHARE = 1e-6
"""Share that a class without weight is given."""

LARGEST_EXPONENT = 600.0
"""Exponents are cut here: sums of such numbers and their squares' roots stay finite."""


class _MarginLoss(DifferentiableLoss):
    attains_minimum = False

    def __init__(self, target: Vector, weights: Vector) -> None:
        check_labels(target)
        super().__init__(target, weights)

    def constant(self) -> float:
        """½ log of the odds of y = 1; 0 where a class has no weight."""
        positive = float(self.weights[self.target > 0].sum())
        negative = float(self.weights[self.target < 0].sum())
        return 0.5 * math.log(positive / negative) if positive > 0 and negative > 0 else 0.0


class Exponential(_MarginLoss):
    """Σ w_i exp(−y_i f_i), the loss of AdaBoost; |r_i| are its weights of the rows."""

    def value(self, output: Vector) -> float:
        """Σ w_i exp(−y_i f_i)."""
        return float(self.curvature(output).sum())

    def pseudo_response(self, output: Vector) -> Vector:
        """w_i y_i exp(−y_i f_i)."""
        return self.target * self.curvature(output)

    def curvature(self, output: Vector) -> Vector:
        """w_i exp(−y_i f_i)."""
        exponent = np.clip(-self.target * output, -LARGEST_EXPONENT, LARGEST_EXPONENT)
        return self.weights * np.exp(exponent)

    def line_search(self, output: Vector, direction: Vector) -> float:
        """In closed form for a column with one margin a where right and one −b where wrong.

        The step is log(a·right/(b·wrong))/(a + b), with the weights of both kinds of rows: for a
        column of ±1 this is ½ log((1 − err)/err). Any other column takes Newton's method.
        """
        margins = self.target * direction
        a, b = float(margins.max()), -float(margins.min())
        hits = margins == a
        if a <= 0.0 or b <= 0.0 or not np.all(hits | (margins == -b)):
            return super().line_search(output, direction)
        weights = self.curvature(output)
        right, wrong = float(weights[hits].sum()), float(weights[~hits].sum())
        if wrong == 0.0 or right == 0.0:
            raise UnboundedStepError("the column is right, or wrong, on every row that counts")
        return (math.log(right) - math.log(wrong) + math.log(a / b)) / (a + b)


class LogLoss(_MarginLoss):
    """Σ w_i log(1 + exp(−2 y_i f_i)) ([M] eq. 33): f is half the log-odds."""

    def value(self, output: Vector) -> float:
        """Σ w_i log(1 + exp(−2 y_i f_i))."""
        return float(self.weights @ np.logaddexp(0.0, -2.0 * self.target * output))

    def pseudo_response(self, output: Vector) -> Vector:
        """2 w_i (y*_i − p_i), with y* = (y + 1)/2 and p = 1/(1 + e^{−2f})."""
        return 2.0 * self.weights * self.target * expit(-2.0 * self.target * output)

    def curvature(self, output: Vector) -> Vector:
        """4 w_i p_i (1 − p_i)."""
        return 4.0 * self.weights * expit(2.0 * output) * expit(-2.0 * output)


class MultinomialDeviance(DifferentiableLoss):
    """Σ w_i (log Σ_k e^{f_ik} − f_{i,y_i}) for K class scores f.

    Parameters
    ----------
    target : ndarray of int, shape (n_rows,)
        Class numbers.
    weights : ndarray of shape (n_rows,)
    n_classes : int
    """

    def __init__(self, target: NDArray[np.intp], weights: Vector, n_classes: int) -> None:
        super().__init__(target.astype(np.float64), weights)
        self.n_outputs = n_classes
        self.indicators = np.eye(n_classes)[target]

    def value(self, output: Vector) -> float:
        """Σ w_i (log Σ_k e^{f_ik} − f_{i,y_i})."""
        own = (output * self.indicators).sum(axis=1)
        return float(self.weights @ (logsumexp(output, axis=1) - own))

    def pseudo_response(self, output: Vector) -> Vector:
        """w_i (y_ik − p_ik), shape (n_rows, n_classes)."""
        return self.weights[:, None] * (self.indicators - softmax(output, axis=1))

    def curvature(self, output: Vector) -> Vector:
        """w_i p_ik (1 − p_ik), shape (n_rows, n_classes)."""
        shares = softmax(output, axis=1)
        return self.weights[:, None] * shares * (1.0 - shares)

    def constant(self) -> Vector:
        """Logarithms of the classes' shares, of at least 10⁻⁶, less their mean."""
        shares = self.weights @ self.indicators / self.weights.sum()
        logs = np.log(np.maximum(shares, SMALLEST_SHARE))
        return np.asarray(logs - logs.mean(), dtype=np.float64)
