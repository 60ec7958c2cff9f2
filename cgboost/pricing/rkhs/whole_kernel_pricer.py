"""Pricer of whole kernels: multiple kernel learning.

The unit ball of the space of a kernel scores σ_p = √(rᵀK_p r)/w_p. One pass over all kernels prices
them, and certifies the bound over all functions of all spaces. Of several outputs, rᵀK_p r is the
sum over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.generation.packed import PackedMatrix
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.spaces import SpaceState
from cgboost.kernels.definite import check_whole
from cgboost.kernels.kernel_family import KernelFamily
from cgboost.kernels.kernel_space import KernelSpace
from cgboost.penalties import GroupNorm
from cgboost.pricing.kernels.kernel_pool import KernelPool
from cgboost.pricing.rkhs.quadratic_forms import QuadraticForms

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
    pool : KernelPool
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
    """Exact pricing of all functions of all kernels.

    Parameters
    ----------
    pool : WholeKernelPool
    """

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
