"""`solvers.program`: programs and their checks, solutions that check themselves, verdicts."""

import numpy as np
import pytest
import scipy.sparse as sp

from solvers import (
    InfeasibleError,
    InfeasibleOrUnboundedError,
    InterruptedSolveError,
    LimitError,
    Program,
    ProgramError,
    Solution,
    SolverError,
    SolverFailure,
    Status,
    UnboundedError,
)
from solvers.program.errors import refusal
from solvers.program.solution import duality_gap


def test_what_a_program_is_made_of():
    """One number stands for all rows or columns; rows are free and columns at least 0 by default.

    Small integer types, as some files have, cannot overflow later; it cannot be changed.
    """
    program = Program([1, 2], [[1, 1], [0, 1]], row_upper=3)
    assert program.row_upper.tolist() == [3, 3]
    assert program.row_lower.tolist() == [-np.inf, -np.inf]
    assert program.lower.tolist() == [0, 0]
    assert program.upper.tolist() == [np.inf, np.inf]
    small = Program(np.array([1, 2], np.int8), np.array([[100, 100]], np.int8), 0)
    assert small.cost.dtype == small.matrix.dtype == np.float64
    assert small.objective_value([100, 100]) == 300.0
    with pytest.raises(AttributeError):
        program.cost = np.zeros(1)


@pytest.mark.parametrize("huge", [1e19, 1e20, 1e300])
def test_huge_bounds_are_infinite(huge):
    """The 1e20 of files, give or take rounding, means no bound."""
    program = Program([1.0], [[1.0]], -huge, huge, -huge, huge)
    assert np.isinf([program.row_lower, program.row_upper, program.lower, program.upper]).all()
    assert Program([1.0], lower=-1e18).lower[0] == -1e18


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cost": [1, np.nan]}, r"cost\[1\] = nan"),
        ({"cost": [1, np.inf]}, r"cost\[1\] = inf"),
        ({"matrix": [[1, np.nan]]}, r"matrix\[0, 1\] = nan"),
        ({"matrix": sp.csr_array([[0, -np.inf]])}, r"matrix\[0, 1\] = -inf"),
        ({"matrix": [[1, 2, 3]]}, r"matrix has shape \(1, 3\), expected \(1, 2\)"),
        ({"matrix": [1, 2]}, r"matrix has shape \(2,\), expected two dimensions"),
        ({"matrix": [["a", "b"]]}, "matrix is not numeric"),
        ({"lower": [0, np.nan]}, r"lower\[1\] is nan"),
        ({"lower": [0, 0, 0]}, r"lower has shape \(3,\), expected \(2,\)"),
        ({"lower": [0, 2], "upper": 1}, r"lower\[1\] = 2.0 and upper\[1\] = 1.0"),
        ({"lower": np.inf}, r"lower\[0\] = inf"),
        ({"upper": -1e20, "lower": -np.inf}, r"upper\[0\] = -inf"),
        ({"row_lower": 2, "row_upper": 1}, r"row_lower\[0\] = 2.0 and row_upper\[0\] = 1.0"),
        ({"row_upper": np.nan}, r"row_upper\[0\] is nan"),
        ({"quadratic": [1, -1]}, r"quadratic\[1\] = -1.0 < 0"),
        ({"quadratic": [[1, 0], [0, -2]]}, r"quadratic\[1\] = -2.0 < 0"),
        ({"quadratic": [[1, 1], [0, 1]]}, r"not symmetric: \[0, 1\] = 1.0 but \[1, 0\] = 0.0"),
        ({"quadratic": sp.csc_array([[1.0, 0], [3, 1]])}, "not symmetric"),
        ({"quadratic": [1, 2, 3]}, r"quadratic has shape \(3,\)"),
        ({"quadratic": [[np.nan, 0], [0, 1]]}, r"quadratic\[0, 0\] = nan"),
        ({"integrality": [True]}, r"integrality has shape \(1,\)"),
        ({"constant": np.nan}, "constant = nan"),
    ],
)
def test_bad_data_are_named(arguments, message):
    """The error names the argument, the position and the value, and is a ValueError."""
    good = {"cost": [1, 2], "matrix": [[1, 1]], "row_upper": 3}
    with pytest.raises(ProgramError, match=message) as caught:
        Program(**(good | arguments))
    assert isinstance(caught.value, ValueError)


def test_problem_classes():
    """A program knows whether it is linear, quadratic or mixed-integer."""
    linear = Program([1, 1])
    assert (linear.is_lp, linear.is_qp, linear.is_mip) == (True, False, False)
    assert Program([1, 1], quadratic=[0, 0], integrality=[False, False]).is_lp
    assert Program([1, 1], quadratic=[0, 1]).is_qp
    assert Program([1, 1], integrality=True).is_mip
    assert repr(Program([1], [[1]], quadratic=[1])) == "Program(QP, 1 rows, 1 columns)"


@pytest.mark.parametrize("quadratic", [[2.0, 4.0], np.diag([2.0, 4.0]), sp.diags_array([2.0, 4.0])])
def test_objective_is_the_same_for_every_form_of_p(quadratic):
    """A diagonal, a dense and a sparse P mean the same."""
    program = Program([1, -1], quadratic=quadratic, constant=5)
    assert program.objective_value([1, 2]) == 0.5 * (2 + 16) + 1 - 2 + 5


# ---------------------------------------------------------------------- solutions

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


INTEGERS = Program([1.0], upper=4, integrality=True)


@pytest.mark.parametrize(
    ("claim", "primal", "dual"),
    [
        ({}, 0.0, 0.0),
        ({"x": [5, 1]}, 2 / (1 + 8), None),  # a row that is violated, over |Ax|
        ({"x": [-1, 0]}, 1 / 2, None),  # a bound
        (
            {"x": [1.5], "row_duals": [], "reduced_costs": [1.0], "program": INTEGERS},
            0.5 / 2.5,
            None,
        ),
        ({"reduced_costs": [0.3, 0]}, None, 0.3 / 3),  # not Px + c − A'y
        ({"row_duals": [0.5, -0.5], "reduced_costs": [-1, -1]}, None, 1 / 3),  # a wrong sign
        ({"row_duals": [0, 0], "reduced_costs": [-1, -2]}, None, 2 / 3),
    ],
    ids=["optimum", "row", "bound", "fraction", "stationarity", "row dual", "reduced cost"],
)
def test_residuals_are_scaled(claim, primal, dual):
    """Each violation is divided by one plus the size of what it is a difference of."""
    found = solution(**claim)
    assert primal is None or found.primal_residual == pytest.approx(primal)
    assert dual is None or found.dual_residual == pytest.approx(dual)
    assert found.is_optimal(1e-15) == (not claim)


def test_a_gap_shows_missing_complementarity():
    """A feasible pair that is not optimal has one, and errors that cancel in objectives, too."""
    assert solution().duality_gap == 0
    assert solution([0, 0]).duality_gap == pytest.approx(5.0)
    assert not solution([0, 0]).is_optimal(1.0)
    program = Program([1, 1], [[1, 0], [0, 1]], 1.0)
    point, duals = np.array([1.1, 0.9]), np.array([1.0, 1.0])
    assert point.sum() == duals.sum()
    assert duality_gap(program, point, duals, np.zeros(2)) == pytest.approx(0.2 / 3)


@pytest.mark.parametrize("field", ["x", "row_duals", "reduced_costs"])
def test_nan_is_never_optimal(field):
    """A NaN anywhere fails the check, where max() might have hidden it."""
    assert not solution(**{field: [np.nan, 0.0]}).is_optimal(1e9)


# ---------------------------------------------------------------------- verdicts


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (Status.INFEASIBLE, InfeasibleError),
        (Status.UNBOUNDED, UnboundedError),
        (Status.INFEASIBLE_OR_UNBOUNDED, InfeasibleOrUnboundedError),
        (Status.TIME_LIMIT, LimitError),
        (Status.ITERATION_LIMIT, LimitError),
        (Status.FAILED, SolverFailure),
        (Status.INTERRUPTED, InterruptedSolveError),
    ],
)
def test_every_status_that_is_no_answer_has_its_exception(status, kind):
    """The exception carries the status, the backend and the backend's own words."""
    error = refusal(status, "mock", "its own words")
    assert type(error) is kind
    assert (error.status, error.backend, error.words) == (status, "mock", "its own words")
    assert str(error) == f"mock: {status.value} (its own words)"


def test_ctrl_c_is_no_solver_error():
    """`except SolverError`, as in a fallback, must not swallow Ctrl-C."""
    assert not issubclass(InterruptedSolveError, SolverError)
    assert issubclass(InterruptedSolveError, KeyboardInterrupt)
