"""The columns of all nodes of a tree, priced by one sparse product."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.exceptions import BoundError
from cgboost.generation.columns import Column, FloatArray
from cgboost.integer.branching.decisions import AMOUNT_ROUNDING, Restriction, Row, RowNumbers
from cgboost.integer.branching.rules import INTEGRAL
from cgboost.tolerances import LP_FEASIBILITY

Numbers = NDArray[np.intp]

NEW_COLUMNS = 0.2
"""New columns are put to the others when there are so many of them, relative to all: each is then
copied a few times."""


NO_ROW = -1
"""Instead of the place of a row."""


class GlobalColumnPool:
    """Columns with their values on the rows of the user's master, by number.

    Parameters
    ----------
    rows : sequence of hashable
        Names of the rows.
    counted : collection of hashable, default=()
        The convexity rows.

    Attributes
    ----------
    numbers : dict of hashable to int
        Places of the rows.
    signed : set of hashable
        Variables of which some column has a negative amount.
    shared : ndarray of bool of shape (n_rows,)
        Rows that several columns may meet together: some need not be whole, or have values other
        than 0 and 1.
    uneven : set of hashable
        Variables of which some integer column has a fractional amount.
    divided : ndarray of bool of shape (n_rows,)
        Rows of which decisions of the tree say that exactly one column meets them.
    largest_cost : float
        The largest |cost| of any column so far.
    """

    def __init__(self, rows: Sequence[Hashable], counted: Collection[Hashable] = ()) -> None:
        self.columns: list[Column] = []
        self.largest_cost = 0.0
        self.numbers: RowNumbers = {name: number for number, name in enumerate(rows)}
        self.signed: set[Hashable] = set()
        self.shared = np.zeros(len(rows), dtype=np.bool_)
        self.uneven: set[Hashable] = set()
        self.divided = np.zeros(len(rows), dtype=np.bool_)
        self._places: dict[Hashable, int] = {}
        self._counted = np.array([k for k, row in enumerate(rows) if row in counted], np.intp)
        self._convexity: list[int] = []
        self._first: dict[int, int] = {}
        self._costs = np.zeros(0)
        self._matrix = sp.csc_array((len(rows), 0))
        self._coefficients: dict[Row, Vector] = {}
        self._allowed: dict[Restriction, NDArray[np.bool_]] = {}

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def cost_unit(self) -> float:
        """The largest |cost| where it is below 1, else 1."""
        return min(1.0, self.largest_cost or 1.0)

    def add(self, columns: Iterable[Column]) -> Numbers:
        """Take in columns; the numbers of all of them, also of those that are here already.

        Values are copied: a pricer may go on with its array.

        Raises
        ------
        ValueError
            For a column with the key of another one, for amounts that are no numbers, and for a
            column without a block among those of a block.
        """
        found = []
        for column in map(_with_whole_bound, columns):
            place = self._places.get(column.key, len(self.columns))
            if place < len(self.columns):
                _check_same(self.columns[place], column)
            else:
                self.signed |= _signed(column)
                self._places[column.key] = place
                values = np.array(column.values, dtype=np.float64)
                self.columns.append(replace(column, values=values))
                self.largest_cost = max(self.largest_cost, abs(column.cost))
                self._check_divided(column, values)
                own = self._counted[np.flatnonzero(values[self._counted])]
                self._convexity.append(int(own[0]) if own.size else NO_ROW)
                self._check_block(column, self._convexity[-1])
                self.shared |= (values != 0) & ((values != 1) | (not column.integer))
                if column.integer:
                    self.uneven.update(
                        v for v, amount in column.variables.items() if amount != round(amount)
                    )
            found.append(place)
        return np.array(found, dtype=np.intp)

    def _check_block(self, column: Column, row: int) -> None:
        """Raise a ValueError for a column without a block in the convexity row of one.

        Decisions on the variables of a block do not hold it, so that it could take the place of the
        columns that they do hold in all nodes, without end.
        """
        if row == NO_ROW:
            return
        first = self.columns[self._first.setdefault(row, len(self) - 1)]
        if (first.block is None) != (column.block is None):
            known, new = sorted((first, column), key=lambda own: own.block is None)
            raise ValueError(
                f"column {new.key!r} of no block is in the convexity row "
                f"{list(self.numbers)[row]!r} of the block {known.block!r}: give it "
                f"block={known.block!r}, or take it out of the row"
            )

    def _check_divided(self, column: Column, values: Vector) -> None:
        """Raise a BoundError for a column that makes decisions on pairs of rows wrong."""
        partly = (
            (values != 0) if not column.integer else (values < 0) | (values != np.round(values))
        )
        if (wrong := np.flatnonzero(partly & self.divided)).size:
            name = list(self.numbers)[wrong[0]]
            what = f"{values[wrong[0]]:g}" + ("" if column.integer else " and need not be whole")
            raise BoundError(
                f"the tree was divided by pairs of rows that exactly one column meets, but the "
                f"column {column.key!r} has {what} in the row {name!r}: give the master such a "
                "column at the beginning, or take a rule other than RyanFoster"
            )

    def keep(self, count: int) -> None:
        """Forget all columns but the first."""
        for column in self.columns[count:]:
            del self._places[column.key]
        del self.columns[count:], self._convexity[count:]
        self._first = {row: place for row, place in self._first.items() if place < count}
        self._coefficients = {row: known[:count] for row, known in self._coefficients.items()}
        self._allowed = {each: known[:count] for each, known in self._allowed.items()}
        if self._matrix.shape[1] > count:
            self._matrix, self._costs = self._matrix[:, :count], self._costs[:count]

    @property
    def convexity(self) -> Numbers:
        """The place of each column's convexity row, ``NO_ROW`` for those in none."""
        return np.array(self._convexity, dtype=np.intp)

    def number(self, column: Column) -> int:
        """Its place."""
        return self._places[column.key]

    def coefficients(self, row: Row) -> Vector:
        """Those of all columns in a row that a decision adds, shape (n_columns,)."""
        known = self._coefficients.get(row, np.zeros(0))
        if len(known) < len(self):
            new = [row.coefficient(each, self.numbers) for each in self.columns[len(known) :]]
            known = self._coefficients[row] = np.concatenate([known, new])
        return known

    def allowed(self, restrictions: Iterable[Restriction]) -> NDArray[np.bool_]:
        """Which columns keep to all of them, shape (n_columns,)."""
        result = np.ones(len(self), dtype=np.bool_)
        for each in restrictions:
            known = self._allowed.get(each, np.zeros(0, dtype=np.bool_))
            if len(known) < len(self):
                new = [each.allows(column, self.numbers) for column in self.columns[len(known) :]]
                known = self._allowed[each] = np.concatenate([known, np.array(new, dtype=np.bool_)])
            result &= known
        return result

    def proper(self, rhs: Vector, first: int = 0) -> NDArray[np.bool_]:
        """Which columns, from the first, give no row more than it needs."""
        self._grow()
        n_known = self._matrix.shape[1]
        matrix, result = self._matrix, np.ones(len(self), dtype=np.bool_)
        if first < n_known:
            over = matrix.data > rhs[matrix.indices] + AMOUNT_ROUNDING
            result[np.repeat(np.arange(n_known), np.diff(matrix.indptr))[over]] = False
        for number in range(max(first, n_known), len(self)):
            result[number] = bool((self.columns[number].values <= rhs + AMOUNT_ROUNDING).all())
        return result[first:]

    def reduced_costs(self, duals: Vector, extra: dict[Row, float] | Any) -> Vector:
        """Reduced costs of all columns, rows of decisions included; shape (n_columns,)."""
        reduced = self.costs() - self.products(duals)
        for row, dual in extra.items():
            if dual:
                reduced -= dual * self.coefficients(row)
        return reduced

    def products(self, weights: Vector) -> Vector:
        """Σ_i w_i h_i of all columns h, shape (n_columns,)."""
        self._grow()
        new = [float(column.values @ weights) for column in self.columns[self._matrix.shape[1] :]]
        return np.concatenate([self._matrix.T @ weights, new])

    def costs(self) -> Vector:
        """Costs of all columns, shape (n_columns,)."""
        self._grow()
        new = [column.cost for column in self.columns[len(self._costs) :]]
        return np.concatenate([self._costs, new])

    def _grow(self) -> None:
        new = self.columns[self._matrix.shape[1] :]
        if len(new) <= NEW_COLUMNS * self._matrix.shape[1]:
            return
        values = sp.csc_array(np.column_stack([column.values for column in new]).astype(np.float64))
        self._matrix = sp.hstack([self._matrix, values], format="csc")
        self._costs = np.concatenate([self._costs, [column.cost for column in new]])


def _signed(column: Column) -> set[Hashable]:
    """Variables with a negative amount; a ValueError for amounts that are no numbers."""
    try:
        for variable, amount in column.variables.items():
            if not math.isfinite(amount):
                raise ValueError(
                    f"column {column.key!r} has the amount {amount!r} of the variable {variable!r}"
                )
        return {variable for variable, amount in column.variables.items() if amount < 0}
    except (AttributeError, TypeError):
        raise ValueError(
            f"column {column.key!r} must have a mapping of names to numbers for its variables, "
            f"got {column.variables!r}"
        ) from None


def _with_whole_bound(column: Column) -> Column:
    """A column of whole numbers can use no more than the whole part of its upper bound."""
    whole = math.floor(column.upper + INTEGRAL) if math.isfinite(column.upper) else column.upper
    return (
        replace(column, upper=float(whole)) if column.integer and whole != column.upper else column
    )


def _check_same(known: Column, column: Column) -> None:
    """Raise a ValueError if a column differs from the one that has its key."""
    allowed = LP_FEASIBILITY * max(1.0, abs(known.cost))
    what = ""
    if abs(known.cost - column.cost) > allowed:
        what = f"the cost {known.cost:.10g}, now {column.cost:.10g}"
    elif len(different := _different(known.values, column.values)):
        row = int(different[0])
        what = f"the value {known.values[row]:g} in row {row}, now {column.values[row]:g}"
    elif (known.block, known.integer) != (column.block, column.integer):
        what = (
            f"block={known.block!r} and integer={known.integer}, now block={column.block!r} and "
            f"integer={column.integer}"
        )
    if what:
        raise ValueError(
            f"two different columns have the key {column.key!r}: the first had {what}; a key has "
            "to tell all columns apart"
        )


def _different(known: FloatArray, values: FloatArray) -> Numbers:
    """Rows in which values differ by more than rounding."""
    away = np.abs(known - values)
    return np.flatnonzero(away > LP_FEASIBILITY * np.maximum(1.0, np.abs(known)))
