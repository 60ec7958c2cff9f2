"""Master of a loss that is a box in the dual, a 1-norm, and limits on the output.

    min  Σ|α_j| + F(f) + M Σ_k max(0, a_k·f − d_k),     f = Hα + b

The rows of limits stand behind the training rows: that of a·f ≤ d has the output a·f, and its loss
is what that exceeds d by, at a price (:mod:`cgboost.losses.dual.limited`), an exact penalty. For
any M it is a relaxation, so that its lower bounds hold for the problem with limits. A free offset
is a column (1, A1) without a price, since it moves a limit by a·1 and not by 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced, Vertex
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.limited import Limits, with_penalised_limits
from cgboost.masters.support_vector.support_vector_master import (
    SignRule,
    SupportVectorMaster,
    WarmStart,
)
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.reductions.centred_targets import CentredTargets, centre_of
from cgboost.optimizers.reductions.merged_rows import LEAST_ROWS, WORTH_MERGING, MergedRows
from cgboost.optimizers.reductions.offset_column import OffsetColumn
from cgboost.optimizers.reductions.reduction import Chain, Problem, Reduction
from cgboost.penalties import L1
from cgboost.penalties.penalty import DualForm

CONSTANT = ("offset", 0)
"""The key of the column of a free offset."""


class MasterWithLimits(ABC):
    """What masters of limits share: a similar problem starts from their columns in use."""

    columns: list[Column]
    _found: MasterState | None = None

    @abstractmethod
    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the restricted problem."""

    def start_from(self, start: WarmStart) -> None:
        """Take in the columns of a similar problem, before the first :meth:`solve`."""
        self.add(start.columns)

    @property
    def warm_start(self) -> WarmStart:
        """The columns with a nonzero coefficient in the last answer, for a similar problem."""
        if self._found is None:
            return WarmStart()
        return WarmStart.of(self.columns, self._found.coef, float(self._found.intercept))


class ConstrainedMaster(MasterWithLimits):
    """Restricted master of a support-vector loss with limits, under the 1-norm.

    Parameters
    ----------
    loss : SupportVectorLoss
        Of the training rows; without curvature and mass.
    limits : ndarray of shape (n_limits,)
        What the rows behind the training rows may be at most.
    price : float
        M, the price of one unit beyond a limit.
    constant : ndarray of shape (n_limits,) or None
        What the constant 1 is in the rows of limits; None: there is no free offset.
    coef : {"free", "nonneg"}
    solver_options : mapping of str to object, optional

    Attributes
    ----------
    loss : SupportVectorLoss
        Of all rows.
    accuracy : float
        As the loop sets it.
    """

    def __init__(
        self,
        loss: SupportVectorLoss,
        limits: Vector,
        price: float,
        *,
        constant: Vector | None = None,
        coef: SignRule = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.n_rows = loss.n_rows
        limited = loss
        if len(limits):
            upper = Limits(limits, np.zeros(len(limits), dtype=bool))
            limited = with_penalised_limits(loss, upper, price)
        self._chain, self._free = Chain(), list[Column]()
        if constant is not None:
            ones = np.append(np.ones(loss.n_rows), constant)
            self._free = [Column(ones, CONSTANT)]
            centred = CentredTargets(centre_of(loss), ones)
            self._chain = Chain([centred, OffsetColumn(self._free[0])])
        form = DualForm(L1(), coef == "free", "none" if constant is None else "free")
        self.loss = self._chain.apply(Problem(limited, form)).loss
        self._options: dict[str, Any] = {
            "coef": coef,
            "solver": solver,
            "solver_options": solver_options,
        }
        self.columns: list[Column] = []
        self.accuracy = 0.0
        self._merged = MergedRows(self.loss, self.n_rows) if self.n_rows >= LEAST_ROWS else None
        self._merges = self._merged is not None and self._merged.share <= WORTH_MERGING
        self._coef = np.zeros(len(self._free))  # expected, of the first columns
        self._master = self._plain([])
        self._inner: MasterState | None = None

    def _plain(
        self, columns: Sequence[Column], reduction: Reduction | None = None
    ) -> SupportVectorMaster:
        """A master on all rows, or on groups of them."""
        problem = Problem(self.loss, DualForm(L1()), [*self._free, *columns])
        if reduction is not None:
            problem = reduction.apply(problem)
        loss, free = problem.loss, problem.columns[: len(self._free)]
        master = SupportVectorMaster(loss, L1(), offset="none", free_columns=free, **self._options)
        coef = np.append(self._coef, np.zeros(len(problem.columns) - len(self._coef)))
        master.start_from(WarmStart(problem.columns, coef))
        return master

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the restricted problem."""
        self.columns.extend(columns)
        if self._merges and self._merged is not None:
            few = self._merged.take([column.values for column in columns])
            if few and self._merged.share <= WORTH_MERGING:
                return
            self._merges = False
            self._master = self._plain(self.columns)
            return
        self._master.add(columns)

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Re-optimise the restricted problem, on groups of rows where there are few."""
        merged = self._merged if self._merges else None
        master = self._master if merged is None else self._plain(self.columns, merged)
        master.accuracy = self.accuracy if merged is None else 0.0
        self._inner = state = master.solve(time_limit=time_limit)
        point, slack = (
            RestrictedPoint(state.coef, 0.0, state.output, state.pseudo_response),
            state.slack,
        )
        if merged is not None:
            point, slack = merged.invert(point), merged.on_rows(slack)
        point = self._chain.invert(point)
        self._master, self._coef = master, state.coef
        self._found = replace(
            state,
            columns=tuple(self.columns),
            coef=point.coef,
            intercept=point.intercept,
            output=point.output,
            pseudo_response=point.response,
            slack=slack,
        )
        return self._found

    def start_from(self, start: WarmStart) -> None:
        """Take in the columns of a similar problem, and begin near its coefficients."""
        self._coef, _ = self._chain.start(start.coef, start.intercept)
        self.add(start.columns)

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """Lower bound on the optimum over all columns, from an exact pricing pass."""
        same = self._found is not None and self._inner is not None
        if same and state.pseudo_response is self._found.pseudo_response:  # type: ignore[union-attr]
            return self._master.bound(self._inner, priced)  # type: ignore[arg-type]
        coef, _ = self._chain.start(state.coef, state.intercept)
        return self._plain(self.columns).bound(replace(state, coef=coef), priced)

    def crossover(
        self, coef: Vector, intercept: float, *, time_limit: float | None = None
    ) -> Vertex | None:
        """An optimal vertex over the columns of the last round, None where there is none near."""
        if self._found is None or len(coef) != len(self._found.coef):
            return None
        start, _ = self._chain.start(coef, intercept)
        vertex = self._master.crossover(start, 0.0, time_limit=time_limit)
        if vertex is None:
            return None
        nothing = np.zeros(self.loss.n_rows)
        point = self._chain.invert(RestrictedPoint(vertex.coef, 0.0, nothing, nothing))
        self._found = replace(self._found, coef=point.coef, intercept=point.intercept)
        return Vertex(point.coef, point.intercept, vertex.objective)
