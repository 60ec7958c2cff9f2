"""Agreement with given functions: centres that reproduce f_o = Σ_p Σ_i A_pio k_p(·, v_pi).

    v(Z) = min over B of  ½ λ Σ_o ‖f_o − g_o‖² + ½ Σ_i Σ_o (f_o(x_i) − g_o(x_i))²

with g_o = Σ_p Σ_j B_pjo k_p(·, z_pj), and the norm of the sum of the RKHSs. All outputs o share the
centres. With the residuals R = F − K(X, Z) B on the rows, the optimal B has (envelope theorem)

    ∂v/∂z_pj = Σ_o B_pjo (λ Σ_i B_pio ∂k_p(z_i, z_j)/∂z_j − λ Σ_i A_pio ∂k_p(v_i, z_j)/∂z_j
                          − Σ_i R_io ∂k_p(x_i, z_j)/∂z_j)

The norm bounds what no row shows: |f_o(x) − g_o(x)| ≤ ‖f_o − g_o‖ √k(x, x) for every x, k = Σ_p k_p
(Schölkopf et al., *Input space versus feature space in kernel-based methods*, 1999, minimise it
alone, for one output).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cgboost.arrays import Indices, Vector, blocks_of
from cgboost.exceptions import KernelError
from cgboost.kernels import Kernel, Matrix
from cgboost.kernels.expansions import ROWS_AT_ONCE, Arithmetic
from cgboost.kernels.sparse_rows import squared_norms
from cgboost.pricing.centres.coefficients import Coefficients, solved
from cgboost.pricing.centres.projection import CentreFunction, CentreSets
from cgboost.tolerances import UNIT_ROUNDOFF


@dataclass(frozen=True, eq=False)
class Agreement(CentreFunction):
    """v(Z) of given functions on rows.

    Attributes
    ----------
    vectors : sequence of ndarray of shape (n_vectors, n_features)
        v_p of every kernel.
    given : sequence of ndarray of shape (n_vectors, n_outputs)
        A_p of every kernel.
    values : ndarray of shape (n_rows, n_outputs)
        F, the given functions on the rows.
    share : float
        λ.
    norm : float
        Σ_o ‖f_o‖².
    """

    vectors: CentreSets
    given: Sequence[Matrix]
    values: Matrix
    share: float
    norm: float

    def on_part(self, rows: Indices) -> Agreement:
        """The same over some of the rows."""
        part = len(rows) / len(self.X)
        return replace(self, X=self.X[rows], values=self.values[rows], share=part * self.share)

    def best(
        self, centres: CentreSets, start: tuple[Vector, float] | None = None, **options: Any
    ) -> Coefficients:
        """B from its normal equations; ``output`` are the residuals R."""
        columns, gram = self.columns(centres), self.gram(centres)
        matched = np.concatenate(
            [
                kernel(V, Z.astype(V.dtype)).T.astype(np.float64) @ A
                for kernel, V, A, Z in self._parts(centres)
            ]
        )
        dtype = columns.dtype
        matrix = self.share * gram + (columns.T @ columns).astype(np.float64)
        right = self.share * matched + (columns.T @ self.values.astype(dtype)).astype(np.float64)
        coef = solved(matrix, right) if len(matrix) else right
        residual: Vector = np.asarray(self.values - columns @ coef.astype(dtype), dtype=np.float64)
        distance = self.norm + float(np.sum(coef * (gram @ coef - 2.0 * matched)))
        objective = 0.5 * (self.share * max(distance, 0.0) + float(np.sum(residual**2)))
        return Coefficients(coef, 0.0, residual, objective)

    def response(self, best: Coefficients) -> Vector:
        """The residuals of all outputs in the direction in which they are largest."""
        direction = np.linalg.eigh(best.output.T @ best.output)[1][:, -1]
        along: Vector = best.output @ direction
        return along

    def gradient(self, centres: CentreSets, best: Coefficients) -> list[Matrix]:
        """∂v/∂Z at optimal coefficients."""
        dtype = self.X.dtype
        gradients: list[Matrix] = []
        first = 0
        for kernel, V, A, Z in self._parts(centres):
            B = best.coef[first : first + len(Z)]
            first += len(Z)
            if not len(Z):
                gradients.append(np.zeros(Z.shape))
                continue
            narrow, turned = Z.astype(dtype), B.T.astype(dtype)
            own = kernel.centre_gradient(self.X, narrow, best.output.astype(dtype) @ -turned)
            own -= self.share * kernel.centre_gradient(V, narrow, A.astype(dtype) @ turned)
            own += self.share * kernel.centre_gradient(Z, Z, B @ B.T)
            gradients.append(own)
        return gradients

    def _parts(self, centres: CentreSets) -> Any:
        return zip(self.kernels, self.vectors, self.given, centres, strict=True)


def squared_lengths(kernel: Kernel, Z: Matrix, coef: Matrix) -> Vector:
    """‖Σ_j coef_jo k(·, z_j)‖² of every output o, at least: with what rounding may have taken.

    A squared length near 0 is a difference of large numbers: to the computed value comes
    (relative error of a kernel value + of the sums) · (Σ_j |coef_j| size(z_j))².

    Raises
    ------
    KernelError
        If one is negative by more than rounding.
    """
    Z = Z.astype(np.float64)
    total = np.zeros(coef.shape[1])
    for rows in blocks_of(len(Z), ROWS_AT_ONCE):
        total += np.sum(coef[rows] * (kernel(Z[rows], Z) @ coef), axis=0)
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
