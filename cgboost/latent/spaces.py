"""Where latent factors come from: the centred training rows X̃, or their images under a kernel.

Deflated data (I − TTᵀΓ)X̃ are never made: they act through what is taken out of vectors ([M]
Corollary 2 and eq. 43). Nor are centred ones:

    X̃ᵀa = Xᵀa − μ·Σa        X̃w = Xw − e·(μᵀw)

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cgboost.kernels import Kernel, Matrix, kernel_values
from cgboost.latent.factors import product
from cgboost.latent.searches import KernelSearch, LinearSearch, Search

Vector = NDArray[np.float64]

BLOCK = 2**16
"""Entries of X that are used for two products while they are at hand."""


class Space(Protocol):
    """Training rows, in which any number of searches for factors may run.

    Attributes
    ----------
    weights : ndarray of shape (n_rows,)
    """

    weights: Vector

    def search(self, *, deflate: bool) -> Search:
        """A search without factors."""
        ...


class LinearSpace:
    """Linear combinations of the features.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        float32 stays float32, sparse stays sparse.
    weights : ndarray of shape (n_rows,)
        Not negative; they weigh the means, and lengths and angles of factors.

    Attributes
    ----------
    means : ndarray of shape (n_features,)
        μ.
    """

    def __init__(self, X: Any, weights: Vector) -> None:
        self.X, self.weights = X, weights
        self.precision = float(np.finfo(X.dtype).eps)
        self.means = product(X.T, weights) / weights.sum()

    def search(self, *, deflate: bool) -> LinearSearch:
        """A search without factors."""
        return LinearSearch(self, deflate=deflate)

    def transposed(self, a: Vector) -> Vector:
        """X̃ᵀa."""
        return product(self.X.T, a) - self.means * a.sum()

    def there_and_back(self, w: Vector) -> tuple[Vector, Vector]:
        """X̃w and X̃ᵀΓX̃w, in one pass over X where its rows are contiguous."""
        shift = float(self.means @ w)
        if not (isinstance(self.X, np.ndarray) and self.X.flags.c_contiguous):
            values = product(self.X, w) - shift
            return values, self.transposed(self.weights * values)
        values, pulled = np.empty(self.X.shape[0]), np.zeros(len(w))
        w = w.astype(self.X.dtype, copy=False)
        step = max(1, BLOCK // max(1, self.X.shape[1]))
        for start in range(0, len(values), step):
            rows = slice(start, start + step)
            block = self.X[rows]
            values[rows] = block @ w - shift
            weighted = self.weights[rows] * values[rows]
            pulled += weighted.astype(block.dtype, copy=False) @ block
        return values, pulled - self.means * float(self.weights @ values)


class KernelSpace:
    """Linear combinations in the feature space of a kernel; the Gram matrix is made once.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    kernel : Kernel
        Fitted, with k(x, z) = k(z, x).
    weights : ndarray of shape (n_rows,)
    name : str
        For messages.

    Attributes
    ----------
    centres : ndarray of shape (n_rows, n_features)
        A copy: models keep it, and X is the caller's.
    shares : ndarray of shape (n_rows,)
        The weights, divided by their sum.
    means : ndarray of shape (n_rows,)
        Mean of the kernel over the training rows, for every centre.
    roots : ndarray of shape (n_rows,)
        |k(x, x)|^½.

    Raises
    ------
    ValueError
        If the Gram matrix is not symmetric.
    """

    def __init__(self, X: Matrix, kernel: Kernel, weights: Vector, *, name: str) -> None:
        self.weights, self.kernel, self.name = weights, kernel, name
        centres = kernel.centres(X, slice(None))
        self._gram = kernel_values(name, kernel, X, centres)
        self.centres = np.array(centres, order="C")
        self.precision = float(np.finfo(self._gram.dtype).eps)
        self.shares = weights / weights.sum()
        self.means = product(self._gram, self.shares)
        self.roots = np.sqrt(np.abs(np.diag(self._gram)).astype(np.float64))
        apart = float(np.abs(product(self._gram.T, self.shares) - self.means).max())
        largest = max(float(self.roots.max()) ** 2, float(np.abs(self.means).max()))
        if apart > np.sqrt(self.precision) * largest:
            raise ValueError(
                f"kernel {name!r} is not symmetric: means of k(x, z) and of k(z, x) over the "
                f"training rows differ by {apart:.3g}"
            )

    def search(self, *, deflate: bool) -> KernelSearch:
        """A search without factors."""
        return KernelSearch(self, deflate=deflate)

    def image(self, a: Vector) -> Vector:
        """K̃a with K̃ = (I − e·sᵀ)K(I − s·eᵀ) and the shares s."""
        image = product(self._gram, a - self.shares * a.sum())
        return image - float(self.shares @ image)
