"""Nodes that end by listing every column that a better solution can have.

At the duals π of a relaxation whose bound is z, all reduced costs are at least 0, and a solution of
cost c has no column with a reduced cost above c − z. Where few columns have less, they are listed,
and branch and cut takes the best of them (Baldacci, Christofides, Mingozzi, *An exact algorithm for
the vehicle routing problem based on the set partitioning formulation with additional cuts*,
Mathematical Programming 115, 2008).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from cgboost._solvers import InfeasibleError, LimitError, Program, SolverError, solve
from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.integer.branching.decisions import (
    AMOUNT_ROUNDING,
    Decision,
    Row,
    SubsetRow,
    VariableRow,
    is_row,
    respected_by,
)
from cgboost.integer.branching.variable_fixing import state_of
from cgboost.integer.search_state import LEAST_COEF, Relaxation, Search
from cgboost.integer.subset_row_cuts import SubsetRowCuts
from cgboost.tolerances import LP_FEASIBILITY

MOST_IN_A_LIST = 30_000
"""Columns that branch and cut is given, at most."""

CUTS_AT_ONCE, FEW = 50, 500
"""Cuts that are added at once, while there are more columns than a few."""

SMALLER_LIST = 0.8
"""After a list that was too long, the next is made where the gap is at most this share."""

UNITS = 1000.0
"""Units of cost that the best solution has for branch and cut."""

LEAST_SECONDS = 5.0
"""Seconds of branch and cut, at most; or as many as the search has taken, if that is more."""


class Listing:
    """What a search has learnt of lists of columns."""

    def __init__(self, search: Search) -> None:
        self._search, self._too_large = search, math.inf

    def ends(
        self, decisions: Sequence[Decision], cuts: Sequence[Any], relaxation: Relaxation
    ) -> bool:
        """Whether the best solution of a node was found, or that none is better."""
        search = self._search
        if relaxation.near is None or not search.incumbent:
            return False
        if search.integer or search.requirements:
            return False
        problem = search.problem([*decisions, *cuts], near=relaxation.near)
        pricer, state = problem.pricer.checked_pricer, state_of(problem)
        scale = search.scale(search.objective)
        step = search.objective_step or 0.0
        room = search.objective - step - relaxation.bound + LP_FEASIBILITY * scale
        if room >= SMALLER_LIST * self._too_large:
            return False
        pricer.seconds_left = search.seconds_left
        priced = pricer.price(state, 0)
        bound = problem.master.bound(state, priced) if priced.exact else None
        if bound is None or not bound >= relaxation.bound - LP_FEASIBILITY * scale:
            return False
        room = search.objective - step - bound + LP_FEASIBILITY * scale
        columns = pricer.every(state, room, MOST_IN_A_LIST)
        if columns is None:
            self._too_large = room
            return False
        return self._combined(columns, [*decisions, *cuts], cuts)

    def _combined(
        self, columns: Sequence[Column], decisions: Sequence[Decision], cuts: Sequence[Any]
    ) -> bool:
        """Offer the best combination; whether there is none better.

        Rows on variables are left out, unless they are cuts: the column in the list may have others
        than the one whose place it has.
        """
        search = self._search
        every = list(columns)
        if not every:
            search.offer({}, "list")
            return True
        rows = [d for d in decisions if is_row(d) and (d in cuts or type(d) is not VariableRow)]
        values = np.array([column.values for column in every]).reshape(len(every), -1)
        matrix = np.column_stack(
            [values, *(self._coefficients(row, every, values) for row in rows)]
        )
        separate = SubsetRowCuts(MOST_IN_A_LIST, per_round=CUTS_AT_ONCE, per_row=CUTS_AT_ONCE)
        seconds, left = max(LEAST_SECONDS, search.seconds), search.seconds_left
        end = time.perf_counter() + (seconds if left is None else min(seconds, left))
        unit = UNITS / search.scale(search.objective)  # tolerances of HiGHS are absolute
        most = unit * (search.objective - (search.objective_step or 0.0)) + LP_FEASIBILITY
        try:
            while len(every) > FEW:
                program = self._program(every, matrix, rows, unit, integer=False)
                relaxed = solve(program, "highs", time_limit=end - time.perf_counter())
                used = np.flatnonzero(relaxed.x > LEAST_COEF)
                solution = replace(
                    search.solution([], relaxed.x[used], rows, 0),
                    columns=[every[j] for j in used.tolist()],
                )
                new = separate(solution) if SubsetRow in respected_by(search.pricer) else []
                kept = np.flatnonzero(relaxed.reduced_costs <= most - relaxed.objective)
                every, values = [every[j] for j in kept.tolist()], values[kept]
                more = [self._coefficients(row, every, values) for row in new]
                matrix, rows = np.column_stack([matrix[kept], *more]), [*rows, *new]
                if not new:
                    break
            if not every:
                search.offer({}, "list")
                return True
            program = self._program(every, matrix, rows, unit, integer=True)
            limit = max(0.0, end - time.perf_counter())
            found = solve(program, "highs", time_limit=limit, options={"mip_rel_gap": 0.0})
            proven = True
        except InfeasibleError:
            return True
        except LimitError as error:
            if error.solution is None or len(error.solution.x) != len(every):
                return False
            found, proven = error.solution, False
        except SolverError:
            return False
        taken = [j for j in range(len(every)) if found.x[j] > LP_FEASIBILITY]
        places = search.pool.add([every[j] for j in taken]).tolist()
        better = search.offer(dict(zip(places, found.x[taken].tolist(), strict=True)), "list")
        return proven and (better or found.objective >= unit * search.objective - LP_FEASIBILITY)

    def _coefficients(self, row: Row, columns: Sequence[Column], values: Vector) -> Vector:
        """Of all columns in a row, shape (n_columns,)."""
        numbers = self._search.pool.numbers
        if isinstance(row, SubsetRow) and all(column.integer for column in columns):
            total = values[:, [numbers[name] for name in row.subset]].sum(axis=1)
            return np.asarray(np.floor(row.multiplier * total + AMOUNT_ROUNDING))
        return np.array([row.coefficient(column, numbers) for column in columns])

    def _program(
        self,
        columns: Sequence[Column],
        matrix: Vector,
        rows: Sequence[Row],
        unit: float,
        *,
        integer: bool,
    ) -> Program:
        own = self._search.master.constraints
        senses, rhs = np.array([row.sense for row in rows]), np.array([row.rhs for row in rows])
        cost = np.array([column.cost for column in columns])
        return Program(
            cost=unit * cost,
            matrix=sp.csc_array(matrix.T),
            row_lower=np.r_[own.lower, np.where(senses == "<=", -np.inf, rhs)],
            row_upper=np.r_[own.upper, np.where(senses == ">=", np.inf, rhs)],
            lower=np.zeros(len(columns)),
            upper=np.array([column.upper for column in columns]),
            integrality=np.array([integer and column.integer for column in columns]),
        )
