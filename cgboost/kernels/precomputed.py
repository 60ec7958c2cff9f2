"""Precomputed kernels and kernel basis functions.

Precomputed kernel matrices, and functions of the user's as kernels.

Columns of kernels as functions of new rows: h(x) = k(x, centre).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from cgboost.exceptions import KernelError, see
from cgboost.generation.columns import Term
from cgboost.kernels.base import Kernel, KernelFunction, checked_values, kernel_values
from cgboost.kernels.combinations import WeightedCentres, library_sum
from cgboost.kernels.expansions import ROWS_AT_ONCE, Matrix, Vector
from cgboost.kernels.rows import SparseScaler, is_sparse, like, stacked


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Kernel values taken from the data: X[i, first + j] is k(x_i, x_j) for training row j.

    With several precomputed kernels, put their matrices side by side and give each its first
    column. New rows need their values against *all* training rows.
    """

    first: int = 0

    @property
    def is_precomputed(self) -> bool:
        return True

    def centres(self, X: Matrix, rows: Any) -> Matrix:
        if X.shape[1] < self.first + X.shape[0]:
            raise KernelError(
                f"Precomputed(first={self.first}) needs at least {self.first + X.shape[0]} columns "
                f"for {X.shape[0]} training rows, X has {X.shape[1]}"
                f"{see('precomputed-kernels')}"
            )
        return (self.first + np.arange(X.shape[0])[rows])[..., None].astype(X.dtype)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return X[:, Z[:, 0].astype(np.intp)]


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """Any callable ``function(X, Z) -> (len(X), len(Z))``; its values are checked and made floats.

    It can be pickled if the function can: a lambda, or a function inside a function, cannot.
    """

    function: KernelFunction
    name: str = "function"

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return checked_values(self.name, self.function(X, Z), X, Z)

    def __str__(self) -> str:
        return f"kernel {self.name!r}"


Scaler: TypeAlias = StandardScaler | SparseScaler | None


def scaled(X: Matrix, scaler: Scaler) -> Matrix:
    """What kernels see of rows of features."""
    if scaler is None:
        return X
    if is_sparse(X) and isinstance(scaler, StandardScaler):
        X = cast(Any, X).toarray()  # a mean that is taken off makes them dense
    rows: Matrix = scaler.transform(X)
    return rows


@dataclass(frozen=True)
class KernelFamily:
    """One named kernel; evaluates its basis functions together.

    Attributes
    ----------
    name : str
    kernel : Kernel
    scaler : StandardScaler, SparseScaler or None
        What the kernel, and its centres, see of the features of a row.
    """

    name: str
    kernel: Kernel
    scaler: Scaler = None

    def outputs(self, X: Matrix, hypotheses: Sequence[KernelHypothesis]) -> Matrix:
        """Kernel values of the rows of X with the centres, shape (len(X), n_hypotheses)."""
        X = scaled(X, self.scaler)
        centres = stacked([hypothesis.centre for hypothesis in hypotheses])
        if is_sparse(X) == is_sparse(centres):
            return kernel_values(self.name, self.kernel, X, centres)
        blocks = [slice(i, i + ROWS_AT_ONCE) for i in range(0, X.shape[0], ROWS_AT_ONCE)]
        return np.concatenate(
            [kernel_values(self.name, self.kernel, like(X[b], centres), centres) for b in blocks]
        )

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
