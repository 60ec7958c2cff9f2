"""Pricing of columns that have further rows: what limits on the output see of them.

A limit a·f ≤ d sees the value a·h of a column h. With the matrix A of all limits, a column on the
rows of the master is (h, Ah, e): e says on which budgets of coefficients it draws. Its score is

    h·r + (Ah)·s + e·t  =  h·(r + Aᵀs) + e·t

for the pseudo-response (r, s, t), so that a pricer of h need only see r + Aᵀs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced, Pricer

NOTHING = 1e-12
"""A sum this small compared with that of the sizes of its terms is rounding."""


class LimitRows:
    """The rows behind the training rows.

    Parameters
    ----------
    matrix : csr_array of shape (n_limits, n_rows)
        A.
    """

    def __init__(self, matrix: csr_array, n_budgets: int = 0) -> None:
        self.matrix, self.n_budgets = csr_array(matrix), n_budgets
        self._transposed = csr_array(self.matrix.T)

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self.matrix.shape[1])

    @property
    def n_limits(self) -> int:
        """Number of limits on the output."""
        return int(self.matrix.shape[0])

    @property
    def constant(self) -> Vector:
        """The constant 1 in the rows of limits and budgets; 0 where it is but for rounding.

        A difference of means does not move with the offset, and its dual must not, either.
        """
        sums = self.matrix.sum(axis=1)
        sizes = abs(self.matrix).sum(axis=1)
        sums[np.abs(sums) <= NOTHING * sizes] = 0.0
        return np.append(sums, np.zeros(self.n_budgets))

    def seen(self, response: Vector) -> Vector:
        """(r + Aᵀs, t): the pseudo-response as a pricer of (h, e) sees it."""
        n, k = self.n_rows, self.n_limits
        pulled = response[:n] + self._transposed @ response[n : n + k]
        return np.append(pulled, response[n + k :])

    def extended(self, column: Column) -> Column:
        """(h, Ah, e), of a column (h, e) or h."""
        values = np.asarray(column.values, dtype=np.float64)
        own, drawn = values[: self.n_rows], values[self.n_rows :]
        if len(drawn) != self.n_budgets:
            drawn = np.zeros(self.n_budgets)
        return replace(column, values=np.concatenate([own, self.matrix @ own, drawn]))


class ExtendedPricer:
    """A pricer whose columns get the rows of limits.

    Parameters
    ----------
    pricer : Pricer
        Of columns h, or (h, e) where there are budgets.
    known : dict of hashable to Column
        Columns as this pricer knows them, by their keys; it is added to.
    """

    def __init__(self, pricer: Pricer, rows: LimitRows, known: dict[Hashable, Column]) -> None:
        self.pricer, self.rows, self._known = pricer, rows, known

    def price(self, state: MasterState, limit: int) -> Priced:
        """What the pricer offers at r + Aᵀs."""
        n = self.rows.n_rows
        seen = replace(
            state,
            columns=[self._known[column.key] for column in state.columns],
            output=state.output[:n],
            slack=state.slack[:n],
            pseudo_response=self.rows.seen(state.pseudo_response),
        )
        priced = self.pricer.price(seen, limit)
        return replace(priced, columns=self._extended(priced.columns))

    def _extended(self, columns: Sequence[Column]) -> list[Any]:
        for column in columns:
            self._known[column.key] = column
        return [self.rows.extended(column) for column in columns]
