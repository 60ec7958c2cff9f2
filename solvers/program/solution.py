"""Primal and dual points, and solutions that measure their residuals in the program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from solvers.program import residuals
from solvers.program.arrays import FloatArray
from solvers.program.program import Program
from solvers.program.status import Status


@dataclass(frozen=True, eq=False)
class Point:
    """A primal and dual point in the project's dual convention."""

    x: FloatArray
    row_duals: FloatArray


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
    x: FloatArray
    objective: float
    row_duals: FloatArray
    reduced_costs: FloatArray
    iterations: int
    seconds: float
    backend: str
    message: str
    source: Callable[[], Program] = field(repr=False)

    @cached_property
    def program(self) -> Program:
        """The program this solution belongs to."""
        return self.source()

    @cached_property
    def primal_residual(self) -> float:
        """Relative infeasibility of `x`, see `solvers.program.residuals.primal_residual`."""
        return residuals.primal_residual(self.program, self.x)

    @cached_property
    def dual_residual(self) -> float:
        """Relative infeasibility of the duals, see `solvers.program.residuals.dual_residual`."""
        return residuals.dual_residual(self.program, self.x, self.row_duals, self.reduced_costs)

    @cached_property
    def duality_gap(self) -> float:
        """Relative gap of the two objectives, see `solvers.program.residuals.duality_gap`."""
        return residuals.duality_gap(self.program, self.x, self.row_duals, self.reduced_costs)

    def is_optimal(self, eps: float = 1e-6) -> bool:
        """Whether the residuals confirm optimality to `eps`.

        Of a mixed-integer solution only feasibility can be confirmed.
        """
        found = [self.primal_residual]
        if not self.program.is_mip:
            found += [self.dual_residual, self.duality_gap]
        return all(residual <= eps for residual in found)  # False for NaN, which max() can hide
