"""The problem of a node: the rows of its decisions, and the columns that they allow."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.exceptions import CGBoostError
from cgboost.generation.columns import Column, least_of
from cgboost.generation.protocols import (
    ZERO_REDUCED_COST,
    ListingPricer,
    MasterState,
    NodeDecisions,
    Priced,
    Pricer,
    TimedPricer,
)
from cgboost.integer.branching.decisions import (
    CountRow,
    Decision,
    Residual,
    Restriction,
    Restrictions,
    Row,
    VariableRow,
    is_restriction,
    is_row,
    respected_by,
)
from cgboost.integer.pool import NO_ROW, GlobalColumnPool, Numbers
from cgboost.masters.linear.linear_master import LinearMaster

BEGINNING = 2
"""A node begins with the columns of least reduced cost at the parent's duals, so many for each row;
the others are priced as long as they help."""

FROM_POOL = 5
"""The pool gives so many times as many columns a round as are asked for: they cost nothing."""


class ForbiddenColumnError(CGBoostError):
    """A pricer returned a column that a decision of the node forbids."""

    section = "branch-and-price"


class NodeProblem:
    """Master and pricer of a node.

    Parameters
    ----------
    root : LinearMaster
        The user's master, for its rows.
    pricer : Pricer
        The user's.
    fixed : mapping of int to float, optional
        Numbers of columns that are fixed, and how often each is taken: what they use of the rows is
        taken off the right-hand sides.
    near : (ndarray, mapping of row to float), optional
        Duals at which the columns of the pool are compared, to begin with the best.
    counted : bool, default=True
        Whether ``copies`` of the user's master hold for the relaxation.

    Attributes
    ----------
    fixed_cost : float
        Of the fixed columns.
    """

    def __init__(
        self,
        root: LinearMaster,
        pool: GlobalColumnPool,
        pricer: Pricer,
        decisions: Sequence[Decision] = (),
        *,
        fixed: Mapping[int, float] | None = None,
        near: tuple[Vector, Mapping[Row, float]] | None = None,
        counted: bool = True,
    ) -> None:
        self.root, self.pool, self.given_pricer, self._near = root, pool, pricer, near
        self._decisions, self.counted = tuple(decisions), counted
        self.restrictions = tuple(d for d in decisions if is_restriction(d))
        self.rows = tuple(d for d in decisions if is_row(d))
        self.checks = Restrictions(self.restrictions)
        self._allowed: NDArray[np.bool_] | None = None
        self._taken: list[int] = []
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
        self.pricer = NodePricer(self, UserPricer(self, pricer))
        self.take(self._beginning(near))

    def may_need_more(self) -> bool:
        """Whether the relaxation may use more columns than ``copies``, which no solution does.

        A row "at least" or "exactly" of a decision can ask for them.
        """
        counted = self.counted and self.root.copies is not None
        return counted and any(row.sense != "<=" for row in self.rows)

    def uncounted(self) -> NodeProblem:
        """The same problem without a bound that rests on ``copies``."""
        return self._again(self._near, counted=False)

    def beginning_at(self, duals: Vector) -> NodeProblem:
        """The same problem that begins with the columns that are cheapest at some duals."""
        return self._again(self.duals(duals), counted=self.counted)

    def _again(
        self, near: tuple[Vector, Mapping[Row, float]] | None, *, counted: bool
    ) -> NodeProblem:
        return NodeProblem(
            self.root,
            self.pool,
            self.given_pricer,
            self._decisions,
            fixed=self.fixed,
            near=near,
            counted=counted,
        )

    def allowed(self) -> NDArray[np.bool_]:
        """Which columns of the pool may be in the problem, shape (n_columns,)."""
        known = self._allowed
        if known is None:
            known = self.pool.allowed(self.restrictions) & self._proper(0)
        elif len(known) < len(self.pool):
            new = [
                self.checks.broken(column, self.pool.numbers) is None
                for column in self.pool.columns[len(known) :]
            ]
            known = np.concatenate([known, np.array(new) & self._proper(len(known))])
        self._allowed = known
        return known

    def _proper(self, first: int) -> NDArray[np.bool_]:
        """Which columns, from number ``first`` on, give no row more than fixed ones leave it."""
        if not self.fixed or Residual not in respected_by(self.given_pricer):
            return np.ones(len(self.pool) - first, dtype=np.bool_)
        left = self.master.constraints.rhs[: len(self.root.rows)]
        return self.pool.proper(np.maximum(left, 0.0), first)

    def numbers(self, columns: Sequence[Column]) -> list[int]:
        """Pool numbers of the columns of the master, which only grows: new ones are looked up."""
        new = columns[len(self._taken) :]
        self._taken += [self.pool.number(column) for column in new]
        return self._taken

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

    def duals(self, values: Vector) -> tuple[Vector, dict[Row, float]]:
        """Duals of the user's rows, and of those of the decisions."""
        n_rows = len(self.root.rows)
        return values[:n_rows], dict(zip(self.rows, values[n_rows:].tolist(), strict=True))

    @property
    def has_decisions(self) -> bool:
        """Whether it is another problem than that of the root."""
        return bool(self._decisions)

    @property
    def start_duals(self) -> Vector | None:
        """Those of the parent; the rows that are new have the dual 0."""
        if self._near is None:
            return None
        duals, extra = self._near
        return np.concatenate([duals, [extra.get(row, 0.0) for row in self.rows]])

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


class UserPricer:
    """The user's pricer at a node: it sees its own rows and the decisions, and keeps to them.

    Its new columns come to the pool.
    """

    def __init__(self, problem: NodeProblem, pricer: Pricer) -> None:
        self._problem, self._pricer = problem, pricer
        self.seconds_left: float | None = None

    def price(self, state: MasterState, limit: int, also: Sequence[Restriction] = ()) -> Priced:
        """At most ``limit`` columns that are not in the master, with some more restrictions."""
        problem, asked = self._problem, self._asked(state, also)
        duals = asked.pseudo_response
        priced = self._pricer.price(asked, limit)
        if not isinstance(priced, Priced):
            raise TypeError(
                f"{type(self._pricer).__name__}.price must return a Priced, got {priced!r}"
            )
        for column in priced.columns:
            column.check(len(duals))
            self._require_allowed(column)
        if not priced.columns:
            return priced
        numbers = problem.pool.add(priced.columns).tolist()
        held = {problem.pool.number(column) for column in state.columns}
        fresh = [number for number in numbers if number not in held]  # those price out by rounding
        return replace(priced, columns=problem.extended(fresh))

    def every(self, state: MasterState, most: float, limit: int) -> Sequence[Column] | None:
        """All columns up to a reduced cost, from a pricer that can list them."""
        if not isinstance(self._pricer, ListingPricer):
            return None
        columns = self._pricer.every(self._asked(state), most, limit)
        for column in columns or ():
            self._require_allowed(column)
        return columns

    def _asked(self, state: MasterState, also: Sequence[Restriction] = ()) -> MasterState:
        """What the user's pricer sees."""
        problem = self._problem
        duals, extra = problem.duals(state.pseudo_response)
        if isinstance(self._pricer, TimedPricer):
            self._pricer.seconds_left = self.seconds_left
        return replace(
            state,
            pseudo_response=duals.copy(),
            rows=problem.root.rows,
            slack=state.slack[: len(duals)],
            output=state.output[: len(duals)],
            decisions=_decisions(problem, extra, also),
        )

    def _require_allowed(self, column: Column) -> None:
        broken = self._problem.checks.broken(column, self._problem.pool.numbers)
        if broken is not None:
            raise ForbiddenColumnError(
                f"the pricer returned the column {column.key!r}, which {broken} forbids "
                "at this node: it must respect duals.restrictions, or not say that it does"
            )


class NodePricer:
    """Prices the pool first, and then asks the user's pricer for columns that a node allows."""

    def __init__(self, problem: NodeProblem, pricer: UserPricer) -> None:
        self._problem, self.checked_pricer = problem, pricer
        self.seconds_left: float | None = None

    def price(self, state: MasterState, limit: int) -> Priced:
        """At most ``limit`` columns, some more of those that are in the pool."""
        problem = self._problem
        reduced = problem.pool.reduced_costs(*problem.duals(state.pseudo_response))
        found = self._from_pool(state, reduced, max(1, FROM_POOL * limit))
        if found:  # a bound of the user's pricer need not hold for them
            return Priced(columns=found if limit else (), n_evaluated=len(reduced))
        self.checked_pricer.seconds_left = self.seconds_left
        return self._covering(state, reduced, self.checked_pricer.price(state, limit))

    def _from_pool(self, state: MasterState, reduced: Vector, limit: int) -> list[Column]:
        problem = self._problem
        pool = problem.pool
        scale = np.maximum(pool.cost_unit, np.abs(pool.costs()))
        improving = reduced < -ZERO_REDUCED_COST * scale
        improving &= problem.allowed()
        improving[problem.numbers(state.columns)] = False
        found = np.flatnonzero(improving)
        return problem.extended(found[np.argsort(reduced[found], kind="stable")[:limit]].tolist())

    def _covering(self, state: MasterState, reduced: Vector, priced: Priced) -> Priced:
        """The answer with a bound that holds for the columns in the master, too.

        The user's pricer need not make them all, and at duals that are not the master's own their
        reduced costs may be negative. Those with an upper bound the master accounts for itself.
        """
        problem = self._problem
        if priced.without_costs:
            reduced = reduced - problem.pool.costs()[: len(reduced)]  # some may be new
        cheap = self._cheap(state, reduced)
        if not priced.exact or not cheap.size:
            return priced
        copies = problem.root.copies
        if not isinstance(copies, Mapping):
            least = float(np.minimum(least_of(priced.reduced_cost), reduced[cheap].min()))
            return replace(priced, reduced_cost=least)
        rows = problem.pool.convexity[cheap]
        alone = cheap[rows == NO_ROW]
        scale = np.maximum(problem.pool.cost_unit, np.abs(problem.pool.costs()[alone]))
        # without costs the master looks at them, at duals of another size
        if not priced.without_costs and (reduced[alone] < -ZERO_REDUCED_COST * scale).any():
            return replace(priced, exact=False)
        claimed = priced.reduced_cost
        bounds = dict(claimed) if isinstance(claimed, Mapping) else dict.fromkeys(copies, claimed)
        for row, value in zip(rows.tolist(), reduced[cheap].tolist(), strict=True):
            name = problem.root.rows[row]
            if row != NO_ROW and name in bounds:
                bounds[name] = float(np.minimum(bounds[name], value))
        return replace(priced, reduced_cost=bounds)

    def _cheap(self, state: MasterState, reduced: Vector) -> Numbers:
        """Columns in the master of negative reduced cost that the user's pricer may leave out."""
        problem, pool = self._problem, self._problem.pool
        held = np.array(problem.numbers(state.columns), dtype=np.intp)
        cheap = held[reduced[held] < 0]
        open_ended = [math.isinf(pool.columns[j].upper) for j in cheap.tolist()]
        cheap = cheap[np.array(open_ended, dtype=np.bool_)]
        if not cheap.size or Residual not in respected_by(problem.given_pricer):
            return cheap
        rhs = problem.master.constraints.rhs[: len(problem.root.rows)]
        return cheap[pool.proper(np.maximum(rhs, 0.0))[cheap]]


def _decisions(
    problem: NodeProblem, extra: Mapping[Row, float], also: Sequence[Restriction]
) -> NodeDecisions:
    prices: dict[Hashable, float] = {}
    constants: dict[Hashable | None, float] = {}
    for row, dual in extra.items():
        if isinstance(row, VariableRow):
            for variable, a in row.terms:
                prices[variable] = prices.get(variable, 0.0) + a * dual
        elif isinstance(row, CountRow):
            constants[row.block] = constants.get(row.block, 0.0) + dual
    rhs = problem.master.constraints.rhs[: len(problem.root.rows)].copy()
    restrictions = (*problem.restrictions, *also)
    return NodeDecisions(restrictions, dict(extra), prices, constants, rhs)
