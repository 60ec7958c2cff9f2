"""Readers of models: files, programs, HiGHS and CVXPY."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import highspy
import numpy as np
import pytest
import scipy.sparse as sp

from cgboost import decompose
from cgboost.exceptions import DataWarning
from cgboost.integer.decomposition.model import as_model, quiet_highs
from cgboost.integer.decomposition.model_parts import ModelError
from solvers import Program, ProgramError

from .cases import BLOCKS, program

LP = """Maximize
 profit: 2 x + 3 y + 5 z
Subject To
 first: x + y <= 4
 second: y - z >= -2
Bounds
 x <= 3
 z <= 7
General
 x
 y
End
"""


def test_a_file_keeps_names_bounds_and_sense(tmp_path: Path) -> None:
    """A model that is maximised is minimised with the other sign, everything else is as written."""
    path = tmp_path / "a.lp"
    path.write_text(LP)
    model = as_model(str(path))
    assert (model.names, model.row_names) == (("x", "y", "z"), ("first", "second"))
    assert model.maximize
    assert model.program.cost.tolist() == [-2, -3, -5]
    assert model.program.row_lower.tolist() == [-np.inf, -2]
    assert model.program.upper.tolist() == [3, np.inf, 7]
    assert model.integer.tolist() == [True, True, False]
    assert model.in_own_sense(-4.0) == 4.0


def of_highs(lower: float, upper: float, row_lower: float, row_upper: float) -> highspy.Highs:
    """One variable and one row, without names."""
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_, lp.col_cost_ = 1, 1, np.ones(1)
    lp.col_lower_, lp.col_upper_ = np.array([lower]), np.array([upper])
    lp.row_lower_, lp.row_upper_ = np.array([row_lower]), np.array([row_upper])
    lp.a_matrix_.start_, lp.a_matrix_.index_ = np.array([0, 1]), np.array([0])
    lp.a_matrix_.value_ = 2.0 * np.ones(1)
    highs = quiet_highs()
    highs.passModel(lp)
    return highs


def test_a_model_of_highs() -> None:
    """Rows and variables without names get numbers."""
    model = as_model(of_highs(0.0, 4.0, 1.0, 5.0))
    assert (model.names, model.row_names) == (("x0",), ("r0",))
    assert model.matrix.toarray().tolist() == [[2]]


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: of_highs(2, 1, 0, 2), ModelError, "variable 'x0' has the lower bound"),
        (lambda: of_highs(0, 1, 3, 2), ModelError, "row 'r0' has the lower bound"),
        (lambda: Program([1.0], quadratic=[1.0]), ModelError, "quadratic"),
        (lambda: program(cost=[np.nan, -2, -2, -3]), ProgramError, r"cost\[0\] = nan"),
        (lambda: 3, TypeError, "pulp.*pyomo.*got int"),
    ],
)
def test_what_is_no_linear_model_is_refused(make: Any, kind: Any, words: str) -> None:
    """Crossed bounds, quadratic objectives, wrong programs and other objects."""
    with pytest.raises(kind, match=words):
        decompose(make(), BLOCKS)


def test_a_problem_of_cvxpy() -> None:
    """Rows of one variable become bounds, entries have names, and the constant is kept.

    So does the answer, whose value is that of CVXPY.
    """
    x, y = cp.Variable((2, 2), integer=True, name="x"), cp.Variable(boolean=True, name="y")
    problem = cp.Problem(
        cp.Maximize(cp.sum(x) - 3 * y + 7),
        [x <= 4.5, x >= 0, x[0, 0] + x[1, 1] <= 5 * y, cp.sum(x) == 9],
    )
    model = as_model(problem)
    assert model.names == ("x[0,0]", "x[1,0]", "x[0,1]", "x[1,1]", "y")
    assert model.program.n_rows == 2
    assert model.program.upper.tolist() == [4.5] * 4 + [1]
    point = np.array([1.0, 4, 4, 0, 1])
    assert model.is_feasible(point)
    assert model.in_own_sense(model.program.objective_value(point)) == pytest.approx(9 - 3 + 7)
    result = decompose(problem, {"r0": 0}).solve()
    assert result.objective == pytest.approx(problem.solve(solver="HIGHS"))
    assert set(result.x) == set(model.names)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("low", [None, -1.0, 2.0])
def test_a_model_without_variables(low: float | None, maximize: bool, tmp_path: Path) -> None:
    """It costs its constant where 0 is between the sides of its rows; so says its file, and CVXPY.

    HiGHS calls such a model empty, whatever the sides and the constant.
    """
    none, sides = np.zeros(0), np.zeros(0) if low is None else np.array([low])
    matrix = sp.csr_array((sides.size, 0))
    own = Program(none, matrix, sides, sides + 4.0, none, none, None, None, 3.0)
    model = replace(as_model(own), maximize=maximize)
    model.write(tmp_path / "a.mps")
    rows = [] if low is None else [cp.Constant(low) <= 0]
    problem = cp.Problem(cp.Maximize(-3.0) if maximize else cp.Minimize(3.0), rows)
    is_feasible = low is None or low <= 0
    for source in (model, tmp_path / "a.mps", problem):
        result = decompose(source, dict.fromkeys(model.row_names, 0)).solve()
        assert result.stop_reason == ("optimal" if is_feasible else "infeasible")
        assert abs(result.objective) == (3.0 if is_feasible else np.inf)
        assert (result.objective < 0) == maximize
        assert not result.x


def test_a_violation_is_named() -> None:
    """A point that misses a row, a bound or integrality says where."""
    own = Program([1.0, 1.0], [[1.0, 1.0]], 2.0, 2.0, upper=1.5, integrality=[True, False])
    model = as_model(own)
    assert model.is_feasible(np.array([1.0, 1.0]))
    for point, where in (([1, 0], "row 'r0'"), ([2, 0], "bounds of 'x0'"), ([0.5, 1.5], "'x0'")):
        assert where in model.violation(np.array(point, dtype=float))[1]


@pytest.mark.parametrize("kind", ["mps", "lp"])
def test_what_highs_writes_is_read(kind: str, tmp_path: Path) -> None:
    """Random models with every kind of row and bound come back from HiGHS's files as they were."""
    rng = np.random.default_rng(0)
    for number in range(20):
        n, m = rng.integers(1, 6, 2)
        low, high = rng.integers(-3, 1, n) * 1.5, rng.integers(2, 6, n) * 0.5
        low[rng.random(n) < 0.3], high[rng.random(n) < 0.3] = -np.inf, np.inf
        row_low, row_high = rng.integers(-9, 0, m) / 4, rng.integers(1, 9, m) / 4
        open_below = rng.random(m) < 0.5 if kind == "mps" else np.arange(m) % 2 == 0
        row_low[open_below] = -np.inf
        if kind == "lp":
            row_high[~open_below] = np.inf  # a row of an LP file has one side
        matrix = rng.integers(-2, 3, (m, n)) * 0.75
        matrix[0] += 4.0
        own = Program(
            rng.integers(-3, 4, n) / 8, matrix, row_low, row_high, low, high,
            integrality=rng.random(n) < 0.5, constant=rng.integers(-3, 3) / 2,
        )  # fmt: skip
        highs = quiet_highs()
        columns = (n, own.cost, own.lower, own.upper)
        highs.addCols(*columns, 0, np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
        for row in range(m):
            at = np.flatnonzero(matrix[row]).astype(np.int32)
            highs.addRow(row_low[row], row_high[row], at.size, at, matrix[row, at])
        whole = as_model(own).integer
        highs.changeColsIntegrality(n, np.arange(n, dtype=np.int32), whole.astype(np.uint8))
        highs.changeObjectiveOffset(own.constant)
        path = tmp_path / f"{number}.{kind}"
        highs.writeModel(str(path))
        read = as_model(path)
        order = [read.names.index(name) for name in sorted(read.names, key=lambda x: int(x[1:]))]
        assert np.array_equal(read.matrix.toarray()[:, order], matrix)
        assert np.array_equal(read.integer[order], whole)
        assert read.program.constant == own.constant
        for name in ("cost", "lower", "upper"):
            assert np.array_equal(getattr(read.program, name)[order], getattr(own, name)), name
        for name in ("row_lower", "row_upper"):
            assert np.array_equal(getattr(read.program, name), getattr(own, name)), name


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, np.asarray])
def test_arrays_of_the_user_are_read_once_and_stay_as_they_are(kind: Any) -> None:
    """Nothing is written to them, zeros and specks stay; changed after the call they say nothing.

    So are those of a CSR matrix with float entries, which programs do not copy.
    """
    dense = np.array([[1.0, 2.0, 1e-12], [0.0, 1.0, 3.0]])
    matrix = kind(dense)
    if sp.issparse(matrix):
        matrix.data[matrix.data == 2.0] = 0.0  # a zero that is stored
    arrays = {
        "cost": np.array([-1.0, -2.0, -1.0]), "matrix": matrix, "row_upper": np.array([4.0, 5.0]),
        "lower": np.zeros(3), "upper": np.full(3, 9.0), "integrality": np.ones(3, dtype=np.bool_),
    }  # fmt: skip
    kept = {name: own.copy() for name, own in arrays.items()}
    with pytest.warns(DataWarning, match="1 coefficients"):
        models = [decompose(Program(**arrays), blocks) for blocks in (None, {"r0": 0})]
    for name, own in arrays.items():
        if sp.issparse(own):
            assert own.nnz == kept[name].nnz
            assert (own != kept[name]).nnz == 0
        else:
            assert (own == kept[name]).all()
    with pytest.warns(DataWarning):
        expected = decompose(Program(**kept)).solve().objective
    for own in arrays.values():
        (own.data if sp.issparse(own) else own)[:] = 1
    assert [each.solve().objective for each in models] == [expected, expected]
