"""The master of entropy-regularised LPBoost.

Primal   min F(Hα + b)   with  Σ|α_j| ≤ 1
Dual     max gain(r) − max_j |h_j·r|,   gain(r) = linear gain − (1/η) Σ u_i log(u_i/ū_i),  u = |r|

over the r that are feasible for a loss with a margin of its own (:func:`~cgboost.losses.nu_hinge`),
where ū spreads the mass over the rows as their prices are spread. As η grows, this becomes LPBoost
with ν; for η = (2/δ) log(1/ν) the soft margins ρ − Σξ/(νn) differ by at most δ/2 (Warmuth, Glocer,
Vishwanathan, ALT 2008, who show that the number of rounds is then at most of the order of
log(1/ν)/δ²).

The maximum over r is a smooth maximum over the rows; with slack ξ for the caps

    F(f) = min over ξ ≥ 0 of  (B/η) log Σ ū_i exp(η (rate_i − ξ_i))/B + Σ cap_i ξ_i

for the mass B, which CVXPY hands to a conic solver.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.losses import SupportVectorLoss
from cgboost.masters.budget import FEASIBILITY, BudgetEntry
from cgboost.masters.convex import ConvexMaster
from cgboost.protocols import MasterState, Priced

Vector = NDArray[np.float64]


class EntropyMaster(ConvexMaster):
    """Restricted master of ERLPBoost.

    Parameters
    ----------
    loss : SupportVectorLoss
        With an exact mass and without curvature: :func:`~cgboost.losses.nu_hinge`.
    eta : float
        How little the entropy counts.
    coef : {"free", "nonneg"}
    offset : {"none", "free"}
    solver : str
        "auto" or a CVXPY solver of exponential cones, such as "CLARABEL".
    """

    def __init__(
        self,
        loss: SupportVectorLoss,
        *,
        eta: float,
        coef: Any = "free",
        offset: Any = "free",
        solver: str = "auto",
    ) -> None:
        if loss.shrinks or loss.mass is None or loss.curvature is not None:
            raise ValueError("EntropyMaster needs a loss with an exact mass, such as nu_hinge")
        if not 0 < eta < np.inf:
            raise ValueError(f"eta must be positive and finite, got {eta!r}")
        self.loss, self.eta, self.mass = loss, eta, loss.mass.amount
        sides = loss.sides
        self._spread = self.mass * sides.cap / sides.cap.sum()
        super().__init__(
            self._smooth_maximum,
            penalty=lambda a, b: 0.0,
            constraints=lambda a, b, f: [self._cp.norm1(a) <= 1.0],
            n_rows=loss.n_rows,
            reach=1.0,
            coef=coef,
            offset=offset,
            solver=solver,
        )

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Build and solve the restricted problem; the pseudo-response is made feasible."""
        state = super().solve(time_limit=time_limit)
        response = self.loss.feasible(state.pseudo_response, balanced=self._has_offset)
        scores = response @ self._matrix
        largest = float((np.abs(scores) if self._two_sided else scores).max(initial=0.0))
        entry = BudgetEntry(
            two_sided=self._two_sided,
            largest=largest,
            budget=1.0,
            scale=max(1.0, abs(state.objective)),
        )
        slack = self.loss.slack(state.output)
        return replace(state, pseudo_response=response, entry=entry, slack=slack)

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """Dual objective at r, with the largest score of all columns."""
        assert isinstance(state.entry, BudgetEntry)
        known = state.entry.largest
        largest = known + FEASIBILITY * max(1.0, known) + priced.max_excess * state.entry.scale
        return self._gain(state.pseudo_response) - largest

    def _gain(self, response: Vector) -> float:
        u = self.loss.sides.values(response)
        share = np.where(u > 0, u, self._spread) / self._spread
        return self.loss.gain(response) - float(u @ np.log(share)) / self.eta

    def _smooth_maximum(self, f: Any) -> Any:
        cp, sides = self._cp, self.loss.sides
        xi = cp.Variable(len(sides), nonneg=True)
        rate = cp.multiply(sides.sign, self.loss.target[sides.row] - f[sides.row])
        shares = np.log(self._spread / self.mass)
        maximum = cp.log_sum_exp(self.eta * (rate - xi) + shares) / self.eta
        return self.mass * maximum + sides.cap @ xi
