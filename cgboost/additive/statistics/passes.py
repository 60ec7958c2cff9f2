"""Passes over the rows: statistics of all inputs of a stage, and of the terms that make it up.

A stage takes two: one for the trees of all inputs, one for the regression that combines them.
Statistics of blocks are made on several threads and merged in the order of the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.stage import StageOutputs
from cgboost.additive.statistics.moments import Moments
from cgboost.additive.statistics.products import (
    SharedGroupProducts,
    n_products,
    origins,
    weighted_means,
)
from cgboost.arrays import Indices, Mask, Matrix, Vector, blocks_of
from cgboost.parallel.threads import Mapped
from cgboost.tables.binning import FeatureGroups
from cgboost.tables.row_blocks import BLOCK, RowBlock, SourceRows, TableRows

MOST_KEPT = 256
"""With more groups than a byte can tell apart, they are looked up again in every pass."""


@dataclass(frozen=True)
class SplitMoments:
    """Training rows and holdout rows of the same data."""

    training: Moments
    holdout: Moments

    @classmethod
    def of(cls, both: Moments) -> SplitMoments:
        """From statistics of groups that come twice: those of training rows first."""
        half = len(both) // 2
        return cls(both[:half], both[half:])

    def each(self, change: Callable[[Moments], Moments]) -> SplitMoments:
        """Both, changed."""
        return SplitMoments(change(self.training), change(self.holdout))

    def merged(self, other: SplitMoments) -> SplitMoments:
        """Of the rows of both."""
        return SplitMoments(
            self.training.merged(other.training), self.holdout.merged(other.holdout)
        )

    def without_noise(self, groups: FeatureGroups) -> SplitMoments:
        """As :meth:`Moments.without_noise`.

        Parameters
        ----------
        groups : Intervals or Categories
            Of the variables (x, regressors, response): x is about the middle of its group.
        """
        centres = groups.regressor(groups.centres)
        return self.each(lambda own: own.without_noise(slice(1, -1), centres))

    def beside(self, regressors: Indices) -> SplitMoments:
        """With some of the regressors, of variables (x, regressors, response)."""
        if len(regressors) == self.training.mean.shape[1] - 2:
            return self
        chosen = [0, *(1 + regressors).tolist(), -1]
        return self.each(lambda own: own.of_variables(chosen))


class Passes:
    """What passes over the rows of a fit have in common.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        A row of weight 2 counts as two rows. Weights with a mean below 1, over the rows that have
        any, are multiplied to have the mean 1: there cannot be less than one row behind each.
    held : ndarray of bool, shape (n_rows,)
        Holdout rows.
    mapped : callable
        ``map``, or the same on threads.
    level : float or None
        That mean, at most 1, of all rows where these are a part of them.
    """

    def __init__(
        self,
        rows: TableRows | SourceRows,
        weights: Vector,
        held: Mask,
        mapped: Mapped = map,
        level: float | None = None,
    ) -> None:
        level = level_of(weights) if level is None else level
        self.weights = weights if level == 1.0 else weights / level
        self.rows, self.held, self.mapped = rows, held, mapped
        self._means: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
        self._kept: dict[FeatureGroups, NDArray[np.uint8]] = {}
        self._known: dict[FeatureGroups, set[int]] = {}
        self._sums: dict[FeatureGroups, tuple[list[Vector], Vector | None]] = {}

    def copy(self) -> Passes:
        """Passes over the same rows for another output: it finds other sums, in the same groups."""
        other = Passes(self.rows, self.weights, self.held, self.mapped, level=1.0)
        other._kept, other._known = self._kept, self._known
        return other

    def keep(self, groups: FeatureGroups) -> None:
        """Keep what passes find of groups that come again.

        That is the group of every row of a table, a byte a row, and the sums of products of what
        stays the same: outputs of earlier stages.
        """
        self._sums[groups] = ([], None)
        if groups in self._kept:
            return
        if groups.n_groups <= MOST_KEPT and isinstance(self.rows, TableRows):
            self._kept[groups] = np.empty(self.rows.n_rows, dtype=np.uint8)
            self._known[groups] = set()

    def codes(self, groups: FeatureGroups, x: Matrix, rows: slice) -> NDArray[Any]:
        """The groups of an input on the rows of a block."""
        if groups not in self._kept:
            return groups.codes(x)
        if rows.start not in self._known[groups]:
            self._kept[groups][rows] = groups.codes(x)
            self._known[groups].add(rows.start)
        return self._kept[groups][rows]

    def by_group(
        self,
        inputs: dict[int, FeatureGroups],
        outputs: StageOutputs,
        regressors: StageOutputs,
        response: Any,
    ) -> dict[int, SplitMoments]:
        """Statistics of (x, regressors, response) in each group of each input.

        Parameters
        ----------
        inputs : dict of int to Intervals or Categories
            Groups of the inputs: features, and then outputs of earlier stages.
        outputs, regressors : StageOutputs
            Outputs that are inputs, and those that leaves may use.
        response : ndarray of shape (n_rows,), or what gives slices of it
        """
        columns = [*regressors.values, response]
        origin = np.array(list(self.mapped(self._mean, columns)))
        before = {number: self._before(groups, regressors) for number, groups in inputs.items()}
        centres = {number: np.tile(g.regressor(g.centres), 2) for number, g in inputs.items()}

        def work(block: RowBlock) -> list[Vector]:
            rows, weights = block.rows, self.weights[block.rows]
            own = np.array([values[rows] for values in columns]).T
            shared = {
                known: SharedGroupProducts(own, weights, origin=origin, known=known)
                for known in {known for known, _ in before.values()}
            }
            n_features, held = block.X.shape[1], self.held[rows]
            beyond = {n: np.int32(n) * held for n in {g.n_groups for g in inputs.values()}}
            found = []
            for number, groups in inputs.items():
                is_feature = number < n_features
                x = block.X[:, number] if is_feature else outputs.values[number - n_features][rows]
                codes = self.codes(groups, x, rows) + beyond[groups.n_groups]
                away = groups.regressor(x) - centres[number].take(codes) if groups.ordered else None
                known, _ = before[number]
                found.append(shared[known].sums(away, codes, 2 * groups.n_groups))
            return found

        totals: list[Vector] = []
        for found in self.mapped(work, self.rows):
            totals = [a + b for a, b in zip(totals, found, strict=True)] if totals else found
        result = {}
        for (number, groups), new in zip(inputs.items(), totals, strict=True):
            sums = np.hstack([before[number][1], new])
            if groups in self._sums:
                kept = sums[:, : n_products(1 + len(regressors))].copy()
                self._sums[groups] = (list(regressors.values), kept)
            result[number] = SplitMoments.of(
                Moments.from_sums(sums, origins(centres[number], origin))
            )
        return result

    def _mean(self, values: Any) -> float:
        """The mean of values of all rows; known of those that come by slices, as they stay."""
        if isinstance(values, np.ndarray):
            return float(weighted_means([values], self.weights)[0])
        if values not in self._means:
            total, n_rows = 0.0, len(values)
            for rows in blocks_of(n_rows, BLOCK):
                total += float(self.weights[rows] @ values[rows])
            self._means[values] = total / (float(self.weights.sum()) or 1.0)
        return self._means[values]

    def _before(self, groups: FeatureGroups, regressors: StageOutputs) -> tuple[int | None, Vector]:
        """How many of the regressors have sums from earlier passes, and these sums."""
        values, sums = self._sums.get(groups, ([], None))
        same = all(a is b for a, b in zip(values, regressors.values, strict=False))
        if sums is None or len(values) > len(regressors) or not same:
            return None, np.zeros((2 * groups.n_groups, 0))
        return len(values), sums

    def of_values(
        self, make: Callable[[RowBlock], Iterable[Vector]], count: int, response: Any
    ) -> SplitMoments:
        """Statistics of ``count`` columns of values made of blocks, and of the response."""

        def work(block: RowBlock) -> SplitMoments:
            values = np.empty((count + 1, len(block.X)))
            for row, own in zip(values, chain(make(block), [response[block.rows]]), strict=True):
                row[:] = own
            weights, held = self.weights[block.rows], self.held[block.rows]
            outside = Moments.from_rows(values.compress(held, axis=1).T, weights[held])
            return SplitMoments(Moments.from_rows(values.T, np.where(held, 0.0, weights)), outside)

        total: SplitMoments | None = None
        for found in self.mapped(work, self.rows):
            total = found if total is None else total.merged(found)
        assert total is not None
        return total

    def values(self, make: Callable[[RowBlock], Vector]) -> Vector:
        """Values made of blocks, for all rows."""
        result = np.empty(self.rows.n_rows)
        self.fill(result, make)
        return result

    def fill(self, result: Any, make: Callable[[RowBlock], Vector]) -> None:
        """The same, into an array or what takes values by slices."""

        def work(block: RowBlock) -> None:
            result[block.rows] = make(block)

        for _ in self.mapped(work, self.rows):
            pass


def level_of(weights: Vector) -> float:
    """The mean of the weights that are not 0, at most 1."""
    counting = np.count_nonzero(weights)
    return min(1.0, float(weights.sum()) / counting) if counting else 1.0
