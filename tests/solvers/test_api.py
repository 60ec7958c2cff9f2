"""`solvers.api`: one call, checked against the program whatever the backend claims."""

import logging
from dataclasses import replace

import numpy as np
import pytest

from solvers import (
    OptionError,
    Program,
    SolverFailure,
    Status,
    UnknownSolverError,
    available_backends,
    check_options,
    get_backend,
    open_session,
    solve,
)
from solvers.backends.highs import HighsSession
from solvers.program.errors import check_tolerance

PROGRAM = Program([-1, -2], [[1, 1], [1, 3]], -np.inf, [4, 6])


def lying(error):
    """Return a HiGHS solve that moves the point by `error` and still says optimal."""
    honest = HighsSession.solve

    def solve_and_lie(self, **arguments):
        found = honest(self, **arguments)
        return replace(found, x=found.x + error)

    return solve_and_lie


def test_a_backend_that_lies_is_downgraded(monkeypatch, caplog):
    """A claimed optimum that violates a row becomes inaccurate, with a warning in the log."""
    monkeypatch.setattr(HighsSession, "solve", lying(1e-3))
    with caplog.at_level(logging.INFO, logger="solvers"):
        found = solve(PROGRAM, "highs")
    assert found.status is Status.INACCURATE
    assert "primal residual" in caplog.text


def test_the_check_follows_the_tolerance_asked_for(monkeypatch):
    """What is too far for the default is fine for a caller who asked for less."""
    monkeypatch.setattr(HighsSession, "solve", lying(1e-5))
    assert solve(PROGRAM, "highs").status is Status.INACCURATE
    assert solve(PROGRAM, "highs", tol=1e-4).status is Status.OPTIMAL


def test_check_tolerances():
    """1e-6 by default, ten times the tolerance asked for, never below rounding errors."""
    assert check_tolerance(None) == 1e-6
    assert check_tolerance(1e-8) == pytest.approx(1e-7)
    assert check_tolerance(1e-14) == 1e-9


def test_a_solution_belongs_to_the_program_as_it_was():
    """Growing a session later does not change the residuals of an earlier solution."""
    from solvers import open_session

    session = open_session(PROGRAM, "highs")
    first = session.solve()
    session.add_rows([[1.0, 0.0]], -np.inf, 1.0)
    session.change_cost([0], 5.0)
    session.solve()
    assert first.program.n_rows == 2
    assert first.is_optimal(1e-9)


@pytest.mark.parametrize("solver", [name for name in available_backends() if name != "auto"])
def test_an_unknown_option_is_never_passed_over(solver):
    """Every backend refuses it in the check, whatever the native solver would do."""
    with pytest.raises(OptionError):
        check_options(solver, {"nonsense_option": 3})
    check_options(solver, {})
    check_options(solver, {"max_iterations": 5000} if "SCIPY" not in solver else {})


def test_options_of_one_solve():
    """They go to the backend; one that it refuses is an error, a limit is not."""
    options = {"solver": "ipm"}  # called as an argument of ours is
    assert solve(PROGRAM, "highs", options=options).objective == pytest.approx(-5.0)
    session = open_session(PROGRAM, "highs", options=options, presolve="off")
    assert session.solve().objective == pytest.approx(-5.0)
    with pytest.raises(OptionError, match="nonsense"):
        solve(PROGRAM, "highs", options={"nonsense": 1})
    check_options("highs", {"max_iterations": 0})


def test_a_solver_that_fails_for_its_options(monkeypatch):
    """A failure that only the options bring about is theirs; one without them stays what it is."""
    with pytest.raises(OptionError, match="scipy rejects the options .*'time_limit'"):
        check_options("scipy", {"time_limit": "x"})

    def failing(self, **arguments):
        raise SolverFailure("broken", backend="highs")

    monkeypatch.setattr(HighsSession, "solve", failing)
    assert get_backend("highs").is_installed
    with pytest.raises(SolverFailure, match="broken"):
        check_options("highs", {})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gurobi", "cvxpy:GUROBI"),
        ("MOSEK", "cvxpy:MOSEK"),
        ("Scs", "cvxpy:SCS"),
        ("cplex", "cvxpy:CPLEX"),
        ("cvxpy", "cvxpy:SCS"),
        ("HiGHS", "highs"),
        ("clarabell", "clarabel"),
    ],
)
def test_the_name_that_was_meant(name, meant):
    """Solvers of CVXPY go by their prefix, others by small letters: the message has the name."""
    with pytest.raises(UnknownSolverError, match=f"{name!r}; did you mean '{meant}'"):
        get_backend(name)
