"""Latent factors: their basis on the training rows, and factors as functions of new rows.

Factors come one after another, each orthogonal to those before it on the training rows. Each was
made in a deflated space; these formulas bring all of them back to the original one.

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cgboost.arrays import Matrix, Vector, blocks_of
from cgboost.generation.columns import PREDICTION_BLOCK, Term
from cgboost.kernels import Kernel, kernel_values


class GrowingMatrix:
    """A matrix that gets one column after another, and may lose its last ones."""

    def __init__(self, height: int) -> None:
        self._store = np.zeros((height, 0), order="F")
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def values(self) -> Vector:
        """The columns side by side, shape (height, count)."""
        return self._store[:, : self._count]

    def put(self, number: int, column: Vector) -> None:
        """Set a column; those behind it go."""
        if number >= self._store.shape[1]:
            grown = np.zeros((len(column), max(8, 2 * number)), order="F")
            grown[:, :number] = self.values[:, :number]
            self._store = grown
        self._store[:, number] = column
        self._count = number + 1

    def __getstate__(self) -> dict[str, Any]:
        return {"_store": self.values.copy(order="F"), "_count": self._count}


class FactorBasis:
    """Factors t with tᵀΓt = 1 and tᵀΓt' = 0, where Γ is diagonal.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        The diagonal of Γ: not negative.
    """

    def __init__(self, weights: Vector) -> None:
        self.weights = weights
        self._columns = GrowingMatrix(len(weights))
        self._uniform = bool((weights == 1.0).all())

    @property
    def factors(self) -> Vector:
        """The factors, shape (n_rows, count)."""
        return self._columns.values

    @property
    def count(self) -> int:
        """Number of factors."""
        return len(self._columns)

    def weighted(self, values: Vector) -> Vector:
        """Γ·values."""
        return values if self._uniform else self.weights * values

    def length(self, values: Vector) -> float:
        """(vᵀΓv)^½."""
        return float(np.sqrt(values @ self.weighted(values)))

    def without(self, values: Vector) -> tuple[Vector, Vector]:
        """What of the values is orthogonal to every factor, (I − TTᵀΓ)v, and what is not, TᵀΓv.

        The second pass removes the rounding errors of the first.
        """
        along = np.zeros(self.count)
        for _ in range(2 if self.count else 0):
            parts = self.factors.T @ self.weighted(values)
            values, along = values - self.factors @ parts, along + parts
        return values, along

    def deflated(self, response: Vector) -> Vector:
        """The same for a pseudo-response, which has its weights already: (I − ΓTTᵀ)u."""
        if not self.count:
            return response
        return response - self.weighted(self.factors @ (self.factors.T @ response))

    def append(self, factor: Vector) -> None:
        """One more factor, which is orthonormal to the others."""
        self._columns.put(self.count, factor)


@dataclass(frozen=True)
class FactorHypothesis:
    """The factor of this number in a family."""

    family: Factors
    number: int


class Nested(GrowingMatrix):
    """A matrix R = A·U⁻¹ with an upper triangular U: each column follows from those before it."""

    def solve(self, number: int, column: Vector, triangle: Vector, length: float) -> None:
        """Set column ``number`` of R from that of A, of U above the diagonal, and on it."""
        if len(triangle):
            column = column - self.values[:, :number] @ triangle
        self.put(number, column / length)


class Factors(ABC):
    """Factors T(x) = φ(x)ᵀR, of what a kind of them makes of x.

    Attributes
    ----------
    rotations : Nested
        R.
    """

    rotations: Nested

    @abstractmethod
    def combined(self, X: Any, B: Vector) -> Vector:
        """φ(X)B on the rows of X, for some coefficients B."""

    def coef(self, numbers: Sequence[int], coef: Vector) -> Vector:
        """Rc: of the features G = W(PᵀW)⁻¹c, of the kernel at the training rows β (eq. 44)."""
        return self.rotations.values[:, list(numbers)] @ coef

    def outputs(self, X: Any, hypotheses: Sequence[FactorHypothesis]) -> Vector:
        """Values of some factors, shape (n_rows, n_hypotheses)."""
        return self.combined(X, self.rotations.values[:, [own.number for own in hypotheses]])

    @staticmethod
    def weighted_sum(X: Any, terms: Sequence[Term]) -> Vector:
        """Σ coef·factor through the coefficients of features or of the kernel ([M] eq. 47)."""
        total = np.zeros(X.shape[0])
        for family, hypotheses, coef in terms:
            total += family.combined(X, family.coef([own.number for own in hypotheses], coef))
        return total


@dataclass(eq=False)
class LinearFactors(Factors):
    """Factors T(x) = (x − μ)ᵀD⁻¹R, R = W(PᵀW)⁻¹ ([M] eq. 4); without deflation R = W/lengths.

    Attributes
    ----------
    means : ndarray of shape (n_features,)
        μ.
    scales : ndarray of shape (n_features,) or None
        The diagonal of D, which features are divided by; None: by nothing.
    weights, loadings : GrowingMatrix of height n_features
        W, with columns of length 1, and P; the last loading may be missing.
    rotations : Nested
        R.
    """

    means: Vector
    deflated: bool = True
    scales: Vector | None = None
    weights: GrowingMatrix = field(init=False)
    loadings: GrowingMatrix = field(init=False)
    rotations: Nested = field(init=False)

    def __post_init__(self) -> None:
        self.weights, self.loadings = GrowingMatrix(len(self.means)), GrowingMatrix(len(self.means))
        self.rotations = Nested(len(self.means))

    def put(self, number: int, weights: Vector, length: float) -> None:
        """Set factor ``number``, from its w and the length of X̃w before it became a factor."""
        along = self.loadings.values.T @ weights if self.deflated and number else np.zeros(0)
        self.weights.put(number, weights)
        self.rotations.solve(number, weights, along, length)

    def coef(self, numbers: Sequence[int], coef: Vector) -> Vector:
        """D⁻¹Rc."""
        return in_units(super().coef(numbers, coef), self.scales)

    def outputs(self, X: Any, hypotheses: Sequence[FactorHypothesis]) -> Vector:
        """Values of some factors, shape (n_rows, n_hypotheses)."""
        own = self.rotations.values[:, [one.number for one in hypotheses]]
        return self.combined(X, in_units(own, self.scales))

    def combined(self, X: Any, B: Vector) -> Vector:
        """(X − e·μᵀ)B."""
        return product(X, B) - self.means @ B


@dataclass(eq=False)
class KernelFactors(Factors):
    """Factors T(x) = k̃(x)ᵀA(TᵀΓK̃A)⁻¹ ([M] Alg. 5, line 11); without deflation k̃(x)ᵀA/lengths.

    They are evaluated as (k(x) − means)ᵀR, by the kernel that is not centred.

    Attributes
    ----------
    kernel : Kernel
        Fitted.
    centres : ndarray of shape (n_rows, n_features)
        The training rows.
    shares : ndarray of shape (n_rows,)
        Weights s of the rows, which add up to 1.
    means : ndarray of shape (n_rows,)
        Mean of the kernel over the training rows, for every centre.
    dual_weights : GrowingMatrix of height n_rows
        A.
    rotations : Nested
        R = (I − s·eᵀ)A(TᵀΓK̃A)⁻¹.
    """

    name: str
    kernel: Kernel
    centres: Matrix
    shares: Vector
    means: Vector
    deflated: bool = True
    dual_weights: GrowingMatrix = field(init=False)
    rotations: Nested = field(init=False)

    def __post_init__(self) -> None:
        self.dual_weights, self.rotations = GrowingMatrix(len(self.means)), Nested(len(self.means))

    def put(self, number: int, dual_weights: Vector, triangle: Vector, length: float) -> None:
        """Set factor ``number``, from its a, the tⱼᵀΓK̃a of those before it, and its length."""
        self.dual_weights.put(number, dual_weights)
        centred = dual_weights - self.shares * dual_weights.sum()
        self.rotations.solve(number, centred, triangle if self.deflated else np.zeros(0), length)

    def combined(self, X: Any, B: Vector) -> Vector:
        """(K(X, centres) − e·meansᵀ)B, by blocks of rows."""
        values = np.empty((X.shape[0], *B.shape[1:]))
        step = max(1, PREDICTION_BLOCK // max(1, len(self.centres)))
        for rows in blocks_of(X.shape[0], step):
            block = kernel_values(self.name, self.kernel, X[rows], self.centres)
            values[rows] = product(block, B)
        return values - self.means @ B


def in_units(values: Vector, scales: Vector | None) -> Vector:
    """D⁻¹·values, of shape (n_features,) or (n_features, count)."""
    return values if scales is None else (values.T / scales).T


def product(X: Any, B: Vector) -> Vector:
    """X·B in the dtype of X, as float64: a float32 X is not copied."""
    return np.asarray(X @ B.astype(X.dtype, copy=False), dtype=np.float64)
