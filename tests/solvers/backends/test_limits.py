"""Conformance: iteration and time limits of every backend."""

import numpy as np
import pytest

from solvers import LimitError, OptionError, Status, open_session, solve
from solvers.backends import piqp
from tests.solvers.problems import ALL, can, continuous, dense_program


@pytest.mark.parametrize("solver", ALL)
def test_an_iteration_limit_raises_with_the_last_point(solver):
    """A limit is an error of its own type, never a solution that looks like one.

    A solver of CVXPY's without one refuses it.
    """
    session = open_session(dense_program(continuous(solver)), solver, max_iterations=1)
    with pytest.raises((LimitError, OptionError), match="iteration limit|not known here") as caught:
        session.solve()
    if isinstance(caught.value, OptionError):
        return
    assert caught.value.status is Status.ITERATION_LIMIT
    last = caught.value.solution
    assert last is None or (last.x.shape == (40,) and last.status is Status.ITERATION_LIMIT)


@pytest.mark.parametrize("solver", [name for name in ALL if can(name, "time-limit")])
def test_after_a_time_limit_the_session_solves_on(solver):
    """A limit belongs to one solve; the next one is not affected (HiGHS counts over its life)."""
    program = dense_program(continuous(solver))
    session = open_session(program, solver)
    for _ in range(2):
        with pytest.raises(LimitError, match="time limit") as caught:
            session.solve(time_limit=1e-9)
        assert caught.value.status is Status.TIME_LIMIT
    expected = solve(program).objective
    assert session.solve(time_limit=100.0).objective == pytest.approx(expected, abs=1e-5)
    assert session.solve().objective == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("solver", [name for name in ALL if not can(name, "time-limit")])
def test_a_time_limit_that_cannot_be_kept_is_no_secret(solver, caplog):
    """It is logged together with the backend's name, or kept this time."""
    caplog.set_level("INFO", "solvers")
    words = ""
    try:
        solve(dense_program(continuous(solver)), solver, time_limit=1e-9)
    except LimitError as error:
        words = str(error)
    logged = any(solver in line and "time limit" in line for line in caplog.messages)
    assert logged or "time limit" in words


@pytest.mark.parametrize("solver", ALL)
@pytest.mark.parametrize("seconds", [100, np.inf])
def test_a_time_limit_that_is_not_reached_changes_nothing(solver, seconds):
    """Whether the solver knows time limits or not: who sets one need not know which do."""
    program = dense_program(continuous(solver))
    found = solve(program, solver, time_limit=seconds)
    assert found.objective == pytest.approx(solve(program, solver).objective, abs=1e-5)


def test_a_process_of_piqp_is_ended_at_the_time_limit(monkeypatch):
    """A large program has the same answer there, and a limit that is kept."""
    monkeypatch.setattr(piqp, "LARGE_PROGRAM", 1)
    program = dense_program("qp")
    alone, apart = solve(program, "piqp"), solve(program, "piqp", time_limit=100.0)
    np.testing.assert_array_equal(alone.x, apart.x)
    with pytest.raises(LimitError, match="its process was ended at the time limit") as caught:
        solve(program, "piqp", time_limit=1e-3)
    assert caught.value.status is Status.TIME_LIMIT
