"""Expressions of SQL, made with operators of Python and kept as trees of sqlglot.

An expression says nothing of a database: :meth:`Dialect.write` does. Real numbers are of double
precision, whole numbers integers, and text is written as it is. sqlglot adds no brackets to a tree,
and those of its operators are not always right (``a - (b - c)`` loses them in version 30): here
they follow from the precedence. Trees share their parts, since nothing changes a tree. The package
is imported when it is first used: models that nobody asks for SQL do without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from cgboost.optional import OnDemand

exp: Any = OnDemand("sqlglot.expressions", "SQL")

LONGEST_SUM = 32
"""Longer ones are divided by brackets: databases read a sum as nested, and limit the depth."""

PRECEDENCE = {
    name: level
    for level, names in enumerate(
        ["Case", "Or", "And", "Not", "LT LTE GT GTE EQ Is In Between", "Add Sub", "Mul Div", "Neg"]
    )
    for name in names.split()
}
"""Operators bind more closely the larger it is; others are names, literals and functions."""


class SQL:
    """An expression."""

    __slots__ = ("tree",)
    __array_ufunc__ = None  # a number of NumPy leaves operators to it

    def __init__(self, tree: Any) -> None:
        self.tree = tree

    def __add__(self, other: Operand) -> SQL:
        return _operator("Add", self, other)

    def __sub__(self, other: Operand) -> SQL:
        return _operator("Sub", self, other)

    def __mul__(self, other: Operand) -> SQL:
        return _operator("Mul", self, other)

    def __radd__(self, other: Operand) -> SQL:
        return _operator("Add", other, self)

    def __rsub__(self, other: Operand) -> SQL:
        return _operator("Sub", other, self)

    def __rmul__(self, other: Operand) -> SQL:
        return _operator("Mul", other, self)

    def __truediv__(self, other: Operand) -> SQL:
        return _operator("Div", self, other)

    def __rtruediv__(self, other: Operand) -> SQL:
        return _operator("Div", other, self)

    def __neg__(self) -> SQL:
        return SQL(exp.Neg(this=_within("Neg", self, right=True)))

    def __lt__(self, other: Operand) -> SQL:
        return _operator("LT", self, other)

    def __le__(self, other: Operand) -> SQL:
        return _operator("LTE", self, other)

    def __gt__(self, other: Operand) -> SQL:
        return _operator("GT", self, other)

    def __ge__(self, other: Operand) -> SQL:
        return _operator("GTE", self, other)

    def __and__(self, other: SQL) -> SQL:
        return _operator("And", self, other)

    def __or__(self, other: SQL) -> SQL:
        return _operator("Or", self, other)

    def __invert__(self) -> SQL:
        return SQL(exp.Not(this=_within("Not", self, right=True)))

    def equals(self, other: Operand) -> SQL:
        """Whether it is equal to something."""
        return _operator("EQ", self, other)

    def is_one_of(self, literals: Iterable[str]) -> SQL:
        """Whether it is one of some literals."""
        return SQL(exp.In(this=self.tree, expressions=list(literals)))

    def is_within(self, low: int, high: int) -> SQL:
        """Whether it is one of the numbers from one to another."""
        return SQL(exp.Between(this=self.tree, low=str(low), high=str(high)))

    def is_null(self) -> SQL:
        """Whether it has no value."""
        return SQL(exp.Is(this=self.tree, expression=exp.Null()))

    def alias(self, name: SQL) -> SQL:
        """It as a column of a query."""
        return SQL(exp.Alias(this=self.tree, alias=name.tree))


Operand = SQL | float


def tree_of(operand: Operand) -> Any:
    """What sqlglot has for an expression or a number.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    if isinstance(operand, SQL):
        return operand.tree
    if isinstance(operand, int):
        return str(operand)
    if not math.isfinite(operand):
        raise ValueError(
            f"{operand} cannot be written as a number in SQL: replace it where it is a category"
        )
    digits = repr(float(operand))
    return exp.Literal(this=digits if "e" in digits else f"{digits}e0", is_string=False)


def _within(name: str, operand: Operand, *, right: bool) -> Any:
    """An operand of an operator, in brackets where it needs them."""
    tree = tree_of(operand)
    own = PRECEDENCE.get(type(tree).__name__)
    return tree if own is None or own >= PRECEDENCE[name] + right else exp.Paren(this=tree)


def _operator(name: str, one: Operand, other: Operand) -> SQL:
    left, right = _within(name, one, right=False), _within(name, other, right=True)
    return SQL(getattr(exp, name)(this=left, expression=right))


def named(name: str) -> SQL:
    """A name in quotes.

    Raises
    ------
    ValueError
        If it is empty, or has characters that no database can have.
    """
    if not name:
        raise ValueError("a column or table has an empty name, which SQL cannot say: rename it")
    check_characters(name, "the name")
    return SQL(exp.Identifier(this=name, quoted=True))


def check_characters(text: str, what: str) -> None:
    """Raise a ValueError for NUL, which ends a statement, and halves of surrogate pairs."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(
            f"{what} {text!r} has a NUL or half a surrogate pair, which SQL cannot say: replace it"
        )


def call(function: str, argument: SQL) -> SQL:
    """A function that all databases have by this name."""
    return SQL(exp.Anonymous(this=function, expressions=[argument.tree]))


def case(whens: Iterable[tuple[SQL, Operand]], otherwise: Operand) -> SQL:
    """A CASE expression of conditions and values; without any WHEN what is otherwise."""
    ifs = [exp.If(this=condition.tree, true=tree_of(value)) for condition, value in whens]
    last = tree_of(otherwise)
    return SQL(exp.Case(ifs=ifs, default=last) if ifs else last)


def between(value: SQL, low: float, high: float) -> SQL:
    """The value of an expression, brought between two numbers."""
    below = [(value < low, low)] if low > -math.inf else []
    return case([*below, (value > high, high)] if high < math.inf else below, value)


def is_number(x: SQL) -> SQL:
    """A condition that is true of numbers alone, neither of NaN nor of NULL."""
    return (x <= 0.0) | (-x <= 0.0)


def added(terms: Iterable[Operand]) -> SQL:
    """A sum; a long one is divided by brackets."""
    return _total([(False, term) for term in terms])


def linear(constant: float, terms: Iterable[tuple[float, SQL]]) -> SQL:
    """The expression constant + Σ factor · operand, without factors of 0."""
    products = [(c < 0.0, abs(c) * operand) for c, operand in terms if c != 0.0]
    return _total([(False, constant), *products])


def _total(parts: Sequence[tuple[bool, Operand]]) -> SQL:
    """A sum of parts, of which some are taken off."""
    while len(parts) > LONGEST_SUM:
        starts = range(0, len(parts), LONGEST_SUM)
        sums = (_total(parts[k : k + LONGEST_SUM]).tree for k in starts)
        parts = [(False, SQL(exp.Paren(this=tree))) for tree in sums]
    (off, first), *rest = parts
    total = SQL(tree_of(first))
    total = -total if off else total
    for off, part in rest:
        total = total - part if off else total + part
    return total
