"""Forward stepwise regression from statistics alone, for many groups of rows at once.

Regressors come in the order in which each lowers the squared error of the training rows most, found
by sweeping the scatter matrix; how many of them stay is decided by the error on holdout rows, whose
statistics say what any model costs there:

    Σ w (r − a − bᵀx)² = S_rr − 2bᵀS_xr + bᵀS_xx b + n (r̄ − a − bᵀx̄)²
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.statistics.moments import Moments

Vector = NDArray[np.float64]

COLLINEAR = 1e-9
"""A regressor of which no more than this share is new is left out."""

CONSTANT_VARIANCE = 1e-26
"""A regressor with no more than this share of its mean square as variance is constant."""

BETTER = 1e-9
"""Differences below this, relative to the whole, do not decide: the simpler model is taken."""


@dataclass(frozen=True)
class Regressions:
    """Linear models of a batch of groups.

    Attributes
    ----------
    coef : ndarray of shape (n_groups, n_regressors)
        0 for regressors that are left out.
    intercept : ndarray of shape (n_groups,)
    training, holdout : ndarray of shape (n_groups,)
        Squared errors.
    """

    coef: Vector
    intercept: Vector
    training: Vector
    holdout: Vector

    def __getitem__(self, groups: object) -> Regressions:
        """Some of the models."""
        return Regressions(*(values[groups] for values in vars(self).values()))


def squared_error(moments: Moments, coef: Vector, intercept: Vector) -> Vector:
    """What models cost on rows with these statistics; the response is the last variable."""
    S, mean = moments.scatter, moments.mean
    cross = np.einsum("gk,gk->g", coef, S[:, :-1, -1])
    square = np.einsum("gk,gkl,gl->g", coef, S[:, :-1, :-1], coef)
    missed = mean[:, -1] - intercept - np.einsum("gk,gk->g", coef, mean[:, :-1])
    error = S[:, -1, -1] - 2.0 * cross + square + moments.count * missed**2
    return np.maximum(error, 0.0)


def mean_squares(moments: Moments) -> Vector:
    """Of the regressors over all groups, shape (n_regressors,)."""
    squares = np.einsum("gkk->k", moments.scatter) + moments.count @ moments.mean**2
    return np.asarray(squares[:-1] / max(float(moments.count.sum()), np.finfo(float).tiny))


def _varying(moments: Moments, squares: Vector | None) -> NDArray[np.bool_]:
    """Which regressors vary in each group by more than rounding errors of their means."""
    squares = mean_squares(moments) if squares is None else squares
    own = np.einsum("gkk->gk", moments.scatter)[:, :-1]
    return np.asarray(own > CONSTANT_VARIANCE * moments.count[:, None] * squares)


def stepwise(
    training: Moments, holdout: Moments, *, price: float = 0.0, squares: Vector | None = None
) -> Regressions:
    """Forward stepwise regressions of the last variable on the others.

    Parameters
    ----------
    training, holdout : Moments
        The same variables and groups. A group without holdout rows gets its mean.
    price : float
        Added to the holdout error for every coefficient.
    squares : ndarray of shape (n_regressors,) or None
        Mean squares of the regressors over all rows; None: over these groups.
    """
    n_groups, width = len(training), training.mean.shape[1] - 1
    swept = training.scatter.copy()
    own = np.einsum("gkk->gk", training.scatter)[:, :-1]
    varying = _varying(training, squares)
    inside = np.zeros((n_groups, width), dtype=bool)
    coef = np.zeros((n_groups, width))
    intercept = training.mean[:, -1].copy()
    best = Regressions(
        coef,
        intercept,
        squared_error(training, coef, intercept),
        squared_error(holdout, coef, intercept) + price,
    )
    scale = BETTER * (best.holdout + best.training)
    everyone = np.arange(n_groups)
    for step in range(width):
        left = np.einsum("gkk->gk", swept)[:, :-1]
        possible = ~inside & (left > COLLINEAR * own) & varying
        possible &= training.count[:, None] > step + 2
        gain = np.where(possible, swept[:, :-1, -1] ** 2 / np.where(possible, left, 1.0), -1.0)
        leader = gain.max(axis=1, initial=-1.0, keepdims=True)
        # of equals the first: sums in another order must not choose another regressor
        enter = np.argmax(gain >= leader * (1.0 - BETTER), axis=1)
        moving = everyone[leader[:, 0] > 0]
        if not moving.size:
            break
        _sweep(swept, moving, enter[moving])
        inside[moving, enter[moving]] = True
        trial = np.where(inside, swept[:, :-1, -1], 0.0)
        level = training.mean[:, -1] - np.einsum("gk,gk->g", trial, training.mean[:, :-1])
        error = squared_error(holdout, trial, level) + (step + 2) * price
        better = (error < best.holdout - scale) & (holdout.count > 0)
        better &= leader[:, 0] > 0
        costs = squared_error(training, trial, level)
        best = Regressions(
            np.where(better[:, None], trial, best.coef),
            np.where(better, level, best.intercept),
            np.where(better, costs, best.training),
            np.where(better, error, best.holdout),
        )
    return best


def full(training: Moments, ridge: float, squares: Vector | None = None) -> Vector:
    """Squared training errors of models with all regressors, shape (n_groups,).

    Parameters
    ----------
    training : Moments
    ridge : float
        Added to the diagonal, relative to it.
    squares : ndarray of shape (n_regressors,) or None
        Mean squares of the regressors over all rows; None: over these groups.
    """
    S = training.scatter
    width = S.shape[1] - 1
    varying = _varying(training, squares)
    level = np.where(varying, ridge * np.einsum("gkk->gk", S)[:, :-1], 1.0)
    both = varying[:, :, None] & varying[:, None, :]
    A = np.where(both, S[:, :-1, :-1], 0.0) + level[:, :, None] * np.eye(width)
    b = np.where(varying, S[:, :-1, -1], 0.0)
    solution = np.linalg.solve(A, b[:, :, None])[:, :, 0]
    return np.maximum(S[:, -1, -1] - np.einsum("gk,gk->g", b, solution), 0.0)


def _sweep(S: Vector, groups: NDArray[np.intp], pivots: NDArray[np.intp]) -> None:
    """Sweep the scatter of each group on its pivot: its column then holds coefficients."""
    part = S[groups]
    place = np.arange(len(groups))
    pivot = part[place, pivots, pivots]
    row = part[place, pivots, :] / pivot[:, None]
    column = part[place, :, pivots].copy()
    part -= column[:, :, None] * row[:, None, :]
    part[place, pivots, :] = row
    part[place, :, pivots] = -column / pivot[:, None]
    part[place, pivots, pivots] = 1.0 / pivot
    S[groups] = part
