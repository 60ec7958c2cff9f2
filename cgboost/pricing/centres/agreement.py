"""Agreement with given functions: centres that reproduce f_o = Σ_p Σ_i A_pio k_p(·, v_pi).

    v(Z) = min over B of  ½ λ Σ_o ‖f_o − g_o‖² + ½ Σ_i Σ_o W_io (f_o(x_i) − g_o(x_i))²

with g_o = Σ_p Σ_j B_pjo k_p(·, z_pj), and the norm of the sum of the RKHSs. All outputs o share the
centres. With the residuals R = F − K(X, Z) B on the rows, the optimal B has (envelope theorem)

    ∂v/∂z_pj = Σ_o B_pjo (λ Σ_i B_pio ∂k_p(z_i, z_j)/∂z_j − λ Σ_i A_pio ∂k_p(v_i, z_j)/∂z_j
                          − Σ_i W_io R_io ∂k_p(x_i, z_j)/∂z_j)

The vectors v are among the rows x: support vectors are training rows, whose kernel values with the
centres are made once. A vector that is no row is one of weight 0.

The norm bounds what no row shows: |f_o(x) − g_o(x)| ≤ ‖f_o − g_o‖ √k(x, x) for every x, k = Σ_p k_p
(Schölkopf et al., *Input space versus feature space in kernel-based methods*, 1999, minimise it
alone, for one output).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.exceptions import KernelError
from cgboost.forks import cached_property
from cgboost.kernels import Kernel, Matrix
from cgboost.kernels.expansions import Arithmetic
from cgboost.kernels.kernel import gradient_from_products
from cgboost.kernels.sparse_rows import products_of, squared_norms
from cgboost.pricing.centres.coefficients import Coefficients, solved
from cgboost.pricing.centres.projection import CentreFunction, CentreSets
from cgboost.tolerances import UNIT_ROUNDOFF


@dataclass(frozen=True, eq=False)
class Importance:
    """Weights of squared differences, W_io = rows_i · outputs_{g(i), o}, for groups g of rows.

    Their form makes KᵀW_oK, of the kernel values K of the rows with the centres, a sum over few
    groups: one pass over the rows is enough for all outputs.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        At least 0.
    group : ndarray of int of shape (n_rows,)
    outputs : ndarray of shape (n_groups, n_outputs)
    """

    rows: Vector
    group: Indices
    outputs: Matrix

    @cached_property
    def weights(self) -> Matrix:
        """W, shape (n_rows, n_outputs)."""
        return self.rows[:, None] * self.outputs[self.group]

    def moments(self, columns: Matrix) -> Iterator[tuple[NDArray[np.bool_], Matrix]]:
        """Outputs o whose weights are the same, with KᵀW_oK in float64."""
        parts = []
        for group in range(len(self.outputs)):
            rows = np.flatnonzero((self.group == group) & (self.rows > 0))
            own = columns[rows] * np.sqrt(self.rows[rows, None]).astype(columns.dtype)
            parts.append((own.T @ own).astype(np.float64))
        total = sum(parts[1:], start=parts[0])
        kinds, kind = np.unique(self.outputs, axis=1, return_inverse=True)
        for number, weights in enumerate(kinds.T):
            least = weights.min()  # which most groups have: what the others have more is added
            moments = least * total
            for more in np.flatnonzero(weights > least):
                moments += (weights[more] - least) * parts[more]
            yield kind.ravel() == number, moments


@dataclass(frozen=True, eq=False)
class Agreement(CentreFunction):
    """v(Z) of given functions on rows.

    Attributes
    ----------
    given : sequence of ndarray of shape (n_rows, n_outputs)
        A_p of every kernel: 0 in rows that are no vectors.
    values : ndarray of shape (n_rows, n_outputs)
        F, the given functions on the rows.
    importance : Importance
        W.
    share : float
        λ.
    norm : float
        Σ_o ‖f_o‖².
    """

    given: Sequence[Matrix]
    values: Matrix
    importance: Importance
    share: float
    norm: float

    def on_part(self, rows: Indices) -> Agreement:
        """The same over some of the rows: the others have the weight 0, for they may be vectors."""
        counted = np.zeros(len(self.X))
        counted[rows] = 1.0
        own = replace(self.importance, rows=counted * self.importance.rows)
        return replace(self, importance=own, share=len(rows) / len(self.X) * self.share)

    def best(
        self, centres: CentreSets, start: tuple[Vector, float] | None = None, **options: object
    ) -> Coefficients:
        """B from its normal equations; ``output`` are the weighted residuals W∘R."""
        return self._best(centres, self.columns(centres))

    def evaluated(
        self, centres: CentreSets, start: tuple[Vector, float] | None = None
    ) -> tuple[Coefficients, list[Matrix]]:
        """Optimal coefficients and ∂v/∂Z, from one product of the rows with the centres."""
        products: list[Matrix | None] = []
        columns = []
        for kernel, Z, shared in zip(self.kernels, centres, self._share_products, strict=True):
            narrow = Z.astype(self.X.dtype)
            product = products_of(self.X, narrow) if shared else None
            products.append(product)
            if product is None:
                columns.append(kernel(self.X, narrow))
            else:
                values = kernel.from_products(product, self._norms, squared_norms(narrow))
                kernel.refine(values, self.X, narrow)
                columns.append(values)
        best = self._best(centres, np.concatenate(columns, axis=1))
        return best, self.gradient(centres, best, products)

    @cached_property
    def _norms(self) -> Matrix:
        return squared_norms(self.X)

    @cached_property
    def _share_products(self) -> list[bool]:
        """Whether values and slopes of each kernel come from inner products: not those of users."""
        shared = []
        for kernel in self.kernels:
            known = kernel.of_products
            if known:
                try:
                    gradient_from_products(kernel, self.X[:1], self.X[:1], np.ones((1, 1)))
                except KernelError:
                    known = False
            shared.append(known)
        return shared

    def _best(self, centres: CentreSets, columns: Matrix) -> Coefficients:
        gram, dtype = self.gram(centres), columns.dtype
        ends = np.cumsum([0, *map(len, centres)])
        matched = np.concatenate(
            [
                (columns[:, first:last].T @ A.astype(dtype)).astype(np.float64)
                for A, first, last in zip(self.given, ends[:-1], ends[1:], strict=True)
            ]
        )
        weights = self.importance.weights
        right = self.share * matched
        right += (columns.T @ (weights * self.values).astype(dtype)).astype(np.float64)
        coef = np.zeros_like(right)
        if len(gram):
            for outputs, moments in self.importance.moments(columns):
                coef[:, outputs] = solved(self.share * gram + moments, right[:, outputs])
        residual = np.asarray(self.values - columns @ coef.astype(dtype), dtype=np.float64)
        pulled: Vector = weights * residual
        distance = self.norm + float(np.sum(coef * (gram @ coef - 2.0 * matched)))
        objective = 0.5 * (self.share * max(distance, 0.0) + float(np.sum(pulled * residual)))
        return Coefficients(coef, 0.0, pulled, objective)

    def response(self, best: Coefficients) -> Vector:
        """The weighted residuals of all outputs in the direction in which they are largest."""
        direction = np.linalg.eigh(best.output.T @ best.output)[1][:, -1]
        along: Vector = best.output @ direction
        return along

    def gradient(
        self,
        centres: CentreSets,
        best: Coefficients,
        products: Sequence[Matrix | None] | None = None,
    ) -> list[Matrix]:
        """∂v/∂Z at optimal coefficients; ``products`` of the rows with the centres, if known."""
        dtype = self.X.dtype
        known = [None] * len(centres) if products is None else products
        gradients: list[Matrix] = []
        first = 0
        for kernel, A, Z, own in zip(self.kernels, self.given, centres, known, strict=True):
            B = best.coef[first : first + len(Z)]
            first += len(Z)
            if not len(Z):
                gradients.append(np.zeros(Z.shape))
                continue
            pull = (best.output + self.share * A).astype(dtype) @ -B.T.astype(dtype)
            narrow = Z.astype(dtype)
            gradient = (
                kernel.centre_gradient(self.X, narrow, pull)
                if own is None
                else gradient_from_products(kernel, self.X, narrow, pull, own)
            )
            gradient += self.share * kernel.centre_gradient(Z, Z, B @ B.T)
            gradients.append(gradient)
        return gradients


def rounded_up(kernel: Kernel, Z: Matrix, coef: Matrix, total: Vector) -> Vector:
    """Squared lengths as computed, with what rounding may have taken from them.

    One near 0 is a difference of large numbers: to the computed value comes
    (relative error of a kernel value + of the sums) · (Σ_j |coef_j| size(z_j))².

    Raises
    ------
    KernelError
        If one is negative by more than rounding.
    """
    norms: Vector = np.asarray(squared_norms(Z), dtype=np.float64)
    rounding = kernel.rounding(Arithmetic(norms, Z.shape[1], UNIT_ROUNDOFF))
    if rounding is None:
        relative, size = Z.shape[1] * UNIT_ROUNDOFF, np.sqrt(np.abs(kernel.diagonal(Z)))
    else:
        relative, size = rounding.relative, rounding.size
    relative += 2.0 * len(Z) * UNIT_ROUNDOFF
    errors = relative * (size @ np.abs(coef)) ** 2
    if np.any(total < -errors):
        raise KernelError(
            f"{kernel} is the kernel of no space of functions: one has the squared norm "
            f"{total.min():.3g}, so that nothing bounds how far two of them are apart"
        )
    lengths: Vector = np.maximum(total, 0.0) + errors
    return lengths
