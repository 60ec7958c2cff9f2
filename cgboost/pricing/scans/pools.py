"""Pools: finite families of columns in strata, which score their columns or search them.

A :class:`ColumnPool` scores columns. A :class:`SearchablePool` also looks for the best of them,
where their scores are computed; :class:`ScoredPool` makes one of any other pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.columns import Column
from cgboost.pricing.scans.candidates import Candidates, PricingRequest, merged, search_scores

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]


class ColumnPool(Protocol):
    """A finite family of columns in strata."""

    strata: tuple[str, ...]
    """Names, in order of priority."""

    def size(self, stratum: int) -> int:
        """Number of columns in a stratum."""
        ...

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """r·h for the columns ``indices`` of a stratum (None: all of them)."""
        ...

    def rows(self, stratum: int) -> Indices | None:
        """Training row each column is centred on, None where columns have no row."""
        ...

    def values(self, stratum: int, indices: Indices) -> NDArray[np.floating[Any]]:
        """Columns of a stratum on the training rows, as the rows of an array."""
        ...

    def column(self, stratum: int, index: int) -> Column:
        """One column; its ``key`` must be ``(stratum name, index)``."""
        ...


@runtime_checkable
class SearchablePool(Protocol):
    """A pool that looks for the best columns itself, where their scores are computed."""

    @property
    def rounds_columns(self) -> bool:
        """Whether columns are rounded for the master, so that their scores are not quite these."""
        ...

    def search(
        self, strata: Sequence[int], indices: Indices | None, request: PricingRequest
    ) -> Candidates:
        """What the columns ``indices`` (ascending; None: all) of some strata show."""
        ...

    def columns(self, strata: Sequence[int], indices: Sequence[int]) -> list[Column]:
        """Several columns, of any strata."""
        ...

    def values_on(
        self, strata: Indices, indices: Indices, rows: Indices | None
    ) -> NDArray[np.floating[Any]]:
        """Several columns on some training rows (None: all), as the rows of an array."""
        ...


class ScoredPool:
    """A pool that only scores columns, searched for the length of one pass."""

    rounds_columns = False

    def __init__(self, pool: ColumnPool) -> None:
        self.pool = pool
        sizes = [pool.size(stratum) for stratum in range(len(pool.strata))]
        self._scores = [np.zeros(size) for size in sizes]
        self._scored = [np.zeros(size, dtype=bool) for size in sizes]

    def search(
        self, strata: Sequence[int], indices: Indices | None, request: PricingRequest
    ) -> Candidates:
        """What the columns show; those that were scored before are not scored again."""
        candidates = Candidates()
        for stratum in strata:
            among = np.arange(len(self._scores[stratum])) if indices is None else indices
            scores = self._score(stratum, among, request.response)
            own = search_scores(stratum, among, scores, None, request)
            candidates = merged(candidates, own, request.limit)
        return candidates

    def columns(self, strata: Sequence[int], indices: Sequence[int]) -> list[Column]:
        """One column after another."""
        return [self.pool.column(s, j) for s, j in zip(strata, indices, strict=True)]

    def values_on(
        self, strata: Indices, indices: Indices, rows: Indices | None
    ) -> NDArray[np.floating[Any]]:
        """The columns of one stratum after another, cut to the wanted rows."""
        chosen = slice(None) if rows is None else rows
        values: list[Any] = [None] * len(strata)
        for stratum in np.unique(strata):
            places = np.flatnonzero(strata == stratum)
            own = self.pool.values(int(stratum), indices[places])[:, chosen]
            for place, column in zip(places, own, strict=True):
                values[place] = column
        return np.stack(values)

    def _score(self, stratum: int, among: Indices, response: Vector) -> Vector:
        scores, scored = self._scores[stratum], self._scored[stratum]
        if len(among) == len(scores) and not scored.any():
            scores[:] = self.pool.scores(stratum, None, response)
        elif (wanted := among[~scored[among]]).size:
            scores[wanted] = self.pool.scores(stratum, wanted, response)
        scored[among] = True
        return scores[among]
