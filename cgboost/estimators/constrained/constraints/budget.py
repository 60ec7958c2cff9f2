"""Budgets of coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cgboost.estimators.constrained.constraints.constraint import Constraint, Measure, check_limit
from cgboost.estimators.constrained.data import Budget, Declarations, MeasuredModel


@dataclass(frozen=True)
class GroupBudget(Constraint):
    """An upper limit on the coefficients of the columns of some features: Σ|α| ≤ limit.

    Parameters
    ----------
    features : sequence of str or int
    limit : float
        0 excludes the features.
    """

    features: Sequence[Any]
    limit: float

    def check(self) -> None:
        """Some features, and a limit of at least 0."""
        check_limit(self, "limit", self.limit)
        if isinstance(self.features, str) or not len(self.features):
            raise ValueError(
                f"GroupBudget: features must be a list of names or numbers, got {self.features!r}"
            )

    def _indices(self, features: Any) -> list[int]:
        return [features.index(feature, "GroupBudget") for feature in self.features]

    def _part(self, features: Any) -> str:
        return f"Σ|α| of {', '.join(features.name(k) for k in self._indices(features))}"

    def declare(self, problem: Declarations) -> None:
        """A row on coefficients."""
        indices = frozenset(self._indices(problem.features))
        part = self._part(problem.features)
        problem.budgets.append(Budget(problem.owner, part, indices, self.limit))

    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """Σ|α|."""
        own = [np.abs(seen.coefficients(k)).sum() for k in set(self._indices(seen.features))]
        return [Measure(self._part(seen.features), float(sum(own)), self.limit)]
