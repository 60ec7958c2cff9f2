"""`solvers.program.modelling`: programs out of CVXPY and back."""

import cvxpy as cp
import numpy as np
import pytest

from solvers import Program, ProgramError, solve
from solvers.program.modelling import put_back
from tests.solvers.problems import BY_CLASS, LINEAR, QUADRATIC, Case

SEEDS = range(12)
SOLVABLE = [
    case for case in LINEAR + QUADRATIC if np.isfinite(case.objective) and case.program.n_columns
]


def random_model(seed: int) -> cp.Problem:
    """A feasible LP or QP with equations, inequalities, norms and a constant, of either sense."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    x, y = cp.Variable(n, name="x"), cp.Variable((2, 2), nonneg=True)
    point, A = rng.normal(size=n), rng.normal(size=(n + 2, n))
    cost = rng.normal(size=n) @ x + cp.sum(y) + 1.5 * cp.norm1(x - 1) + 3.0
    cost += cp.max(A @ x) + 0.5 * cp.norm_inf(x)
    if seed % 2:
        cost += cp.sum_squares(A @ x - 1)
    constraints = [
        A @ x <= A @ point + rng.uniform(0, 1, n + 2),
        cp.sum(x) == point.sum(),
        cp.abs(x) <= 5,
        y[0, 0] + x[0] >= -4,
    ]
    sense = cp.Minimize(cost) if seed % 4 < 2 else cp.Maximize(-cost)
    return cp.Problem(sense, constraints)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_model_of_cvxpy_is_solved_and_gets_its_answer_back(seed):
    """The same optimum, negated where it is a maximisation, and a feasible point of that value.

    Unique points and duals equal those that CVXPY finds itself, in its signs.
    """
    problem = random_model(seed)
    program = Program.from_cvxpy(problem)
    assert program.is_qp == bool(seed % 2)
    solution = solve(program)
    value = put_back(problem, solution)
    assert all(constraint.violation().max() < 1e-6 for constraint in problem.constraints)
    duals = [np.copy(c.dual_value) for c in problem.constraints[:2]]
    points = [np.copy(v.value) for v in problem.variables()]
    expected = problem.solve(solver=cp.CLARABEL)
    sign = 1.0 if seed % 4 < 2 else -1.0
    assert sign * solution.objective == pytest.approx(expected, abs=1e-6, rel=1e-6)
    assert value == pytest.approx(expected, abs=1e-6, rel=1e-6)
    if seed % 2:
        for found, v in zip(points, problem.variables(), strict=True):
            np.testing.assert_allclose(found, v.value, atol=1e-5)
        for found, c in zip(duals, problem.constraints, strict=False):
            np.testing.assert_allclose(found, c.dual_value, atol=1e-4)


@pytest.mark.parametrize("case", SOLVABLE, ids=str)
def test_a_program_survives_the_way_to_cvxpy_and_back(case: Case):
    """CVXPY finds the known optimum, and the program taken out again has it too."""
    problem = case.program.to_cvxpy()
    assert problem.solve(solver=cp.CLARABEL) == pytest.approx(case.objective, abs=1e-5)
    assert [v.name() for v in problem.variables()] == ["x"]
    back = Program.from_cvxpy(problem)
    assert solve(back).objective == pytest.approx(case.objective, abs=1e-6)
    assert back.n_columns == case.program.n_columns


@pytest.mark.parametrize("seed", SEEDS)
def test_objectives_agree_at_every_point(seed):
    """Not only at the optimum: cost, curvature and constant are the same function."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(5, 3))
    program = Program(
        rng.normal(size=5),
        rng.normal(size=(4, 5)),
        [-1.0, 0.5, -np.inf, -2.0],
        [1.0, 0.5, 3.0, np.inf],
        -1.0,
        2.0,
        quadratic=root @ root.T if seed % 2 else None,
        constant=float(rng.normal()),
    )
    problem = program.to_cvxpy()
    back = Program.from_cvxpy(problem)
    x = rng.normal(size=5)
    problem.variables()[0].value = x
    assert problem.objective.value == pytest.approx(program.objective_value(x))
    assert back.objective_value(x) == pytest.approx(program.objective_value(x))
    assert solve(back).objective == pytest.approx(solve(program).objective, abs=1e-7)


@pytest.mark.parametrize("solver", BY_CLASS["lp"])
def test_cvxpys_false_bounds_of_a_hinge_do_not_get_through(solver):
    """CVXPY 1.9.3 itself says 1 with solvers that take bounds: its interval of y * Hx is [0, 0]."""
    x, y, H = cp.Variable(2), np.ones(1), np.array([[1.0, -1.0]])
    problem = cp.Problem(cp.Minimize(0.1 * cp.norm1(x) + cp.sum(cp.pos(1 - cp.multiply(y, H @ x)))))
    solution = solve(Program.from_cvxpy(problem), solver)
    assert solution.objective == pytest.approx(0.1, abs=1e-6)
    assert put_back(problem, solution) == pytest.approx(0.1, abs=1e-6)
    assert H @ x.value == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_duals_of_quadratic_models_are_derivatives(seed, maximize):
    """Those put back and those of the program, by differences of optima that Clarabel finds.

    CVXPY's are multipliers: not negative of inequalities in either sense.
    """
    rng = np.random.default_rng(seed)
    rows, root = rng.uniform(0.5, 2.0, (3, 4)).round(3), rng.normal(size=(4, 4)).round(2)
    point, linear = rng.uniform(0.5, 1.5, 4), 3 * rng.normal(size=4).round(2)
    x, sides = cp.Variable(4), cp.Parameter(3)
    cost = cp.sum_squares(root @ x) + linear @ x
    goal = cp.Maximize(-cost) if maximize else cp.Minimize(cost)
    binding = [rows[0] @ x <= sides[0], rows[1] @ x >= sides[1], rows[2] @ x == sides[2]]
    problem = cp.Problem(goal, [*binding, x >= 0, x <= 3])
    own = rows @ point + np.array([-0.1, 0.1, 0.0]) * (seed % 2)

    def optimum(values):
        sides.value = values
        return problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11)

    steps = 1e-3 * np.eye(3)
    gain = np.array([optimum(own + each) - optimum(own - each) for each in steps]) / 2e-3
    sides.value = own
    program = Program.from_cvxpy(problem)
    solution = solve(program)
    put_back(problem, solution)
    duals = np.array([float(row.dual_value) for row in binding])
    assert (np.abs(gain) > 1e-2).sum() >= 1
    np.testing.assert_allclose(duals * ([1, -1, 1] if maximize else [-1, 1, -1]), gain, atol=1e-4)


def test_integers_reach_cvxpy():
    """A mixed-integer program can be handed to CVXPY, though not taken from it."""
    problem = Program([-1.0, -1.0], [[2.0, 2.0]], row_upper=3.0, integrality=True).to_cvxpy()
    assert problem.is_mixed_integer()
    assert problem.solve(solver=cp.HIGHS) == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x: cp.Problem(cp.Minimize(cp.norm2(x))), "neither an LP nor a QP"),
        (lambda x: cp.Problem(cp.Minimize(cp.sum(x)), [cp.norm2(x) <= 1]), "neither an LP"),
        (lambda x: cp.Problem(cp.Minimize(cp.sum(cp.exp(x)))), "neither an LP nor a QP"),
        (lambda x: cp.Problem(cp.Minimize(-cp.sum_squares(x))), "not convex"),
        (lambda x: cp.Problem(cp.Minimize(cp.sum(cp.Variable(2, boolean=True)))), "integer"),
        (lambda x: cp.Problem(cp.Minimize(cp.Parameter(name="price") * x[0])), "price"),
        (lambda x: cp.Problem(cp.Minimize(1.0)), "no variables"),
        (lambda x: x, "expected a cvxpy.Problem, got Variable"),
    ],
)
def test_everything_else_is_refused_by_name(build, message):
    """Cones, integers, concave costs and missing data are errors that say which."""
    with pytest.raises(ProgramError, match=message):
        Program.from_cvxpy(build(cp.Variable(2)))
    with pytest.raises(ProgramError, match="0 rows and 1 columns"):
        put_back(random_model(0), solve(Program([1.0])))  # a solution of another program
