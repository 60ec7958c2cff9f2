"""Rows in blocks: the same ones each time, and what is held out depends on what is in them."""

import itertools
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from cgboost.additive.tables.rows import SourceRows, TableRows, content_hash, held_out, numbered
from cgboost.additive.tables.schema import Schema


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


def held_of(X: np.ndarray, y: np.ndarray, weights: np.ndarray, seed: int = 0) -> np.ndarray:
    """Rows of which three tenths are held out, each copy by itself."""
    return held_out(numbered(content_hash(X, y, seed), weights), 0.3)


def test_the_first_copy_has_the_hash_and_further_ones_have_others() -> None:
    """So that rows that are all different are held out by what is in them alone."""
    X, y = table(n_rows=500)
    hashes = content_hash(X, y, 0)
    np.testing.assert_array_equal(numbered(hashes, np.ones(500)), hashes)
    many = numbered(np.tile(hashes, 40), np.ones(20_000))
    assert len(set(many.tolist())) == 20_000
    assert set(hashes.tolist()) < set(many.tolist())


@pytest.mark.parametrize("weighted", [False, True])
def test_copies_are_held_out_independently(weighted: bool) -> None:
    """Of five copies of each of 4000 rows binomially many; whatever their weights are."""
    rng = np.random.default_rng(0)
    X, y = table(n_rows=4000)
    weights = rng.uniform(1, 2, size=20_000) if weighted else np.ones(20_000)
    held = held_of(np.tile(X, (5, 1)), np.tile(y, 5), weights).reshape(5, 4000)
    found = np.bincount(held.sum(axis=0), minlength=6)
    wanted = 4000 * binom.pmf(np.arange(6), 5, 0.3)
    assert (np.abs(found - wanted) < 4 * np.sqrt(wanted)).all()


@pytest.mark.parametrize("copies", [100, 1000, 10_000])
def test_the_share_holds_within_every_row_that_comes_often(copies: int) -> None:
    """Within four standard deviations, for each of ten different rows."""
    X, y = table(n_rows=10)
    held = held_of(np.repeat(X, copies, axis=0), np.repeat(y, copies), np.ones(10 * copies))
    shares = held.reshape(10, copies).mean(axis=1)
    assert (np.abs(shares - 0.3) < 4 * np.sqrt(0.21 / copies)).all()


FEW = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.sampled_from([0.0, 0.1, 1.0, 2.5])),
    min_size=1,
    max_size=40,
)


Weighted = list[tuple[int, int, float]]


def chosen(rows: Weighted, seed: int, factor: float = 1.0) -> list[tuple]:
    """Rows (x, y, weight) with whether they are held out, sorted."""
    x, y, weights = np.array(rows, dtype=float).T
    held = held_of(x[:, None], y, factor * weights, seed)
    return sorted(zip(rows, held.tolist(), strict=True))


@settings(deadline=None)
@given(FEW, st.integers(0, 2**31), st.randoms(use_true_random=False))
def test_equal_rows_are_interchangeable(rows: Weighted, seed: int, random: Random) -> None:
    """As many copies of each row are held out in any order, and if all weights are multiplied."""
    shuffled = random.sample(rows, len(rows))
    assert chosen(shuffled, seed) == chosen(rows, seed) == chosen(rows, seed, 0.125)


@settings(deadline=None)
@given(FEW, st.integers(0, 2**31))
def test_a_row_of_weight_zero_is_no_row(rows: Weighted, seed: int) -> None:
    """Whether it is there makes no difference to what else is held out."""
    there = [row for row in rows if row[2] > 0]
    if there:
        assert chosen(there, seed) == [found for found in chosen(rows, seed) if found[0][2] > 0]


def test_seeds_hold_out_other_rows() -> None:
    """As independent choices would, for rows that are different and for copies of one."""
    X, y = table()
    one = np.ones(len(y))
    for features, response in ((X, y), (np.zeros((len(y), 1)), one)):
        held = [held_of(features, response, one, seed) for seed in (0, 1, 2**31)]
        for a, b in itertools.combinations(held, 2):
            assert abs((a & b).mean() - 0.09) < 0.01


def test_a_table_is_handed_out_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows once and in order, in blocks of one size, without a copy, float32 as it is."""
    monkeypatch.setattr("cgboost.additive.tables.rows.BLOCK", 7)
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
    monkeypatch.setattr("cgboost.additive.tables.rows.BLOCK", 4)
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
