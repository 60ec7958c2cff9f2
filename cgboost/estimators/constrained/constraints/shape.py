"""Signs, shapes and budgets of the contributions of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from cgboost.estimators.constrained.constraints.constraint import Constraint, Measure, check_limit
from cgboost.estimators.constrained.data import Budget, Declarations, MeasuredModel


def _check_direction(constraint: Any) -> None:
    if constraint.direction not in (-1, 1):
        raise ValueError(
            f"{type(constraint).__name__}: direction must be 1 (rising) or -1 (falling), got "
            f"{constraint.direction!r}"
        )


@dataclass(frozen=True)
class Monotone(Constraint):
    """The output increases, or decreases, in a feature, all other features being equal.

    Parameters
    ----------
    feature : str or int
        Its name in a data frame, or its index.
    direction : {1, -1}
        1 for increasing, −1 for decreasing.

    Examples
    --------
    >>> from cgboost.constraints import Monotone
    >>> Monotone("income", +1)
    Monotone(feature='income', direction=1)
    """

    feature: Any
    direction: Literal[1, -1] = 1

    allows_constants: ClassVar[bool] = True

    def check(self) -> None:
        """The direction is 1 or −1."""
        _check_direction(self)

    def declare(self, problem: Declarations) -> None:
        """Allow columns of the feature with one sign only."""
        index = problem.features.index(self.feature, f"{type(self).__name__}({self.feature!r})")
        rises, falls = problem.signs.get(index, (True, True))
        problem.signs[index] = rises and self.direction == 1, falls and self.direction == -1

    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """The largest coefficient against the direction."""
        index = seen.features.index(self.feature, type(self).__name__)
        against = -self.direction * seen.coefficients(index)
        if "slope" in seen.table:
            own = seen.table["slope"][seen.table["feature"] == index]
            against = against * np.where(own < 0, -1.0, 1.0)
        return [Measure("against the direction", float(against.max(initial=0.0)), 0.0)]


@dataclass(frozen=True)
class Sign(Monotone):
    """Coefficients of a feature are at least 0, or at most 0.

    If features are the columns, this is the sign of their coefficient; for stumps it is the same
    as :class:`Monotone`.

    Parameters
    ----------
    feature : str or int
    direction : {1, -1}
    """


@dataclass(frozen=True)
class Convex(Constraint):
    """The contribution of a feature to the output is convex.

    Its columns are hinges max(0, x − t) and max(0, t − x) instead of stumps. A feature that is
    itself a column is already both convex and concave.

    Parameters
    ----------
    feature : str or int
    """

    feature: Any

    allows_constants: ClassVar[bool] = True
    _curvature = 1

    def check(self) -> None:
        """There is nothing to check."""

    def declare(self, problem: Declarations) -> None:
        """Columns of the feature are hinges with coefficients of one sign."""
        index = problem.features.index(self.feature, f"{type(self).__name__}({self.feature!r})")
        if problem.shapes.get(index, self._curvature) != self._curvature:
            raise ValueError(
                f"Convex and Concave of {self.feature!r} leave a straight line alone: give one of "
                'the two, or columns="features"'
            )
        problem.shapes[index] = self._curvature

    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """The largest coefficient of a hinge of the wrong sign."""
        index = seen.features.index(self.feature, type(self).__name__)
        against = -self._curvature * seen.coefficients(index)
        if "slope" not in seen.table:
            against = np.zeros(0)
        return [Measure("against the shape", float(against.max(initial=0.0)), 0.0)]


@dataclass(frozen=True)
class Concave(Convex):
    """The contribution of a feature to the output is concave, see :class:`Convex`.

    Parameters
    ----------
    feature : str or int
    """

    _curvature = -1


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
