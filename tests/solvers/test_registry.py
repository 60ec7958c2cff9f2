"""`solvers.api`: names, capabilities, and what is missing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from solvers import (
    MissingBackendError,
    Program,
    UnknownSolverError,
    UnsupportedProblemError,
    available_backends,
    get_backend,
    open_session,
    solve,
)
from solvers.api import BACKENDS

QUADRATIC = Program([1.0], quadratic=[1.0])


def test_unknown_names_list_the_known_ones():
    """A typo is answered with the names there are."""
    with pytest.raises(UnknownSolverError, match=r"'higs'.*auto, highs, clarabel.*cvxpy:NAME"):
        solve(Program([1.0]), "higs")
    with pytest.raises(UnknownSolverError, match=r"'NOPE'.*cvxpy:CLARABEL"):
        get_backend("cvxpy:NOPE")
    with pytest.raises(UnknownSolverError, match=r"'HIGHS'; did you mean 'highs'\? Known are"):
        get_backend("HIGHS")
    with pytest.raises(UnknownSolverError, match=r"'nonesuch'; known are"):
        get_backend("nonesuch")
    assert issubclass(UnknownSolverError, ValueError)


def test_an_unsupported_problem_names_those_that_can():
    """The message names the class, the backend and the alternatives."""
    with pytest.raises(
        UnsupportedProblemError, match=r"highs does not solve a quadratic program.*clarabel"
    ):
        open_session(QUADRATIC, "highs")
    with pytest.raises(UnsupportedProblemError, match=r"mixed-integer linear.*highs, scipy"):
        open_session(Program([1.0], integrality=True), "osqp")


@pytest.mark.parametrize("kind", ["lp", "qp", "mip"])
def test_availability_by_problem_class(kind):
    """Listed are exactly the backends that declare the capability."""
    names = available_backends(kind)
    assert names
    assert set(names) == {n for n in available_backends() if kind in get_backend(n).capabilities}


def test_highs_is_not_offered_for_quadratic_programs():
    """HiGHS's quadratic solver hangs on small problems, so neither door leads to it."""
    assert not {"highs", "cvxpy:HIGHS", "scipy"} & set(available_backends("qp"))


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
    page = (Path(__file__).parents[2] / "docs/user_guide/solvers.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| `(\w+)` \| ((?:LP|QP|MIP)(?:, (?:LP|QP|MIP))*) \|", page, re.M))
    kinds = ("lp", "qp", "mip")
    declared = {
        name: ", ".join(k.upper() for k in kinds if k in get_backend(name).capabilities)
        for name in ("auto", *BACKENDS)
    }
    assert table == declared
