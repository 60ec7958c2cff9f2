"""Master of a loss that is a box in the dual, a 1-norm, and limits on the output.

    min  Σ|α_j| + F(f) + M Σ_k max(0, a_k·f − d_k),     f = Hα + b

The rows of limits stand behind the training rows (:mod:`cgboost.losses.dual.constraint_rows`). A
free
offset is a column (1, A1) without a price, since it moves a limit by a·1 and not by 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced, Vertex
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.constraint_rows import with_constraint_rows
from cgboost.losses.dual.support_vector import Vector
from cgboost.masters.constrained.merged_rows import MergedRows
from cgboost.masters.support_vector.support_vector_master import (
    SignRule,
    SupportVectorMaster,
    WarmStart,
)
from cgboost.optimizers.newton.smooth_loss import centred
from cgboost.penalties import L1

WORTH_MERGING = 0.5
"""Groups of rows are worth a separate master, made anew in every round, up to this share."""

LEAST_ROWS = 1000
"""With fewer rows there is little to gain."""

CONSTANT = ("offset", 0)
"""The key of the column of a free offset."""


class ConstrainedMaster:
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
    solver : str
    solver_options : mapping of str to object, optional

    Attributes
    ----------
    loss : SupportVectorLoss
        Of all rows.
    columns : list of Column
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
        self._centre = 0.0  # of the offset: targets, limits and outputs inside are those without it
        if constant is not None:
            loss, self._centre = centred(loss)
            limits = limits - self._centre * constant
        self.loss = with_constraint_rows(loss, limits, price) if len(limits) else loss
        self._constant = None if constant is None else np.append(np.ones(loss.n_rows), constant)
        self._options: dict[str, Any] = {
            "coef": coef,
            "solver": solver,
            "solver_options": solver_options,
        }
        self.columns: list[Column] = []
        self.accuracy = 0.0
        self._merged = MergedRows(self.loss, self.n_rows) if self.n_rows >= LEAST_ROWS else None
        self._merges = self._merged is not None and self._merged.share <= WORTH_MERGING
        self._master = self._plain([])
        self._found: MasterState | None = None
        self._inner: MasterState | None = None

    def _make(self, loss: SupportVectorLoss, constant: Vector | None) -> SupportVectorMaster:
        free = [] if constant is None else [Column(constant, CONSTANT)]
        return SupportVectorMaster(loss, L1(), offset="none", free_columns=free, **self._options)

    def _plain(self, columns: Sequence[Column]) -> SupportVectorMaster:
        """A master on all rows."""
        master = self._make(self.loss, self._constant)
        master.add(columns)
        return master

    @property
    def _n_free(self) -> int:
        return int(self._constant is not None)

    def start_from(self, start: WarmStart) -> None:
        """Take in the columns of a similar problem, before the first :meth:`solve`."""
        self.add(start.columns)

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
        master = self._on_groups() if self._merges else self._master
        master.accuracy = 0.0
        self._inner = state = master.solve(time_limit=time_limit)
        n_free = self._n_free
        output, response, slack = state.output, state.pseudo_response, state.slack
        if self._merges and self._merged is not None:
            output, slack = self._merged.on_rows(output), self._merged.on_rows(slack)
            response = self._merged.shared(response)
        if self._constant is not None:
            output = output + self._centre * self._constant
        self._master = master
        self._found = replace(
            state,
            columns=tuple(self.columns),
            coef=state.coef[n_free:],
            intercept=float(state.coef[0]) + self._centre if n_free else 0.0,
            output=output,
            pseudo_response=response,
            slack=slack,
        )
        return self._found

    def _on_groups(self) -> SupportVectorMaster:
        """A master over the groups of rows."""
        assert self._merged is not None
        groups = self._merged
        constant = None if self._constant is None else groups.on_groups(self._constant)
        master = self._make(groups.merged(), constant)
        own = [replace(c, values=groups.on_groups(c.values)) for c in self.columns]
        master.add(own)
        return master

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """Lower bound on the optimum over all columns, from an exact pricing pass."""
        same = self._found is not None and self._inner is not None
        if same and state.pseudo_response is self._found.pseudo_response:  # type: ignore[union-attr]
            return self._master.bound(self._inner, priced)  # type: ignore[arg-type]
        n_free = self._n_free
        coef = np.append(np.full(n_free, state.intercept - self._centre), state.coef)
        return self._plain(self.columns).bound(replace(state, coef=coef), priced)

    @property
    def warm_start(self) -> WarmStart:
        """The columns with a nonzero coefficient in the last answer, for a similar problem."""
        if self._found is None:
            return WarmStart()
        used = np.flatnonzero(self._found.coef)
        return WarmStart(
            [self.columns[j] for j in used], self._found.coef[used], float(self._found.intercept)
        )

    def crossover(
        self, coef: Vector, intercept: float, *, time_limit: float | None = None
    ) -> Vertex | None:
        """An optimal vertex over the columns of the last round, None where there is none near."""
        if self._found is None or len(coef) != len(self._found.coef):
            return None
        n_free = self._n_free
        own = np.append(np.full(n_free, intercept - self._centre), coef)
        vertex = self._master.crossover(own, 0.0, time_limit=time_limit)
        if vertex is None:
            return None
        offset = float(vertex.coef[0]) + self._centre if n_free else 0.0
        return Vertex(vertex.coef[n_free:], offset, vertex.objective)
