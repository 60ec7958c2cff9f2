"""`solvers.sessions.rebuilding`: updates apply fully or not at all; growing is starting over."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import Program, ProgramError, UnsupportedProblemError, open_session, solve
from tests.effort import examples
from tests.solvers.problems import ALL, BY_CLASS, NATIVE, can, continuous

BOX = 3.0
MOVES = (
    "columns",
    "rows",
    "drop columns",
    "drop rows",
    "cost",
    "column bounds",
    "row bounds",
    "basis",
)


def slight_curvature(solver, n):
    """A quadratic cost that changes no answer to 1e-7, for a backend that needs one; else None."""
    return None if can(solver, "lp") else np.full(n, 1e-9)


class Mirror:
    """The same updates done with plain NumPy on a program that 0 always satisfies."""

    def __init__(self, seed, is_quadratic=False):
        self.rng = np.random.default_rng(seed)
        self.a = self.rng.normal(size=(2, 4))
        self.c = self.rng.normal(size=4)
        self.rows = [-self.rng.random(2), self.rng.random(2)]
        self.columns = [-BOX * self.rng.random(4), BOX * self.rng.random(4)]
        self.p = self.rng.random(4) if is_quadratic else None

    def program(self):
        return Program(self.c, self.a, *self.rows, *self.columns, self.p)

    def apply(self, move, session):
        rng, (m, n), k = self.rng, self.a.shape, self.rng.integers(1, 3)
        if move == "columns":
            block, cost = rng.normal(size=(m, k)), rng.normal(size=k)
            low, high = -rng.random(k), rng.random(k)
            p = None if self.p is None else rng.random(k)
            session.add_columns(cost, block, lower=low, upper=high, quadratic=p)
            self.p = None if self.p is None else np.append(self.p, p)
            self.a, self.c = np.hstack([self.a, block]), np.append(self.c, cost)
            self.columns = [np.append(self.columns[0], low), np.append(self.columns[1], high)]
        elif move == "rows":
            block, low, high = rng.normal(size=(k, n)), -rng.random(k), rng.random(k)
            session.add_rows(sp.csr_array(block) if rng.random() < 0.5 else block, low, high)
            self.a = np.vstack([self.a, block])
            self.rows = [np.append(self.rows[0], low), np.append(self.rows[1], high)]
        elif move == "drop columns" and n > 1:
            gone = rng.permutation(n)[:1]
            session.remove_columns(gone)
            self.a, self.c = np.delete(self.a, gone, axis=1), np.delete(self.c, gone)
            self.columns = [np.delete(bound, gone) for bound in self.columns]
            self.p = None if self.p is None else np.delete(self.p, gone)
        elif move == "drop rows" and m > 0:
            gone = rng.permutation(m)[:2]
            session.remove_rows(gone)
            self.a = np.delete(self.a, gone, axis=0)
            self.rows = [np.delete(bound, gone) for bound in self.rows]
        elif move == "cost":
            at = rng.permutation(n)[:2]
            self.c = self.c.copy()
            self.c[at] = rng.normal(size=at.size)
            session.change_cost(at, self.c[at])
        elif move == "column bounds":
            at = rng.permutation(n)[:2]
            self.columns = [bound.copy() for bound in self.columns]
            self.columns[0][at], self.columns[1][at] = -rng.random(at.size), rng.random(at.size)
            session.change_column_bounds(at, self.columns[0][at], self.columns[1][at])
        elif move == "basis":
            session.suggest_basis(rng.integers(-1, 2, size=n), rng.integers(-1, 2, size=m))
        elif move == "row bounds" and m > 0:
            at = rng.permutation(m)[:1]
            self.rows = [bound.copy() for bound in self.rows]
            self.rows[0][at], self.rows[1][at] = 0.0, rng.random()
            session.change_row_bounds(at, 0.0, self.rows[1][at])


def assert_same_program(found, expected):
    """Every number of the two programs is the same."""
    for name in ("cost", "lower", "upper", "row_lower", "row_upper"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.is_qp == expected.is_qp
    if expected.is_qp and np.ndim(expected.quadratic) == 1:
        np.testing.assert_array_equal(found.quadratic, expected.quadratic)
    matrix = found.matrix.toarray() if sp.issparse(found.matrix) else found.matrix
    np.testing.assert_array_equal(matrix, expected.matrix)


def check_updates(mirror, solver, moves):
    """Do the moves to a session and to its mirror, and compare program and optimum in the end."""
    session = open_session(mirror.program(), solver)
    for move, solves_between in moves:
        mirror.apply(move, session)
        if solves_between:
            session.solve()
    expected = mirror.program()
    assert_same_program(session.program, expected)
    assert (session.n_rows, session.n_columns) == expected.matrix.shape
    reference = solve(expected, "clarabel" if expected.is_qp else "highs").objective
    assert session.solve().objective == pytest.approx(reference, abs=1e-5)


@pytest.mark.parametrize("solver", NATIVE)
@settings(max_examples=examples(25))
@given(
    seed=st.integers(0, 10**6),
    moves=st.lists(st.tuples(st.sampled_from(MOVES), st.booleans()), min_size=1, max_size=8),
    is_quadratic=st.booleans(),
)
def test_any_sequence_of_updates_equals_starting_over(solver, seed, moves, is_quadratic):
    """Program and optimum of a live session are those of the program built in one go."""
    kind = continuous(solver, prefer="qp" if is_quadratic else "lp")
    check_updates(Mirror(seed, kind == "qp"), solver, moves)


@pytest.mark.parametrize(
    ("kind", "solver"), [(kind, solver) for kind in ("lp", "qp") for solver in BY_CLASS[kind]]
)
def test_all_updates_in_turn_equal_starting_over(kind, solver):
    """Every kind of update once in each of two orders, with every solver there is."""
    for seed, order in enumerate((MOVES, MOVES[::-1])):
        check_updates(Mirror(seed, kind == "qp"), solver, [(move, True) for move in order])


BAD_UPDATES = [
    (lambda s: s.add_columns([np.nan], np.zeros((2, 1))), r"cost\[0\] = nan"),
    (lambda s: s.add_columns([1], [[np.nan], [0]]), r"matrix\[0, 0\] = nan"),
    (lambda s: s.add_columns([1], np.zeros((3, 1))), "matrix has shape"),
    (lambda s: s.add_columns([1, 2], np.zeros((2, 2)), lower=1, upper=0), "leave no value"),
    (lambda s: s.add_columns([1], np.zeros((2, 1)), quadratic=[-1]), "not convex"),
    (lambda s: s.add_rows([[1, np.inf]], 0, 1), r"matrix\[0, 1\] = inf"),
    (lambda s: s.add_rows([[1, 2, 3]], 0, 1), "matrix has shape"),
    (lambda s: s.add_rows([[1, 2]], [0, 0], 1), "lower has shape"),
    (lambda s: s.add_rows([[1, 2]], 2, 1), "leave no value"),
    (lambda s: s.remove_columns([2]), r"contains 2, outside 0..1"),
    (lambda s: s.remove_columns([-1]), "contains -1"),
    (lambda s: s.remove_rows([0, 0]), "same position twice"),
    (lambda s: s.remove_rows([0.5]), "must be a list of integers"),
    (lambda s: s.change_cost([0], [np.nan]), r"cost\[0\] = nan"),
    (lambda s: s.change_column_bounds([0], [np.nan], [1]), "is nan"),
    (lambda s: s.change_row_bounds([0, 1], [2, 2], [1, 3]), "leave no value"),
    (lambda s: s.suggest_basis([0], [0, 0]), "columns has shape"),
    (lambda s: s.suggest_basis([0, 0], [np.nan, 0]), r"rows\[0\] = nan"),
]


@pytest.mark.parametrize("solver", NATIVE)
def test_a_bad_update_changes_nothing(solver):
    """Every update is checked before the native model is touched."""
    curvature = slight_curvature(solver, 2)
    program = Program([-1, -2], [[1, 1], [1, 3]], -np.inf, [4, 6], quadratic=curvature)
    session = open_session(program, solver)
    for update, message in BAD_UPDATES:
        with pytest.raises(ProgramError, match=message):
            update(session)
    if not can(solver, "qp"):  # the error names the backends that can
        with pytest.raises(UnsupportedProblemError, match="clarabel"):
            session.add_columns([1.0], np.zeros((2, 1)), quadratic=[1.0])
    assert_same_program(session.program, program)
    assert session.solve().objective == pytest.approx(-5.0, abs=1e-6)


WARM = [name for name in ALL if can(name, "warm-start")]
SMALL_UPDATES = {
    "columns": lambda s, v: s.add_columns([0.1], 0.1 * v[:60, None], upper=1.0),
    "rows": lambda s, v: s.add_rows(0.1 * v[None, :40], -1.0, 1.0),
    "cost": lambda s, v: s.change_cost([0], s.program.cost[0] + 0.01 * v[0]),
    "column bounds": lambda s, _: s.change_column_bounds([0], -1.01, 1.01),
    "row bounds": lambda s, _: s.change_row_bounds([0], -1.01, 1.01),
    "removal": lambda s, _: (s.remove_columns([7]), s.remove_rows([7])),
}


@pytest.mark.parametrize("update", SMALL_UPDATES)
@pytest.mark.parametrize("solver", ["auto", *WARM])
def test_a_warm_start_takes_fewer_iterations(solver, update):
    """After a small update a solved session needs less than one that starts from nothing."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=40), rng.normal(size=(60, 40)), -1, 1, -1, 1
    kind = continuous(solver, prefer="lp" if can(solver, "exact") else "qp")
    session = open_session(Program(*data, np.ones(40) if kind == "qp" else None), solver)
    session.solve()
    SMALL_UPDATES[update](session, rng.normal(size=60))
    warm, cold = session.solve(), solve(session.program, solver)
    assert warm.iterations < cold.iterations
    assert warm.objective == pytest.approx(cold.objective, abs=1e-6)


@pytest.mark.parametrize("solver", NATIVE)
def test_a_session_survives_infeasibility(solver):
    """Infeasible, then relaxed, then solved; growing out of nothing works too."""
    program = Program([1.0], [[1.0]], 2, 3, 0, 1, slight_curvature(solver, 1))
    session = open_session(program, solver)
    with pytest.raises(Exception, match="infeasible|iteration limit"):
        session.solve()
    session.change_column_bounds([0], 0, 5)
    assert session.solve().objective == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize("solver", [name for name in NATIVE if can(name, "lp")])
def test_a_session_may_start_without_columns_or_rows(solver):
    """Empty rows first, then columns; or columns first, then rows."""
    session = open_session(Program([], np.zeros((1, 0)), -np.inf, 4), solver)
    assert session.solve().objective == 0.0
    session.add_columns([-1.0, 0.0], [[1.0, 1.0]])
    session.add_rows(np.array([[1.0, -1.0]]), -np.inf, 1.0)
    assert session.solve().objective == pytest.approx(-2.5, abs=1e-6)
    session.remove_rows([0, 1])
    session.change_column_bounds([0], 0, 7)
    assert session.solve().objective == pytest.approx(-7.0, abs=1e-6)
