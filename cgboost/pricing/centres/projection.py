"""Variable projection: the optimum over coefficients, as a function of the centres.

    v(Z) = min over α, b of  ½ Σ_p w_p α_pᵀ K_p(Z_p, Z_p) α_p + L(Σ_p K_p(X, Z_p) α_p + b)

    ∂v/∂z_pj = α_pj (w_p Σ_i α_pi ∂k_p(z_i, z_j)/∂z_j − Σ_i r_i ∂k_p(x_i, z_j)/∂z_j)

at the optimal α (envelope theorem): rows with r_i = 0 do not count. Centres have coordinates in
the features that their kernel reads alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from cgboost.arrays import Indices, Mask, Matrix, Vector
from cgboost.kernels import Columns, Kernel
from cgboost.kernels.on_columns import On
from cgboost.pricing.centres.coefficients import Coefficients, optimal_coefficients
from cgboost.pricing.centres.smoothing import CurvedLoss


def columns_read(kernel: Kernel) -> Iterator[Columns | None]:
    """The columns that each part of a fitted kernel reads; None: all of them."""
    if isinstance(kernel, On):
        yield kernel.columns
        return
    parts = list(kernel.parts())
    for part in parts:
        yield from columns_read(part)
    if not parts:
        yield None


def features_read(kernel: Kernel, n_features: int) -> Mask:
    """Whether a fitted kernel reads each feature, shape (n_features,)."""
    read = np.zeros(n_features, dtype=bool)
    for columns in columns_read(kernel):
        read[slice(None) if columns is None else list(columns.places)] = True
    return read


CentreSets = Sequence[Matrix]
"""The centres of every kernel, each of shape (n_centres of the kernel, n_features)."""


@dataclass(frozen=True, eq=False)
class CentreFunction(ABC):
    """v(Z): a minimum over coefficients, as a function of the centres of some kernels.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        As the kernels see them; products are made in its precision.
    weights : ndarray of shape (n_kernels,)
        Weights w_p of the penalty.
    """

    kernels: Sequence[Kernel]
    X: Matrix
    weights: Vector

    @abstractmethod
    def on_part(self, rows: Indices) -> Self:
        """The same over some of the rows, at prices that make up for the others."""

    @abstractmethod
    def best(
        self, centres: CentreSets, start: tuple[Vector, float] | None = None, **options: Any
    ) -> Coefficients:
        """Optimal coefficients of all kernels' centres, one after the other."""

    @abstractmethod
    def response(self, best: Coefficients) -> Vector:
        """Where rows ask for more and for less, shape (n_rows,)."""

    @abstractmethod
    def gradient(self, centres: CentreSets, best: Coefficients) -> list[Matrix]:
        """∂v/∂Z at optimal coefficients, for every kernel's centres."""

    def evaluated(
        self, centres: CentreSets, start: tuple[Vector, float] | None = None
    ) -> tuple[Coefficients, list[Matrix]]:
        """Optimal coefficients and ∂v/∂Z."""
        best = self.best(centres, start)
        return best, self.gradient(centres, best)

    def columns(self, centres: CentreSets) -> Matrix:
        """Kernel values of the rows with the centres, in the precision of the rows."""
        dtype = self.X.dtype
        pairs = zip(self.kernels, centres, strict=True)
        return np.concatenate([kernel(self.X, Z.astype(dtype)) for kernel, Z in pairs], axis=1)

    def seen(self, kernel: Kernel) -> Matrix:
        """The rows as a kernel sees them: 0 in features that it does not read."""
        read = features_read(kernel, self.X.shape[1])
        return self.X if read.all() else np.where(read, self.X, self.X.dtype.type(0))

    def is_finite(self, centres: CentreSets) -> bool:
        """Whether the kernel values of centres with each other are finite, and their squares."""
        with np.errstate(over="ignore", invalid="ignore"):
            gram = self.gram(centres)
            return bool(np.isfinite(np.square(gram)).all())

    def gram(self, centres: CentreSets) -> Matrix:
        """Matrix of the penalty, block by block, in float64."""
        sizes = [len(Z) for Z in centres]
        ends = np.cumsum([0, *sizes])
        gram = np.zeros((ends[-1], ends[-1]))
        for p, (kernel, Z) in enumerate(zip(self.kernels, centres, strict=True)):
            own = slice(ends[p], ends[p + 1])
            gram[own, own] = self.weights[p] * kernel(Z, Z)
        return gram


@dataclass(frozen=True, eq=False)
class Projection(CentreFunction):
    """v(Z) of a loss on training rows.

    Attributes
    ----------
    offset : {"none", "penalized", "free"}
    """

    loss: CurvedLoss
    offset: str = "free"

    def on_part(self, rows: Indices) -> Projection:
        """The same over some of the rows."""
        return replace(self, X=self.X[rows], loss=self.loss.on_part(rows))

    def best(
        self, centres: CentreSets, start: tuple[Vector, float] | None = None, **options: Any
    ) -> Coefficients:
        """Optimal coefficients and offset."""
        own, gram = self.columns(centres), self.gram(centres)
        return optimal_coefficients(
            own, gram, self.loss, offset=self.offset, start=start, **options
        )

    def response(self, best: Coefficients) -> Vector:
        """The pseudo-response r."""
        return self.loss.pseudo_response(best.output)

    def gradient(self, centres: CentreSets, best: Coefficients) -> list[Matrix]:
        """∂v/∂Z at optimal coefficients."""
        r = self.loss.pseudo_response(best.output)
        active = np.flatnonzero(r)
        X, dtype = self.X[active], self.X.dtype
        gradients: list[Matrix] = []
        first = 0
        for p, (kernel, Z) in enumerate(zip(self.kernels, centres, strict=True)):
            coef = best.coef[first : first + len(Z)]
            first += len(Z)
            if not len(Z):
                gradients.append(np.zeros(Z.shape))
                continue
            pull = np.outer(-r[active], coef).astype(dtype)
            own = kernel.centre_gradient(X, Z.astype(dtype), pull)
            own += kernel.centre_gradient(Z, Z, self.weights[p] * np.outer(coef, coef))
            gradients.append(own)
        return gradients
