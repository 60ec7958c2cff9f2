"""The linear system of the rows that are inside their boxes: (H W Hᵀ + E) d = right side.

H holds the free rows over the active columns, W and E are diagonal. Where there are fewer rows than
columns it is solved as it stands. The product HWHᵀ is then kept, and only what has changed since
the last system is computed anew: rows that come, columns that come or go. Where there are more rows
than columns, a system of the size of the columns does the same (Sherman, Morrison, Woodbury).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from cgboost.losses.dual.support_vector import Indices, Vector

Mask = NDArray[np.bool_]

ROOM = 1.5
"""Rows that are no longer wanted are dropped when there are this many times those that are."""


class FreeRows(Protocol):
    """A factorised system."""

    def solve(self, right: Vector) -> Vector:
        """d, of the shape of ``right``."""
        ...

    def response_to(self, change: Vector) -> Vector:
        """What a change in the r of the rows that have left does to H W s on the free rows."""
        ...


@dataclass(frozen=True)
class Block:
    """Rows and columns at hand.

    Attributes
    ----------
    values : ndarray of shape (n_lines, n_columns)
    row : ndarray of int, shape (n_lines,)
        Training rows, ascending.
    weights : ndarray of shape (n_columns,)
        The diagonal of W.
    """

    values: Vector
    row: Indices
    weights: Vector

    def at(self, lines: Indices, columns: Indices) -> Vector:
        """Some columns on some lines, copied."""
        if len(columns) == len(self.weights):
            return self.values[lines]
        return self.values[np.ix_(lines, columns)]

    def part(self, lines: Indices, columns: Indices) -> Vector:
        """The same with each column multiplied by the root of its weight."""
        part = self.at(lines, columns)
        part *= np.sqrt(self.weights[columns])
        return part


class KeptProducts:
    """H W Hᵀ over the active columns, for the rows that were asked for before.

    Attributes
    ----------
    n_products : int
        Multiplications spent so far.
    """

    def __init__(self) -> None:
        self._row: Indices = np.zeros(0, dtype=np.intp)
        self._active: Mask = np.zeros(0, dtype=bool)
        self._products = np.zeros((0, 0))
        self.n_products = 0

    def of(self, block: Block, lines: Indices, active: Mask) -> Vector:
        """The products of some lines with each other, shape (n_lines, n_lines)."""
        self._update_columns(block, lines, active)
        place = self._places(block.row[lines])
        if (place < 0).any():
            self._add(block, lines[place < 0])
            place = self._places(block.row[lines])
        return self._products[np.ix_(place, place)]

    def _places(self, row: Indices) -> Indices:
        """Where rows stand among those kept, −1 for those that do not."""
        if not self._row.size:
            return np.full(len(row), -1, dtype=np.intp)
        order = np.argsort(self._row)
        found = order[np.searchsorted(self._row, row, sorter=order).clip(max=len(order) - 1)]
        return np.where(self._row[found] == row, found, -1)

    def _update_columns(self, block: Block, lines: Indices, active: Mask) -> None:
        """Account for columns that have come or gone; drop rows where that is cheaper."""
        new = len(active) - len(self._active)
        before = np.append(self._active, np.zeros(new, dtype=bool))
        self._active = active.copy()
        changed = np.flatnonzero(before != active)
        if not (changed.size and self._row.size):
            return
        wanted = self._places(block.row[lines])
        wanted = wanted[wanted >= 0]
        if len(self._row) > ROOM * len(lines):
            self._keep(wanted)
        update = len(changed) * len(self._row) ** 2
        if update > np.count_nonzero(active) * len(wanted) ** 2:
            self._keep(wanted[:0])
            return
        own = np.searchsorted(block.row, self._row)
        for columns, sign in ((changed[active[changed]], 1.0), (changed[~active[changed]], -1.0)):
            if columns.size:
                self._products += sign * _square(block.part(own, columns))
                self.n_products += len(columns) * len(own) ** 2

    def _keep(self, place: Indices) -> None:
        self._row, self._products = self._row[place], self._products[np.ix_(place, place)]

    def restrict(self, row: Indices) -> None:
        """Drop all rows but some training rows."""
        if not (there := np.isin(self._row, row)).all():
            self._keep(np.flatnonzero(there))

    def _add(self, block: Block, lines: Indices) -> None:
        columns = np.flatnonzero(self._active)
        old = len(self._row)
        new = block.part(lines, columns)
        products = np.empty((old + len(lines), old + len(lines)))
        products[:old, :old] = self._products
        products[old:, old:] = _square(new)
        if old:
            own = np.searchsorted(block.row, self._row)
            weighted = new * np.sqrt(block.weights[columns])
            products[:old, old:] = block.at(own, columns) @ weighted.T
            products[old:, :old] = products[:old, old:].T
        self.n_products += len(columns) * len(lines) * (2 * old + len(lines))
        self._row, self._products = np.append(self._row, block.row[lines]), products


class ByRows:
    """The system as it stands.

    Parameters
    ----------
    products : ndarray of shape (n_free + n_left, n_free + n_left)
        H W Hᵀ of the free rows, and of those that have just left.
    diagonal : ndarray of shape (n_free,)
        The diagonal of E.
    """

    def __init__(self, products: Vector, diagonal: Vector) -> None:
        n_free = len(diagonal)
        self._left = products[:n_free, n_free:]
        system = products[:n_free, :n_free].copy(order="F")
        system[np.diag_indices(n_free)] += diagonal
        self._factor = _cholesky(system)

    def solve(self, right: Vector) -> Vector:
        """d, of the shape of ``right``."""
        return np.asarray(dpotrs(self._factor, right, lower=1)[0])

    def response_to(self, change: Vector) -> Vector:
        """What a change of the rows that have left does to the free ones."""
        return self._left @ change


class ByColumns:
    """The same through a system of the size of the columns.

    Parameters
    ----------
    free, left : ndarray of shape (n_free, n_active), (n_left, n_active)
        Columns times the roots of their weights, on the free rows and on those that have left.
    diagonal : ndarray of shape (n_free,)
    """

    def __init__(self, free: Vector, left: Vector, diagonal: Vector) -> None:
        self._free, self._left, self._diagonal = free, left, diagonal
        system = _square((free / np.sqrt(diagonal)[:, None]).T)
        system[np.diag_indices_from(system)] += 1.0
        self._factor = _cholesky(system)

    def solve(self, right: Vector) -> Vector:
        """d, of the shape of ``right``."""
        scaled = (right.T / self._diagonal).T
        if not self._factor.size:
            return scaled
        inner = np.asarray(dpotrs(self._factor, self._free.T @ scaled, lower=1)[0])
        return scaled - ((self._free @ inner).T / self._diagonal).T

    def response_to(self, change: Vector) -> Vector:
        """What a change of the rows that have left does to the free ones."""
        return self._free @ (change @ self._left)


def free_rows(
    block: Block, kept: KeptProducts, lines: Indices, left: Indices, active: Mask, diagonal: Vector
) -> FreeRows:
    """The system of some lines in the form that is smaller.

    Parameters
    ----------
    block : Block
    kept : KeptProducts
    lines, left : ndarray of int
        The free lines, and those that have just left.
    active : ndarray of bool, shape (n_columns,)
    diagonal : ndarray of shape (len(lines),)
        Positive.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the system is singular in floating point.
    """
    columns = np.flatnonzero(active)
    if len(lines) <= len(columns):
        return ByRows(kept.of(block, np.append(lines, left), active), diagonal)
    return ByColumns(block.part(lines, columns), block.part(left, columns), diagonal)


def _square(values: Vector) -> Vector:
    """``values @ values.T``."""
    return values @ values.T


def _cholesky(system: Vector) -> Vector:
    if not system.size:
        return system
    factor, failed = dpotrf(system, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the system of the free rows is singular")
    return np.asarray(factor)
