"""Columns to be scored again: without their errors the gap is seen, and none is chosen in vain."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.generation.protocols import EntryRule
from cgboost.penalties.l1 import OneNormEntry
from cgboost.penalties.l2 import TwoNormEntry
from cgboost.pricing.kernels.scores import undecided
from cgboost.pricing.scans.candidates import Candidates, Held, PricingRequest, merged, search_scores
from tests.effort import examples


def shown(scores: np.ndarray, errors: np.ndarray, request: PricingRequest) -> Candidates:
    """What all columns of all strata show."""
    every = np.arange(scores.shape[1])
    found = [search_scores(s, every, scores[s], errors[s], request) for s in range(len(scores))]
    return reduce(lambda a, b: merged(a, b, request.limit), found)


@settings(max_examples=examples(100), deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rule=st.sampled_from(
        [OneNormEntry(True), OneNormEntry(False), TwoNormEntry(True, 2.0), TwoNormEntry(False, 2.0)]
    ),
    size=st.sampled_from([1e-1, 1e-2, 1e-3]),
    tol=st.sampled_from([1e-2, 1e-4]),
)
def test_without_their_errors_the_gap_is_seen(
    seed: int, rule: EntryRule, size: float, tol: float
) -> None:
    """What hid the gap no longer does once the columns chosen have no errors."""
    rng = np.random.default_rng(seed)
    scores = rule.settled(2.0) - size * rng.uniform(-0.01, 3.0, size=(2, 60))  # most just within
    errors = size * rng.uniform(size=(2, 60))
    held = [
        Held(np.array([1, 7]), np.array([3.0, 0.5]), np.array([0.0, 1e-14])),
        Held(np.arange(3)),
    ]
    request = PricingRequest(np.zeros(0), rule, held, 5, tol)
    found = shown(scores, errors, request)
    centres = undecided([0, 1], scores, errors, request, found)
    assert len(centres) or not found.blurred(request)
    assert (np.diff(centres) > 0).all()
    errors[:, centres] = 0.0
    assert not shown(scores, errors, request).blurred(request)


@pytest.mark.parametrize("rule", [OneNormEntry(False), TwoNormEntry(False, 1.0)])
def test_columns_that_cannot_price_out_are_left_as_they_are(rule: EntryRule) -> None:
    """Nor are those of the master, whose own scores are known."""
    scores = np.where(np.arange(200) % 50 == 3, rule.settled(2.0), -5.0)[None]
    held = Held(np.array([53]), np.array([2.0]), np.array([1e-15]))
    request = PricingRequest(np.zeros(0), rule, [held], 5, 1e-6)
    errors = np.full((1, 200), 0.1)
    chosen = undecided([0], scores, errors, request, shown(scores, errors, request))
    assert chosen.tolist() == [3, 103, 153]
