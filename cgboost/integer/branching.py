"""Branching rules: what to decide at a node whose solution is fractional.

A rule says which kinds of decisions it makes (``makes``) and gives branches, the best first; each
has children, and each child is a list of decisions. Every integer solution of the node must be in
one of the children.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.columns import Column
from cgboost.integer.decisions import (
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

Vector = NDArray[np.float64]

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
        With a coefficient above 0, and their values on the rows of the user's master alone.
    coef : ndarray of shape (n_columns,)
    rows : RowNumbers
        Places of these rows.
    senses : ndarray of str
    rhs : ndarray of shape (n_rows,)
    decisions : sequence of Decision
        Of the node.
    once : frozenset of hashable
        Blocks of which every solution has exactly one column.
    depth : int
    """

    columns: Sequence[Column]
    coef: Vector
    rows: RowNumbers
    senses: NDArray[np.str_]
    rhs: Vector
    decisions: Sequence[Decision]
    once: frozenset[Hashable]
    depth: int

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
        What is decided; branches at other nodes with the same name are compared with it.
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
        """At most so many branches, the most promising first; none if nothing is fractional."""
        ...


class CountBranching:
    """The number of columns, ``Σ_j x_j ≤ ⌊v⌋`` or ``≥ ⌈v⌉``.

    Parameters
    ----------
    by_block : bool, default=False
        Whether the columns of each block are counted too.
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

    For rows ``= 1`` with values 0 and 1. A pair of rows whose columns in common have a fractional
    sum is there whenever the solution is fractional.

    Parameters
    ----------
    subset_closed : bool, default=False
        Rows ``≥ 1`` are taken as well: right if what is left of a column without one of its
        rows is a column that costs no more, so that every cover can be made a partition.
    """

    makes = (Together, Apart)

    def __init__(self, *, subset_closed: bool = False) -> None:
        self.subset_closed = subset_closed

    def branches(self, solution: NodeSolution, most: int) -> Sequence[Branch]:
        """See :class:`BranchingRule`."""
        senses = ("==", ">=") if self.subset_closed else ("==",)
        ones = np.flatnonzero(np.isin(solution.senses, senses) & (solution.rhs == 1.0))
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


_Total = tuple[Hashable, Hashable | None]


class VariableBranching:
    """An original variable or an aggregate of some, ``z_v ≤ ⌊z⌋`` or ``≥ ⌈z⌉``.

    Where a solution has exactly one column of a block, a bound on the variable in the subproblem of
    this block. On the sum over all columns, a row of the master, whose dual the pricer sees; where
    the sum is to be 0 and no column has less, a bound of 0 in all subproblems.

    Parameters
    ----------
    integer : collection of hashable or None
        The variables that have to be whole; None: all that integer columns name, and no others.
    first : collection of hashable, default=()
        Variables that are decided before all others.
    signed : collection of hashable, default=()
        Variables of which columns may have negative amounts: a sum of 0 is no bound of 0.
    rows : bool, default=True
        Whether sums over all columns are divided. False: the pricer knows bounds alone.

    Raises
    ------
    ValueError
        For a column with a negative amount of a variable that is to be bounded and not ``signed``.
    """

    def __init__(
        self,
        integer: Collection[Hashable] | None = None,
        first: Collection[Hashable] = (),
        *,
        signed: Collection[Hashable] = (),
        rows: bool = True,
    ) -> None:
        self.integer = None if integer is None else frozenset(integer)
        self.first, self.signed, self.rows = frozenset(first), frozenset(signed), rows

    @property
    def makes(self) -> tuple[type, ...]:
        """Kinds of decisions that the pricer has to respect."""
        return (VariableBound, VariableRow) if self.rows else (VariableBound,)

    def branches(self, solution: NodeSolution, most: int) -> Sequence[Branch]:
        """See :class:`BranchingRule`."""
        totals = self._totals(solution)
        found = _most_fractional({v: z for v, z in totals.items() if v[0] in self.first}, most)
        found = found or _most_fractional(totals, most)
        return [self._branch(v, block, z, solution) for (v, block), z in found]

    def _totals(self, solution: NodeSolution) -> dict[_Total, float]:
        """Sums Σ_j z_vj x_j over all columns (the block None), and over blocks with one column."""
        totals: dict[_Total, float] = defaultdict(float)
        blocks: dict[Hashable, set[Hashable | None]] = defaultdict(set)
        for column, x in zip(solution.columns, solution.coef.tolist(), strict=True):
            for variable, amount in column.variables.items():
                if self.integer is None or variable in self.integer:
                    blocks[variable].add(column.block)
                    totals[variable, None] += amount * x
                    if column.block in solution.once:
                        totals[variable, column.block] += amount * x
        for variable, own in blocks.items():
            if not self.rows or (len(own) == 1 and own <= solution.once):
                del totals[variable, None]
        if self.integer is None:
            loose = {v for c in solution.columns if not c.integer for v in c.variables}
            return {key: z for key, z in totals.items() if key[0] not in loose}
        return totals

    def _branch(
        self, variable: Hashable, block: Hashable | None, value: float, solution: NodeSolution
    ) -> Branch:
        low, high = float(math.floor(value)), float(math.ceil(value))
        down: Decision
        up: Decision
        if block is not None:
            down = VariableBound(variable, upper=low, block=block)
            up = VariableBound(variable, lower=high, block=block)
            return Branch((variable, block), value, ((up,), (down,)))
        terms = ((variable, 1.0),)
        up, down = VariableRow(terms, ">=", high), VariableRow(terms, "<=", low)
        if not low and variable not in self.signed:
            down = VariableBound(variable, upper=0.0)
            for column in solution.columns:
                if column.variables.get(variable, 0.0) < -AMOUNT_ROUNDING:
                    raise ValueError(
                        f"column {column.key!r} has the amount {column.variables[variable]:g} of "
                        f"variable {variable!r}: name it in VariableBranching(signed=…)"
                    )
        return Branch(variable, value, ((up,), (down,)))


class ComponentBranching:
    """How many columns have at least so much of some rows.

    Vanderbeck, Operations Research 48, 2000. For identical subproblems whose columns have whole
    values and are used several times, as in cutting stock. A set of conditions is there whenever
    the solution is fractional: that of a column with no larger one beside it counts this column
    alone.
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


def _distance(values: Vector) -> Vector:
    """To the nearest whole number."""
    return np.asarray(np.abs(values - np.round(values)), dtype=np.float64)


Name = TypeVar("Name")


def _most_fractional(totals: Mapping[Name, float], most: int) -> list[tuple[Name, float]]:
    """The entries that are farthest from whole numbers."""
    away = {name: abs(value - round(value)) for name, value in totals.items()}
    found = sorted((name for name in totals if away[name] > INTEGRAL), key=lambda n: -away[n])
    return [(name, totals[name]) for name in found[:most]]
