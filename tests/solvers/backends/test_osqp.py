"""OSQP: tolerances, polishing, warm starts, and the caller's arrays."""

from itertools import chain, repeat
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from solvers import InfeasibleError, LimitError, OptionError, Program, Status, open_session, solve
from tests.solvers.problems import dense_program, master


def test_the_callers_arrays_are_not_overwritten():
    """OSQP writes into what it is given; it is given copies."""
    arrays = {
        "cost": np.array([-2.0, -6.0]),
        "matrix": sp.csr_array([[1.0, 1.0]]),
        "row_lower": np.array([-1e30]),
        "row_upper": np.array([3.0]),
        "lower": np.zeros(2),
        "upper": np.array([1e30, 5.0]),
        "quadratic": sp.csc_array([[2.0, 0.5], [0.5, 2.0]]),
    }
    before = {name: value.copy() for name, value in arrays.items()}
    session = open_session(Program(**arrays), "osqp")
    session.solve()
    session.change_cost([0], -3.0)
    session.solve()
    for name, value in arrays.items():
        assert abs(value - before[name]).max() == 0 or np.array_equal(value, before[name])


def test_the_whole_matrix_p_counts():
    """A lower triangle would be silently ignored: the off-diagonal changes the answer."""
    coupled = Program([-1, -1], lower=-np.inf, quadratic=[[2.0, 1.0], [1.0, 2.0]])
    assert solve(coupled, "osqp").x == pytest.approx([1 / 3, 1 / 3], abs=1e-6)


def test_polishing_is_on_and_reported():
    """The words say whether polishing succeeded, and the duals are then exact."""
    found = solve(master(20, 10), "osqp")
    assert "status_polish 1" in found.message
    assert found.duality_gap < 1e-10
    plain = open_session(master(20, 10), "osqp", polishing=False).solve()
    assert "status_polish 1" not in plain.message


def test_nothing_is_printed(capfd):
    """With no active row OSQP's polishing would print, whatever `verbose` says."""
    solve(Program([-1.0], lower=-5, upper=5, quadratic=[1.0]), "osqp")
    assert capfd.readouterr().out == ""


def test_fillers_are_not_read_as_a_point():
    """An infeasible problem has no point, where OSQP has 2143289344 in every entry."""
    with pytest.raises(InfeasibleError) as caught:
        solve(Program([1, 1], [[1, 1]], 3, np.inf, 0, 1, [1, 1]), "osqp")
    assert not hasattr(caught.value, "solution")


def test_an_unknown_option_is_an_error():
    """A misspelt setting is refused by name."""
    with pytest.raises(OptionError, match="no_such_option"):
        open_session(Program([1.0]), "osqp", no_such_option=1).solve()


def few_iterations(monkeypatch, first, more):
    """Make OSQP's first and second solve as short as that."""
    monkeypatch.setattr("solvers.backends.osqp.MAX_ITERATIONS", first)
    monkeypatch.setattr("solvers.backends.osqp.MORE_ITERATIONS", more)


def test_a_time_limit_replaces_the_iteration_limit(monkeypatch):
    """Without a time limit both solves are cut short; with one the second runs until it is done."""
    few_iterations(monkeypatch, 25, 50)
    with pytest.raises(LimitError, match="iteration limit") as caught:
        solve(dense_program(), "osqp")
    assert caught.value.solution.iterations == 75
    found = solve(dense_program(), "osqp", time_limit=600.0)
    assert found.status is Status.OPTIMAL
    assert found.iterations > 75


def test_only_the_time_limit_ends_a_solve_that_gets_nowhere(monkeypatch):
    """A tolerance below rounding is never met: the last point comes with the limit's name."""
    few_iterations(monkeypatch, 25, 50)
    with pytest.raises(LimitError, match="time limit") as caught:
        solve(dense_program(), "osqp", tol=1e-30, time_limit=0.5)
    assert caught.value.status is Status.TIME_LIMIT
    assert caught.value.solution.x.shape == (40,)


def test_every_call_is_given_the_time_that_is_left(monkeypatch):
    """Where the first call used it up, the second has none, and a doubtful answer is kept."""
    few_iterations(monkeypatch, 200, 200)
    clock = chain([0.0, 0.0], repeat(100.0))  # the start, the first call, the second call
    monkeypatch.setattr(
        "solvers.backends.osqp.time", SimpleNamespace(perf_counter=lambda: next(clock))
    )
    session = open_session(master(40, 20), "osqp", eliminate=False, polish=False)
    found = session.solve(time_limit=99.0)
    assert found.status is Status.INACCURATE
    assert found.message.startswith("solved inaccurate")
    assert 200 <= found.iterations <= 225


@pytest.mark.parametrize("option", ["max_iterations", "max_iter"])
def test_an_iteration_limit_that_was_asked_for_holds(option):
    """Under either name it is final, with a time limit or without."""
    session = open_session(dense_program(), "osqp", **{option: 30})
    for limit in (None, 600.0):
        with pytest.raises(LimitError, match="iteration limit") as caught:
            session.solve(time_limit=limit)
        assert caught.value.solution.iterations == 30
