"""The 1-norm master: a linear program (Bi, Zhang, Bennett, KDD 2004, eq. 4 to 6).

Primal   min Σ|α_j| [+ |b|] + loss(Hα + b)
Dual     max gain(r)   with  |h_j·r| ≤ 1  (α free)  or  h_j·r ≤ 1  (α ≥ 0),  r feasible for the loss
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.protocols import MasterState, Priced, Vertex
from cgboost.masters.dual_solvers.simplex import DualForm
from cgboost.masters.support_vector.crossover import can_cross_over, crossover
from cgboost.masters.support_vector.master import (
    SupportVectorMaster,
    solver_errors_as_master_errors,
)

Vector = NDArray[np.float64]

VERTICES = "highs"
"""The solver for columns that repeat each other: of many optima a simplex finds a sparse one."""

FEASIBILITY = 1e-9
"""Scores this close to 1 count as priced out."""


@dataclass(frozen=True)
class OneNormEntry:
    """A column prices out when its score exceeds 1."""

    two_sided: bool
    additive: ClassVar[bool] = False

    def excess(self, scores: Vector) -> Vector:
        """|s| − 1, or s − 1 where α ≥ 0; the gap is at most the largest of them."""
        size = np.abs(scores) if self.two_sided else scores
        return np.where(size > 1.0 + FEASIBILITY, size - 1.0, 0.0)

    def settled(self, score: float) -> float:
        """±1, the boundary of the dual constraint."""
        return float(np.sign(score)) if abs(score) > 1.0 else score


class OneNormMaster(SupportVectorMaster):
    """Restricted 1-norm master; see :class:`SupportVectorMaster` for the parameters.

    Not for losses with a margin of their own choice (:func:`~cgboost.losses.nu_hinge`): they and
    the penalty grow alike with α, so that the optimum would be 0 or unbounded;
    :class:`~cgboost.masters.BudgetMaster` is the 1-norm form of these.
    """

    def _bound(self, state: MasterState, priced: Priced) -> float:
        """Dual objective at r/τ, where τ ≥ 1 is the largest score: r/τ violates no column."""
        tau = 1.0 + priced.max_excess
        if self.offset == "penalized":
            tau = max(tau, abs(state.pseudo_response.sum()))
        return max(0.0, self.loss.gain(state.pseudo_response / tau))

    def crossover(
        self, coef: Vector, intercept: float, *, time_limit: float | None = None
    ) -> Vertex | None:
        """Optimal vertex over the columns that are used, from a point near it.

        None where they are left as they are: they stand on a vertex already, as the simplex of a
        named solver leaves them, or the basis would be too large.

        Parameters
        ----------
        coef : ndarray of shape (at most n_columns,)
            Near the optimum over the columns where it is not 0.
        intercept : float
        time_limit : float or None
            In seconds.

        Raises
        ------
        MasterError
            If the simplex gives no answer.
        """
        used, form = np.flatnonzero(coef), self._form()
        if not can_cross_over(self.loss, form, self._solver, len(used)):
            return None
        values = [self.columns[j].values for j in used]
        with solver_errors_as_master_errors():
            point = crossover(self.loss, form, values, coef[used], intercept, time_limit)
        vertex = np.zeros(len(coef))
        vertex[used] = point.coef
        if self._best is not None and len(coef) == len(self._best.coef):
            self._best = replace(point, coef=vertex, response=self._best.response)
        return Vertex(vertex, point.intercept, self._objective(point))

    def _form(self) -> DualForm:
        if not self.loss.shrinks:
            raise ValueError(
                "OneNormMaster needs a loss that is 0 or grows as the model shrinks to nothing: "
                "a margin that the loss chooses itself needs a BudgetMaster"
            )
        return DualForm(two_sided=self.two_sided, offset=self.offset)

    def _penalty(self, coef: Vector, intercept: float) -> float:
        offset = abs(intercept) if self.offset == "penalized" else 0.0
        return float(np.abs(coef).sum()) + offset

    def _entry(self, objective: float, response: Vector) -> OneNormEntry:
        return OneNormEntry(two_sided=self.two_sided)

    def _worth_of(self, margin: float) -> float:
        return 0.0  # of losses without a margin of their own
