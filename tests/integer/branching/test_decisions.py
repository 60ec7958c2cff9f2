"""What each decision says of a column."""

import numpy as np
import pytest

from cgboost.generation.columns import Column
from cgboost.integer import (
    Apart,
    ComponentRow,
    CountRow,
    Restriction,
    Row,
    SubsetRow,
    Together,
    VariableBound,
    VariableRow,
    respects,
)
from cgboost.integer.branching.decisions import Restrictions, respected_by

ROWS = {"a": 0, "b": 1, "c": 2}

COLUMN = Column(
    np.array([1.0, 0.0, 3.0]),
    "own",
    variables={"x": 2.0, "y": 1.0, "w": -2.0},
    block="first",
    cost=5.0,
)


@pytest.mark.parametrize(
    ("restriction", "allowed"),
    [
        (Together("a", "c"), True),
        (Together("a", "b"), False),
        (Apart("a", "c"), False),
        (Apart("a", "b"), True),
        (VariableBound("x", upper=2.0), True),
        (VariableBound("x", upper=1.0), False),
        (VariableBound("x", lower=3.0), False),
        (VariableBound("z", lower=1.0), False),
        (VariableBound("z", upper=0.0), True),
        (VariableBound("w", upper=-1.0), True),
        (VariableBound("w", lower=-1.0), False),
        (VariableBound("x", upper=1.0, block="first"), False),
        (VariableBound("x", upper=1.0, block="other"), True),
    ],
)
def test_restrictions(restriction: Restriction, allowed: bool) -> None:
    """A restriction allows the columns that keep to it, and no others."""
    assert isinstance(restriction, Restriction)
    assert not isinstance(restriction, Row)
    assert restriction.allows(COLUMN, ROWS) is allowed


@pytest.mark.parametrize(
    ("row", "coefficient"),
    [
        (CountRow("<=", 2.0), 1.0),
        (CountRow("<=", 2.0, "first"), 1.0),
        (CountRow("<=", 2.0, "other"), 0.0),
        (VariableRow.of({"x": 2.0, "z": 7.0}, ">=", 1.0), 4.0),
        (VariableRow((("x", 2.0), ("y", -1.0)), "==", 1.0), 3.0),
        (ComponentRow(frozenset([("a", 1.0), ("c", 2.0)]), ">=", 1.0), 1.0),
        (ComponentRow(frozenset([("a", 2.0), ("c", 2.0)]), ">=", 1.0), 0.0),
        (SubsetRow(frozenset("abc")), 2.0),
        (SubsetRow(frozenset("ab")), 0.0),
        (SubsetRow(frozenset("abc"), 0.25), 1.0),
    ],
)
def test_rows(row: Row, coefficient: float) -> None:
    """The coefficient of a column is what the row's definition says."""
    assert isinstance(row, Row)
    assert not isinstance(row, Restriction)
    assert row.coefficient(COLUMN, ROWS) == coefficient


def test_subset_rows_hold_for_partitions() -> None:
    """Of all 0/1 columns over three rows = 1 no whole solution breaks the cut.

    Its right-hand side is ⌊m·|S|⌋, although 1/3 of 3 is rounded.
    """
    cut = SubsetRow(frozenset("abc"))
    assert (cut.sense, cut.rhs, SubsetRow(frozenset("abc"), 1 / 3).rhs) == ("<=", 1.0, 1.0)
    columns = [Column(np.array([i >> k & 1 for k in range(3)], dtype=float), i) for i in range(8)]
    for first in columns:
        rest = Column(1.0 - first.values, "rest")
        both = cut.coefficient(first, ROWS) + cut.coefficient(rest, ROWS)
        assert both <= cut.rhs


def test_respects() -> None:
    """A function and a pricer around it say what they know; others know nothing."""

    @respects(Together, Apart)
    def price(duals: object) -> list[Column]:
        return []

    class Around:
        function = staticmethod(price)

    assert respected_by(price) == respected_by(Around()) == (Together, Apart)
    assert respected_by(lambda duals: []) == ()


def test_all_restrictions_at_once_are_each_of_them() -> None:
    """What is broken is one of them that forbids the column; else all allow it."""
    rng = np.random.default_rng(0)
    makers = [
        lambda: Together(*rng.choice(list(ROWS), 2, replace=False)),
        lambda: Apart(*rng.choice(list(ROWS), 2, replace=False)),
        lambda: VariableBound(rng.choice(list("wxyz")), lower=float(rng.integers(-3, 3))),
        lambda: VariableBound(
            rng.choice(list("wxyz")),
            upper=float(rng.integers(-3, 3)),
            block=rng.choice(["first", "second"]),
        ),
    ]
    for _ in range(2000):
        every = [makers[rng.integers(len(makers))]() for _ in range(rng.integers(4))]
        broken = Restrictions(every).broken(COLUMN, ROWS)
        forbidding = [each for each in every if not each.allows(COLUMN, ROWS)]
        assert broken in forbidding if forbidding else broken is None
