"""Columns of one kernel, made orthonormal in its RKHS by an incremental Cholesky factorisation.

With the centres Z of columns H = K(X, Z), and K(Z, Z) = LLᵀ,

    U = H L^{-T},      ⟨u_i, u_j⟩ = δ_ij,      Hα = Uβ  with  β = Lᵀα,  ‖Hα‖² = Σβ²

New columns N come in blocks: with C = L^{-1}K(Z, Z_N) and the factor S of K(Z_N, Z_N) − CᵀC, their
orthonormal ones are (N − UC) S^{-T}, in O(n_rows·new·held) operations. What is left of a column in
the span of those before it is rounding error alone: such a column is *dependent*. It adds nothing
to the basis, and its coefficient is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from cgboost.arrays import Indices, Vector
from cgboost.exceptions import IndefiniteKernelError
from cgboost.generation.columns import Column

DEPENDENT, DEPENDENT_NARROW = 1e-12, 1e-6
"""A column is dependent if its squared distance from the span of the others falls below this share
of its squared length, of values in float64 and in float32: ten thousand and ten units of rounding,
since a sum over all columns held is taken off."""

REFUTED, REFUTED_NARROW = 1e-6, 1e-2
"""A squared distance from the span below 0 by this share of the squared length is no rounding error
of values in float64, or float32: the kernel is not positive semi-definite. A direction that is left
of a nearly dependent column has an error of 1e-10, and of 1e-8 for rows that are much longer."""

NO_PART = 1e-11
"""A coefficient whose part of the function is shorter than this, relative to the whole, is 0: it is
a sum of larger terms that cancel, as those of a machine's rows that are no support vectors are."""


@runtime_checkable
class CentredFunction(Protocol):
    """A basis function K(·, z) that is known by its centre z."""

    @property
    def row(self) -> int:
        """The training row that the centre is; negative where it is none."""
        ...

    @property
    def family(self) -> Any:
        """The family, with the inner products of its functions (:class:`InnerProducts`)."""
        ...


class InnerProducts(Protocol):
    """A family of functions of one RKHS."""

    def inner_products(self, left: Sequence[Any], right: Sequence[Any]) -> Vector:
        """⟨h, h'⟩ for all h on the left and h' on the right, shape (len(left), len(right))."""
        ...


class OrthonormalBasis:
    """An orthonormal basis of the span of some columns of one kernel; it grows with the columns.

    Parameters
    ----------
    name : str
        Of the kernel.

    Attributes
    ----------
    columns : list of Column
        All that were added.
    independent : list of int
        The places of those that extended the basis.
    squares : ndarray of shape (n_rows,)
        Σ_j u_j(x)²: the squared length of K(·, x) within the span.
    """

    def __init__(self, name: str, n_rows: int) -> None:
        self.name = name
        self.columns: list[Column] = []
        self.independent: list[int] = []
        self.squares = np.zeros(n_rows)
        self._rows: Indices = np.zeros(0, dtype=np.intp)
        self._dependent: dict[int, Vector] = {}
        self._values = np.empty((n_rows, 16))
        self._factor = np.zeros((16, 16))

    def __len__(self) -> int:
        """The dimension of the span."""
        return len(self.independent)

    @property
    def values(self) -> Vector:
        """The orthonormal columns on the training rows, shape (n_rows, len(self))."""
        return self._values[:, : len(self)]

    @property
    def factor(self) -> Vector:
        """L of the independent columns, lower triangular."""
        return self._factor[: len(self), : len(self)]

    def add(self, columns: Sequence[Column]) -> NDArray[np.bool_]:
        """Extend the basis by new columns; which of them are independent of those before.

        Raises
        ------
        IndefiniteKernelError
            If a squared distance is below 0.
        """
        held, first = len(self), len(self.columns)
        new = [self._checked(column) for column in columns]
        narrow = any(column.values.dtype != np.float64 for column in columns)
        share = DEPENDENT_NARROW if narrow else DEPENDENT
        refuted = REFUTED_NARROW if narrow else REFUTED
        with_held, with_new = self._products(columns, new)
        along = solve_triangular(self.factor, with_held, lower=True, check_finite=False)
        left = with_new - along.T @ along
        lengths = np.diag(with_new)
        if np.any(np.diag(left) < -refuted * lengths) or np.any(lengths < 0):
            raise self._refuted(with_held, with_new)
        factor, chosen = cholesky_of_independent(left, share * lengths)
        places = np.flatnonzero(chosen).tolist()
        values = np.array([columns[j].values for j in places], dtype=np.float64)
        values = values.reshape(len(places), len(self.squares)).T
        values = values - self.values @ along[:, places]
        own = factor[places]
        values = solve_triangular(own, values.T, lower=True, check_finite=False).T
        self._keep(values, along[:, places], own)
        self.squares += np.einsum("ij,ij->i", values, values)
        for j in np.flatnonzero(~chosen).tolist():
            self._dependent[first + j] = np.append(along[:, j], factor[j])
        self.columns.extend(columns)
        self.independent.extend(first + j for j in places)
        rows = np.array([new[j].row for j in places], dtype=np.intp)
        self._rows = np.append(self._rows, rows)
        assert len(self) == held + len(places)
        return chosen

    def expansion(self, beta: Vector) -> Vector:
        """Coefficients α of all columns for coefficients β of the basis: Hα = Uβ."""
        alpha = np.zeros(len(self.columns))
        own = solve_triangular(self.factor, beta, lower=True, trans="T", check_finite=False)
        parts = np.abs(own) * np.sqrt(np.einsum("ij,ij->i", self.factor, self.factor))
        own[parts <= NO_PART * float(np.linalg.norm(beta))] = 0.0
        alpha[self.independent] = own
        return alpha

    def coefficients(self, alpha: Vector) -> Vector:
        """Coefficients β of the basis for coefficients α of all columns: Uβ = Hα."""
        beta = self.factor.T @ alpha[self.independent]
        for place, shares in self._dependent.items():
            beta[: len(shares)] += alpha[place] * shares
        return np.asarray(beta, dtype=np.float64)

    # ------------------------------------------------------------------ inner products

    def _checked(self, column: Column) -> CentredFunction:
        if not isinstance(column.hypothesis, CentredFunction):
            raise TypeError(
                f"column {column.key!r} is no function K(·, z) of kernel {self.name!r}: the norm "
                "of functions needs their inner products"
            )
        return column.hypothesis

    def _products(
        self, columns: Sequence[Column], new: Sequence[CentredFunction]
    ) -> tuple[Vector, Vector]:
        """Inner products of new columns with the basis' columns, and with each other.

        ⟨h, K(·, x)⟩ = h(x): where all centres are training rows, the columns have them already.
        """
        rows = np.array([one.row for one in new], dtype=np.intp)
        if np.all(rows >= 0) and np.all(self._rows >= 0):
            with_held = [column.values[self._rows] for column in columns]
            with_new = np.array([column.values[rows] for column in columns], dtype=np.float64)
            shape = (len(columns), len(self._rows))
            held_first = np.array(with_held, dtype=np.float64).reshape(shape).T
            return held_first, 0.5 * (with_new + with_new.T)
        family = cast(InnerProducts, new[0].family)
        held = [self.columns[j].hypothesis for j in self.independent]
        with_new = family.inner_products(new, new)
        products = family.inner_products(held, new) if held else np.zeros((0, len(new)))
        return products, 0.5 * (with_new + with_new.T)

    def _refuted(self, with_held: Vector, with_new: Vector) -> IndefiniteKernelError:
        gram = np.block([[self.factor @ self.factor.T, with_held], [with_held.T, with_new]])
        eigenvalues = np.linalg.eigvalsh(gram)
        return IndefiniteKernelError(
            self.name,
            f"the smallest eigenvalue of its values for {len(gram)} centres is "
            f"{eigenvalues[0]:.3g}, the largest {eigenvalues[-1]:.3g}",
        )

    # ------------------------------------------------------------------ memory

    def _keep(self, values: Vector, along: Vector, own: Vector) -> None:
        """Append orthonormal columns and rows of L."""
        held, count = len(self), len(self) + values.shape[1]
        if count > self._values.shape[1]:
            grown = np.empty((len(self.squares), 2 * count))
            grown[:, :held] = self._values[:, :held]
            factor = np.zeros((2 * count, 2 * count))
            factor[:held, :held] = self._factor[:held, :held]
            self._values, self._factor = grown, factor
        self._values[:, held:count] = values
        self._factor[held:count, :held] = along.T
        self._factor[held:count, held:count] = own


def cholesky_of_independent(gram: Vector, smallest: Vector) -> tuple[Vector, NDArray[np.bool_]]:
    """Cholesky factor of a Gram matrix, without the rows and columns that depend on those before.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
    smallest : ndarray of shape (n,)
        A row is dependent if its pivot is not above this.

    Returns
    -------
    factor : ndarray of shape (n, n_independent)
        Lower triangular in the rows of the independent ones.
    independent : ndarray of bool, shape (n,)
    """
    try:
        factor = np.asarray(np.linalg.cholesky(gram), dtype=np.float64)
        if np.all(np.diag(factor) ** 2 > smallest):
            return factor, np.ones(len(gram), dtype=bool)
    except np.linalg.LinAlgError:
        pass
    left, along = np.diag(gram).copy(), np.zeros_like(gram)
    chosen: list[int] = []
    for j in range(len(gram)):
        if left[j] <= smallest[j]:
            continue
        rank = len(chosen)
        direction = (gram[j] - along[:rank, j] @ along[:rank]) / np.sqrt(left[j])
        direction[chosen] = 0.0
        along[rank] = direction
        left -= direction**2
        chosen.append(j)
    independent = np.zeros(len(gram), dtype=bool)
    independent[chosen] = True
    return along[: len(chosen)].T, independent
