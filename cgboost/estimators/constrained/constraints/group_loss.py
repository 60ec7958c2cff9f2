"""Losses of groups: limits on them, and the largest as the objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cgboost.estimators.constrained.constraints.constraint import (
    Constraint,
    Measure,
    check_limit,
    means_of_groups,
)
from cgboost.estimators.constrained.data import ConvexLimit, Declarations, MeasuredModel, mean_of


@dataclass(frozen=True)
class GroupLoss(Constraint):
    """The mean loss of every group is at most ``limit``.

    Parameters
    ----------
    groups : str or int
        A column of X, or a name in ``groups`` of ``fit``.
    limit : float
        In units of the model's loss.
    """

    groups: Any
    limit: float

    def check(self) -> None:
        """A limit of at least 0."""
        check_limit(self, "limit", self.limit)

    def declare(self, problem: Declarations) -> None:
        """A convex limit for each group."""
        grouping = problem.groups[self.groups]
        for k in range(len(grouping.labels)):
            part = grouping.part(k)
            share = mean_of(grouping.members(k), problem.weights, f"{self!r}, {part}")
            own = np.flatnonzero(share)

            def mean_loss(f: Any, own: Any = own, share: Any = share) -> Any:
                return share[own] @ problem.loss.to_cvxpy(problem.y[own], f[own])

            problem.convex.append(ConvexLimit(problem.owner, part, mean_loss, self.limit))

    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """The mean loss of each group."""
        losses = seen.loss.value(seen.y, seen.output)
        return means_of_groups(seen, self.groups, losses, self.limit)


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
        grouping = problem.groups[self.groups]
        for k in range(len(grouping.labels)):
            mean_of(grouping.members(k), problem.weights, f"{self!r}, {grouping.part(k)}")
        problem.minimax.append((problem.owner, grouping))

    def measured(self, seen: MeasuredModel) -> list[Measure]:
        """The mean loss of each group."""
        losses = seen.loss.value(seen.y, seen.output)
        return means_of_groups(seen, self.groups, losses, np.nan)
