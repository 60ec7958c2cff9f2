"""Rows in blocks: the same ones each time."""

import numpy as np
import pytest

from cgboost.tables.row_blocks import SourceRows, TableRows
from cgboost.tables.table_encoding import Schema


def test_a_table_is_handed_out_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows once and in order, in blocks of one size, without a copy, float32 as it is."""
    monkeypatch.setattr("cgboost.tables.row_blocks.BLOCK", 7)
    X = np.arange(40, dtype=np.float32).reshape(20, 2)
    blocks = list(TableRows(X))
    assert [block.rows for block in blocks] == [slice(0, 7), slice(7, 14), slice(14, 20)]
    assert all(np.shares_memory(block.X, X) and block.X.dtype == np.float32 for block in blocks)
    np.testing.assert_array_equal(np.vstack([block.X for block in blocks]), X)
    sizes = [len(block.X) for block in TableRows(X[:15])]
    assert sizes == [5, 5, 5]
    assert not list(TableRows(X[:0]))


NUMBERS = Schema(None, (None, None))


def test_a_source_is_handed_out_in_blocks_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large ones are divided, empty ones are none."""
    monkeypatch.setattr("cgboost.tables.row_blocks.BLOCK", 4)
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
