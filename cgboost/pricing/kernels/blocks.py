"""Kernel values of a whole library, block by block.

All kernels that follow from inner products share the product of a block; of any other kernel the
values are asked for. Kernels of the distance, as Gaussian ones of several widths, share the squared
distances too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Matrix, Vector
from cgboost.forks import cached_property
from cgboost.kernels import Kernel, checked_values, kernel_values, squared_norms
from cgboost.kernels.checked_values import finite
from cgboost.kernels.expansions import ROWS_AT_ONCE, Arithmetic, Rounding, as_floats
from cgboost.kernels.kernel import DIAGONAL_ROWS
from cgboost.kernels.numeric.distances import fill_squared_distances
from cgboost.kernels.sparse_rows import (
    chunks,
    inner_products,
    is_sparse,
    most_entries,
    ordered,
    products_of,
    transposed,
)
from cgboost.parallel.threads import LARGE, available, blas_threads

EVERYTHING = slice(None)


class SharedKernelProducts:
    """Inner products of rows with centres, and what kernels make of them.

    Parameters
    ----------
    X, Z : ndarray or sparse matrix, of shape (n_rows, n_features) and (n_centres, n_features)
        Rows and centres, floats.
    """

    def __init__(self, X: Matrix, Z: Matrix) -> None:
        self.X, self.Z = X, Z
        self._x_norms = squared_norms(X)
        self._z_norms = self._x_norms if Z is X else squared_norms(Z)
        self._products = products_of(X, Z)

    @cached_property
    def _squares(self) -> Matrix:
        """Squared distances ‖x − z‖²."""
        squares = np.empty_like(self._products)
        for rows in chunks(squares):
            fill_squared_distances(
                squares[rows], self._products[rows], self._x_norms[rows], self._z_norms
            )
        return squares

    @cached_property
    def _buffer(self) -> Matrix:
        return np.empty_like(self._products)

    def values(self, kernel: Kernel, places: Indices | None = None) -> Matrix:
        """Values of a kernel of products, overwritten by the next ones.

        Parameters
        ----------
        kernel : Kernel
        places : ndarray of int, optional
            Of the centres that are wanted; by default all.

        Returns
        -------
        ndarray of shape (n_rows, n_centres)
        """
        chosen: Any = EVERYTHING if places is None else places
        given = (self._squares if kernel.of_distances else self._products)[:, chosen]
        out = self._buffer if places is None else given  # which is a copy
        with np.errstate(over="ignore", invalid="ignore"):
            if kernel.of_distances:
                for rows in chunks(given):
                    kernel.fill_from_distances(out[rows], given[rows])
            else:
                kernel.from_products(given, self._x_norms, self._z_norms[chosen], out=out)
            kernel.refine(out, self.X, self.Z[chosen])
        return out


FEATURES = 128
"""Features of a float32 product that are summed up at a time: its rounding grows with them.

With 784 features a product takes 7 % longer, and its error is six times smaller.
"""


Norms = NDArray[np.floating[Any]]


class Precision(NamedTuple):
    """What kernel values are computed in, and what they are kept in from pass to pass.

    Values computed in float64 and kept in float32 take half the memory, and are as exact as
    float32 can be: rounded once.
    """

    computed: np.dtype[Any]
    kept: np.dtype[Any]

    @classmethod
    def of(cls, dtype: Any) -> Precision:
        """The same dtype for both."""
        return cls(np.dtype(dtype), np.dtype(dtype))


ROUNDED_SIZES = 1e-12, 1e12
"""Sizes of rows with which kernel values can be kept in float32: none overflows or underflows."""


@dataclass(eq=False)
class KernelData:
    """Training rows and fitted kernels: all that kernel values are made from.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    kernels : sequence of Kernel
        Fitted; one stratum of columns each.
    block_size : int
        Rows and centres of a block of kernel values.
    symmetric : sequence of bool
        Whether a kernel is made of inner products and symmetric; empty where that is not known.
    """

    X: Matrix
    names: tuple[str, ...]
    kernels: Sequence[Kernel]
    block_size: int
    symmetric: Sequence[bool] = ()
    _norms: dict[Any, Norms] = field(default_factory=dict, repr=False)
    _roundings: dict[Any, list[Rounding | None]] = field(default_factory=dict, repr=False)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of X, float64 if that is none of floating point."""
        return np.dtype(self.X.dtype if self.X.dtype.kind == "f" else np.float64)

    @cached_property
    def restricted(self) -> list[tuple[Callable[[Matrix], Matrix], Kernel] | None]:
        """Of kernels that are called: the columns on which they are kernels of products."""
        return [None if kernel.of_products else kernel.restricted() for kernel in self.kernels]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_norms": {}, "_roundings": {}}  # these are soon made again

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self.X.shape[0])

    def __setstate__(self, state: dict[str, Any]) -> None:
        X = state["X"]  # which may be mapped from a file
        self.__dict__ |= state | {"X": X if is_sparse(X) else np.asarray(X)}

    def norms(self, dtype: Any) -> Norms:
        """Squared norms of all rows, computed in float64 once and rounded."""
        key = np.dtype(dtype)
        if key not in self._norms:
            with np.errstate(over="ignore"):
                blocks = [
                    squared_norms(self.rows(part, np.float64)) for part in self.parts(self.n_rows)
                ]
            self._norms[key] = np.concatenate(blocks).astype(key, copy=False)
        return self._norms[key]

    def rows(self, chosen: slice | Indices, dtype: Any) -> Matrix:
        """Some rows of X in a dtype, in the order of C: sums then have the same bits for any X."""
        rows: Matrix = ordered(self.X[chosen], dtype)
        return rows

    def parts(self, count: int, start: int = 0) -> list[slice]:
        """Slices of at most ``block_size`` numbers that cover start, …, count − 1."""
        step = self.block_size
        return [slice(first, min(first + step, count)) for first in range(start, count, step)]

    def roundings(
        self, dtype: Any, *, structured: bool = False, kept: Any = None
    ) -> list[Rounding | None]:
        """What is known of the rounding of every kernel's values computed in a dtype.

        With ``structured``: of the terms of sums that are made without values. With ``kept``: of
        values that have been rounded to that dtype, where they are.
        """
        if self.X.dtype == object:
            return [None] * len(self.kernels)
        key = (np.dtype(dtype), structured, np.dtype(kept or dtype))
        if key not in self._roundings and key[2] != key[0]:
            found = self.roundings(dtype, structured=structured)
            self._roundings[key] = [_rounded(own, key[2]) for own in found]
        if key not in self._roundings:
            n_features = most_entries(self.X)
            n_terms = n_features + ROWS_AT_ONCE + 16
            if not structured:
                n_terms = n_features if is_sparse(self.X) else _rounds(n_features, key[0])
            norms = self.norms(np.float64).astype(np.float64, copy=False)
            unit = 0.5 * float(np.finfo(key[0]).eps)
            arithmetic = Arithmetic(norms, n_terms, unit, refined=not structured)
            self._roundings[key] = [kernel.rounding(arithmetic) for kernel in self.kernels]
        return self._roundings[key]

    def kept_dtypes(self, precision: Precision) -> list[np.dtype[Any]]:
        """What values of every kernel are kept in; a narrow dtype needs a bound of their size."""
        return [
            precision.computed if own is None or not _fits(own) else precision.kept
            for own in self.roundings(precision.computed)
        ]

    def blocks(
        self,
        strata: Sequence[int],
        rows: slice | Indices,
        centres: slice | Indices,
        dtype: Any,
        threads: int = 1,
    ) -> Iterator[tuple[int, Matrix]]:
        """Values K(x_i, x_j) of several kernels for the same rows and centres.

        Parameters
        ----------
        strata : sequence of int
        rows, centres : slice or ndarray of int
        dtype : dtype
            What X is converted to first, for kernels that are made of inner products and bound
            their rounding. All others are given float64, and their values are taken as they are;
            precomputed values are not converted.
        threads : int
            BLAS threads for a product that is large.

        Yields
        ------
        stratum, values : int, ndarray of shape (n_rows, n_centres)
            Values are overwritten by the next ones.
        """
        sharing: dict[np.dtype[Any], list[int]] = {}
        on_columns: dict[Any, list[int]] = {}
        for stratum in strata:
            if self.kernels[stratum].of_products:
                sharing.setdefault(self.value_dtype(stratum, dtype), []).append(stratum)
            elif (restricted := self.restricted[stratum]) is not None:
                on_columns.setdefault(restricted[0], []).append(stratum)
            else:
                yield stratum, self._called(stratum, rows, centres)
        if on_columns:
            yield from self._on_columns(on_columns, rows, centres)
        for own, group in sharing.items():
            A, norms = self.rows(rows, own), self.norms(own)
            # the product of a matrix with itself takes half the operations of a product of two
            Z = A if _same(rows, centres) else self.rows(centres, own)
            with np.errstate(over="ignore", invalid="ignore"):
                products = _product(A, Z, threads)
            buffer = np.empty_like(products) if len(group) > 1 else products
            for stratum in group:
                kernel, out = self.kernels[stratum], buffer
                if stratum == group[-1]:
                    out = products  # which nobody needs after it
                with np.errstate(over="ignore", invalid="ignore"):
                    values = kernel.from_products(products, norms[rows], norms[centres], out=out)
                    kernel.refine(values, A, Z)
                yield stratum, checked_values(self.names[stratum], values, A, Z)

    def _on_columns(
        self,
        groups: Mapping[Any, Sequence[int]],
        rows: slice | Indices,
        centres: slice | Indices,
        picks: Mapping[int, Indices] | None = None,
    ) -> Iterator[tuple[int, Matrix]]:
        """Values of kernels on the same columns, from one product, and one matrix of distances.

        Parameters
        ----------
        groups : mapping of columns to sequence of int
            The strata of each.
        rows, centres : slice or ndarray of int
        picks : mapping of int to ndarray of int, optional
            The places of the centres that are wanted of each stratum; by default all.

        Yields
        ------
        As :meth:`blocks` does.
        """
        X = self._given(rows)
        Z = X if _same(rows, centres) else self._given(centres)
        for columns, group in groups.items():
            A = as_floats(columns(X))
            shared = SharedKernelProducts(A, A if Z is X else as_floats(columns(Z)))
            for stratum in group:
                restricted = self.restricted[stratum]
                assert restricted is not None
                values = shared.values(restricted[1], None if picks is None else picks[stratum])
                yield stratum, finite(self.names[stratum], values)

    def _given(self, rows: slice | Indices) -> Matrix:
        """Rows for kernels that are called: in float64, or as the objects they are."""
        if self.X.dtype == object:
            return self.X[rows]
        return self.rows(rows, np.float64)

    def value_dtype(self, stratum: int, dtype: Any, *, structured: bool = False) -> np.dtype[Any]:
        """What values of a kernel are computed in: float64 where their rounding is not bounded."""
        known = self.roundings(dtype, structured=structured)[stratum] is not None
        return np.dtype(dtype if known else np.float64)

    def _called(self, stratum: int, rows: slice | Indices, centres: slice | Indices) -> Matrix:
        """Values as the kernel itself makes them."""
        kernel = self.kernels[stratum]
        if self.X.dtype == object:
            chosen = kernel.centres(self.X, centres)
            return kernel_values(self.names[stratum], kernel, self.X[rows], chosen)
        own, chosen = self.rows(rows, self.dtype), kernel.centres(self.X, centres)
        if not kernel.is_precomputed:
            own, chosen = own.astype(np.float64, copy=False), chosen.astype(np.float64, copy=False)
        return kernel_values(self.names[stratum], kernel, own, chosen)

    def diagonal(self, stratum: int) -> Vector:
        """K(x, x) of all rows, in float64."""
        kernel, restricted = self.kernels[stratum], self.restricted[stratum]
        if kernel.of_products:
            values = kernel.diagonal_from_norms(self.norms(np.float64))
        elif restricted is not None:
            columns, own = restricted
            values = own.diagonal(as_floats(columns(self._given(slice(0, self.n_rows)))))
        else:
            step = DIAGONAL_ROWS
            parts = [slice(start, start + step) for start in range(0, self.n_rows, step)]
            values = np.concatenate([np.diag(self._called(stratum, p, p)) for p in parts])
        return finite(self.names[stratum], values).astype(np.float64, copy=False)

    def columns(
        self,
        strata: Indices,
        indices: Indices,
        rows: Indices | None,
        *,
        exactly: bool = True,
        dtype: np.dtype[Any] | None = None,
    ) -> Matrix:
        """Columns K_p(·, x_j) on some training rows, one product for those of the same centre.

        Parameters
        ----------
        strata, indices : ndarray of int, shape (n_wanted,)
            p and j.
        rows : ndarray of int or None
            None: all.
        exactly : bool
            Whether values are computed in float64 and then rounded; otherwise in the dtype of X.
        dtype : dtype, optional
            Of the columns; by default that of X.

        Returns
        -------
        ndarray of shape (n_wanted, n_rows)
        """
        n_rows = self.n_rows if rows is None else len(rows)
        columns = np.empty((len(indices), n_rows), dtype=self.dtype if dtype is None else dtype)
        order = np.argsort(strata, kind="stable")
        numbers, starts = np.unique(strata[order], return_index=True)
        wanted = dict(zip(numbers.tolist(), np.split(order, starts[1:]), strict=True))
        on_columns: dict[Any, list[int]] = {}
        for s in wanted:
            if (own := self.restricted[s]) is not None:
                on_columns.setdefault(own[0], []).append(s)
        others = [s for s in wanted if self.restricted[s] is None]
        groups = [[s] for s in others if not self.kernels[s].of_products]
        groups.append([s for s in others if self.kernels[s].of_products])
        computed = np.dtype(np.float64) if exactly else self.dtype
        threads = available()
        with blas_threads(1):
            for group in filter(None, groups):
                centres = np.unique(np.concatenate([indices[wanted[s]] for s in group]))
                places = {s: np.searchsorted(centres, indices[wanted[s]]) for s in group}
                for part in self.parts(n_rows):
                    chosen = part if rows is None else rows[part]
                    for s, values in self.blocks(group, chosen, centres, computed, threads):
                        columns[wanted[s], part] = values[:, places[s]].T
            for key, group in on_columns.items():
                centres = np.unique(np.concatenate([indices[wanted[s]] for s in group]))
                places = {s: np.searchsorted(centres, indices[wanted[s]]) for s in group}
                for part in self.parts(n_rows):
                    chosen = part if rows is None else rows[part]
                    for s, values in self._on_columns({key: group}, chosen, centres, places):
                        columns[wanted[s], part] = values.T
        return columns


def _same(rows: slice | Indices, centres: slice | Indices) -> bool:
    """Whether these are the same rows; only slices are compared."""
    return isinstance(rows, slice) and isinstance(centres, slice) and rows == centres


def _fits(rounding: Rounding) -> bool:
    """Whether kernel values neither overflow nor underflow in float32."""
    least, most = ROUNDED_SIZES
    sizes = rounding.size[rounding.size > 0]
    return bool(sizes.min(initial=1.0) >= least and sizes.max(initial=1.0) <= most)


def _rounded(rounding: Rounding | None, kept: np.dtype[Any]) -> Rounding | None:
    """The bound for values that are rounded again: |fl(v) − v| ≤ u·|v|."""
    if rounding is None or not _fits(rounding):
        return rounding
    unit = 0.5 * float(np.finfo(kept).eps)
    return replace(rounding, relative=rounding.relative + unit * (1.0 + rounding.relative))


def _product(A: Matrix, Z: Matrix, threads: int) -> Matrix:
    """A Zᵀ, summed up over some features at a time where that makes rounding much smaller."""
    if is_sparse(A):
        return inner_products(A, transposed(Z))
    if threads > 1 and float(A.size) * len(Z) >= LARGE:
        with blas_threads(threads):
            return _product(A, Z, 1)
    step = _features_at_once(A.shape[1], A.dtype)
    products = A[:, :step] @ Z[:, :step].T
    for start in range(step, A.shape[1], step):
        products += A[:, start : start + step] @ Z[:, start : start + step].T
    return products


def _features_at_once(n_features: int, dtype: Any) -> int:
    return max(1, n_features if dtype == np.float64 else min(n_features, FEATURES))


def _rounds(n_features: int, dtype: Any) -> int:
    """Roundings that a term of a product goes through."""
    step = _features_at_once(n_features, dtype)
    return step + -(-n_features // step)
