"""Latent factors as functions of new rows, cut loose from the training data as far as they can be.

Factors come one after another, each orthogonal to those before it on the training rows. Each was
made in a deflated space; these formulas bring all of them back to the original one.

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.columns import PREDICTION_BLOCK, Term
from cgboost.kernels import Kernel, Matrix, kernel_values
from cgboost.pricing.latent.basis import Columns

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class FactorHypothesis:
    """The factor of this number in a family."""

    family: LinearFactors | KernelFactors
    number: int


class Nested(Columns):
    """A matrix R = A·U⁻¹ with an upper triangular U: each column follows from those before it."""

    def solve(self, number: int, column: Vector, triangle: Vector, length: float) -> None:
        """Set column ``number`` of R from that of A, of U above the diagonal, and on it."""
        if len(triangle):
            column = column - self.values[:, :number] @ triangle
        self.put(number, column / length)


@dataclass(eq=False)
class LinearFactors:
    """Factors T(x) = (x − μ)ᵀR with R = W(PᵀW)⁻¹ ([M] eq. 4); without deflation R = W/lengths.

    Attributes
    ----------
    means : ndarray of shape (n_features,)
        μ.
    deflated : bool
    weights, loadings : Columns of height n_features
        W, with columns of length 1, and P; the last loading may be missing.
    rotations : Nested
        R.
    """

    means: Vector
    deflated: bool = True
    weights: Columns = field(init=False)
    loadings: Columns = field(init=False)
    rotations: Nested = field(init=False)

    def __post_init__(self) -> None:
        self.weights, self.loadings = Columns(len(self.means)), Columns(len(self.means))
        self.rotations = Nested(len(self.means))

    def put(self, number: int, weights: Vector, length: float) -> None:
        """Set factor ``number``, from its w and the length of X̃w before it became a factor."""
        along = self.loadings.values.T @ weights if self.deflated and number else np.zeros(0)
        self.weights.put(number, weights)
        self.rotations.solve(number, weights, along, length)

    def coef(self, numbers: Sequence[int], coef: Vector) -> Vector:
        """G = W(PᵀW)⁻¹c, the coefficients of the features, shape (n_features,)."""
        return self.rotations.values[:, list(numbers)] @ coef

    def outputs(self, X: Any, hypotheses: Sequence[FactorHypothesis]) -> Vector:
        """Values of some factors, shape (n_rows, n_hypotheses)."""
        R = self.rotations.values[:, [hypothesis.number for hypothesis in hypotheses]]
        return product(X, R) - self.means @ R

    @staticmethod
    def weighted_sum(X: Any, terms: Sequence[Term]) -> Vector:
        """Σ coef·factor through the coefficients of the features."""
        total = np.zeros(X.shape[0])
        for family, hypotheses, coef in terms:
            g = family.coef([hypothesis.number for hypothesis in hypotheses], coef)
            total += product(X, g) - family.means @ g
        return total


@dataclass(eq=False)
class KernelFactors:
    """Factors T(x) = k̃(x)ᵀA(TᵀΓK̃A)⁻¹ ([M] Alg. 5, line 11); without deflation k̃(x)ᵀA/lengths.

    They are evaluated as (k(x) − means)ᵀR, by the kernel that is not centred.

    Attributes
    ----------
    name : str
    kernel : Kernel
        Fitted.
    centres : ndarray of shape (n_rows, n_features)
        The training rows.
    shares : ndarray of shape (n_rows,)
        Weights s of the rows, which add up to 1.
    means : ndarray of shape (n_rows,)
        Mean of the kernel over the training rows, for every centre.
    deflated : bool
    dual_weights : Columns of height n_rows
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
    dual_weights: Columns = field(init=False)
    rotations: Nested = field(init=False)

    def __post_init__(self) -> None:
        self.dual_weights, self.rotations = Columns(len(self.means)), Nested(len(self.means))

    def put(self, number: int, dual_weights: Vector, triangle: Vector, length: float) -> None:
        """Set factor ``number``, from its a, the tⱼᵀΓK̃a of those before it, and its length."""
        self.dual_weights.put(number, dual_weights)
        centred = dual_weights - self.shares * dual_weights.sum()
        self.rotations.solve(number, centred, triangle if self.deflated else np.zeros(0), length)

    def coef(self, numbers: Sequence[int], coef: Vector) -> Vector:
        """β, the coefficients of the kernel at the training rows ([M] eq. 44), shape (n_rows,)."""
        return self.rotations.values[:, list(numbers)] @ coef

    def outputs(self, X: Any, hypotheses: Sequence[FactorHypothesis]) -> Vector:
        """Values of some factors, shape (n_rows, n_hypotheses)."""
        R = self.rotations.values[:, [hypothesis.number for hypothesis in hypotheses]]
        return self._combined(X, R)

    @staticmethod
    def weighted_sum(X: Any, terms: Sequence[Term]) -> Vector:
        """Σ coef·factor through the coefficients of the kernel ([M] eq. 47)."""
        total = np.zeros(X.shape[0])
        for family, hypotheses, coef in terms:
            beta = family.coef([hypothesis.number for hypothesis in hypotheses], coef)
            total += family._combined(X, beta)
        return total

    def _combined(self, X: Any, B: Vector) -> Vector:
        """(K(X, centres) − e·meansᵀ)B, by blocks of rows."""
        values = np.empty((X.shape[0], *B.shape[1:]))
        step = max(1, PREDICTION_BLOCK // max(1, len(self.centres)))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            block = kernel_values(self.name, self.kernel, X[rows], self.centres)
            values[rows] = product(block, B)
        return values - self.means @ B


def product(X: Any, B: Vector) -> Vector:
    """X·B in the dtype of X, as float64: a float32 X is not copied."""
    return np.asarray(X @ B.astype(X.dtype, copy=False), dtype=np.float64)
