"""Equal treatment of groups: differences of mean scores, or of rates of predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from cgboost.estimators.constrained.constraints.constraint import Constraint, Measure, check_limit
from cgboost.estimators.constrained.data import (
    Declarations,
    Grouping,
    MeasuredModel,
    Vector,
    mean_of,
)
from cgboost.exceptions import see


@dataclass(frozen=True)
class ParityGap(Constraint):
    """Groups have nearly the same mean score, or rate of positive predictions.

    With two groups, their difference is at most ``limit``; with more, the difference between each
    group and all rows.

    Parameters
    ----------
    groups : str or int
        A column of X, or a name in ``groups`` of ``fit``.
    limit : float
    of : {"score", "rate"}
        "score" is the mean of the output; the constraint is linear in it, and the optimum is
        certified. "rate" is the share of rows with a positive output. Its limit is met on the
        training rows by a search over prices of positive predictions: a heuristic, although each
        problem on the way is certified. Both are weighted by ``sample_weight``.

    Examples
    --------
    >>> from cgboost.constraints import ParityGap
    >>> ParityGap("sex", 0.02)
    ParityGap(groups='sex', limit=0.02, of='score')
    """

    groups: Any
    limit: float
    of: Literal["score", "rate"] = "score"

    allows_constants: ClassVar[bool] = True

    def check(self) -> None:
        """A limit of at least 0, and what it is of."""
        check_limit(self, "limit", self.limit)
        if self.of not in ("score", "rate"):
            raise ValueError(
                f"{type(self).__name__}: of must be 'score' or 'rate', got {self.of!r}"
            )

    @property
    def of_rates(self) -> bool:
        """Whether it limits rates."""
        return self.of == "rate"

    def _counting(self, y: Vector) -> Any:
        """The rows that it is about."""
        return np.ones(len(y), dtype=bool)

    _what = "mean score"
    _rate = "rate of positive predictions"

    def declare(self, problem: Declarations) -> None:
        """Limits on differences of mean scores; a search looks after rates."""
        if self.of == "rate" and not problem.is_classifier:
            raise ValueError(
                f"{self!r}: a regression has no rates, give of='score'{see('constraints')}"
            )
        grouping = problem.groups[self.groups]
        for part, vector in self.differences(grouping, problem.y, problem.weights):
            if self.of == "score":
                problem.within(part, vector, -self.limit, self.limit)

    def differences(
        self, grouping: Grouping, y: Vector, weights: Vector
    ) -> list[tuple[str, Vector]]:
        """Each difference of means in words, and as the a of a·f."""
        counting = self._counting(y)
        means = [
            mean_of(grouping.members(k) & counting, weights, f"{self!r}, {grouping.part(k)}")
            for k in range(len(grouping.labels))
        ]
        if len(means) == 2:
            first, second = grouping.labels
            return [(f"{grouping.name}: {second} − {first}", means[1] - means[0])]
        overall = mean_of(counting, weights, repr(self))
        return [(f"{grouping.part(k)} − all", mean - overall) for k, mean in enumerate(means)]

    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """The differences, of scores or rates."""
        grouping = seen.groups[self.groups]
        values = seen.output if self.of == "score" else (seen.output > 0).astype(np.float64)
        counting = self._counting(seen.y)
        means = [
            seen.mean(values, grouping.members(k) & counting) for k in range(len(grouping.labels))
        ]
        if len(means) == 2:
            first, second = grouping.labels
            part = f"{grouping.name}: {second} − {first}"
            return [Measure(part, means[1] - means[0], self.limit)]
        overall = seen.mean(values, counting)
        return [
            Measure(f"{grouping.part(k)} − all", mean - overall, self.limit)
            for k, mean in enumerate(means)
        ]


@dataclass(frozen=True)
class EqualOpportunity(ParityGap):
    """:class:`ParityGap` among the rows of the positive class, ``classes_[1]``.

    Parameters
    ----------
    groups : str or int
    limit : float
    of : {"score", "rate"}
    """

    def _counting(self, y: Vector) -> Any:
        return y > 0

    def declare(self, problem: Declarations) -> None:
        """As in :class:`ParityGap`; for classifiers only."""
        if not problem.is_classifier:
            raise ValueError(
                f"{self!r} is about the rows of the positive class, and a regression has none"
                f"{see('constraints')}"
            )
        super().declare(problem)
