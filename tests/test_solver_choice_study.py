"""The measured table of solvers, in the how-to: `benchmarks/solver_choice.py`."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from cgboost.exceptions import MasterError

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def benchmark() -> dict[str, Any]:
    """What the program defines."""
    return runpy.run_path(str(ROOT / "benchmarks" / "solver_choice.py"))


def test_the_table_is_relative_to_the_fastest_that_arrived(benchmark: dict[str, Any]) -> None:
    """A solver that gave up sets no pace, however early; one that was not asked has a dash."""
    outcome = benchmark["Outcome"]
    found = {
        "a": {"x": outcome(2.0, 7), "y": outcome(0.5, 3, 0.25, "not in 15 s")},
        "b": {"x": outcome(1.0, 4)},
    }
    assert list(benchmark["table"](found, ["x", "y"])) == [
        "| solver | a | b |",
        "| --- | --- | --- |",
        "| `x` | 1.0 (7 rounds) | 1.0 (4 rounds) |",
        "| `y` | not in 15 s (gap 2e-01, 3 rounds) | – |",
        "| the fastest, seconds | 2 | 1 |",
    ]


def test_a_solver_that_raises_is_a_result(benchmark: dict[str, Any]) -> None:
    """The table names the error; the others are still measured."""

    def fit(solver: str, callbacks: list[Any]) -> Any:
        raise MasterError(solver)

    assert benchmark["outcome"](fit, "x", 1.0).failure == "MasterError"


def test_the_table_on_the_page_is_of_the_program(benchmark: dict[str, Any]) -> None:
    """Its columns are the problems, its rows the solvers, and its command is named below it."""
    page = benchmark["PAGE"].read_text(encoding="utf-8")
    opening = f"<!-- table: {benchmark['TABLE']} -->"
    lines = page.partition(opening)[2].partition("<!-- /table -->")[0].strip().split("\n")
    assert "python benchmarks/solver_choice.py --write" in page
    assert lines[0] == "| solver | " + " | ".join(benchmark["problems"]()) + " |"
    rows = [line.split(" | ")[0].strip("|` ") for line in lines[2:]]
    assert rows == [*benchmark["NAMES"], "the fastest, seconds"]
