"""Calibration in the mean, group by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cgboost.estimators.constrained.constraints.constraint import (
    Constraint,
    Measure,
    check_limit,
    means_of_groups,
)
from cgboost.estimators.constrained.data import Declarations, MeasuredModel, mean_of


@dataclass(frozen=True)
class MeanCalibration(Constraint):
    """In every group, the means of output and target differ by at most ``limit``.

    For classifiers the targets are −1 and 1.

    Parameters
    ----------
    groups : str or int
        A column of X, or a name in ``groups`` of ``fit``.
    limit : float
    """

    groups: Any
    limit: float

    def check(self) -> None:
        """A limit of at least 0."""
        check_limit(self, "limit", self.limit)

    def declare(self, problem: Declarations) -> None:
        """Limits on the mean of each group."""
        grouping = problem.groups[self.groups]
        for k in range(len(grouping.labels)):
            part = grouping.part(k)
            vector = mean_of(grouping.members(k), problem.weights, f"{self!r}, {part}")
            mean = float(vector @ problem.y)
            problem.within(part, vector, mean - self.limit, mean + self.limit)

    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """Mean output minus mean target."""
        return means_of_groups(seen, self.groups, seen.output - seen.y, self.limit)
