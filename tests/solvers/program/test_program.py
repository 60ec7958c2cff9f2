"""`solvers.program.program` and the checks of `solvers.program.arrays`."""

import numpy as np
import pytest
import scipy.sparse as sp

from solvers import Program, ProgramError


def test_scalars_are_repeated_and_defaults_are_free_rows_and_nonnegative_columns():
    """One number stands for all rows or columns, and the defaults are those documented."""
    program = Program([1, 2], [[1, 1], [0, 1]], row_upper=3)
    assert program.row_upper.tolist() == [3, 3]
    assert program.row_lower.tolist() == [-np.inf, -np.inf]
    assert program.lower.tolist() == [0, 0]
    assert program.upper.tolist() == [np.inf, np.inf]


def test_integers_become_floats():
    """Small integer types, as some files have, cannot overflow later."""
    program = Program(np.array([1, 2], np.int8), np.array([[100, 100]], np.int8), 0)
    assert program.cost.dtype == program.matrix.dtype == np.float64
    assert program.objective_value([100, 100]) == 300.0


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


def test_programs_are_frozen():
    """A program cannot be changed by assignment."""
    with pytest.raises(AttributeError):
        Program([1.0]).cost = np.zeros(1)
