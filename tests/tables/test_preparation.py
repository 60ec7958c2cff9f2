"""What a fit knows before its first stage does not depend on order or blocks."""

import numpy as np
import pandas as pd
import pytest

from cgboost.tables import holdout_choice as choice
from cgboost.tables.binning import Categories, Prepared, prepared, read_source
from cgboost.tables.holdout_choice import (
    chosen,
    counts_by_class,
    training_only,
    without_classes,
)
from cgboost.tables.row_blocks import SourceRows, TableRows
from cgboost.tables.table_encoding import SchemaMaker


def data(n_rows: int = 2000) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A number with gaps, a category, responses, weights."""
    rng = np.random.default_rng(0)
    x = np.where(rng.uniform(size=n_rows) < 0.1, np.nan, rng.normal(size=n_rows))
    frame = pd.DataFrame({"x": x, "c": rng.choice(["b", "a", "c"], size=n_rows)})
    return frame, rng.normal(size=n_rows), rng.integers(0, 3, size=n_rows).astype(float)


def in_order(rows: np.ndarray) -> np.ndarray:
    """Rows sorted by their entries: equal ones are interchangeable."""
    return rows[np.lexsort(rows.T)]


def of_blocks(blocks: list, *, share: float = 0.3, seed: int = 0) -> Prepared:
    """From a source."""
    summary = read_source(blocks, "from_dtype")
    rows = SourceRows(blocks, summary.schema, summary.y)
    return prepared(
        rows, summary.schema, summary.y, summary.weights, max_bins=8, share=share, seed=seed
    )


def test_blocks_in_any_order_give_the_same_preparation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows are held out, the same are sampled, the same intervals made of them."""
    monkeypatch.setattr("cgboost.tables.holdout_choice.SAMPLE", 500)
    X, y, w = data()
    again = np.arange(2000) % 1200  # rows that come twice, with different weights
    X, y = X.iloc[again], y[again]
    maker = SchemaMaker()
    maker.see(X)
    schema = maker.schema()
    whole = prepared(TableRows(schema.encode(X)), schema, y, w, max_bins=8, share=0.3, seed=0)
    assert len(whole.sample) == 501
    assert (w[whole.sample] > 0).all()
    assert not whole.held[w == 0].any()
    assert isinstance(whole.groups[1], Categories)
    order = np.random.default_rng(1).permutation(2000)
    parts = [order[:3], order[3:900], order[900:900], order[900:]]
    found = of_blocks([(X.iloc[rows], y[rows], w[rows]) for rows in parts])
    encoded = np.column_stack([schema.encode(X), y, w])
    for one, other in (
        (order[np.flatnonzero(found.held)], np.flatnonzero(whole.held)),
        (order[found.sample], whole.sample),
    ):
        np.testing.assert_array_equal(in_order(encoded[one]), in_order(encoded[other]))
    np.testing.assert_array_equal(found.groups[0].edges, whole.groups[0].edges)
    assert found.groups[1].count == 3


def test_few_equal_rows_are_not_all_held_out() -> None:
    """Something is left to learn from, for every seed and share below 1."""
    for n_rows in (1, 2, 3, 5):
        X, y = np.ones((n_rows, 2)), np.ones(n_rows)
        found = [of_blocks([(X, y)], share=0.7, seed=seed).held for seed in range(40)]
        assert not any(held.all() for held in found)
        assert any(held.any() for held in found) == (n_rows > 1)


def test_a_sample_has_all_values_of_a_feature(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that come often are sampled as often, so that intervals lie between their values."""
    monkeypatch.setattr("cgboost.tables.holdout_choice.SAMPLE", 500)
    rng = np.random.default_rng(0)
    X = rng.choice([1.0, 2.0, 5.0], p=[0.5, 0.4, 0.1], size=(5000, 1))
    y = rng.integers(0, 2, size=5000)
    for seed in range(12):
        found = of_blocks([(X, y)], seed=seed)
        np.testing.assert_allclose(found.groups[0].edges, [1.5, 3.5])
        assert len(found.sample) == 501
        share = np.mean(X[found.sample] == 1.0)
        assert abs(share - 0.5) < 4 * np.sqrt(0.25 / 501)


def test_a_source_is_summed_up() -> None:
    """Responses and weights of all blocks; weights default to 1."""
    X, y, w = data(10)
    summary = read_source([(X[:4], y[:4]), [X[4:], y[4:], w[4:]]], "from_dtype")
    np.testing.assert_array_equal(summary.y, y)
    np.testing.assert_array_equal(summary.weights, [1, 1, 1, 1, *w[4:]])


ROW = np.ones((2, 1))
BAD_SOURCES = {
    "nothing to iterate over": (5, "X must be an array, a data frame or a source .* a int is none"),
    "a generator": ((block for block in [(ROW, [1, 2])]), "generator, can be read only once"),
    "empty": ([], "the source of blocks is empty"),
    "no pair": ([(ROW, [1, 2]), ROW], r"block 1 of the source must be \(X, y\).* got ndarray"),
    "four": ([(ROW, [1, 2], [1, 1], 0)], "block 0 of the source must be"),
    "short": ([(ROW, [1])], "block 0 of the source has 2 rows, 1 responses and 1 weights"),
    "weights": ([(ROW, [1, 2], [1])], "2 rows, 2 responses and 1 weights"),
    "negative": ([(ROW, [1, 2], [1, -1])], "weights in the blocks must be finite, not negative"),
    "nan": ([(ROW, [1, 2], [1, np.nan])], "weights in the blocks must be finite"),
    "no weight": ([(ROW, [1, 2], [0, 0])], "not all 0"),
    "matrix": ([(ROW, np.ones((2, 2)))], "y should be a 1d array"),
}


@pytest.mark.parametrize("case", BAD_SOURCES)
def test_bad_sources_are_refused(case: str) -> None:
    """Each error says what is wrong, and where."""
    source, words = BAD_SOURCES[case]
    with pytest.raises(ValueError, match=words):
        read_source(source, "from_dtype")


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
