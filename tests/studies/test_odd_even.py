"""The odd/even study: libraries from words, C chosen on validation, the rows of Table 1."""

import csv
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cgboost.exceptions import TrivialModelWarning
from cgboost.generation import ProgressLine
from cgboost.generation.history import Round
from cgboost.kernels import Sum
from cgboost.studies.datasets import Split, odd_even_split
from cgboost.studies.odd_even import fit_best, parse_library, table_row, write_table


@pytest.fixture(scope="module")
def split() -> Split:
    """A small split of the bundled digits."""
    return odd_even_split(train=150, validation=100, test=200, seed=1)


def test_words_become_mixtures_and_composites() -> None:
    """A comma separates members of the mixture, a plus adds kernels up, each normalised."""
    mixture = parse_library("L,q,R")
    assert mixture.names == ("L", "Q", "R")
    assert mixture.normalize is True
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
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrivialModelWarning)  # a candidate is no model that is kept
        model, seconds, interrupted = fit_best(split, library, [1e-6, 1.0], penalty="l1")
    assert model.C == 1.0
    assert not interrupted
    assert seconds > 0
    with pytest.raises(ValueError, match="at least one value"):
        fit_best(split, library, [])


def test_ties_go_to_the_model_with_fewest_columns(
    split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of models with the same validation error the sparsest is kept, in any order of the prices."""
    monkeypatch.setattr("cgboost.studies.odd_even._error", lambda model, X, y: 5.0)
    library, counts = parse_library("L,R"), {}
    for C in (0.1, 3.0):
        counts[C] = fit_best(split, library, [C], penalty="l1").model.n_columns_
    sparsest = min(counts, key=lambda C: counts[C])
    assert len(set(counts.values())) == 2
    for prices in ([0.1, 3.0], [3.0, 0.1]):
        chosen = fit_best(split, library, prices, penalty="l1")
        assert sparsest == chosen.model.C


def test_without_negation_kernels_can_only_be_added(split: Split) -> None:
    """With α ≥ 0 no column has a negative sign, which a library closed under negation allows."""
    signs = {}
    for negation in (True, False):
        library = parse_library("L,Q,R", negation=negation)
        model, _, _ = fit_best(split, library, [1.0], penalty="l1", coef="nonneg")
        signs[negation] = set(model.columns_["sign"].tolist())
    assert signs == {True: {-1, 1}, False: {1}}


@pytest.mark.parametrize("number", [0, 2])
def test_ctrl_c_ends_the_search(split: Split, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the second fit keeps the better of what there is, and tries no third C."""
    started = []

    class Pressing(ProgressLine):
        def __call__(self, turn: Round) -> None:
            started.extend([self.label] * (turn.number == 0))
            if len(started) == 2 and turn.number == number:
                raise KeyboardInterrupt

    monkeypatch.setattr("cgboost.studies.odd_even.ProgressLine", Pressing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        chosen = fit_best(split, parse_library("L"), [1.0, 2.0, 3.0], progress=True, penalty="l1")
    assert chosen.interrupted
    assert chosen.model.C in (1.0, 2.0)
    assert started == ["C=1: ", "C=2: "]


def test_a_row_measures_the_model(split: Split, tmp_path: Path) -> None:
    """Errors are percentages of the three parts; the record has a count per kernel."""
    model, seconds, _ = fit_best(split, parse_library("L,Q,R"), [1.0], penalty="l1")
    row = table_row("L,Q,R", model, split, seconds)
    assert row.test_error == pytest.approx(100 * (1 - model.score(split.X_test, split.y_test)))
    assert sum(row.columns.values()) == model.n_columns_
    record = row.as_record()
    assert record["test_error"] == float(f"{row.test_error:.6g}")
    assert record["columns_L"] == model.columns_per_kernel_["L"]
    write_table(tmp_path / "t.csv", {name: [value] for name, value in record.items()})
    with (tmp_path / "t.csv").open(encoding="utf-8") as file:
        (read,) = csv.DictReader(file)
    assert read["kernels"] == "L,Q,R"
    assert float(read["gap"]) <= 1e-4
