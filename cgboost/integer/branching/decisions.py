"""Decisions of a branch-and-price tree: restrictions of the columns, and rows of the master.

A *restriction* determines which columns remain, and the pricer must not generate others. A *row* is
added to the master; the pricer sees its dual. Children of branching rules consist of both; cuts are
rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol, TypeGuard, TypeVar, runtime_checkable

from cgboost.generation.columns import Column

RowNumbers = Mapping[Hashable, int]
"""The place of each row of the user's master in ``Column.values``."""

AMOUNT_ROUNDING = 1e-9
"""Amounts of columns closer than this are equal: they are whole numbers, or sums of a few data."""


SENSES = ("<=", "==", ">=")


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise a ValueError unless a value is a whole number that is not too small."""
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number ≥ {least}, got {value!r}")


def check_number(name: str, value: Any, least: float = -math.inf) -> None:
    """Raise a ValueError unless a value is a number that is not too small."""
    if not isinstance(value, Real) or not float(value) >= least:
        at_least = "" if least == -math.inf else f" of at least {least:g}"
        raise ValueError(f"{name} must be a number{at_least}, got {value!r}")


def _check_row(row: Any) -> None:
    """Raise a ValueError for a sense or a right-hand side that no row can have."""
    name = type(row).__name__
    if row.sense not in SENSES:
        raise ValueError(f'sense of a {name} must be "<=", "==" or ">=", got {row.sense!r}')
    if not isinstance(row.rhs, Real) or not math.isfinite(float(row.rhs)):
        raise ValueError(f"rhs of a {name} must be a finite number, got {row.rhs!r}")


@runtime_checkable
class Restriction(Protocol):
    """Determines which columns remain at a node."""

    def allows(self, column: Column, rows: RowNumbers) -> bool:
        """Whether a column satisfies the restriction."""
        ...


@runtime_checkable
class Row(Protocol):
    """A row Σ_j a(column_j) x_j  ≤ | = | ≥  rhs that a node adds to the master."""

    @property
    def sense(self) -> str:
        """``"<="``, ``"=="`` or ``">="``."""
        ...

    @property
    def rhs(self) -> float:
        """The right-hand side."""
        ...

    def coefficient(self, column: Column, rows: RowNumbers) -> float:
        """The coefficient of one unit of a column."""
        ...


Decision = Restriction | Row


def is_restriction(decision: Any) -> TypeGuard[Restriction]:
    """Whether a decision says which columns stay."""
    return _kinds(decision)[0]


def is_row(decision: Any) -> TypeGuard[Row]:
    """Whether a decision comes into the master."""
    return _kinds(decision)[1]


_KNOWN_KINDS: dict[type, tuple[bool, bool]] = {}


def _kinds(decision: Any) -> tuple[bool, bool]:
    """Both answers, asked for once a type: in Python 3.11 such a question takes microseconds."""
    kind = type(decision)
    if kind not in _KNOWN_KINDS:
        _KNOWN_KINDS[kind] = isinstance(decision, Restriction), isinstance(decision, Row)
    return _KNOWN_KINDS[kind]


@dataclass(frozen=True)
class Together:
    """Two rows are covered by the same columns: each has both or neither (Ryan and Foster 1981).

    Attributes
    ----------
    first, second : hashable
        Names of rows of the master.
    """

    first: Hashable
    second: Hashable

    def allows(self, column: Column, rows: RowNumbers) -> bool:
        """Whether a column has both rows or neither."""
        values = column.values
        return bool((values[rows[self.first]] != 0) == (values[rows[self.second]] != 0))


@dataclass(frozen=True)
class Apart:
    """Two rows are covered by different columns: none has both (Ryan and Foster 1981).

    Attributes
    ----------
    first, second : hashable
        Names of rows of the master.
    """

    first: Hashable
    second: Hashable

    def allows(self, column: Column, rows: RowNumbers) -> bool:
        """Whether a column lacks one of the rows."""
        values = column.values
        return not (values[rows[self.first]] != 0 and values[rows[self.second]] != 0)


@dataclass(frozen=True)
class VariableBound:
    """``lower ≤ z_v ≤ upper`` for the amount of an original variable in every column of a block.

    A ray keeps to a bound if points stay within it, however much of the ray is added.

    Attributes
    ----------
    variable : hashable
    lower, upper : float
        Amounts may be negative; a bound that is not given has no effect.
    block : hashable or None
        None means all blocks.
    """

    variable: Hashable
    lower: float = -math.inf
    upper: float = math.inf
    block: Hashable | None = None

    def __post_init__(self) -> None:
        check_number("lower of a VariableBound", self.lower)
        check_number("upper of a VariableBound", self.upper)
        if self.lower > self.upper:
            raise ValueError(
                f"lower={self.lower:g} of a VariableBound on {self.variable!r} is above "
                f"upper={self.upper:g}: no column keeps to it"
            )

    def allows(self, column: Column, rows: RowNumbers) -> bool:
        """Whether the amount is between the bounds."""
        if self.block is not None and column.block != self.block:
            return True
        amount, lower, upper = column.variables.get(self.variable, 0.0), self.lower, self.upper
        if column.ray:
            lower, upper = (own if math.isinf(own) else 0.0 for own in (lower, upper))
        return lower - AMOUNT_ROUNDING <= amount <= upper + AMOUNT_ROUNDING


@dataclass(frozen=True)
class CountRow:
    """Bound on the number of columns, ``Σ_j x_j ≤ rhs`` or ``≥ rhs``.

    Columns with ``integer=False`` are not counted.

    Attributes
    ----------
    sense : str
    rhs : float
    block : hashable or None
        The block whose columns are counted; None means all.
    """

    sense: str
    rhs: float
    block: Hashable | None = None

    def __post_init__(self) -> None:
        _check_row(self)

    def coefficient(self, column: Column, rows: RowNumbers) -> float:
        """1 for the columns that are counted."""
        return float(column.integer and (self.block is None or column.block == self.block))


@dataclass(frozen=True)
class VariableRow:
    """A row on original variables, ``Σ_v a_v z_v ≤ | = | ≥ rhs``: a branch, or a robust cut.

    The structure of the pricing problem does not change: the dual only changes the prices of
    variables (``duals.prices``).

    Attributes
    ----------
    terms : tuple of (hashable, float)
        Variables and their coefficients; see :meth:`of`.
    sense : str
    rhs : float
    """

    terms: tuple[tuple[Hashable, float], ...]
    sense: str
    rhs: float

    def __post_init__(self) -> None:
        _check_row(self)
        if not isinstance(self.terms, tuple):
            raise TypeError(
                f"terms of a VariableRow must be a tuple of pairs, got {self.terms!r}: "
                "VariableRow.of takes a mapping"
            )
        for variable, a in self.terms:
            if not isinstance(a, Real) or not math.isfinite(a):
                raise ValueError(f"a VariableRow has the coefficient {a!r} of {variable!r}")

    @classmethod
    def of(cls, coefficients: Mapping[Hashable, float], sense: str, rhs: float) -> VariableRow:
        """The row with these coefficients."""
        return cls(tuple(coefficients.items()), sense, rhs)

    def coefficient(self, column: Column, rows: RowNumbers) -> float:
        """Σ_v a_v z_v of one unit of the column."""
        amounts = column.variables
        return sum(a * amounts.get(variable, 0.0) for variable, a in self.terms)


@dataclass(frozen=True)
class ComponentRow:
    """Bound on the number of columns with ``h_i ≥ least_i`` in all of some rows (Vanderbeck 2000).

    Columns with ``integer=False`` are not counted.

    Attributes
    ----------
    least : frozenset of (hashable, float)
        Rows of the master, with the smallest value in each.
    sense : str
    rhs : float
    """

    least: frozenset[tuple[Hashable, float]]
    sense: str
    rhs: float

    def __post_init__(self) -> None:
        _check_row(self)
        if not isinstance(self.least, frozenset):
            raise TypeError(
                "least of a ComponentRow must be a frozenset of pairs (row, least value), got "
                f"{self.least!r}"
            )

    def coefficient(self, column: Column, rows: RowNumbers) -> float:
        """1 for the columns that are counted."""
        values = column.values
        has_all = all(values[rows[row]] >= v - AMOUNT_ROUNDING for row, v in self.least)
        return float(column.integer and has_all)


@dataclass(frozen=True)
class SubsetRow:
    """Subset-row cut ``Σ_j ⌊m·Σ_{i∈S} h_ij⌋ x_j ≤ ⌊m·|S|⌋``, a Chvátal–Gomory cut of rank one.

    It is valid if each of the rows S is ``≤ 1`` or ``= 1``. For columns with ``integer=False``,
    only negative amounts count, divided by 1 minus the fractional part of m·|S| (mixed-integer
    rounding). It is *not robust*: the pricer must take the entries of its columns in S into account
    (Jepsen, Petersen, Spoorendonk, Pisinger, Operations Research 56, 2008).

    Attributes
    ----------
    subset : frozenset of hashable
        Rows of the master.
    multiplier : float, default=0.5
        m, between 0 and 1.
    """

    subset: frozenset[Hashable]
    multiplier: float = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.subset, frozenset) or not self.subset:
            raise TypeError(
                f"subset of a SubsetRow must be a frozenset of rows, got {self.subset!r}"
            )
        if not isinstance(self.multiplier, Real) or not 0 < self.multiplier < 1:
            raise ValueError(
                f"multiplier of a SubsetRow must be between 0 and 1, got {self.multiplier!r}"
            )

    @property
    def sense(self) -> str:
        """``"<="``."""
        return "<="

    @property
    def rhs(self) -> float:
        """⌊m·|S|⌋."""
        return float(math.floor(self.multiplier * len(self.subset) + AMOUNT_ROUNDING))

    def coefficient(self, column: Column, rows: RowNumbers) -> float:
        """⌊m·Σ_{i∈S} h_i⌋, of columns that have to be whole."""
        total = sum(float(column.values[rows[row]]) for row in self.subset)
        if not column.integer:
            fraction = self.multiplier * len(self.subset) - self.rhs
            return min(0.0, self.multiplier * total) / (1.0 - max(0.0, fraction))
        return float(math.floor(self.multiplier * total + AMOUNT_ROUNDING))


def rows_named(decision: Any) -> Collection[Hashable]:
    """Rows of the master that a decision of the kinds above names."""
    if isinstance(decision, (Together, Apart)):
        return decision.first, decision.second
    if isinstance(decision, ComponentRow):
        return [row for row, _ in decision.least]
    return decision.subset if isinstance(decision, SubsetRow) else ()


class Residual:
    """Mark of a pricer that respects ``duals.rhs``: no column exceeds the remaining need of a row.

    Diving subtracts the amounts of fixed columns from the right-hand sides. If the pricer generates
    no columns that exceed the rest, and such columns of the pool are left out, the relaxation of
    the rest is as tight as the relaxation of the whole problem, and dives find better solutions.
    """


class Restrictions:
    """All restrictions of a node, for columns that are new.

    Fixed variables make hundreds of bounds. They are sorted by block and variable, so that a column
    is compared with its own variables.
    """

    def __init__(self, every: Iterable[Restriction]) -> None:
        self._others: list[Restriction] = []
        self._bounds: dict[Hashable | None, dict[Hashable, list[VariableBound]]] = {}
        self._nonzero: dict[Hashable | None, list[VariableBound]] = {}
        for each in every:
            if type(each) is not VariableBound:
                self._others.append(each)
                continue
            own = self._bounds.setdefault(each.block, {})
            own.setdefault(each.variable, []).append(each)
            if each.lower > 0 or each.upper < 0:  # a column without the variable breaks it
                self._nonzero.setdefault(each.block, []).append(each)

    def broken(self, column: Column, rows: RowNumbers) -> Restriction | None:
        """One that a column breaks; None if it keeps to all."""
        candidates: list[Restriction] = list(self._others)
        for block in {None, column.block}:
            bounds = self._bounds.get(block, {})
            for variable in column.variables if bounds else ():
                candidates += bounds.get(variable, ())
            candidates += self._nonzero.get(block, ())
        return next((each for each in candidates if not each.allows(column, rows)), None)


T = TypeVar("T")


def respects(*kinds: type) -> Callable[[T], T]:
    """Decorator for a pricing function, or pricer, that respects some kinds of decisions.

    Parameters
    ----------
    *kinds : type
        :class:`Together`, :class:`VariableRow`, …, or your own. Branching rules with other
        decisions are rejected.
    """
    _check_kinds(kinds)

    def mark(pricer: T) -> T:
        pricer.respects = kinds  # type: ignore[attr-defined]
        return pricer

    return mark


def respected_by(pricer: Any) -> tuple[type, ...]:
    """The kinds of decisions that a pricer, or the function in it, says it respects."""
    inside = getattr(pricer, "function", None)
    kinds = getattr(pricer, "respects", getattr(inside, "respects", ()))
    _check_kinds(kinds)
    return tuple(kinds)


def _check_kinds(kinds: Any) -> None:
    if not isinstance(kinds, Collection) or not all(isinstance(kind, type) for kind in kinds):
        raise TypeError(
            f"respects must name kinds of decisions, such as (Together, Apart), got {kinds!r}"
        )
