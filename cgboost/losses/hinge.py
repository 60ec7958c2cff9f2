"""Hinge losses of the margins m_i = y_i f_i, for labels y = ±1.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cgboost.arrays import Vector
from cgboost.losses.dual.piecewise import PiecewiseLinearLoss
from cgboost.losses.dual.support_vector import (
    Mass,
    SupportVectorLoss,
    check_costs,
    check_labels,
    check_share,
)
from cgboost.losses.loss import Expression, Loss, import_cvxpy


@dataclass(frozen=True)
class Hinge(Loss):
    """Hinge loss max(0, 1 − y f), for labels y = ±1 ([B] eq. 4)."""

    name: ClassVar[str] = "hinge"
    classification: ClassVar[bool] = True
    weighted_class: ClassVar[type[PiecewiseLinearLoss]] = PiecewiseLinearLoss

    def check_target(self, y: Vector) -> None:
        """Labels must be ±1."""
        check_labels(y)

    def value(self, y: Vector, f: Vector) -> Vector:
        """max(0, 1 − y f)."""
        return np.maximum(1.0 - y * f, 0.0)

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """−y where y f < 1, otherwise 0."""
        return np.where(y * f < 1.0, -y, 0.0)

    def dual_box(self, y: Vector, cost: Vector) -> SupportVectorLoss:
        """0 ≤ y r ≤ cost."""
        check_labels(y)
        check_costs(y, cost)
        return SupportVectorLoss(y, *_box(y, np.zeros(len(y)), cost))

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """(1 − y f)₊."""
        cp = import_cvxpy()
        return cp.pos(1.0 - cp.multiply(y, f))


def hinge(labels: Vector, price: Vector) -> SupportVectorLoss:
    """Hinge loss Σ price_i·max(0, 1 − m_i) ([B] eq. 4)."""
    return Hinge().dual_box(labels, price)


def nu_hinge(
    labels: Vector,
    price: Vector,
    nu: float,
    *,
    balanced: bool,
    smoothing: float = 0.0,
) -> SupportVectorLoss:
    """Hinge loss with a variable margin: min over ρ of Σ price_i·max(0, ρ − m_i) − νPρ.

    P = Σ price_i. At most a share ν of the rows (by price) has a margin below ρ, and at least a
    share ν has a margin of at most ρ (Schölkopf et al., Neural Computation 12, 2000; Demiriz et
    al., Machine Learning 46, 2002, for the 1-norm).

    Parameters
    ----------
    labels, price : ndarray of shape (n_rows,)
    nu : float
        In (0, 1].
    balanced : bool
        Whether the model has a free offset; ν can then be at most twice the share of the smaller
        class.
    smoothing : float
        A positive number smooths the loss: the pseudo-response costs ½·smoothing·r_i²/price_i
        (QRLP-Boost; Akkerman et al., TMLR 2025, with the uniform distribution as the centre).

    Raises
    ------
    ValueError
        If ν is too large for the classes; the message says how large it may be.
    """
    check_labels(labels)
    check_costs(labels, price)
    check_share(nu, price)
    total = float(price.sum())
    smaller = min(float(price[labels > 0].sum()), float(price[labels < 0].sum()))
    if balanced and nu * total > 2.0 * smaller:
        raise ValueError(
            f"nu = {nu:g} is too large for these classes: with a free offset it can be at most "
            f"twice the share of the smaller class, {2.0 * smaller / total:.4g}"
        )
    return SupportVectorLoss(
        np.zeros(len(labels)),
        *_box(labels, np.zeros(len(labels)), price),
        curvature=_smooth(smoothing, price),
        mass=Mass(nu * total),
    )


def negative_margin(
    labels: Vector, price: Vector, *, margin: float, trade_off: float
) -> SupportVectorLoss:
    """Shortfall of margins against their sum: Σ price_i·(max(0, θ − m_i) + C·(θ − m_i)).

    NM-Boost (Akkerman et al., TMLR 2025, arXiv 2507.18242), up to the constant Cθ Σ price_i. There
    θ = 1/(number of columns) changes as columns are added; here ``margin`` = θ is fixed, which
    gives one problem with one optimum.
    """
    check_labels(labels)
    check_costs(labels, price)
    return SupportVectorLoss(
        margin * labels, *_box(labels, trade_off * price, (1.0 + trade_off) * price)
    )


def _box(labels: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    """The box lower ≤ y_i r_i ≤ upper."""
    return np.where(labels < 0, -upper, lower), np.where(labels > 0, upper, -lower)


def _smooth(smoothing: float, costs: Vector) -> Vector | None:
    if not 0 <= smoothing < np.inf:
        raise ValueError(f"smoothing must be finite and not negative, got {smoothing!r}")
    return smoothing / np.where(costs > 0, costs, 1.0) if smoothing else None
