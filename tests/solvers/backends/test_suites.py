"""`benchmarks/solver_suites.py`: how it reads, judges and reports."""

import os
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solvers import Program, Status, solve

ROOT = Path(__file__).parents[3]
SUITES = runpy.run_path(str(ROOT / "benchmarks" / "solver_suites.py"), run_name="suites")
PROGRAM = Program([1.0, 1.0], [[1.0, 2.0]], row_lower=2.0)


def folder() -> Path:
    """The data folder, or a skip."""
    name = os.environ.get("CGBOOST_DATA")
    if not name or not (Path(name) / "netlib").is_dir():
        pytest.skip("CGBOOST_DATA names no folder with netlib/ and maros/")
    return Path(name)


def test_an_answer_is_judged_by_residuals_and_by_the_published_optimum():
    """A right answer is solved; a false claim is counted whether value or residual is wrong.

    An answer without duals cannot be confirmed.
    """
    problem = SUITES["Problem"]("tiny", PROGRAM, 1.0, 1e-9)
    solution = solve(PROGRAM)
    right = SUITES["measure"](problem, solution, 0.1)
    assert right.verdict(1e-6, 1e-9) == "solved"
    assert not right.is_false(1e-9)
    elsewhere = SUITES["Problem"]("tiny", PROGRAM, 1.1, 1e-9)
    assert SUITES["measure"](elsewhere, solution, 0.1).is_false(1e-9)
    moved = replace(solution, x=solution.x + 1e-3, status=Status.OPTIMAL)
    wrong = SUITES["measure"](problem, moved, 0.1)
    assert wrong.verdict(1e-4, 1e-9) == "wrong"
    assert wrong.is_false(1e-9)
    honest = SUITES["measure"](problem, replace(moved, status=Status.INACCURATE), 0.1)
    assert not honest.is_false(1e-9)
    without = replace(solution, row_duals=np.array([np.nan]))
    assert SUITES["measure"](problem, without, 0.1).residual == np.inf


def test_the_table_counts_and_compares():
    """One row a backend; the time ratio is over the problems that all reliable ones solved."""
    problem = SUITES["Problem"]("tiny", PROGRAM, 1.0, 1e-9)
    good = SUITES["measure"](problem, solve(PROGRAM), 0.1)
    failed = SUITES["Outcome"](words="no")
    table = {
        "quick": {"tiny": good},
        "slow": {"tiny": replace(good, seconds=0.3)},
        "lost": {"tiny": failed},
    }
    lines = SUITES["report"]([problem], table)
    assert "| `quick` | 1 / 0 / 0 | 1 / 0 / 0 | 0 | 1.0 |" in lines
    assert "| `slow` | 1 / 0 / 0 | 1 / 0 / 0 | 0 | 3.0 |" in lines
    assert "| `lost` | 0 / 0 / 1 | 0 / 0 / 1 | 0 | – |" in lines


def test_the_page_has_a_place_for_every_table():
    """Refreshing with both tables finds their markers, and changes nothing else."""
    page = SUITES["PAGE"].read_text(encoding="utf-8")
    for name in ("netlib", "maros"):
        assert page.count(f"<!-- table: {name} -->\n\n| | solved / wrong / failed") == 1


@pytest.mark.data
@pytest.mark.parametrize(("suite", "count", "least"), [("netlib", 32, 32), ("maros", 51, 48)])
def test_the_default_backend_solves_the_suites(suite, count, least):
    """32 of 32 Netlib LPs and at least 48 of 51 QPs to 1e-6, and no answer is falsely optimal."""
    problems = list(SUITES[suite](folder()))
    found = [SUITES["measure"](p, solve(p.program), 0.0) for p in problems]
    assert len(problems) == count
    solved = [o.solved(1e-6, p.precision) for o, p in zip(found, problems, strict=True)]
    assert sum(solved) >= least
    assert not any(o.is_false(p.precision) for o, p in zip(found, problems, strict=True))


@pytest.mark.data
def test_forplan_is_not_called_optimal_where_its_value_is_wrong():
    """Clarabel's answer is 4e-6 off while primal and dual objective agree to 4e-7."""
    problem = next(p for p in SUITES["netlib"](folder()) if p.name == "forplan")
    outcome = SUITES["measure"](problem, solve(problem.program, "cvxpy:CLARABEL"), 0.0)
    assert not outcome.is_false(problem.precision)
