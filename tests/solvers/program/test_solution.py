"""`solvers.program.solution` and `solvers.program.solution`: a solution that checks itself."""

import numpy as np
import pytest

from solvers import Program, Solution, Status
from solvers.program.solution import duality_gap

PROGRAM = Program([-1, -2], [[1, 1], [1, 3]], -np.inf, [4, 6])
X, Y, D = np.array([3.0, 1.0]), np.array([-0.5, -0.5]), np.zeros(2)


def solution(x=X, row_duals=Y, reduced_costs=D, program=PROGRAM):
    """A claimed solution of a program."""
    x = np.asarray(x, float)
    return Solution(
        Status.OPTIMAL,
        x,
        program.objective_value(x),
        np.asarray(row_duals, float),
        np.asarray(reduced_costs, float),
        0,
        0.0,
        "test",
        "",
        lambda: program,
    )


def test_the_optimum_passes():
    """All residuals of the exact optimum are zero."""
    exact = solution()
    assert (exact.primal_residual, exact.dual_residual, exact.duality_gap) == (0, 0, 0)
    assert exact.is_optimal(1e-15)


def test_a_row_violation_is_scaled():
    """The violation is divided by one plus the larger of |Ax| and |x|."""
    assert solution([5, 1]).primal_residual == pytest.approx(2 / (1 + 8))


def test_a_bound_violation_counts():
    """A negative variable is a primal residual."""
    assert solution([-1, 0]).primal_residual == pytest.approx(1 / 2)


def test_a_fraction_is_a_violation_of_integrality():
    """Half way between two integers is a residual of one half, scaled."""
    program = Program([1.0], upper=4, integrality=True)
    assert solution([1.5], [], [1.0], program).primal_residual == pytest.approx(0.5 / 2.5)


def test_stationarity_is_part_of_the_dual_residual():
    """Reduced costs that are not Px + c - A'y are noticed."""
    assert solution(reduced_costs=[0.3, 0]).dual_residual == pytest.approx(0.3 / 3)


def test_wrong_signed_duals_are_part_of_the_dual_residual():
    """A dual that pushes against an infinite bound is noticed, on a row and on a column."""
    wrong_row = solution(row_duals=[0.5, -0.5], reduced_costs=[-1, -1])
    assert wrong_row.dual_residual == pytest.approx(1 / 3)
    negative = solution(row_duals=[0, 0], reduced_costs=[-1, -2])
    assert negative.dual_residual == pytest.approx(2 / 3)


def test_a_gap_shows_missing_complementarity():
    """A feasible but not optimal pair has a gap relative to one plus the objective."""
    assert solution([0, 0]).duality_gap == pytest.approx(5.0)
    assert not solution([0, 0]).is_optimal(1.0)


def test_errors_that_cancel_in_the_objectives_are_a_gap():
    """One row short and one over: the two objectives agree, and it is a gap all the same."""
    program = Program([1, 1], [[1, 0], [0, 1]], 1.0)
    point, duals = np.array([1.1, 0.9]), np.array([1.0, 1.0])
    found = duality_gap(program, point, duals, np.zeros(2))
    assert point.sum() == duals.sum()
    assert found == pytest.approx(0.2 / 3)


@pytest.mark.parametrize("field", ["x", "row_duals", "reduced_costs"])
def test_nan_is_never_optimal(field):
    """A NaN anywhere fails the check, where max() might have hidden it."""
    assert not solution(**{field: [np.nan, 0.0]}).is_optimal(1e9)
