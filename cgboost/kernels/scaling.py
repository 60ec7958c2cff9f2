"""Standardised features: what all kernels of a library see of a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from cgboost.arrays import Matrix, Vector
from cgboost.exceptions import DataWarning, see, warn_caller
from cgboost.kernels.expansions import Weights
from cgboost.kernels.on_columns import Columns, Header
from cgboost.kernels.sparse_rows import SparseScaler, is_sparse

if TYPE_CHECKING:
    from sklearn.preprocessing import StandardScaler

FAR_DEVIATIONS = 10.0
"""Standard deviations from the mean, and so many times as far as the farthest training row is said
to be far: a kernel of distances is then near 0 for all centres, one of products is all this one."""

BEYOND_TRAINING = 2.0


class Scaler(Protocol):
    """What kernels see of rows."""

    def transform(self, X: Any, /) -> Any:
        """The rows, scaled."""


def scaled(X: Matrix, scaler: Scaler | None) -> Matrix:
    """What kernels see of rows of features."""
    seen: Matrix = X if scaler is None else scaler.transform(X)
    return seen


@dataclass(frozen=True, eq=False)
class Widened:
    """Rows in float64, and what a scaler makes of these: float32 is too narrow for some kernels."""

    scaler: FeatureScaler | None

    def transform(self, X: Any) -> Any:
        """What kernels see of rows of X."""
        X = X.astype(np.float64, copy=False)
        return X if self.scaler is None else self.scaler.transform(X)

    def inverse_transform(self, seen: Any) -> Any:
        """Rows of X from what kernels see of them."""
        return seen if self.scaler is None else self.scaler.inverse_transform(seen)


@dataclass(frozen=True, eq=False)
class FeatureScaler:
    """x → (x − mean)/std for columns of numbers; all other columns stay as they are.

    Columns of sparse rows are divided by the root mean square of their numbers that are not 0.

    Attributes
    ----------
    scaler : StandardScaler or SparseScaler
        Means and standard deviations of the training rows, or scales of sparse ones.
    columns : Columns or None
        The columns that are scaled; None: all.
    reach : ndarray of shape (n_scaled,) or None
        The largest |x − mean|/std of the training rows.
    """

    scaler: StandardScaler | SparseScaler
    columns: Columns | None = None
    reach: Vector | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        header: Header,
        kept: frozenset[int] = frozenset(),
        sample_weight: Weights = None,
    ) -> FeatureScaler:
        """The scaler for training rows.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_columns)
        header : Header
            What its columns are.
        kept : frozenset of int
            Columns of numbers that are no features.
        sample_weight : ndarray of shape (n_rows,), optional
        """
        if is_sparse(X):
            scales = np.array(header.numeric) & ~np.isin(np.arange(X.shape[1]), list(kept))
            return cls(SparseScaler.of(X, scales, sample_weight))
        from sklearn.preprocessing import StandardScaler  # with half of scikit-learn behind it

        scaler = StandardScaler()
        if all(header.numeric) and not kept and X.dtype != object:
            scaler.fit(X, sample_weight=sample_weight)
            return cls(scaler, None, _reach(scaler, X))
        places = tuple(j for j, ok in enumerate(header.numeric) if ok and j not in kept)
        columns = Columns(places, tuple(map(header.label, places)), numeric=True)
        if not places:
            return cls(scaler, columns)
        own = columns(X)
        scaler.fit(own, sample_weight=sample_weight)
        return cls(scaler, columns, _reach(scaler, own))

    def transform(self, X: Any) -> Any:
        """What kernels see of rows of X, of the dtype of X."""
        if is_sparse(X) and not isinstance(self.scaler, SparseScaler):
            X = X.toarray()  # a mean that is taken off makes them dense
        if self.columns is None:
            return self._near(self._scaled(X))
        seen = X.copy()
        if self.columns.places:
            seen[:, list(self.columns.places)] = self._near(self._scaled(self.columns(X)))
        return seen

    def _scaled(self, X: Any) -> Any:
        """The columns that are scaled; the rows were checked when they were read."""
        if isinstance(self.scaler, SparseScaler):
            return self.scaler.transform(X)
        seen = np.array(X, dtype=X.dtype if X.dtype.kind == "f" else np.float64)
        seen -= self.scaler.mean_.astype(seen.dtype)
        seen /= self.scaler.scale_.astype(seen.dtype)
        return seen

    def _near(self, scaled: Any) -> Any:
        """Scaled columns, with a warning of rows that are far from all training rows."""
        if self.reach is None or not len(scaled):
            return scaled
        largest = np.maximum(scaled.max(axis=0), -scaled.min(axis=0))
        far = np.flatnonzero(largest > np.maximum(FAR_DEVIATIONS, BEYOND_TRAINING * self.reach))
        if len(far):
            j = int(far[np.argmax(largest[far])])
            name = j if self.columns is None else self.columns.places[j]
            warn_caller(
                f"feature {name} has a value of {largest[j]:.3g} standard deviations from the mean "
                f"of the training rows, of which none is farther than {self.reach[j]:.3g}: for "
                "kernels such a row is like no training row, and predictions say little. Leave out "
                f"a feature that hardly varies in the training rows{see('kernel-scales')}",
                DataWarning,
            )
        return scaled

    def inverse_transform(self, seen: Any) -> Any:
        """Rows of X from what kernels see of them."""
        if self.columns is None:
            return self.scaler.inverse_transform(seen)
        X = seen.copy()
        if self.columns.places:
            X[:, list(self.columns.places)] = self.scaler.inverse_transform(self.columns(seen))
        return X


def _reach(scaler: StandardScaler, X: Any) -> Vector:
    """The largest |x − mean|/std of each column."""
    ends = np.array([X.max(axis=0), X.min(axis=0)])
    reach: Vector = np.abs((ends - scaler.mean_) / scaler.scale_).max(axis=0)
    return reach
