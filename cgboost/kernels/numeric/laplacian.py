"""Kernels of sums over features: of their distances, and of shares of histograms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgboost.arrays import Matrix
from cgboost.exceptions import KernelError
from cgboost.kernels.expansions import Weights, float_dtype
from cgboost.kernels.kernel import Kernel, Norms
from cgboost.kernels.numeric.inner_products import is_positive
from cgboost.kernels.numeric.periodic import distances
from cgboost.kernels.sparse_rows import is_sparse

NUMBERS_AT_ONCE = 2**20
"""Numbers of a block of differences x − z."""


@dataclass(frozen=True)
class Laplacian(Kernel):
    """k(x, z) = exp(−gamma·Σ_j |x_j − z_j|); rows must be dense.

    Parameters
    ----------
    gamma : float or None
        None means 1 / n_features, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import Laplacian
    >>> Laplacian(0.5)(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])).round(3)
    array([[0.368]])
    """

    gamma: float | None = None

    def __post_init__(self) -> None:
        if self.gamma is not None and not is_positive(self.gamma):
            raise ValueError(f"gamma must be a positive number or None, got {self.gamma!r}")

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        return self if self.gamma is not None else Laplacian(1.0 / X.shape[1])

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        if self.gamma is None:
            raise KernelError("Laplacian(gamma=None) has no width yet: call fit(X) or give gamma")
        values = distances(self, X, Z, "cityblock")
        values *= -self.gamma
        np.exp(values, out=values)
        return values.astype(float_dtype(X), copy=False)

    def diagonal(self, X: Matrix) -> Norms:
        return np.ones(X.shape[0], dtype=float_dtype(X))


@dataclass(frozen=True)
class Chi2(Kernel):
    """k(x, z) = exp(−gamma·Σ_j (x_j − z_j)² / (x_j + z_j)) for rows without negative numbers.

    This is a kernel for histograms and other counts; a feature that is 0 in both rows adds 0. Rows
    must be dense.

    Parameters
    ----------
    gamma : float, default=1.0

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import Chi2
    >>> Chi2()(np.array([[0.5, 0.5]]), np.array([[0.5, 0.5], [1.0, 0.0]])).round(3)
    array([[1.   , 0.513]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        if not is_positive(self.gamma):
            raise ValueError(f"gamma must be a positive number, got {self.gamma!r}")

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        if is_sparse(X) or is_sparse(Z):
            raise KernelError(f"{self} needs dense rows: it has no values of sparse X")
        dtype = float_dtype(X)
        for rows in (X, Z):
            if rows.size and rows.min() < 0:
                raise KernelError(f"{self} needs numbers of at least 0, X has {rows.min():g}")
        values = np.empty((len(X), len(Z)), dtype=dtype)
        centres = Z.astype(np.float64, copy=False)
        step = max(1, NUMBERS_AT_ONCE // max(1, Z.size))
        for start in range(0, len(X), step):
            x = X[start : start + step, None].astype(np.float64, copy=False)
            squares, sums = (x - centres) ** 2, x + centres
            terms = np.divide(squares, sums, out=np.zeros_like(sums), where=sums > 0)
            values[start : start + step] = np.exp(-self.gamma * terms.sum(axis=2))
        return values

    def diagonal(self, X: Matrix) -> Norms:
        return np.ones(X.shape[0], dtype=float_dtype(X))
