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
from scipy.optimize import brentq
from scipy.special import erf

from cgboost.arrays import Indices, Vector
from cgboost.estimators.common.objective import meets_every_row
from cgboost.losses import LogLoss, Loss
from cgboost.losses.dual.support_vector import weighted_median
from cgboost.optimizers.reductions.centred_targets import centre_of
from cgboost.penalties import L1, L2, ElasticNet, Penalty
from cgboost.pricing.univariate.feature_pricer import FeaturePool
from cgboost.tolerances import UNIT_ROUNDOFF

LOSS_OF_CONSTANT = 1000.0
"""Units of the objective that the loss of the constant model has where features begin to enter."""

ON_CONSTANT = 1e-9
"""Rows this near to the constant, relative to the sizes of both, lie on it: losses take rows that
are a hundredth of that away for rows on a kink."""

LARGEST_SIZE = 1e120
"""X and y are between its inverse and it, or 0. Squares, and sums of them, are then inside the
range of float64, which ends at 1e±308: with X or y of 1e±140 models are those of other units to
1e-12, with 1e155 no solver works, and with 1e-160 all deviations are 0."""


@dataclass(frozen=True)
class UnitScaling:
    """Units of y, of the features and of the coefficients.

    Attributes
    ----------
    unit : float
        u: outputs and targets of the master are in it.
    features : float
        s, the unit of the coefficients a_j.
    strongest : float
        The largest |Σ_i w_i r_i (x_ij − m_j)/(d_j v_j)|/W over all features, at the best constant:
        with an ℓ1 penalty the α from which on all coefficients are 0.
    total : float
        W = Σ_i w_i.
    constant : float
        The mean loss of the best constant.
    constants : tuple of float
        The best constant of every run, in units.
    noise : float
        The median that ``strongest`` would have if y had nothing to do with the features
        (:func:`noise_level`); 0 if nobody asks.
    """

    unit: float
    features: float = 1.0
    strongest: float = 0.0
    total: float = 1.0
    noise: float = 0.0
    constant: float = 0.0
    constants: tuple[float, ...] = ()

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
        noise: bool,
    ) -> UnitScaling:
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
        noise : bool
            Whether the level of noise is asked for.
        """
        total = float(weights.sum())
        value = strongest = level = 0.0
        constants: list[float] = []
        for loss, target in runs:
            scaled, factor = in_units(loss, unit)
            on_rows = scaled.on(target, factor * weights / total)
            constant, response = constant_model(on_rows, offset=offset)
            constants.append(constant)
            of_constant = float(on_rows.value(np.full(len(target), constant)))
            if of_constant <= 0 or meets_every_row(on_rows, constant):  # no feature can do better
                continue
            value = max(value, of_constant)
            if len(free) == pool.size(0):
                continue
            scores = pool.all_scores(response / unit)
            size = np.maximum(scores, 0.0) if positive else np.abs(scores)
            size[size <= _errors(pool, response / unit, offset=offset)] = 0.0
            size[free] = 0.0
            strongest = max(strongest, float(size.max(initial=0.0)))
            if noise:
                level = max(level, noise_level(pool, response / unit, weights, free, offset=offset))
        known = value > 0 and strongest > 0
        features = value / (LOSS_OF_CONSTANT * strongest) if known else unit
        return cls(unit, features, strongest, total, level, value, tuple(constants))

    def penalty(self, penalty: Penalty) -> Penalty:
        """The penalty of the coefficients a, in its unit."""
        if not penalty.quadratic:
            return L1()
        if not penalty.threshold:
            return L2()
        shares = penalty.threshold, penalty.quadratic * self.features
        l1_ratio = shares[0] / sum(shares)
        return ElasticNet(l1_ratio) if l1_ratio < 1 else L1()  # features large, ½ρ'a² is rounding

    def objective_unit(self, penalty: Penalty) -> float:
        """The user's penalty for one unit of the master's objective."""
        return self.features * (penalty.threshold + penalty.quadratic * self.features)

    def scaled(self, pool: FeaturePool) -> FeaturePool:
        """The columns h of the master."""
        return pool.rescaled(self.unit / self.features)


def _errors(pool: FeaturePool, response: Vector, *, offset: bool) -> Vector:
    """What rounding, and a sum Σr that is 0 but for an error, may do to the scores."""
    errors = pool.errors(None, response)
    rounding = UNIT_ROUNDOFF * np.sqrt(len(response)) * float(np.abs(response).sum())
    unbalanced = abs(float(response.sum())) if offset else 0.0
    return errors * max(1.0, unbalanced / rounding) if rounding > 0 else errors


def check_size(name: str, size: float) -> None:
    """Raise ValueError if the largest absolute value of X or y is none to compute squares of."""
    if size > LARGEST_SIZE or 0 < size < 1.0 / LARGEST_SIZE:
        raise ValueError(
            f"{name} must have its largest absolute value between {1.0 / LARGEST_SIZE:g} and "
            f"{LARGEST_SIZE:g}, got {size:g}: take another unit"
        )


def noise_level(
    pool: FeaturePool, response: Vector, weights: Vector, free: Indices, *, offset: bool
) -> float:
    """The median of max_j |h_j·r| if r had nothing to do with the features.

    By the central limit theorem h_j·r is then normal with variance s_j² = d_j² Σ r_i²/w_i, where
    d_j is the standard deviation of h_j; were the features independent, the median t would solve
    Π_j P(|N(0, s_j²)| ≤ t) = ½. Those that are not have a smaller one. A row of weight 2 is two
    rows; weights with a mean below 1 count as if it were 1.

    Parameters
    ----------
    response : ndarray of shape (n_rows,)
        r, of which a row has the share w_i/W.
    weights : ndarray of shape (n_rows,)
    free : ndarray of int
        Features that do not count.
    offset : bool
        Whether deviations are those from the mean, or from 0.
    """
    counts = weights > 0
    means, deviations = pool.matrix.moments(weights)
    if not offset:
        deviations = np.hypot(deviations, means)
    sizes = deviations / np.abs(pool.scales)
    sizes[free] = 0.0
    weights, response = weights[counts], response[counts]
    n_rows = max(float(weights.sum()), float(len(weights)))
    spread = float(np.sqrt((response**2 / weights).sum() * weights.sum() / n_rows))
    sizes = spread * sizes[sizes > 0]
    if not (sizes > 0).any():
        return 0.0

    largest = float(sizes.max())  # the unit of t: the search ends at an absolute accuracy
    sizes = sizes / largest

    def excess(level: float) -> float:
        return float(np.log(erf(level / (np.sqrt(2.0) * sizes))).sum() - np.log(0.5))

    most = 2.0 + np.sqrt(2.0 * np.log(len(sizes)))  # the median of one is 0.67 of its deviation
    return largest * float(brentq(excess, 0.6, most))


def in_units(loss: Loss, unit: float) -> tuple[Loss, float]:
    """The loss for targets and outputs in units: ℓ(y, f) = factor·ℓ'(y/unit, f/unit).

    The logistic loss log(1 + e^{−2yf'}) has half log-odds f', and keeps them: with the unit 2 the
    model's output is f = 2f', and the user's loss log(1 + e^{−yf}).
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
        return loss.log_odds
    if loss.classification or loss.in_units(1.0) is None:
        return 1.0
    deviations = np.abs(y - weighted_median(y, weights))
    counts = (deviations > 0) & (weights > 0)
    if not counts.any():
        return 1.0
    if loss.squares_outliers:  # with 1e12 among sixty rows, gaps were up to 0.98 in median units
        largest = float(deviations[counts].max())
        squares = np.average((deviations / largest) ** 2, weights=weights)
        return largest * float(np.sqrt(squares))
    return weighted_median(deviations[counts], weights[counts])


def constant_model(loss: Any, *, offset: bool) -> tuple[float, Vector]:
    """The best constant, 0 without an offset, and a pseudo-response there with Σr = 0.

    Rows on a kink of the loss share what is missing evenly.
    """
    centre = centre_of(loss) if offset else 0.0
    loss = loss.shifted(centre) if centre else loss
    constant = float(loss.constant()) if offset else 0.0
    output = np.full(loss.n_rows, constant)
    response = loss.pseudo_response(output)
    if offset and "dual_box" in loss.abilities:
        step = ON_CONSTANT * (1.0 + np.abs(loss.target) + abs(constant) + loss.box.epsilon)
        step += 10.0 * UNIT_ROUNDOFF * abs(centre)
        most, least = loss.pseudo_response(output - step), loss.pseudo_response(output + step)
        room = most - least if loss.box.curvature is None else np.zeros(len(output))
        if (total := float(room.sum())) > 0:
            share = np.clip(-float(least.sum()) / total, 0.0, 1.0)
            response = least + share * room
            rounding = 10.0 * UNIT_ROUNDOFF * np.maximum(np.abs(least), np.abs(most))
            response[np.abs(response) <= rounding] = 0.0
    return constant + centre, np.asarray(response, dtype=np.float64)
