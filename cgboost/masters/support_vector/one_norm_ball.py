"""The master with a budget: coefficients of a given total size.

Primal   min loss(Hα + b)   with  Σ|α_j| [+ |b|] ≤ D
Dual     max gain(r) − D·max_j |h_j·r|   (or max(0, h_j·r) where α ≥ 0),  r feasible for the loss

This is the form of LPBoost with ν (Demiriz, Bennett, Shawe-Taylor, Machine Learning 46, 2002): with
D = 1 the model is a convex combination of columns and its margin ρ is comparable between models.
Σ|α| = 1 is asked for there; over columns that come with both signs that is the same. If α = 0 is
optimal, no combination of columns has a positive margin for that ν.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.protocols import MasterState, Priced
from cgboost.losses import SupportVectorLoss
from cgboost.masters.dual_solvers.simplex import DualForm
from cgboost.masters.support_vector.master import Offset, Sign, SupportVectorMaster
from cgboost.masters.support_vector.one_norm import OneNormMaster

Vector = NDArray[np.float64]

FEASIBILITY = 1e-12
"""Scores above the largest so far by this, relative to it, count as priced out."""

NOISE = 1e-13
"""So do scores that are above it by this, relative to Σ|r| and the largest entry of a column."""


@dataclass(frozen=True)
class BudgetEntry:
    """A column prices out when its score exceeds the largest among those in the master."""

    two_sided: bool
    largest: float
    cut: float
    budget: float
    scale: float
    additive: ClassVar[bool] = False

    def excess(self, scores: Vector) -> Vector:
        """D·(|s| − largest) relative to max(1, |objective|); the gap is at most the largest."""
        over = (np.abs(scores) if self.two_sided else scores) - self.largest
        return np.where(over > self.cut, self.budget * over / self.scale, 0.0)

    def settled(self, score: float) -> float:
        """± the largest score so far."""
        return float(np.sign(score)) * self.largest if abs(score) > self.largest else score


class BudgetMaster(SupportVectorMaster):
    """Restricted master with Σ|α| ≤ budget; further parameters as :class:`SupportVectorMaster`.

    Parameters
    ----------
    budget : float, default=1
        The constant D.
    """

    def __init__(
        self,
        loss: SupportVectorLoss,
        *,
        budget: float = 1.0,
        coef: Sign = "free",
        offset: Offset = "free",
        solver: str = "auto",
    ) -> None:
        if not 0 < budget < np.inf:
            raise ValueError(f"budget must be positive and finite, got {budget!r}")
        self.budget = budget
        super().__init__(loss, coef=coef, offset=offset, solver=solver)

    def _bound(self, state: MasterState, priced: Priced) -> float:
        """Dual objective at r, with the largest score of all columns."""
        assert isinstance(state.entry, BudgetEntry)
        largest = state.entry.largest + state.entry.cut
        largest += priced.max_excess * state.entry.scale / self.budget
        return self.loss.gain(state.pseudo_response) - self.budget * largest

    def _form(self) -> DualForm:
        return DualForm(budget=self.budget, two_sided=self.two_sided, offset=self.offset)

    def _penalty(self, coef: Vector, intercept: float) -> float:
        return 0.0

    def _entry(self, objective: float, response: Vector) -> BudgetEntry:
        scores = self._dual.scores(response)
        largest = float((np.abs(scores) if self.two_sided else scores).max(initial=0.0))
        if self.offset == "penalized":
            largest = max(largest, abs(float(response.sum())))
        return BudgetEntry(
            two_sided=self.two_sided,
            largest=largest,
            cut=max(
                FEASIBILITY * largest,
                NOISE * float(np.abs(response).sum()) * self._dual.largest_entry,
            ),
            budget=self.budget,
            scale=self._scale(objective),
        )

    def _worth_of(self, margin: float) -> float:
        mass = 0.0 if self.loss.mass is None else self.loss.mass.amount
        return margin * mass * self.budget * self._dual.largest_entry


def one_norm_master(loss: SupportVectorLoss) -> type[OneNormMaster] | type[BudgetMaster]:
    """The 1-norm master that suits a loss: with a penalty, or with a budget of 1.

    A loss that chooses its margin itself grows with α as the 1-norm does, so that only their ratio
    matters: the 1-norm is then given, not penalised.
    """
    return OneNormMaster if loss.shrinks else BudgetMaster
