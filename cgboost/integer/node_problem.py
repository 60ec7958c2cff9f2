"""The problem of a node: the rows of its decisions, and the columns that they allow."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import CGBoostError
from cgboost.generation.columns import Column, ReducedCost
from cgboost.generation.protocols import (
    ZERO_REDUCED_COST,
    MasterState,
    NodeDecisions,
    Priced,
    Pricer,
    TimedPricer,
)
from cgboost.integer.decisions import (
    AMOUNT_ROUNDING,
    CountRow,
    Decision,
    Residual,
    Restriction,
    Row,
    VariableRow,
    respected_by,
)
from cgboost.integer.pool import ColumnPool, Numbers
from cgboost.masters.linear.master import LinearMaster
from cgboost.tolerances import LP_FEASIBILITY

Vector = NDArray[np.float64]

BEGINNING = 2
"""A node begins with the columns of least reduced cost at the parent's duals, so many for each row;
the others are priced as long as they help."""

FROM_POOL = 5
"""The pool gives so many times as many columns a round as are asked for: they cost nothing."""


class ForbiddenColumnError(CGBoostError):
    """A pricer returned a column that a decision of the node forbids."""


class NodeProblem:
    """Master and pricer of a node.

    Parameters
    ----------
    root : LinearMaster
        The user's master, for its rows.
    pool : ColumnPool
    pricer : Pricer
        The user's.
    decisions : sequence of Decision
    fixed : mapping of int to float, optional
        Numbers of columns that are fixed, and how often each is taken: what they use of the rows is
        taken off the right-hand sides.
    near : (ndarray, mapping of row to float), optional
        Duals at which the columns of the pool are compared, to begin with the best.
    counted : bool, default=True
        Whether ``copies`` of the user's master hold for the relaxation.

    Attributes
    ----------
    master : LinearMaster
    pricer : NodePricer
    fixed_cost : float
        Of the fixed columns.
    """

    def __init__(
        self,
        root: LinearMaster,
        pool: ColumnPool,
        pricer: Pricer,
        decisions: Sequence[Decision] = (),
        *,
        fixed: Mapping[int, float] | None = None,
        near: tuple[Vector, Mapping[Row, float]] | None = None,
        counted: bool = True,
    ) -> None:
        self.root, self.pool, self._user, self._near = root, pool, pricer, near
        self._decisions, self.counted = tuple(decisions), counted
        self.restrictions = tuple(d for d in decisions if isinstance(d, Restriction))
        self.rows = tuple(d for d in decisions if isinstance(d, Row))
        self.fixed = dict(fixed or {})
        rhs = [row.rhs - self._used_of(row) for row in self.rows]
        self.master = root.with_rows(
            [row for row in self.rows if isinstance(row, Hashable)],
            [row.sense for row in self.rows],
            rhs,
            used=self._used(),
            copies=self._copies_left() if counted else None,
        )
        self.fixed_cost = sum(n * pool.columns[j].cost for j, n in self.fixed.items())
        self.pricer = NodePricer(self, pricer)
        self.take(self._beginning(near))

    def may_need_more(self) -> bool:
        """Whether the relaxation may use more columns than ``copies``, which no solution does.

        A row "at least" or "exactly" of a decision can ask for them.
        """
        counted = self.counted and self.root.copies is not None
        return counted and any(row.sense != "<=" for row in self.rows)

    def uncounted(self) -> NodeProblem:
        """The same problem without a bound that rests on ``copies``."""
        return NodeProblem(
            self.root,
            self.pool,
            self._user,
            self._decisions,
            fixed=self.fixed,
            near=self._near,
            counted=False,
        )

    def allowed(self) -> NDArray[np.bool_]:
        """Which columns of the pool may be in the problem, shape (n_columns,)."""
        allowed = self.pool.allowed(self.restrictions)
        if self.fixed and Residual in respected_by(self._user):
            left = self.master.constraints.rhs[: len(self.root.rows)]
            allowed &= self.pool.proper(np.maximum(left, 0.0))
        return allowed

    def take(self, numbers: Iterable[int]) -> None:
        """Put columns of the pool into the master."""
        self.master.add(self.extended(numbers))

    def extended(self, numbers: Iterable[int]) -> list[Column]:
        """Columns of the pool with their values in the rows of the decisions."""
        numbers = list(numbers)
        columns = [self.pool.columns[j] for j in numbers]
        if not self.rows:
            return columns
        more = np.array([self.pool.coefficients(row)[numbers] for row in self.rows])
        return [
            replace(column, values=np.concatenate([column.values, own]))
            for column, own in zip(columns, more.T, strict=True)
        ]

    def duals(self, state: MasterState) -> tuple[Vector, dict[Row, float]]:
        """Duals of the user's rows, and of those of the decisions."""
        n_rows = len(self.root.rows)
        own = state.pseudo_response[n_rows:].tolist()
        return state.pseudo_response[:n_rows], dict(zip(self.rows, own, strict=True))

    # ------------------------------------------------------------------ what fixed columns use

    def _used(self) -> Vector:
        used = np.zeros(len(self.root.rows))
        for number, count in self.fixed.items():
            used += count * self.pool.columns[number].values
        return used

    def _used_of(self, row: Row) -> float:
        return sum(
            count * row.coefficient(self.pool.columns[j], self.pool.numbers)
            for j, count in self.fixed.items()
        )

    def _copies_left(self) -> float | Mapping[Hashable, float] | None:
        copies = self.root.copies
        if copies is None or not self.fixed:
            return copies
        if not isinstance(copies, Mapping):
            return max(0.0, copies - sum(self.fixed.values()))
        left = dict(copies)
        for number, count in self.fixed.items():
            row = self.root.row_of(self.pool.columns[number])
            if row is not None:
                left[row] = max(0.0, left[row] - count)
        return left

    def _beginning(self, near: tuple[Vector, Mapping[Row, float]] | None) -> Numbers:
        """Columns to begin with: those that may be taken and are cheapest at some duals."""
        most = BEGINNING * (len(self.root.rows) + len(self.rows))
        allowed = np.flatnonzero(self.allowed())
        if near is None or len(allowed) <= most:
            return allowed
        reduced = self.pool.reduced_costs(*near)[allowed]
        return np.sort(allowed[np.argpartition(reduced, most)[:most]])


class NodePricer:
    """Prices the pool first, and then asks the user's pricer for columns that a node allows.

    Parameters
    ----------
    problem : NodeProblem
    pricer : Pricer
    """

    def __init__(self, problem: NodeProblem, pricer: Pricer) -> None:
        self._problem, self._pricer = problem, pricer
        self.seconds_left: float | None = None

    def price(self, state: MasterState, limit: int) -> Priced:
        """At most ``limit`` columns, some more of those that are in the pool."""
        problem, pool = self._problem, self._problem.pool
        duals, extra = problem.duals(state)
        reduced = pool.reduced_costs(duals, extra)
        held = [pool.number(column) for column in state.columns]
        found = self._from_pool(reduced, held, max(1, FROM_POOL * limit))
        if found:  # a bound of the user's pricer need not hold for them
            return Priced(columns=found if limit else (), n_evaluated=len(pool))
        if isinstance(self._pricer, TimedPricer):
            self._pricer.seconds_left = self.seconds_left
        asked = replace(
            state,
            pseudo_response=duals.copy(),
            rows=problem.root.rows,
            slack=state.slack[: len(duals)],
            output=state.output[: len(duals)],
            decisions=_decisions(problem, extra),
        )
        priced = self._pricer.price(asked, limit)
        if not isinstance(priced, Priced):
            raise TypeError(
                f"{type(self._pricer).__name__}.price must return a Priced, got {priced!r}"
            )
        for column in priced.columns:
            column.check(len(duals))
            self._require_allowed(column)
        numbers = pool.add(priced.columns)
        known = set(held)  # those price out by rounding alone
        fresh = [j for j in numbers.tolist() if j not in known]
        return replace(
            priced,
            columns=problem.extended(fresh),
            reduced_cost=self._least(priced.reduced_cost, reduced, held),
        )

    def _from_pool(self, reduced: Vector, held: Sequence[int], limit: int) -> list[Column]:
        """Columns of the pool that price out and are not in the master, the cheapest first."""
        pool = self._problem.pool
        scale = np.maximum(1.0, np.abs(pool.costs()))
        improving = (reduced < -ZERO_REDUCED_COST * scale) & self._problem.allowed()
        improving[held] = False
        found = np.flatnonzero(improving)
        order = np.argsort(reduced[found], kind="stable")[:limit]
        return self._problem.extended(found[order].tolist())

    def _least(self, bound: ReducedCost, reduced: Vector, held: Sequence[int]) -> ReducedCost:
        """The pricer's bound on reduced costs, or that of columns in the master, if it is less.

        At the master's own duals these have none below 0; at others they may have, and a pricer
        need not know of columns that the search began with.
        """
        problem, pool = self._problem, self._problem.pool
        keeps = Residual in respected_by(self._pricer)
        rhs = np.maximum(problem.master.constraints.rhs[: len(problem.root.rows)], 0.0)
        for number in [j for j in held if reduced[j] < -LP_FEASIBILITY]:
            column = pool.columns[number]
            if math.isfinite(column.upper):
                continue  # the master counts those
            if keeps and (column.values > rhs + AMOUNT_ROUNDING).any():
                continue
            if not isinstance(bound, Mapping):
                bound = float(np.minimum(bound, reduced[number]))
            elif (row := problem.root.row_of(column)) in bound:
                bound = {**bound, row: float(np.minimum(bound[row], reduced[number]))}
        return bound

    def _require_allowed(self, column: Column) -> None:
        for restriction in self._problem.restrictions:
            if not restriction.allows(column, self._problem.pool.numbers):
                raise ForbiddenColumnError(
                    f"the pricer returned the column {column.key!r}, which {restriction} forbids "
                    "at this node: it must respect duals.restrictions, or not say that it does"
                )


def _decisions(problem: NodeProblem, extra: Mapping[Row, float]) -> NodeDecisions:
    prices: dict[Hashable, float] = {}
    constants: dict[Hashable | None, float] = {}
    for row, dual in extra.items():
        if isinstance(row, VariableRow):
            for variable, a in row.terms:
                prices[variable] = prices.get(variable, 0.0) + a * dual
        elif isinstance(row, CountRow):
            constants[row.block] = constants.get(row.block, 0.0) + dual
    rhs = problem.master.constraints.rhs[: len(problem.root.rows)].copy()
    return NodeDecisions(problem.restrictions, dict(extra), prices, constants, rhs)
