"""Conditions on features, and conjunctions of them as basis functions.

A conjunction is h(x) = 1 where all of its conditions hold, else 0. Features are numbers; categories
are their numbers 0, 1, …, and −1 for one that was not among the training rows. nan is a missing
value: no comparison holds for it, and whether it is missing is its own condition.

All conditions that differ on the training rows are a matrix of zeros and ones. Rows that no
condition tells apart are one row of it: their pseudo-responses are added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Mask, Matrix, Vector, blocks_of
from cgboost.generation.columns import Column
from cgboost.tables.histograms import thresholds


class Relation(StrEnum):
    """What a condition asks of its feature."""

    AT_MOST = "<="
    ABOVE = ">"
    IS = "=="
    IS_NOT = "!="
    MISSING = "missing"
    PRESENT = "present"


@dataclass(frozen=True)
class Condition:
    """A comparison of a feature with a value, or whether it is there.

    Attributes
    ----------
    feature : int
    relation : Relation
    value : float
        A threshold, or the number of a category; 0 where nothing is compared.
    """

    feature: int
    relation: Relation
    value: float = 0.0

    def holds(self, X: Matrix) -> Mask:
        """Where the condition holds, shape (n_rows,)."""
        values = X[:, self.feature]
        match self.relation:
            case Relation.AT_MOST:
                return np.asarray(values <= self.value)
            case Relation.ABOVE:
                return np.asarray(values > self.value)
            case Relation.IS:
                return np.asarray(values == self.value)
            case Relation.IS_NOT:
                return np.asarray((values != self.value) & ~np.isnan(values))
            case Relation.MISSING:
                return np.asarray(np.isnan(values))
        return np.asarray(~np.isnan(values))


class ConjunctionFamily:
    """Evaluates conjunctions together: each condition once."""

    def outputs(self, X: Matrix, hypotheses: Sequence[Conjunction]) -> Vector:
        """Values of conjunctions, shape (n_rows, n_hypotheses): 1/scale where one holds, else 0."""
        held: dict[Condition, Mask] = {}
        values = np.zeros((X.shape[0], len(hypotheses)))
        for j, hypothesis in enumerate(hypotheses):
            inside = np.ones(X.shape[0], dtype=bool)
            for condition in hypothesis.conditions:
                if condition not in held:
                    held[condition] = condition.holds(X)
                inside &= held[condition]
            values[inside, j] = 1.0 / hypothesis.scale
        return values


CONJUNCTIONS = ConjunctionFamily()


@dataclass(frozen=True)
class Conjunction:
    """h(x) = 1/scale where all conditions hold, else 0.

    Attributes
    ----------
    conditions : tuple of Condition
    scale : float
        What one unit of weight costs, for columns of a master that charges all alike.
    """

    conditions: tuple[Condition, ...]
    scale: float = 1.0

    @property
    def family(self) -> ConjunctionFamily:
        """All conjunctions form one family."""
        return CONJUNCTIONS

    def importances(self, n_features: int) -> Vector:
        """Shares of the features: as many as conditions on them."""
        features = [condition.feature for condition in self.conditions]
        return np.bincount(features, minlength=n_features) / len(features)


ZeroOneMatrix = NDArray[np.uint8]

WORTH_GROUPING = 0.8
"""Equal rows are put together where that leaves at most this share of them."""

ROWS_AS_NUMBERS = 2**15
"""Rows whose zeros and ones are held as numbers at once."""


def gram(matrix: ZeroOneMatrix, weights: Vector) -> Vector:
    """MᵀDM for a diagonal D ≥ 0: a product of a matrix with itself takes half the time."""
    products = np.zeros((matrix.shape[1], matrix.shape[1]))
    for rows in blocks_of(len(matrix), ROWS_AS_NUMBERS):
        scaled = matrix[rows] * np.sqrt(weights[rows])[:, None]
        products += scaled.T @ scaled
    return products


def cross(covers: NDArray[Any], weights: Sequence[Vector], matrix: ZeroOneMatrix) -> list[Vector]:
    """CᵀDM for several diagonals D, in single precision: nothing is proved by it."""
    products = [np.zeros((covers.shape[1], matrix.shape[1])) for _ in weights]
    for rows in blocks_of(len(matrix), ROWS_AS_NUMBERS):
        dense, inside = matrix[rows].astype(np.float32), covers[rows]
        for product, own in zip(products, weights, strict=True):
            product += (inside * own[rows, None].astype(np.float32)).T @ dense
    return products


class Literals:
    """Conditions on training rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        nan where missing; categories as numbers.
    is_category : sequence of bool, shape (n_features,)
    max_bins : int
        Thresholds of a numeric feature are the midpoints between its values; with more values than
        this, those between bins of about equal weight.
    min_support : int, default=1
        Rows that a conjunction has to hold for, at least.
    weights : ndarray of shape (n_rows,), optional
        A row of weight w counts as w rows of its bins.

    Attributes
    ----------
    conditions : list of Condition
        Without those that hold for too few rows or for all, and one alone of those that hold for
        the same rows.
    matrix : ndarray of uint8, shape (n_groups, n_conditions)
        1 where a condition holds for a group of rows that no condition tells apart.
    sizes : ndarray of shape (n_groups,)
        Rows of each group.
    """

    def __init__(
        self,
        X: Matrix,
        is_category: Sequence[bool],
        *,
        max_bins: int,
        min_support: int = 1,
        weights: Vector | None = None,
    ) -> None:
        self.n_rows, self.min_support = len(X), min_support
        self.conditions: list[Condition] = []
        held, seen = [], set()
        for feature, categorical in enumerate(is_category):
            own = _conditions(X[:, feature], feature, categorical, max_bins, weights)
            for condition in own:
                inside = condition.holds(X)
                count = int(inside.sum())
                if not max(1, min_support) <= count < self.n_rows:
                    continue
                mark = np.packbits(inside).tobytes()
                if mark not in seen:
                    seen.add(mark)
                    self.conditions.append(condition)
                    held.append(inside)
        whole = np.array(held, dtype=np.uint8).reshape(len(held), self.n_rows).T
        self._group: Indices | None = None
        self.matrix, self.sizes = np.ascontiguousarray(whole), np.ones(self.n_rows)
        if self.conditions:
            self._put_together()

    def _put_together(self) -> None:
        packed = np.packbits(self.matrix, axis=1)
        rows = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, group, counts = np.unique(
            rows, return_index=True, return_inverse=True, return_counts=True
        )
        if len(first) <= WORTH_GROUPING * self.n_rows:
            self.matrix = np.ascontiguousarray(self.matrix[first])
            self.sizes, self._group = counts.astype(np.float64), group.ravel()

    def with_rows(self, X: Matrix) -> Self:
        """The same conditions, also on other rows: these come last, and support none.

        Parameters
        ----------
        X : ndarray of shape (n_new, n_features)
        """
        other, n_groups = copy(self), len(self.matrix)
        holds = [condition.holds(X) for condition in self.conditions]
        new = np.array(holds, dtype=np.uint8).reshape(len(holds), len(X)).T
        other.matrix, other.n_rows = np.vstack([self.matrix, new]), self.n_rows + len(X)
        other.sizes = np.append(self.sizes, np.zeros(len(X)))
        if self._group is not None:
            other._group = np.append(self._group, n_groups + np.arange(len(X)))
        return other

    @property
    def limits_support(self) -> bool:
        """Whether a conjunction with a score may hold for too few rows."""
        return self.min_support > 1 or not self.sizes.all()

    def __len__(self) -> int:
        return len(self.conditions)

    def sums(self, values: Vector) -> Vector:
        """Sums of row values over each group, shape (n_groups,)."""
        if self._group is None:
            return values
        totals: Vector = np.bincount(self._group, values, len(self.sizes)).astype(np.float64)
        return totals

    def cover(self, places: Sequence[int]) -> Mask:
        """Where conditions hold together, shape (n_rows,)."""
        inside: Mask = np.asarray(self.matrix[:, list(places)].all(axis=1))
        return inside if self._group is None else inside[self._group]

    def column(self, places: Sequence[int], scale: float = 1.0) -> Column:
        """The conjunction of some conditions as a column, with values of 1/scale and 0."""
        own = tuple(self.conditions[place] for place in places)
        values = self.cover(places) / scale
        return Column(values, tuple(sorted(places)), Conjunction(own, scale), "rule")


def _conditions(
    values: NDArray[Any], feature: int, categorical: bool, max_bins: int, weights: Vector | None
) -> Iterator[Condition]:
    missing = np.isnan(values)
    there = values[~missing]
    if categorical:
        codes = np.unique(there).tolist()
        for relation in (Relation.IS, Relation.IS_NOT):
            yield from (Condition(feature, relation, float(code)) for code in codes)
    elif len(there):
        own = None if weights is None else weights[~missing]
        for cut in thresholds(there, max_bins, own).tolist():
            yield Condition(feature, Relation.AT_MOST, cut)
            yield Condition(feature, Relation.ABOVE, cut)
    if missing.any():
        yield Condition(feature, Relation.MISSING)
        yield Condition(feature, Relation.PRESENT)
