"""Kernels and libraries of kernels.

Every kernel is a function k(X, Z) of two sets of rows with values of shape (len(X), len(Z)). It
need not be positive semi-definite: CG-Boost uses each K(·, x_j) as a column, nothing more
([B] section 2.3). [B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of
Kernels*, KDD 2004.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import KernelError

Matrix = NDArray[np.floating[Any]]
KernelFunction = Callable[[Matrix, Matrix], Matrix]


class Kernel(ABC):
    """A kernel k(x, z); add kernels and multiply them by numbers to get composite ones."""

    @abstractmethod
    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        """Kernel values of every row of X with every centre in Z, shape (len(X), len(Z))."""

    def fit(self, X: Matrix) -> Kernel:
        """A kernel with its data-dependent parameters set from the training rows."""
        return self

    def diagonal(self, X: Matrix) -> NDArray[np.floating[Any]]:
        """k(x, x) of every row, shape (len(X),)."""
        return np.array([self(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(len(X))])

    def centres(self, X: Matrix, rows: Any) -> Matrix:
        """What stands for training rows ``rows`` as centres: by default the rows themselves."""
        return X[rows]

    def __add__(self, other: object) -> Kernel:
        if not isinstance(other, Kernel):
            return NotImplemented
        return Sum(_terms(self) + _terms(other))

    def __mul__(self, weight: float) -> Kernel:
        if isinstance(weight, bool) or not isinstance(weight, (int, float, np.number)):
            return NotImplemented
        return Sum(tuple((float(weight) * own, kernel) for own, kernel in _terms(self)))

    __rmul__ = __mul__


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = x·z."""

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return X @ Z.T

    def diagonal(self, X: Matrix) -> NDArray[np.floating[Any]]:
        return np.einsum("ij,ij->i", X, X)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (gamma·x·z + coef0)^degree."""

    degree: int = 2
    gamma: float = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.degree, Real) or self.degree < 1 or self.degree % 1:
            raise ValueError(f"degree must be a positive whole number, got {self.degree!r}")
        if not _is_positive(self.gamma):
            raise ValueError(f"gamma must be a positive number, got {self.gamma!r}")
        if not isinstance(self.coef0, Real):
            raise ValueError(f"coef0 must be a number, got {self.coef0!r}")

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return self._of(X @ Z.T)

    def diagonal(self, X: Matrix) -> NDArray[np.floating[Any]]:
        return self._of(np.einsum("ij,ij->i", X, X))

    def _of(self, products: Matrix) -> Matrix:
        base = products if self.gamma == 1.0 else self.gamma * products
        base = base if self.coef0 == 0.0 else base + self.coef0
        return base**self.degree


@dataclass(frozen=True)
class RBF(Kernel):
    """k(x, z) = exp(−gamma·‖x − z‖²).

    ``gamma=None`` takes 1 / mean‖x_i − x_j‖² over all pairs of training rows, the rule of
    [B] section 5 (and 1.0 where all rows are equal).
    """

    gamma: float | None = None

    def __post_init__(self) -> None:
        if self.gamma is not None and not _is_positive(self.gamma):
            raise ValueError(f"gamma must be a positive number or None, got {self.gamma!r}")

    def fit(self, X: Matrix) -> Kernel:
        if self.gamma is not None:
            return self
        # mean over pairs of ‖x_i − x_j‖² is twice the total variance
        spread = 2.0 * float(np.var(X, axis=0, dtype=np.float64).sum())
        return RBF(1.0 / spread if spread > 0 else 1.0)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        if self.gamma is None:
            raise KernelError("RBF(gamma=None) has no width yet: call fit(X) or give gamma")
        distances = X @ Z.T
        distances *= -2.0
        distances += np.einsum("ij,ij->i", X, X)[:, None]
        distances += np.einsum("ij,ij->i", Z, Z)[None, :]
        np.maximum(distances, 0.0, out=distances)
        distances *= -self.gamma
        return np.exp(distances, out=distances)

    def diagonal(self, X: Matrix) -> NDArray[np.floating[Any]]:
        return np.ones(len(X), dtype=X.dtype)


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Kernel values taken from the data: X[i, first + j] is k(x_i, x_j) for training row j.

    With several precomputed kernels, put their matrices side by side and give each its first
    column. New rows need their values against *all* training rows.
    """

    first: int = 0

    def centres(self, X: Matrix, rows: Any) -> Matrix:
        if X.shape[1] < self.first + X.shape[0]:
            raise KernelError(
                f"Precomputed(first={self.first}) needs at least {self.first + X.shape[0]} columns "
                f"for {X.shape[0]} training rows, X has {X.shape[1]}"
            )
        return (self.first + np.arange(X.shape[0])[rows])[..., None].astype(X.dtype)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return X[:, Z[:, 0].astype(np.intp)]


@dataclass(frozen=True)
class Sum(Kernel):
    """Σ weight·kernel: a composite kernel in the sense of [B] eq. 2."""

    terms: tuple[tuple[float, Kernel], ...]

    def __post_init__(self) -> None:
        if any(isinstance(kernel, Precomputed) for _, kernel in self.terms):
            raise ValueError("Precomputed cannot be part of a sum: add the matrices instead")

    def fit(self, X: Matrix) -> Kernel:
        return Sum(tuple((weight, kernel.fit(X)) for weight, kernel in self.terms))

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return sum(
            (weight * kernel(X, Z) for weight, kernel in self.terms),
            start=np.zeros((), dtype=X.dtype),
        )

    def diagonal(self, X: Matrix) -> NDArray[np.floating[Any]]:
        return sum(
            (weight * kernel.diagonal(X) for weight, kernel in self.terms),
            start=np.zeros((), dtype=X.dtype),
        )


@dataclass(frozen=True)
class Normalized(Kernel):
    """k(x, z) / √(k(x, x) k(z, z)), and 0 where k(x, x) is 0."""

    kernel: Kernel

    def __post_init__(self) -> None:
        if isinstance(self.kernel, Precomputed):
            raise ValueError("a Precomputed kernel cannot be normalised: normalise its matrix")

    def fit(self, X: Matrix) -> Kernel:
        return Normalized(self.kernel.fit(X))

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        values = self.kernel(X, Z)
        values = values * self._inverse_root(X)[:, None]
        values *= self._inverse_root(Z)[None, :]
        return values

    def diagonal(self, X: Matrix) -> NDArray[np.floating[Any]]:
        return (self._inverse_root(X) > 0).astype(X.dtype)

    def _inverse_root(self, X: Matrix) -> NDArray[np.floating[Any]]:
        diagonal = self.kernel.diagonal(X)
        if np.any(diagonal < 0):
            raise KernelError(f"{self.kernel} cannot be normalised: k(x, x) = {diagonal.min():.3g}")
        return np.divide(1.0, np.sqrt(diagonal), out=np.zeros_like(diagonal), where=diagonal > 0)


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """Any callable ``function(X, Z) -> (len(X), len(Z))``; its values are checked and made floats.

    It can be pickled if the function can: a lambda, or a function inside a function, cannot.
    """

    function: KernelFunction
    name: str = "function"

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return checked_values(self.name, self.function(X, Z), X, Z)

    def __str__(self) -> str:
        return f"kernel {self.name!r}"


class KernelLibrary:
    """Named kernels, in order of priority.

    Parameters
    ----------
    kernels : mapping of str to Kernel or callable
        The order is the priority of stratified pricing. A callable ``k(X, Z)`` must return real
        numbers of shape (len(X), len(Z)); to pickle a model it must be a function that a module
        defines by name, not a lambda.
    normalize : bool, default=False
        Divide every kernel by √(k(x, x) k(z, z)). Nothing is scaled unless asked.
    negation : bool, default=True
        Whether −K(·, x_j) belongs to the library beside K(·, x_j). It changes the model only
        where coefficients are non-negative: without negation a non-negative kernel and α ≥ 0
        cannot predict a negative output.

    Examples
    --------
    >>> from cgboost import KernelLibrary, Linear, Polynomial, RBF
    >>> KernelLibrary({"linear": Linear(), "both": Linear() + 0.5 * Polynomial(2), "rbf": RBF()})
    KernelLibrary(linear, both, rbf)
    """

    def __init__(
        self,
        kernels: Mapping[str, Kernel | KernelFunction],
        *,
        normalize: bool = False,
        negation: bool = True,
    ) -> None:
        if not isinstance(kernels, Mapping) or not kernels:
            raise ValueError(f"kernels must be a non-empty mapping of name to kernel: {kernels!r}")
        self.kernels = {name: _as_kernel(name, kernel) for name, kernel in kernels.items()}
        self.normalize = normalize
        self.negation = negation

    @property
    def names(self) -> tuple[str, ...]:
        """Kernel names in order of priority."""
        return tuple(self.kernels)

    def fit(self, X: Matrix) -> dict[str, Kernel]:
        """The kernels with their widths set from the training rows, normalised if asked."""
        wrap = Normalized if self.normalize else _unchanged
        return {name: wrap(kernel).fit(X) for name, kernel in self.kernels.items()}

    def __len__(self) -> int:
        return len(self.kernels)

    def __repr__(self) -> str:
        options = [] if not self.normalize else ["normalize=True"]
        options += [] if self.negation else ["negation=False"]
        return f"KernelLibrary({', '.join([*self.names, *options])})"


def kernel_values(name: str, kernel: Kernel, X: Matrix, Z: Matrix) -> Matrix:
    """``kernel(X, Z)``, checked: a finite array of shape (len(X), len(Z)).

    Raises
    ------
    KernelError
        Naming the kernel and what is wrong with its values.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return checked_values(name, kernel(X, Z), X, Z)


def checked_values(name: str, values: Any, X: Matrix, Z: Matrix) -> Matrix:
    """What a kernel returned for X and Z, as a finite array of shape (len(X), len(Z)).

    Whole numbers and lists become an array of floats.

    Raises
    ------
    KernelError
        Naming the kernel and what is wrong with its values.
    """
    wanted = (len(X), len(Z))
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise KernelError(f"kernel {name!r} returned no matrix ({error})") from error
    if array.dtype.kind not in "fiub":
        raise KernelError(
            f"kernel {name!r} returned {type(values).__name__} of {array.dtype} values; it must "
            f"return an array of real numbers of shape {wanted}"
        )
    if array.shape != wanted:
        raise KernelError(
            f"kernel {name!r} returned shape {array.shape} for {len(X)} rows and {len(Z)} "
            f"centres; it must return {wanted}"
        )
    if array.dtype.kind != "f":
        array = array.astype(np.result_type(X.dtype, np.float32))
    if not np.isfinite(array).all():
        raise KernelError(
            f"kernel {name!r} returned {array[~np.isfinite(array)][0]} for some rows; "
            "scale the features (to [0, 1], say) or check its formula"
        )
    return array


def _as_kernel(name: object, kernel: Kernel | KernelFunction) -> Kernel:
    if not isinstance(name, str) or not name:
        raise ValueError(f"kernel names must be non-empty strings, got {name!r}")
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel, name)
    raise ValueError(
        f"kernel {name!r} must be a Kernel such as RBF() or a callable k(X, Z), got {kernel!r}"
    )


def _is_positive(value: object) -> bool:
    return isinstance(value, Real) and 0 < float(value) < math.inf


def _terms(kernel: Kernel) -> tuple[tuple[float, Kernel], ...]:
    return kernel.terms if isinstance(kernel, Sum) else ((1.0, kernel),)


def _unchanged(kernel: Kernel) -> Kernel:
    return kernel
