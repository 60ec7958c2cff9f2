"""The masters of several quantiles whose outputs must not cross.

Primal   min Σ_k [Σ_i c_i ρ_{q_k}(y_i − f_k(x_i)) + Σ_j |β_jk|],   f_k = Σ_j β_jk x_j + b_k

**On the rows**, f_1(x_i) ≤ … ≤ f_K(x_i):

Dual     max Σ_i y_i Σ_k ρ_ik   with  |x_j·ρ_k| ≤ 1,  Σ_i ρ_ik = 0,  ρ of the loss

with ρ as in :mod:`cgboost.losses.dual.noncrossing`. A column is a feature for one output. Crossing
constraints are rows of the primal and enter as they are violated, as their multipliers in the dual
do: of n(K − 1) few are tight at an optimum. (Bondell, Reich, Wang, *Noncrossing quantile regression
curve estimation*, Biometrika 97, 2010, solve the linear program.)

**Anywhere in the box of the rows**, f_1(x) ≤ … ≤ f_K(x):

Dual     max Σ_i y_i Σ_k r_ik,  r in the boxes of the losses, as :mod:`cgboost.optimizers.\
quantiles.box_quantiles` has it

A pseudo-response says by itself how much the crossings cost: μ_k = Σ_{l ≤ k} Σ_i r_il. A feature is
there for all outputs or for none, since a coefficient that differs from its neighbour's costs room:
:class:`~cgboost.pricing.learners.box_pricer.BoxPricer` finds those that are worth it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.arrays import Mask, Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced, Vertex
from cgboost.losses.dual.noncrossing import NoncrossingLoss, QuantilesLoss
from cgboost.masters.support_vector.support_vector_master import SignRule, SupportVectorMaster
from cgboost.optimizers.quantiles.box_quantiles import BoxQuantiles
from cgboost.optimizers.quantiles.joint_session import JointSession
from cgboost.optimizers.quantiles.restricted_quantiles import RestrictedQuantiles
from cgboost.optimizers.simplex.crossover import MOST_BASIS_COLUMNS
from cgboost.optimizers.solver_options import advice, solver_errors_as_master_errors
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
        coef, intercept = live.polish(time_limit) or self._to_objective.start(coef, intercept)
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


class BoxMaster(SupportVectorMaster):
    """Restricted master of several quantiles that do not cross in the box of the training rows.

    Its rows are the pairs (output, training row); a column has its ``output``, and the columns of a
    feature come together, those of the first output first.

    Parameters
    ----------
    quantiles : sequence of float
        Increasing, between 0 and 1.
    target : ndarray of shape (n_rows,)
    cost : ndarray of shape (n_rows,)
        Of one unit of error.
    coef : {"free", "nonneg"}
        Sign rule for the coefficients.
    solver, solver_options
        "auto" alone.
    free_columns : sequence of Column
        Features without a penalty, with their columns of all outputs.

    Raises
    ------
    ValueError
        If a cost is negative or not finite, or a target not; if a solver is named.
    """

    _live: BoxQuantiles

    def __init__(
        self,
        quantiles: ArrayLike,
        target: Vector,
        cost: Vector,
        *,
        coef: SignRule = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
        free_columns: Sequence[Column] = (),
    ) -> None:
        if solver != "auto":
            raise ValueError(
                f"quantiles that do not cross in a box need solver='auto', got {solver!r}: "
                "noncrossing='rows' takes other solvers"
            )
        loss = QuantilesLoss.of(target, cost, np.array(quantiles, dtype=np.float64))
        own = {"coef": coef, "offset": "free", "solver": solver, "solver_options": solver_options}
        super().__init__(loss, L1(), **own)  # type: ignore[arg-type]
        self._can_reprice = False
        self.form = replace(self.form, n_free=len(free_columns))
        self.add(free_columns)

    def _advice(self) -> str:  # no other solver takes this problem
        own = "allow a larger tol, or choose a larger alpha"
        return advice(self.loss, self._live.largest_entry, own)

    def _open_live(self, loss: QuantilesLoss) -> BoxQuantiles:
        return BoxQuantiles(loss, self.form)

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns, of whole features, into the restricted problem."""
        for column in columns:
            self._check_shape(column)
        outputs = self.loss.n_outputs
        if [column.output for column in columns] != [*range(outputs)] * (len(columns) // outputs):
            raise ValueError("columns must be those of all outputs, one feature after the other")
        self.columns.extend(columns)
        if columns:
            first = [column.values.reshape(outputs, -1)[0] for column in columns[::outputs]]
            self._live.add(first)

    @property
    def warm_start(self) -> Any:
        """The columns of the features in use, for a similar problem."""
        start = super().warm_start
        if self._best is None:
            return start
        outputs = self.loss.n_outputs
        used: Mask = (self._best.coef.reshape(-1, outputs) != 0).max(axis=1)
        used[: self.form.n_free // outputs] = False  # these are there anyhow
        places = np.flatnonzero(np.repeat(used, outputs))
        columns = [self.columns[j] for j in places.tolist()]
        return replace(start, columns=columns, coef=self._best.coef[places])

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """Lower bound on the optimum over all features, from an exact pricing pass."""
        tau = 1.0 + priced.max_excess
        bound = self._objective_loss.gain(state.pseudo_response / tau)
        return max(0.0, float(bound) - self._live.imbalance(state.coef))

    def crossover(
        self, coef: Vector, intercept: Any, *, time_limit: float | None = None
    ) -> Vertex | None:
        """None: the interior of the optimal face is as good."""
        return None
