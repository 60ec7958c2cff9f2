"""Rows that are held out, and rows that make intervals."""

import numpy as np
import pytest

from cgboost.tables import holdout_choice as choice
from cgboost.tables.holdout_choice import (
    chosen,
    counts_by_class,
    training_only,
    without_classes,
)


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


def test_a_class_that_would_have_no_row_left_to_train_on_is_not_held_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In any order and number of slices; rows of weight 0 are none, and other classes stay."""
    y = np.array([0.0, 1.0, 2.0, 2.0, 2.0, 0.0, 1.0])
    weights = np.array([1.0, 2.0, 0.5, 1.0, 0.0, 1.0, 1.0])
    held = np.array([True, True, True, True, False, False, False])
    for size in (2, 100):
        monkeypatch.setattr(choice, "NUMBERED_AT_ONCE", size)
        for order in (np.arange(7), np.arange(7)[::-1]):
            counts = counts_by_class(y[order], weights[order], held[order], 3)
            np.testing.assert_array_equal(counts, [[1, 1], [1, 1], [0, 2]])
            alone = training_only(counts[:, 0])
            assert alone == [2]
            found = without_classes(held[order], y[order], alone, 3)
            np.testing.assert_array_equal(found, (held & (y < 2))[order])


def test_without_classes_all_rows_are_one() -> None:
    """Responses are no numbers of classes; something is held out if a row is left to train on."""
    y, weights = np.array([-0.5, 1e9, 7.0]), np.array([1.0, 1.0, 0.0])
    for held, kept in (([True, True, False], False), ([True, False, False], True)):
        mask = np.array(held)
        counts = counts_by_class(y, weights, mask, 1)
        found = without_classes(mask, y, training_only(counts[:, 0]), 1)
        assert found.any() == kept
        np.testing.assert_array_equal(found, mask & kept)
