"""The search for few rules by their training errors."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from cgboost.generation.protocols import MasterState
from cgboost.pricing.rules import ErrorSelection, Literals
from cgboost.pricing.rules.error_selection import BIASES, VOTES
from cgboost.pricing.rules.pricer import cover_mark


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
    search = ErrorSelection(literals, signs, weights, longest=2, max_conditions=4)
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
        pricer = ErrorSelection(literals, signs, weights, longest=2, max_conditions=4)
        single, longer, chosen = pricer.best(1), pricer.best(2), pricer.search()
        share = pricer.errors(pricer._output(single.rules, single.bias))
        error = np.sqrt(share * (1 - share) * (weights @ weights)) / weights.sum()
        assert (longer.value < single.value - error) == is_clear
        assert chosen == (longer if is_clear else single)


def test_rules_come_one_a_round_and_the_same_ones_again() -> None:
    """Within the budgets of rules and conditions; a second search finds the same set."""
    literals, signs, weights = rows(0)
    for budget in ({"max_conditions": 3}, {"max_rules": 2}):
        offered: list[list[object]] = []
        for _ in range(2):
            pricer = ErrorSelection(literals, signs, weights, longest=2, **budget)
            columns: list[object] = []
            while answer := pricer.price(state(columns), 1).columns:
                columns += answer
            offered.append([column.key for column in columns])
        assert offered[0] == offered[1]
        assert 0 < len(offered[0]) <= budget.get("max_rules", 3)
        assert sum(map(len, offered[0])) <= budget.get("max_conditions", 4)
    assert not pricer.price(state([]), 0).columns


def test_few_rows_under_a_rule_are_not_enough() -> None:
    """Every rule holds for as many rows as it has to."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    literals = Literals(X, [False] * 3, max_bins=8, min_support=20)
    search = ErrorSelection(literals, np.sign(X[:, 0]), np.ones(60), longest=3, max_conditions=5)
    for places, _ in search.search().rules:
        assert literals.cover(places).sum() >= 20
