"""Columns of a restricted problem, centred and scaled, as its solvers see them.

With a free offset Σ r = 0, so that columns may be centred without changing the problem: a column's
mean moves into the offset. Features with a large mean would otherwise leave the solver a
difference of large numbers. Columns are kept scaled to entries of at most 1; what goes in and what
comes out is in the columns' own units, except where a name says "scaled".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import FloatArray
from cgboost.optimizers.free_columns import FreeColumns
from cgboost.optimizers.large_columns import LargeColumns, levelled

TOGETHER = 128
"""Columns that are taken in at a time."""

SPARE_PART = 2
"""One part in so many is room for further columns: more of it takes memory, less more copies."""

FEW_ENTRIES = 0.1
"""Columns with at most this share of entries that are not 0, all of them, are kept as these, too: a
product over the entries costs some five times as much for each as one over all rows."""

MOVING_ROWS = 20
"""Training rows that move the scores of free columns to 0, for each of these. At an optimal vertex
one is inside its box for each; where there are more, all of them have room for much less."""


class ColumnStore:
    """Columns side by side in one array that grows without copying each time.

    A row of the array is a training row, so that the few rows that matter at a time can be
    gathered fast. The first columns may be free ones, which stay in their own matrix.

    Parameters
    ----------
    large : float
        Columns of larger entries become free directions, and solvers see of them only what is left:
        :mod:`cgboost.optimizers.large_columns`. Scores and scaled columns are those
        that solvers see, coefficients those of the columns themselves.
    free_columns : FreeColumns, optional
        Solvers see their directions in their place.
    """

    def __init__(
        self,
        n_rows: int,
        *,
        centred: bool,
        large: float = np.inf,
        free_columns: FreeColumns | None = None,
    ) -> None:
        self._centred = centred
        self.free_columns = FreeColumns([]) if free_columns is None else free_columns
        self.count = self.n_free = len(self.free_columns)
        self._means = self.free_columns.means
        self._buffer = np.empty((n_rows, 16))
        self.scales = np.ones(self.n_free)
        self.largest = 0.0
        self.large = LargeColumns(n_rows, large)
        self._whole = np.zeros((n_rows, 0))
        self._replaced: Indices = np.zeros(0, dtype=np.intp)
        self.entries: sparse.csr_array | None = None

    def append(self, values: Sequence[FloatArray] | FloatArray) -> None:
        """Append columns, each of shape (n_rows,).

        They are centred and scaled a few at a time: thousands at once would want fresh memory for
        every intermediate result.
        """
        held = self.count - self.n_free
        if (count := held + len(values)) > self._buffer.shape[1]:
            grown = np.empty((self._buffer.shape[0], count + count // SPARE_PART))
            grown[:, :held] = self._buffer[:, :held]
            self._buffer = grown
        for start in range(0, len(values), TOGETHER):
            some = np.array(values[start : start + TOGETHER], dtype=np.float64)
            entries = self._entries_of(some)
            means = some.mean(axis=1) if self._centred else np.zeros(len(some))
            some -= means[:, None]
            largest = np.maximum(some.max(axis=1), -some.min(axis=1))
            self.largest = max(self.largest, float(largest.max(initial=0.0)))
            if (too_large := largest > self.large.least).any():
                some[too_large] = self._replace(some[too_large].T, np.flatnonzero(too_large)).T
                entries = None
                largest = np.abs(some).max(axis=1)
            scales = np.where(largest > 0, largest, 1.0)
            some /= scales[:, None]
            self._keep_entries(entries, scales)
            place = self.count - self.n_free
            self._buffer[:, place : place + len(some)] = some.T
            self._means = np.append(self._means, means)
            self.scales = np.append(self.scales, scales)
            self.count += len(some)

    def _entries_of(self, columns: Vector) -> sparse.csr_array | None:
        """What is not 0 of new columns; None where that is much, or was of others."""
        others = self.entries is None and self.count > 0
        if others or np.count_nonzero(columns) > FEW_ENTRIES * columns.size:
            return None
        return sparse.csr_array(columns)

    def _keep_entries(self, new: sparse.csr_array | None, scales: Vector) -> None:
        """``entries``: columns as rows, scaled, but not centred."""
        if new is not None:
            new.data /= np.repeat(scales, np.diff(new.indptr))
            if self.entries is not None:
                new = sparse.vstack([self.entries, new], format="csr")
        self.entries = new

    def _replace(self, columns: Vector, places: Indices) -> Vector:
        """What the directions of all large columns leave of some that are new."""
        numbers, earlier = self.count + places, self._replaced
        self._whole = np.hstack([self._whole, columns])
        self._replaced = np.append(earlier, numbers)
        old = len(self.large)
        rest, new = self.large.take(columns, numbers)
        if new.size and earlier.size:
            places = earlier - self.n_free
            held = self._buffer[:, places]
            shares = new.T @ held
            self._buffer[:, places] = held - new @ shares
            self.large.moved(old, earlier, shares * self.scales[earlier])
        return rest

    @property
    def means(self) -> Vector:
        """What centring took from every column."""
        return self._means

    @property
    def directions(self) -> Indices:
        """What solvers see of the free columns, by number."""
        return np.arange(self.free_columns.n_directions)

    def imbalance(self, coef: Vector, response: Vector) -> float:
        """What scores of free columns that are not 0 are worth: |Q'r|·|c| at Fα = Qc."""
        if not self.n_free:
            return 0.0
        size = np.linalg.norm(self.free_columns.of_columns(coef[: self.n_free]))
        return float(np.linalg.norm(self.free_columns.scores(response)) * size)

    def on_part(self, rows: Indices) -> ColumnStore:
        """A store of the free directions and columns on some rows, centred as on all of them."""
        part = ColumnStore(len(rows), centred=False, free_columns=self.free_columns.on_part(rows))
        held = self.scales[self.n_free :]
        part.append((self._buffer[rows, : len(held)] * held).T)
        return part

    def of_part(self, coef: Vector) -> Vector:
        """Coefficients of the columns, from those in :meth:`on_part`."""
        first = self.free_columns.n_directions
        return np.append(self.free_columns.to_columns[:, :first] @ coef[:first], coef[first:])

    def of_columns(self, coef: Vector, columns: Indices) -> Vector:
        """Coefficients of all columns, from those of some scaled columns."""
        everything = np.zeros(self.count)
        everything[columns] = coef / self.scales[columns]
        return self.of_directions(everything)

    def of_directions(self, coef: Vector) -> Vector:
        """Coefficients of the columns, where the first of ``coef`` are those of directions."""
        if not self.n_free:
            return coef
        return np.append(self.free_columns.to_columns @ coef[: self.n_free], coef[self.n_free :])

    def part(self, columns: Indices) -> ColumnStore:
        """Some of the columns, none of them free, in their own store, where none is large."""
        some = ColumnStore(len(self._buffer), centred=self._centred)
        some._buffer = self._buffer[:, columns - self.n_free]
        some._means, some.scales = self._means[columns], self.scales[columns]
        some.entries = None
        if (there := np.flatnonzero(np.isin(columns, self._replaced))).size:
            whole = self.whole(columns[there])
            some.scales[there] = np.abs(whole).max(axis=0)
            some._buffer[:, there] = whole / some.scales[there]
        some.count, some.largest = len(columns), float(some.scales.max(initial=0.0))
        return some

    def combine(self, coef: Vector) -> Vector:
        """Hα, shape (n_rows,)."""
        if not len(self._replaced):
            return self._combined(coef)
        others = coef.copy()
        others[self._replaced] = 0.0
        return self._combined(others) + self._whole @ coef[self._replaced]

    def _combined(self, coef: Vector) -> Vector:
        unpriced, held = coef[: self.n_free], (coef * self.scales)[self.n_free :]
        active = np.flatnonzero(held)
        if self.entries is not None:
            output: Vector = held @ self.entries - self._means @ coef
            return output
        if 2 * len(active) > len(held):  # gathering columns costs more than multiplying by 0
            output = self._buffer[:, : len(held)] @ held
        else:
            output = self._buffer[:, active] @ held[active]
        return output + self.free_columns.combine(unpriced) if unpriced.any() else output

    def shift(self, coef: Vector) -> float:
        """What centring took away from the output: Σ α_j mean(h_j)."""
        return float(self._means @ coef)

    def scores(self, columns: Indices, response: Vector) -> Vector:
        """h·r of some columns."""
        if not self.n_free:
            return self._held_scores(columns, response) * self.scales[columns]
        unpriced, scores = columns < self.n_free, np.zeros(len(columns))
        if unpriced.any():
            scores[unpriced] = self.free_columns.scores(response)[columns[unpriced]]
        held = columns[~unpriced]
        scores[~unpriced] = self._held_scores(held - self.n_free, response) * self.scales[held]
        return scores

    def _held_scores(self, places: Indices, response: Vector) -> Vector:
        if self.entries is not None:
            own: Vector = self.entries @ response - self._means / self.scales * response.sum()
            return own[places]
        support, held = np.flatnonzero(response), self.count - self.n_free
        if 2 * len(places) < held:
            return response[support] @ self.scaled(places + self.n_free, support)
        rows = self._buffer if 2 * len(support) > len(response) else self._buffer[support]
        weights = response if len(rows) == len(response) else response[support]
        scores: Vector = (weights @ rows[:, :held])[places]
        return scores

    def scaled_scores(self, response: Vector) -> Vector:
        """h·r of the columns that are not free, scaled to entries of at most 1."""
        scores: Vector = response @ self._buffer[:, : self.count - self.n_free]
        return scores

    def whole_scores(self, columns: Indices, response: Vector) -> Vector:
        """h·r of some columns as they were taken in, but for centring."""
        scores = self.scores(columns, response)
        there = np.flatnonzero(np.isin(columns, self._replaced))
        scores[there] = response @ self.whole(columns[there])
        return scores

    def whole(self, columns: Indices) -> Vector:
        """Large columns as they were taken in, but for centring; shape (n_rows, len(columns))."""
        place = np.full(self.count, -1)
        place[self._replaced] = np.arange(len(self._replaced))
        return self._whole[:, place[columns]]

    def scaled(self, columns: Indices, rows: Indices) -> Vector:
        """Columns, scaled to entries of at most 1, on some rows; shape (n_rows, n_columns).

        All columns on all rows, both in order, are shown as they are kept: they must not be written
        to.
        """
        if self.n_free and (unpriced := columns < self.n_free).any():
            values = np.empty((len(rows), len(columns)))
            values[:, unpriced] = self.free_columns.rows(rows, columns[unpriced])
            values[:, ~unpriced] = self.scaled(columns[~unpriced], rows)
            return values
        places, count = columns - self.n_free, self.count - self.n_free
        all_rows = len(rows) == len(self._buffer) and bool((rows[1:] > rows[:-1]).all())
        if len(places) < count or (places[1:] <= places[:-1]).any():
            if all_rows:
                return np.take(self._buffer, places, axis=1)
            return self._buffer[np.ix_(rows, places)]
        return self._buffer[:, :count] if all_rows else self._buffer[rows, :count]

    def balanced(
        self, response: Vector, lower: Vector, upper: Vector, w: Vector, *, summed: bool
    ) -> Vector:
        """The pseudo-response with scores w of the pivots of large columns, and 0 of free ones.

        A bound counts on these scores, up to rounding, while solvers leave their tolerance. The
        rows inside their boxes make up for it.

        Parameters
        ----------
        response, lower, upper : ndarray of shape (n_rows,)
        w : ndarray of shape (n_directions,)
        summed : bool
            Whether Σr = 0 too.
        """
        if len(self.large):
            response = self._beside_large(response, lower, upper, w, summed)
        return self._to_free(response, lower, upper, summed) if self.n_free else response

    def _beside_large(
        self, response: Vector, lower: Vector, upper: Vector, w: Vector, summed: bool
    ) -> Vector:
        large = self.large
        pivots = self.whole(large.pivots).astype(np.longdouble)
        ones = np.full((len(response), 1), 1.0 / np.sqrt(len(response)))

        def missed(r: Vector) -> Vector:
            exact = r.astype(np.longdouble)
            off = large.missed((exact @ pivots).astype(np.float64), w)
            return np.append(float(exact @ ones[:, 0]), off) if summed else off

        directions = np.hstack([ones, large.basis]) if summed else large.basis
        return levelled(response, lower, upper, directions, missed)

    def _to_free(self, response: Vector, lower: Vector, upper: Vector, summed: bool) -> Vector:
        """Scores of 0 of free columns; those of large ones stay.

        The rows that are most inside their box move: those at an end would stay there anyway.
        """
        large, unit = self.large.basis, 1.0 / np.sqrt(len(response))
        ones = np.ones((len(response), int(summed)))
        free_scores = self.free_columns.scores(response)[self.directions]
        scores = unit * np.append(response @ ones, free_scores)
        missed = np.append(scores, np.zeros(large.shape[1]))
        inside = np.minimum(response - lower, upper - response)
        count = min(len(response), MOVING_ROWS * len(missed))
        if not count:
            return response
        rows = np.sort(np.argpartition(-inside, count - 1)[:count])
        unpriced = self.free_columns.rows(rows, self.directions)
        directions = np.hstack([unit * ones[rows], unit * unpriced, large[rows]])
        before, response = response[rows], response.copy()
        response[rows] = levelled(
            before,
            lower[rows],
            upper[rows],
            directions,
            lambda r: missed + (r - before) @ directions,
        )
        return response
