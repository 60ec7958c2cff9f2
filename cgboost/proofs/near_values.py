"""Values of models that are linear in their coefficients, and pricers that know them.

    v(a, b) = Σ_j v_j a_j + v₀ b,     v_j = c·h_j(rows) = Σ_i c_i h_j(x_i)

A prediction is such a value of one row, a mean of outputs one of many, a coefficient one of a row
that has only this feature. So the score of a column that matters, h_j·u + v_j, is that of a column
with one more entry, whose pseudo-response is 1: pricers of pools and of rules take such columns as
they take all others.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import Column, evaluate
from cgboost.generation.protocols import MasterState, Priced, Pricer
from cgboost.penalties.l1 import FEASIBILITY, OneNormEntry
from cgboost.penalties.penalty import sizes
from cgboost.pricing.rules import RulePricer
from cgboost.pricing.scans.scan import StrataPricer
from cgboost.pricing.univariate.feature_pricer import FeaturePool
from cgboost.pricing.univariate.stumps import StumpPool
from cgboost.tolerances import SMALLEST

VALUES_HELD = 2**24
"""Values of columns that are held while all of a pool are evaluated: 128 MB."""

MOST_NEW_COLUMNS = 20
"""Columns that may enter in one pass."""


@dataclass(frozen=True, eq=False)
class Value(ABC):
    """A value of models, for the columns of one kind of pricer.

    Attributes
    ----------
    offset : float
        v₀.
    """

    offset: float

    @property
    def is_linear(self) -> bool:
        """Whether no |a_j| counts."""
        return True

    @abstractmethod
    def worth(self, columns: Sequence[Column]) -> Vector:
        """The v_j of columns."""

    @abstractmethod
    def sizes(self, columns: Sequence[Column]) -> Vector:
        """The w_j of a value that counts |a_j|."""

    def least(self, sign: float) -> float:
        """The multiplier is at least this."""
        return 0.0

    @abstractmethod
    def _pricer(self, sign: float, multiplier: float) -> Pricer: ...

    @abstractmethod
    def _response(self, sign: float, response: Vector) -> Vector: ...

    def priced(
        self,
        sign: float,
        response: Vector,
        multiplier: float,
        held: Sequence[Column],
        *,
        two_sided: bool,
    ) -> tuple[Sequence[Column], float | None]:
        """Columns with |h·u + v_j| > t − w_j, and the t for which there is none; None: not known.

        Parameters
        ----------
        sign : float
            1 for the largest value, −1 for the smallest.
        response, multiplier
            u and t.
        held : sequence of Column
        two_sided : bool
        """
        threshold = multiplier / (1.0 + FEASIBILITY)  # what is above t itself counts
        entry = OneNormEntry(two_sided, threshold)
        state = MasterState.at_response(self._response(sign, response), entry, held)
        with np.errstate(over="ignore"):
            priced: Priced = self._pricer(sign, multiplier).price(state, MOST_NEW_COLUMNS)
        if not priced.exact:
            return priced.columns, None
        excess = priced.max_excess
        return priced.columns, multiplier if excess <= 0 else threshold * (1.0 + excess)


# ------------------------------------------------------------------------- columns in a pool


class ExtendedPool:
    """A pool whose columns have one more entry, the last.

    Parameters
    ----------
    pool : ColumnPool
    entries : list of ndarray
        Of the columns of each stratum.
    factors : list of ndarray or None
        What scores are multiplied by.
    """

    def __init__(self, pool: Any, entries: list[Vector], factors: list[Vector] | None) -> None:
        self.pool, self.entries, self.factors = pool, entries, factors
        self.strata: tuple[str, ...] = tuple(pool.strata)

    def size(self, stratum: int) -> int:
        """Number of columns."""
        return int(self.pool.size(stratum))

    def rows(self, stratum: int) -> Indices | None:
        """The training rows of columns, if they have any."""
        found: Indices | None = self.pool.rows(stratum)
        return found

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """Scores on the training rows, and what the last entry adds."""
        wanted = slice(None) if indices is None else indices
        own = self.pool.scores(stratum, indices, response[:-1])
        scores: Vector = own + self.entries[stratum][wanted] * response[-1]
        return scores if self.factors is None else scores * self.factors[stratum][wanted]

    def values(self, stratum: int, indices: Indices) -> Vector:
        """Columns as the rows of an array."""
        own = np.asarray(self.pool.values(stratum, indices), dtype=np.float64)
        return np.column_stack([own, self.entries[stratum][indices]])

    def column(self, stratum: int, index: int) -> Column:
        """One column."""
        own = self.pool.column(stratum, index)
        values = np.append(np.asarray(own.values, np.float64), self.entries[stratum][index])
        return Column(values, own.key, own.hypothesis, own.stratum)


@dataclass(frozen=True, eq=False)
class PoolValue(Value):
    """A value of models over the columns of a pool.

    Attributes
    ----------
    pool : ColumnPool
    entries : list of ndarray
        v_j of the columns of each stratum.
    counted : list of ndarray or None
        w_j of a value that is Σ w_j |a_j|.
    """

    pool: Any = field(repr=False)
    entries: list[Vector] = field(repr=False)
    counted: list[Vector] | None = field(default=None, repr=False)

    @property
    def is_linear(self) -> bool:
        """Whether no |a_j| counts."""
        return self.counted is None

    def worth(self, columns: Sequence[Column]) -> Vector:
        """The v_j of columns."""
        return self._of(columns, self.entries)

    def sizes(self, columns: Sequence[Column]) -> Vector:
        """The w_j of columns."""
        return np.zeros(len(columns)) if self.counted is None else self._of(columns, self.counted)

    def _of(self, columns: Sequence[Column], values: list[Vector]) -> Vector:
        numbers = {name: number for number, name in enumerate(self.pool.strata)}
        keys: list[Any] = [column.key for column in columns]
        return np.array([values[numbers[name]][index] for name, index in keys])

    def least(self, sign: float) -> float:
        """More than what is counted: t − w_j is what a score may be."""
        if self.counted is None or sign < 0:
            return 0.0
        return (1.0 + FEASIBILITY) * max(float(own.max(initial=0.0)) for own in self.counted)

    def _response(self, sign: float, response: Vector) -> Vector:
        return np.append(response, sign)

    def _pricer(self, sign: float, multiplier: float) -> Pricer:
        factors = None
        if self.counted is not None:
            left = [np.maximum(multiplier - sign * own, SMALLEST) for own in self.counted]
            factors = [multiplier / own for own in left]
        return StrataPricer(ExtendedPool(self.pool, self.entries, factors))

    def priced(
        self,
        sign: float,
        response: Vector,
        multiplier: float,
        held: Sequence[Column],
        *,
        two_sided: bool,
    ) -> tuple[Sequence[Column], float | None]:
        """See :meth:`Value.priced`; where |a_j| counts, t is the largest |s_j| + w_j."""
        columns, most = super().priced(sign, response, multiplier, held, two_sided=two_sided)
        if self.counted is None:
            return columns, most
        pool, extended = ExtendedPool(self.pool, self.entries, None), np.append(response, sign)
        for stratum, own in enumerate(self.counted):
            size = sizes(pool.scores(stratum, None, extended), two_sided=two_sided)
            multiplier = max(multiplier, float((size + sign * own).max(initial=0.0)))
        return columns, multiplier


def entries_at(pool: Any, X: Any) -> list[Vector]:
    """The values of all columns of a pool on new rows, shape (n_rows, n_columns), by stratum."""
    found = []
    for stratum in range(len(pool.strata)):
        size, n_rows = int(pool.size(stratum)), X.shape[0]
        width = n_rows if isinstance(pool, (FeaturePool, StumpPool)) else n_rows + len(pool.X)
        step = max(1, VALUES_HELD // max(1, width))
        blocks = [range(k, min(k + step, size)) for k in range(0, size, step)]
        parts = [evaluate(_hypotheses(pool, stratum, block), X) for block in blocks]
        found.append(np.hstack(parts) if parts else np.zeros((n_rows, 0)))
    return found


def _hypotheses(pool: Any, stratum: int, places: range) -> list[Any]:
    """Columns as functions of new rows."""
    if isinstance(pool, FeaturePool):
        return [pool.feature(j) for j in places]
    if isinstance(pool, StumpPool):
        return [pool.stump(j) for j in places]
    return [own.hypothesis for own in pool.columns([stratum] * len(places), list(places))]


# --------------------------------------------------------------------------------------- rules


@dataclass(frozen=True, eq=False)
class RuleValue(Value):
    """A value of models over all conjunctions.

    Attributes
    ----------
    pricer : RulePricer
        Of the training rows.
    of_rows : ndarray of shape (n_rows,)
        c of the training rows.
    X : ndarray of shape (n_new, n_features)
        Other rows …
    of_new : ndarray of shape (n_new,)
        … and their c.
    """

    pricer: RulePricer = field(repr=False)
    of_rows: Vector = field(repr=False)
    X: Any = field(repr=False)
    of_new: Vector = field(repr=False)

    def worth(self, columns: Sequence[Column]) -> Vector:
        """The v_j of columns."""
        new = evaluate([column.hypothesis for column in columns], self.X)  # type: ignore[misc]
        values = np.stack([column.values[: len(self.of_rows)] for column in columns])
        worth: Vector = self.of_new @ new + values @ self.of_rows
        return worth

    def sizes(self, columns: Sequence[Column]) -> Vector:
        """None count."""
        return np.zeros(len(columns))

    def _response(self, sign: float, response: Vector) -> Vector:
        return np.append(response + sign * self.of_rows, sign * self.of_new)

    def _pricer(self, sign: float, multiplier: float) -> Pricer:
        extended = copy.copy(self.pricer)
        extended.literals = self.pricer.literals.with_rows(self.X)
        extended.tol = 0.0
        return extended
