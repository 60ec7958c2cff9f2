"""Rows of a matrix, dense or sparse: their products, norms and moments.

Sparse rows are matrices or arrays of SciPy in CSR. Nothing here makes them dense: only products of
a block of rows with a block of centres are, of shape (n_rows, n_centres).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import sparse

from cgboost.arrays import Mask, Matrix, Vector, blocks_of
from cgboost.kernels.expansions import Weights, float_dtype

PRODUCTS_AT_ONCE = 2**16
"""Kernel values that are made from products at a time: few enough for a processor's cache."""


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of SciPy."""
    return not isinstance(X, np.ndarray) and bool(sparse.issparse(X))


def entries(X: Any) -> float:
    """Numbers of a row that a product goes through, on average and at least one."""
    n_rows, n_features = X.shape
    return max(1.0, X.nnz / max(1, n_rows)) if is_sparse(X) else float(n_features)


def most_entries(X: Any) -> int:
    """Numbers of the longest row: terms of an inner product."""
    if not is_sparse(X):
        return int(X.shape[1])
    return int(np.diff(X.tocsr().indptr).max(initial=1))


def ordered(X: Any, dtype: Any) -> Any:
    """Rows in a dtype: in the order of C, or in CSR."""
    if is_sparse(X):
        return X.tocsr().astype(dtype, copy=False)
    return np.ascontiguousarray(X, dtype=dtype)


def like(X: Any, centres: Any) -> Any:
    """A block of rows, sparse if the centres are, dense if they are."""
    if is_sparse(X) == is_sparse(centres):
        return X
    return type(centres)(X) if is_sparse(centres) else X.toarray()


def transposed(Z: Any) -> Any:
    """Zᵀ, as ``inner_products`` takes it."""
    return Z.T.tocsr() if is_sparse(Z) else Z.T


def inner_products(X: Any, right: Any) -> Matrix:
    """A product with ``right``, dense whatever they are.

    A sum has the terms of the features that both rows have, one after the other.
    """
    values = X @ right
    return np.asarray(values.toarray() if is_sparse(values) else values)


def products_of(X: Matrix, Z: Matrix) -> Matrix:
    """X Zᵀ, dense."""
    right = transposed(Z)
    one_feature = right.shape[0] == 1 and not is_sparse(X)  # then a product is twice as fast
    return X * right if one_feature else inner_products(X, right)


def squared_norms(X: Matrix) -> Matrix:
    """Squared norms ‖x‖² of the rows, shape (len(X),), in the precision of X."""
    if is_sparse(X):
        return sparse_squared_norms(X, float_dtype(X))
    return cast(Matrix, np.einsum("ij,ij->i", X, X, dtype=float_dtype(X)))


def sparse_squared_norms(X: Any, dtype: Any) -> Matrix:
    """‖x‖² of every sparse row, shape (n_rows,)."""
    X = _canonical(X)
    data = X.data.astype(dtype, copy=False)
    squares = sparse.csr_array((data * data, X.indices, X.indptr), shape=X.shape)
    return np.asarray(squares @ np.ones(X.shape[1], dtype=dtype))


def stacked(centres: Sequence[Any]) -> Any:
    """Centres as the rows of a matrix; many times faster than ``np.stack`` and ``sparse.vstack``.

    Parameters
    ----------
    centres : sequence of ndarray of shape (n_features,) or of sparse rows of shape (1, n_features)
    """
    if not is_sparse(centres[0]):
        return np.concatenate(centres).reshape(len(centres), -1)
    lengths = [z.nnz for z in centres]
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(centres[0].indptr.dtype, copy=False)
    data, indices = (np.concatenate([getattr(z, own) for z in centres]) for own in FIELDS)
    shape = len(centres), centres[0].shape[1]
    return type(centres[0])((data, indices, ends), shape=shape)


FIELDS = ("data", "indices")


def bits(centre: Any) -> bytes | tuple[bytes, ...]:
    """What tells centres apart."""
    if is_sparse(centre):
        return tuple(getattr(centre, own).tobytes() for own in FIELDS)
    return bytes(centre.tobytes())


def single(X: Any, place: int = 0) -> Any:
    """A copy of one row: of shape (n_features,), or a sparse one of shape (1, n_features)."""
    return X[[place]] if is_sparse(X) else np.array(X[place])


def relative_weights(weights: Vector) -> Weights:
    """The weights divided by their mean; None where all are equal."""
    return None if np.ptp(weights) == 0 else weights / weights.mean()


def total_variance(X: Any, sample_weight: Weights = None) -> float:
    """The sum of the variances of all features, a row of weight w counting as w rows."""
    if not is_sparse(X):
        if sample_weight is None:
            return float(np.var(X, axis=0, dtype=np.float64).sum())
        shares = sample_weight / sample_weight.sum()
        return float(shares @ squared_norms(X - shares @ X.astype(np.float64, copy=False)))
    X = _canonical(X)
    weights = _weights_of_entries(X, sample_weight)
    total = float(X.shape[0] if sample_weight is None else sample_weight.sum())
    data = X.data.astype(np.float64, copy=False)
    means = np.bincount(X.indices, weights * data, X.shape[1]) / total
    zeros = total - np.bincount(X.indices, weights, X.shape[1])
    squares = float(weights @ (data - means[X.indices]) ** 2) + float(zeros @ means**2)
    return squares / total


def _weights_of_entries(X: Any, sample_weight: Weights) -> Vector:
    """The weight of the row of every number of a matrix in CSR."""
    if sample_weight is None:
        return np.ones(len(X.data))
    return np.repeat(sample_weight, np.diff(X.indptr))


def root_mean_squares(X: Any, sample_weight: Weights = None) -> Vector:
    """Root mean square of the numbers of every sparse feature that are not 0; 1 where all are.

    What sparse features are divided by to have a common scale: a mean that is taken off would make
    them dense, and a mean square with the zeros would make a word the larger the rarer it is (on
    docstrings in ``examples/gallery/kernels/plot_text.py`` twice the errors).
    """
    X = _canonical(X)
    weights = _weights_of_entries(X, sample_weight)
    squares = np.bincount(X.indices, weights * X.data.astype(np.float64) ** 2, X.shape[1])
    counts = np.bincount(X.indices, weights * (X.data != 0), X.shape[1])
    scale = np.sqrt(np.divide(squares, counts, out=np.zeros(X.shape[1]), where=counts > 0))
    return np.where(scale > 0, scale, 1.0)


@dataclass(frozen=True, eq=False)
class SparseScaler:
    """Every feature divided by a number, so that rows stay sparse.

    Attributes
    ----------
    scale : ndarray of shape (n_features,)
    """

    scale: Vector

    @classmethod
    def of(cls, X: Any, scales: Mask | None = None, sample_weight: Weights = None) -> SparseScaler:
        """By the root mean square of the numbers of each feature that are not 0.

        Parameters
        ----------
        X : sparse matrix of shape (n_rows, n_features)
        scales : ndarray of bool, shape (n_features,), optional
            Which features are divided; by default all.
        sample_weight : ndarray of shape (n_rows,), optional
        """
        scale = root_mean_squares(X, sample_weight)
        return cls(scale if scales is None else np.where(scales, scale, 1.0))

    def transform(self, X: Any) -> Any:
        """Rows, sparse or dense, in their dtype."""
        if not is_sparse(X):
            return (X / self.scale).astype(X.dtype, copy=False)
        X = X.tocsr()
        data = (X.data / self.scale[X.indices]).astype(X.dtype, copy=False)
        return type(X)((data, X.indices, X.indptr), shape=X.shape)

    def inverse_transform(self, rows: Any) -> Any:
        """The rows that :meth:`transform` has made these of."""
        return SparseScaler(1.0 / self.scale).transform(rows)


def _canonical(X: Any) -> Any:
    """The same in CSR, every number once."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def chunks(products: Matrix) -> Iterator[slice]:
    """Blocks of rows of about PRODUCTS_AT_ONCE numbers."""
    step = max(16, PRODUCTS_AT_ONCE // max(1, products.shape[1]))
    return blocks_of(len(products), step)


def whole_power(base: Any, exponent: int) -> Any:
    """base^exponent by squaring: NumPy's own power of arrays is many times slower."""
    result = base
    for digit in f"{int(exponent):b}"[1:]:
        result = result * result
        if digit == "1":
            result *= base
    return result
