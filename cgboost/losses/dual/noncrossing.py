"""Pinball losses of several quantiles whose outputs must not cross.

Outputs f_1, …, f_K for the quantiles q_1 < … < q_K, at costs c_i of the n training rows:

    F(f) = Σ_k Σ_i c_i ρ_{q_k}(y_i − f_k(x_i))      with  f_1(x_i) ≤ … ≤ f_K(x_i)  for every i

The rows of a master are the Kn pairs (output, training row), the first output first. Multipliers
λ_ik ≥ 0 of f_k(x_i) ≤ f_{k+1}(x_i) move the pseudo-response from one output to the next,

    ρ_ik = r_ik − λ_ik + λ_i,k−1,      (q_k − 1) c_i ≤ r_ik ≤ q_k c_i,

and the gain is Σ y_i r_ik = Σ y_i ρ_ik, since Σ_k λ cancels: the right-hand side of a crossing
constraint is 0. With free offsets Σ_i ρ_ik = 0 for every k, so that

    Σ_i λ_ik = Σ_{l ≤ k} Σ_i r_il ≤ Λ_k = C·min(Σ_{l ≤ k} q_l, Σ_{l > k} (1 − q_l)),     C = Σ c_i.

A crossing may therefore as well be charged by any price above Λ_k: that is an exact penalty, with
the same optimum (Bondell, Reich, Wang, *Noncrossing quantile regression curve estimation*,
Biometrika 97, 2010, have the constraints).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.forks import cached_property
from cgboost.losses.dual.support_vector import (
    ZERO_SUM,
    BoxVariables,
    SupportVectorLoss,
    check_costs,
    project_on_sum,
)

EXACT_PENALTY = 2.0
"""Price of a crossing, relative to the largest sum of multipliers. Anything above 1 is exact; at 2
the multipliers stay in the lower half of their range, far from the end that means nothing."""


@dataclass(frozen=True)
class NoncrossingVariables(BoxVariables):
    """Dual variables u of the boxes of the pairs, and behind them the multipliers λ of crossings.

    A multiplier λ_ik has the pair (k, i) as its row, the sign −1 and the target 0; it adds what it
    takes there to the pair (k + 1, i).

    Attributes
    ----------
    crossing : ndarray of int, shape (n_crossings,)
        Which variables are multipliers.
    n_rows : int
        Number of training rows: the distance of a pair from that of the next output.
    """

    crossing: Indices
    n_rows: int

    @property
    def n_boxes(self) -> int:
        """Number of variables before the multipliers."""
        return len(self) - len(self.crossing)

    def response(self, u: Vector) -> Vector:
        """The pseudo-response ρ of dual variables and multipliers, shape (n_pairs,)."""
        moved = np.bincount(
            self.row[self.crossing] + self.n_rows, u[self.crossing], minlength=len(self.base)
        )
        return super().response(u) + moved

    def rate(self, output: Vector) -> Vector:
        """As of boxes; of a multiplier, by how much the outputs cross."""
        rate = super().rate(output)
        rate[self.crossing] -= output[self.row[self.crossing] + self.n_rows]
        return rate


@dataclass(frozen=True)
class QuantilesLoss(SupportVectorLoss):
    """Pinball losses of several outputs; who uses them keeps these apart.

    Attributes
    ----------
    quantiles : ndarray of shape (n_outputs,)
        Increasing.
    """

    quantiles: Vector = field(default_factory=lambda: np.full(1, 0.5))

    @classmethod
    def of(cls, target: Vector, cost: Vector, quantiles: Vector) -> Self:
        """The loss of training rows.

        Parameters
        ----------
        target : ndarray of shape (n_rows,)
        cost : ndarray of shape (n_rows,)
            Of one unit of error. Outputs may cross on rows that cost nothing.
        quantiles : ndarray of shape (n_outputs,)
            Increasing, between 0 and 1.
        """
        check_costs(target, cost)
        return cls(
            target=np.tile(target, len(quantiles)),
            lower=np.outer(quantiles - 1.0, cost).ravel(),
            upper=np.outer(quantiles, cost).ravel(),
            quantiles=quantiles,
        )

    @property
    def n_outputs(self) -> int:
        """Number of quantiles."""
        return len(self.quantiles)

    @property
    def cost(self) -> Vector:
        """Cost of one unit of error on each training row, shape (n_training_rows,)."""
        size = self.n_rows // self.n_outputs
        return self.upper[:size] - self.lower[:size]

    @property
    def most_crossing(self) -> Vector:
        """Λ_k, what the multipliers of a pair of outputs add up to at most, (n_outputs − 1,)."""
        below = np.cumsum(self.quantiles)[:-1]
        above = np.cumsum((1.0 - self.quantiles)[::-1])[-2::-1]
        return float(self.cost.sum()) * np.minimum(below, above)

    def feasible(self, response: Vector, *, balanced: bool) -> Vector:
        """The response as it is: restricted problems answer with feasible ones."""
        return response


@dataclass(frozen=True)
class NoncrossingLoss(QuantilesLoss):
    """Pinball losses of several outputs, and the exact penalty of their crossings."""

    @cached_property
    def variables(self) -> NoncrossingVariables:
        """The dual variables of the boxes, and the multipliers of all crossings."""
        boxes, size = super().variables, self.n_rows // self.n_outputs
        counting = np.flatnonzero(self.cost > 0)
        row = (size * np.arange(self.n_outputs - 1)[:, None] + counting).ravel()
        nothing = np.zeros(len(row))
        return NoncrossingVariables(
            base=boxes.base,
            row=np.append(boxes.row, row),
            sign=np.append(boxes.sign, nothing - 1.0),
            costs=np.append(
                boxes.costs, np.repeat(EXACT_PENALTY * self.most_crossing, len(counting))
            ),
            curvature=np.append(boxes.curvature, nothing),
            target=np.append(boxes.target, nothing),
            epsilon=0.0,
            crossing=len(boxes) + np.arange(len(row)),
            n_rows=size,
        )

    def balanced_response(self, u: Vector) -> Vector:
        """The pseudo-response of variables near u with Σ_i ρ_ik = 0 for every output.

        The multipliers are kept, as far as boxes allow, and the responses of each output brought to
        the sum that they ask for.
        """
        variables, outputs = self.variables, self.n_outputs
        multipliers = np.maximum(u[variables.crossing], 0.0)
        row = variables.row[variables.crossing]
        boxes = u.copy()
        boxes[variables.crossing] = 0.0
        r = variables.response(np.clip(boxes, 0.0, variables.costs)).reshape(outputs, -1)
        lower, upper = self.lower.reshape(r.shape), self.upper.reshape(r.shape)
        sums = np.bincount(row // variables.n_rows, multipliers, minlength=outputs)
        wanted = np.diff(sums, prepend=0.0)  # none above the last output
        room = np.where(wanted > 0, upper.sum(axis=1), -lower.sum(axis=1))
        over = float(np.max(np.abs(wanted) / room, initial=0.0))
        if over > 1.0:
            multipliers, wanted = multipliers / over, wanted / over
        for k in range(outputs):
            if abs(r[k].sum() - wanted[k]) > ZERO_SUM * np.abs(r[k]).sum():
                r[k] = project_on_sum(r[k], lower[k], upper[k], wanted[k])
        moved = np.bincount(row, multipliers, minlength=self.n_rows)
        moved -= np.bincount(row + variables.n_rows, multipliers, minlength=self.n_rows)
        return r.ravel() - moved

    def uncrossed(self, output: Vector, intercept: Vector) -> Vector:
        """Offsets so much further apart that no outputs cross on rows that cost anything.

        Parameters
        ----------
        output : ndarray of shape (n_pairs,)
            Model outputs with these offsets.
        intercept : ndarray of shape (n_outputs,)

        Returns
        -------
        ndarray of shape (n_outputs,)
        """
        outputs = output.reshape(self.n_outputs, -1)[:, self.cost > 0]
        return apart(intercept, np.min(np.diff(outputs, axis=0), axis=1, initial=np.inf))


def apart(offsets: Vector, least: Vector) -> Vector:
    """Offsets so much further apart that no difference of neighbouring outputs is below 0.

    The middle output stays, those above it are raised and those below it lowered, each by no more
    than it takes.

    Parameters
    ----------
    offsets : ndarray of shape (n_outputs,)
    least : ndarray of shape (n_outputs − 1,)
        The least difference of each output and the next, with these offsets.
    """
    middle, shift = (len(offsets) - 1) // 2, np.zeros(len(offsets))
    for k in range(middle, len(offsets) - 1):
        shift[k + 1] = max(0.0, shift[k] - least[k])
    for k in range(middle - 1, -1, -1):
        shift[k] = min(0.0, shift[k + 1] + least[k])
    return offsets + shift
