"""Readers of models: files, programs, HiGHS and CVXPY."""

import gzip
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

from cgboost.integer.decomposition.model import as_model, quiet_highs, read_model
from cgboost.integer.decomposition.model_text import ModelError
from solvers import Program

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


@pytest.mark.parametrize("zipped", [False, True])
def test_a_file_keeps_names_bounds_and_sense(tmp_path: Path, zipped: bool) -> None:
    """A model that is maximised is minimised with the other sign, everything else is as written."""
    path = tmp_path / ("a.lp.gz" if zipped else "a.lp")
    path.write_bytes(gzip.compress(LP.encode()) if zipped else LP.encode())
    model = as_model(str(path))
    assert (model.names, model.row_names) == (("x", "y", "z"), ("first", "second"))
    assert model.maximize
    assert model.program.cost.tolist() == [-2, -3, -5]
    assert model.program.row_lower.tolist() == [-np.inf, -2]
    assert model.program.upper.tolist() == [3, np.inf, 7]
    assert model.integer.tolist() == [True, True, False]
    assert model.in_own_sense(-4.0) == 4.0


@pytest.mark.parametrize("text", ["\x00\x01 no model", "", LP[:60]])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    """A file that HiGHS cannot read is an error with its name."""
    path = tmp_path / "damaged.lp"
    path.write_text(text)
    with pytest.raises(ModelError, match=r"damaged\.lp"):
        as_model(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A path that leads nowhere is an error with the path."""
    with pytest.raises(ModelError, match=r"no file .*nothing\.mps"):
        as_model(tmp_path / "nothing.mps")


def test_a_model_of_highs() -> None:
    """A model of highspy without names gets numbered ones."""
    highs = quiet_highs()
    highs.addVar(0, 4)
    highs.addVar(1, 2)
    highs.addRow(1, 5, 2, np.array([0, 1], dtype=np.int32), np.array([1.0, 2.0]))
    model = as_model(highs)
    assert model.names == ("x0", "x1")
    assert model.matrix.toarray().tolist() == [[1, 2]]


def test_a_problem_of_cvxpy() -> None:
    """Rows of one variable become bounds, entries have names, and the constant is kept."""
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


def test_a_violation_is_named() -> None:
    """A point that misses a row, a bound or integrality says where."""
    program = Program([1.0, 1.0], [[1.0, 1.0]], 2.0, 2.0, upper=1.5, integrality=[True, False])
    model = as_model(program)
    assert model.is_feasible(np.array([1.0, 1.0]))
    for point, where in (([1, 0], "row 'r0'"), ([2, 0], "bounds of 'x0'"), ([0.5, 1.5], "'x0'")):
        assert where in model.violation(np.array(point, dtype=float))[1]


def test_what_is_no_linear_model_is_refused() -> None:
    """Quadratic objectives, doubled names and other objects are errors."""
    with pytest.raises(ModelError, match="quadratic"):
        as_model(Program([1.0], quadratic=[1.0]))
    with pytest.raises(TypeError, match="int"):
        as_model(3)


SMALL = """NAME small
ROWS
 N c
 L link0
 G need
COLUMNS
 x c 1 link0 1
 x need 1
 y c 2 link0 1
 y need 1
RHS
 r link0 4 need 2
BOUNDS
 UP b x 3
ENDATA
"""


@pytest.mark.parametrize(
    ("there", "instead", "words"),
    [
        (" r link0 4 need 2", " r linkX 4 need 2", "line 12: there is no row 'linkX'"),
        (" UP b x 3", " UP b z 3", "line 14: there is no variable 'z' to have a bound"),
        (" r link0 4 need 2", " r link0 4 need 2\n r link0 5", "line 13: .*'link0' twice"),
    ],
    ids=["row", "column", "twice"],
)
def test_unknown_names_and_values_given_twice(there, instead, words, tmp_path) -> None:
    """An unknown row or column, or a value given twice, would be another model: it is refused."""
    path = tmp_path / "small.mps"
    path.write_text(SMALL)
    assert list(read_model(path).names) == ["x", "y"]
    path.write_text(SMALL.replace(there, instead))
    with pytest.raises(ModelError, match=words):
        read_model(path)


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
