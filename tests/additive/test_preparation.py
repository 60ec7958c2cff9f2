"""What a fit knows before its first stage does not depend on order or blocks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cgboost.additive.intervals import Categories
from cgboost.additive.preparation import Prepared, prepared, read_source
from cgboost.additive.rows import SourceRows, TableRows
from cgboost.additive.schema import SchemaMaker


def data(n_rows: int = 2000) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A number with gaps, a category, responses, weights."""
    rng = np.random.default_rng(0)
    x = np.where(rng.uniform(size=n_rows) < 0.1, np.nan, rng.normal(size=n_rows))
    frame = pd.DataFrame({"x": x, "c": rng.choice(["b", "a", "c"], size=n_rows)})
    return frame, rng.normal(size=n_rows), rng.integers(0, 3, size=n_rows).astype(float)


def of_blocks(blocks: list, *, share: float = 0.3, seed: int = 0) -> Prepared:
    """From a source."""
    summary = read_source(blocks, "from_dtype")
    rows = SourceRows(blocks, summary.schema, summary.y)
    return prepared(
        rows, summary.schema, summary.y, summary.weights, max_bins=8, share=share, seed=seed
    )


def test_blocks_in_any_order_give_the_same_preparation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows are held out, the same are sampled, the same intervals made of them."""
    monkeypatch.setattr("cgboost.additive.preparation.SAMPLE", 500)
    X, y, w = data()
    maker = SchemaMaker()
    maker.see(X)
    schema = maker.schema()
    whole = prepared(TableRows(schema.encode(X)), schema, y, w, max_bins=8, share=0.3, seed=0)
    assert 500 <= len(whole.sample) <= 505
    assert (w[whole.sample] > 0).all()
    assert not whole.held[w == 0].any()
    assert isinstance(whole.groups[1], Categories)
    order = np.random.default_rng(1).permutation(2000)
    parts = [order[:3], order[3:900], order[900:900], order[900:]]
    found = of_blocks([(X.iloc[rows], y[rows], w[rows]) for rows in parts])
    np.testing.assert_array_equal(found.held, whole.held[order])
    np.testing.assert_array_equal(np.sort(order[found.sample]), whole.sample)
    np.testing.assert_array_equal(found.groups[0].edges, whole.groups[0].edges)
    assert found.groups[1].count == 3


def test_about_the_share_is_held_out_and_the_seed_chooses() -> None:
    """Of the rows that cost anything."""
    X, y, w = data()
    one, other = (of_blocks([(X, y, w)], seed=seed) for seed in (0, 1))
    assert abs(one.held.sum() / np.count_nonzero(w) - 0.3) < 0.05
    assert (one.held != other.held).any()
    assert not of_blocks([(X, y, w)], share=0.0).held.any()


def test_rows_that_are_all_equal_are_not_all_held_out() -> None:
    """For no seed, though equal rows stay together."""
    X, y = np.ones((20, 2)), np.ones(20)
    assert not any(of_blocks([(X, y)], seed=seed).held.any() for seed in range(10))
    two = np.repeat([[1.0], [2.0]], 10, axis=0)
    held = [of_blocks([(two, y)], share=0.5, seed=seed).held.sum() for seed in range(20)]
    assert set(held) == {0, 10}


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
