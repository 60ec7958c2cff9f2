"""What is particular about single backends: "auto", CVXPY's, DAQP, OSQP, Clarabel and PIQP."""

import sys
from dataclasses import replace
from itertools import chain, repeat
from types import SimpleNamespace

import numpy as np
import pytest

from solvers import (
    InfeasibleError,
    LimitError,
    MissingBackendError,
    OptionError,
    Program,
    Status,
    get_backend,
    open_session,
    solve,
)
from solvers.backends import auto
from solvers.program.status import UnsupportedProblemError
from solvers.sessions.engine import Answer
from tests.solvers.problems import dense_program, master

cvxpy = pytest.importorskip("cvxpy")

CLASSES = {"lp", "qp", "mip"}
PROGRAM = Program([-1, -2], [[1, 1], [1, 3]], -np.inf, [4, 6])


# ---------------------------------------------------------------------- auto


def test_auto_goes_by_the_class_of_the_program(monkeypatch):
    """HiGHS for linear and integer ones; PIQP, Clarabel without it; never a first-order one."""
    assert solve(Program([1.0])).backend == "highs"
    assert solve(Program([1.0], upper=3, integrality=True)).backend == "highs"
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


# ---------------------------------------------------------------------- CVXPY's


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


def test_a_limit_that_cannot_be_set_is_refused():
    """Rather than silently ignored."""
    with pytest.raises(OptionError, match="SCIPY"):
        open_session(Program([1.0]), "cvxpy:SCIPY", max_iterations=3).solve()


# ---------------------------------------------------------------------- DAQP


def dense(n: int, m: int, *, quadratic: bool = True) -> Program:
    """A program with a box around 0, so that it is feasible."""
    rng = np.random.default_rng(1)
    curvature = np.ones(n) if quadratic else None
    return Program(rng.normal(size=n), rng.normal(size=(m, n)), -1, 1, -1, 1, curvature)


@pytest.mark.parametrize("quadratic", [False, True])
def test_it_goes_on_from_the_last_solution(quadratic: bool) -> None:
    """After a small change a session needs fewer iterations than a program from nothing."""
    session = open_session(dense(40, 60, quadratic=quadratic), "daqp")
    session.solve()
    for j in range(5):
        session.change_cost([j], session.program.cost[j] + 0.01)
        warm, cold = session.solve(), solve(session.program, "daqp")
        assert warm.iterations < cold.iterations
        assert warm.objective == pytest.approx(cold.objective, abs=1e-9)


def test_a_start_survives_what_is_removed() -> None:
    """Where rows and columns of the last solution are gone, the optimum is still that of HiGHS."""
    session = open_session(dense(40, 60, quadratic=False), "daqp")
    for _ in range(5):
        session.solve()
        session.remove_columns([7, 3])
        session.remove_rows([0, 11])
    assert session.solve().objective == pytest.approx(solve(session.program, "highs").objective)


@pytest.mark.parametrize("quadratic", [None, [1.0, 1.0]])
def test_equations_of_daqp_may_depend_on_each_other(quadratic: list[float] | None) -> None:
    """One that is there twice is no obstacle, two that contradict each other are infeasible."""
    twice = Program([1, 0], [[1, 1], [1, 1]], [1, 1], [1, 1], -5, 5, quadratic)
    assert solve(twice, "daqp").is_optimal(1e-8)
    against = Program([1, 0], [[1, 1], [1, 1]], [1, 2], [1, 2], -5, 5, quadratic)
    with pytest.raises(InfeasibleError):
        solve(against, "daqp")


def test_a_long_solve_keeps_to_its_time() -> None:
    """DAQP looks at the clock every few iterations, which a program of some size needs."""
    with pytest.raises(LimitError, match="time limit"):
        open_session(dense(300, 400), "daqp").solve(time_limit=1e-6)


# ---------------------------------------------------------------------- OSQP


def test_polishing_is_on_and_reported():
    """The words say whether polishing succeeded, and the duals are then exact."""
    found = solve(master(20, 10), "osqp")
    assert "status_polish 1" in found.message
    assert found.duality_gap < 1e-10
    plain = open_session(master(20, 10), "osqp", polishing=False).solve()
    assert "status_polish 1" not in plain.message


def test_fillers_are_not_read_as_a_point():
    """An infeasible problem has no point, where OSQP has 2143289344 in every entry."""
    with pytest.raises(InfeasibleError) as caught:
        solve(Program([1, 1], [[1, 1]], 3, np.inf, 0, 1, [1, 1]), "osqp")
    assert not hasattr(caught.value, "solution")


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


# ---------------------------------------------------------------------- options


@pytest.mark.parametrize("solver", ["clarabel", "piqp", "osqp", "daqp"])
def test_unknown_options_are_errors(solver):
    """A misspelt setting, or a value of the wrong type, is refused by name or in its words."""
    wrong = {"no_such_option": 1, "primal_tol" if solver == "daqp" else "max_iter": "many"}
    for name, value in wrong.items():
        with pytest.raises(OptionError, match=f"{name}|many"):
            open_session(PROGRAM, solver, **{name: value}).solve()


@pytest.mark.parametrize(
    ("solver", "option"),
    [
        *(("clarabel", "max_iter"), ("piqp", "max_iter"), ("daqp", "iter_limit")),
        *((f"cvxpy:{name}", "max_iterations") for name in ("CLARABEL", "OSQP", "PIQP")),
    ],
)
def test_own_options_reach_the_solver(solver, option):
    """An iteration limit under the solver's own name, and CVXPY's under the common one."""
    with pytest.raises(LimitError):
        open_session(dense(40, 60), solver, **{option: 2}).solve()


@pytest.mark.parametrize("name", ["dense_cholesky", "sparse_ldlt", "sparse_multistage"])
def test_the_class_of_piqp_follows_the_solver_of_equations(name):
    """A small program is dense, but not to somebody who asks for a sparse factorization."""
    piqp = pytest.importorskip("piqp")
    found = solve(PROGRAM, "piqp", options={"kkt_solver": getattr(piqp, name)})
    assert found.objective == pytest.approx(-5.0, abs=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_piqp_is_the_same_dense_and_sparse(sparse, monkeypatch):
    """Both of PIQP's solvers give the same answer and duals."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(30, 60)) * (rng.random((30, 60)) < 0.2)
    program = Program(rng.normal(size=60), matrix, -1, 1, -1, 1, rng.random(60))
    monkeypatch.setattr("solvers.backends.piqp.DENSE_FILL", 2.0 if sparse else 0.0)
    found = solve(program, "piqp")
    assert found.objective == pytest.approx(solve(program, "clarabel").objective, abs=1e-6)
    assert found.row_duals == pytest.approx(solve(program, "clarabel").row_duals, abs=1e-5)
