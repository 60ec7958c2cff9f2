"""`solvers.refinement.polish` and `saddle`: exact where possible, never worse."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import Program, Status, open_session
from solvers.program.solution import Point, worst_residual
from solvers.refinement.polish import ActiveBounds, polished, saddle_system
from solvers.sessions.engine import Answer
from solvers.sessions.rebuilding import RebuildingBackend
from tests.effort import examples
from tests.solvers.backends.test_conformance import known_optimum
from tests.solvers.problems import BY_CLASS, LINEAR, QUADRATIC, master

NOISE = 1e-6


def optimum(program):
    """Return an optimal point, by a solver whose answers are not polished."""
    found = open_session(program, "clarabel", polish=False).solve(tol=1e-9)
    return Point(found.x, found.row_duals)


def disturbed(point, seed, size=NOISE):
    """Return a point a little beside another one."""
    rng = np.random.default_rng(seed)
    return Point(
        point.x + size * rng.uniform(-1, 1, point.x.size),
        point.row_duals + size * rng.uniform(-1, 1, point.row_duals.size),
    )


def worst(program, point):
    """Return the worst residual of a point."""
    return worst_residual(program, point.x, point.row_duals)


@settings(max_examples=examples(150))
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 12),
    m=st.integers(0, 8),
    kind=st.sampled_from(["lp", "diagonal", "matrix"]),
    is_sparse=st.booleans(),
    size=st.sampled_from([1e-8, 1e-4, 1.0]),
)
def test_a_polished_point_is_never_worse(seed, n, m, kind, is_sparse, size):
    """Whatever the point and however degenerate the program, the worst residual does not grow."""
    program, _ = known_optimum(seed, n, m, kind)
    if is_sparse:
        program = replace(program, matrix=sp.csr_array(program.matrix))
    start = disturbed(optimum(program), seed, size)
    assert worst(program, polished(program, start)) <= worst(program, start)


@pytest.mark.parametrize("solver", BY_CLASS["qp"])
@pytest.mark.parametrize("eliminate", [False, True])
def test_the_answers_of_every_backend_are_exact(solver, eliminate):
    """On the 2-norm master every quadratic backend ends at rounding error."""
    found = open_session(master(40, 12), solver, eliminate=eliminate).solve()
    assert max(found.primal_residual, found.dual_residual, found.duality_gap) <= 1e-12


@pytest.mark.parametrize("case", LINEAR + QUADRATIC, ids=str)
def test_known_problems_are_exact(case):
    """An interior point answer to a known problem is polished to its exact value."""
    found = open_session(case.program, "clarabel").solve()
    assert found.objective == pytest.approx(case.objective, abs=1e-11)


def test_it_can_be_switched_off():
    """With polish=False the solver's own answer comes back."""
    plain = open_session(master(40, 12), "clarabel", polish=False).solve()
    assert 1e-12 < max(plain.dual_residual, plain.duality_gap) < 1e-6


@pytest.mark.parametrize("is_sparse", [False, True])
def test_duplicate_rows_columns_and_a_singular_cost_do_no_harm(is_sparse):
    """Where the optimal face is not a point, the polished point stays near the given one."""
    rng = np.random.default_rng(2)
    root = rng.normal(size=(3, 8))
    root = np.hstack([root, root])
    rows = rng.normal(size=(2, 16))
    matrix = np.vstack([rows, rows, np.zeros((1, 16))])
    program = Program(
        root.T @ rng.normal(size=3),
        sp.csr_array(matrix) if is_sparse else matrix,
        -1.0,
        1.0,
        -2.0,
        2.0,
        root.T @ root,
    )
    start = optimum(program)
    found = polished(program, start)
    assert worst(program, found) <= 1e-13
    assert found.x == pytest.approx(start.x, abs=1e-4)
    assert found.row_duals == pytest.approx(start.row_duals, abs=1e-4)


def test_a_wrong_first_guess_is_corrected():
    """A bound held too many and one held too few are both mended."""
    program = Program([-2, -6, 1], [[1, 1, 1]], -np.inf, 3, quadratic=[2, 2, 2])
    for x in ([0.0, 3.0, 0.0], [1.0, 2.0, 0.5], [0.5, 2.5, 1e-3]):
        start = Point(np.array(x), np.array([-1.5]))
        found = polished(program, start)
        assert found.x == pytest.approx([0.5, 2.5, 0.0], abs=1e-14)
        assert found.row_duals == pytest.approx([-1.0], abs=1e-14)


def test_a_bound_that_a_singular_cost_needs_is_found():
    """The guess leaves out a bound without which the face has no optimum; the way out tells it."""
    program = Program([1e-4, 0.0], lower=-1, upper=1, quadratic=[0.0, 1.0])
    start = Point(np.array([-1 + 1e-3, 1e-7]), np.zeros(0))
    assert ActiveBounds.near(program, start).columns.tolist() == [0, 0]
    assert polished(program, start).x == pytest.approx([-1.0, 0.0], abs=1e-14)


def test_points_that_are_left_alone(monkeypatch):
    """Those of NaN, from which nothing can start, and beyond a number of unknowns."""
    start = Point(np.full(6, np.nan), np.zeros(3))
    assert polished(master(4, 2), start) is start
    monkeypatch.setattr("solvers.refinement.polish.LARGEST_SYSTEM", 3)
    program = master(20, 5)
    start = optimum(program)
    assert polished(program, start) is start


def test_a_point_after_a_limit_is_not_polished():
    """A limit is reported with the solver's own last point."""
    point = Point(np.zeros(6), np.zeros(3))
    answer = Answer(Status.ITERATION_LIMIT, "", point)
    backend = RebuildingBackend("mock", frozenset({"qp"}), "numpy", lambda *_: answer)
    with pytest.raises(Exception, match="iteration limit") as caught:
        backend.open(master(4, 2), eliminate=False).solve()
    assert caught.value.solution.x is point.x


@settings(max_examples=examples(60))
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(0, 6),
    m=st.integers(0, 4),
    kind=st.sampled_from(["none", "diagonal", "dense", "sparse"]),
    is_sparse=st.booleans(),
    small=st.sampled_from([0, 400]),
)
def test_a_saddle_system_is_solved_in_every_form(seed, n, m, kind, is_sparse, small):
    """Both equations hold, dense or sparse, with and without columns of a single entry."""
    rng = np.random.default_rng(seed)
    n += m
    matrix = np.hstack([rng.normal(size=(m, n - m)), np.diag(rng.choice([-2.0, 0.5], size=m))])
    root = rng.normal(size=(n, n))
    whole = {"none": np.zeros((n, n)), "diagonal": np.diag(rng.random(n) + 0.1)}.get(
        kind, root @ root.T + np.eye(n)
    )
    given_as = {"none": None, "diagonal": whole.diagonal(), "sparse": sp.csc_array(whole)}
    e, f = whole @ rng.normal(size=n), rng.normal(size=m)
    e += matrix.T @ rng.normal(size=m)
    if kind == "none":
        e, matrix = e[: 2 * m], matrix[:, : 2 * m]  # no more unknowns than rows can tell
        whole, n = whole[: 2 * m, : 2 * m], min(n, 2 * m)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("solvers.refinement.polish.DENSE_UNKNOWNS", small)
        system = saddle_system(
            given_as.get(kind, whole), sp.csr_array(matrix) if is_sparse else matrix
        )
        x, u = system.solve(e, f)
    np.testing.assert_allclose(
        whole @ x + matrix.T @ u, e, atol=1e-6 * (1 + np.abs(u).max(initial=0))
    )
    np.testing.assert_allclose(matrix @ x, f, atol=1e-6 * (1 + np.abs(x).max(initial=0)))
