"""Conditions, conjunctions, lists of them, and rules within budgets."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings

from cgboost import ColumnGeneration
from cgboost.generation.columns import evaluate
from cgboost.generation.protocols import MasterState
from cgboost.losses import LogLoss
from cgboost.masters import TwoNormMaster
from cgboost.pricing.rules import (
    Condition,
    Conjunction,
    ErrorSelection,
    Literals,
    Relation,
    RuleList,
    RuleSelection,
    all_rules,
)
from cgboost.pricing.rules.error_selection import BIASES, VOTES
from cgboost.pricing.rules.rule_pricer import cover_mark
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
        (3, {"max_total_conditions": 1}),
        (3, {"max_total_conditions": 5}),
        (3, {"max_total_conditions": 9}),
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
    assert sum(sizes) == budget.get("max_total_conditions", sum(sizes))
    assert len(sizes) == budget.get("max_rules", len(sizes))
    assert max(sizes) <= longest
    assert (np.diff(result.history["objective"]) < 0).all()


def rows(seed: int, n_rows: int = 40) -> tuple[Literals, np.ndarray, np.ndarray]:
    """A few conditions, signs and weights."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n_rows, 3)).astype(float)
    signs = np.where((X[:, 0] > 0) & (X[:, 1] > 1) ^ (rng.random(n_rows) < 0.1), 1.0, -1.0)
    literals = Literals(X, [False] * 3, max_bins=5)
    return literals, signs, rng.uniform(0.5, 2.0, n_rows)


def state(columns: list[object], n_rows: int = 40) -> MasterState:
    """A state with columns and nothing else that counts."""
    nothing = np.zeros(n_rows)
    return MasterState(columns, np.zeros(len(columns)), 0.0, nothing, nothing, 0.0, nothing)


@pytest.mark.parametrize("seed", range(4))
def test_no_other_rule_in_the_place_of_one_is_better(seed: int) -> None:
    """The set found cannot be improved by any rule of up to two conditions: by enumeration.

    Its value is errors and a tenth of the log loss of the rows, weighted.
    """
    literals, signs, weights = rows(seed)
    search = ErrorSelection(literals, signs, weights, max_conditions=2, max_total_conditions=4)
    found = search.best(2)
    assert sum(len(places) for places, _ in found.rules) <= 4
    output = np.full(len(signs), found.bias)
    for places, vote in found.rules:
        output += vote * literals.cover(places)
    losses = (output * signs <= 0) + 0.1 * np.logaddexp(0.0, -2.0 * signs * output)
    assert found.value == pytest.approx(weights @ losses / weights.sum())
    every = [*combinations(range(len(literals)), 1), *combinations(range(len(literals)), 2)]
    every = [own for own in every if literals.cover(own).any()]
    for left_out in range(len(found.rules)):
        rest = [rule for j, rule in enumerate(found.rules) if j != left_out]
        room = 4 - sum(len(places) for places, _ in rest)
        for own, vote, bias in product(every, VOTES, BIASES):
            taken = {cover_mark(literals, other) for other, _ in rest}
            if len(own) <= min(room, 2) and cover_mark(literals, own) not in taken:
                value = search.value(search._output([*rest, (own, vote)], bias))
                assert value >= found.value - 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_longer_rules_have_to_be_clearly_better(seed: int) -> None:
    """By a standard error of the share of errors: votes have single conditions, "and" has not."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(300, 8)).astype(float)
    literals, weights = Literals(X, [False] * 8, max_bins=5), rng.uniform(0.5, 2.0, 300)
    both = np.where(X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] > 0, 1.0, -1.0)
    most = np.where((X[:, :3].sum(axis=1) > 1) ^ (rng.random(300) < 0.2), 1.0, -1.0)
    for signs, is_clear in ((both, True), (most, False)):
        pricer = ErrorSelection(literals, signs, weights, max_conditions=2, max_total_conditions=4)
        single, longer, chosen = pricer.best(1), pricer.best(2), pricer.search()
        share = pricer.errors(pricer._output(single.rules, single.bias))
        error = np.sqrt(share * (1 - share) * (weights @ weights)) / weights.sum()
        assert (longer.value < single.value - error) == is_clear
        assert chosen == (longer if is_clear else single)


def test_rules_come_one_a_round_and_the_same_ones_again() -> None:
    """Within the budgets of rules and conditions; a second search finds the same set."""
    literals, signs, weights = rows(0)
    for budget in ({"max_total_conditions": 3}, {"max_rules": 2}):
        offered: list[list[object]] = []
        for _ in range(2):
            pricer = ErrorSelection(literals, signs, weights, max_conditions=2, **budget)
            columns: list[object] = []
            while answer := pricer.price(state(columns), 1).columns:
                columns += answer
            offered.append([column.key for column in columns])
        assert offered[0] == offered[1]
        assert 0 < len(offered[0]) <= budget.get("max_rules", 3)
        assert sum(map(len, offered[0])) <= budget.get("max_total_conditions", 4)
    assert not pricer.price(state([]), 0).columns


def test_few_rows_under_a_rule_are_not_enough() -> None:
    """Every rule holds for as many rows as it has to."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    literals = Literals(X, [False] * 3, max_bins=8, min_support=20)
    search = ErrorSelection(
        literals, np.sign(X[:, 0]), np.ones(60), max_conditions=3, max_total_conditions=5
    )
    for places, _ in search.search().rules:
        assert literals.cover(places).sum() >= 20
