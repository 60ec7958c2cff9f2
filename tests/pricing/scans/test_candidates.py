"""Answers of searches: the best columns, what all of them add, and the same from parts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.generation.protocols import EntryRule
from cgboost.penalties.elastic_net import ElasticNetEntry
from cgboost.penalties.l1 import OneNormEntry
from cgboost.penalties.l2 import TwoNormEntry
from cgboost.pricing.scans.candidates import (
    Candidates,
    HeldColumns,
    NoRule,
    PricingRequest,
    largest,
    merged,
    search_scores,
)
from tests.effort import examples


def request(rule: EntryRule, limit: int, held: list[int] | None = None) -> PricingRequest:
    """A request with some held columns in stratum 0."""
    return PricingRequest(
        np.zeros(0), rule, [HeldColumns(np.array(held or [], dtype=np.intp))], limit
    )


@settings(max_examples=examples(100))
@given(seed=st.integers(0, 10**6), limit=st.integers(0, 9), cut=st.integers(0, 30))
def test_two_parts_find_what_the_whole_finds(seed: int, limit: int, cut: int) -> None:
    """Wherever the columns are cut in two, the columns offered and the sums are the same."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-4, 5, size=30) / 2.0  # with many ties
    errors = rng.uniform(0, 0.5, size=30)
    asked = request(OneNormEntry(True), limit, held=[3, 17, 20])
    indices = np.arange(30)
    whole = search_scores(0, indices, scores, errors, asked)
    parts = [
        search_scores(0, indices[part], scores[part], errors[part], asked)
        for part in (slice(0, cut), slice(cut, 30))
    ]
    together = merged(*parts, limit)
    np.testing.assert_array_equal(together.indices, whole.indices)
    np.testing.assert_array_equal(together.scores, whole.scores)
    assert together.max_excess == whole.max_excess
    assert together.total_excess == pytest.approx(whole.total_excess)
    assert together.total_left == pytest.approx(whole.total_left)
    assert together.n_evaluated == 30
    assert not np.isin(whole.indices, [3, 17, 20]).any()


def test_what_a_search_offers_and_counts() -> None:
    """A score that might price out counts in the certificate, but is not offered.

    Where the master's columns are rounded, their own scores replace those of the search. Where no
    columns are, or are wanted, nothing is offered. Ties go to the earlier place.
    """
    scores, errors = np.array([0.95, -1.2, 0.5, 2.0]), np.array([0.1, 0.2, 0.1, 0.0])
    found = search_scores(0, np.arange(4), scores, errors, request(OneNormEntry(True), 4))
    assert found.indices.tolist() == [3, 1]
    assert found.max_excess == pytest.approx(1.0)
    assert found.total_excess == pytest.approx(1.0 + 0.4 + 0.05)
    one_sided = search_scores(0, np.arange(4), scores, errors, request(OneNormEntry(False), 4))
    assert one_sided.total_excess == pytest.approx(1.0 + 0.05)
    held = HeldColumns(np.array([2]), np.array([1.0]), np.array([0.0]))
    asked = PricingRequest(np.zeros(0), OneNormEntry(True), [held], 3)
    found = search_scores(0, np.arange(4), np.array([0.0, 0.0, 1.1, 0.0]), None, asked)
    assert found.max_excess == 0.0
    assert found.best_excess == 0.0
    nothing = search_scores(0, np.arange(0), np.zeros(0), None, request(OneNormEntry(True), 3, [1]))
    assert (nothing.n_evaluated, nothing.max_excess, nothing.best_excess) == (0, 0.0, 0.0)
    assert not merged(Candidates(), nothing, 3).blurred(request(OneNormEntry(True), 3))
    ruled = search_scores(0, np.arange(3), np.full(3, 9.0), None, request(NoRule(), 3))
    assert ruled.best_excess == 0.0
    assert largest(np.array([1.0, 3.0, 0.0, 3.0, 1.0, -2.0]), 3).tolist() == [1, 3, 0]
    assert largest(np.array([0.0, -1.0]), 2).size == 0


def blurred(
    scores: np.ndarray, errors: np.ndarray, asked: PricingRequest, tol: float, likely: float = 1.0
) -> bool:
    """Whether the errors of some scores hide the gap."""
    asked = replace(asked, tol=tol)
    return search_scores(0, np.arange(len(scores)), scores, errors, asked).blurred(asked, likely)


def test_blur_is_what_hides_the_gap() -> None:
    """For a 1-norm the largest excess counts, for a 2-norm the sum of what is left.

    A rule of one's own without ``additive`` is served by the sum, which is sharp for both. A bound
    that hides the gap does no harm while much is left and errors are mostly small.
    """
    scores, errors = np.full(40, 0.5), np.full(40, 1e-3)
    scores[0] = 1.5
    one, two = request(OneNormEntry(True), 1), request(TwoNormEntry(True, 1.0), 1)
    assert not blurred(scores, errors, one, 1e-6)
    assert blurred(scores - 0.4999, errors, one, 1e-6)
    assert not blurred(scores - 0.4999, errors, one, 1e-2)
    assert not blurred(scores, errors, two, 1e-6)
    in_master = request(TwoNormEntry(True, 1.0), 1, held=list(range(40)))
    assert blurred(scores, errors, in_master, 1e-6)

    class Own:
        two_sided = True

        def excess(self, scores: np.ndarray) -> np.ndarray:
            return np.maximum(np.abs(scores) - 1.0, 0.0)

        def settled(self, score: float) -> float:
            return float(np.clip(score, -1.0, 1.0))

    own = request(Own(), 1)  # type: ignore[arg-type]
    scores, errors = np.ones(1000), np.full(1000, 1e-5)
    assert not blurred(scores, errors, request(OneNormEntry(True), 1), 1e-3)
    assert blurred(scores, errors, own, 1e-3)
    scores, errors = np.full(40, 0.5), np.full(40, 0.4)
    scores[0] = 1.5
    asked = request(OneNormEntry(True), 1)
    assert blurred(scores, errors, asked, 1e-3)
    assert not blurred(scores, errors, asked, 1e-3, likely=0.01)
    assert blurred(scores, errors, asked, 0.1, likely=0.01)  # 0.5 is near 0.1


@pytest.mark.parametrize(
    "rule",
    [
        TwoNormEntry(False, 1.0),
        ElasticNetEntry(False, 0.0, quadratic=1.0),
    ],
)
def test_errors_add_up_where_few_columns_count(rule: EntryRule) -> None:
    """With α ≥ 0 most columns price out; the doubts of the others hide the gap together."""
    scores, errors = np.full(1000, -1.0), np.full(1000, 1e-2)
    scores[:300] = 0.0  # each adds 5e-5 at most, all together 1.5e-2
    assert blurred(scores, errors, request(rule, 1), 1e-3)
    assert not blurred(scores, errors, request(rule, 1), 1e-1)


def test_columns_within_reach_are_offered_behind_those_that_price_out() -> None:
    """They are told from them by an excess of 0, and those in the master are left out."""
    scores = np.array([0.5, 1.2, 0.95, -0.99, 0.97, -1.1])
    asked = replace(request(OneNormEntry(True), 4, held=[4]), reach=0.1)
    found = search_scores(0, np.arange(6), scores, None, asked)
    assert found.indices.tolist() == [1, 5, 3, 2]
    assert np.count_nonzero(found.excess) == 2
    assert found.best(3).indices.tolist() == [1, 5, 3]
    halves = [
        search_scores(0, np.arange(6)[part], scores[part], None, asked)
        for part in (slice(0, 3), slice(3, 6))
    ]
    assert merged(halves[0], halves[1], 4).indices.tolist() == [1, 5, 3, 2]
