"""`solvers.api`: names, capabilities, options, and answers checked whatever a backend claims."""

import logging
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from solvers import (
    MissingBackendError,
    OptionError,
    Program,
    SolverFailure,
    Status,
    UnknownSolverError,
    UnsupportedProblemError,
    available_backends,
    check_options,
    get_backend,
    open_session,
    solve,
)
from solvers.api import BACKENDS
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
    """1e-6 by default, ten times what was asked for, never below rounding errors."""
    assert check_tolerance(None) == 1e-6
    assert check_tolerance(1e-8) == pytest.approx(1e-7)
    assert check_tolerance(1e-14) == 1e-9
    monkeypatch.setattr(HighsSession, "solve", lying(1e-5))
    assert solve(PROGRAM, "highs").status is Status.INACCURATE
    assert solve(PROGRAM, "highs", tol=1e-4).status is Status.OPTIMAL


def test_a_solution_belongs_to_the_program_as_it_was():
    """Growing a session later does not change the residuals of an earlier solution."""
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
    limited = not any(own in solver for own in ("SCIPY", "GLOP", "PDLP"))  # no such option
    check_options(solver, {"max_iterations": 5000} if limited else {})


@pytest.mark.parametrize("wrong", [{"methd": "highs"}, {"method": "highs", "nonsense": 3}])
def test_an_option_within_the_options_of_scipy(wrong):
    """CVXPY passes them on in a dictionary, of which SciPy only warns: here it is an error."""
    with pytest.raises(OptionError, match="methd|nonsense"):
        solve(PROGRAM, "cvxpy:SCIPY", options={"scipy_options": wrong})


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
    ("name", "words"),
    [
        ("Scs", r"'Scs'; did you mean 'cvxpy:SCS'\? Known"),
        ("cvxpy", "'cvxpy'; did you mean 'cvxpy:SCS'"),
        ("HiGHS", "'HiGHS'; did you mean 'highs'"),
        ("HIGHS", r"'HIGHS'; did you mean 'highs'\? Known are"),
        ("clarabell", "'clarabell'; did you mean 'clarabel'"),
        ("higs", "'higs'.*auto, highs, clarabel.*cvxpy:NAME"),
        ("cvxpy:NOPE", "'NOPE'.*cvxpy:CLARABEL"),
        ("nonesuch", "'nonesuch'; known are"),
    ],
)
def test_unknown_names(name, words):
    """The message has the name that was meant, or those that there are; it is a ValueError."""
    with pytest.raises(UnknownSolverError, match=words) as caught:
        solve(PROGRAM, name)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("name", ["gurobi", "MOSEK", "cplex", "scs"])
def test_a_solver_that_is_meant_and_not_installed_is_called_that(name):
    """Nobody is sent to a name that is refused in its turn without being told."""
    meant = f"cvxpy:{name.upper()}"
    with pytest.raises(UnknownSolverError, match=meant) as caught:
        solve(PROGRAM, name)
    is_there = meant in available_backends()
    assert (f"{meant}', which is not installed?" in str(caught.value)) is not is_there


def test_availability_by_problem_class():
    """Listed are exactly the backends that declare the class; for others the error names those.

    HiGHS's quadratic solver hangs on small problems, so neither door leads to it.
    """
    for kind in ("lp", "qp", "mip"):
        names = available_backends(kind)
        assert names
        able = {n for n in available_backends() if kind in get_backend(n).capabilities}
        assert set(names) == able
    assert not {"highs", "cvxpy:HIGHS", "scipy"} & set(available_backends("qp"))
    with pytest.raises(UnsupportedProblemError, match=r"highs does not .* quadratic .*clarabel"):
        open_session(Program([1.0], quadratic=[1.0]), "highs")
    with pytest.raises(UnsupportedProblemError, match=r"mixed-integer linear.*highs, scipy"):
        open_session(Program([1.0], integrality=True), "osqp")


PACKAGES = {name: backend.package for name, backend in BACKENDS.items() if name != "scipy"}
"""What each backend drives; without SciPy there is no solver package at all."""


@pytest.mark.parametrize("name", PACKAGES)
def test_a_missing_package_is_reported_and_not_listed(name, monkeypatch):
    """Without its package a backend is not available and says how to install it."""
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    assert name not in available_backends()
    with pytest.raises(MissingBackendError, match=f"pip install {PACKAGES[name]}"):
        open_session(Program([1.0]), name)


def test_a_missing_cvxpy_is_reported(monkeypatch):
    """Without CVXPY its door is closed, and says how to open it."""
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    assert not [name for name in available_backends() if name.startswith("cvxpy")]
    with pytest.raises(MissingBackendError, match="pip install cvxpy"):
        get_backend("cvxpy:CLARABEL")


def test_importing_the_package_loads_no_solver():
    """`import solvers` costs NumPy and scipy.sparse only; nor does a HiGHS solve load CVXPY."""
    packages = {"cvxpy", *PACKAGES.values()}
    code = f"""
import sys
import solvers
heavy = {packages} | {{"scipy.optimize", "cgboost"}}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
solvers.solve(solvers.Program([1.0], [[1.0]], 1.0))
assert not {packages - {"highspy"}} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_guide_says_what_backends_declare():
    """The table of backends has the classes of problems that each one declares, and no others."""
    page = (Path(__file__).parents[2] / "docs/development/solvers.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| `(\w+)` \| ((?:LP|QP|MIP)(?:, (?:LP|QP|MIP))*) \|", page, re.M))
    kinds = ("lp", "qp", "mip")
    declared = {
        name: ", ".join(k.upper() for k in kinds if k in get_backend(name).capabilities)
        for name in ("auto", *BACKENDS)
    }
    assert table == declared
