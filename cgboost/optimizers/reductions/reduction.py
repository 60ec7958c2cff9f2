"""A change of variables of a restricted problem, and a chain of them.

    min F(Hα + b) + Ω(α)     →     min F'(H'α' + b') + Ω'(α')

The noun is CVXPY's (Agrawal, Verschueren, Diamond, Boyd, *A rewriting system for convex
optimization problems*, J. Control and Decision 5, 2018).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.penalties.penalty import DualForm


@dataclass(frozen=True)
class Problem:
    """A loss F, a penalty Ω with the rules for signs and offset, and columns H.

    Attributes
    ----------
    columns : sequence of Column
        Those that are there; more may come.
    expected_columns : int
        How many are expected in the end, as far as that is known.
    """

    loss: Any
    form: DualForm
    columns: Sequence[Column] = ()
    expected_columns: int = 0


class Reduction:
    """A change of variables; this one changes nothing."""

    def apply(self, problem: Problem) -> Problem:
        """The problem in the new variables."""
        return replace(problem, columns=self.columns(problem.columns))

    def columns(self, new: Sequence[Column]) -> Sequence[Column]:
        """Columns that come later, in the new variables."""
        return new

    def start(self, coef: Vector, intercept: Any) -> tuple[Vector, Any]:
        """Coefficients and offset to begin at, in the new variables."""
        return coef, intercept

    def invert(self, point: RestrictedPoint) -> RestrictedPoint:
        """A solution of the new problem as one of the old problem."""
        return point


Choice = Callable[[Problem], Reduction | None]
"""A reduction for a problem, None where it is none for it."""


class Chain(Reduction):
    """One reduction after another."""

    def __init__(self, parts: Iterable[Reduction] = ()) -> None:
        self.parts = list(parts)

    @classmethod
    def of(cls, problem: Problem, choices: Iterable[Choice]) -> tuple[Chain, Problem]:
        """The reductions that a problem has, and what they make of it."""
        parts = []
        for choice in choices:
            if (part := choice(problem)) is not None:
                parts.append(part)
                problem = part.apply(problem)
        return cls(parts), problem

    def apply(self, problem: Problem) -> Problem:
        """See :meth:`Reduction.apply`."""
        for part in self.parts:
            problem = part.apply(problem)
        return problem

    def columns(self, new: Sequence[Column]) -> Sequence[Column]:
        """See :meth:`Reduction.columns`."""
        for part in self.parts:
            new = part.columns(new)
        return new

    def start(self, coef: Vector, intercept: Any) -> tuple[Vector, Any]:
        """See :meth:`Reduction.start`."""
        for part in self.parts:
            coef, intercept = part.start(coef, intercept)
        return coef, intercept

    def invert(self, point: RestrictedPoint) -> RestrictedPoint:
        """See :meth:`Reduction.invert`."""
        for part in reversed(self.parts):
            point = part.invert(point)
        return point
