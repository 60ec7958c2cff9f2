"""The package writes nothing to standard output or standard error."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from solvers import InfeasibleError, Program, open_session
from solvers.refinement.presolve import find_elimination
from tests.solvers.problems import BY_CLASS, can

INACCURATE = """
import numpy as np
from solvers import Program, Status, open_session
from solvers.sessions.engine import Answer
from solvers.program.solution import Point
from solvers.sessions.rebuilding import RebuildingBackend

program = Program([-1, -2], [[1, 1], [1, 3]], -np.inf, [4, 6])
claim = Answer(Status.OPTIMAL, "I promise", Point(np.zeros(2), np.zeros(2)))
backend = RebuildingBackend("mock", frozenset({"lp"}), "numpy", lambda *_: claim)
assert backend.open(program, polish=False).solve().status is Status.INACCURATE
session = open_session(program, "highs")
session._worst_infeasibility = lambda: 1.0
assert session.solve().status is Status.INACCURATE
"""

FREE = np.inf
NOTHING_LEFT = {
    "one equation": Program([1, 2], np.diag([1.0, -2.0]), 3, 3, -FREE, FREE, [1, 4], constant=5),
    "sparse": Program([1, 2], sp.csr_array(np.diag([1.0, -2.0])), 3, 3, -FREE, FREE, [1, 4]),
    "empty rows": Program([1], [[0.0], [2.0]], [-1, 3], [1, 3], -FREE, FREE, [1]),
}
"""Programs of which substitution leaves no column."""
EMPTY_DIMENSIONS = {
    "no rows": Program([-1.0, 1.0], np.zeros((0, 2)), lower=-1, upper=1, quadratic=[2.0, 0.0]),
    "no rows, free": Program([-1.0], np.zeros((0, 1)), lower=-FREE, quadratic=[2.0]),
    "no rows, sparse": Program([-1.0], lower=-FREE, quadratic=sp.csc_array([[2.0]])),
    "all fixed": Program([1.0, 1.0], [[1, 1]], 2, 2, 1, 1, [1, 1]),
    "no columns": Program([], np.zeros((2, 0)), -1, 1),
}
PROGRAMS = NOTHING_LEFT | EMPTY_DIMENSIONS


def test_an_inaccurate_answer_is_not_announced():
    """In a fresh process without logging set up, nothing reaches the terminal."""
    done = subprocess.run(
        [sys.executable, "-c", INACCURATE], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        (name, solver)
        for name, program in PROGRAMS.items()
        for solver in BY_CLASS["qp" if program.is_qp else "lp"]
    ],
)
@pytest.mark.parametrize("eliminate", [None, True, False])
def test_programs_with_nothing_in_them_are_solved_without_a_word(name, solver, eliminate, capfd):
    """No rows, no free variable, no columns, from the beginning or after substitution."""
    options = {} if can(solver, "add-columns") else {"eliminate": eliminate}
    found = open_session(PROGRAMS[name], solver, **options).solve()
    assert found.is_optimal(1e-6)
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


@pytest.mark.parametrize("solver", BY_CLASS["qp"])
def test_a_row_that_substitution_empties_can_still_be_violated(solver):
    """Where no column is left, too."""
    for program in NOTHING_LEFT.values():
        assert find_elimination(program).reduced.n_columns == 0
    excluded = Program([1], [[0.0], [2.0]], [1, 3], [2, 3], -FREE, FREE, [1])
    with pytest.raises(InfeasibleError):
        open_session(excluded, solver).solve()
