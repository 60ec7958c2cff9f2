"""The most promising columns of a complete pass, looked through until it takes another pass.

Where a pass takes much longer than the master, most rounds can do without one: the best columns of
each stratum are kept with their values, and as long as some of them price out well, they are
offered. The certificate comes from complete passes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices
from cgboost.pricing.scans.candidates import Candidates, HeldColumns, PricingRequest, largest


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Some columns of a pool, with their values.

    Attributes
    ----------
    strata, indices : ndarray of int, shape (n_listed,)
    values : ndarray of shape (n_listed, n_rows)
    enough : float
        The shortlist is used up when its best violation is not more than this.
    """

    strata: Indices
    indices: Indices
    values: NDArray[np.floating[Any]]
    enough: float

    def joined(self, earlier: Shortlist, most: int) -> Shortlist:
        """The same, and behind it columns of an earlier one, at most so many in all."""
        new = np.flatnonzero(~np.isin(earlier._codes, self._codes))[: most - len(self.strata)]
        return Shortlist(
            np.concatenate([self.strata, earlier.strata[new]]),
            np.concatenate([self.indices, earlier.indices[new]]),
            np.concatenate([self.values, earlier.values[new]]),
            self.enough,
        )

    @property
    def _codes(self) -> Indices:
        """One number for each column."""
        codes: Indices = (self.strata << 32) + self.indices
        return codes

    def search(self, request: PricingRequest) -> tuple[Candidates, Indices]:
        """The best of the columns that are not held, and their places; none where it is used up."""
        dtype = self.values.dtype
        scores = (self.values @ request.response.astype(dtype)).astype(np.float64, copy=False)
        excess = request.rule.excess(scores)
        excess[self._held(request.held)] = 0.0
        if excess.max(initial=0.0) <= self.enough:
            return Candidates(), np.zeros(0, dtype=np.intp)
        order = largest(excess, request.limit)
        found = Candidates(
            strata=self.strata[order],
            indices=self.indices[order],
            scores=scores[order],
            excess=excess[order],
            worth=excess[order],
            n_evaluated=len(scores),
        )
        return found, order

    def _held(self, held: Sequence[HeldColumns]) -> Indices:
        """Places of columns that the master has."""
        codes = [(s << 32) + own.indices for s, own in enumerate(held) if len(own.indices)]
        if not codes:
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(np.isin(self._codes, np.concatenate(codes)))
