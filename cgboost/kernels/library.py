"""Libraries: named kernels in order of priority, and values that are converted to one.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal, Self

from scipy.sparse import issparse

from cgboost.arrays import Indices, Matrix
from cgboost.exceptions import see
from cgboost.kernels.combinations import Normalized
from cgboost.kernels.expansions import Weights
from cgboost.kernels.kernel import (
    Kernel,
    KernelFunction,
    Power,
    Product,
    Sum,
    fitted,
    rebuilt,
    with_parts,
)
from cgboost.kernels.numeric.distances import RBF, Matern
from cgboost.kernels.numeric.inner_products import Linear, Polynomial
from cgboost.kernels.on_columns import Header, On, check_row_numbers, for_columns, row_numbers
from cgboost.kernels.parameters import changed, constructor_names, grouped, with_nested
from cgboost.kernels.precomputed import FunctionKernel, Precomputed
from cgboost.kernels.scaling import FeatureScaler


class KernelLibrary:
    """Named kernels, in order of priority.

    Two libraries are equal if they have the same kernels with the same names in the same order, and
    the same options.

    Parameters
    ----------
    kernels : mapping of str to Kernel, callable or (kernel, columns)
        A pair is short for ``On(kernel, columns)``, a kernel on some columns of X. The order is the
        priority in stratified pricing. A callable ``k(X, Z)`` must return real numbers of shape
        (len(X), len(Z)). To pickle a model, it must be a named function defined in a module, not a
        lambda.
    normalize : bool, "parts" or "whole", default=False
        Divide every kernel by √(k(x, x) k(z, z)). Of a sum of kernels every term is divided
        ("parts", which True means) and keeps its weight, Σ μ_p k_p(x, z)/√(k_p(x, x) k_p(z, z)), so
        that a kernel of large values does not drown the others; "whole" divides the sum. By default
        nothing is scaled.
    standardize : bool, default=False
        Apply all kernels to (x − mean)/std, with the means and standard deviations of the features
        in the training rows, as in ``StandardScaler``. Features of sparse rows are divided by the
        root mean square of their nonzero values, and not centred.
    negation : bool, default=True
        Whether −K(·, x_j) belongs to the library in addition to K(·, x_j). This only matters for
        non-negative coefficients: without negation, a non-negative kernel with α ≥ 0 cannot predict
        a negative output.

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
        normalize: bool | Literal["parts", "whole"] = False,
        standardize: bool = False,
        negation: bool = True,
    ) -> None:
        if not isinstance(kernels, Mapping) or not kernels:
            raise ValueError(
                "kernels must be a non-empty mapping of name to kernel, {'rbf': RBF()} say, got "
                f"{kernels!r}"
                f"{see('kernels-and-libraries')}"
            )
        self._header: Header | None = None
        self._given = kernels  # as scikit-learn's clone wants it back
        self.kernels = {name: _as_kernel(name, kernel) for name, kernel in kernels.items()}
        if standardize and any(isinstance(own, Precomputed) for own in self.kernels.values()):
            raise ValueError("standardize=True scales features, and a Precomputed kernel has none")
        if normalize not in (True, False, "parts", "whole"):
            raise ValueError(
                f'normalize must be True, False, "parts" or "whole", got {normalize!r}'
            )
        self._normalize = normalize
        self.standardize = standardize
        self.negation = negation

    @property
    def normalize(self) -> bool | Literal["parts", "whole"]:
        """As given."""
        own = vars(self)
        if "_normalize" in own:
            return self._normalize
        # in files of before "parts", True divides sums as a whole
        return "whole" if own["normalize"] else False

    @property
    def names(self) -> tuple[str, ...]:
        """Kernel names in order of priority."""
        return tuple(self.kernels)

    def scaler(self, X: Any, sample_weight: Weights = None) -> FeatureScaler | None:
        """The scaling applied to rows before kernels, fitted to the training rows; None: none."""
        if not self.standardize:
            return None
        header = self._header
        if header is None:
            header = Header((True,) * X.shape[1]) if issparse(X) else Header.of_array(X)
            return self.for_columns(header).scaler(X, sample_weight)
        return FeatureScaler.of(X, header, row_numbers(self.kernels, header), sample_weight)

    def fit(self, X: Matrix, sample_weight: Weights = None) -> dict[str, Kernel]:
        """The kernels with their widths set from the training rows, normalised if requested.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            The inputs of the kernels: with ``standardize``, rows scaled by :meth:`scaler`.
        sample_weight : ndarray of shape (n_rows,), optional
            Positive: a row of weight w counts as w rows.
        """
        return {
            name: fitted(normalized(kernel, name, self.normalize), X, sample_weight)
            for name, kernel in self.kernels.items()
        }

    def with_kernels(self, kernels: Mapping[str, Kernel]) -> KernelLibrary:
        """A library with the same options and names, and other kernels."""
        own = copy.copy(self)
        own._given = own.kernels = dict(kernels)
        return own

    def for_columns(self, header: Header) -> KernelLibrary:
        """The same library for an X with these columns: names and selectors become positions.

        Raises
        ------
        ValueError
            Names the kernel, and a column that is missing or unsuitable for it.
        """
        own = copy.copy(self)
        own._header = replace(header, frame=None)  # a model does not keep the training rows
        own.kernels = {
            name: for_columns(name, kernel, header) for name, kernel in self.kernels.items()
        }
        check_row_numbers(own.kernels, header)
        return own

    def of_rows(self, numbers: Indices) -> KernelLibrary:
        """The same library for a part of the training rows: matrices in X keep all columns."""
        return self.with_kernels(
            {
                name: kernel.of_rows(numbers) if isinstance(kernel, Precomputed) else kernel
                for name, kernel in self.kernels.items()
            }
        )

    def leaves(self) -> Iterator[Kernel]:
        """The basic kernels of the library, including those inside composite kernels."""
        for kernel in self.kernels.values():
            yield from (own for own in with_parts(kernel) if not any(True for _ in own.parts()))

    @property
    def takes_objects(self) -> bool:
        """Whether X may have non-numeric values."""
        return any(kernel.takes_objects for kernel in self.kernels.values())

    # ------------------------------------------------------------------ parameters by name

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Options, kernels and their parameters by name, as in scikit-learn.

        Parameters
        ----------
        deep : bool, default=True
            Include the kernels by name, and their parameters as ``name__parameter``. Kernels with
            the name of an option, such as "normalize", are not included.

        Returns
        -------
        dict of str to object
        """
        own = self._options()
        if not deep:
            return own
        return with_nested({k: v for k, v in self.kernels.items() if k not in own}) | own

    def set_params(self, **params: Any) -> Self:
        """Change options, kernels or parameters of kernels.

        Kernels are replaced, never changed, because other libraries may share them.

        Parameters
        ----------
        **params
            With the names of :meth:`get_params`: ``normalize=True``, ``rbf=RBF(1.0)``,
            ``rbf__gamma=1.0``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For an unknown name; the message lists the known ones. The library is then unchanged.

        Examples
        --------
        >>> from cgboost import KernelLibrary, Linear, RBF
        >>> library = KernelLibrary({"linear": Linear(), "rbf": RBF()})
        >>> library.set_params(rbf__gamma=0.5, normalize=True).kernels["rbf"].gamma
        0.5
        """
        if not params:
            return self
        own = self._options()
        new = type(self)(**own | {name: params[name] for name in own if name in params})
        rest = {name: value for name, value in params.items() if name not in own}
        if groups := grouped(rest, own | new.kernels, self):
            kernels = dict(new.kernels)
            for name, changes in groups.items():
                kernels[name] = changed(kernels.get(name, own.get(name)), changes)
            new = type(self)(**new._options() | {"kernels": kernels})
        vars(self).update(vars(new))
        return self

    def _options(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = constructor_names(type(self))
        return {name: self._given if name == "kernels" else getattr(self, name) for name in names}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, its = (library._options() | {"kernels": None} for library in (self, other))
        same_order = list(self.kernels.items()) == list(other.kernels.items())
        return same_order and bool(mine == its)

    def __hash__(self) -> int:
        return hash(self.names)

    def __len__(self) -> int:
        return len(self.kernels)

    def __repr__(self) -> str:
        options = [] if not self.normalize else [f"normalize={self.normalize!r}"]
        options += ["standardize=True"] if self.standardize else []
        options += [] if self.negation else ["negation=False"]
        return f"KernelLibrary({', '.join([*self.names, *options])})"


def normalized(kernel: Kernel, name: str, normalize: bool | str) -> Kernel:
    """A kernel of a library that is divided by √(k(x, x) k(z, z)), or whose terms are.

    Parameters
    ----------
    name : str
        For errors.
    normalize : {True, "parts", "whole", False}
        True means "parts": every term of a sum is normalised, and keeps its weight, as in Table 1
        of [B]; so are the terms of sums inside products, powers and kernels on columns. A kernel
        without sums is normalised as a whole, which is the product of its normalised factors.
    """
    if not normalize:
        return kernel
    if normalize != "whole" and _has_terms(kernel):
        return rebuilt(kernel, partial(normalized, name=name, normalize=normalize))
    return Normalized(kernel, name)


def given(kernel: Kernel) -> Kernel:
    """The kernel that :func:`normalized` was given."""
    return kernel.kernel if isinstance(kernel, Normalized) else rebuilt(kernel, given)


def _has_terms(kernel: Kernel) -> bool:
    """Whether it is a sum, or a product, power or kernel on columns with one in it."""
    if isinstance(kernel, (Product, Power, On)):
        return any(map(_has_terms, kernel.parts()))
    return isinstance(kernel, Sum)


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


def _ready_made(kernels: Mapping[str, Kernel]) -> KernelLibrary:
    """A library for features as they come."""
    return KernelLibrary(kernels, normalize=True, standardize=True)


DEFAULT_LIBRARY = _ready_made({"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF()})
"""The library of a model that is given none. Over 16 data sets it ranks before RBFs of several
widths, and standardised features before raw ones or a fixed range (docs/studies/defaults)."""

LIBRARIES: Mapping[str, KernelLibrary] = {
    "default": DEFAULT_LIBRARY,
    "linear": KernelLibrary({"linear": Linear()}, standardize=True),
    "quadratic": _ready_made({"quadratic": Polynomial(2, coef0=1.0)}),
    "poly": _ready_made({"poly": Polynomial(3, coef0=1.0)}),
    "rbf": _ready_made({"rbf": RBF()}),
    "matern": _ready_made({"matern": Matern()}),
    "rbfs": _ready_made({"linear": Linear(), **RBF.family(factors=[0.25, 1, 4])}),
}
"""The libraries that a word stands for."""

AnyLibrary = KernelLibrary | Mapping[str, Any] | Kernel | KernelFunction | str | None
"""What :func:`as_library` takes."""


def as_library(library: AnyLibrary, default: KernelLibrary = DEFAULT_LIBRARY) -> KernelLibrary:
    """Convert a value to a library of kernels.

    Parameters
    ----------
    library : KernelLibrary, mapping, Kernel, callable, str or None
        A library; its kernels, ``{"rbf": RBF()}``; a single kernel ``RBF(0.1)``, which is named by
        its class in lower case; a callable k(X, Z), under its own name; the name of a predefined
        library; or None for the default. Predefined libraries that standardise and normalise are
        "quadratic" (k = (x·z + 1)²), "poly" ((x·z + 1)³), "rbf" (width from the rows), "matern" (of
        order 3/2), "rbfs" (linear, and three widths) and "default". "linear" only standardises,
        since x·z/(‖x‖‖z‖) is not a linear function of x.
    default : KernelLibrary
        The library for None and "default".

    Returns
    -------
    KernelLibrary

    Raises
    ------
    ValueError
        If the value cannot be converted; for an unknown name, the message lists the known ones.

    Examples
    --------
    >>> from cgboost import RBF
    >>> from cgboost.kernels import as_library
    >>> as_library("rbf"), as_library(RBF(0.1)), as_library(None)
    (KernelLibrary(rbf, normalize=True, standardize=True), KernelLibrary(rbf), \
KernelLibrary(linear, quadratic, rbf, normalize=True, standardize=True))
    """
    if isinstance(library, KernelLibrary):
        return library
    if library is None or (isinstance(library, str) and library == "default"):
        return copy.copy(default)  # so that set_params has no effect on other models
    if isinstance(library, str):
        return _library_of_word(library)
    if isinstance(library, Mapping):
        return KernelLibrary(library)
    if isinstance(library, Kernel) or (callable(library) and not isinstance(library, type)):
        return KernelLibrary({_name_of(library): library})
    raise ValueError(
        "library must be a KernelLibrary, a mapping such as {'rbf': RBF()}, a kernel such as "
        f"RBF(), a callable k(X, Z), None or one of {list(LIBRARIES)}, got {library!r}"
        f"{see('kernels-and-libraries')}"
    )


def _library_of_word(word: str) -> KernelLibrary:
    if word in LIBRARIES:
        return copy.copy(LIBRARIES[word])
    alike = get_close_matches(word.lower(), LIBRARIES, n=1)
    hint = f" (did you mean {alike[0]!r}?)" if alike else ""
    raise ValueError(
        f"library={word!r} is none of the words that stand for a library: "
        f"{list(LIBRARIES)}{hint}{see('kernels-and-libraries')}"
    )


def _name_of(kernel: Kernel | KernelFunction) -> str:
    if isinstance(kernel, FunctionKernel):
        return kernel.name
    name = getattr(kernel, "__name__", None) or type(kernel).__name__.lower()
    return "function" if name == "<lambda>" else str(name)
