"""The odd/even study: libraries from words, C chosen on validation, the rows of Table 1."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from cgboost.datasets import Split, odd_even_split
from cgboost.kernels import Normalized, Sum
from cgboost.odd_even import fit_best, parse_library, table_row, write_table


@pytest.fixture(scope="module")
def split() -> Split:
    """A small split of the bundled digits."""
    return odd_even_split(train=150, validation=100, test=200, seed=1)


def test_words_become_mixtures_and_composites() -> None:
    """A comma separates members of the mixture, a plus adds kernels up, each normalised."""
    mixture = parse_library("L,q,R")
    assert mixture.names == ("L", "Q", "R")
    assert all(isinstance(kernel, Normalized) for kernel in mixture.kernels.values())
    composite = parse_library("L+Q+R", normalize=False)
    assert composite.names == ("L+Q+R",)
    assert isinstance(composite.kernels["L+Q+R"], Sum)
    X = np.random.default_rng(0).normal(size=(5, 3))
    whole = composite.fit(X)["L+Q+R"](X, X)
    parts = sum(kernel(X, X) for kernel in parse_library("L,Q,R", normalize=False).fit(X).values())
    np.testing.assert_allclose(whole, parts)


@pytest.mark.parametrize("word", ["", "X", "L,,Q", "L,L", "L+"])
def test_bad_words_are_refused(word: str) -> None:
    """The error repeats the word and says what is allowed."""
    with pytest.raises(ValueError, match="kernels must be letters of L, Q, R"):
        parse_library(word)


def test_the_best_price_is_chosen_on_validation(split: Split) -> None:
    """The chosen model has the lowest final validation error of those tried."""
    library = parse_library("L,R")
    model, seconds = fit_best(split, library, [1e-6, 1.0], penalty="l1")
    assert model.C == 1.0
    assert seconds > 0
    with pytest.raises(ValueError, match="at least one value"):
        fit_best(split, library, [])


def test_a_row_measures_the_model(split: Split, tmp_path: Path) -> None:
    """Errors are percentages of the three parts; the record has a count per kernel."""
    model, seconds = fit_best(split, parse_library("L,Q,R"), [1.0], penalty="l1")
    row = table_row("L,Q,R", model, split, seconds)
    assert row.test_error == pytest.approx(100 * (1 - model.score(split.X_test, split.y_test)))
    assert sum(row.columns.values()) == model.n_columns_
    record = row.as_record()
    assert record["columns_L"] == model.columns_per_kernel_["L"]
    write_table(tmp_path / "t.csv", {name: [value] for name, value in record.items()})
    with (tmp_path / "t.csv").open(encoding="utf-8") as file:
        (read,) = csv.DictReader(file)
    assert read["kernels"] == "L,Q,R"
    assert float(read["gap"]) <= 1e-4
