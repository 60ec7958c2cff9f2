"""Periodic kernel: rows are similar if their distance is a multiple of the period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cgboost.arrays import Matrix
from cgboost.exceptions import KernelError
from cgboost.kernels.expansions import float_dtype
from cgboost.kernels.kernel import Kernel, Norms
from cgboost.kernels.numeric.inner_products import is_positive
from cgboost.kernels.sparse_rows import is_sparse


@dataclass(frozen=True)
class Periodic(Kernel):
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

    def diagonal(self, X: Matrix) -> Norms:
        return np.ones(X.shape[0], dtype=float_dtype(X))


def distances(kernel: Kernel, X: Any, Z: Any, metric: str) -> Matrix:
    """Distances of dense rows in float64, each from their difference."""
    from scipy.spatial.distance import cdist

    if is_sparse(X) or is_sparse(Z):
        raise KernelError(f"{kernel} needs dense rows: it has no values of sparse X")
    return np.asarray(cdist(X, Z, metric))
