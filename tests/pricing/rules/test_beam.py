"""The beam search finds conjunctions and scores them rightly."""

import numpy as np
from hypothesis import given, settings

from cgboost.pricing.rules import Literals
from cgboost.pricing.rules.beam import beam
from cgboost.pricing.rules.branching import Candidates
from tests.effort import examples
from tests.pricing.rules.cases import enumerated, tables


@given(tables())
@settings(max_examples=examples(40), deadline=None)
def test_it_finds_the_best_pair(case):
    """With all pairs the best conjunction of two is found, and no score is above the best."""
    X, kinds, response = case
    literals = Literals(X, kinds, max_bins=5)
    if not len(literals):
        return
    candidates = Candidates(5, 1e-6)
    score = lambda sums, size: np.abs(sums[0]) / size  # noqa: E731
    beam(literals, (literals.sums(response),), score, candidates, 2, all_pairs=True)
    every = enumerated(literals, 2)
    best = max(abs(response[inside].sum()) / len(places) for places, inside in every)
    if best > 1e-5:
        np.testing.assert_allclose(candidates.sorted()[0][0], best, rtol=1e-5)


def test_it_extends_to_more_conditions():
    """A box of three features is found with three conditions."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 6)).astype(float)
    inside = X[:, :3].all(axis=1)
    literals = Literals(X, (False,) * 6, max_bins=5)
    candidates = Candidates(3, 0.0)
    response = literals.sums(np.where(inside, 1.0, -0.5))
    beam(literals, (response,), lambda sums, size: sums[0], candidates, 6)
    np.testing.assert_array_equal(literals.cover(candidates.sorted()[0][1]), inside)
