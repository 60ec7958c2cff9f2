"""Kernels of differences x − z of dense rows: their lengths, periods, and shares of histograms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cgboost.arrays import Matrix, blocks_of
from cgboost.exceptions import KernelError
from cgboost.kernels.expansions import Weights, float_dtype
from cgboost.kernels.kernel import Kernel, Norms
from cgboost.kernels.numeric.inner_products import is_positive
from cgboost.kernels.sparse_rows import is_sparse

NUMBERS_AT_ONCE = 2**20
"""Numbers of a block of differences x − z."""


class DenseKernel(Kernel):
    """A kernel of dense rows, which is 1 where x = z."""

    def diagonal(self, X: Matrix) -> Norms:
        return np.ones(X.shape[0], dtype=float_dtype(X))


@dataclass(frozen=True)
class Laplacian(DenseKernel):
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


@dataclass(frozen=True)
class Chi2(DenseKernel):
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
        for block in blocks_of(len(X), step):
            x = X[block, None].astype(np.float64, copy=False)
            squares, sums = (x - centres) ** 2, x + centres
            terms = np.divide(squares, sums, out=np.zeros_like(sums), where=sums > 0)
            values[block] = np.exp(-self.gamma * terms.sum(axis=2))
        return values


@dataclass(frozen=True)
class Periodic(DenseKernel):
    """k(x, z) = exp(−2 sin²(π‖x − z‖/p) / ℓ²), scikit-learn's ``ExpSineSquared``.

    It is positive semidefinite for one feature; with more features it need not be, and CG-Boost
    does not require it. Distances are computed from differences, to keep full precision for large
    numbers with a small period, such as days. Rows must be dense.

    Parameters
    ----------
    length_scale : float, default=1.0
        ℓ: the smaller, the more the values vary within a period.
    periodicity : float, default=1.0
        p, in the unit of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import Periodic
    >>> Periodic(periodicity=24.0)(np.array([[23.0]]), np.array([[1.0], [25.0], [47.0]])).round(3)
    array([[0.875, 0.875, 1.   ]])
    """

    length_scale: float = 1.0
    periodicity: float = 1.0

    def __post_init__(self) -> None:
        for name in ("length_scale", "periodicity"):
            if not is_positive(value := getattr(self, name)):
                raise ValueError(f"{name} must be a positive number, got {value!r}")

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        values = distances(self, X, Z, "euclidean")
        values *= np.pi / self.periodicity
        np.sin(values, out=values)
        values *= values
        values *= -2.0 / self.length_scale**2
        np.exp(values, out=values)
        return values.astype(float_dtype(X), copy=False)


def distances(kernel: Kernel, X: Any, Z: Any, metric: str) -> Matrix:
    """Distances of dense rows in float64, each from their difference."""
    from scipy.spatial.distance import cdist

    if is_sparse(X) or is_sparse(Z):
        raise KernelError(f"{kernel} needs dense rows: it has no values of sparse X")
    return np.asarray(cdist(X, Z, metric))
