"""A loss with a penalty on the variance of the output.

    L(f) + ½λ Σ w_i (f_i − f̄)²        f̄ = Σ w_i f_i / Σ w_i

Where f is a constant plus orthonormal columns that are orthogonal to it, f = μ + Tc with TᵀΓT = I
and eᵀΓT = 0, Γ = diag(w), this is L(f) + ½λ‖c‖²: a penalty on the coefficients, and none on the
constant. It is a loss itself, so that pseudo-responses, line searches and refits are those of any.
"""

from __future__ import annotations

import numpy as np

from cgboost.arrays import Vector
from cgboost.losses.loss import DifferentiableLoss


class RidgedLoss(DifferentiableLoss):
    """A loss on training rows, with ½λ Σ w_i (f_i − f̄)² of every output.

    Parameters
    ----------
    ridge : float
        λ ≥ 0, in units of the curvature of the loss of one row.
    """

    def __init__(self, base: DifferentiableLoss, ridge: float) -> None:
        super().__init__(base.target, base.weights)
        self.base, self.ridge, self.n_outputs = base, ridge, base.n_outputs

    def centred(self, values: Vector) -> Vector:
        """Values, shape (n_rows,) or (n_rows, n_columns), less their weighted means."""
        return np.asarray(values - self.weights @ values / self.weights.sum(), dtype=np.float64)

    def value(self, output: Vector) -> float:
        """Loss and penalty."""
        variances = self.weights @ self.centred(output) ** 2
        return self.base.value(output) + 0.5 * self.ridge * float(np.sum(variances))

    def pseudo_response(self, output: Vector) -> Vector:
        """That of the loss less λ w (f − f̄)."""
        return self.base.pseudo_response(output) - self.pull(output)

    def pull(self, output: Vector) -> Vector:
        """The gradient λ w (f − f̄) of the penalty."""
        return self.ridge * self._of_rows(output) * self.centred(output)

    def curvature(self, output: Vector) -> Vector:
        """That of the loss and λ w; the means are left out."""
        return self.base.curvature(output) + self.ridge * self._of_rows(output)

    def hessian(self, output: Vector, columns: Vector) -> Vector:
        """That of the loss and λ times the covariance of the columns; one output."""
        return self.base.hessian(output, columns) + self.bend(columns)

    def bend(self, columns: Vector) -> Vector:
        """λ times the covariance of the columns: what the penalty adds to the Hessian."""
        inner = self.centred(columns)
        return np.asarray(self.ridge * (inner * self.weights[:, None]).T @ inner)

    def constant(self) -> float | Vector:
        """That of the loss: a constant has no variance."""
        return self.base.constant()

    def _of_rows(self, output: Vector) -> Vector:
        """The weights in a form that multiplies outputs."""
        return self.weights if output.ndim == 1 else self.weights[:, None]
