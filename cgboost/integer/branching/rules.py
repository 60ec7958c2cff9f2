"""Branching rules: the decisions at a node with a fractional solution.

A rule declares its kinds of decisions (``makes``) and returns branches, the best first; each has
children, and each child is a list of decisions. Every integer solution of the node must be in one
of the children.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.integer.branching.decisions import (
    AMOUNT_ROUNDING,
    Apart,
    ComponentRow,
    CountRow,
    Decision,
    RowNumbers,
    Together,
    VariableBound,
    VariableRow,
)

INTEGRAL = 1e-6
"""A value this close to a whole number is one: solvers miss a row by up to 1e-7, and a sum of
values
by several of these."""

MOST_CONDITIONS = 50
"""Rows that a set of conditions may have; a set with more would not be found by anybody."""


@dataclass(frozen=True)
class NodeSolution:
    """The solution of a node's linear relaxation.

    Attributes
    ----------
    columns : sequence of Column
        Columns with a coefficient above 0, and their values on the rows of the user's master only.
    coef : ndarray of shape (n_columns,)
    rows : RowNumbers
        Indices of these rows.
    senses : ndarray of str
    rhs : ndarray of shape (n_rows,)
    decisions : sequence of Decision
        Decisions of the node.
    once : frozenset of hashable
        Blocks with exactly one column in every solution.
    depth : int
    signed : frozenset of hashable
        Variables with a negative amount in some column, at this or other nodes.
    shared : ndarray of bool of shape (n_rows,)
        Rows with columns, at this or other nodes, that are not integer or have values other than 0
        and 1.
    uneven : frozenset of hashable, default=frozenset()
        Variables with a fractional amount in some integer column, at this or other nodes.
    """

    columns: Sequence[Column]
    coef: Vector
    rows: RowNumbers
    senses: NDArray[np.str_]
    rhs: Vector
    decisions: Sequence[Decision]
    once: frozenset[Hashable]
    depth: int
    signed: frozenset[Hashable]
    shared: NDArray[np.bool_]
    uneven: frozenset[Hashable] = frozenset()

    @property
    def fractional(self) -> NDArray[np.bool_]:
        """Which integer columns have a fractional coefficient."""
        integer = np.array([column.integer for column in self.columns], dtype=np.bool_)
        return integer & (_distance(self.coef) > INTEGRAL)


@dataclass(frozen=True)
class Branch:
    """One way to divide a node.

    Attributes
    ----------
    name : hashable
        Name of the decision; branches at other nodes with the same name are compared with it.
    value : float
        The fractional value.
    children : tuple of tuple of Decision
    """

    name: Hashable
    value: float
    children: tuple[tuple[Decision, ...], ...]


class BranchingRule(Protocol):
    """Divides a node."""

    @property
    def makes(self) -> tuple[type, ...]:
        """Kinds of decisions that the pricer has to respect."""
        ...

    def branches(self, solution: NodeSolution, most: int) -> Sequence[Branch]:
        """At most this many branches, most promising first; none if nothing is fractional."""
        ...


@runtime_checkable
class Requirement(Protocol):
    """A rule that says what a solution has besides whole columns; others leave it out."""

    def admits(self, solution: NodeSolution) -> bool:
        """Whether a point whose columns are whole where they have to be is a solution."""
        ...


def declared_parts(
    columns: Iterable[Column], integer: Collection[Hashable]
) -> dict[tuple[Hashable | None, Hashable], list[tuple[int, float]]]:
    """Amounts of variables that must be integer, by block and variable: (place of column, amount).

    Whole amounts in integer columns are left out: with these columns they are whole.
    """
    parts: dict[tuple[Hashable | None, Hashable], list[tuple[int, float]]] = defaultdict(list)
    for place, column in enumerate(columns if integer else ()):
        for variable, amount in column.variables.items():
            if variable in integer and not (column.integer and amount == round(amount)):
                parts[column.block, variable].append((place, amount))
    return parts


def amounts_of(columns: Iterable[Column], coef: Vector) -> dict[Hashable, float]:
    """The original variables of a solution: Σ_j amount_vj x_j."""
    amounts: dict[Hashable, float] = defaultdict(float)
    for column, x in zip(columns, coef.tolist(), strict=True):
        for variable, amount in column.variables.items():
            amounts[variable] += amount * x
    return amounts


class CountBranching:
    """The number of columns, ``Σ_j x_j ≤ ⌊v⌋`` or ``≥ ⌈v⌉``.

    Parameters
    ----------
    by_block : bool, default=False
        Whether to count also the columns of each block.
    """

    makes = (CountRow,)

    def __init__(self, *, by_block: bool = False) -> None:
        self.by_block = by_block

    def branches(self, solution: NodeSolution, most: int) -> Sequence[Branch]:
        """See :class:`BranchingRule`."""
        totals: dict[Hashable | None, float] = defaultdict(float)
        for column, x in zip(solution.columns, solution.coef.tolist(), strict=True):
            if column.integer:
                totals[None] += x
                if self.by_block and column.block is not None:
                    totals[column.block] += x

        def branch(block: Hashable | None, value: float) -> Branch:
            low = CountRow("<=", math.floor(value), block)
            high = CountRow(">=", math.ceil(value), block)
            return Branch(("count", block), value, ((high,), (low,)))

        return [branch(block, value) for block, value in _most_fractional(totals, most)]


class RyanFoster:
    """Two rows in the same column, or in different ones (Ryan and Foster 1981).

    For rows ``= 1`` with values 0 and 1 in which all columns are integer; other rows are left out.
    If all rows are of this kind, every fractional solution has a pair of rows whose common columns
    have a fractional sum.

    Parameters
    ----------
    subset_closed : bool, default=False
        Also use rows ``≥ 1``. This is valid if removing a row from a column always gives a column
        that costs no more; every cover can then be turned into a partition.
    """

    makes = (Together, Apart)

    def __init__(self, *, subset_closed: bool = False) -> None:
        self.subset_closed = subset_closed

    def branches(self, solution: NodeSolution, most: int) -> Sequence[Branch]:
        """See :class:`BranchingRule`."""
        senses = ("==", ">=") if self.subset_closed else ("==",)
        once = np.isin(solution.senses, senses) & (solution.rhs == 1.0)
        ones = np.flatnonzero(once & ~solution.shared)
        active = np.flatnonzero(solution.fractional)
        if not len(ones) or not len(active):
            return []
        values = np.array(
            [solution.columns[j].values[ones] != 0 for j in active.tolist()], np.float64
        )
        together = (values * solution.coef[active, None]).T @ values
        first, second = np.triu_indices(len(ones), 1)
        shares = together[first, second]
        split = np.flatnonzero(_distance(shares) > INTEGRAL)
        best = split[np.argsort(-_distance(shares[split]), kind="stable")[:most]]
        names = list(solution.rows)

        def branch(pair: int) -> Branch:
            a, b = names[ones[first[pair]]], names[ones[second[pair]]]
            return Branch((a, b), float(shares[pair]), ((Together(a, b),), (Apart(a, b),)))

        return [branch(pair) for pair in best.tolist()]


class VariableBranching:
    """An original variable or an aggregate of some, ``z_v ≤ ⌊z⌋`` or ``≥ ⌈z⌉``.

    The decision is a bound in the subproblem if a solution has exactly one column of the variable's
    block, or if the bound is 0 for all columns and no column has had a negative amount. Otherwise
    it is a row of the master, whose dual the pricer sees. If all variables are integer, but a block
    with one column uses parts of several, their amounts of a variable are divided at the mean.

    Parameters
    ----------
    integer : collection of hashable or None
        The variables that must be integer in a solution, whether its columns are or not: the sum of
        their amounts in the columns of each block. A solution of a block with one column may then
        be a mean of columns with ``integer=False``, which has to hold also between the bounds of a
        decision: every solution within them is a mean of columns within them. None means all
        variables of integer columns with integer amounts, and no others.
    first : collection of hashable, default=()
        Variables to branch on before all others.
    signed : collection of hashable, default=()
        Variables that may have negative amounts in columns, if none of the initial columns has.
    rows : bool, default=True
        Whether rows may be used. If False, the pricer need respect only ``VariableBound``, and only
        variables of blocks with exactly one column (rows ``== 1`` in ``copies``) are divided.
    """

    def __init__(
        self,
        integer: Collection[Hashable] | None = None,
        first: Collection[Hashable] = (),
        *,
        signed: Collection[Hashable] = (),
        rows: bool = True,
    ) -> None:
        for name, own in (("integer", integer or ()), ("first", first), ("signed", signed)):
            if isinstance(own, str) or not isinstance(own, Collection):
                raise TypeError(f"{name} must be a collection of names of variables, got {own!r}")
        self.integer = None if integer is None else frozenset(integer)
        self.first, self.signed, self.rows = frozenset(first), frozenset(signed), rows

    @property
    def makes(self) -> tuple[type, ...]:
        """Kinds of decisions that the pricer has to respect."""
        return (VariableBound, VariableRow) if self.rows else (VariableBound,)

    def branches(self, solution: NodeSolution, most: int) -> Sequence[Branch]:
        """See :class:`BranchingRule`."""
        totals: dict[Hashable, float] = defaultdict(float)
        blocks: dict[Hashable, set[Hashable | None]] = defaultdict(set)
        free = self.free(solution)
        for column, x in zip(solution.columns, solution.coef.tolist(), strict=True):
            for variable, amount in column.variables.items():
                if variable not in free and (self.rows or column.block in solution.once):
                    totals[variable] += amount * x
                    blocks[variable].add(column.block)
        if not self.rows:  # a sum over several blocks needs one
            totals = {v: z for v, z in totals.items() if len(blocks[v]) == 1}
        found = _most_fractional({v: z for v, z in totals.items() if v in self.first}, most)
        found = found or _most_fractional(totals, most)
        if not found:
            return self._in_blocks(solution, free, most)
        return [self._branch(v, z, blocks[v], solution) for v, z in found]

    def free(self, solution: NodeSolution) -> frozenset[Hashable]:
        """Variables of the solution that need not be whole."""
        named = frozenset(v for column in solution.columns for v in column.variables)
        if self.integer is not None:
            return named - self.integer
        loose = [column for column in solution.columns if not column.integer]
        return solution.uneven.union(v for column in loose for v in column.variables)

    def _in_blocks(
        self, solution: NodeSolution, free: frozenset[Hashable], most: int
    ) -> list[Branch]:
        """Variables that are not whole in a block with one column, or whole in the mean of several.

        The mean is enough unless a column that has to be whole is not.
        """
        fractional = np.flatnonzero(solution.fractional).tolist()
        divided = {solution.columns[j].block for j in fractional}
        parts: dict[tuple[Hashable, Hashable], list[tuple[float, float]]] = defaultdict(list)
        for column, x in zip(solution.columns, solution.coef.tolist(), strict=True):
            if column.block in solution.once:
                parts[column.block, None].append((x, 0.0))
                for variable in column.variables.keys() - free:
                    parts[column.block, variable].append((x, column.variables[variable]))
        spread: dict[tuple[Hashable, Hashable], tuple[float, float]] = {}
        for (block, variable), own in parts.items():
            amounts = np.array([amount for _, amount in own])
            odd = self.integer is None and (_distance(amounts) > AMOUNT_ROUNDING).any()
            if variable is None or odd:
                continue
            shares = np.array([x for x, _ in own])
            rest = max(0.0, sum(x for x, _ in parts[block, None]) - shares.sum())
            mean = float(shares @ amounts)
            variance = float(shares @ (amounts - mean) ** 2 + rest * mean**2)
            away = abs(mean - round(mean))
            if away > INTEGRAL or (block in divided and variance > INTEGRAL):
                spread[block, variable] = max(variance, away), mean
        chosen = sorted(spread, key=lambda name: -spread[name][0])[:most]

        def branch(block: Hashable, variable: Hashable) -> Branch:
            mean = spread[block, variable][1]
            low = float(math.floor(mean + INTEGRAL))
            up = VariableBound(variable, lower=low + 1.0, block=block)
            down = VariableBound(variable, upper=low, block=block)
            return Branch((block, variable), mean, ((up,), (down,)))

        return [branch(*name) for name in chosen]

    def _branch(
        self,
        variable: Hashable,
        value: float,
        blocks: set[Hashable | None],
        solution: NodeSolution,
    ) -> Branch:
        low, high = float(math.floor(value)), float(math.ceil(value))
        block = next(iter(blocks)) if len(blocks) == 1 else None
        down: Decision
        up: Decision
        if block is not None and block in solution.once:
            down = VariableBound(variable, upper=low, block=block)
            up = VariableBound(variable, lower=high, block=block)
        else:
            terms = ((variable, 1.0),)
            up = VariableRow(terms, ">=", high)
            absent = low == 0 and variable not in self.signed | solution.signed
            down = VariableBound(variable, upper=0.0) if absent else VariableRow(terms, "<=", low)
        return Branch(variable, value, ((up,), (down,)))


class SetBranching:
    """Branching on sets of original variables of which a solution uses at most one.

    Special ordered sets of type 1 (Beale and Tomlin, *Special Facilities in a General Mathematical
    Programming System*, Operational Research 69, 1970). A set is divided into two parts, and each
    child has ``z_v = 0`` for one of them: the pricer excludes variables, and never has to include
    one. If a set contains the arcs by which a commodity may leave a node, this is branching where
    paths diverge (Barnhart, Hane and Vance, Operations Research 48, 2000).

    Parameters
    ----------
    sets : iterable of collection of hashable
        Names of variables in ``Column.variables``, with amounts of at least 0. Nodes whose solution
        uses only one variable of each set are left to other rules. Points that use several are no
        solutions, whether their columns must be integer or not.
    """

    makes = (VariableBound,)

    def __init__(self, sets: Iterable[Collection[Hashable]]) -> None:
        self.sets = [tuple(dict.fromkeys(own)) for own in sets]
        self._of: dict[Hashable, list[int]] = defaultdict(list)
        for number, own in enumerate(self.sets):
            for variable in own:
                self._of[variable].append(number)

    def branches(self, solution: NodeSolution, most: int) -> Sequence[Branch]:
        """Sets with the largest amount besides the first; see :class:`BranchingRule`."""
        found = sorted(self._used(solution), key=lambda entry: (-entry[0], entry[1]))
        return [
            Branch(("set", number), kept, (_without(ranked[1::2]), _without(ranked[::2])))
            for _, number, ranked, kept in found[:most]
        ]

    def admits(self, solution: NodeSolution) -> bool:
        """Whether a point uses at most one variable of each set; see ``Requirement``."""
        return not self._used(solution)

    def _used(self, solution: NodeSolution) -> list[tuple[float, int, list[Hashable], float]]:
        """Sets of which several are used: the second amount, number, variables, every second."""
        totals = amounts_of(solution.columns, solution.coef)
        found = []
        for number in dict.fromkeys(n for v in totals for n in self._of.get(v, ())):
            ranked = sorted(self.sets[number], key=lambda v: -totals.get(v, 0.0))
            amounts = [totals.get(v, 0.0) for v in ranked]
            if len(ranked) > 1 and amounts[1] > INTEGRAL:
                found.append((amounts[1], number, ranked, sum(amounts[::2])))
        return found


class ComponentBranching:
    """The number of columns with at least given values in some rows.

    Vanderbeck, Operations Research 48, 2000. For identical subproblems with integer columns that
    are used several times, as in cutting stock. Every fractional solution has such a set of
    conditions: the conditions of a column without a larger one count only this column.
    """

    makes = (ComponentRow,)

    def branches(self, solution: NodeSolution, most: int) -> Sequence[Branch]:
        """See :class:`BranchingRule`."""
        if not solution.fractional.any():
            return []
        values = np.array([column.values for column in solution.columns])
        names = list(solution.rows)
        inside = np.array([column.integer for column in solution.columns], dtype=np.bool_)
        least: list[tuple[Hashable, float]] = []
        while len(least) < MOST_CONDITIONS:
            sums, conditions = self._sums(values, solution, inside)
            split = np.flatnonzero(_distance(sums) > INTEGRAL)
            if len(split):
                best = split[np.argsort(-_distance(sums[split]), kind="stable")[:most]]
                chosen = [(float(sums[k]), conditions[k]) for k in best.tolist()]
                return [
                    self._branch(frozenset([*least, (names[i], v)]), total)
                    for total, (i, v) in chosen
                ]
            loose = inside & solution.fractional
            shares = [np.count_nonzero(loose & (values[:, i] >= v)) for i, v in conditions]
            n_loose = np.count_nonzero(loose)
            halves = [k for k, n in enumerate(shares) if 0 < n < n_loose]
            if not halves:
                return []
            i, v = conditions[min(halves, key=lambda k: abs(2 * shares[k] - n_loose))]
            least.append((names[i], v))
            inside &= values[:, i] >= v - AMOUNT_ROUNDING
        return []

    @staticmethod
    def _sums(
        values: Vector, solution: NodeSolution, inside: NDArray[np.bool_]
    ) -> tuple[Vector, list[tuple[int, float]]]:
        """Σ x_j over the columns with h_i ≥ v, for every row i and value v of a fractional one.

        But for the least value, or 0 where none is less: all columns have it.
        """
        loose = inside & solution.fractional
        sums, conditions = [], []
        for i in np.flatnonzero(values[loose].any(axis=0)).tolist():
            lowest = min(0.0, float(values[inside, i].min()))
            for v in np.unique(values[loose, i]).tolist():
                if v > lowest:
                    sums.append(solution.coef[inside & (values[:, i] >= v)].sum())
                    conditions.append((i, v))
        return np.array(sums), conditions

    @staticmethod
    def _branch(least: frozenset[tuple[Hashable, float]], value: float) -> Branch:
        low = ComponentRow(least, "<=", math.floor(value))
        high = ComponentRow(least, ">=", math.ceil(value))
        return Branch(least, value, ((high,), (low,)))


def _without(variables: Sequence[Hashable]) -> tuple[VariableBound, ...]:
    return tuple(VariableBound(variable, upper=0.0) for variable in variables)


def _distance(values: Vector) -> Vector:
    """To the nearest whole number."""
    return np.asarray(np.abs(values - np.round(values)), dtype=np.float64)


def _most_fractional(totals: Mapping[Hashable, float], most: int) -> list[tuple[Hashable, float]]:
    """The entries that are farthest from whole numbers."""
    away = {name: abs(value - round(value)) for name, value in totals.items()}
    found = sorted((name for name in totals if away[name] > INTEGRAL), key=lambda n: -away[n])
    return [(name, totals[name]) for name in found[:most]]
