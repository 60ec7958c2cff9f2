"""The table of seeded problems is whole, and its record is that of the code."""

from __future__ import annotations

import pytest

import cgboost
from cgboost import estimators, linear
from tests.seeded_fits import RECORD, compare, problems_of, table

CHEAP = [
    "BLFRegressor · numbers · loss=squared_error, n_components=3",
    "ColumnGeneration · features · squared_error · L2",
]


def test_the_table_has_enough_problems_and_a_record_of_each() -> None:
    """At least 200, no name twice, and the same names in the file."""
    names = [problem.name for problem in table()]
    assert len(names) == len(set(names)) >= 200
    assert set(names) == set(problems_of(RECORD))


def test_every_public_estimator_is_in_the_table() -> None:
    """What predicts, the loop, the search and decomposition."""
    public = {
        name
        for module in (cgboost, estimators, linear)
        for name in dir(module)
        if name[0].isupper() and hasattr(getattr(module, name), "predict")
    }
    assert len(public) > 30
    public |= {"ColumnGeneration", "BranchAndPrice", "decompose"}
    assert public - {problem.of for problem in table()} == set()


@pytest.mark.parametrize("name", CHEAP)
def test_a_cheap_problem_agrees_with_the_record(name: str) -> None:
    """Objective, bound and predictions, up to the last digits of another machine."""
    [problem] = [problem for problem in table() if problem.name == name]
    assert compare({name: problems_of(RECORD)[name]}, {name: problem.answer()}, 1e-6) == []


def test_a_number_that_moved_is_found() -> None:
    """In the last of several values, relative to its size, missing ones included."""
    answer = {"values": {"objective": [1.0], "predict": [1.0, 2e3]}, "sizes": {}}
    moved = {"values": {"objective": [1.0], "predict": [1.0, 2e3 + 1e-5]}, "sizes": {}}
    fewer = {"values": {"objective": [1.0]}, "sizes": {}}
    assert compare({"a": answer}, {"a": answer}) == []
    assert len(compare({"a": answer}, {"a": moved})) == 1
    assert compare({"a": answer}, {"a": moved}, 1e-8) == []
    assert len(compare({"a": answer}, {"a": fewer})) == 1
    assert len(compare({"a": answer, "b": answer}, {"a": answer})) == 1
