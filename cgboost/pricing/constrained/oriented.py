"""Columns that may enter with one sign only, and that draw on budgets.

Each column h of a pool is offered as h and as −h, where the rule of its feature allows, for
coefficients α ≥ 0. So a sign is a matter of which columns there are, and a budget

    Σ over the columns of some features of α_j  ≤  B

is a row like others: 1 for a column that draws on it, behind the values on the training rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cgboost.arrays import Indices, Mask, Vector
from cgboost.generation.columns import Column, evaluate
from cgboost.pricing.scans.candidates import ColumnPool


class OppositeFamily:
    """Evaluates the opposites of basis functions."""

    def outputs(self, X: Any, hypotheses: Sequence[Opposite]) -> Vector:
        """−h, shape (n_rows, n_hypotheses)."""
        return -evaluate([opposite.hypothesis for opposite in hypotheses], X)


OPPOSITES = OppositeFamily()


@dataclass(frozen=True, eq=False)
class Opposite:
    """−h, which a model has as h with the opposite coefficient."""

    hypothesis: Any
    stratum: str

    @property
    def family(self) -> OppositeFamily:
        """All opposites form one family."""
        return OPPOSITES

    def terms(self) -> tuple[Sequence[Any], Vector, Sequence[str]]:
        """h, with the weight −1."""
        return [self.hypothesis], np.full(1, -1.0), [self.stratum]


class FeaturedPool(ColumnPool, Protocol):
    """A pool of columns, each of them of one feature."""

    def features(self, stratum: int) -> Indices:
        """The feature of every column, −1 for a constant."""
        ...


class OrientedPool:
    """The columns h and −h of a pool, as far as they are allowed.

    Parameters
    ----------
    allowed : mapping of (stratum, feature) to (bool, bool)
        Whether columns of a feature may enter as h, and as −h; both where it is not named.
    budgets : sequence of sets of int
        The features whose columns draw on each budget.
    """

    def __init__(
        self,
        pool: FeaturedPool,
        allowed: dict[tuple[str, int], tuple[bool, bool]],
        budgets: Sequence[frozenset[int]],
    ) -> None:
        self.pool, self.strata = pool, pool.strata
        self.n_budgets = len(budgets)
        self._closed: list[Mask] = []
        self._drawn: list[Vector] = []
        for number, name in enumerate(pool.strata):
            features = pool.features(number)
            closed = np.zeros((2, len(features)), dtype=bool)
            for (stratum, feature), signs in allowed.items():
                if stratum == name:
                    closed[:, features == feature] = ~np.array(signs)[:, None]
            self._closed.append(closed.ravel())
            drawn = [np.isin(features, list(group)) for group in budgets]
            shape = len(budgets), len(features)
            self._drawn.append(np.tile(np.array(drawn, dtype=float).reshape(shape), 2))
        self._functions: dict[Hashable, Any] = {}

    def size(self, stratum: int) -> int:
        """Twice that of the pool."""
        return len(self._closed[stratum])

    def rows(self, stratum: int) -> Indices | None:
        """These columns belong to no training row."""
        return None

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """±r·h + e·t for the response (r, t); 0 for a column that is not allowed."""
        n = len(response) - self.n_budgets
        own = self.pool.scores(stratum, None, response[:n])
        scores = np.append(own, -own) + response[n:] @ self._drawn[stratum]
        scores[self._closed[stratum]] = 0.0
        return scores if indices is None else scores[indices]

    def values(self, stratum: int, indices: Indices) -> Vector:
        """(±h, e), as the rows of an array."""
        size = self.size(stratum) // 2
        signs = np.where(indices < size, 1.0, -1.0)
        own = signs[:, None] * self.pool.values(stratum, indices % size)
        return np.hstack([own, self._drawn[stratum][:, indices].T])

    def column(self, stratum: int, index: int) -> Column:
        """One column; opposites of the same column share its basis function."""
        size = self.size(stratum) // 2
        values = self.values(stratum, np.array([index]))[0]
        name, place = self.strata[stratum], index % size
        known = self._functions.get((name, place))
        if known is None:
            known = self.pool.column(stratum, place).hypothesis
            self._functions[(name, place)] = known
        function = known if index < size else Opposite(known, name)
        return Column(values, (name, index), function, name)
