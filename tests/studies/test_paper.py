"""Table 1 and Figure 1 of the odd/even study's paper, on few rows."""

import csv
from pathlib import Path

import numpy as np
import pytest

from cgboost import CGBoostClassifier
from cgboost.studies.cli import main
from cgboost.studies.datasets import Split, odd_even_split
from cgboost.studies.odd_even import parse_library
from cgboost.studies.paper import LIBRARIES, RULES, PaperRow, draw_figure_one, table_one

C = 1.0


@pytest.fixture(scope="module")
def split() -> Split:
    """Few digits."""
    return odd_even_split(train=60, validation=40, test=80)


@pytest.fixture(scope="module")
def rows(split: Split) -> list[PaperRow]:
    """The table with one C."""
    return list(table_one(split, [C]))


def test_there_are_seven_libraries_with_four_rules(rows: list[PaperRow]) -> None:
    """In the order of the paper, each solved to its optimum in the paper's order of priority."""
    found = [((row.coef, row.row.penalty), row.row.kernels) for row in rows]
    assert found == [(rule, kernels) for rule in RULES for kernels in LIBRARIES]
    assert all(row.row.gap <= 1e-4 and row.row.priority == "strict" for row in rows)


@pytest.mark.parametrize(("coef", "negation"), [("free", True), ("nonneg", False)])
def test_rows_are_models(rows: list[PaperRow], split: Split, coef: str, negation: bool) -> None:
    """Errors against a fit by hand; with α ≥ 0 no kernel is subtracted."""
    library = parse_library("L,Q,R", negation=negation)
    model = CGBoostClassifier(library, C=C, penalty="l1", coef=coef)  # type: ignore[arg-type]
    model.fit(split.X_train, split.y_train)
    (row,) = (
        one for one in rows if (one.coef, one.row.penalty, one.row.kernels) == (coef, "l1", "L,Q,R")
    )
    wrong = 100 * np.mean(model.predict(split.X_test) != split.y_test)
    assert row.row.test_error == pytest.approx(wrong, abs=2.6)
    assert (model.column_weights_ < 0).any() == negation


def test_columns_of_composites_count_for_each_kernel(rows: list[PaperRow]) -> None:
    """And those that a library does not have are printed as dashes."""
    for row in rows:
        counts = dict(zip("LQR", row.counts(), strict=True))
        if "+" in row.row.kernels:
            assert len({counts[letter] for letter in row.row.kernels.split("+")}) == 1
        assert not any(count for letter, count in counts.items() if letter not in row.row.kernels)
        assert row.line().count("–") >= 3 - len(row.row.kernels.replace("+", ",").split(","))


def test_the_figure_has_a_curve_for_each_order(split: Split) -> None:
    """All orders end at one objective; one column comes a round."""
    left, right = draw_figure_one(split, C, 100.0).axes
    ends = [float(np.asarray(line.get_ydata())[-1]) for line in left.lines]
    assert ends == pytest.approx(3 * ends[:1], rel=1e-3)
    for line in (*left.lines, *right.lines):
        assert (np.diff(np.asarray(line.get_xdata(), dtype=float)) <= 1).all()


def test_the_command_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """28 rows in both places, and the figure."""
    few = ["--train", "40", "--validation", "40", "--test", "40", "--C", "1"]
    assert main(["paper", *few, "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [len(lines), lines[0].split()[:3]] == [30, ["α", "norm", "kernel"]]
    with (tmp_path / "table_one.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 28
    assert {"coef", "penalty", "kernels", "test_error", "L", "Q", "R"} <= set(table[0])
    assert (tmp_path / "figure_one.png").read_bytes()[:4] == b"\x89PNG"
    assert main(["paper", *few[:-1], "one"]) == 2
