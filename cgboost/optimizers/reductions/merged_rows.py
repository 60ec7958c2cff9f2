"""Training rows that no column of a restricted master tells apart, as one row.

Rows of the same target that have the same value in every column have the same output, and their
losses add up to that of one row at the sum of their costs. Of decision stumps there are few
different rows as long as there are few columns: after thirty of them some thousand of 32561. The
pseudo-response of one row for many is shared among them in proportion to their costs, which keeps
every score and the gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import Column
from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.reductions.reduction import Problem, Reduction

MOST_VALUES = 64
"""A column of more different values tells nearly all rows apart."""

MOST_CODES = 2**30
"""Columns are taken together as long as their values have so few combinations: the numbers of
groups times these fit into an integer."""

WORTH_MERGING = 0.5
"""Groups of rows are worth a separate problem up to this share of the rows."""

LEAST_ROWS = 1000
"""With fewer rows there is little to gain."""


class MergedRows(Reduction):
    """The groups of training rows that are one row so far.

    Parameters
    ----------
    loss : SupportVectorLoss
        Of the training rows and the rows of limits behind them.
    n_rows : int
        Number of training rows.

    Attributes
    ----------
    number : ndarray of int, shape (n_rows,)
        The group of each training row.
    first : ndarray of int, shape (n_groups,)
        A training row of each group.
    """

    def __init__(self, loss: SupportVectorLoss, n_rows: int) -> None:
        self.loss, self.n_rows = loss, n_rows
        self._further = np.arange(n_rows, loss.n_rows)
        self._split(np.unique(loss.target[:n_rows], return_inverse=True)[1].ravel())

    @classmethod
    def of(cls, problem: Problem) -> Self | None:
        """For a loss that is a box alone, and many rows that its columns do not tell apart."""
        loss = problem.loss
        if loss.mass is not None or loss.curvature is not None or loss.n_rows < LEAST_ROWS:
            return None
        merged = cls(loss, loss.n_rows)
        few = merged.take([column.values for column in problem.columns])
        return merged if few and merged.share <= WORTH_MERGING else None

    def _split(self, number: Indices) -> None:
        _, self.first, self.number = np.unique(number, return_index=True, return_inverse=True)
        self.number = self.number.ravel()

    def __len__(self) -> int:
        return len(self.first)

    @property
    def share(self) -> float:
        """Number of groups, relative to that of rows."""
        return len(self.first) / max(1, self.n_rows)

    def take(self, columns: Sequence[NDArray[np.floating]]) -> bool:
        """Tell rows apart by columns; whether that left few groups."""
        number, factor = self.number, 1
        for values in columns:
            own = values[: self.n_rows]
            upper = own == own.max()
            if (upper | (own == own.min())).all():
                count, place = 2, upper.astype(np.intp)
            else:
                distinct, place = np.unique(own, return_inverse=True)
                count = len(distinct)
            if count > MOST_VALUES:
                return False
            if factor * count > MOST_CODES:
                self._split(number)
                number, factor = self.number, 1
            number, factor = number * count + place.ravel(), factor * count
        self._split(number)
        return True

    def apply(self, problem: Problem) -> Problem:
        """The loss of one row for each group, and of the rows behind."""
        rows = np.append(self.first, self._further)
        loss = replace(
            self.loss,
            target=self.loss.target[rows],
            lower=np.append(self._sums(self.loss.lower), self.loss.lower[self.n_rows :]),
            upper=np.append(self._sums(self.loss.upper), self.loss.upper[self.n_rows :]),
        )
        return replace(problem, loss=loss, columns=self.columns(problem.columns))

    def columns(self, new: Sequence[Column]) -> Sequence[Column]:
        """On one row for each group, and on the rows behind."""
        rows = np.append(self.first, self._further)
        return [replace(column, values=column.values[rows]) for column in new]

    def invert(self, point: RestrictedPoint) -> RestrictedPoint:
        """Output and pseudo-response of all rows."""
        output, response = self.on_rows(point.output), self._shared(point.response)
        return replace(point, output=output, response=response)

    def on_rows(self, values: Vector) -> Vector:
        """An output on all rows."""
        return np.append(values[: len(self)][self.number], values[len(self) :])

    def _shared(self, response: Vector) -> Vector:
        """A pseudo-response of groups shared among their rows, in proportion to the boxes.

        The part of r beyond the end nearest to 0 is what is shared: between r = lower and r = upper
        of a group every row is at the same place of its box.
        """
        groups, loss = response[: len(self)], self.loss
        lower, upper = loss.lower[: self.n_rows], loss.upper[: self.n_rows]
        low, high = self._sums(lower), self._sums(upper)
        width = high - low
        place = np.divide(groups - low, width, out=np.zeros(len(self)), where=width > 0)
        own = lower + place[self.number] * (upper - lower)
        return np.append(own, response[len(self) :])

    def _sums(self, values: Vector) -> Vector:
        return np.bincount(
            self.number, weights=values[: self.n_rows], minlength=len(self.first)
        ).astype(np.float64)
