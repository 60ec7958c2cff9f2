"""The searches for conjunctions against enumeration, and the pricer over them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.losses import SquaredError
from cgboost.masters import OneNormMaster, TwoNormMaster
from cgboost.pricing.rules import Literals, RulePricer
from cgboost.pricing.rules.searches import BestConjunctions, BranchAndBound, beam
from tests.effort import examples
from tests.pricing.rules.cases import enumerated, tables

COSTS = st.sampled_from([(1.0, 1.0, 1.0), (1.0, 2.0, 3.0), (1.0, 2.0**0.5, 3.0**0.5), (1.5, 2, 2)])


def best_of_all(literals, response, cost, two_sided=True):
    """The largest score of all conjunctions, one by one."""
    scores = [
        (abs(response[inside].sum()) if two_sided else response[inside].sum()) / cost[len(places)]
        for places, inside in enumerated(literals, len(cost) - 1)
    ]
    return max(scores, default=-np.inf)


@given(tables(), COSTS, st.integers(1, 3), st.booleans(), st.sampled_from([1, 3]))
@settings(max_examples=examples(120), deadline=None)
def test_exact_search_equals_enumeration(case, costs, longest, two_sided, least):
    """Its best score is that of all conjunctions: either sign, costs, missing values, support."""
    X, kinds, response = case
    literals = Literals(X, kinds, max_bins=5, min_support=least)
    if not len(literals):
        return
    cost = np.array([0.0, *costs[:longest]])
    candidates = BestConjunctions(5, 0.0)
    search = BranchAndBound(literals, literals.sums(response), cost, candidates, two_sided)
    search.run()
    best = max(best_of_all(literals, response, cost, two_sided), 0.0)
    assert search.open_bound == -np.inf
    np.testing.assert_allclose(max(search.bound, 0.0), best, rtol=1e-9, atol=1e-12)
    if best > 1e-9:
        score, places = candidates.sorted()[0]
        inside = literals.cover(places)
        sums = abs(response[inside].sum()) if two_sided else response[inside].sum()
        np.testing.assert_allclose([score, sums / cost[len(places)]], best, rtol=1e-9)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_three_conditions_reach_is_found_for_either_sign(sign):
    """A box of large r among small ones of the other sign: every pair promises more than it has."""
    X = np.array(np.meshgrid(*[[0.0, 1.0]] * 6)).reshape(6, -1).T
    inside = X[:, :3].all(axis=1)
    literals = Literals(X, (False,) * 6, max_bins=5)
    candidates, r = BestConjunctions(5, 0.0), sign * np.where(inside, 1.0, -0.2)
    BranchAndBound(literals, literals.sums(r), np.array([0.0, 1, 1, 1]), candidates).run()
    score, places = candidates.sorted()[0]
    assert score == pytest.approx(inside.sum())
    np.testing.assert_array_equal(literals.cover(places), inside)


@given(tables(), COSTS, st.integers(1, 3))
@settings(max_examples=examples(60), deadline=None)
def test_the_pricer_says_what_the_best_conjunction_violates(case, costs, longest):
    """No more and no less, whether it is in the master or not."""
    X, kinds, response = case
    literals, cost = Literals(X, kinds, max_bins=5), np.array([0.0, *costs[:longest]])
    if not len(literals):
        return
    state = OneNormMaster(SquaredError().on(response, np.ones(len(response)))).solve()
    priced = RulePricer(literals, cost, tol=np.inf).price(state, 3)  # the exact search, always
    two_sided = state.rule.two_sided
    best = best_of_all(literals, state.pseudo_response, cost, two_sided)
    wanted = float(state.rule.excess(np.array([max(best, 0.0)]))[0])
    assert priced.max_excess == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@given(tables(), st.integers(1, 2), st.sampled_from([1, 3]), st.integers(0, 10**6))
@settings(max_examples=examples(60), deadline=None)
def test_other_rows_count_and_support_nothing(case, longest, least, seed):
    """Scores over other rows too are found, of conjunctions that the training rows support."""
    X, kinds, response = case
    literals = Literals(X, kinds, max_bins=5, min_support=least)
    if not len(literals):
        return
    rng = np.random.default_rng(seed)
    new = X[rng.integers(0, len(X), 2)]
    new = np.where(rng.random(new.shape) < 0.5, new, X[rng.integers(0, len(X), 2)])
    extended, more = literals.with_rows(new), 3.0 * rng.normal(size=2)
    cost = np.array([0.0, 1.0, 2.0])[: longest + 1]
    scores = [0.0]
    for places, inside in enumerated(literals, longest):
        there = np.all([literals.conditions[place].holds(new) for place in places], axis=0)
        np.testing.assert_array_equal(extended.cover(places), np.append(inside, there))
        scores.append(abs(response[inside].sum() + more[there].sum()) / cost[len(places)])
    sums = extended.sums(np.append(response, more))
    search = BranchAndBound(extended, sums, cost, BestConjunctions(5, 0.0))
    search.run()
    np.testing.assert_allclose(max(search.bound, 0.0), max(scores), rtol=1e-9, atol=1e-12)


@given(tables(), st.floats(0.0, 300.0))
@settings(max_examples=examples(60), deadline=None)
def test_a_search_that_ends_early_has_a_bound(case, limit):
    """Whatever it has left open, no conjunction scores above its bound."""
    X, kinds, response = case
    literals = Literals(X, kinds, max_bins=5)
    cost = np.array([0.0, 1.0, 2.0**0.5, 3.0**0.5])
    search = BranchAndBound(
        literals, literals.sums(response), cost, BestConjunctions(3, 0.0), limit=limit
    )
    search.run()
    assert max(search.bound, 0.0) >= best_of_all(literals, response, cost) * (1 - 1e-9)


@given(tables())
@settings(max_examples=examples(40), deadline=None)
def test_a_beam_finds_the_best_pair(case):
    """With all pairs the best conjunction of two is found, and no score is above the best."""
    X, kinds, response = case
    literals = Literals(X, kinds, max_bins=5)
    if not len(literals):
        return
    candidates = BestConjunctions(5, 1e-6)
    score = lambda sums, size: np.abs(sums[0]) / size  # noqa: E731
    beam(literals, (literals.sums(response),), score, candidates, 2, all_pairs=True)
    every = enumerated(literals, 2)
    best = max(abs(response[inside].sum()) / len(places) for places, inside in every)
    if best > 1e-5:
        np.testing.assert_allclose(candidates.sorted()[0][0], best, rtol=1e-5)


def test_beams_extend_and_rules_for_the_same_rows_come_once():
    """A box of three features is found with three conditions.

    Columns of one round differ, and their complements too; none is in the master.
    """
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 6)).astype(float)
    inside = X[:, :3].all(axis=1)
    literals = Literals(X, (False,) * 6, max_bins=5)
    candidates = BestConjunctions(3, 0.0)
    response = literals.sums(np.where(inside, 1.0, -0.5))
    beam(literals, (response,), lambda sums, size: sums[0], candidates, 6)
    np.testing.assert_array_equal(literals.cover(candidates.sorted()[0][1]), inside)
    literals, loss = small()
    master = OneNormMaster(loss)
    priced = RulePricer(literals, np.array([0.0, 1.0, 2.0])).price(master.solve(), 10)
    marks = {min(tuple(c.values > 0), tuple(c.values == 0)) for c in priced.columns}
    assert len(marks) == len(priced.columns) > 1


def small():
    """Rows of two features, and a master of the squared error."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = 2.0 * ((X[:, 0] > 0) & (X[:, 1] > 0)) + 0.1 * rng.normal(size=60)
    return Literals(X, (False,) * 3, max_bins=8), SquaredError().on(y, np.ones(60))


def test_what_is_claimed_of_searches_that_are_not_complete():
    """A greedy search has no bound, nor a master whose bound adds excesses up.

    With hardly any work allowed the bound of an exact search is worse, and still one.
    """
    literals, loss = small()
    cost = np.array([0.0, 1.0, 1.2, 1.3])
    greedy = ColumnGeneration(OneNormMaster(loss), RulePricer(literals, cost, exact=False)).run()
    assert greedy.bound is None
    assert not RulePricer(literals, cost).price(TwoNormMaster(loss).solve(), 3).exact
    whole = ColumnGeneration(OneNormMaster(loss), RulePricer(literals, cost), tol=1e-6).run()
    limited = RulePricer(literals, cost, search_limit=1.0)
    part = ColumnGeneration(OneNormMaster(loss), limited, tol=1e-6).run()
    assert not limited.complete
    assert part.bound <= whole.objective * (1 + 1e-9)


@pytest.mark.parametrize("cost", [[0.0], [0.0, 0.0], [0.0, 2.0, 1.0]])
def test_costs_must_be_positive_and_not_fall(cost):
    """The bound of branch and bound rests on that."""
    with pytest.raises(ValueError, match="cost must have an entry"):
        RulePricer(small()[0], np.array(cost))
