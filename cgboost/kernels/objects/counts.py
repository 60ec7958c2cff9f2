"""Kernels that count features of objects: k(a, b) = Σ_f count_f(a)·count_f(b).

The features of an object are counted once. Blocks of kernel values are then products of sparse
matrices, whose columns are numbered in order of appearance of the features.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.arrays import Matrix
from cgboost.forks import Lock
from cgboost.kernels.expansions import Weights, items
from cgboost.kernels.kernel import Kernel, Norms

MOST_COUNTED = 2**16
"""Objects whose counts are kept; after that many new ones all are forgotten, and begun anew."""

Counter = Callable[[Any, Callable[[Hashable], int]], Mapping[int, float]]


class FeatureCounts:
    """Sparse counts of the features of objects, stored by the content of the objects.

    Copies, pickled or not, are empty: counts are quickly recomputed.
    """

    def __init__(self) -> None:
        self._columns: dict[Hashable, int] = {}
        self._counts: dict[Hashable, tuple[NDArray[np.intp], NDArray[np.float64]]] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[FeatureCounts], tuple[()]]:
        return FeatureCounts, ()

    def matrices(
        self, sets: Sequence[Iterable[Any]], key: Callable[[Any], Hashable], counts: Counter
    ) -> list[sparse.csr_array]:
        """One matrix per set of objects, shape (n_objects, n_features), with the same columns.

        Parameters
        ----------
        sets : sequence of iterables of objects
        key : callable
            The content of an object: equal keys have equal counts.
        counts : callable
            ``counts(item, number)`` returns counts by column; ``number(feature)`` is the column of
            a feature.
        """
        with self._lock:
            if len(self._counts) > MOST_COUNTED:
                self._columns.clear()
                self._counts.clear()
            rows = [[self._row(key(item), item, counts) for item in own] for own in sets]
            width = len(self._columns)
        return [_stacked(own, width) for own in rows]

    def _row(
        self, key: Hashable, item: Any, counts: Counter
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        if key not in self._counts:
            counted = counts(item, self._number)
            places = np.fromiter(counted.keys(), dtype=np.intp, count=len(counted))
            values = np.fromiter(counted.values(), dtype=np.float64, count=len(counted))
            self._counts[key] = places, values
        return self._counts[key]

    def _number(self, feature: Hashable) -> int:
        return self._columns.setdefault(feature, len(self._columns))


def _stacked(
    rows: Sequence[tuple[NDArray[np.intp], NDArray[np.float64]]], width: int
) -> sparse.csr_array:
    ends = np.cumsum([0, *(len(places) for places, _ in rows)])
    places = np.concatenate([places for places, _ in rows]) if rows else np.zeros(0, dtype=np.intp)
    values = np.concatenate([values for _, values in rows]) if rows else np.zeros(0)
    return sparse.csr_array((values, places, ends), shape=(len(rows), width))


@dataclass(frozen=True)
class CountKernel(Kernel):
    """k(a, b) = Σ_f count_f(a)·count_f(b) over features f of objects.

    A subclass defines what is counted (``counts``) and what distinguishes objects (``key``).
    """

    kept: FeatureCounts = field(
        default_factory=FeatureCounts, init=False, repr=False, compare=False
    )

    @property
    def takes_objects(self) -> bool:
        return True

    @abstractmethod
    def counts(self, item: Any, number: Callable[[Hashable], int]) -> Mapping[int, float]:
        """Counts of an object by column, where ``number(feature)`` is the column of a feature."""

    def key(self, item: Any) -> Hashable:
        """The content of an object; by default the object itself, which must not change."""
        key: Hashable = item
        return key

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        return replace(self)  # with its own counts

    def released(self) -> Kernel:
        return replace(self)

    def features(self, *sets: Matrix) -> list[sparse.csr_array]:
        """Counts of the objects of each set, shape (n_objects, n_features), with shared columns."""
        return self.kept.matrices([items(X) for X in sets], self.key, self.counts)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        rows, centres = self.features(X, Z)
        return np.asarray((rows @ centres.T).toarray(), dtype=np.float64)

    def diagonal(self, X: Matrix) -> Norms:
        (rows,) = self.features(X)
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
