"""The check of a kernel that somebody writes: which of its methods contradict each other."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.arrays import Matrix
from cgboost.exceptions import CheckError, KernelError
from cgboost.kernels.definite import check_definite
from cgboost.kernels.expansions import Arithmetic
from cgboost.kernels.kernel import Kernel
from cgboost.kernels.on_columns import are_numbers
from cgboost.kernels.precomputed import FunctionKernel
from cgboost.tables.frames import filled, is_frame

SAME_KERNEL_VALUE = 1e-8
"""Of values in float64, relative to the largest."""

N_ROWS, N_FEATURES = 40, 5


def check_kernel(
    kernel: Kernel | Callable[[Any, Any], Any],
    X: ArrayLike | None = None,
    *,
    definite: bool = False,
    random_state: int = 0,
) -> None:
    """Raise an error that names a method of a kernel which contradicts the others.

    Values are finite, those of a row do not depend on other rows, and ``diagonal`` has k(x, x). A
    :class:`Kernel` that is ``of_products`` or ``of_distances`` has the same values from these,
    within its ``rounding`` in float32; an ``expansion`` has those of the sum; it can be pickled,
    and fitting a fitted one changes nothing.

    Parameters
    ----------
    kernel : Kernel or callable
        A function ``k(X, Z)`` of shape (len(X), len(Z)) is a kernel, too.
    X : array-like of shape (n_rows, n_features), optional
        Rows that it takes; by default random numbers, two of which are equal and one is 0.
    definite : bool, default=False
        Whether it should be symmetric and positive semi-definite, as norms of functions need.
    random_state : int, default=0
        For rows and weights.

    Raises
    ------
    CheckError
        With the method, and what was expected.
    TypeError
        If it is neither a kernel nor a function.
    """
    if not isinstance(kernel, Kernel):
        if not callable(kernel) or isinstance(kernel, type):
            raise TypeError(f"check_kernel takes a Kernel or a function k(X, Z), got {kernel!r}")
        kernel = FunctionKernel(kernel)
    rng = np.random.default_rng(random_state)
    rows = _rows(rng) if X is None else _table(X)
    if rows.ndim != 2 or len(rows) < 2:
        raise TypeError(f"X must have two rows at least, of two dimensions, got shape {rows.shape}")
    check = _Check(kernel.fit(rows), rows, rng)
    check.values()
    if not isinstance(kernel, FunctionKernel):
        check.is_a_value()
    if check.kernel.of_products:
        check.products()
        check.rounding()
    if check.kernel.of_distances:
        check.distances()
    check.expansion()
    if definite:
        check.definite()


def _table(X: Any) -> Any:
    """Rows as kernels are given them: a list of objects is one column."""
    if is_frame(X):
        raise TypeError("check_kernel takes arrays: give X.to_numpy(), and On(k, [0, 2]) by number")
    if isinstance(X, (list, tuple)) and not (are_numbers(X) or np.ndim(X[0]) > 0):
        return filled(X)[:, None]
    table = np.asarray(X)
    return table[:, None] if table.ndim == 1 and table.dtype.kind in "OU" else table


def _rows(rng: np.random.Generator) -> Matrix:
    X = rng.normal(size=(N_ROWS, N_FEATURES)) * rng.lognormal(size=(N_ROWS, 1))
    X[1], X[2] = X[0], 0.0
    return np.asarray(X)


class _Check:
    """One fitted kernel, and rows."""

    def __init__(self, kernel: Kernel, X: Matrix, rng: np.random.Generator) -> None:
        self.kernel, self.X, self.rng = kernel, X, rng
        self.Z = X[: max(1, len(X) // 3)]
        self.expected = np.zeros((0, 0))

    def values(self) -> None:
        """Finite numbers, of the rows alone; those of a row with itself."""
        try:
            found = np.asarray(self.kernel(self.X, self.Z))
        except KernelError as error:
            raise self.error(
                f"k(X, Z) must be finite floats, a row for each of X: {error}"
            ) from error
        shape = (len(self.X), len(self.Z))
        if found.shape != shape or found.dtype.kind != "f" or not np.isfinite(found).all():
            raise self.error(
                f"k(X, Z) must be finite floats of shape {shape}, got {found.dtype} of shape "
                f"{found.shape}{'' if np.isfinite(found).all() else ', not all finite'}"
            )
        self.expected = found.astype(np.float64)
        half = len(self.X) // 2
        parts = np.vstack([self.kernel(self.X[:half], self.Z), self.kernel(self.X[half:], self.Z)])
        self.alike("k(X, Z) of fewer rows", parts, self.expected, "those of all rows")
        single = np.hstack([self.kernel(self.X, self.Z[j : j + 1]) for j in range(len(self.Z))])
        self.alike("k(X, Z) of one centre", single, self.expected, "that of all centres")
        own = np.array([self.kernel(row[None], row[None])[0, 0] for row in self.X])
        self.alike("diagonal(X)", self.kernel.diagonal(self.X), own, "k(x, x)")

    def is_a_value(self) -> None:
        """Pickled, compared, and fitted again."""
        kernel = self.kernel
        try:
            copy = pickle.loads(pickle.dumps(kernel))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise self.error(f"the pickled kernel must be the same: {error}") from error
        for name, other in (
            ("the pickled kernel", copy),
            ("fit of a fitted kernel", kernel.fit(self.X)),
        ):
            if not isinstance(other, Kernel):
                raise self.error(f"{name} must be a kernel, got {other!r}")
            self.alike(name, other(self.X, self.Z), self.expected, "the same function")

    def products(self) -> None:
        """Values from inner products and squared norms."""
        X, Z = self.X.astype(np.float64), self.Z.astype(np.float64)
        products, norms = X @ Z.T, ((X**2).sum(axis=1), (Z**2).sum(axis=1))
        found = self.kernel.from_products(products.copy(), *norms)
        self.alike("from_products", found, self.expected, "k(X, Z)")
        weights = self.rng.normal(size=len(Z))
        total = self.kernel.sum_from_products(products.copy(), *norms, weights)
        self.alike("sum_from_products", total, self.expected @ weights, "Σ w k(x, z)")
        diagonal = self.kernel.diagonal_from_norms(norms[0])
        self.alike("diagonal_from_norms", diagonal, self.kernel.diagonal(X), "diagonal(X)")

    def rounding(self) -> None:
        """Values in float32 are as near as it says."""
        X = self.X.astype(np.float32)
        norms = np.einsum("ij,ij->i", X, X, dtype=np.float64)
        roundoff = 0.5 * float(np.finfo(np.float32).eps)
        bound = self.kernel.rounding(Arithmetic(norms, X.shape[1], roundoff))
        if bound is None:
            return
        wide = self.kernel(X.astype(np.float64), X.astype(np.float64))
        allowed = bound.relative * np.outer(bound.size, bound.size)
        apart = np.abs(self.kernel(X, X) - wide)
        if (apart > allowed + np.finfo(np.float32).tiny).any():
            worst = np.unravel_index(int((apart - allowed).argmax()), apart.shape)
            raise self.error(
                f"rounding must bound the error of values in float32: {apart[worst]:g} is above "
                f"{allowed[worst]:g} in rows {worst[0]} and {worst[1]} of X"
            )

    def distances(self) -> None:
        """Values from squared distances."""
        X, Z = self.X.astype(np.float64), self.Z.astype(np.float64)
        squares = ((X[:, None] - Z) ** 2).sum(axis=2)
        found = np.empty_like(squares)
        self.kernel.fill_from_distances(found, squares)
        self.alike("fill_from_distances", found, self.expected, "k(X, Z)")

    def expansion(self) -> None:
        """The function of a sum, if it has one that needs no centres."""
        weights = self.rng.normal(size=len(self.Z))
        cost = self.kernel.expansion_cost(len(self.Z), self.X.shape[1], len(self.X))
        if np.isfinite(cost):
            found = self.kernel.expanded(self.Z, weights)(self.X)
            self.alike("expanded", found, self.expected @ weights, "Σ w k(x, z)")

    def definite(self) -> None:
        """Symmetric, and without negative eigenvalues."""
        try:
            check_definite(repr(self.kernel), self.kernel, self.X)
        except Exception as error:
            raise self.error(f"k must be positive semi-definite: {error}") from error

    def alike(self, name: str, found: Any, expected: Matrix, what: str) -> None:
        """Numbers that differ by no more than rounding."""
        found = np.asarray(found)
        if found.shape != expected.shape:
            raise self.error(f"{name} must have shape {expected.shape}, got {found.shape}")
        narrow = self.X.dtype == np.float32
        share = 1e-4 if narrow else max(SAME_KERNEL_VALUE, self._lost)
        allowed = share * (float(np.abs(expected).max()) or 1.0)
        apart = np.abs(found - expected)
        if not (apart <= allowed).all():
            worst = np.unravel_index(int(np.nanargmax(apart)), apart.shape)
            raise self.error(
                f"{name} must be {what}: {found[worst]:.9g} for {expected[worst]:.9g} at "
                f"{', '.join(map(str, worst))}"
            )

    @property
    def _lost(self) -> float:
        """What inner products of long rows lose of their distances."""
        if not self.kernel.of_products:
            return 0.0
        return 1e3 * float(np.finfo(np.float64).eps) * float((self.X**2).sum(axis=1).max())

    def error(self, words: str) -> CheckError:
        """The error of this kernel."""
        return CheckError(f"{self.kernel!r}: {words}")
