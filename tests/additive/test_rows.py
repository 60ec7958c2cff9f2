"""Rows in blocks: the same ones each time, and what is held out depends on what is in them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cgboost.additive.rows import SourceRows, TableRows, content_hash, held_out
from cgboost.additive.schema import Schema


def table(seed: int = 0, n_rows: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Rounded numbers with gaps, and responses."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 3)), 2)
    X[::7, 1] = np.nan
    return X, rng.normal(size=n_rows)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.75])
def test_about_the_right_share_is_held_out(share: float) -> None:
    """Within four standard deviations; also where features are few small numbers."""
    X, y = table()
    for features in (X, np.round(X)):
        held = held_out(content_hash(features, y, 0), share)
        assert abs(held.mean() - share) < 4 * np.sqrt(share * (1 - share) / len(y))


@pytest.mark.parametrize(("share", "wanted"), [(0.0, 0), (1e-12, 0), (1.0, 20_000)])
def test_nothing_and_everything(share: float, wanted: int) -> None:
    """Shares at the ends."""
    assert np.count_nonzero(held_out(content_hash(*table(), 0), share)) == wanted


def test_order_and_blocks_do_not_matter() -> None:
    """A row's number depends on the row alone."""
    X, y = table(n_rows=999)
    hashes = content_hash(X, y, 5)
    order = np.random.default_rng(1).permutation(999)
    np.testing.assert_array_equal(content_hash(X[order], y[order], 5), hashes[order])
    parts = [content_hash(X[k : k + 100], y[k : k + 100], 5) for k in range(0, 999, 100)]
    np.testing.assert_array_equal(np.concatenate(parts), hashes)
    np.testing.assert_array_equal(content_hash(np.asfortranarray(X), y, 5), hashes)


def test_equal_rows_have_equal_numbers_and_others_do_not() -> None:
    """−0 is 0, every nan is nan, single precision is exact; columns are not interchangeable."""
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [np.nan, 1.0], [-np.nan, 1.0], [1.0, 0.0], [0.0, 2.0]])
    hashes = content_hash(X, np.zeros(6), 0)
    assert hashes[0] == hashes[1]
    assert hashes[2] == hashes[3]
    assert len(set(hashes.tolist())) == 4
    np.testing.assert_array_equal(content_hash(X.astype(np.float32), np.zeros(6), 0), hashes)
    assert content_hash(X, np.ones(6), 0)[0] != hashes[0]
    X, y = table()
    assert len(set(content_hash(X, y, 0).tolist())) == len(y)


def test_seeds_hold_out_other_rows() -> None:
    """As independent choices would."""
    X, y = table()
    held = [held_out(content_hash(X, y, seed), 0.3) for seed in (0, 1, 2**31)]
    for one, other in itertools.combinations(held, 2):
        assert abs((one & other).mean() - 0.09) < 0.01


def test_a_table_is_handed_out_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows once and in order, without a copy, float32 as it is."""
    monkeypatch.setattr("cgboost.additive.rows.BLOCK", 7)
    X = np.arange(40, dtype=np.float32).reshape(20, 2)
    blocks = list(TableRows(X))
    assert [block.rows for block in blocks] == [slice(0, 7), slice(7, 14), slice(14, 20)]
    assert all(np.shares_memory(block.X, X) and block.X.dtype == np.float32 for block in blocks)
    np.testing.assert_array_equal(np.vstack([block.X for block in blocks]), X)


NUMBERS = Schema(None, (None, None))


def test_a_source_is_handed_out_in_blocks_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large ones are divided, empty ones are none."""
    monkeypatch.setattr("cgboost.additive.rows.BLOCK", 4)
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10.0)
    rows = SourceRows([(X[:3], y[:3]), (X[:0], y[:0]), (X[3:], y[3:])], NUMBERS, y)
    for _ in range(2):
        blocks = list(rows)
        assert [block.rows for block in blocks] == [slice(0, 3), slice(3, 7), slice(7, 10)]
        np.testing.assert_array_equal(np.vstack([block.X for block in blocks]), X)


class Changing:
    """Yields something else each time."""

    def __init__(self, *turns: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self.turns = iter(turns)

    def __iter__(self):
        return iter(next(self.turns))


X, Y = np.arange(20.0).reshape(10, 2), np.arange(10.0)


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ([(X[:6], Y[:6])], "has yielded 6 rows, and 10 when"),
        ([], "has yielded 0 rows, and 10 when"),
        ([(X, Y), (X, Y)], "other responses, from row 10 on"),
        ([(X[::-1], Y[::-1])], "other responses, from row 0 on"),
        ([(X[:5], Y[:5]), (X[6:], Y[6:])], "other responses, from row 5 on"),
        ([(X, Y[:9])], "other responses"),
    ],
    ids=["fewer", "none", "twice", "reversed", "skipped", "ragged"],
)
def test_a_source_that_changes_is_found_out(second: list, words: str) -> None:
    """Other rows than at first are an error, which says where."""
    source = SourceRows(Changing([(X, Y)], second), NUMBERS, Y)
    assert len(list(source)) == 1
    with pytest.raises(ValueError, match=words):
        list(source)


def test_an_error_of_a_source_passes_through() -> None:
    """As it is."""

    class Broken:
        def __iter__(self):
            yield X[:5], Y[:5]
            raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        list(SourceRows(Broken(), NUMBERS, Y))
