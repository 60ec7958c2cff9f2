"""Solutions, and how far a point is from the optimality conditions of a program.

With ``d = Px + c - A'y`` the reduced costs, a point is optimal when it is feasible, `y` and `d`
have the right sign where a bound is missing, and the dual objective equals the primal one. All
three numbers are relative, as documented with each function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .arrays import Float64Array
from .program import Program
from .status import Status


def primal_residual(program: Program, x: Float64Array) -> float:
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
    program: Program, x: Float64Array, row_duals: Float64Array, reduced_costs: Float64Array
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
    program: Program, x: Float64Array, row_duals: Float64Array, reduced_costs: Float64Array
) -> float:
    """Return the sum of every ``|dual|·|distance to its bound|`` relative to ``1 + |primal|``.

    Notes
    -----
    At a feasible point with duals of the right sign this is primal minus dual objective. Elsewhere
    the terms of that difference have both signs, and what cancels hides an error of the objective
    (Netlib's forplan: 4e-7 where the objective is off by 4e-6), so the sizes are summed. A dual
    that pushes against a missing bound counts with the distance to 0.
    """
    rows = np.asarray(program.matrix @ x)
    error = _complementarity(rows, row_duals, program.row_lower, program.row_upper)
    error += _complementarity(x, reduced_costs, program.lower, program.upper)
    return error / (1.0 + abs(program.objective_value(x)))


def worst_residual(program: Program, x: Float64Array, row_duals: Float64Array) -> float:
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


def _violation(values: Float64Array, lower: Float64Array, upper: Float64Array) -> float:
    return float(np.maximum(lower - values, values - upper).max(initial=0.0))


def _wrong_signed(duals: Float64Array, lower: Float64Array, upper: Float64Array) -> Float64Array:
    at_lower = np.where(np.isinf(lower), np.maximum(duals, 0.0), 0.0)
    at_upper = np.where(np.isinf(upper), np.minimum(duals, 0.0), 0.0)
    return at_lower + at_upper


def _complementarity(
    values: Float64Array, duals: Float64Array, lower: Float64Array, upper: Float64Array
) -> float:
    bound = np.where(duals > 0, lower, upper)
    return float(np.abs(duals * (values - np.where(np.isfinite(bound), bound, 0.0))).sum())


def _largest(values: Float64Array) -> float:
    return float(np.abs(values).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Point:
    """A primal and dual point in the project's dual convention."""

    x: Float64Array
    row_duals: Float64Array


@dataclass(frozen=True, eq=False)
class Solution:
    """A point, its duals, and where they came from.

    Attributes
    ----------
    status : Status
        `OPTIMAL` or `INACCURATE` when returned by a session.
    x : ndarray, shape (n,)
        The variables.
    objective : float
        ``½ x'Px + c'x + constant``.
    row_duals : ndarray, shape (m,)
        y = d objective / d (active row bound): >= 0 at a lower, <= 0 at an upper row bound.
        NaN for a mixed-integer program, which has no duals.
    reduced_costs : ndarray, shape (n,)
        ``Px + c - A'y``: >= 0 at a lower, <= 0 at an upper bound. NaN for a mixed-integer program.
    iterations : int
        The backend's own count, 0 if it has none.
    seconds : float
        Wall-clock time of this solve, translation included.
    backend : str
        Which backend answered.
    message : str
        The backend's own words.
    source : callable
        Returns the program as it was when solved (built only when asked for).
    """

    status: Status
    x: Float64Array
    objective: float
    row_duals: Float64Array
    reduced_costs: Float64Array
    iterations: int
    seconds: float
    backend: str
    message: str
    source: Callable[[], Program] = field(repr=False)
    _built: list[Program] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def program(self) -> Program:
        """The program this solution belongs to."""
        if not self._built:
            self._built.append(self.source())
        return self._built[0]

    @property
    def primal_residual(self) -> float:
        """Relative infeasibility of `x`, see `solvers.program.solution.primal_residual`."""
        return primal_residual(self.program, self.x)

    @property
    def dual_residual(self) -> float:
        """Relative infeasibility of the duals, see `solvers.program.solution.dual_residual`."""
        return dual_residual(self.program, self.x, self.row_duals, self.reduced_costs)

    @property
    def duality_gap(self) -> float:
        """Relative gap of the two objectives, see `solvers.program.solution.duality_gap`."""
        return duality_gap(self.program, self.x, self.row_duals, self.reduced_costs)

    def is_optimal(self, eps: float = 1e-6) -> bool:
        """Whether the residuals confirm optimality to `eps`.

        Of a mixed-integer solution only feasibility can be confirmed.
        """
        found = [self.primal_residual]
        if not self.program.is_mip:
            found += [self.dual_residual, self.duality_gap]
        return all(residual <= eps for residual in found)  # False for NaN, which max() can hide
