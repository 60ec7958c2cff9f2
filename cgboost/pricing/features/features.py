"""The columns of a matrix as a pool: raw features, or any columns computed beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.generation.columns import Column
from cgboost.kernels import Matrix
from cgboost.pricing.scans.scan import Indices, StrataPricer, Vector


class FeatureFamily:
    """Evaluates feature hypotheses: the values of the features themselves."""

    def outputs(self, X: Matrix, hypotheses: Sequence[FeatureHypothesis]) -> Matrix:
        """The wanted columns of X, shape (len(X), n_hypotheses)."""
        return X[:, [hypothesis.index for hypothesis in hypotheses]]


FEATURES = FeatureFamily()


@dataclass(frozen=True)
class FeatureHypothesis:
    """h(x) = x[index]."""

    index: int

    @property
    def family(self) -> FeatureFamily:
        """All features form one family."""
        return FEATURES


class FeaturePool:
    """The columns of a matrix H of shape (n_rows, n_columns), in one stratum."""

    strata: tuple[str, ...] = ("feature",)

    def __init__(self, H: ArrayLike) -> None:
        self.H: Any = np.asarray(H)
        if self.H.ndim != 2 or not np.isfinite(self.H).all():
            raise ValueError(f"H must be a finite two-dimensional array, got shape {self.H.shape}")

    def size(self, stratum: int) -> int:
        """Number of columns of H."""
        return int(self.H.shape[1])

    def rows(self, stratum: int) -> Indices | None:
        """Features belong to no training row."""
        return None

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """H[:, indices]ᵀ r."""
        if len(response) != len(self.H):
            raise ValueError(f"H has {len(self.H)} rows, the master has {len(response)}")
        wanted = self.H if indices is None else self.H[:, indices]
        return np.asarray(wanted.T @ response, dtype=np.float64)

    def values(self, stratum: int, indices: Indices) -> Matrix:
        """H[:, indices]ᵀ."""
        return np.asarray(self.H[:, indices].T)

    def column(self, stratum: int, index: int) -> Column:
        """Column ``index`` of H."""
        return Column(self.H[:, index], ("feature", index), FeatureHypothesis(index), "feature")


class FeaturePricer(StrataPricer):
    """Exact pricing over the columns of H."""

    def __init__(self, H: ArrayLike) -> None:
        super().__init__(FeaturePool(H))
