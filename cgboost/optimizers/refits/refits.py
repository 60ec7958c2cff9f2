"""Ways to choose all coefficients of a model anew when it has got another column.

    least squares        squared error
    a linear program     losses that are piecewise linear: in its dual form every column is one
                         more row h·r = 0, so that the simplex goes on from its last basis
    a quadratic program  the same with a penalty on the variance of the output
    Newton steps         all others

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import block_diag, csc_array

from cgboost._solvers import Program, Session, open_session, solve
from cgboost.arrays import Vector
from cgboost.losses.dual.piecewise import PiecewiseLinearLoss
from cgboost.losses.loss import LONGEST_DOUBLING, DifferentiableLoss, UnboundedStepError
from cgboost.losses.squared_error import WeightedSquaredError
from cgboost.optimizers.refits.ridged import RidgedLoss
from cgboost.optimizers.solver_options import solver_errors_as_master_errors
from cgboost.tolerances import SMALLEST

NEWTON_STEPS = 50
"""Newton steps at most where they are to converge."""

CONVERGED = 1e-11
"""Size of r·h, relative to the sum of the sizes of its terms, at which Newton's method stops.
Rounding of long sums leaves about 1e-13: further steps would change the last digits only."""

SEPARATED = 1e-13
"""Where a loss that is never 0 is as small as this, relative to the weights, it has no minimum. All
margins are about 15 then for the log-loss, 30 for the exponential: far beyond a minimum of other
data."""

RIDGE = 1e-12
"""Added to the diagonal of the Hessian, relative to its largest entry. Above the rounding of the
entries, 1e-16, so that dependent columns do no harm; more would slow the last steps."""


@dataclass(frozen=True)
class Refitted:
    """Coefficients of all columns.

    Attributes
    ----------
    coef : ndarray of shape (n_columns,)
    response : ndarray of shape (n_rows,) or None
        The pseudo-response with h·r = 0 for every column, where the loss has more than one.
    bounded : bool
        False where the loss falls without end.
    """

    coef: Vector
    response: Vector | None = None
    bounded: bool = True


class Refit(Protocol):
    """Chooses coefficients."""

    def refit(self, H: Vector, coef: Vector, time_limit: float | None) -> Refitted:
        """Coefficients of the columns of H, shape (n_rows, n_columns), from the last ones."""
        ...


def refit_of(
    loss: DifferentiableLoss,
    *,
    newton_steps: int | None,
    damping: float,
    solver: str,
    solver_options: Mapping[str, Any] | None = None,
    to_the_letter: bool = False,
) -> Refit:
    """The way that suits a loss.

    Parameters
    ----------
    newton_steps : int or None
        None: until they converge.
    damping : float
        λ of [M] eq. 42.
    solver : str
        For linear programs.
    solver_options : mapping of str to object, optional
        Its own.
    to_the_letter : bool
        As :class:`NewtonRefit` has it.
    """
    if isinstance(loss, RidgedLoss) and isinstance(loss.base, PiecewiseLinearLoss):
        return RidgedDeviations(loss, loss.base, solver, solver_options)
    if isinstance(loss, RidgedLoss) and isinstance(loss.base, WeightedSquaredError):
        return NewtonRefit(loss, None, 0.0)
    if isinstance(loss, WeightedSquaredError):
        return LeastSquares(loss)
    if isinstance(loss, PiecewiseLinearLoss):
        return LeastDeviations(loss, solver, solver_options)
    return NewtonRefit(loss, newton_steps, damping, to_the_letter=to_the_letter)


class LeastSquares:
    """Coefficients by least squares."""

    def __init__(self, loss: WeightedSquaredError) -> None:
        self.loss, self._roots = loss, np.sqrt(loss.weights)

    def refit(self, H: Vector, coef: Vector, time_limit: float | None) -> Refitted:
        """The least squares."""
        roots = self._roots
        solution = np.linalg.lstsq(H * roots[:, None], self.loss.target * roots, rcond=None)[0]
        return Refitted(np.asarray(solution, dtype=np.float64))


class LeastDeviations:
    """Coefficients as the multipliers of max gain·u, Hᵀr = 0 in one live session.

    The session has the residuals of the first coefficients for a target, in units of their usual
    size, and costs in units of the largest: solvers have tolerances that are not relative.

    Parameters
    ----------
    options : mapping of str to object, optional
        The solver's own.
    """

    def __init__(
        self, loss: PiecewiseLinearLoss, solver: str, options: Mapping[str, Any] | None = None
    ) -> None:
        self.loss, self._solver, self._options = loss, solver, options
        self._session: Session | None = None
        self._start = np.zeros(0)
        self._unit, self._cost = 1.0, float(loss.box.variables.costs.max(initial=0.0)) or 1.0

    def refit(self, H: Vector, coef: Vector, time_limit: float | None) -> Refitted:
        """The optimum of the linear program ([M] eq. 18)."""
        session = self._grown(H, coef)
        with solver_errors_as_master_errors():
            solution = session.solve(time_limit=time_limit)
        variables = self.loss.box.variables
        found = -self._unit * solution.row_duals
        found[: len(self._start)] += self._start
        return Refitted(
            found, variables.response(np.clip(self._cost * solution.x, 0.0, variables.costs))
        )

    def _grown(self, H: Vector, coef: Vector) -> Session:
        """The session with a row for every column of H."""
        variables = self.loss.box.variables
        first = 0 if self._session is None else self._session.n_rows
        matrix = (H[variables.row, first:] * variables.sign[:, None]).T
        right = -(variables.base @ H[:, first:]) / self._cost
        if self._session is None:
            rates = variables.rate(H @ coef)
            self._start, self._unit = coef, _usual_size(rates)
            program = Program(
                cost=-rates / self._unit,
                matrix=matrix,
                row_lower=right,
                row_upper=right,
                lower=np.zeros(len(variables)),
                upper=variables.costs / self._cost,
            )
            self._session = open_session(program, self._solver, options=self._options)
        elif len(matrix):
            self._session.add_rows(matrix, right, right)
        return self._session


class RidgedDeviations:
    """Coefficients of a piecewise linear loss with ½λ c'Gc, G the covariance of the columns.

    With steps d from the last coefficients a, in the units of :class:`LeastDeviations`:

        max gain·u − ½λ d'Gd,  Hᵀr = λG(a + d)

    and d are the multipliers of the rows.

    Parameters
    ----------
    base : PiecewiseLinearLoss
        The loss without the penalty.
    options : mapping of str to object, optional
        The solver's own.
    """

    def __init__(
        self,
        loss: RidgedLoss,
        base: PiecewiseLinearLoss,
        solver: str,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.loss, self._base, self._solver, self._options = loss, base, solver, options
        self._cost = float(base.box.variables.costs.max(initial=0.0)) or 1.0

    def refit(self, H: Vector, coef: Vector, time_limit: float | None) -> Refitted:
        """The optimum of the quadratic program."""
        variables = self._base.box.variables
        rates = variables.rate(H @ coef)
        unit = _usual_size(rates)
        program = self._program(H, coef, rates, unit)
        with solver_errors_as_master_errors():
            solution = solve(program, self._solver, time_limit=time_limit, options=self._options)
        found = coef - unit * solution.row_duals
        u = np.clip(self._cost * solution.x[: len(variables)], 0.0, variables.costs)
        return Refitted(found, variables.response(u) - self.loss.pull(H @ found))

    def _program(self, H: Vector, coef: Vector, rates: Vector, unit: float) -> Program:
        """The program in u and d; d of a column without variance is left out."""
        variables = self._base.box.variables
        covariance = self.loss.bend(H)
        scaled = covariance * (unit / self._cost)
        n, varies = len(variables), np.diag(scaled) > 0.0
        right = (covariance @ coef - variables.base @ H) / self._cost
        return Program(
            cost=np.append(-rates / unit, np.zeros(len(coef))),
            quadratic=block_diag([csc_array((n, n)), csc_array(scaled)], format="csc"),
            matrix=np.hstack([(H[variables.row] * variables.sign[:, None]).T, -scaled]),
            row_lower=right,
            row_upper=right,
            lower=np.append(np.zeros(n), np.where(varies, -np.inf, 0.0)),
            upper=np.append(variables.costs / self._cost, np.where(varies, np.inf, 0.0)),
        )


def _usual_size(values: Vector) -> float:
    """The median size, unless some are more than 10⁸ times as large; 1 where all are 0."""
    sizes = np.abs(values)
    return max(float(np.median(sizes)), 1e-8 * float(sizes.max())) or 1.0 if len(sizes) else 1.0


def damped(hessian: Vector, damping: float) -> Vector:
    """(1 − λ)H + λ trace(H)/n I ([M] eq. 42), and a ridge for columns that depend on each other."""
    diagonal = np.diag(hessian)
    added = damping * float(diagonal.mean()) + RIDGE * max(float(diagonal.max()), SMALLEST)
    return np.asarray((1.0 - damping) * hessian + added * np.eye(len(hessian)), dtype=np.float64)


class NewtonRefit:
    """Coefficients by Newton's method, to convergence or for some steps.

    Parameters
    ----------
    loss : DifferentiableLoss
        Of several outputs with a Hessian by column and output.
    steps : int or None
        None: until it converges, each step of the best length; otherwise full steps, unless one
        would raise the loss.
    damping : float
        λ in Ĥ = (1 − λ)H + λ trace(H)/n_columns·I ([M] eq. 42), for columns of length 1, weighted,
        the constant among them: one of entries 1 would have nearly all of the trace, and hold up
        the others.
    to_the_letter : bool, default=False
        Whether the first column, the constant, has entries 1 there all the same, and lengths are
        without weights, as [M] writes it.
    """

    def __init__(
        self,
        loss: DifferentiableLoss,
        steps: int | None,
        damping: float,
        *,
        to_the_letter: bool = False,
    ) -> None:
        self.loss, self.steps, self.damping = loss, steps, damping
        self._to_the_letter = to_the_letter

    def refit(self, H: Vector, coef: Vector, time_limit: float | None) -> Refitted:
        """Newton steps from ``coef``."""
        units = np.sqrt(self.loss.weights @ H**2)
        if self._to_the_letter:
            units = np.append(1.0, np.linalg.norm(H[:, 1:], axis=0))
        units[units == 0.0] = 1.0
        units = np.repeat(units, self.loss.n_outputs)
        for _ in range(NEWTON_STEPS if self.steps is None else self.steps):
            output = H @ coef
            if self._is_separated(output):
                return Refitted(coef, bounded=False)
            response = self.loss.pseudo_response(output)
            gradient = H.T @ response
            if np.all(np.abs(gradient) <= CONVERGED * (np.abs(H).T @ np.abs(response))):
                break
            hessian = self.loss.hessian(output, H) / np.outer(units, units)
            right = gradient.ravel() / units
            step = np.linalg.lstsq(damped(hessian, self.damping), right, rcond=None)[0] / units
            move = step.reshape(coef.shape)
            try:
                coef = coef + self._length(output, H @ move) * move
            except UnboundedStepError:  # separated: there is no minimum, and this is far enough
                return Refitted(coef + self._far(output, H @ move) * move, bounded=False)
        return Refitted(coef)

    def _far(self, output: Vector, move: Vector) -> float:
        """How often to take a step along which the loss falls without end, until it is near 0."""
        length = 1.0
        for _ in range(LONGEST_DOUBLING):
            if self._is_separated(output + length * move):
                break
            length *= 2.0
        return length

    def _is_separated(self, output: Vector) -> bool:
        lowest = SEPARATED * float(self.loss.weights.sum())
        return not self.loss.attains_minimum and self.loss.value(output) <= lowest

    def _length(self, output: Vector, move: Vector) -> float:
        """How much of a step to take."""
        if self.steps is not None and self.loss.value(output + move) <= self.loss.value(output):
            return 1.0
        return self.loss.line_search(output, move)
