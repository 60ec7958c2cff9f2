"""Duals are derivatives of the user's objective by the side as it is written, in every tool."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from cgboost import decompose
from tests.integer.decomposition.tool_duals import BLOCKS, TOOLS, UPPER, Case, Vector, cases, cvxpy

ROOT = Path(__file__).parents[3]
PACKAGE = {"mathopt": "ortools", "model_builder": "ortools", "pywraplp": "ortools"}
STEP = 1e-4
MINIMISATIONS = {("pulp", "HiGHS"), ("pyscipopt", "SCIP")}
"""Tools and solvers that give the duals of the negative objective where it is to be maximised."""


def optimum(case: Case, sides: Vector) -> float:
    """By another solver, with other sides of the linking rows."""
    sign = -1.0 if case.maximize else 1.0
    upper = [case.rows[0], -case.rows[1], [1, 1, 0, 0], [0, 0, 1, 1]]
    solved = linprog(
        sign * case.cost,
        np.array(upper),
        [sides[0], -sides[1], 4.0, 5.0],
        case.rows[2:],
        sides[2:],
        bounds=[(0, UPPER)] * 4,
    )
    assert solved.status == 0
    return float(sign * solved.fun)


@cache
def derivatives() -> list[tuple[float, Vector]]:
    """Optimum of each program, and what it gains with each side: the same in both directions."""
    found = []
    for case in cases():
        best, steps = optimum(case, case.sides), STEP * np.eye(3)
        forward = np.array([optimum(case, case.sides + each) - best for each in steps]) / STEP
        backward = np.array([best - optimum(case, case.sides - each) for each in steps]) / STEP
        np.testing.assert_allclose(forward, backward, atol=1e-6)
        found.append((best, forward))
    return found


def expected(tool: str, way: str, case: Case, gain: Vector) -> Vector:
    """What the tool calls a dual, where the derivative is known."""
    if tool == "cvxpy":  # multipliers: not negative of inequalities, whatever the sense
        return gain * ([1, -1, 1] if case.maximize else [-1, 1, -1])
    return -gain if case.maximize and (tool, way) in MINIMISATIONS else gain


@pytest.mark.parametrize("tool", TOOLS)
def test_duals_are_derivatives_of_the_users_objective(tool: str) -> None:
    """Six linear programs, minimised and maximised; and what the tool itself says of them.

    The sides are on the left in every second one.
    """
    package = PACKAGE.get(tool, tool)
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed: it is in the extra of peers")
    command = [sys.executable, "-m", "tests.integer.decomposition.tool_duals", tool]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not ended.returncode, ended.stderr
    answers = json.loads(ended.stdout.splitlines()[-1])
    for case, (best, gain), found in zip(cases(), derivatives(), answers, strict=True):
        assert found["objective"] == pytest.approx(best)
        np.testing.assert_allclose(found["duals"], gain, atol=1e-5)
        for way, own in found["own"].items():
            np.testing.assert_allclose(own, expected(tool, way, case, gain), atol=1e-4)


def test_programs_are_not_trivial() -> None:
    """Each linking row binds in some program, of each sense, with gains of either sign."""
    gains = np.array([gain for _, gain in derivatives()])
    for own in (gains[::2], gains[1::2]):
        assert (np.abs(own) > 1e-3).any(axis=0).all()
    assert gains.min() < -1
    assert gains.max() > 1


def test_rows_of_cvxpy_have_the_constant_on_the_right() -> None:
    """``b <= a'x`` is a row from b on; of two sides with variables the left one stays there."""
    import cvxpy as cp

    x = cp.Variable(2, name="x")
    rows = [
        *(np.array(3.0) <= x[0] + x[1], x[0] >= 1 - x[1], cp.Constant(5) == x[0] + 2 * x[1]),
        x[0] + 4 * x[1] <= 9,
    ]
    model = decompose(cp.Problem(cp.Minimize(x[0]), rows), {}).model
    program = model.program
    assert model.matrix.toarray().tolist() == [[1, 2], [1, 1], [-1, -1], [1, 4]]
    assert program.row_lower.tolist() == [5, 3, -np.inf, -np.inf]
    assert program.row_upper.tolist() == [5, np.inf, -1, 9]
    assert set(BLOCKS) == {"first", "second"}
    assert decompose(cvxpy(cases()[0]), {}).model.program.row_lower[2] == cases()[0].sides[1]
