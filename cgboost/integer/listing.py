"""Nodes that end by listing every column that a better solution can have.

At the duals π of a relaxation whose bound is z, all reduced costs are at least 0, and a solution of
cost c has no column with a reduced cost above c − z. Where few columns have less, they are listed,
and branch and cut takes the best of them (Baldacci, Christofides, Mingozzi, *An exact algorithm for
the vehicle routing problem based on the set partitioning formulation with additional cuts*,
Mathematical Programming 115, 2008).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cgboost._solvers import InfeasibleError, LimitError, SolverError, solve
from cgboost.generation.columns import Column
from cgboost.generation.protocols import ListingPricer
from cgboost.integer.branching.decisions import Decision, VariableRow, is_row
from cgboost.integer.branching.rules import declared_parts
from cgboost.integer.branching.variable_fixing import state_of
from cgboost.integer.search_state import Relaxation, Search
from cgboost.masters.linear.integer import combination
from cgboost.tolerances import LP_FEASIBILITY

MOST_LISTED = 20_000
"""Columns that branch and cut is given, at most."""

SMALLER = 0.8
"""After a list that was too long, the next is made where the gap is at most this share."""

UNITS = 1000.0
"""Units of cost that the best solution has for branch and cut."""

LEAST_SECONDS = 5.0
"""Seconds of branch and cut, at most; or as many as the search has taken, if that is more."""


class Listing:
    """What a search has learnt of lists of columns.

    Parameters
    ----------
    search : Search
    """

    def __init__(self, search: Search) -> None:
        self._search, self._too_large = search, math.inf

    def ends(
        self, decisions: Sequence[Decision], cuts: Sequence[Any], relaxation: Relaxation
    ) -> bool:
        """Whether the best solution of a node was found, or that none is better."""
        search = self._search
        if not isinstance(search.pricer, ListingPricer) or relaxation.duals is None:
            return False
        if not search.incumbent:
            return False
        problem = search.problem([*decisions, *cuts], near=relaxation.duals)
        pricer, state = problem.pricer.checked_pricer, state_of(problem)
        scale = search.scale(search.objective)
        step = search.objective_step or 0.0
        room = search.objective - step - relaxation.bound + LP_FEASIBILITY * scale
        if room >= SMALLER * self._too_large:
            return False
        pricer.seconds_left = search.seconds_left
        priced = pricer.price(state, 0)
        bound = problem.master.bound(state, priced) if priced.exact else None
        if bound is None or not bound >= relaxation.bound - LP_FEASIBILITY * scale:
            return False
        room = search.objective - step - bound + LP_FEASIBILITY * scale
        columns = pricer.every(state, room, MOST_LISTED)
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
        if not columns:
            return True
        rows = [d for d in decisions if is_row(d) and (d in cuts or type(d) is not VariableRow)]
        numbers = search.pool.numbers
        own = search.master.with_rows(
            [row for row in rows if isinstance(row, Hashable)],
            [row.sense for row in rows],
            [row.rhs for row in rows],
        )
        wide = [
            Column(
                np.append(c.values, [row.coefficient(c, numbers) for row in rows]),
                c.key,
                cost=c.cost,
                integer=c.integer,
                upper=c.upper,
            )
            for c in columns
        ]
        sums = list(declared_parts(columns, search.integer).values())
        program = combination(own.constraints, wide, sums)
        unit = UNITS / search.scale(search.objective)  # tolerances of HiGHS are absolute
        program = replace(program, cost=unit * program.cost)
        seconds, left = max(LEAST_SECONDS, search.seconds), search.seconds_left
        try:
            limit = seconds if left is None else min(seconds, left)
            found = solve(program, "highs", time_limit=limit, options={"mip_rel_gap": 0.0})
            proven = True
        except InfeasibleError:
            return True
        except LimitError as error:
            if error.solution is None:
                return False
            found, proven = error.solution, False
        except SolverError:
            return False
        used = [j for j in range(len(columns)) if found.x[j] > LP_FEASIBILITY]
        places = search.pool.add([columns[j] for j in used]).tolist()
        taken = search.offer(dict(zip(places, found.x[used].tolist(), strict=True)), "list")
        return proven and (taken or found.objective >= unit * search.objective - LP_FEASIBILITY)
