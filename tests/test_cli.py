"""The command line, called as a function and as a program."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from cgboost.cli import main

SMALL = ["odd-even", "--train", "120", "--validation", "80", "--test", "100"]


def test_prints_table_one_and_writes_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table's columns, the certificate, and four files with the right contents."""
    assert main([*SMALL, "--C", "1", "--out", str(tmp_path / "new" / "folder")]) == 0
    printed = capsys.readouterr().out
    for word in ("R_trn", "R_tst", "T_trn", "T_tst", "C_L", "C_Q", "C_R", "certified"):
        assert word in printed
    folder = tmp_path / "new" / "folder"
    assert (folder / "history.png").read_bytes()[:4] == b"\x89PNG"
    with (folder / "history.csv").open(encoding="utf-8") as file:
        history = list(csv.DictReader(file))
    assert float(history[-1]["gap"]) <= 1e-4
    assert {"objective", "bound", "validation_error", "evaluated"} <= set(history[0])
    with (folder / "columns.csv").open(encoding="utf-8") as file:
        columns = list(csv.DictReader(file))
    assert {row["kernel"] for row in columns} <= {"L", "Q", "R"}
    assert len(columns) > 5


@pytest.mark.parametrize(
    "options",
    [
        ["--penalty", "l2", "--max-columns", "40"],
        ["--kernels", "L+Q", "--priority", "full", "--columns-per-round", "1"],
        ["--solver", "clarabel", "--coef", "nonneg", "--offset", "penalized"],
        ["--raw-kernels", "--kernels", "L", "--early-stopping", "--seed", "3", "--tol", "1e-2"],
    ],
    ids=" ".join,
)
def test_every_option_is_taken(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Formulation, kernels, pricing and solver can be chosen on the command line."""
    assert main([*SMALL, "--C", "0.5,2", *options]) == 0
    assert "objective" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data", "no/such/folder"], "no/such/folder"),
        (["--kernels", "L,Z"], "L,Z"),
        (["--C", "one"], "--C must be a number"),
        (["--C", "-1"], "C must be a finite number > 0, got -1.0"),
        (["--train", "5000"], "5000"),
        (["--solver", "gurobi"], "gurobi"),
        (["--solver", "osqpp"], "known"),
        (["--penalty", "l2", "--solver", "highs"], "highs"),
    ],
    ids=str,
)
def test_mistakes_end_in_one_line_and_status_two(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback: one line on standard error that names the value."""
    assert main([*SMALL, *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("cgboost: ")
    assert message in error


def test_help_shows_examples() -> None:
    """``cgboost odd-even --help`` ends with commands to copy."""
    done = subprocess.run(
        [sys.executable, "-c", "from cgboost.cli import main; main()", "odd-even", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "cgboost odd-even --data DATA" in done.stdout
