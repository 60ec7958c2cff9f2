"""Branch and bound against enumeration."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.pricing.rules import Literals
from cgboost.pricing.rules.branching import BranchAndBound, Candidates
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
    candidates = Candidates(5, 0.0)
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


@given(tables(), st.floats(0.0, 300.0))
@settings(max_examples=examples(60), deadline=None)
def test_a_search_that_ends_early_has_a_bound(case, limit):
    """Whatever it has left open, no conjunction scores above its bound."""
    X, kinds, response = case
    literals = Literals(X, kinds, max_bins=5)
    cost = np.array([0.0, 1.0, 2.0**0.5, 3.0**0.5])
    search = BranchAndBound(
        literals, literals.sums(response), cost, Candidates(3, 0.0), limit=limit
    )
    search.run()
    assert max(search.bound, 0.0) >= best_of_all(literals, response, cost) * (1 - 1e-9)
