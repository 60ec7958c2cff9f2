"""Libraries: named kernels in order of priority."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.preprocessing import StandardScaler

from cgboost.exceptions import see
from cgboost.kernels.base import Kernel, KernelFunction
from cgboost.kernels.combinations import Normalized
from cgboost.kernels.expansions import Matrix
from cgboost.kernels.precomputed import FunctionKernel
from cgboost.kernels.rows import SparseScaler, is_sparse


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
    standardize : bool, default=False
        Let all kernels see (x − mean)/std, feature by feature, with means and standard deviations
        of the training rows, as ``StandardScaler`` does it. Features of sparse rows are divided
        by the root mean square of their numbers that are not 0, and not centred.
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
        standardize: bool = False,
        negation: bool = True,
    ) -> None:
        if not isinstance(kernels, Mapping) or not kernels:
            raise ValueError(
                "kernels must be a non-empty mapping of name to kernel, {'rbf': RBF()} say, got "
                f"{kernels!r}"
                f"{see('kernels-and-libraries')}"
            )
        self.kernels = {name: _as_kernel(name, kernel) for name, kernel in kernels.items()}
        if standardize and any(kernel.is_precomputed for kernel in self.kernels.values()):
            raise ValueError("standardize=True scales features, and a Precomputed kernel has none")
        self.normalize = normalize
        self.standardize = standardize
        self.negation = negation

    @property
    def names(self) -> tuple[str, ...]:
        """Kernel names in order of priority."""
        return tuple(self.kernels)

    def scaler(self, X: Any) -> StandardScaler | SparseScaler | None:
        """What kernels see of rows of features, fitted to the training rows; None: the rows."""
        if not self.standardize:
            return None
        return SparseScaler.of(X) if is_sparse(X) else StandardScaler().fit(X)

    def fit(self, X: Matrix) -> dict[str, Kernel]:
        """The kernels with their widths set from the training rows, normalised if asked.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            As kernels see them: with ``standardize``, what :meth:`scaler` makes of the rows.
        """
        return {
            name: (Normalized(kernel) if self.normalize else kernel).fit(X)
            for name, kernel in self.kernels.items()
        }

    def __len__(self) -> int:
        return len(self.kernels)

    def __repr__(self) -> str:
        options = [] if not self.normalize else ["normalize=True"]
        options += ["standardize=True"] if self.standardize else []
        options += [] if self.negation else ["negation=False"]
        return f"KernelLibrary({', '.join([*self.names, *options])})"


def _as_kernel(name: object, kernel: Kernel | KernelFunction) -> Kernel:
    if not isinstance(name, str) or not name:
        raise ValueError(f"kernel names must be non-empty strings, got {name!r}")
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel, name)
    raise ValueError(
        f"kernel {name!r} must be a Kernel such as RBF() or a callable k(X, Z), got {kernel!r}"
        f"{see('kernels-and-libraries')}"
    )
