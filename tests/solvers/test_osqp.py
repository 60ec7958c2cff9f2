"""OSQP: tolerances, polishing, warm starts, and the caller's arrays."""

import numpy as np
import pytest
import scipy.sparse as sp

from solvers import InfeasibleError, OptionError, Program, open_session, solve
from tests.solvers.problems import master


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


def test_a_warm_start_takes_fewer_iterations():
    """Solving again after a small change starts from the last point."""
    session = open_session(master(40, 20), "osqp")
    cold = session.solve().iterations
    session.change_cost([0], session.program.cost[0] * 1.001)
    assert session.solve().iterations < cold


def test_a_warm_start_survives_new_columns_and_rows():
    """The last point is padded, not thrown away and not misaligned."""
    whole = master(40, 20)
    session = open_session(whole, "osqp", eliminate=False)
    cold = session.solve().iterations
    session.add_columns([0.0], sp.csr_array((21, 1)), lower=-np.inf, quadratic=[1.0])
    session.add_rows(np.eye(1, 61, 60), 0.0, 0.0)
    session.remove_rows([21])
    session.remove_columns([60])
    assert session.solve().iterations < cold


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
