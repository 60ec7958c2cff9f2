"""Subgradient method for the Lagrangian dual of a linear master: duals to begin with.

    L(r) = r·b + Σ_k n_k min(0, ρ_k(r)),     ρ_k(r) the least reduced cost of block k,
    b − Σ_{k: ρ_k < 0} n_k h_k(r)  is a supergradient of L at r,

h_k a column of block k with the reduced cost ρ_k. The step is Polyak's, (T − L)/‖g‖² along the
supergradient g, with a target T = best + δ: δ grows where a step reaches the most of it and halves
where several steps in a row gain nothing (Held, Wolfe, Crowder, Mathematical Programming 6, 1974;
Bertsekas, Convex Optimization Algorithms, 2015, section 3.2). The dual of a convexity row Σ x = n_k
need not be searched for: L is constant in it above ρ_k.

No program is solved, so a step costs no more than a pricing pass. The duals are near the optimal
ones after as many steps as there are rows or fewer, where column generation from nothing would go
through rounds with duals far away; and so are the columns.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced, Pricer
from cgboost.masters.linear.linear_master import LinearMaster
from cgboost.optimizers.linear.restricted_primal import costs_of, matrix_of

PASSES_AT_MOST = 200
"""Pricing passes where none are named: on generalised assignment with 5 × 200 the bound is then
within 2e-4 of the best."""

WITHOUT_GAIN = 5
"""Steps without a gain after which δ is halved and the method goes back to the best duals."""

GROWTH = 1.5
"""Factor on δ after a step that gains the most of it."""

LEAST_GAIN = 0.1
"""A step reaches the most of δ if it gains this share of it: L rises by less than the linear model
of it says."""

ABOVE = 1.0
"""Duals of convexity rows are put above the last ρ by this share of it, so that the column of least
reduced cost has a negative one and the pricer returns it."""


@dataclass(frozen=True)
class DualStart:
    """Where a subgradient method has ended.

    Attributes
    ----------
    duals : ndarray of shape (n_rows,)
        Those of the best bound.
    bound : float
        L there. It rests on the pricer alone: columns that only the master has may be cheaper.
    columns : list of Column
        All that were priced, each once.
    n_steps : int
    """

    duals: Vector
    bound: float
    columns: list[Column]
    n_steps: int


class Subgradient:
    """Subgradient method for linear masters of which every block has one column in a solution.

    Parameters
    ----------
    max_steps : int or None, default=None
        Pricing passes, at most; None: as many as there are rows, and ``PASSES_AT_MOST`` at most.
    tol : float, default=1e-5
        It ends where δ is below this, relative to the bound.
    """

    def __init__(self, max_steps: int | None = None, tol: float = 1e-5) -> None:
        if max_steps is not None and max_steps < 1:
            raise ValueError(f"max_steps must be at least 1 or None, got {max_steps!r}")
        if not tol > 0:
            raise ValueError(f"tol must be positive, got {tol!r}")
        self.max_steps, self.tol = max_steps, tol

    @staticmethod
    def fits(master: LinearMaster) -> bool:
        """Whether every block has a convexity row ``= 1`` or ``≤ 1``, and one column."""
        own, copies = master.constraints, master.copies
        if not isinstance(copies, Mapping) or not copies:
            return False
        places = [place for place, name in enumerate(own.names) if name in copies]
        return (
            all(count == 1.0 for count in copies.values())
            and (own.rhs[places] == 1.0).all()
            and (own.senses[places] != ">=").all()
        )

    def run(
        self,
        master: LinearMaster,
        pricer: Pricer,
        *,
        columns_per_round: int = 1,
        time_limit: float | None = None,
    ) -> DualStart | None:
        """Good duals and the columns that were met; None where the pricer gives no bound.

        Parameters
        ----------
        master : LinearMaster
            It is left as it is.
        pricer : Pricer
        columns_per_round : int, default=1
            Columns that a pass is asked for, at least; never fewer than there are blocks.
        time_limit : float or None
            Seconds.
        """
        ascent, started = _Ascent(master), time.perf_counter()
        limit = max(columns_per_round, 2 * len(ascent.convexity))
        most = min(PASSES_AT_MOST, len(master.rows)) if self.max_steps is None else self.max_steps
        for _ in range(most):
            state = ascent.state()
            priced = pricer.price(state, limit)
            bound = master.bound(state, priced) if priced.exact else None
            if bound is None or not isinstance(priced.reduced_cost, Mapping):
                return None
            ascent.learn(state, priced, priced.reduced_cost, bound)
            over = time_limit is not None and time.perf_counter() - started > time_limit
            done = ascent.delta <= self.tol * max(1.0, abs(ascent.best_bound))
            if over or done or not ascent.step():
                break
        return ascent.result()


class _Ascent:
    """Duals, the best ones so far, and the supergradient."""

    def __init__(self, master: LinearMaster) -> None:
        own = master.constraints
        self._master, self._rows = master, own
        counted = master.copies if isinstance(master.copies, Mapping) else {}
        self.convexity = {k: name for k, name in enumerate(own.names) if name in counted}
        self._places = np.array(list(self.convexity), dtype=np.intp)
        self._is_equal = own.senses[self._places] == "=="
        self._held = list(master.columns)
        if self._held:
            self._costs, self._matrix = costs_of(self._held), matrix_of(self._held)
        self.columns: dict[Hashable, Column] = {}
        self.duals = np.zeros(len(own))
        self.best, self.best_bound, self.delta = self.duals, -math.inf, 0.0
        self._slope = self._best_slope = np.zeros(len(own))
        self._bound, self._without_gain, self.n_steps = -math.inf, 0, 0

    def state(self) -> MasterState:
        """What the pricer sees: the columns in the master are priced here."""
        capped = tuple(column for column in self._held if math.isfinite(column.upper))
        state = MasterState.at_response(self._above(), None, capped)
        return replace(state, objective=math.inf, rows=self._rows.names)

    def learn(
        self, state: MasterState, priced: Priced, least: Mapping[Hashable, float], bound: float
    ) -> None:
        """Bound and supergradient at the duals that were priced."""
        duals = state.pseudo_response
        self.n_steps += 1
        for column in priced.columns:
            self.columns.setdefault(column.key, column)
        self._slope, self._bound = self._rows.rhs - self._taken(duals, priced.columns), bound
        self._settle(duals, least)
        if self.best_bound == -math.inf:
            largest = max((abs(column.cost) for column in priced.columns), default=0.0)
            self.delta = max(1.0, abs(bound), largest)
        if bound > self.best_bound:
            if bound - self.best_bound > LEAST_GAIN * self.delta and self.best_bound > -math.inf:
                self.delta *= GROWTH
            self.best, self.best_bound, self._best_slope = self.duals, bound, self._slope
            self._without_gain = 0
        else:
            self._without_gain += 1
        if self._without_gain == WITHOUT_GAIN:
            self.delta, self._without_gain = self.delta / 2, 0
            self.duals, self._bound, self._slope = self.best, self.best_bound, self._best_slope

    def result(self) -> DualStart:
        """The best duals, and all columns."""
        return DualStart(self.best, self.best_bound, list(self.columns.values()), self.n_steps)

    def step(self) -> bool:
        """Go on; False where the supergradient is 0, so that the duals are optimal."""
        slope = self._slope.copy()
        slope[self._places] = 0.0
        square = float((slope * slope).sum())
        if square == 0.0:
            return False
        length = (self.best_bound + self.delta - self._bound) / square
        self.duals = self._rows.signed(self.duals + length * slope)
        return True

    def _above(self) -> Vector:
        """The duals, with those of rows ``Σ x = 1`` so high that each block has a column."""
        duals = self.duals.copy()
        rho = duals[self._places]
        high = rho + ABOVE * np.maximum(1.0, np.abs(rho))
        duals[self._places] = np.where(self._is_equal, high, 0.0)
        return duals

    def _settle(self, duals: Vector, least: Mapping[Hashable, float]) -> None:
        """Give the convexity rows the duals at which the reduced costs of their blocks are ≥ 0."""
        rho = np.array([least[name] for name in self.convexity.values()]) + duals[self._places]
        known = np.isfinite(rho)
        settled = np.where(self._is_equal, rho, np.minimum(rho, 0.0))
        self.duals = self.duals.copy()
        self.duals[self._places] = np.where(known, settled, 0.0)

    def _taken(self, duals: Vector, priced: Sequence[Column]) -> Vector:
        """Σ_k h_k over the blocks whose least reduced cost is negative, and columns of no block."""
        best: dict[Hashable, tuple[float, Column]] = {}
        taken = np.zeros(len(self._rows))
        for column in (*priced, *self._improving(duals)):
            reduced, row = column.cost - float(column.values @ duals), self._master.row_of(column)
            if row is None:
                taken += (column.upper if math.isfinite(column.upper) else 1.0) * column.values
            elif reduced < best.get(row, (0.0,))[0]:
                best[row] = reduced, column
        for _, column in best.values():
            taken += column.values
        return taken

    def _improving(self, duals: Vector) -> list[Column]:
        """Columns in the master with a negative reduced cost."""
        if not self._held:
            return []
        return [self._held[j] for j in np.flatnonzero(self._costs < self._matrix.T @ duals)]
