"""The door to CVXPY's solvers."""

import numpy as np
import pytest

from solvers import LimitError, OptionError, Program, Status, get_backend, open_session, solve
from tests.solvers.problems import master

cvxpy = pytest.importorskip("cvxpy")

CLASSES = {"lp", "qp", "mip"}


def test_names_are_those_cvxpy_has_installed():
    """Every installed solver has a name here, in either case."""
    for name in cvxpy.installed_solvers():
        assert get_backend(f"cvxpy:{name}").name == f"cvxpy:{name}"
        assert get_backend(f"cvxpy:{name.lower()}").name == f"cvxpy:{name}"


def test_capabilities_come_from_cvxpys_tables():
    """Interior point and first-order solvers do quadratic, SciPy does integer programs."""
    assert get_backend("cvxpy:CLARABEL").capabilities & CLASSES == {"lp", "qp"}
    assert get_backend("cvxpy:SCIPY").capabilities & CLASSES == {"lp", "mip"}


@pytest.mark.parametrize("name", ["SCS", "OSQP"])
def test_first_order_solvers_are_tight_enough_for_duals(name):
    """With CVXPY's own defaults their duals would be good to 1e-3 only."""
    assert solve(master(15, 5), f"cvxpy:{name}").is_optimal(1e-5)


def test_the_named_solver_is_the_one_used():
    """CVXPY would choose an interior point method for a linear program; the name decides."""
    program = Program([-1, -2], [[1, 1], [1, 3]], -np.inf, [4, 6])
    assert solve(program, "cvxpy:SCIPY").x == pytest.approx([3.0, 1.0], abs=1e-12)


@pytest.mark.parametrize("name", ["HIGHS", "SCIPY", "PIQP"])
def test_an_optimum_of_another_problem_is_found_out(monkeypatch, name):
    """Where CVXPY passes false bounds on, its solver's "optimal" is not ours."""
    false = cvxpy.Variable(2, bounds=[[0.0, 1.0], [2.0, 1.0]])
    monkeypatch.setattr("solvers.backends.cvxpy.variable", lambda *_: false)
    program = Program([-2, -1], [[1, 1], [1, 3]], -np.inf, [4, 6])
    found = open_session(program, f"cvxpy:{name}", polish=False).solve()
    assert found.message == "optimal"
    assert found.objective == pytest.approx(-5.0, abs=1e-6)
    assert found.status is Status.INACCURATE


@pytest.mark.parametrize("name", ["CLARABEL", "OSQP", "PIQP"])
def test_an_iteration_limit_is_passed_on(name):
    """The common option is translated to each solver's own."""
    session = open_session(master(15, 5), f"cvxpy:{name}", max_iterations=2)
    with pytest.raises(LimitError):
        session.solve()


def test_a_limit_that_cannot_be_set_is_refused():
    """Rather than silently ignored."""
    with pytest.raises(OptionError, match="SCIPY"):
        open_session(Program([1.0]), "cvxpy:SCIPY", max_iterations=3).solve()
