"""What all pools and exact pricers promise, against the enumeration of their columns."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.generation.columns import evaluate
from cgboost.generation.protocols import EntryRule, MasterState
from cgboost.penalties.l1 import OneNormEntry
from cgboost.penalties.l2 import TwoNormEntry
from cgboost.pricing.scans.scan import CANDIDATES
from tests.cases import law
from tests.effort import examples
from tests.pricing.cases import POOLS, PRICERS, PoolCase, PricerCase, state_of
from tests.problems import Formulation, Problem

RULES = [OneNormEntry(True), OneNormEntry(False), TwoNormEntry(True, 3.0), TwoNormEntry(False, 3.0)]


def in_order(columns: np.ndarray) -> np.ndarray:
    """The same columns, sorted by one direction."""
    return columns[np.argsort(columns @ np.random.default_rng(0).normal(size=columns.shape[1]))]


@law(POOLS)
def test_columns_are_those_of_the_enumeration(case: PoolCase) -> None:
    """All of them, each once, with its number for a key; on the rows a function has its values."""
    pool = case.make()
    for stratum, (name, expected) in enumerate(zip(pool.strata, case.columns(), strict=True)):
        size = pool.size(stratum)
        values = pool.values(stratum, np.arange(size))
        close = {"rtol": max(1e-10, case.off), "atol": max(1e-12, case.off)}
        np.testing.assert_allclose(in_order(values), in_order(expected), **close)
        some = np.arange(size)[::2]
        np.testing.assert_allclose(pool.values(stratum, some), values[some], **close)
        columns = [pool.column(stratum, index) for index in range(size)]
        assert [column.key for column in columns] == [(name, index) for index in range(size)]
        assert {column.stratum for column in columns} == {name}
        own = np.array([column.values for column in columns])
        np.testing.assert_allclose(own, values, **close)
        evaluated = evaluate([column.hypothesis for column in columns], case.rows)
        np.testing.assert_allclose(evaluated.T, values, **close)
        assert pool.rows(stratum) is None or len(pool.rows(stratum)) == size


@law(POOLS)
@settings(max_examples=examples(12))
@given(seed=st.integers(0, 10**6))
def test_scores_are_products_whatever_was_asked_before(case: PoolCase, seed: int) -> None:
    """Of all and of some columns, in any order, where few rows or all rows of r have changed."""
    pool, rng = case.make(), np.random.default_rng(seed)
    families = [
        pool.values(s, np.arange(pool.size(s))).astype(float) for s in range(len(pool.strata))
    ]
    n = families[0].shape[1]
    response = rng.normal(size=n) * (rng.uniform(size=n) > 0.4)
    for _ in range(8):
        if rng.uniform() < 0.7:
            response = response.copy()
            response[rng.permutation(n)[: rng.integers(1, 9)]] = rng.normal()
        else:
            response = rng.normal(size=n) * (rng.uniform(size=n) > 0.4)
        stratum = int(rng.integers(len(families)))
        family = families[stratum]
        wanted = rng.permutation(len(family))[: rng.integers(1, len(family) + 1)]
        wanted = np.sort(wanted) if rng.uniform() < 0.4 else None
        expected = family @ response
        off = case.off * np.abs(family).max() * np.abs(response).sum()
        found = pool.scores(stratum, wanted, response)
        expected = expected if wanted is None else expected[wanted]
        np.testing.assert_allclose(found, expected, rtol=0, atol=off)


def ready(response: np.ndarray, columns: np.ndarray, rule: EntryRule) -> np.ndarray:
    """The response at a size where about a third of the columns price out."""
    scores = np.abs(columns @ response)
    return response * rule.settled(1e9) / np.quantile(scores, 0.7)


def holding(state: MasterState, columns: Any) -> MasterState:
    """The state of a master with columns of coefficient 0."""
    return replace(state, columns=tuple(columns), coef=np.zeros(len(columns)))


@law(PRICERS)
@settings(max_examples=examples(12))
@given(seed=st.integers(0, 10**6), limit=st.integers(0, 8), rule=st.sampled_from(RULES))
def test_what_is_offered_is_the_best_of_all_columns(
    case: PricerCase, seed: int, limit: int, rule: EntryRule
) -> None:
    """The first is the best that the master does not hold, all price out, and none comes twice.

    The others come from the best few. They have the values that belong to their keys. Largest and
    summed violation are those of all columns, also where columns are held and where nothing is
    wanted. The same state has the same answer, from a new pricer and from one that remembers.
    """
    if not case.additive and rule.additive:
        rule = OneNormEntry(rule.two_sided)
    family = case.columns()
    keys, values = list(family), np.array(list(family.values()), dtype=float)
    pricer, rng = case.make(tol=1e-9), np.random.default_rng(seed)
    state = state_of(ready(rng.normal(size=values.shape[1]), values, rule), rule)
    held = pricer.price(state, 3).columns
    state = holding(state_of(ready(rng.normal(size=values.shape[1]), values, rule), rule), held)
    priced, again = (own.price(state, limit) for own in (pricer, case.make(tol=1e-9)))
    violation = dict(zip(keys, rule.excess(values @ state.pseudo_response), strict=True))
    open_ = {key: own for key, own in violation.items() if key not in {h.key for h in held}}
    offered = [column.key for column in priced.columns]
    assert priced.exact
    largest, total = max(violation.values()), sum(violation.values())
    assert largest * (1 - 1e-9) <= priced.max_excess <= largest + case.off * (1 + largest)
    if case.additive:
        assert total * (1 - 1e-9) <= priced.total_excess <= total + case.off * (1 + total) * 100
    assert len(set(offered)) == len(offered) <= limit
    assert set(offered) <= {key for key, own in open_.items() if own > 0}
    if offered:
        assert open_[offered[0]] >= max(open_.values()) * (1 - case.off) - case.off
    n_left = sum(own > 0 for own in open_.values())
    assert bool(offered) == bool(limit and n_left)
    assert not case.complete or n_left > limit or len(offered) == n_left
    best = sorted(open_.values(), reverse=True)[: CANDIDATES * limit]
    assert not case.complete or all(open_[key] >= best[-1] - case.off for key in offered)
    for column in priced.columns:
        np.testing.assert_allclose(column.values, family[column.key], rtol=1e-5, atol=1e-6)
        assert column.stratum
    assert priced.stratum == (priced.columns[0].stratum if offered else "")
    assert not case.counts or again.n_evaluated == len(family)
    assert [column.key for column in again.columns] == offered
    assert [column.key for column in pricer.price(state, limit).columns] == offered


@law(PRICERS)
def test_nothing_is_offered_where_nothing_prices_out(case: PricerCase) -> None:
    """At r = 0, and where all scores are within the threshold: an exact answer, and no excess."""
    values = np.array(list(case.columns().values()), dtype=float)
    response = np.random.default_rng(0).normal(size=values.shape[1])
    response *= 0.99 / np.abs(values @ response).max()
    for own in (0.0 * response, response):
        priced = case.make(tol=1e-9).price(state_of(own, OneNormEntry(True)), 5)
        assert priced.exact
        assert not priced.columns
        assert priced.max_excess == 0.0


@law(PRICERS)
def test_another_number_of_rows_is_refused(case: PricerCase) -> None:
    """The error names both numbers."""
    n = len(next(iter(case.columns().values())))
    with pytest.raises(ValueError, match=rf"(has|have) \d+ rows, the master has {n + 1}"):
        case.make().price(state_of(np.ones(n + 1), OneNormEntry(True)), 1)


@law(PRICERS)
def test_a_copy_by_pickle_answers_the_same(case: PricerCase) -> None:
    """A pricer can go to another process."""
    pricer = case.make()
    values = np.array(list(case.columns().values()), dtype=float)
    rule = OneNormEntry(True)
    state = state_of(ready(np.sin(np.arange(values.shape[1])), values, rule), rule)
    first, copy = pricer.price(state, 4), pickle.loads(pickle.dumps(pricer)).price(state, 4)
    assert [column.key for column in copy.columns] == [column.key for column in first.columns]
    assert copy.max_excess == pytest.approx(first.max_excess, rel=1e-12, nan_ok=True)


@law(PRICERS, lambda case: case.off <= 1e-9)
@pytest.mark.parametrize(
    "formulation",
    [
        Formulation("hinge", "l1", "free", "none"),
        Formulation("epsilon", "l2", "nonneg", "none"),
        Formulation("epsilon", "l1", "nonneg", "penalized"),
    ],
    ids=str,
)
def test_the_loop_ends_at_the_optimum_over_all_columns(
    case: PricerCase, formulation: Formulation
) -> None:
    """Bound ≤ optimum ≤ objective, the optimum by an independent solver with all columns."""
    if not case.additive and formulation.penalty == "l2":
        formulation = replace(formulation, penalty="l1")
    H = np.array(list(case.columns().values()), dtype=float).T
    target = H[:, :3].sum(axis=1) + np.random.default_rng(1).normal(size=len(H))
    problem = Problem(H, target, np.full(len(H), 0.7), 0.1)
    optimum = problem.optimum(formulation)
    master = formulation.master(problem.loss(formulation))
    pricer = case.make(tol=1e-8)
    result = ColumnGeneration(master, pricer, tol=1e-8, columns_per_round=5).run()
    slack = 1e-6 * max(1.0, optimum)
    assert result.gap <= 1e-6
    assert result.bound <= optimum + slack
    assert result.objective >= optimum - slack
