"""Latent factors that several outputs share.

For the pseudo-responses U, shape (n_rows, n_outputs), w is the left and v the right singular vector
of X̃ᵀU with the largest singular value: the direction along which the outputs together fall most
steeply, max Σ_k (tᵀu_k)² over t = X̃w. It is the factor of the one pseudo-response Uv. With
squared errors that is PLS with several responses.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.protocols import MasterState, Priced
from cgboost.pricing.latent.pricer import LatentFactorPricer, Space

Vector = NDArray[np.float64]


class SharedFactorPricer(LatentFactorPricer):
    """Prices out the next latent factor of several outputs.

    Parameters
    ----------
    space : LinearSpace or KernelSpace
    n_outputs : int
    deflate : bool, default=True
        As in :class:`LatentFactorPricer`.
    """

    def __init__(self, space: Space, n_outputs: int, *, deflate: bool = True) -> None:
        super().__init__(space, deflate=deflate)
        self._space, self._n_outputs = space, n_outputs

    def price(self, state: MasterState, limit: int) -> Priced:
        """The next factor, once for every output."""
        self._follow(state)
        mixture = self._mixture(state.pseudo_response)
        single = replace(
            state,
            columns=[column for column in state.columns if column.output == 0],
            pseudo_response=state.pseudo_response @ mixture,
            curvature=None,
        )
        priced = super().price(single, limit)
        columns = [
            replace(column, key=(column.key, k), output=k)
            for column in priced.columns
            for k in range(self._n_outputs)
        ]
        return replace(priced, columns=columns)

    def _mixture(self, responses: Vector) -> Vector:
        """v, with a positive entry of largest size."""
        left = np.column_stack([self.basis.deflated(u) for u in responses.T])
        _, vectors = np.linalg.eigh(self._space.products(left if self.deflate else responses))
        v = vectors[:, -1]
        return np.asarray(v * np.sign(v[np.argmax(np.abs(v))]), dtype=np.float64)
