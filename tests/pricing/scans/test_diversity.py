"""Choosing several columns a round without taking the same one twice."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cgboost.penalties.l1 import OneNormEntry
from cgboost.penalties.l2 import TwoNormEntry
from cgboost.pricing.scans.scan import select_unlike


def test_a_twin_of_a_chosen_column_is_passed_over() -> None:
    """Of two nearly equal columns the better is taken, then a weaker one that is different."""
    rng = np.random.default_rng(0)
    first, other = rng.normal(size=(2, 50))
    values = np.stack([first, first + 1e-3 * rng.normal(size=50), other])
    scores = np.array([5.0, 4.9, 2.0])
    chosen = select_unlike(values, scores, OneNormEntry(True), 2)
    np.testing.assert_array_equal(chosen, [0, 2])


@given(seed=st.integers(0, 10**6), limit=st.integers(1, 6), quadratic=st.booleans())
def test_the_first_is_the_best_and_none_comes_twice(seed: int, limit: int, quadratic: bool) -> None:
    """The largest excess leads, choices are distinct, and nothing that prices out is invented."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(12, 4)) @ rng.normal(size=(4, 9))
    values[5] = values[6] = 0.0
    scores = 3 * rng.normal(size=12)
    entry = TwoNormEntry(True, 1.0) if quadratic else OneNormEntry(True)
    excess = entry.excess(scores)
    chosen = select_unlike(values, scores, entry, limit)
    assert len(set(chosen.tolist())) == len(chosen) <= limit
    if excess.max() > 0:
        assert chosen[0] == np.argmax(excess)
    else:
        assert chosen.size == 0


def test_orthogonal_columns_are_taken_in_order_of_score() -> None:
    """Columns that have nothing in common do not disturb each other."""
    values = np.eye(8)[[0, 2, 4, 6]] - np.eye(8)[[1, 3, 5, 7]]
    chosen = select_unlike(values, np.array([2.0, -5.0, 3.0, 0.5]), OneNormEntry(True), 4)
    np.testing.assert_array_equal(chosen, [1, 2, 0])
