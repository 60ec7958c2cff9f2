"""Constraints on groups of rows: equal treatment, calibration in the mean, and losses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from cgboost.arrays import Vector
from cgboost.estimators.constrained.constraints.constraint import Constraint, Measure, check_limit
from cgboost.estimators.constrained.data import (
    ConvexLimit,
    Declarations,
    Grouping,
    MeasuredModel,
    mean_of,
)
from cgboost.exceptions import see

Mean = TypeVar("Mean", float, Vector)


def _differences(
    grouping: Grouping, means: Sequence[Mean], overall: Mean
) -> list[tuple[str, Mean]]:
    """Each difference in words: of two groups, or between each of more and all rows."""
    if len(means) == 2:
        first, second = grouping.labels
        return [(f"{grouping.name}: {second} − {first}", means[1] - means[0])]
    return [(f"{grouping.part(k)} − all", mean - overall) for k, mean in enumerate(means)]


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
        return _differences(grouping, means, mean_of(counting, weights, repr(self)))

    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """The differences, of scores or rates."""
        grouping = seen.groups[self.groups]
        values = seen.output if self.of == "score" else (seen.output > 0).astype(np.float64)
        counting = self._counting(seen.y)
        means = [
            seen.mean(values, grouping.members(k) & counting) for k in range(len(grouping.labels))
        ]
        found = _differences(grouping, means, seen.mean(values, counting))
        return [Measure(part, value, self.limit) for part, value in found]


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


@dataclass(frozen=True)
class _LimitedMeans(Constraint):
    """A limit on the mean of something in every group."""

    groups: Any
    limit: float

    def check(self) -> None:
        """A limit of at least 0."""
        check_limit(self, "limit", self.limit)

    def declare(self, problem: Declarations) -> None:
        """Limits on the mean of each group."""
        for part, share in _shares(self, problem):
            self._limit(problem, part, share)

    @abstractmethod
    def _limit(self, problem: Declarations, part: str, share: Vector) -> None:
        """The limit of a group, the mean over which is share·f."""


def _shares(constraint: Any, problem: Declarations) -> list[tuple[str, Vector]]:
    """Each group in words, and the a with a·f its mean."""
    grouping = problem.groups[constraint.groups]
    parts = [grouping.part(k) for k in range(len(grouping.labels))]
    return [
        (part, mean_of(grouping.members(k), problem.weights, f"{constraint!r}, {part}"))
        for k, part in enumerate(parts)
    ]


def _means(seen: MeasuredModel, groups: Any, values: Vector, limit: float) -> list[Measure]:
    """The mean of some values in every group, and a limit for each."""
    grouping = seen.groups[groups]
    return [
        Measure(grouping.part(k), seen.mean(values, grouping.members(k)), limit)
        for k in range(len(grouping.labels))
    ]


@dataclass(frozen=True)
class MeanCalibration(_LimitedMeans):
    """In every group, the means of output and target differ by at most ``limit``.

    For classifiers the targets are −1 and 1.

    Parameters
    ----------
    groups : str or int
        A column of X, or a name in ``groups`` of ``fit``.
    limit : float
    """

    def _limit(self, problem: Declarations, part: str, share: Vector) -> None:
        mean = float(share @ problem.y)
        problem.within(part, share, mean - self.limit, mean + self.limit)

    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """Mean output minus mean target."""
        return _means(seen, self.groups, seen.output - seen.y, self.limit)


@dataclass(frozen=True)
class GroupLoss(_LimitedMeans):
    """The mean loss of every group is at most ``limit``.

    Parameters
    ----------
    groups : str or int
        A column of X, or a name in ``groups`` of ``fit``.
    limit : float
        In units of the model's loss.
    """

    def _limit(self, problem: Declarations, part: str, share: Vector) -> None:
        own = np.flatnonzero(share)

        def mean_loss(f: Any) -> Any:
            return share[own] @ problem.loss.to_cvxpy(problem.y[own], f[own])

        problem.convex.append(ConvexLimit(problem.owner, part, mean_loss, self.limit))

    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """The mean loss of each group."""
        losses = seen.loss.value(seen.y, seen.output)
        return _means(seen, self.groups, losses, self.limit)


@dataclass(frozen=True)
class MinimaxLoss(Constraint):
    """Minimise the largest mean loss of a group, instead of the mean over all rows.

    The price of a group is C Σw times its share in the worst case. The model also minimises the
    mean loss in which groups have these shares as weights.

    Parameters
    ----------
    groups : str or int
        A column of X, or a name in ``groups`` of ``fit``.
    """

    groups: Any

    def check(self) -> None:
        """There is nothing to check."""

    def declare(self, problem: Declarations) -> None:
        """Another objective."""
        if problem.minimax:
            raise ValueError("MinimaxLoss: there is one worst group, give one MinimaxLoss")
        _shares(self, problem)  # every group has rows
        problem.minimax.append((problem.owner, problem.groups[self.groups]))

    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """The mean loss of each group."""
        losses = seen.loss.value(seen.y, seen.output)
        return _means(seen, self.groups, losses, np.nan)
