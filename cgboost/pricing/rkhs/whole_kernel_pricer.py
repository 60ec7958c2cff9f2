"""Pricer of whole kernels: multiple kernel learning.

The unit ball of the space of a kernel scores σ_p = √(rᵀK_p r)/w_p. One pass over all kernels prices
them, and certifies the bound over all functions of all spaces. Of several outputs, rᵀK_p r is the
sum over them. Only rows with r ≠ 0 take part. Where memory holds the values of all kernels, a pass
is a product with each matrix; otherwise values are made again, half of those off the diagonal,
since matrices are symmetric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from cgboost.arrays import Indices, Vector, blocks_of
from cgboost.generation.packed import PackedMatrix, places
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.spaces import SpaceState
from cgboost.kernels.definite import check_whole
from cgboost.kernels.kernel_family import KernelFamily, KernelSpace
from cgboost.penalties import GroupNorm
from cgboost.pricing.kernels.blocks import KernelData
from cgboost.pricing.kernels.kernel_pool import KernelPool
from cgboost.tolerances import UNIT_ROUNDOFF

FORM_TILE = 256
"""Rows of a tile of values: with more, fewer values are spared; with fewer, a pass over thousands
of kernels spends its time on calls (128: 21 s instead of 16 for 10000 kernels and 500 rows)."""

SCALE_VALUES = 2e8
"""So many kernel values, a second of them, tell the standard deviations in the spaces: all where
there are no more, otherwise those of a random part of the rows."""

CONSTANT = 1e-12
"""A variance of this share of the mean K(x, x) is rounding: the kernel is a constant."""


GRAM_SHARE = 0.5
"""Share of the memory that values of all kernels may take. A run that makes those alone that it
needs is as quick: 600 kernels on 500 rows 3.7 s instead of 4.2, 900 of them 4.3 s instead of 6.3.
Runs of several classes and paths use them again."""


class QuadraticForms:
    """rᵀK_p r for the training rows of a pool.

    Parameters
    ----------
    cache_size : float
        Megabytes.

    Attributes
    ----------
    grams : ndarray of shape (n_kernels, n_rows(n_rows + 1)/2), or None
        The values of all kernels, one triangle each, where memory holds them.
    """

    def __init__(self, pool: KernelPool, cache_size: float) -> None:
        self.pool, self.data = pool, pool.data
        n_rows, everything = self.data.n_rows, np.arange(len(self.data.kernels))
        self.grams: Vector | None = None
        if len(everything) * gram_megabytes(n_rows) <= GRAM_SHARE * cache_size:
            self.grams = np.empty((len(everything), n_rows * (n_rows + 1) // 2))
            self.fill(self.grams, everything)

    def fill(self, grams: Vector, strata: Indices) -> None:
        """Write the triangles of some kernels.

        Parameters
        ----------
        grams : ndarray of shape (n_strata, n_rows(n_rows + 1)/2)
        strata : ndarray of int
        """
        numbers = {int(stratum): place for place, stratum in enumerate(strata)}
        for rows in blocks_of(self.data.n_rows, FORM_TILE):
            before = slice(0, rows.stop)
            for stratum, values in self.data.blocks(list(numbers), rows, before, np.float64):
                triangle = grams[numbers[stratum]]
                for row, line in enumerate(values, start=rows.start):
                    start = row * (row + 1) // 2
                    triangle[start : start + row + 1] = line[: row + 1]

    def gram(self, stratum: int) -> PackedMatrix:
        """The matrix of one kernel."""
        n_rows = self.data.n_rows
        if self.grams is not None:
            return PackedMatrix(self.grams[stratum], n_rows)
        own = np.empty((1, n_rows * (n_rows + 1) // 2))
        self.fill(own, np.array([stratum]))
        return PackedMatrix(own[0], n_rows)

    def values(self, response: Vector, strata: Indices | None = None) -> tuple[Vector, Vector]:
        """rᵀK_p r of some kernels (None: all), and what rounding may have done to it.

        Returns
        -------
        forms, errors : ndarray of shape (n_strata,)
        """
        support = np.flatnonzero(response)
        strata = np.arange(len(self.data.kernels)) if strata is None else strata
        if not support.size:
            return np.zeros(len(strata)), np.zeros(len(strata))
        if self.grams is not None:
            forms, sizes = self._from_memory(support, response)
            forms, sizes = forms[strata], sizes[strata]
        else:
            forms, _, sizes = self._made_again(strata, support, response[support])
        n_terms = len(support) + self.data.X.shape[1]
        return forms, n_terms * UNIT_ROUNDOFF * sizes

    def estimates(self, response: Vector, n_rows: int) -> Vector:
        """rᵀK_p r of all kernels as some rows tell, in equal shares of both signs of r.

        Terms of a row with itself are known to be fewer than those of two rows, and count so.
        """
        rng = np.random.default_rng(0)
        rows, weights = [], []
        for sign in (1.0, -1.0):
            own = np.flatnonzero(sign * response > 0)
            some = np.sort(rng.permutation(own)[: n_rows // 2])
            rows.append(some)
            weights.append(response[some] * (response[own].sum() / (response[some].sum() or 1.0)))
        part, own_weights = np.concatenate(rows), np.concatenate(weights)
        if not part.size:
            return np.zeros(len(self.data.kernels))
        everything = np.arange(len(self.data.kernels))
        forms, squares, _ = self._made_again(everything, part, own_weights)
        share = len(part) / np.count_nonzero(response)
        return np.maximum(forms - (1.0 - share) * squares, 0.0)

    def deviations(self, weights: Vector) -> Vector:
        """The standard deviation of the rows in the space of every kernel, shape (n_kernels,).

        s² = Σ v_i K(x_i, x_i) − Σ v_i v_j K(x_i, x_j) with v = weights/Σ weights. Of a constant
        kernel, which has none, the size of a row in its place, and 1 of one that is 0.

        Parameters
        ----------
        weights : ndarray of shape (n_rows,)
            Of the rows, at least 0. Of a part of the rows where all are too many.
        """
        everything = np.arange(len(self.data.kernels))
        rows = np.flatnonzero(weights)
        most = int(np.sqrt(SCALE_VALUES / len(everything)))
        if len(rows) > most:
            rows = np.sort(np.random.default_rng(0).permutation(rows)[:most])
        share = weights[rows] / weights[rows].sum()
        if self.grams is not None and len(rows) == self.data.n_rows:
            means = np.array([PackedMatrix(own, len(rows)).form(share) for own in self.grams])
        else:
            means, _, _ = self._made_again(everything, rows, share)
        size = np.array([share @ self.data.diagonal(p)[rows] for p in range(len(everything))])
        variance = size - means
        variance = np.where(variance > CONSTANT * size, variance, size)
        return np.sqrt(np.where(variance > 0, variance, 1.0))

    def _made_again(
        self, strata: Indices, rows: Indices, weights: Vector
    ) -> tuple[Vector, Vector, Vector]:
        states = np.array_split(strata, min(len(strata), self.pool.executor.n_tasks))
        _, answer = self.pool.executor.run(
            quadratic_forms, joined, self.pool.shared, states, (rows, weights)
        )
        return answer

    def _from_memory(self, support: Indices, response: Vector) -> tuple[Vector, Vector]:
        assert self.grams is not None
        diagonals = self.grams[:, places(support, support)]
        sizes = largest_sums(diagonals, response[support])
        forms = [PackedMatrix(own, self.data.n_rows).form(response) for own in self.grams]
        return np.array(forms), sizes


def gram_megabytes(n_rows: int) -> float:
    """What the triangle of a kernel matrix takes."""
    return 4.0 * n_rows * (n_rows + 1) / 2**20


def largest_sums(diagonals: Vector, weights: Vector) -> Vector:
    """(Σ|r_i|√K_ii)², which |r|ᵀ|K||r| does not exceed where K is positive semi-definite."""
    return (np.sqrt(np.maximum(diagonals, 0.0)) @ np.abs(weights)) ** 2


def joined(answers: Sequence[tuple[Vector, Vector, Vector]]) -> tuple[Vector, Vector, Vector]:
    """What all parts have found."""
    forms, squares, sizes = zip(*answers, strict=True)
    return np.concatenate(forms), np.concatenate(squares), np.concatenate(sizes)


def quadratic_forms(
    data: KernelData, strata: Indices, message: tuple[Indices, Vector]
) -> tuple[Indices, tuple[Vector, Vector, Vector]]:
    """rᵀK_p r, Σ r_i²K_p(x_i, x_i) and the largest |r|ᵀ|K_p||r| of some kernels."""
    support, weights = message
    place = {int(stratum): number for number, stratum in enumerate(strata)}
    forms, squares, roots = np.zeros((3, len(strata)))
    tiles = list(blocks_of(len(support), FORM_TILE))
    for number, rows in enumerate(tiles):
        for centres in tiles[number:]:
            twice = 1.0 if rows == centres else 2.0
            left, right = weights[rows], weights[centres]
            blocks = data.blocks(list(place), support[rows], support[centres], np.float64)
            for stratum, values in blocks:
                own = place[stratum]
                forms[own] += twice * (left @ values @ right)
                if rows == centres:
                    diagonal = np.maximum(np.diagonal(values), 0.0)
                    squares[own] += left**2 @ diagonal
                    roots[own] += np.abs(left) @ np.sqrt(diagonal)
    return strata, (forms, squares, roots**2)


MANY_VALUES = 2e8
"""With fewer kernel values in a pass a rough one before it does not pay (a second of them)."""

ROUGH_FROM = 200
"""With fewer rows in a pass a rough one would have hardly fewer."""

ROUGH_ROWS = 96
"""Rows of a rough pass: a twentieth of the values of one over 400 rows."""

TRIED = 3
"""So many times the kernels that are wanted are scored exactly, the most promising ones."""

LEAST_FOUND = 3
"""If less than one in so many of the wanted kernels is found among them, all are scored."""


class WholeKernelPool:
    """The kernels of a library, each as a whole; the runs of a fit share it.

    Parameters
    ----------
    penalty : GroupNorm
        Whose weights the kernels have.
    cache_size : float
        Megabytes.
    row_weights : ndarray of shape (n_rows,), optional
        With which rows count in standard deviations; 1 by default.
    """

    def __init__(
        self,
        pool: KernelPool,
        penalty: GroupNorm,
        cache_size: float,
        row_weights: Vector | None = None,
    ) -> None:
        self.pool = pool
        self.forms = QuadraticForms(pool, cache_size)
        deviations = np.ones(len(pool.strata))
        if penalty.standardize:
            rows = np.ones(pool.data.n_rows) if row_weights is None else row_weights
            deviations = self.forms.deviations(rows)
        self.weights = penalty.factors(pool.strata, deviations)
        self._spaces: dict[int, KernelSpace] = {}
        self._checked: set[int] = set()

    @property
    def families(self) -> Sequence[KernelFamily]:
        """The kernels as they were fitted."""
        return self.pool.families

    def scores(self, response: Vector, strata: Indices | None = None) -> tuple[Vector, Vector]:
        """σ_p of some kernels (None: all), and what they are at most, rounding included."""
        parts = [self.forms.values(own, strata) for own in self._by_output(response)]
        forms, errors = (sum(each) for each in zip(*parts, strict=True))
        weights = self.weights if strata is None else self.weights[strata]
        least, most = np.maximum(forms, 0.0), np.maximum(forms, 0.0) + errors
        return np.sqrt(least) / weights, np.sqrt(most) / weights

    def _by_output(self, response: Vector) -> Vector:
        """A line for each output: rᵀK_p r is the sum over them."""
        return response.reshape(-1, self.pool.data.n_rows)

    def promising(self, response: Vector) -> Indices | None:
        """All kernels in the order of what some rows tell of their scores.

        None where that costs as much as the scores.
        """
        parts = self._by_output(response)
        supports = np.count_nonzero(parts, axis=1).astype(np.float64)
        values, support = len(self.weights) * float(supports @ supports), supports.max()
        if self.forms.grams is not None or values < MANY_VALUES or support < ROUGH_FROM:
            return None
        estimates = sum(self.forms.estimates(own, ROUGH_ROWS) for own in parts) / self.weights**2
        return np.argsort(-estimates, kind="stable")

    def release(self) -> None:
        """Forget the matrices that earlier runs have left."""
        for space in self._spaces.values():
            space.release()

    def _gram(self, stratum: int) -> PackedMatrix:
        """The matrix of a kernel, which must be positive semi-definite."""
        gram = self.forms.gram(stratum)
        if stratum not in self._checked:
            name, kernel = self.pool.strata[stratum], self.pool.data.kernels[stratum]
            check_whole(name, kernel, gram, narrow=self.pool.is_narrow(stratum))
            self._checked.add(stratum)
        return gram

    def space(self, stratum: int) -> KernelSpace:
        """The functions of one kernel, with its matrix."""
        if stratum not in self._spaces:
            self._spaces[stratum] = KernelSpace(
                self.pool.families[stratum],
                partial(self._gram, stratum),
                self.pool.X,
                float(self.weights[stratum]),
            )
        return self._spaces[stratum]


class WholeKernelPricer:
    """Exact pricing of all functions of all kernels."""

    def __init__(self, pool: WholeKernelPool) -> None:
        self.pool = pool

    def price(self, state: MasterState, limit: int) -> Priced:
        """The kernels of the best scores that are not in the master, at most ``limit``.

        Parameters
        ----------
        state : MasterState
            Of a master of a group norm.
        limit : int
        """
        response, rule = state.pseudo_response, state.rule
        held = state.held if isinstance(state, SpaceState) else frozenset[str]()
        names = self.pool.pool.strata
        if limit and (rough := self.pool.promising(response)) is not None:
            absent = [p for p in rough.tolist() if names[p] not in held]
            few = np.array(absent[: TRIED * limit], dtype=np.intp)
            scores, most = self.pool.scores(response, few)
            found = _best(scores, rule.excess(most), limit)
            if LEAST_FOUND * len(found) >= min(limit, len(few)):
                return self._priced(few[found], response, n_evaluated=len(few))
        scores, most = self.pool.scores(response)
        excess = rule.excess(most)
        absent_only = np.where([name in held for name in names], 0.0, excess)
        return replace(
            self._priced(_best(scores, absent_only, limit), response, n_evaluated=len(scores)),
            exact=True,
            max_excess=float(excess.max(initial=0.0)),
            total_excess=float(excess.sum()),
        )

    def _priced(self, strata: Indices, response: Vector, *, n_evaluated: int) -> Priced:
        columns = [self.pool.space(int(p)).whole(response) for p in strata]
        stratum = columns[0].stratum if columns else ""
        return Priced(columns=columns, n_evaluated=n_evaluated, stratum=stratum)


def _best(scores: Vector, excess: Vector, limit: int) -> Indices:
    """The places of the best scores that price out, at most ``limit``."""
    order = np.argsort(-scores, kind="stable")
    return order[excess[order] > 0][:limit]
