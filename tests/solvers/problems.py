"""Small programs with known answers, and the list of everything that should solve them."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from solvers import Program, SolverError, UnboundedError, available_backends, get_backend
from solvers.api import local_backends
from solvers.program.status import InfeasibleError, InfeasibleOrUnboundedError

INF = np.inf
NATIVE = ("auto", *local_backends())
ALL = ("auto", *available_backends())
BY_CLASS = {kind: ("auto", *available_backends(kind)) for kind in ("lp", "qp", "mip")}


def can(solver: str, capability: str) -> bool:
    """Whether a backend declares a capability."""
    return capability in get_backend(solver).capabilities


def continuous(solver: str, *, prefer: str = "lp") -> str:
    """The class of continuous programs to try a backend with: the preferred one, or the other."""
    return prefer if can(solver, prefer) else {"lp": "qp", "qp": "lp"}[prefer]


@dataclass(frozen=True)
class Case:
    """A program and its optimal value, or the errors that may answer it."""

    name: str
    program: Program
    objective: float = np.nan
    errors: tuple[type[SolverError], ...] = ()
    has_unique_duals: bool = False

    def __str__(self) -> str:
        return self.name


def master(n_rows: int, n_columns: int, seed: int = 0, *, sparse: bool = False) -> Program:
    """Return the dual form of a 2-norm master: ``min ½z'z - y'r, H'r = z, sum r = 0, box on r``."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    columns = rng.normal(size=(n_rows, n_columns))
    matrix = np.block(
        [
            [np.ones((1, n_rows)), np.zeros((1, n_columns))],
            [columns.T, -np.eye(n_columns)],
        ]
    )
    free = np.full(n_columns, INF)
    return Program(
        np.concatenate([-y, np.zeros(n_columns)]),
        sp.csr_array(matrix) if sparse else matrix,
        0.0,
        0.0,
        np.concatenate([np.minimum(y, 0.0), -free]),
        np.concatenate([np.maximum(y, 0.0), free]),
        np.concatenate([np.zeros(n_rows), np.ones(n_columns)]),
    )


def dense_program(kind: str = "lp") -> Program:
    """Return a linear or quadratic program that takes more than one iteration."""
    rng = np.random.default_rng(0)
    quadratic = {"lp": None, "qp": np.ones(40)}[kind]
    return Program(rng.normal(size=40), rng.normal(size=(30, 40)), -1, 1, -1, 1, quadratic)


def cases(*rows: tuple) -> list[Case]:
    """Named programs with their optima, and whether their duals are unique."""
    return [Case(name, program, objective, (), unique) for name, program, objective, unique in rows]


def unsolvable(*rows: tuple) -> list[Case]:
    """Named programs without an optimum, and the errors that say so."""
    return [Case(name, program, errors=errors) for name, program, errors in rows]


LINEAR = cases(
    ("upper rows", Program([-1, -2], [[1, 1], [1, 3]], -INF, [4, 6]), -5.0, True),
    ("lower rows", Program([2, 3], [[1, 1], [1, 3]], [4, 6]), 9.0, True),
    ("equation", Program([1, 2], [[1, 1]], 3, 3, 0, [2, INF]), 4.0, True),
    ("range, upper side", Program([-1, -2], [[1, 1]], 1, 3, 0, [INF, 2]), -5.0, True),
    ("range, lower side", Program([1, 2], [[1, 1]], 1, 3, 0, [0.5, INF]), 1.5, True),
    ("free variables", Program([1, 1], [[1, 2], [2, 1]], 2, INF, -INF), 4 / 3, True),
    ("fixed variable", Program([1, 1], [[1, 1]], 5, INF, [2, 0], [2, INF]), 5.0, True),
    ("negative bounds", Program([1, -1], [[1, 1]], -INF, 0, -3, [5, -1]), -2.0, False),
    ("sparse", Program([-1, -2], sp.csr_array([[1, 1], [1, 3]]), -INF, [4, 6]), -5.0, True),
    ("empty row", Program([1, 1], [[0, 0], [1, 1]], [-1, 1], [1, 2]), 1.0, False),
    ("free row", Program([1, 1], [[1, 0], [1, 1]], [-INF, 1], [INF, 2]), 1.0, False),
    (
        "degenerate",
        Program([-1, -1], [[1, 0], [0, 1], [1, 1], [1, 2]], -INF, [1, 1, 2, 3]),
        -2.0,
        False,
    ),
    ("no rows", Program([1, -1], lower=[-1, 0], upper=[1, 2]), -3.0, False),
    ("constant", Program([1.0], [[1.0]], 2, constant=10.0), 12.0, True),
    ("no columns", Program([], np.zeros((2, 0)), -1, 1, constant=3.0), 3.0, False),
)

FULL_P = np.array([[4.0, 1.0], [1.0, 2.0]])
STORED = sp.csc_array([[2.0, 1.0], [1.0, 2.0]])
QUADRATIC = cases(
    ("diagonal", Program([-2, -6], [[1, 1]], -INF, 3, quadratic=[2, 2]), -9.5, True),
    ("full matrix", Program([-8, -3], [[1, 1]], -INF, 1, 0, INF, FULL_P), -6.0, False),
    ("both triangles", Program([-1, -1], lower=-INF, quadratic=STORED), -1 / 3, False),
    ("singular", Program([1, 1], [[1, 1]], 2, INF, 0, INF, [[1, 1], [1, 1]]), 4.0, True),
    ("equations", Program([0, 0], [[1, 1]], 1, 1, -INF, INF, [2, 1]), 1 / 3, True),
    ("one of two", Program([-1, 1], [[1, 1]], 1, INF, 0, INF, [1, 0]), -0.5, False),
    ("interior", Program([-1.0], lower=-5, upper=5, quadratic=[1.0]), -0.5, False),
    ("range", Program([-4, 0], [[1, -1]], -1, 1, 0, INF, [1, 1]), -5.75, True),
    ("fixed", Program([0, -3], [[1, 1]], -INF, 4, [1, 0], [1, INF], [1, 1]), -4.0, False),
)

KNAPSACK = [[2, 3, 1], [4, 1, 2], [3, 4, 2]]
INTEGER = cases(
    (
        "knapsack",
        Program([-5, -4, -3], KNAPSACK, -INF, [5, 11, 8], 0, 10, None, True),
        -13.0,
        False,
    ),
    ("rounding", Program([1, 1], [[2, 2]], 3, INF, 0, 9, None, [True, True]), 2.0, False),
)

NO_POINT = (InfeasibleError, InfeasibleOrUnboundedError)
NO_BOUND = (UnboundedError, InfeasibleOrUnboundedError)
AGAINST = [2, -INF], [INF, 1]
UNSOLVABLE = unsolvable(
    ("contradicting rows", Program([1], [[1], [1]], *AGAINST), NO_POINT),
    ("row against bounds", Program([1, 1], [[1, 1]], 3, INF, 0, 1), NO_POINT),
    ("empty row above zero", Program([1], [[0]], 1, 2, 0, 1), NO_POINT),
    ("no columns", Program([], np.zeros((1, 0)), 1, 2), NO_POINT),
    ("ray", Program([-1, 0], [[1, -1]], -INF, 1), NO_BOUND),
    ("no rows", Program([-1.0]), NO_BOUND),
)
SINGULAR = [[1, -1], [-1, 1]]
UNSOLVABLE_QUADRATIC = unsolvable(
    ("contradicting", Program([1, 0], [[1, 1]] * 2, *AGAINST, -INF, INF, [1, 1]), NO_POINT),
    ("row against bounds", Program([1, 1], [[1, 1]], 3, INF, 0, 1, [1, 0]), NO_POINT),
    ("linear ray", Program([-1, 0], [[0, 1]], -INF, 1, 0, INF, [0, 1]), NO_BOUND),
    ("singular ray", Program([-1, -1], [[1, -1]], -1, 1, -INF, INF, SINGULAR), NO_BOUND),
    ("no rows", Program([0, -1], quadratic=[1, 0]), NO_BOUND),
)
UNSOLVABLE_INTEGER = unsolvable(
    ("nothing in between", Program([1, 1], [[2, 2]], 1, 1, 0, 5, None, True), NO_POINT),
    ("row against bounds", Program([1, 1], [[1, 1]], 3, INF, 0, 1, None, True), NO_POINT),
    ("no whole number within bounds", Program([1.0], None, 0, 0, 0.2, 0.8, None, True), NO_POINT),
    ("fixed at a half", Program([1.0, 1.0], [[1, 1]], 1, 2, 0.5, [0.5, 1], None, True), NO_POINT),
    ("ray", Program([-1, -1], [[1, -1]], -INF, 1, 0, INF, None, True), NO_BOUND),
)
