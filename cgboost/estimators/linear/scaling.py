"""The change of variables in which a sparse linear model is solved.

The user's problem, with f(x) = Σ_j β_j x_j + b, is

    min  Σ_j ρ v_j|β_j| + ½(1 − ρ)(v_j β_j)²  +  Σ_i cost_i ℓ(y_i, f(x_i))

(divided by α for regressors). Its answer must not depend on the units of y, of the features or of
the objective, and solvers have tolerances that do. The master sees

    y' = y/u    f' = f/u    h_j = (x_j − m_j)·s/(u d_j v_j)    a_j = d_j v_j β_j/s

where u is the typical deviation of y (:func:`unit_of`), d_j the standard deviation of a feature (1
without ``standardize``), and s makes the loss of the constant model a thousand units of the
objective where the model begins to have features. A gap relative to max(1, objective) is then one
relative to the objective, or to a thousandth of the constant's loss where that is larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.estimators.common.rows import Vector
from cgboost.losses import LogLoss, Loss, SquaredError
from cgboost.losses.dual.support_vector import weighted_median
from cgboost.losses.epsilon_insensitive import SquaredEpsilonInsensitive
from cgboost.penalties import L1, L2, ElasticNet, Penalty
from cgboost.pricing.features.features import FeaturePool
from cgboost.pricing.features.matrices import Indices

LOSS_OF_CONSTANT = 1000.0
"""Units of the objective that the loss of the constant model has where features begin to enter."""

PERMUTATIONS = 20
"""Permutations for the level of noise: their median is off by a few per cent, α by less than its
effect can tell."""

ON_CONSTANT = 1e-9
"""Rows this near to the constant, relative to the sizes of both, lie on it: losses take rows that
are a hundredth of that away for rows on a kink."""

SQUARED = (SquaredError, SquaredEpsilonInsensitive)
"""Losses of which one outlier can be nearly all: with one of 1e12 among sixty rows, gaps were up to
0.98 in units of the median deviation, and are below 1e-10 in those of the root mean square."""


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
    constant : float
        The mean loss of the best constant.
    noise : float
        The median of the same over random permutations of the r_i: what noise alone would reach.
    """

    unit: float
    features: float = 1.0
    strongest: float = 0.0
    total: float = 1.0
    noise: float = 0.0
    constant: float = 0.0

    @classmethod
    def of(
        cls,
        pool: FeaturePool,
        runs: Sequence[tuple[Loss, Vector]],
        unit: float,
        weights: Vector,
        *,
        offset: bool,
        positive: bool,
        free: Indices,
    ) -> Scaling:
        """The units of a problem.

        Parameters
        ----------
        pool : FeaturePool
            The features, divided by d and v.
        runs : sequence of (Loss, ndarray of shape (n_rows,))
            The loss of every run, in units of y, and its target, in units u.
        unit : float
            u.
        weights : ndarray of shape (n_rows,)
        offset, positive : bool
            Whether there is an intercept, and whether coefficients must be at least 0.
        free : ndarray of int
            Features without a penalty.
        """
        total = float(weights.sum())
        value = strongest = noise = 0.0
        for loss, target in runs:
            own, factor = in_units(loss, unit)
            bound = own.on(target, factor * weights / total)
            constant, response = constant_model(bound, offset=offset)
            of_constant = float(bound.value(np.full(len(target), constant)))
            if of_constant <= 0:  # no feature can do better, whatever rounding leaves of r
                continue
            value = max(value, of_constant)
            rng = np.random.default_rng(0)  # the same α for the same rows, and those of a run alone
            orders = rng.permuted(np.tile(response / unit, (PERMUTATIONS, 1)), axis=1)
            scores = pool.all_scores(np.vstack([response / unit, orders]).T)
            size = np.maximum(scores, 0.0) if positive else np.abs(scores)
            size[size <= pool.errors(None, response / unit)[:, None]] = 0.0
            size[free] = 0.0
            own_size, *permuted = size.max(axis=0, initial=0.0).tolist()
            strongest, noise = max(strongest, own_size), max(noise, float(np.median(permuted)))
        known = value > 0 and strongest > 0
        features = value / (LOSS_OF_CONSTANT * strongest) if known else unit
        return cls(unit, features, strongest, total, noise, value)

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
    """The typical deviation of y, for losses that can take another unit.

    The median one from the median; of a squared loss, to which the largest errors are the others'
    measure, the root of the mean square.
    """
    if isinstance(loss, LogLoss):
        return 2.0
    if loss.classification or loss.in_units(1.0) is None:
        return 1.0
    deviations = np.abs(y - weighted_median(y, weights))
    counts = (deviations > 0) & (weights > 0)
    if not counts.any():
        return 1.0
    if isinstance(loss, SQUARED):
        largest = float(deviations[counts].max())
        squares = np.average((deviations / largest) ** 2, weights=weights)
        return largest * float(np.sqrt(squares))
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
