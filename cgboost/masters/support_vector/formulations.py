"""Masters of one penalty each, by name.

**1-norm**, a linear program (Bi, Zhang, Bennett, KDD 2004, eq. 4 to 6):

    Primal   min Σ|α_j| [+ |b|] + loss(Hα + b)
    Dual     max gain(r)   with  |h_j·r| ≤ 1  (α free)  or  h_j·r ≤ 1  (α ≥ 0),  r feasible

**A budget** for the total size of the coefficients:

    Primal   min loss(Hα + b)   with  Σ|α_j| [+ |b|] ≤ D
    Dual     max gain(r) − D·max_j |h_j·r|   (or max(0, h_j·r) where α ≥ 0),  r feasible

This is the form of LPBoost with ν (Demiriz, Bennett, Shawe-Taylor, Machine Learning 46, 2002): with
D = 1 the model is a convex combination of columns and its margin ρ is comparable between models.
Σ|α| = 1 is asked for there; over columns that come with both signs that is the same. If α = 0 is
optimal, no combination of columns has a positive margin for that ν. (Of Σ|α| with ν estimators make
a :class:`SupportVectorMaster` with the penalty ``L1Ball``; this one is for other formulations.)

**2-norm**, a quadratic program (Bi, Zhang, Bennett, KDD 2004, eq. 7 to 12):

    Primal   min ½Σα_j² [+ ½b²] + loss(Hα + b)
    Dual     max gain(r) − ½Σ φ(h_j·r)²   with  φ(s) = s  (α free)  or  max(0, s)  (α ≥ 0)

**Entropy**, entropy-regularised LPBoost (Warmuth, Glocer, Vishwanathan, ALT 2008):

    Primal   min F(Hα + b)   with  Σ|α_j| [+ |b|] ≤ D       (F: :mod:`cgboost.losses.dual.entropic`)
    Dual     max gain(r) − D·max_j |h_j·r|,   gain(r) = −(1/η) Σ u_i log(u_i/ū_i),  u = |r|

The entropy keeps the distribution over the rows from jumping between rounds: their number is of
the order of log(1/ν)/δ² for a soft margin within δ of the best one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cgboost.losses import EntropicLoss, SupportVectorLoss
from cgboost.masters.support_vector.support_vector_master import (
    Offset,
    SignRule,
    SupportVectorMaster,
)
from cgboost.penalties import L1, L2, Entropy, L1Ball

VERTICES = "highs"
"""The solver for columns that repeat each other: of many optima a simplex finds a sparse one."""


class OneNormMaster(SupportVectorMaster):
    """Restricted 1-norm master; see :class:`SupportVectorMaster` for the parameters.

    Not for losses with their own margin choice (:func:`~cgboost.losses.nu_hinge`): they and
    the penalty grow alike with α, so that the optimum would be 0 or unbounded;
    :class:`~cgboost.masters.BudgetMaster` is the 1-norm form of these.
    """

    def __init__(
        self,
        loss: Any,
        *,
        coef: SignRule = "free",
        offset: Offset = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            loss, L1(), coef=coef, offset=offset, solver=solver, solver_options=solver_options
        )


class BudgetMaster(SupportVectorMaster):
    """Restricted master with Σ|α| ≤ budget; further parameters as :class:`SupportVectorMaster`.

    Parameters
    ----------
    budget : float, default=1
        The constant D.
    """

    def __init__(
        self,
        loss: Any,
        *,
        budget: float = 1.0,
        coef: SignRule = "free",
        offset: Offset = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        if not 0 < budget < np.inf:
            raise ValueError(f"budget must be positive and finite, got {budget!r}")
        self.budget = budget
        super().__init__(
            loss,
            L1Ball(budget),
            coef=coef,
            offset=offset,
            solver=solver,
            solver_options=solver_options,
        )


class TwoNormMaster(SupportVectorMaster):
    """Restricted 2-norm master; see :class:`SupportVectorMaster` for the parameters."""

    def __init__(
        self,
        loss: Any,
        *,
        coef: SignRule = "free",
        offset: Offset = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            loss, L2(), coef=coef, offset=offset, solver=solver, solver_options=solver_options
        )


class EntropyMaster(SupportVectorMaster):
    """Restricted master of ERLPBoost; parameters as :class:`BudgetMaster`.

    The loss is an :class:`~cgboost.losses.EntropicLoss`, the solver one of quadratic programs.
    """

    def __init__(
        self,
        loss: SupportVectorLoss,
        *,
        budget: float = 1.0,
        coef: SignRule = "free",
        offset: Offset = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(loss, EntropicLoss):
            raise ValueError(f"EntropyMaster needs an EntropicLoss, got a {type(loss).__name__}")
        if not 0 < budget < np.inf:
            raise ValueError(f"budget must be positive and finite, got {budget!r}")
        self.budget = budget
        penalty = Entropy(loss.eta, radius=budget)
        super().__init__(
            loss, penalty, coef=coef, offset=offset, solver=solver, solver_options=solver_options
        )
