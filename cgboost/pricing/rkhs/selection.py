"""Choice of several centres: orthogonal matching pursuit in the RKHS of each kernel.

For a fixed pseudo-response r the new part of kernel p is g = (K_p r − its projection)/w_p, and the
column of a centre z lowers the objective by at most

    g(z)²/2d(z),      d(z) = (K_p(z, z) − squared length within the span)/w_p.

Once z is taken, g and d of all other centres of the kernel lose their part along it, so that
columns that are nearly equal do not come together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cgboost.arrays import Vector

SAME_CENTRE = 1e-6
"""A centre of which the others leave this share of its squared length is not taken next to them."""


@dataclass
class CentresOfKernel:
    """Candidates of one kernel; the arrays change as centres are chosen.

    Parameters
    ----------
    residual : ndarray of shape (n_candidates,)
        g.
    lengths : ndarray of shape (n_candidates,)
        d, positive.
    products : callable
        ``products(place)`` for one of them, shape (n_candidates,): K_p(z, z')/w_p less the products
        within the span, d(z) for itself.
    """

    residual: Vector
    lengths: Vector
    products: Callable[[int], Vector]

    def __post_init__(self) -> None:
        self.residual, self.lengths = self.residual.copy(), self.lengths.copy()
        self._least = SAME_CENTRE * self.lengths
        self._directions = np.empty((8, len(self.lengths)))
        self._taken = 0
        self.gains = self.residual**2 / self.lengths

    def take(self, place: int) -> None:
        """Take a centre: the others keep what is orthogonal to it."""
        earlier = self._directions[: self._taken]
        length = np.sqrt(self.lengths[place])
        along = (self.products(place) - earlier[:, place] @ earlier) / length
        along[place] = length  # which values in float32 would miss
        if self._taken == len(self._directions):
            self._directions = np.vstack([self._directions, np.empty_like(self._directions)])
        self._directions[self._taken] = along
        self._taken += 1
        self.residual -= along * (self.residual[place] / along[place])
        self.lengths -= along**2
        open_ = self.lengths > self._least
        open_[place] = False
        self.gains = np.where(
            open_ & (self.gains > 0),
            self.residual**2 / np.where(open_, self.lengths, 1.0),
            0.0,
        )


def select_centres(kernels: Sequence[CentresOfKernel], limit: int) -> list[tuple[int, int]]:
    """At most ``limit`` pairs (kernel, candidate), greedily by what is gained after the others."""
    best = np.array([own.gains.max(initial=0.0) for own in kernels])
    chosen: list[tuple[int, int]] = []
    while len(chosen) < limit and best.max(initial=0.0) > 0:
        kernel = int(np.argmax(best))
        place = int(np.argmax(kernels[kernel].gains))
        chosen.append((kernel, place))
        kernels[kernel].take(place)
        best[kernel] = kernels[kernel].gains.max(initial=0.0)
    return chosen
