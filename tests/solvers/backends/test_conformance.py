"""Conformance: every backend on every known problem, by what it declares that it can do.

Asserted are the conditions of optimality, not stored points: degenerate problems have several.
"""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from solvers import (
    Backend,
    InfeasibleError,
    LimitError,
    OptionError,
    Program,
    ProgramError,
    Session,
    SolverFailure,
    Status,
    get_backend,
    open_session,
    solve,
)
from solvers.backends import piqp
from tests.effort import examples
from tests.solvers.problems import (
    ALL,
    BY_CLASS,
    FULL_P,
    INTEGER,
    LINEAR,
    NATIVE,
    QUADRATIC,
    UNSOLVABLE,
    UNSOLVABLE_INTEGER,
    UNSOLVABLE_QUADRATIC,
    Case,
    can,
    continuous,
    dense_program,
)

ACCURACY = 1e-5

CAPABILITIES = {
    *("lp", "qp", "mip"),
    *("warm-start", "add-columns", "time-limit", "certificates", "exact"),
}


def pairs(cases, solvers):
    """Return every case with every solver, named."""
    return [pytest.param(c, s, id=f"{c}-{s}") for c in cases for s in solvers]


CONTINUOUS = pairs(LINEAR, BY_CLASS["lp"]) + pairs(QUADRATIC, BY_CLASS["qp"])
HAS_UNIQUE_DUALS = [pair for pair in CONTINUOUS if pair.values[0].has_unique_duals]
HOPELESS = (
    pairs(UNSOLVABLE, BY_CLASS["lp"])
    + pairs(UNSOLVABLE_QUADRATIC, BY_CLASS["qp"])
    + pairs(UNSOLVABLE_INTEGER, BY_CLASS["mip"])
)


@pytest.mark.parametrize(("case", "solver"), CONTINUOUS)
def test_known_optimum(case: Case, solver):
    """Status, value, feasibility and stationarity are right, and complementarity row by row.

    A dual is positive only at its lower and negative only at its upper bound.
    """
    program, found = case.program, solve(case.program, solver)
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(case.objective, abs=ACCURACY)
    assert found.objective == pytest.approx(program.objective_value(found.x), abs=1e-9)
    assert found.primal_residual <= 1e-6
    assert found.dual_residual <= 1e-6
    assert found.duality_gap <= 1e-6
    rows = program.matrix @ found.x
    for duals, value, lower, upper in (
        (found.row_duals, rows, program.row_lower, program.row_upper),
        (found.reduced_costs, found.x, program.lower, program.upper),
    ):
        assert np.minimum(np.maximum(duals, 0), value - lower).max(initial=0) <= 2e-4
        assert np.minimum(np.maximum(-duals, 0), upper - value).max(initial=0) <= 2e-4


def slope(program, solver, move, at, low, high):
    """Return the change of the optimum with the bounds, by central differences."""
    h, values = 1e-3, []
    for step in (h, -h):
        session = open_session(program, solver)
        getattr(session, move)([at], low + step, high + step)
        values.append(session.solve().objective)
    return (values[0] - values[1]) / (2 * h)


@pytest.mark.parametrize(("case", "solver"), HAS_UNIQUE_DUALS)
def test_duals_are_derivatives_of_the_optimum(case: Case, solver):
    """Moving an active bound of a row or a variable changes the optimum by dual times little."""
    program, found = case.program, solve(case.program, solver)
    for i, dual in enumerate(found.row_duals):
        bounds = program.row_lower[i], program.row_upper[i]
        assert dual == pytest.approx(
            slope(program, solver, "change_row_bounds", i, *bounds), abs=2e-3
        )
    for j, reduced_cost in enumerate(found.reduced_costs):
        bounds = program.lower[j], program.upper[j]
        if abs(reduced_cost) < 1e-3 and np.abs(found.x[j] - bounds).min() < 1e-3:
            continue  # at a bound that does not push: the optimum has a kink there
        expected = slope(program, solver, "change_column_bounds", j, *bounds)
        assert reduced_cost == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize(("case", "solver"), pairs(INTEGER, BY_CLASS["mip"]))
def test_integer_optimum(case: Case, solver):
    """Integer programs reach their value at an integer point and have no duals."""
    found = solve(case.program, solver)
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(case.objective, abs=ACCURACY)
    assert found.primal_residual <= 1e-6
    assert np.isnan(found.row_duals).all()
    assert np.isnan(found.reduced_costs).all()


@pytest.mark.parametrize(("case", "solver"), HOPELESS)
def test_no_answer_raises_the_right_error(case: Case, solver):
    """Infeasible and unbounded are told apart, with the backend's own words.

    A backend without certificates may end in a limit or a failure instead.
    """
    allowed = case.errors
    if not can(solver, "certificates"):
        allowed = (*allowed, LimitError, SolverFailure)
    with pytest.raises(allowed) as caught:
        solve(case.program, solver)
    assert caught.value.words
    assert caught.value.backend
    assert caught.value.status not in {Status.OPTIMAL, Status.INACCURATE}


def known_optimum(seed, n, m, kind):
    """Return a program built around a chosen optimal point, and its value."""
    rng = np.random.default_rng(seed)
    x, y, d = rng.normal(size=n), rng.normal(size=m), rng.normal(size=n)
    y[rng.random(m) < 0.3], d[rng.random(n) < 0.5] = 0.0, 0.0
    matrix = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.6)
    root = rng.normal(size=(n, max(1, n // 2)))
    quadratic = {"lp": None, "diagonal": rng.random(n), "matrix": root @ root.T}[kind]
    shape = Program(np.zeros(n), matrix, quadratic=quadratic)
    cost = matrix.T @ y + d - shape.curvature(x)

    def sides(duals, values):
        gap = rng.random(values.size) + 0.1
        lower = np.where(duals > 0, values, values - gap)
        return lower, np.where(duals < 0, values, np.maximum(values + gap, lower))

    program = Program(cost, matrix, *sides(y, matrix @ x), *sides(d, x), quadratic)
    return program, program.objective_value(x)


@pytest.mark.parametrize("solver", NATIVE)
@settings(max_examples=examples(15))
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 8),
    m=st.integers(0, 6),
    kind=st.sampled_from(["lp", "diagonal", "matrix"]),
    is_sparse=st.booleans(),
)
def test_random_programs_with_a_planted_optimum(solver, seed, n, m, kind, is_sparse):
    """The planted value is found.

    A first-order method may run into its limit, or call a feasible set of a single point empty.
    """
    if not can(solver, "qp"):
        kind = "lp"
    elif not can(solver, "lp") and kind == "lp":
        kind = "matrix"
    program, value = known_optimum(seed, n, m, kind)
    if is_sparse:
        program = replace(program, matrix=sp.csc_array(program.matrix))
    try:
        found = solve(program, solver)
    except (LimitError, InfeasibleError):
        assert not can(solver, "exact")
        reject()
    if found.status is Status.OPTIMAL or can(solver, "exact"):
        assert found.objective == pytest.approx(value, abs=1e-5 * (1 + abs(value)))


@pytest.mark.parametrize("solver", ALL)
def test_backends_follow_the_protocol(solver):
    """Every backend names itself, declares what it can, opens sessions, and minds a tolerance."""
    backend = get_backend(solver)
    assert isinstance(backend, Backend)
    assert backend.name == solver
    assert backend.capabilities <= CAPABILITIES
    assert backend.capabilities & {"lp", "qp"}
    assert backend.is_installed
    program = known_optimum(1, 8, 6, {"lp": "lp", "qp": "matrix"}[continuous(solver)])[0]
    session = open_session(program, solver)
    assert isinstance(session, Session)
    loose = session.solve(tol=1e-3).iterations
    assert loose <= open_session(program, solver).solve(tol=1e-8).iterations


@pytest.mark.parametrize("solver", NATIVE)
def test_the_callers_arrays_are_not_overwritten(solver):
    """Nor is anything else that a program was made of, at a solve and at an update."""
    kind = continuous(solver, prefer="qp")
    arrays = {
        "cost": np.array([-2.0, -6.0]),
        "matrix": sp.csr_array([[1.0, 1.0]]),
        "row_lower": np.array([-1e30]),
        "row_upper": np.array([3.0]),
        "lower": np.zeros(2),
        "upper": np.array([1e30, 5.0]),
    }
    if kind == "qp":
        arrays["quadratic"] = sp.csc_array([[2.0, 0.5], [0.5, 2.0]])
    before = {name: value.copy() for name, value in arrays.items()}
    session = open_session(Program(**arrays), solver)
    session.solve()
    session.change_cost([0], -3.0)
    session.solve()
    for name, value in arrays.items():
        assert abs(value - before[name]).max() == 0 or np.array_equal(value, before[name])


@pytest.mark.parametrize("solver", BY_CLASS["lp"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
def test_entries_stored_twice_are_added_up(solver, kind):
    """As SciPy means them, in programs, new rows and new columns; the user's matrix stays."""
    index, starts = ([0, 1, 0], [0, 3]) if kind is sp.csr_array else ([0, 0, 0], [0, 2, 3])
    data = [1.0, 1.0, 2.0] if kind is sp.csr_array else [1.0, 2.0, 1.0]
    matrix = kind((data, index, starts), shape=(1, 2))
    found = solve(Program([1.0, 2.0], matrix, 6.0, 6.0), solver)
    assert found.x == pytest.approx([2.0, 0.0], abs=1e-5)
    rows = open_session(Program([1.0, 2.0]), solver)
    rows.add_rows(matrix, 6.0, 6.0)
    assert rows.solve().objective == pytest.approx(2.0, abs=1e-5)
    columns = open_session(Program([9.0], [[1.0]], 6.0, 6.0), solver)
    columns.add_columns([1.0, 2.0], matrix)
    assert columns.solve().objective == pytest.approx(2.0, abs=1e-5)
    assert matrix.nnz == 3


FORMS_OF_P = {
    "rows of an array": FULL_P,
    "columns of an array": np.asfortranarray(FULL_P),
    "stored by rows": sp.csr_array(FULL_P),
    "a matrix stored by columns": sp.csc_matrix(FULL_P),
    "an entry in halves": sp.coo_array(
        ([3.0, 1.0, 0.5, 0.5, 1.0, 2.0], ([0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 1])), shape=(2, 2)
    ),
    "unsorted": sp.csc_array(([1.0, 4.0, 2.0, 1.0], [1, 0, 1, 0], [0, 2, 4])),
}
"""One P: solvers read it by columns, or its upper half, or take an entry that is there twice for
another."""


@pytest.mark.parametrize("solver", BY_CLASS["qp"])
@pytest.mark.parametrize("form", FORMS_OF_P)
def test_both_halves_of_p_count_however_they_are_stored(solver, form):
    """The optimum is that of the whole matrix."""
    program = Program([-1.0, -3.0], [[1.0, 1.0]], 1.0, 1.0, -np.inf, np.inf, FORMS_OF_P[form])
    assert solve(program, solver).x == pytest.approx([-0.25, 1.25], abs=1e-5)


@pytest.mark.parametrize("half", [np.triu, np.tril])
@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
def test_one_half_of_p_is_refused(half, kind):
    """Before any solver sees it: some read it as the whole, and some as half of it."""
    with pytest.raises(ProgramError, match="not symmetric.*give both"):
        Program([1.0, 1.0], quadratic=kind(half(FULL_P)))


@pytest.mark.parametrize(
    ("kind", "solver"), [(kind, solver) for kind in ("lp", "qp") for solver in BY_CLASS[kind]]
)
def test_a_warm_start_where_other_entries_are_nonzero(kind, solver):
    """Columns and rows are replaced by as many with another pattern: the last point fits no more.

    A solver that keeps the pattern of its first matrix would be wrong, or refuse.
    """
    rng = np.random.default_rng(3)
    curvature = np.ones(6) if kind == "qp" else None
    first = Program(rng.normal(size=6), sp.csr_array(np.eye(4, 6)), -1, 1, -2, 2, curvature)
    session = open_session(first, solver)
    for sparse in (False, True, True):
        session.solve()
        session.remove_columns([0, 3])
        session.remove_rows([1])
        block = rng.normal(size=(3, 2)) * (rng.random((3, 2)) < 0.7)
        own = None if curvature is None else [1.0, 0.5]
        session.add_columns(
            rng.normal(size=2),
            sp.csc_array(block) if sparse else block,
            lower=-2,
            upper=2,
            quadratic=own,
        )
        session.add_rows(sp.csr_array(np.eye(1, 6, 5)), -1, 1)
        warm, cold = session.solve(), solve(session.program, "auto")
        assert warm.objective == pytest.approx(cold.objective, abs=1e-5)
        assert warm.row_duals == pytest.approx(cold.row_duals, abs=1e-4)


@pytest.mark.parametrize("solver", ALL)
@pytest.mark.parametrize("gap", [0.5, 1e-9, 1e-15])
def test_bounds_that_cross_reach_no_solver(solver, gap):
    """By however little: to one that is infeasible, to another optimal, to a third the old bounds.

    The session goes on with what it had.
    """
    curvature = [1.0, 1.0] if continuous(solver) == "qp" else None
    with pytest.raises(ProgramError, match="leave no value in between"):
        Program([1.0, 1.0], [[1.0, 1.0]], 1.0, 1.0 - gap, quadratic=curvature)
    session = open_session(Program([1.0, 2.0], [[1.0, 1.0]], 1.0, 2.0, quadratic=curvature), solver)
    before = session.solve().objective
    for update in (session.change_row_bounds, session.change_column_bounds):
        with pytest.raises(ProgramError, match="leave no value in between"):
            update([0], 1.0, 1.0 - gap)
    assert session.solve().objective == pytest.approx(before, abs=1e-6)


UNKNOWN_METHODS = {
    "highs": {"solver": "hipp"},
    "clarabel": {"direct_solve_method": "pardiso-mkl"},
    "osqp": {"linsys_solver": "no such"},
    "piqp": {"kkt_solver": "no such"},
    "daqp": {"solver": "no such"},
    "scipy": {"method": "no such"},
    "cvxpy:HIGHS": {"highs_options": {"solver": "hipp"}},
    "cvxpy:CLARABEL": {"direct_solve_method": "pardiso-mkl"},
    "cvxpy:OSQP": {"linsys_solver": "no such"},
    "cvxpy:PIQP": {"backend": "no such"},
    "cvxpy:SCS": {"linear_solver": "no such"},
    "cvxpy:SCIPY": {"scipy_options": {"method": "no such"}},
    "cvxpy:DAQP": {"method": "no such"},
    "cvxpy:GLOP": {"method": "no such"},
    "cvxpy:PDLP": {"method": "no such"},
}
"""Names of methods within a solver that it does not have, or not in its build for PyPI."""


@pytest.mark.parametrize("solver", [name for name in ALL if name != "auto"])
def test_a_method_that_a_solver_does_not_have_is_not_replaced_by_another(solver):
    """HiGHS refuses a name and goes on with "choose", CVXPY the next time with SciPy's default.

    Here each attempt is an error, and what the caller asked for stays as it was.
    """
    wanted = UNKNOWN_METHODS[solver]
    before = repr(wanted)
    kind = continuous(solver)
    for _ in range(2):
        with pytest.raises((OptionError, SolverFailure)):
            solve(dense_program(kind), solver, options=wanted)
        assert repr(wanted) == before
    if solver.startswith("cvxpy:"):
        with pytest.raises(OptionError, match="already names the solver"):
            solve(dense_program(kind), solver, options={"solver": "no such"})


# ---------------------------------------------------------------------- limits


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


@pytest.mark.parametrize("solver", ALL)
def test_time_limits(solver, caplog):
    """One that is not kept is logged with the backend's name; it belongs to one solve.

    One that is not reached changes nothing: who sets one need not know which backends keep it.
    """
    caplog.set_level("INFO", "solvers")
    program = dense_program(continuous(solver))
    session, expected = open_session(program, solver), solve(program).objective
    for _ in range(2):
        reached = None
        try:
            session.solve(time_limit=1e-9)
        except LimitError as error:
            reached = error.status
        logged = any(solver in line and "time limit" in line for line in caplog.messages)
        assert reached is Status.TIME_LIMIT or (logged and not can(solver, "time-limit"))
    for limit in (100, np.inf, None):
        assert session.solve(time_limit=limit).objective == pytest.approx(expected, abs=1e-5)


def test_a_process_of_piqp_is_ended_at_the_time_limit(monkeypatch):
    """A large program has the same answer there, and a limit that is kept."""
    monkeypatch.setattr(piqp, "LARGE_PROGRAM", 1)
    program = dense_program("qp")
    alone, apart = solve(program, "piqp"), solve(program, "piqp", time_limit=100.0)
    np.testing.assert_array_equal(alone.x, apart.x)
    with pytest.raises(LimitError, match="its process was ended at the time limit") as caught:
        solve(program, "piqp", time_limit=1e-3)
    assert caught.value.status is Status.TIME_LIMIT
