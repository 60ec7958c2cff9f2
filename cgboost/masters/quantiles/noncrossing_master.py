"""The master of several quantiles whose outputs must not cross.

Primal   min Σ_k [Σ_i c_i ρ_{q_k}(y_i − f_k(x_i)) + Σ_j |β_jk|],   f_1(x_i) ≤ … ≤ f_K(x_i)
Dual     max Σ_i y_i Σ_k ρ_ik   with  |x_j·ρ_k| ≤ 1,  Σ_i ρ_ik = 0,  ρ of the loss

with f_k = Σ_j β_jk x_j + b_k and ρ as in :mod:`cgboost.losses.dual.noncrossing`. A column is a
feature for one output. Crossing constraints are rows of the primal and enter as they are violated,
as their multipliers in the dual do: of n(K − 1) few are tight at an optimum. (Bondell, Reich, Wang,
*Noncrossing quantile regression curve estimation*, Biometrika 97, 2010, solve the linear program.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import Vertex
from cgboost.losses.dual.noncrossing import NoncrossingLoss
from cgboost.masters.support_vector.support_vector_master import SignRule, SupportVectorMaster
from cgboost.optimizers.quantiles.joint_session import JointSession
from cgboost.optimizers.quantiles.restricted_quantiles import RestrictedQuantiles
from cgboost.optimizers.simplex.crossover import MOST_BASIS_COLUMNS
from cgboost.optimizers.solver_options import solver_errors_as_master_errors
from cgboost.penalties import L1


class NoncrossingMaster(SupportVectorMaster):
    """Restricted master of several quantiles, with a free offset for each.

    Its rows are the pairs (output, training row); a column has its ``output``, and is 0 on the
    pairs of all others.

    Parameters
    ----------
    quantiles : sequence of float
        Increasing, between 0 and 1.
    target : ndarray of shape (n_rows,)
    cost : ndarray of shape (n_rows,)
        Of one unit of error. On rows that cost nothing outputs may cross.
    coef : {"free", "nonneg"}
        Sign rule for the coefficients.
    solver, solver_options
        As for :class:`SupportVectorMaster`.

    Raises
    ------
    ValueError
        If a cost is negative or not finite, or a target not.
    """

    def __init__(
        self,
        quantiles: ArrayLike,
        target: Vector,
        cost: Vector,
        *,
        coef: SignRule = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        levels = np.array(quantiles, dtype=np.float64)
        loss = NoncrossingLoss.of(target, cost, levels)
        super().__init__(
            loss, L1(), coef=coef, offset="free", solver=solver, solver_options=solver_options
        )
        self._can_reprice = False  # PrimalSimplex has kinks of single rows alone

    def _open_live(self, loss: NoncrossingLoss) -> RestrictedQuantiles:
        return RestrictedQuantiles(loss, self.form, self._solver, self._solver_options)

    def crossover(
        self, coef: Vector, intercept: Any, *, time_limit: float | None = None
    ) -> Vertex | None:
        """A vertex of the optimal face, from a point near it.

        None where the answer is none of the last round, stands on a vertex already, or would have
        too large a basis.

        Raises
        ------
        MasterError
            If the simplex, which is called where the point is too coarse, gives no answer.
        """
        live = self._live
        if not (isinstance(live.session, JointSession) and len(coef) == live.columns.count):
            return None
        if not 0 < np.count_nonzero(coef) <= MOST_BASIS_COLUMNS:
            return None
        coef, intercept = live.polish(time_limit) or self._before_values.start(coef, intercept)
        with solver_errors_as_master_errors(self._advice):
            point = live.vertex(coef, intercept + live.columns.shift(coef), time_limit)
        return self._moved(point, point.coef)

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the restricted problem."""
        for column in columns:
            self._check_shape(column)
        if columns:
            owner = np.array([column.output for column in columns], dtype=np.intp)
            outputs = self.loss.n_outputs
            values = [column.values.reshape(outputs, -1)[column.output] for column in columns]
            self._live.add(values, owner)
            self.columns.extend(columns)
