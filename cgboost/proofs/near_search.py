"""What is known of one end of the values of all models of a set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.proofs.near_problem import Model, NearProblem
from cgboost.proofs.near_values import Value

OFTEN = 3
"""A column that so many ends have missed is there from the start for those that follow."""

IDLE_ROUNDS = 5
"""Rounds in which nothing moves, after which rounding decides."""


@dataclass(frozen=True)
class RangeEnd:
    """The largest value of a set of models, times a sign.

    Attributes
    ----------
    attained : float
        Of a model at hand.
    bound : float
        No model of the set has a larger one.
    """

    attained: float
    bound: float


class Search:
    """What is known of one end.

    Parameters
    ----------
    problem : NearProblem
    value : Value
    sign : float
    tol : float
    """

    def __init__(self, problem: NearProblem, value: Value, sign: float, tol: float) -> None:
        self.problem, self.value, self.sign, self.tol = problem, value, sign, tol
        self.start = self.of(problem.columns, problem.best)
        self.attained, self.bound = self.start, np.inf
        self._idle, self._before = 0, (-np.inf, np.inf)

    def of(self, columns: Sequence[Column], model: Model) -> float:
        """The value of a model, times the sign."""
        return self.sign * self.problem.value_of(self.value, columns, model)

    def worth_of(self, columns: Sequence[Column]) -> Vector:
        """What a coefficient of 1 has of the value, times the sign."""
        return self.sign * self.value.worth(columns) if columns else np.zeros(0)

    def price(
        self, multiplier: float, response: Vector, held: Sequence[Column]
    ) -> Sequence[Column]:
        """Columns that are missing; the bound of the dual point is taken note of."""
        problem = self.problem
        new, bound = problem.bound(self.value, self.sign, multiplier, response, held)
        self.bound = min(self.bound, bound)
        return new

    @property
    def ended(self) -> bool:
        """Whether the ends are near enough."""
        return self.bound - self.attained <= self._wanted

    @property
    def _wanted(self) -> float:
        return self.tol * max(abs(self.start), self.attained - self.start)

    def open(self, hoped: float) -> float:
        """What such a bound would leave open, relative to how far it is; 0 where it is enough."""
        left = hoped - self.attained
        return 0.0 if left <= self._wanted else left / (hoped - self.start)

    @property
    def stalled(self) -> bool:
        """Whether neither has moved for some rounds; asked once a round."""
        now = self.attained, self.bound
        self._idle = self._idle + 1 if now == self._before else 0
        self._before = now
        return self._idle >= IDLE_ROUNDS

    @property
    def end(self) -> RangeEnd:
        """As it is; rounding may leave a bound below what it equals."""
        return RangeEnd(self.attained, max(self.attained, self.bound))


class KnownColumns:
    """Columns that are there when the search for an end begins: at first those of the optimum.

    Parameters
    ----------
    problem : NearProblem
    """

    def __init__(self, problem: NearProblem) -> None:
        self.columns = list(problem.columns)
        self._missed: Counter[Any] = Counter()

    def after(self, columns: Sequence[Column]) -> list[Column]:
        """Those that an end has added and many before it, which are known from now on."""
        new = columns[len(self.columns) :]
        self._missed.update(column.key for column in new)
        often = [column for column in new if self._missed[column.key] >= OFTEN]
        self.columns += often
        return often
