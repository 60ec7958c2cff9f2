"""The change of variables in which a sparse linear model is solved.

The user's problem, with f(x) = Σ_j β_j x_j + b, is

    min  Σ_j ρ v_j|β_j| + ½(1 − ρ)(v_j β_j)²  +  Σ_i cost_i ℓ(y_i, f(x_i))

(divided by α for regressors). Its answer must not depend on the units of y, of the features or of
the objective, and solvers have tolerances that do. The master sees

    y' = y/u    f' = f/u    h_j = (x_j − m_j)·s/(u d_j v_j)    a_j = d_j v_j β_j/s

where u is the typical deviation of y, d_j the standard deviation of a feature (1 without
``standardize``), and s makes the loss of the constant model a thousand units of the objective where
the model begins to have features. A gap relative to max(1, objective) is then one relative to the
objective, or to a thousandth of the constant's loss where that is larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.estimators.common.rows import Vector
from cgboost.losses import LogLoss, Loss
from cgboost.losses.dual.support_vector import weighted_median
from cgboost.penalties import L1, L2, ElasticNet, Penalty
from cgboost.pricing.features.features import FeaturePool

LOSS_OF_CONSTANT = 1000.0
"""Units of the objective that the loss of the constant model has where features begin to enter."""

ON_CONSTANT = 1e-9
"""Rows this near to the constant, relative to the sizes of both, lie on it: losses take rows that
are a hundredth of that away for rows on a kink."""


@dataclass(frozen=True)
class Scaling:
    """Units of y, of the features and of the coefficients.

    Attributes
    ----------
    unit : float
        u: outputs and targets of the master are in it.
    features : float
        s.
    strongest : float
        The largest |Σ_i w_i r_i (x_ij − m_j)/(d_j v_j)|/W over all features, at the best constant.
    total : float
        W = Σ_i w_i.
    """

    unit: float
    features: float = 1.0
    strongest: float = 0.0
    total: float = 1.0

    @classmethod
    def of(
        cls,
        pool: FeaturePool,
        loss: Loss,
        unit: float,
        targets: list[Vector],
        weights: Vector,
        *,
        offset: bool,
        positive: bool,
    ) -> Scaling:
        """The units of a problem.

        Parameters
        ----------
        pool : FeaturePool
            The features, divided by d and v.
        loss : Loss
            In units of y.
        unit : float
            u.
        targets : list of ndarray of shape (n_rows,)
            Of every run, in units.
        weights : ndarray of shape (n_rows,)
        offset, positive : bool
            Whether there is an intercept, and whether coefficients must be at least 0.
        """
        own, factor = in_units(loss, unit)
        total = float(weights.sum())
        shares = factor * weights / total
        value = strongest = 0.0
        for target in targets:
            bound = own.on(target, shares)
            constant, response = constant_model(bound, offset=offset)
            of_constant = float(bound.value(np.full(len(target), constant)))
            if of_constant <= 0:  # no feature can do better, whatever rounding leaves of r
                continue
            value = max(value, of_constant)
            scores = pool.scores(0, None, response / unit)
            size = np.maximum(scores, 0.0) if positive else np.abs(scores)
            size[size <= pool.errors(None, response / unit)] = 0.0
            strongest = max(strongest, float(size.max(initial=0.0)))
        known = value > 0 and strongest > 0
        features = value / (LOSS_OF_CONSTANT * strongest) if known else unit
        return cls(unit, features, strongest, total)

    def penalty(self, penalty: Penalty) -> Penalty:
        """The penalty of the coefficients a, in its unit."""
        if not penalty.quadratic:
            return L1()
        if not penalty.threshold:
            return L2()
        shares = penalty.threshold, penalty.quadratic * self.features
        return ElasticNet(shares[0] / sum(shares))

    def objective(self, penalty: Penalty) -> float:
        """The user's penalty for one unit of the master's objective."""
        return self.features * (penalty.threshold + penalty.quadratic * self.features)

    def scaled(self, pool: FeaturePool) -> FeaturePool:
        """The columns h of the master."""
        return pool.rescaled(self.unit / self.features)


def in_units(loss: Loss, unit: float) -> tuple[Loss, float]:
    """The loss for targets and outputs in units: ℓ(y, f) = factor·ℓ'(y/unit, f/unit).

    The logistic loss has half log-odds for f; its unit of 2 makes log-odds of the model's output.
    """
    if isinstance(loss, LogLoss):
        return loss, 1.0
    return (loss, 1.0) if unit == 1.0 else loss.in_units(unit) or (loss, 1.0)


def unit_of(loss: Loss, y: NDArray[Any], weights: Vector) -> float:
    """The typical deviation of y from its median, for losses that can take another unit."""
    if isinstance(loss, LogLoss):
        return 2.0
    if loss.classification or loss.in_units(1.0) is None:
        return 1.0
    deviations = np.abs(y - weighted_median(y, weights))
    counts = (deviations > 0) & (weights > 0)
    if not counts.any():
        return 1.0
    return weighted_median(deviations[counts], weights[counts])


def constant_model(loss: Any, *, offset: bool) -> tuple[float, Vector]:
    """The best constant, 0 without an offset, and a pseudo-response there with Σr = 0.

    Rows on a kink of the loss share what is missing evenly.

    Parameters
    ----------
    loss : WeightedLoss
    offset : bool
    """
    constant = float(loss.constant()) if offset else 0.0
    output = np.full(loss.n_rows, constant)
    response = loss.pseudo_response(output)
    if offset and "dual_box" in loss.abilities:
        step = ON_CONSTANT * (1.0 + np.abs(loss.target) + abs(constant) + loss.box.epsilon)
        most, least = loss.pseudo_response(output - step), loss.pseudo_response(output + step)
        room = most - least if loss.box.curvature is None else np.zeros(len(output))
        if (total := float(room.sum())) > 0:
            share = np.clip(-float(least.sum()) / total, 0.0, 1.0)
            response = least + share * room
    return constant, np.asarray(response, dtype=np.float64)
