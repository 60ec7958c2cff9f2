"""ε-insensitive losses of the residuals y_i − f_i.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from cgboost.arrays import Vector
from cgboost.losses.dual.piecewise import PiecewiseLinearLoss
from cgboost.losses.dual.support_vector import (
    Mass,
    SupportVectorLoss,
    check_costs,
    check_epsilon,
    check_share,
    quadratic_term,
)
from cgboost.losses.loss import Expression, Loss, WeightedLoss, import_cvxpy


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """ε-insensitive loss max(0, |y − f| − ε) ([B] eq. 13).

    Parameters
    ----------
    epsilon : float, default=0.1
        Half-width of the tube inside which errors are free, in the units of y.
    """

    epsilon: float = 0.1

    name: ClassVar[str] = "epsilon_insensitive"
    of_residuals: ClassVar[bool] = True
    weighted_class: ClassVar[type[WeightedLoss]] = PiecewiseLinearLoss

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)

    def in_units(self, unit: float) -> tuple[Loss, float]:
        """See :meth:`Loss.in_units`."""
        return replace(self, epsilon=self.epsilon / unit), unit

    def value(self, y: Vector, f: Vector) -> Vector:
        """max(0, |y − f| − ε)."""
        return np.maximum(np.abs(y - f) - self.epsilon, 0.0)

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """The sign of f − y outside the tube, 0 inside."""
        return np.where(np.abs(y - f) > self.epsilon, np.sign(f - y), 0.0)

    def dual_box(self, y: Vector, cost: Vector) -> SupportVectorLoss:
        """|r| ≤ cost, at the price ε|r|."""
        check_costs(y, cost)
        return SupportVectorLoss(y, lower=-cost, upper=cost.copy(), epsilon=self.epsilon)

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """(|y − f| − ε)₊."""
        cp = import_cvxpy()
        return cp.pos(cp.abs(y - f) - self.epsilon)


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(EpsilonInsensitive):
    """Squared ε-insensitive loss max(0, |y − f| − ε)², as in scikit-learn's LinearSVR.

    Parameters
    ----------
    epsilon : float, default=0.1
        Half-width of the tube inside which errors are free, in the units of y.
    """

    name: ClassVar[str] = "squared_epsilon_insensitive"
    squares_outliers: ClassVar[bool] = True
    weighted_class: ClassVar[type[WeightedLoss]] = WeightedLoss

    def in_units(self, unit: float) -> tuple[Loss, float]:
        """See :meth:`Loss.in_units`."""
        return replace(self, epsilon=self.epsilon / unit), unit**2

    def value(self, y: Vector, f: Vector) -> Vector:
        """max(0, |y − f| − ε)²."""
        return super().value(y, f) ** 2

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """Twice the signed distance of f from the tube."""
        return 2.0 * np.sign(f - y) * super().value(y, f)

    def hessian_diag(self, y: Vector, f: Vector) -> Vector:
        """2 outside the tube, 0 inside."""
        return np.where(np.abs(y - f) > self.epsilon, 2.0, 0.0)

    def dual_box(self, y: Vector, cost: Vector) -> SupportVectorLoss:
        """Any r, at the price ε|r| and with the quadratic term ½r²/(2 cost)."""
        end = np.where(cost > 0, np.inf, 0.0)
        return replace(
            super().dual_box(y, cost), lower=-end, upper=end, curvature=quadratic_term(2.0 * cost)
        )

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """(|y − f| − ε)₊²."""
        return import_cvxpy().square(super().to_cvxpy(y, f))


def epsilon_insensitive(response: Vector, price: Vector, epsilon: float) -> SupportVectorLoss:
    """ε-insensitive loss Σ price_i·max(0, |y_i − f_i| − ε) ([B] eq. 13)."""
    return EpsilonInsensitive(epsilon).dual_box(response, price)


def nu_insensitive(response: Vector, price: Vector, nu: float) -> SupportVectorLoss:
    """ε-insensitive loss with ε chosen by the model at a cost of νP, with P = Σ price_i.

    min over ε ≥ 0 of Σ price_i·max(0, |y_i − f_i| − ε) + νPε: at most a share ν of the rows (by
    price) lies outside the tube (Schölkopf et al., Neural Computation 12, 2000; with the 1-norm
    Smola, Schölkopf, Rätsch, ICANN 1999).
    """
    check_costs(response, price)
    check_share(nu, price)
    return SupportVectorLoss(
        target=response,
        lower=-price,
        upper=price.copy(),
        mass=Mass(nu * float(price.sum()), at_most=True),
    )
