"""Counts, means and covariances of rows, which can be merged, and stepwise regression from them.

A batch has one set of statistics for each of many groups of rows. Statistics of disjoint parts of
the data merge into those of the whole, in any order, by

    n = n₁ + n₂     μ = μ₁ + (n₂/n)δ     S = S₁ + S₂ + (n₁n₂/n)δδᵀ     δ = μ₂ − μ₁

(Chan, Golub, LeVeque, *Algorithms for computing the sample variance*, Amer. Statist. 37, 1983),
which loses no digits to large means.

In forward stepwise regression, of many groups of rows at once, regressors come in the order in
which each lowers the squared error of the training rows most, found by sweeping the scatter matrix;
how many of them stay is decided by the error on holdout rows, whose statistics say what any model
costs there:

    Σ w (r − a − bᵀx)² = S_rr − 2bᵀS_xr + bᵀS_xx b + n (r̄ − a − bᵀx̄)²
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.arrays import Indices, Mask, Vector

Codes = NDArray[np.integer]

CANCELLED = 1e-6
"""Variances below this, relative to the squared distance from the mean of all, or from the centre
of the group where sums were made about that, are rounding. Sums of many rows are exact to about
:data:`RESIDUE`, 1e-13: at this limit seven digits of a variance are right, as :data:`COLLINEAR`
asks. With 1e-10 rounding decided between x and a regressor that is equal to it: 18 of 1500 random
tables got another tree by sums that differ by 1e-13."""


@dataclass(frozen=True)
class Moments:
    """Statistics of some variables in each of a batch of groups.

    Attributes
    ----------
    count : ndarray of shape (n_groups,)
        Sums of weights.
    mean : ndarray of shape (n_groups, n_variables)
        0 for an empty group.
    scatter : ndarray of shape (n_groups, n_variables, n_variables)
        Σ w (z − mean)(z − mean)ᵀ.
    """

    count: Vector
    mean: Vector
    scatter: Vector

    @classmethod
    def empty(cls, n_groups: int, n_variables: int) -> Moments:
        """Statistics of no rows."""
        return cls(
            np.zeros(n_groups),
            np.zeros((n_groups, n_variables)),
            np.zeros((n_groups, n_variables, n_variables)),
        )

    @classmethod
    def of(cls, values: Vector, weights: Vector) -> Moments:
        """Statistics of the rows of an array, as one group."""
        return cls.from_rows(values.copy(order="K"), weights)

    @classmethod
    def from_rows(cls, values: Vector, weights: Vector) -> Moments:
        """As :meth:`of`, in the array itself: its values are lost."""
        count = float(weights.sum())
        mean = weights @ values / count if count > 0 else np.zeros(values.shape[1])
        centred = np.subtract(values, mean, out=values)
        centred *= np.sqrt(weights)[:, None]
        scatter = centred.T @ centred  # of one array with itself: half the work
        return cls(np.array([count]), mean[None], scatter[None])

    @classmethod
    def from_sums(cls, sums: Vector, origin: Vector) -> Moments:
        """Statistics from sums of products, Σ w a aᵀ with a = (1, z − origin).

        Parameters
        ----------
        sums : ndarray of shape (n_groups, n_products)
            Of a_i a_j, i ≤ j, by j and then by i: those of fewer variables come first.
        origin : ndarray of shape (n_variables,) or (n_groups, n_variables)
            Near the means.
        """
        width = origin.shape[-1]
        square = np.empty((len(sums), 1 + width, 1 + width))
        second, first = np.tril_indices(1 + width)
        square[:, first, second] = square[:, second, first] = sums
        count = square[:, 0, 0].copy()
        there = count[:, None] > 0
        away = np.where(there, square[:, 0, 1:], 0.0) / np.where(there, count[:, None], 1.0)
        scatter = square[:, 1:, 1:] - count[:, None, None] * (away[:, :, None] * away[:, None, :])
        own = np.einsum("gkk->gk", scatter)
        np.maximum(own, 0.0, out=own)
        return cls(count, np.where(there, origin + away, 0.0), scatter)

    def __len__(self) -> int:
        return len(self.count)

    def __getitem__(self, groups: Any) -> Moments:
        """Some of the groups."""
        return Moments(self.count[groups], self.mean[groups], self.scatter[groups])

    @classmethod
    def stacked(cls, parts: Sequence[Moments]) -> Moments:
        """The groups of several batches, one after another."""
        return cls(
            np.concatenate([part.count for part in parts]),
            np.concatenate([part.mean for part in parts]),
            np.concatenate([part.scatter for part in parts]),
        )

    def padded(self, n_groups: int) -> Moments:
        """A copy with empty groups behind, ``n_groups`` in all."""
        longer = Moments.empty(n_groups, self.mean.shape[1])
        longer.put(np.arange(len(self)), self)
        return longer

    def put(self, groups: Any, other: Moments) -> None:
        """Replace some of the groups."""
        self.count[groups], self.mean[groups] = other.count, other.mean
        self.scatter[groups] = other.scatter

    def of_variables(self, chosen: list[int]) -> Moments:
        """Statistics of some of the variables."""
        return Moments(self.count, self.mean[:, chosen], self.scatter[:, chosen][:, :, chosen])

    def merged(self, other: Moments) -> Moments:
        """Group by group, the statistics of the rows of both."""
        count = self.count + other.count
        share = np.divide(other.count, count, out=np.zeros_like(count), where=count > 0)
        step = other.mean - self.mean
        both = (self.count * share)[:, None, None]
        return Moments(
            count,
            self.mean + share[:, None] * step,
            self.scatter + other.scatter + both * (step[:, :, None] * step[:, None, :]),
        )

    def without_noise(self, regressors: slice, centres: Vector | None = None) -> Moments:
        """The same with a scatter of 0 where it is nothing but rounding errors.

        Sums of squares about the mean of all rows have errors of about ε n (μ_g − μ)² in a group
        that is far from this mean, and those about a centre c of every group errors of about
        ε n (μ_g − c)². A regressor that varies in a group by little more than that is constant
        there: its slope would be one rounding error over another.

        Parameters
        ----------
        regressors : slice
            The variables whose statistics were made about the mean.
        centres : ndarray of shape (n_groups,) or None
            What the first variable was measured from in each group, if it was.
        """
        whole = self.together()
        spread = whole.scatter[0].diagonal() / max(float(whole.count[0]), np.finfo(float).tiny)
        away = (self.mean - whole.mean) ** 2 + spread
        own = np.einsum("gkk->gk", self.scatter)
        varies = np.ones(self.mean.shape, dtype=bool)
        varies[:, regressors] = (own > CANCELLED * self.count[:, None] * away)[:, regressors]
        if centres is not None:
            varies[:, 0] = own[:, 0] > CANCELLED * self.count * (self.mean[:, 0] - centres) ** 2
        both = varies[:, :, None] & varies[:, None, :]
        return Moments(self.count, self.mean, np.where(both, self.scatter, 0.0))

    def together(self) -> Moments:
        """All groups as one."""
        count = float(self.count.sum())
        mean = self.count @ self.mean / count if count > 0 else np.zeros(self.mean.shape[1])
        step = self.mean - mean
        scatter = self.scatter.sum(axis=0) + (step * self.count[:, None]).T @ step
        return Moments(np.array([count]), mean[None], scatter[None])

    def joined(self, into: Codes, n_groups: int) -> Moments:
        """Groups that are parts of larger ones: group g becomes part of ``into[g]``."""
        members = membership(into, n_groups)
        count = members @ self.count
        sums = members @ (self.count[:, None] * self.mean)
        mean = np.divide(sums, count[:, None], out=np.zeros_like(sums), where=count[:, None] > 0)
        step = self.mean - mean[into]
        width = self.mean.shape[1]
        scatter = self.scatter + self.count[:, None, None] * (step[:, :, None] * step[:, None, :])
        joint = members @ scatter.reshape(len(self), -1)
        return Moments(count, mean, joint.reshape(n_groups, width, width))


def membership(codes: Codes, n_groups: int) -> sparse.csc_array:
    """Which rows are in which group, shape (n_groups, n_rows): times rows, their sums by group.

    The product is one sweep over the rows.
    """
    n_rows = len(codes)
    places = np.arange(n_rows + 1, dtype=np.int32)
    entries = (np.ones(n_rows), codes.astype(np.int32, copy=False), places)
    return sparse.csc_array(entries, shape=(n_groups, n_rows))


COLLINEAR = 1e-6
"""A regressor of which no more than this share is new is left out, and of regressors that lower the
error alike but for this share the first is taken. Of a variance at the limit :data:`CANCELLED`
seven digits are right."""

CONSTANT_VARIANCE = 1e-22
"""A regressor with no more than this share of its mean square as variance is constant: the means of
two groups in which it is the same differ by the rounding of their sums. With 1e-26 268 of 1500
random tables got another tree by sums that differ by 1e-13."""

BETTER = 1e-9
"""Differences below this, relative to the whole, do not decide: the simpler model is taken. Sums in
another order differ in their last digits, and must not choose another model."""


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


def _varying(moments: Moments, squares: Vector | None) -> Mask:
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
        enter = np.argmax(gain >= leader * (1.0 - COLLINEAR), axis=1)
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


def stepwise_signed(
    training: Moments, holdout: Moments, *, price: float, signs: Sequence[int]
) -> Regressions:
    """:func:`stepwise` of one group, with signs of coefficients.

    Regressors whose coefficients have the other sign are left out, and the others chosen anew.

    Parameters
    ----------
    training, holdout, price
        As :func:`stepwise` takes them.
    signs : sequence of int
        1 or −1 for coefficients that must not be negative or positive; 0 for the others.
    """
    model = stepwise(training, holdout, price=price)
    wanted = np.array(signs, dtype=np.float64)
    kept = np.arange(len(wanted))
    while (wrong := model.coef[0] * wanted[kept] < 0.0).any():
        kept = kept[~wrong]
        chosen = [*kept.tolist(), len(wanted)]
        model = stepwise(training.of_variables(chosen), holdout.of_variables(chosen), price=price)
    coef = np.zeros((1, len(wanted)))
    coef[:, kept] = model.coef
    return Regressions(coef, model.intercept, model.training, model.holdout)


def full(training: Moments, ridge: float, squares: Vector | None = None) -> Vector:
    """Squared training errors of models with all regressors, shape (n_groups,).

    Parameters
    ----------
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


def _sweep(S: Vector, groups: Indices, pivots: Indices) -> None:
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
