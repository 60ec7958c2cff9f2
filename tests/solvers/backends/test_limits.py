"""Conformance: iteration and time limits of every backend."""

import pytest

from solvers import LimitError, OptionError, Status, open_session, solve
from tests.solvers.problems import ALL, dense_linear_program


@pytest.mark.parametrize("solver", ALL)
def test_an_iteration_limit_raises_with_the_last_point(solver):
    """A limit is an error of its own type, never a solution that looks like one."""
    session = open_session(dense_linear_program(), solver, max_iterations=1)
    if solver == "cvxpy:SCIPY":  # rather than ignored
        with pytest.raises(OptionError, match="not known here"):
            session.solve()
        return
    with pytest.raises(LimitError, match="iteration limit") as caught:
        session.solve()
    assert caught.value.status is Status.ITERATION_LIMIT
    last = caught.value.solution
    assert last is None or (last.x.shape == (40,) and last.status is Status.ITERATION_LIMIT)


NO_TIME_LIMIT = {"piqp", "cvxpy:PIQP", "cvxpy:SCIPY"}


@pytest.mark.parametrize("solver", [name for name in ALL if name not in NO_TIME_LIMIT])
def test_after_a_time_limit_the_session_solves_on(solver):
    """A limit belongs to one solve; the next one is not affected (HiGHS counts over its life)."""
    session = open_session(dense_linear_program(), solver)
    for _ in range(2):
        with pytest.raises(LimitError, match="time limit") as caught:
            session.solve(time_limit=1e-9)
        assert caught.value.status is Status.TIME_LIMIT
    expected = solve(dense_linear_program(), "highs").objective
    assert session.solve(time_limit=100.0).objective == pytest.approx(expected, abs=1e-5)
    assert session.solve().objective == pytest.approx(expected, abs=1e-5)


def test_a_time_limit_that_cannot_be_kept_is_no_secret(caplog):
    """PIQP has none, which is logged; CVXPY's solvers without one refuse it."""
    caplog.set_level("INFO", "solvers")
    solve(dense_linear_program(), "piqp", time_limit=1e-9)
    assert "piqp has no time limit" in caplog.text
    for solver in ("cvxpy:PIQP", "cvxpy:SCIPY"):
        with pytest.raises(OptionError, match="not known here"):
            solve(dense_linear_program(), solver, time_limit=1e-9)
