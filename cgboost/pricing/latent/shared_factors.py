"""Latent factors that several outputs share.

For the pseudo-responses U, shape (n_rows, n_outputs), w is the left and v the right singular vector
of X̃ᵀU with the largest singular value: the direction along which the outputs together fall most
steeply, max Σ_k (tᵀu_k)² over t = X̃w. It is the factor of the one pseudo-response Uv. With
squared errors that is PLS with several responses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.protocols import MasterState, Priced
from cgboost.pricing.latent.latent_factor_pricer import (
    NO_FURTHER,
    OPTIMAL,
    ROUNDING_UNITS,
    FactorSpace,
    LatentFactorPricer,
)


class SharedFactorPricer(LatentFactorPricer):
    """Prices out the next latent factor of several outputs.

    Parameters
    ----------
    space : LinearFactorSpace or KernelFactorSpace
    n_outputs : int
    deflate : bool, default=True
        As in :class:`LatentFactorPricer`.
    """

    def __init__(self, space: FactorSpace, n_outputs: int, *, deflate: bool = True) -> None:
        super().__init__(space, deflate=deflate)
        self._space, self._n_outputs = space, n_outputs
        self._first_sizes = np.zeros(n_outputs)

    def memory(self) -> dict[str, Any]:
        """Also how large the pseudo-response of each output was."""
        return {**super().memory(), "first_sizes": self._first_sizes}

    def recall(self, memory: dict[str, Any]) -> None:
        """Go on from these factors."""
        super().recall(memory)
        self._first_sizes = memory.get("first_sizes", self._first_sizes)  # 0.2.0 had none

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
        sizes = np.linalg.norm(state.pseudo_response, axis=0)
        self._first_sizes = np.maximum(self._first_sizes, sizes)
        priced = super().price(single, limit)
        if priced is OPTIMAL and not self._are_settled(state.pseudo_response, sizes):
            return NO_FURTHER
        columns = [
            replace(column, key=(column.key, k), output=k)
            for column in priced.columns
            for k in range(self._n_outputs)
        ]
        return replace(priced, columns=columns)

    def _are_settled(self, responses: Vector, sizes: Vector) -> bool:
        """Whether every output is: where one has longer slopes, rounding hides the others'."""
        gone = sizes <= ROUNDING_UNITS * self._search.precision * self._first_sizes
        outputs = zip(responses.T, sizes, gone, strict=True)
        return all(nothing or self._is_settled(u, float(size)) for u, size, nothing in outputs)

    def _mixture(self, responses: Vector) -> Vector:
        """v, with a positive entry of largest size."""
        left = np.column_stack([self.basis.deflated(u) for u in responses.T])
        _, vectors = np.linalg.eigh(self._space.products(left if self.deflate else responses))
        v = vectors[:, -1]
        return np.asarray(v * np.sign(v[np.argmax(np.abs(v))]), dtype=np.float64)
