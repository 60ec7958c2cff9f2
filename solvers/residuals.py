"""How far a point is from satisfying the optimality conditions of a program.

With ``d = Px + c - A'y`` the reduced costs, a point is optimal when it is feasible, `y` and `d`
have the right sign where a bound is missing, and the dual objective equals the primal one. All
three numbers are relative, as documented with each function.
"""

from __future__ import annotations

import numpy as np

from solvers.arrays import FloatArray
from solvers.program import Program


def primal_residual(program: Program, x: FloatArray) -> float:
    """Return the largest violation of a row, bound or integrality.

    Relative to ``1 + max(|Ax|_inf, |x|_inf)``.
    """
    rows = np.asarray(program.matrix @ x)
    violations = [_violation(rows, program.row_lower, program.row_upper)]
    violations.append(_violation(x, program.lower, program.upper))
    if program.integrality is not None:
        integers = x[program.integrality]
        violations.append(_largest(integers - np.round(integers)))
    return float(np.max(violations)) / (1.0 + max(_largest(rows), _largest(x)))


def dual_residual(
    program: Program, x: FloatArray, row_duals: FloatArray, reduced_costs: FloatArray
) -> float:
    """Return the larger of the stationarity error and the largest wrong-signed dual.

    Stationarity is ``Px + c - A'y - d``; a dual is wrong-signed when it pushes against a bound
    that does not exist. Relative to ``1 + max(|Px|_inf, |c|_inf, |A'y|_inf)``.
    """
    curvature = program.curvature(x)
    pull = np.asarray(program.matrix.T @ row_duals)
    errors = [
        _largest(curvature + program.cost - pull - reduced_costs),
        _largest(_wrong_signed(row_duals, program.row_lower, program.row_upper)),
        _largest(_wrong_signed(reduced_costs, program.lower, program.upper)),
    ]
    scale = max(_largest(curvature), _largest(program.cost), _largest(pull))
    return float(np.max(errors)) / (1.0 + scale)


def duality_gap(
    program: Program, x: FloatArray, row_duals: FloatArray, reduced_costs: FloatArray
) -> float:
    """Return ``|primal - dual objective|`` relative to ``1 + |primal objective|``.

    The dual objective is ``constant - ½ x'Px`` plus every dual times the bound it belongs to.
    Wrong-signed duals at missing bounds count in `dual_residual`, not here.
    """
    primal = program.objective_value(x)
    dual = program.constant - 0.5 * float(x @ program.curvature(x))
    dual += _bound_value(row_duals, program.row_lower, program.row_upper)
    dual += _bound_value(reduced_costs, program.lower, program.upper)
    return abs(primal - dual) / (1.0 + abs(primal))


def worst_residual(program: Program, x: FloatArray, row_duals: FloatArray) -> float:
    """Return the largest of the three residuals, with ``d = Px + c - A'y``; inf instead of NaN."""
    d = program.curvature(x) + program.cost - np.asarray(program.matrix.T @ row_duals)
    found = float(
        np.max(
            [
                primal_residual(program, x),
                dual_residual(program, x, row_duals, d),
                duality_gap(program, x, row_duals, d),
            ]
        )
    )
    return np.inf if np.isnan(found) else found


def _violation(values: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    return float(np.maximum(lower - values, values - upper).max(initial=0.0))


def _wrong_signed(duals: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    at_lower = np.where(np.isinf(lower), np.maximum(duals, 0.0), 0.0)
    at_upper = np.where(np.isinf(upper), np.minimum(duals, 0.0), 0.0)
    return at_lower + at_upper


def _bound_value(duals: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    bound = np.where(duals > 0, lower, upper)
    return float(duals @ np.where(np.isfinite(bound), bound, 0.0))


def _largest(values: FloatArray) -> float:
    return float(np.abs(values).max(initial=0.0))
