"""Conditions, conjunctions and lists of them; rules one after another within budgets."""

import numpy as np
import pytest
from hypothesis import given, settings

from cgboost import ColumnGeneration
from cgboost.generation.columns import evaluate
from cgboost.losses import LogLoss
from cgboost.masters import TwoNormMaster
from cgboost.pricing.rules import (
    Condition,
    Conjunction,
    Literals,
    Relation,
    RuleList,
    RuleSelection,
    all_rules,
)
from tests.effort import examples
from tests.pricing.rules.cases import enumerated, tables

ROWS = np.array([[1.0], [2.0], [np.nan], [-1.0]])


@pytest.mark.parametrize(
    ("relation", "value", "held"),
    [
        (Relation.AT_MOST, 1.0, [1, 0, 0, 1]),
        (Relation.ABOVE, 1.0, [0, 1, 0, 0]),
        (Relation.IS, 2.0, [0, 1, 0, 0]),
        (Relation.IS_NOT, 2.0, [1, 0, 0, 1]),
        (Relation.MISSING, 0.0, [0, 0, 1, 0]),
        (Relation.PRESENT, 0.0, [1, 1, 0, 1]),
    ],
)
def test_a_condition_holds_where_it_should(relation, value, held):
    """No comparison holds for a missing value, and a negation holds for an unknown category."""
    assert Condition(0, relation, value).holds(ROWS).tolist() == [bool(h) for h in held]


def test_a_conjunction_holds_where_all_conditions_do():
    """Its values are 1/scale there and 0 elsewhere; importances are shares of conditions."""
    above, at_most = Condition(0, Relation.ABOVE, 0.5), Condition(0, Relation.AT_MOST, 1.5)
    values = evaluate([Conjunction((above, at_most), 2.0), Conjunction((above,))], ROWS)
    assert values.tolist() == [[0.5, 1.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    three = [Condition(j, Relation.ABOVE, float(k)) for j, k in ((0, 0), (0, 1), (2, 0))]
    np.testing.assert_allclose(Conjunction(tuple(three)).importances(4), [2 / 3, 0, 1 / 3, 0])


@given(tables())
@settings(max_examples=examples(30), deadline=None)
def test_covers_are_values_of_conjunctions(case):
    """A column on the training rows equals its conjunction there, rows put together or not."""
    X, kinds, response = case
    literals = Literals(X, kinds, max_bins=20)
    for places, inside in enumerated(literals, 2):
        column = literals.column(places, 2.0)
        np.testing.assert_array_equal(column.values, inside / 2.0)
        np.testing.assert_array_equal(evaluate([column.hypothesis], X)[:, 0], inside / 2.0)
        held = literals.matrix[:, list(places)].all(axis=1)
        np.testing.assert_allclose(literals.sums(response) @ held, response[inside].sum())


def test_conditions_differ_and_are_not_constant():
    """A constant feature makes none, and a copy of another feature no more; equal rows are one.

    With four bins there are three thresholds; half of the rows leave those in the middle.
    """
    x = np.arange(6.0)
    literals = Literals(np.column_stack([np.ones(6), x, 2 * x]), (False,) * 3, max_bins=20)
    assert {condition.feature for condition in literals.conditions} == {1}
    assert len(literals) == 10
    nothing = np.column_stack([np.ones(5), np.full(5, np.nan)])
    assert len(Literals(nothing, (False, True), max_bins=20)) == 0
    X = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (25, 1))
    literals = Literals(X, (False, True), max_bins=20)
    assert literals.matrix.shape == (4, 4)
    assert literals.sizes.tolist() == [25.0] * 4
    X = np.arange(40.0)[:, None]
    assert len(Literals(X, (False,), max_bins=4)) == 6
    kept = Literals(X, (False,), max_bins=40, min_support=20)
    assert all(20 <= kept.cover([j]).sum() < 40 for j in range(len(kept)))


@settings(max_examples=examples(60))
@given(tables())
def test_all_rules_are_those_of_an_enumeration(case):
    """One for each set of rows or of all others, no more, and none where they cost too much."""
    X, is_category, _ = case
    literals = Literals(X, is_category, max_bins=4, min_support=2)
    covers = {min(inside.tobytes(), (~inside).tobytes()) for _, inside in enumerated(literals, 2)}
    columns = all_rules(literals, np.array([0.0, 1.0, 2.0]), np.inf)
    found = [column.values > 0 for column in columns]
    assert {min(inside.tobytes(), (~inside).tobytes()) for inside in found} == covers
    assert len(found) == len(covers)
    total = sum(len(column.key) for column in columns)
    assert all_rules(literals, np.array([0.0, 1.0, 2.0]), total) is not None
    if total:
        assert all_rules(literals, np.array([0.0, 1.0, 2.0]), total - 0.5) is None


def test_a_list_is_priced_exactly():
    """A 2-norm master over a list ends at its optimum, with a bound that meets it.

    More conjunctions than can be looked at are not listed.
    """
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(60, 3)).astype(float)
    y = np.where(X[:, 0] + rng.normal(size=60) > 0.5, 1.0, -1.0)
    columns = all_rules(Literals(X, (False,) * 3, max_bins=3), np.arange(3.0), np.inf)
    master = TwoNormMaster(LogLoss().on(y, np.full(60, 0.3)), offset="free")
    result = ColumnGeneration(master, RuleList(columns), tol=1e-8, columns_per_round=5).run()
    assert len(result.columns) == len(columns)
    assert result.gap <= 1e-8
    many = Literals(rng.normal(size=(100, 8)), (False,) * 8, max_bins=20)
    assert all_rules(many, np.arange(4.0), np.inf) is None


@pytest.mark.parametrize(
    ("longest", "budget"),
    [
        (3, {"max_conditions": 1}),
        (3, {"max_conditions": 5}),
        (3, {"max_conditions": 9}),
        (2, {"max_rules": 3}),
    ],
)
def test_rules_stay_within_their_budget(longest, budget):
    """All of the budget is used where rules help, and no more; each rule lowers the objective."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    loss = LogLoss().on(np.where((X[:, 0] > 0) & (X[:, 1] > -0.5), 1.0, -1.0), np.full(150, 0.3))
    literals = Literals(X, (False,) * 4, max_bins=10)
    pricer = RuleSelection(literals, np.arange(longest + 1.0), loss.curvature, **budget)
    result = ColumnGeneration(TwoNormMaster(loss, offset="free"), pricer).run()
    sizes = [len(column.key) for column in result.columns]
    assert sum(sizes) == budget.get("max_conditions", sum(sizes))
    assert len(sizes) == budget.get("max_rules", len(sizes))
    assert max(sizes) <= longest
    assert (np.diff(result.history["objective"]) < 0).all()
