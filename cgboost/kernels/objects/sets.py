"""Kernels of sets, and of rows of zeros and ones or counts.

J. C. Gower, *A general coefficient of similarity and some of its properties*, Biometrics 27, 1971,
proves both positive semi-definite.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cgboost.arrays import Matrix
from cgboost.exceptions import KernelError, see
from cgboost.kernels.expansions import as_floats
from cgboost.kernels.kernel import Norms
from cgboost.kernels.numeric.inner_products import ProductKernel
from cgboost.kernels.objects.counts import CountKernel


@dataclass(frozen=True)
class Tanimoto(ProductKernel):
    """k(x, z) = x·z / (‖x‖² + ‖z‖² − x·z), and 1 for two rows of zeros.

    For rows of zeros and ones, it is the Jaccard similarity of the sets of features that are 1.
    """

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        whole = x_norms[:, None] + z_norms - products
        both_zero = whole <= 0.0
        np.divide(products, np.where(both_zero, 1.0, whole), out=out)
        out[both_zero] = 1.0

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        return np.ones_like(norms)


@dataclass(frozen=True)
class Jaccard(CountKernel):
    """k(a, b) = |a ∩ b| / |a ∪ b|, and 1 for two empty sets.

    Rows are sets (or lists, tuples and other collections) of hashable elements, or rows of a matrix
    of zeros and ones.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import Jaccard
    >>> round(Jaccard()(np.array([{1, 2, 3}]), np.array([{2, 3, 4}])).item(), 3)
    0.5
    >>> Jaccard()(np.array([[1, 1, 0]]), np.array([[1, 0, 0]]))
    array([[0.5]])
    """

    def key(self, item: Any) -> Hashable:
        if isinstance(item, (str, bytes)) or not hasattr(item, "__iter__"):
            raise TypeError(f"Jaccard takes sets, got {item!r} ({type(item).__name__})")
        return frozenset(item)

    def counts(self, item: Any, number: Callable[[Hashable], int]) -> Mapping[int, float]:
        return {number(element): 1.0 for element in frozenset(item)}

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        if X.dtype != object:
            return Tanimoto()(_zeros_and_ones(X), _zeros_and_ones(Z))
        rows, centres = self.features(X, Z)
        common = np.asarray((rows @ centres.T).toarray(), dtype=np.float64)
        Tanimoto().fill(common, common.copy(), rows.sum(axis=1), centres.sum(axis=1))
        return common

    def diagonal(self, X: Matrix) -> Norms:
        return np.ones(len(X))


def _zeros_and_ones(X: Matrix) -> Matrix:
    if not np.isin(X, (0, 1)).all():
        wrong = X[~np.isin(X, (0, 1))][0]
        raise KernelError(
            f"Jaccard takes sets, or rows of zeros and ones, got {wrong!r}: take Tanimoto() for "
            f"counts{see('kernels-and-libraries')}"
        )
    return as_floats(X)
