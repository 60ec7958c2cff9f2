"""Partition of a kernel library by rows, and its cache of kernel rows.

Rows of a Gram matrix, kept while memory lasts.

Pricing adds up Σ_i w_i K(x_i, ·) over the rows where the pseudo-response has changed, and from one
round to the next these are mostly the same rows. So what is kept are rows K(x_i, ·); the ones that
were not needed for the longest time make room for others.

Blocks of centres with the scores of their columns, and what a pass orders them to do.

A partition has the columns K_p(·, x_j) of all kernels p whose centres x_j are training rows start,
…, stop − 1. Its scores are those of the last pass plus what has changed since,

    K(·, x_j)·r = K(·, x_j)·r_last + Σ_i (r − r_last)_i K(x_i, x_j),

over the few rows i where r has changed: an order names these rows and their weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.pricing.scans.candidates import PricingRequest

Matrix = NDArray[np.floating[Any]]

Vector = NDArray[np.float64]

Indices = NDArray[np.intp]

CHUNK = 2**17
"""Numbers read at a time, so that a processor's cache holds them."""

DENSE = 3
"""Rows are copied together where only one in so many is wanted, and skipped where more are."""


class RowCache:
    """Some of the rows of a matrix with ``n_rows`` rows.

    Parameters
    ----------
    capacity : int
        Most rows kept.
    n_rows, width : int
        Shape of the matrix.
    dtype : dtype
    """

    def __init__(self, *, capacity: int, n_rows: int, width: int, dtype: Any) -> None:
        # the pages of an array of zeros cost nothing until they are written
        self.store: Matrix = np.zeros((min(capacity, n_rows), width), dtype=dtype)
        self._slot_of = np.full(n_rows if len(self.store) else 0, -1, dtype=np.intp)
        self._row_in = np.full(len(self.store), -1, dtype=np.intp)
        self._used = np.zeros(len(self.store), dtype=np.intp)
        self._time = 0

    def slots(self, rows: Indices) -> Indices:
        """Where rows are kept, −1 for those that are not; counts as a use of them."""
        if not len(self.store):
            return np.full(len(rows), -1, dtype=np.intp)
        slots = self._slot_of[rows]
        self._time += 1
        self._used[slots[slots >= 0]] = self._time
        return slots

    def kept(self, rows: Indices) -> Matrix | None:
        """Some rows as they are, None unless all of them are kept; no use of them."""
        slots = self._slot_of[rows] if len(self.store) else np.full(1, -1)
        return self.store[slots] if (slots >= 0).all() else None

    def kept_columns(self, columns: Indices) -> Matrix | None:
        """Some columns, as the rows of an array; None unless all rows of the matrix are kept."""
        whole = len(self.store) and (self._slot_of >= 0).all()
        return self.store[self._slot_of[:, None], columns].T if whole else None

    def places(self, count: int) -> Indices:
        """At most ``count`` slots that may be overwritten, those used least recently.

        Nothing that was used in the last call of ``slots`` is among them. What is in them is
        forgotten at once.
        """
        idle = np.flatnonzero(self._used < max(1, self._time))
        if len(idle) > count:
            idle = idle[np.argsort(self._used[idle], kind="stable")[:count]]
        owners = self._row_in[idle]
        self._slot_of[owners[owners >= 0]] = -1
        self._row_in[idle] = -1
        return idle

    def keep(self, rows: Indices, slots: Indices) -> None:
        """Take note that the values of ``rows`` have been put into ``slots`` of the store."""
        self._slot_of[rows] = slots
        self._row_in[slots] = rows
        self._used[slots] = self._time

    def weighted_sums(
        self, slots: Indices, weights: Vector, columns: Indices | None, *, absolute: bool
    ) -> tuple[Vector, Vector]:
        """Σ weights·rows over the wanted columns (None: all), added up in float64.

        With ``absolute`` also Σ |weights|·|rows|; otherwise that is 0.
        """
        width = self.store.shape[1] if columns is None else len(columns)
        sums, sizes = np.zeros(width), np.zeros(width)
        order = np.argsort(slots)
        slots, weights = slots[order], weights[order]
        step = max(1, CHUNK // max(1, width))
        first = 0
        while first < len(slots):
            start = int(slots[first])
            last = int(np.searchsorted(slots, start + step))
            own, factors = slots[first:last], weights[first:last]
            if columns is not None:
                rows = self.store[np.ix_(own, columns)]
            elif DENSE * len(own) > (stretch := int(own[-1]) - start + 1):
                rows = self.store[start : start + stretch]  # where it stands, others with weight 0
                factors = np.zeros(stretch)
                factors[own - start] = weights[first:last]
            else:
                rows = self.store[own]
            rows = rows.astype(np.float64, copy=False)
            sums += factors @ rows
            if absolute:
                sizes += np.abs(factors) @ np.abs(rows)
            first = last
        return sums, sizes


@dataclass(frozen=True)
class Step:
    """How the scores of one stratum are brought up to date.

    Attributes
    ----------
    stratum : int
    weights : ndarray of shape (n_order_rows,)
        Of the order's rows.
    restart : bool
        Whether the sum replaces the scores so far; otherwise it is added to them.
    structured : bool
        Whether the sum is made from the kernel's structure, without kernel values.
    error : float or None
        The new scores are off by at most this times the size of the centre; None where nothing is
        known of the rounding of the kernel: then the error of the sum is bounded.
    """

    stratum: int
    weights: Vector
    restart: bool
    structured: bool
    error: float | None


@dataclass(frozen=True)
class Order:
    """What a pass asks of every partition.

    Attributes
    ----------
    rows : ndarray of int
        Training rows with a weight in any step.
    steps : sequence of Step
    dtype : dtype
        What kernel values are computed in.
    indices : ndarray of int or None
        Columns that are wanted of every stratum, ascending; then nothing is remembered. None: all.
    request : PricingRequest
        Without its response, which travels as weights.
    threads : int
        BLAS threads for large products.
    with_scores : bool
        Whether the scores themselves are wanted, beside what they show.
    """

    rows: Indices
    steps: Sequence[Step]
    dtype: Any
    indices: Indices | None
    request: PricingRequest
    threads: int = 1
    with_scores: bool = False


@dataclass(frozen=True)
class Partition:
    """The scores of the last pass for the centres start, …, stop − 1; all strata.

    Attributes
    ----------
    memory : sequence of int
        Bytes for kernel values, for every stratum.
    dtype : dtype or None
        What kernel values are computed in; None before the first pass.
    scores : ndarray of shape (n_strata, stop − start)
    errors : ndarray of shape (n_strata, stop − start)
        Of scores of kernels whose rounding is not known.
    """

    start: int
    stop: int
    memory: Sequence[int]
    dtype: Any
    scores: Vector
    errors: Vector
    caches: Sequence[RowCache]

    @classmethod
    def bare(cls, start: int, stop: int, memory: Sequence[int]) -> Partition:
        """A partition before its first pass."""
        nothing = np.zeros((len(memory), 0))
        return cls(start, stop, memory, None, nothing, nothing, ())

    def begun(self, dtype: Any, n_rows: int) -> Partition:
        """The same without scores, for kernel values of a dtype."""
        width = self.stop - self.start
        caches = [
            RowCache(
                capacity=room // max(1, width * np.dtype(dtype).itemsize),
                n_rows=n_rows,
                width=width,
                dtype=dtype,
            )
            for room in self.memory
        ]
        zeros = np.zeros((len(self.memory), width))
        return replace(self, dtype=dtype, scores=zeros, errors=zeros, caches=caches)

    def kept(self, stratum: int, rows: Indices) -> Matrix | None:
        """Values K(x_i, x_j) of some rows i and the partition's centres, if all are in memory."""
        return self.caches[stratum].kept(rows) if self.caches else None

    def kept_columns(self, stratum: int, indices: Indices) -> Matrix | None:
        """Columns K(·, x_j) of some of the partition's centres, if all values are in memory."""
        return self.caches[stratum].kept_columns(indices - self.start) if self.caches else None
