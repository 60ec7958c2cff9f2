"""Rows that are held out, and rows that make intervals."""

import numpy as np
import pytest

from cgboost.additive.tables import choice
from cgboost.additive.tables.choice import chosen


def test_rows_are_chosen_by_parts_of_their_hashes_as_all_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Copies of equal rows too, with weights, and without."""
    rng = np.random.default_rng(0)
    hashes = np.concatenate([rng.integers(0, 50, 900), rng.integers(0, 2**61, 400)])
    for weights in (np.ones(1300), rng.integers(0, 3, 1300).astype(float)):
        monkeypatch.setattr(choice, "NUMBERED_AT_ONCE", 300)
        found = chosen(hashes, weights, 0.3)
        monkeypatch.setattr(choice, "NUMBERED_AT_ONCE", 10**6)
        wanted = chosen(hashes, weights, 0.3)
        for value in (0.0, 1.0, 2.0):  # of equal copies any may be held out
            mine = [hashes[own.held & (weights == value)] for own in (found, wanted)]
            np.testing.assert_array_equal(*map(np.sort, mine))
        np.testing.assert_array_equal(found.sample, wanted.sample)
        assert 0.2 < found.held.mean() < 0.4
