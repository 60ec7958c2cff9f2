"""Basis functions of kernels, columns that are functions of new rows: h(x) = k(x, centre)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Matrix, Vector, blocks_of
from cgboost.exceptions import KernelError, see
from cgboost.generation.columns import Term
from cgboost.kernels.checked_values import kernel_values
from cgboost.kernels.combinations import WeightedCentres, library_sum
from cgboost.kernels.expansions import ROWS_AT_ONCE
from cgboost.kernels.kernel import Kernel
from cgboost.kernels.sparse_rows import is_sparse, like, stacked


class Scaler(Protocol):
    """What kernels see of rows."""

    def transform(self, X: Any, /) -> Any:
        """The rows, scaled."""


def scaled(X: Matrix, scaler: Scaler | None) -> Matrix:
    """What kernels see of rows of features."""
    seen: Matrix = X if scaler is None else scaler.transform(X)
    return seen


@dataclass(frozen=True)
class KernelFamily:
    """One named kernel; evaluates its basis functions together.

    Attributes
    ----------
    name : str
    kernel : Kernel
    scaler : FeatureScaler or None
        What the kernel, and its centres, see of the features of a row.
    """

    name: str
    kernel: Kernel
    scaler: Scaler | None = None

    def outputs(self, X: Matrix, hypotheses: Sequence[KernelHypothesis]) -> Matrix:
        """Kernel values of the rows of X with the centres, shape (len(X), n_hypotheses)."""
        X = scaled(X, self.scaler)
        centres = stacked([hypothesis.centre for hypothesis in hypotheses])
        if is_sparse(X) == is_sparse(centres):
            return kernel_values(self.name, self.kernel, X, centres)
        blocks = blocks_of(X.shape[0], ROWS_AT_ONCE)
        return np.concatenate(
            [kernel_values(self.name, self.kernel, like(X[b], centres), centres) for b in blocks]
        )

    def inner_products(
        self, left: Sequence[KernelHypothesis], right: Sequence[KernelHypothesis]
    ) -> Vector:
        """⟨K(·, z), K(·, z')⟩ = K(z, z') in the RKHS, shape (len(left), len(right)).

        Raises
        ------
        KernelError
            Of a kernel whose values stand in X: they are not there for other centres than rows.
        """
        if self.kernel.is_precomputed:
            raise KernelError(
                f"kernel {self.name!r} is given by its values: its centres must be training rows"
                f"{see('precomputed-kernels')}"
            )
        A, B = (stacked([one.centre for one in side]) for side in (left, right))
        if A.dtype != object:
            A, B = A.astype(np.float64), B.astype(np.float64)
        return kernel_values(self.name, self.kernel, A, B).astype(np.float64, copy=False)

    @staticmethod
    def weighted_sum(X: Matrix, terms: Sequence[Term]) -> Vector:
        """Σ_j coef_j h_j on the rows of X, over functions of any kernels, shape (len(X),).

        Those of the same fit share what is computed of X.
        """
        parts: dict[int, list[WeightedCentres]] = {}
        scalers = {}
        for family, hypotheses, coef in terms:
            centres = [hypothesis.centre for hypothesis in hypotheses]
            part = WeightedCentres(family.name, family.kernel, centres, coef)
            scalers[id(family.scaler)] = family.scaler
            parts.setdefault(id(family.scaler), []).append(part)
        sums = [library_sum(scaled(X, scalers[fit]), own) for fit, own in parts.items()]
        return np.sum(sums, axis=0)


@dataclass(frozen=True, eq=False)
class KernelHypothesis:
    """h(x) = k(x, centre), with the training row the centre came from."""

    family: KernelFamily
    row: int
    centre: NDArray[Any]
