"""`solvers.refinement.presolve`: substituting columns changes the work, not the answer."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import Program, open_session, solve
from solvers.program.solution import Point
from solvers.program.status import Status
from solvers.refinement.presolve import find_elimination
from solvers.sessions.engine import Answer
from solvers.sessions.rebuilding import RebuildingBackend
from tests.effort import examples
from tests.solvers.problems import master


def random_program(seed, n, w, kind, is_sparse):
    """A box QP in r beside w substitutable columns with any pivots, costs and right-hand sides."""
    rng = np.random.default_rng(seed)
    block, pivot = rng.normal(size=(w, n)), rng.choice([-2.0, -1.0, 0.5, 3.0], size=w)
    other = np.hstack([rng.normal(size=(2, n)), np.zeros((2, w))])
    matrix = np.vstack([other, np.hstack([block, np.diag(pivot)])])
    order = rng.permutation(n + w)
    right = np.concatenate([[-1.0, -1.0], rng.normal(size=w)])
    free = np.full(w, np.inf)
    diagonal = np.concatenate([np.full(n, 0.5), rng.random(w) * (rng.random(w) < 0.8)])
    quadratic = {
        "diagonal": diagonal,
        "dense": np.diag(diagonal),
        "sparse": sp.diags_array(diagonal),
    }
    if kind != "diagonal":
        root = rng.normal(size=(n, n))
        whole = np.diag(diagonal)
        whole[:n, :n] += root @ root.T / n
        whole = whole[np.ix_(order, order)]
        quadratic = {"dense": whole, "sparse": sp.csc_array(whole)}
    else:
        quadratic["diagonal"] = diagonal[order]
    matrix = matrix[:, order]
    return Program(
        rng.normal(size=n + w)[order],
        sp.csr_array(matrix) if is_sparse else matrix,
        right,
        np.concatenate([[1.0, 1.0], right[2:]]),
        np.concatenate([-np.ones(n), -free])[order],
        np.concatenate([np.ones(n), free])[order],
        quadratic[kind],
        constant=1.5,
    )


@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 6),
    w=st.integers(1, 8),
    kind=st.sampled_from(["diagonal", "dense", "sparse"]),
    is_sparse=st.booleans(),
)
def test_answers_are_the_same_with_and_without(seed, n, w, kind, is_sparse):
    """Point, row duals, reduced costs and value agree to the solver's accuracy."""
    program = random_program(seed, n, w, kind, is_sparse)
    plain = open_session(program, "clarabel", eliminate=False).solve(tol=1e-10)
    short = open_session(program, "clarabel", eliminate=True).solve(tol=1e-10)
    assert short.objective == pytest.approx(plain.objective, abs=1e-6)
    assert short.x == pytest.approx(plain.x, abs=2e-4)
    assert short.row_duals == pytest.approx(plain.row_duals, abs=2e-3)
    assert short.reduced_costs == pytest.approx(plain.reduced_costs, abs=2e-3)


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["diagonal", "dense", "sparse"]))
def test_the_recovery_is_exact(seed, kind):
    """At any point of the reduced program: same value, same reduced costs, equations satisfied."""
    program = random_program(seed, 4, 5, kind, is_sparse=bool(seed % 2))
    elimination = find_elimination(program)
    reduced = elimination.reduced
    rng = np.random.default_rng(seed)
    point = Point(rng.normal(size=reduced.n_columns), rng.normal(size=reduced.n_rows))
    whole = elimination.expand(point)
    assert program.objective_value(whole.x) == pytest.approx(reduced.objective_value(point.x))
    rows = program.matrix @ whole.x
    np.testing.assert_allclose(rows[elimination.rows], program.row_lower[elimination.rows])
    d = program.curvature(whole.x) + program.cost - program.matrix.T @ whole.row_duals
    short = reduced.curvature(point.x) + reduced.cost - reduced.matrix.T @ point.row_duals
    np.testing.assert_allclose(d[elimination.columns], 0.0, atol=1e-9)
    np.testing.assert_allclose(d[elimination.kept_columns], short, atol=1e-9)
    back = elimination.restrict(whole)
    np.testing.assert_array_equal(back.x, point.x)
    np.testing.assert_array_equal(back.row_duals, point.row_duals)


@pytest.mark.parametrize("sparse", [False, True])
def test_every_column_of_the_master_is_found(sparse):
    """All z of the 2-norm master go, and what remains is a dense program in r."""
    elimination = find_elimination(master(10, 7, sparse=sparse))
    assert elimination.columns.tolist() == list(range(10, 17))
    assert elimination.rows.tolist() == list(range(1, 8))
    assert elimination.is_dense
    assert elimination.reduced.quadratic.shape == (10, 10)
    assert elimination.reduced.n_rows == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"lower": [-1.0, 0.0]},
        {"upper": [1.0, 5.0]},
        {"row_upper": [3.0, 1.0]},
        {"matrix": [[1.0, 1.0], [0.0, 1.0]]},
        {"matrix": [[1.0, 0.0], [1.0, 0.0]]},
        {"quadratic": [[1.0, 0.5], [0.5, 1.0]]},
        {"integrality": [True, False]},
    ],
    ids=str,
)
def test_what_must_not_be_substituted_is_left_alone(changes):
    """A bound, an inequality, a second row, a shared cost or integrality each forbid it."""
    good = {
        "cost": [1.0, 1.0],
        "matrix": [[1.0, 1.0], [1.0, 0.0]],
        "row_lower": [2.0, -1.0],
        "row_upper": [2.0, 1.0],
        "lower": [-1.0, -np.inf],
        "upper": [1.0, np.inf],
        "quadratic": [1.0, 1.0],
    }
    assert find_elimination(Program(**good)).columns.tolist() == [1]
    assert find_elimination(Program(**(good | changes))) is None


def test_one_column_per_equation():
    """Of two free columns in one equation only one is substituted."""
    program = Program([1, 1, 0], [[1, 1, 1]], 2, 2, [-np.inf, -np.inf, 0], np.inf, [1, 1, 1])
    assert find_elimination(program).columns.size == 1
    assert solve(program, "clarabel").is_optimal(1e-6)
    assert open_session(program, "piqp", eliminate=True).solve().is_optimal(1e-6)


@pytest.mark.parametrize(("w", "columns_seen"), [(2, 22), (19, 20)])
def test_substitution_happens_where_it_pays(w, columns_seen):
    """Few columns stay, many go: decided by their number per remaining column."""
    seen = []

    def engine(program, _request):
        seen.append(program.n_columns)
        return Answer(Status.ITERATION_LIMIT, "looked")

    backend = RebuildingBackend("mock", frozenset({"qp"}), "numpy", engine)
    with pytest.raises(Exception, match="looked"):
        backend.open(master(20, w)).solve()
    assert seen == [columns_seen]


def test_a_sparse_block_is_left_to_the_solver():
    """Substituting a sparse block would only make the program dense."""
    matrix = sp.hstack([sp.eye_array(40), -sp.eye_array(40)], format="csr")
    free = np.full(40, np.inf)
    program = Program(
        np.ones(80),
        matrix,
        0,
        0,
        np.append(-np.ones(40), -free),
        np.append(np.ones(40), free),
        np.ones(80),
    )
    elimination = find_elimination(program)
    assert elimination.columns.size == 40
    assert not elimination.is_dense
    assert sp.issparse(elimination.reduced.quadratic) or elimination.reduced.quadratic.ndim == 2
    assert open_session(program, "clarabel", eliminate=True).solve().objective == pytest.approx(
        solve(program, "clarabel").objective, abs=1e-6
    )


@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 10**6),
    moves=st.lists(
        st.sampled_from(["grow", "grow", "grow", "side", "drop side", "drop column", "cost"]),
        min_size=1,
        max_size=8,
    ),
)
def test_a_live_master_substitutes_as_if_built_anew(seed, moves):
    """Whatever is kept between solves, the optimum is that of a fresh session."""
    rng = np.random.default_rng(seed)
    session = open_session(master(6, 3, seed), "clarabel", eliminate=True)
    kinds = ["side"] * 6 + ["z"] * 3
    for move in moves:
        sides = [j for j, kind in enumerate(kinds) if kind == "side"]
        if move == "grow":
            session.add_columns(
                [0.0], np.zeros((session.n_rows, 1)), lower=-np.inf, quadratic=[rng.random() + 0.5]
            )
            kinds.append("z")
            row = np.where(np.array(kinds) == "side", rng.normal(size=len(kinds)), 0.0)
            row[-1] = rng.choice([-1.0, 2.0])
            session.add_rows([row], 0.0, 0.0)
        elif move == "side":
            session.add_columns([rng.normal()], rng.normal(size=(session.n_rows, 1)), upper=1.0)
            kinds.append("side")
        elif move == "drop side" and len(sides) > 2:
            session.remove_columns([sides[1]])
            del kinds[sides[1]]
        elif move == "drop column" and session.n_rows > 2:
            row = np.asarray(session.program.matrix)[-1]
            z = [j for j, kind in enumerate(kinds) if kind == "z" and row[j] != 0.0]
            session.remove_rows([session.n_rows - 1])
            session.remove_columns(z)
            del kinds[z[0]]
        elif move == "cost":
            session.change_cost([sides[0]], [rng.normal()])
        found = session.solve().objective
        fresh = open_session(session.program, "clarabel", eliminate=False).solve().objective
        assert found == pytest.approx(fresh, abs=1e-7)


def test_what_is_replaced_between_two_solves_is_not_remembered():
    """New columns and rows at the positions of deleted ones take part with their own entries."""
    rng = np.random.default_rng(0)
    session = open_session(master(6, 3), "clarabel", eliminate=True)
    session.add_columns([1.0], rng.normal(size=(4, 1)), upper=1.0)

    def is_as_if_built_anew():
        fresh = open_session(session.program, "clarabel", eliminate=False).solve()
        return session.solve().objective == pytest.approx(fresh.objective, abs=1e-7)

    assert is_as_if_built_anew()
    session.remove_columns([9])
    session.add_columns([-1.0], 5.0 * rng.normal(size=(4, 1)), upper=1.0)
    assert is_as_if_built_anew()
    session.remove_rows([3])
    row = 3.0 * rng.normal(size=10)
    row[6:9] = [0.0, 0.0, -1.0]
    session.add_rows([row], 0.0, 0.0)
    assert is_as_if_built_anew()
