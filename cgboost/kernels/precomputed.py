"""Precomputed kernel matrices, and functions of the user's as kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cgboost.exceptions import KernelError, see
from cgboost.kernels.base import Kernel, KernelFunction
from cgboost.kernels.checks import checked_values
from cgboost.kernels.expansions import Matrix


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
