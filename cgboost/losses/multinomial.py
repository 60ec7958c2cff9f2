"""The multinomial deviance of K class scores."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from cgboost.arrays import Vector
from cgboost.losses.loss import Expression, Loss, import_cvxpy

SMALLEST_SHARE = 1e-6
"""Share that a class without weight is given. 0 has no logarithm; the one of this is −14, and less
would only take classes longer to come back from."""


@dataclass(frozen=True)
class Multinomial(Loss):
    """Multinomial deviance log Σ_k e^{f_k} − f_y of K class scores f, shape (n_rows, K).

    Targets y are class indices. The gradient and the diagonal of the Hessian have one column per
    class; there is no conjugate.

    Parameters
    ----------
    n_classes : int
        K.
    """

    n_classes: int

    name: ClassVar[str] = "multinomial"
    classification: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (isinstance(self.n_classes, Integral) and self.n_classes > 0):
            raise ValueError(f"n_classes must be a whole number above 0, got {self.n_classes!r}")

    @property
    def n_outputs(self) -> int:
        """One for every class."""
        return self.n_classes

    def check_target(self, y: Vector) -> None:
        """Targets must be class numbers."""
        wrong = np.setdiff1d(y, np.arange(self.n_classes))
        if wrong.size:
            raise ValueError(
                f"targets must be class numbers from 0 to {self.n_classes - 1}, got {wrong[0]:g}"
            )

    def value(self, y: Vector, f: Vector) -> Vector:
        """Log Σ_k e^{f_k} − f_y."""
        return np.asarray(logsumexp(f, axis=1) - f[_own(y)], dtype=np.float64)

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """p_k − [y = k], with p = softmax(f)."""
        shares = np.asarray(softmax(f, axis=1), dtype=np.float64)
        shares[_own(y)] -= 1.0
        return shares

    def hessian_diag(self, y: Vector, f: Vector) -> Vector:
        """p_k (1 − p_k)."""
        shares = np.asarray(softmax(f, axis=1), dtype=np.float64)
        return shares * (1.0 - shares)

    def best_constant(self, y: Vector, weights: Vector) -> Vector:
        """Logarithms of the shares of the classes, at least 10⁻⁶, minus their mean."""
        shares = np.bincount(y.astype(np.intp), weights=weights, minlength=self.n_classes)
        logs = np.log(np.maximum(shares / weights.sum(), SMALLEST_SHARE))
        return np.asarray(logs - logs.mean(), dtype=np.float64)

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """Log Σ_k e^{f_k} − f_y of every row."""
        cp = import_cvxpy()
        indicators = np.eye(self.n_classes)[y.astype(np.intp)]
        return cp.log_sum_exp(f, axis=1) - cp.sum(cp.multiply(indicators, f), axis=1)


def log_odds(f: Vector) -> Vector:
    """Log-odds of each class against all others: f_k − log Σ_{l ≠ k} e^{f_l}, shape (n_rows, K).

    From sums over the classes before and after k, so that nothing cancels where p_k is next to 1.
    """
    nothing = np.full((len(f), 1), -np.inf)
    before = np.logaddexp.accumulate(f[:, :-1], axis=1)
    after = np.logaddexp.accumulate(f[:, :0:-1], axis=1)[:, ::-1]
    others = np.logaddexp(np.hstack([nothing, before]), np.hstack([after, nothing]))
    return np.asarray(f - others, dtype=np.float64)


def _own(y: Vector) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places of the scores of the rows' own classes."""
    return np.arange(len(y)), y.astype(np.intp)
