"""Libraries: named kernels in order of priority."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from cgboost.exceptions import see
from cgboost.kernels.base import Kernel, KernelFunction
from cgboost.kernels.columns import Header, On, check_row_numbers, for_columns
from cgboost.kernels.combinations import Normalized
from cgboost.kernels.expansions import Matrix
from cgboost.kernels.precomputed import FunctionKernel


class KernelLibrary:
    """Named kernels, in order of priority.

    Parameters
    ----------
    kernels : mapping of str to Kernel, callable or (kernel, columns)
        A pair is short for ``On(kernel, columns)``, a kernel on some columns of X. The order is the
        priority of stratified pricing. A callable ``k(X, Z)`` must return real numbers of shape
        (len(X), len(Z)); to pickle a model it must be a function that a module defines by name, not
        a lambda.
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
        kernels: Mapping[str, Kernel | KernelFunction | tuple[Kernel | KernelFunction, Any]],
        *,
        normalize: bool = False,
        negation: bool = True,
    ) -> None:
        if not isinstance(kernels, Mapping) or not kernels:
            raise ValueError(
                "kernels must be a non-empty mapping of name to kernel, {'rbf': RBF()} say, got "
                f"{kernels!r}"
                f"{see('kernels-and-libraries')}"
            )
        self.kernels = {name: _as_kernel(name, kernel) for name, kernel in kernels.items()}
        self.normalize = normalize
        self.negation = negation

    @property
    def names(self) -> tuple[str, ...]:
        """Kernel names in order of priority."""
        return tuple(self.kernels)

    def fit(self, X: Matrix) -> dict[str, Kernel]:
        """The kernels with their widths set from the training rows, normalised if asked."""
        return {
            name: (Normalized(kernel) if self.normalize else kernel).fit(X)
            for name, kernel in self.kernels.items()
        }

    def for_columns(self, header: Header) -> KernelLibrary:
        """The same library for an X with these columns: names and selectors are positions then.

        Raises
        ------
        ValueError
            Naming the kernel and a column that is not there, or not for it.
        """
        own = copy.copy(self)
        own.kernels = {
            name: for_columns(name, kernel, header) for name, kernel in self.kernels.items()
        }
        check_row_numbers(own.kernels, header)
        return own

    def leaves(self) -> Iterator[Kernel]:
        """The kernels that others are made of, and those that stand alone."""
        waiting = list(self.kernels.values())
        while waiting:
            kernel = waiting.pop()
            parts = list(kernel.parts())
            waiting += parts
            if not parts:
                yield kernel

    @property
    def takes_objects(self) -> bool:
        """Whether X may have other things than numbers."""
        return any(kernel.takes_objects for kernel in self.kernels.values())

    def __len__(self) -> int:
        return len(self.kernels)

    def __repr__(self) -> str:
        options = [] if not self.normalize else ["normalize=True"]
        options += [] if self.negation else ["negation=False"]
        return f"KernelLibrary({', '.join([*self.names, *options])})"


def _as_kernel(name: object, kernel: Any) -> Kernel:
    if not isinstance(name, str) or not name:
        raise ValueError(f"kernel names must be non-empty strings, got {name!r}")
    if isinstance(kernel, tuple) and len(kernel) == 2:
        return On(_as_kernel(name, kernel[0]), kernel[1])
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel, name)
    raise ValueError(
        f"kernel {name!r} must be a Kernel such as RBF() or a callable k(X, Z), got {kernel!r}"
        f"{see('kernels-and-libraries')}"
    )
