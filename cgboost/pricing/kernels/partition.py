"""Blocks of centres with the scores of their columns, and what a pass orders them to do.

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

from cgboost.pricing.kernels.row_cache import Matrix, RowCache
from cgboost.pricing.scans.candidates import PricingRequest

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]


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
