"""The compressed machine, SVC, the mixture and its best kernel; bound and objective drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

from cgboost import CGBoostClassifier, compress
from cgboost.studies.comparison import (
    VECTORS_A_CENTRE,
    Entrant,
    best_machine,
    compressed,
    draw_bound,
    entrants,
    in_words,
    records,
    support_vector_machines,
)
from cgboost.studies.datasets import Split, odd_even_split
from cgboost.studies.odd_even import fit_best, parse_library, table_row

PRICES = [1.0, 3.0]


@pytest.fixture(scope="module")
def split() -> Split:
    """A small split of the bundled digits."""
    return odd_even_split(train=100, validation=80, test=150, seed=1)


@pytest.fixture(scope="module")
def model(split: Split) -> CGBoostClassifier:
    """A mixture, its C chosen on the validation rows."""
    return fit_best(split, parse_library("L,R"), PRICES, penalty="l1").model


@pytest.fixture(scope="module")
def found(split: Split, model: CGBoostClassifier) -> list[Entrant]:
    """The mixture and what it is compared with."""
    row = table_row("L,R", model, split, 1.0)
    return list(entrants(split, row, PRICES, penalty="l1"))


def test_the_figures_are_those_of_the_models(
    found: list[Entrant], split: Split, model: CGBoostClassifier
) -> None:
    """Errors and columns of the mixture, errors and support vectors of SVC, fitted by hand."""
    small, machine, mixture, single = found
    assert mixture.size == model.n_columns_
    assert mixture.made_of == "of 200 columns"
    assert mixture.gap == model.gap_
    assert single.model in ("best kernel L", "best kernel R")
    assert single.made_of == "of 100 columns"
    own = SVC(C=machine.C, gamma=machine.gamma).fit(split.X_train, split.y_train)
    assert machine.size == len(own.support_)
    assert machine.test_error == pytest.approx(100 * (1 - own.score(split.X_test, split.y_test)))
    assert np.isnan(machine.gap)
    assert small.size == machine.size // VECTORS_A_CENTRE
    own = SVC(C=small.C, gamma=small.gamma).fit(split.X_train, split.y_train)
    rows = np.vstack([split.X_train, split.X_validation])
    few = compress(own, rows, size=small.size, random_state=0)
    wrong = 100 * np.mean(few.predict(split.X_test) != split.y_test)
    assert small.test_error == pytest.approx(wrong)


def test_the_default_choice_is_as_accurate_as_svc_with_a_tenth_of_its_vectors() -> None:
    """What the demo shows first, on the rows and prices of the demo: at most 0.2 points behind."""
    split, prices = odd_even_split(), [0.1, 1.0, 10.0]
    machines = support_vector_machines(split, prices)
    svc = best_machine(machines, split)
    small = compressed(machines, split, svc.size // VECTORS_A_CENTRE)
    assert small.size <= svc.size / 10
    assert small.test_error <= svc.test_error + 0.2


def test_the_single_kernel_is_the_best_on_the_validation_rows(
    found: list[Entrant], split: Split
) -> None:
    """No other kernel of the mixture alone errs less there."""
    for letter in "LR":
        alone = fit_best(split, parse_library(letter), PRICES, penalty="l1").model
        error = 100 * (1 - alone.score(split.X_validation, split.y_validation))
        assert found[3].validation_error <= error + 1e-9


def test_a_kernel_alone_is_compared_with_svc_only(split: Split) -> None:
    """There is no single kernel to compare a single kernel with."""
    alone = fit_best(split, parse_library("R"), [1.0], penalty="l1").model
    found = list(entrants(split, table_row("R", alone, split, 1.0), [1.0], penalty="l1"))
    names = ["compressed SVC", "scikit-learn SVC", "kernel R"]
    assert [one.model for one in found] == names


def test_the_table_has_a_column_for_each_model(found: list[Entrant]) -> None:
    """One line for each figure; errors and the gap in per cent, no gap for SVC."""
    head, _, *lines = in_words(found).splitlines()
    assert [word.strip() for word in head.split("|")[2:-1]] == [one.model for one in found]
    cells = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in lines}
    assert [cell.strip() == "none" for cell in cells["proven gap"]] == [True, True, False, False]
    assert float(cells["test error"][0].strip(" %")) == pytest.approx(found[0].test_error, abs=0.01)
    assert all(len(line) < 100 for line in (head, *lines))


def test_records_are_columns_of_a_table(found: list[Entrant]) -> None:
    """As many entries as models; where there is no gap or no γ the cell is empty."""
    table = records(found)
    assert table["model"] == [one.model for one in found]
    assert [gap == "" for gap in table["gap"]] == [True, True, False, False]
    assert [gamma == "" for gamma in table["gamma"]] == [False, False, True, True]
    assert table["size"] == [one.size for one in found]


def test_the_picture_shows_the_bound_meeting_the_objective(
    model: CGBoostClassifier, tmp_path: Path
) -> None:
    """Both curves round by round, the bound never above; the gap ends below what was asked for."""
    figure = draw_bound(model)
    left, right = figure.axes
    objective, bound = (line.get_ydata() for line in left.lines)
    assert (np.asarray(bound) <= np.asarray(objective) + 1e-9).all()
    assert (np.diff(bound) >= 0).all()
    gap, asked = (np.asarray(line.get_ydata()) for line in right.lines)
    assert gap[-1] <= asked[0] == pytest.approx(100 * model.tol)
    figure.savefig(tmp_path / "bound.png")
    assert (tmp_path / "bound.png").stat().st_size > 5_000
