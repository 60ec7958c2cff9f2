"""Variable fixing: bounds of original variables that every solution below some cost keeps.

At duals r the Lagrangian bound is L = r·b + Σ_k z_k, z_k the least reduced cost of block k. With a
variable v of block k held at one value the bound is L − z_k + z_k(v). Where that exceeds a cost, no
solution up to that cost has the value (Posta, Ferland, Michelon, Computational Optimization and
Applications 52, 2012, on generalised assignment). A pricing pass tries one variable of every block.

A node with a bound T can so be divided into the solutions of cost T, for which many variables are
fixed, and all others, which cost at least the next multiple of ``objective_step``: branching on the
objective.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.protocols import ZERO_REDUCED_COST, MasterState
from cgboost.integer.branching.decisions import (
    AMOUNT_ROUNDING,
    Decision,
    VariableBound,
    check_number,
    respected_by,
)
from cgboost.integer.node_problem import NodeProblem
from cgboost.integer.pool import NO_ROW
from cgboost.integer.search_state import Relaxation, Search

MOST_PROBES = 0.5
"""Passes with a variable held, relative to the other pricing passes of a search."""


@dataclass(frozen=True)
class Probes:
    """Bounds of a node with one variable held at 0, or at 1 or more.

    Attributes
    ----------
    held : list of (VariableBound, float)
        Decisions that hold a variable, and the bound with each of them.
    """

    held: list[tuple[VariableBound, float]]

    def implied(self, search: Search, at_most: float = math.inf) -> list[VariableBound]:
        """What all solutions keep to that cost at most so much, and less than the best one."""
        return [_opposite(own) for own, bound in self.held if search.closes(bound, at_most)]


def _opposite(held: VariableBound) -> VariableBound:
    if held.lower > 0:
        return replace(held, lower=-math.inf, upper=held.lower - 1.0)
    return replace(held, lower=held.upper + 1.0, upper=math.inf)


class VariableFixing:
    """Price with one variable of each block held at a value different from its best column.

    The number of such passes is at most the share ``MOST_PROBES`` of the earlier pricing passes.

    Parameters
    ----------
    integer : collection of hashable or None
        The variables that must be integer. None means all variables of integer columns, and no
        others.
    least_share : float, default=0.7
        A node is divided by the objective if at least this share of the held variables is fixed;
        with fewer, the part with the smallest cost is as hard as the whole.
    most_steps : float, default=10
        A second condition: the bound is at most this many times ``objective_step`` below the best
        solution, since the parts are searched one after another. Capacitated p-median number 8,
        whose first bound is 25 below its optimum, takes 189 CPU s with parts and 77 without.
    """

    def __init__(
        self,
        integer: Collection[Hashable] | None = None,
        *,
        least_share: float = 0.7,
        most_steps: float = 10.0,
    ) -> None:
        check_number("least_share", least_share, 0.0)
        check_number("most_steps", most_steps, 0.0)
        self.integer = None if integer is None else frozenset(integer)
        self.least_share, self.most_steps = least_share, most_steps

    @staticmethod
    def fits(search: Search) -> bool:
        """Whether there is a block with one column, and a pricer that respects bounds."""
        return VariableBound in respected_by(search.pricer) and bool(search.once)

    def probes(
        self, search: Search, decisions: Sequence[Decision], relaxation: Relaxation
    ) -> Probes | None:
        """Bounds with variables held; None where the pricer does not give that of each block."""
        if relaxation.near is None:
            return None
        problem = search.problem(decisions, near=relaxation.near)
        state = state_of(problem)
        known = self._known(search, problem, state.pseudo_response)
        if known is None:
            return None
        priced = problem.pricer.checked_pricer.price(state, 0)
        least = _least(priced.reduced_cost, search.once)
        bound = problem.master.bound(state, priced) if priced.exact and least else None
        if bound is None:
            return None
        for block, z in least.items():
            least[block] = min(z, known[block].least)
            bound += least[block] - min(0.0, z)
        if not math.isfinite(bound):
            return None
        n_passes = max(len(own.tried) for own in known.values())
        if search.n_probes + n_passes > MOST_PROBES * search.n_pricings:
            return None
        search.n_probes += n_passes
        held: list[tuple[VariableBound, float]] = []
        for place in range(n_passes):
            tried = [own.tried[place] for own in known.values() if place < len(own.tried)]
            if search.is_over:
                break
            also = tuple(decision for decision, _ in tried)
            asked = problem.pricer.checked_pricer.price(state, 0, also)
            answer = _least(asked.reduced_cost, search.once)
            for decision, of_pool in tried:
                z = min(of_pool, answer[decision.block])
                held.append((decision, bound - least[decision.block] + z))
        return Probes(held)

    def _known(
        self, search: Search, problem: NodeProblem, duals: Vector
    ) -> dict[Hashable, _Known] | None:
        """What the columns of the pool say of each block; None if one of no block counts."""
        pool = search.pool
        in_row = pool.convexity != NO_ROW
        reduced = pool.reduced_costs(*problem.duals(duals))
        blocks: dict[Hashable, list[int]] = {block: [] for block in search.once}
        for number in np.flatnonzero(problem.allowed()).tolist():
            column = pool.columns[number]
            rounding = ZERO_REDUCED_COST * max(1.0, abs(column.cost))
            if column.block in blocks:
                blocks[column.block].append(number)
            elif in_row[number] or reduced[number] < -rounding:
                return None  # it may take the place of a block's column, or prices out by itself
        loose = {v for column in pool.columns if not column.integer for v in column.variables}
        return {
            block: self._of_block(search, block, numbers, reduced[numbers], loose)
            for block, numbers in blocks.items()
        }

    def _of_block(
        self,
        search: Search,
        block: Hashable,
        numbers: Sequence[int],
        reduced: Vector,
        loose: Collection[Hashable],
    ) -> _Known:
        if not len(numbers):
            return _Known(math.inf, [])
        columns = [search.pool.columns[number] for number in numbers]
        having: dict[Hashable, list[int]] = defaultdict(list)
        for place, column in enumerate(columns):
            for variable, amount in column.variables.items():
                if amount >= 1.0 - AMOUNT_ROUNDING:
                    having[variable].append(place)
        best = int(reduced.argmin())
        tried = []
        for variable, places in having.items():
            whole = variable not in loose if self.integer is None else variable in self.integer
            odd = variable in search.pool.signed or variable in search.pool.uneven
            if not whole or odd or len(places) == len(columns):
                continue
            inside = np.zeros(len(columns), dtype=np.bool_)
            inside[places] = True
            if inside[best]:
                decision = VariableBound(variable, upper=0.0, block=block)
                tried.append((decision, float(reduced[~inside].min())))
            else:
                decision = VariableBound(variable, lower=1.0, block=block)
                tried.append((decision, float(reduced[inside].min())))
        return _Known(float(reduced[best]), tried)


@dataclass(frozen=True)
class _Known:
    """The least reduced cost of the known columns of a block, and with a variable held."""

    least: float
    tried: list[tuple[VariableBound, float]]


def _least(reduced: object, once: Collection[Hashable]) -> dict[Hashable, float]:
    """Least reduced costs of the blocks with one column; empty where they are not all known."""
    if not isinstance(reduced, Mapping) or any(block not in reduced for block in once):
        return {}
    return {block: float(reduced[block]) for block in once}


def state_of(problem: NodeProblem) -> MasterState:
    """What a pricer sees at the duals that a problem begins with."""
    duals = problem.start_duals
    if duals is None:
        raise ValueError("a problem has no duals before its parent was solved")
    state = MasterState.at_response(duals, None, tuple(problem.master.columns))
    return replace(state, objective=math.inf, rows=problem.master.rows)
