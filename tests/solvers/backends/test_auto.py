"""The name "auto": by the class of the program, and again when it changes."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from solvers import (
    LimitError,
    MissingBackendError,
    OptionError,
    Program,
    Status,
    open_session,
    solve,
)
from solvers.backends import auto
from solvers.program.errors import UnsupportedProblemError
from solvers.sessions.engine import Answer


def test_linear_and_integer_programs_go_to_highs():
    """HiGHS answers both."""
    assert solve(Program([1.0])).backend == "highs"
    assert solve(Program([1.0], upper=3, integrality=True)).backend == "highs"


def test_quadratic_programs_go_to_piqp_or_clarabel(monkeypatch):
    """PIQP answers, Clarabel if PIQP is not installed; OSQP, a first-order method, never does."""
    program = Program([-1.0], quadratic=[1.0])
    assert solve(program).backend == "piqp"
    monkeypatch.setitem(sys.modules, "piqp", None)
    assert solve(program).backend == "clarabel"
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(MissingBackendError, match="pip install"):
        solve(program)


def test_the_first_quadratic_column_moves_the_session():
    """A master that starts without columns is linear, and becomes quadratic as it grows."""
    session = open_session(Program([-1.0], [[1.0]], -np.inf, 2.0))
    assert session.solve().backend == "highs"
    session.add_columns([-1.0], [[1.0]], quadratic=[1.0])
    found = session.solve()
    assert found.backend == "piqp"
    assert found.objective == pytest.approx(-2.0, abs=1e-6)
    assert session.program.quadratic.tolist() == [0.0, 1.0]


def test_integer_and_quadratic_together_are_refused():
    """No backend takes both; the error says so before anything is built."""
    program = Program([1.0], upper=3, integrality=True, quadratic=[1.0])
    with pytest.raises(UnsupportedProblemError, match="mixed-integer quadratic"):
        solve(program)
    session = open_session(Program([1.0], upper=3, integrality=True))
    with pytest.raises(UnsupportedProblemError):
        session.add_columns([1.0], np.zeros((0, 1)), quadratic=[1.0])
    assert session.n_columns == 1


def test_options_of_one_solver_are_refused():
    """Nobody could say which solver they are for."""
    with pytest.raises(OptionError, match="name a solver"):
        open_session(Program([1.0]), presolve="on")


def test_the_solvers_share_one_time_limit(monkeypatch):
    """Each is given what the ones before it left, and the time limit is the reason in the end."""
    limits, clock = [], [0.0]

    def mock(backend, status):
        def engine(_program, request):
            limits.append(request.time_limit)
            clock[0] += 4.0
            return Answer(status, "words")

        return replace(backend, package="numpy", engine=engine)

    endings = (Status.ITERATION_LIMIT, Status.TIME_LIMIT)
    for name, status in zip(("PIQP", "CLARABEL"), endings, strict=True):
        monkeypatch.setattr(auto, name, mock(getattr(auto, name), status))
    monkeypatch.setattr(auto, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    with pytest.raises(LimitError, match="clarabel: time limit"):
        solve(Program([-1.0], quadratic=[1.0]), time_limit=7.0)
    with pytest.raises(LimitError):
        solve(Program([-1.0], quadratic=[1.0]), time_limit=3.0)
    assert limits == [7.0, 3.0, 3.0, auto.LEAST_TIME]
