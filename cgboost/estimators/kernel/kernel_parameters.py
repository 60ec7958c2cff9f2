"""Parameters of the kernels of an estimator, such as ``library__rbf__gamma`` in a search."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

from cgboost.estimators.common.sklearn_bases import BaseEstimator
from cgboost.kernels import AnyLibrary, as_library
from cgboost.kernels.kernel import Kernel
from cgboost.kernels.library import KernelLibrary
from cgboost.kernels.parameters import SEPARATOR

OWNERS = ("library", "kernel")
"""Parameters of estimators that have their own parameters."""


class HasKernels(BaseEstimator):
    """An estimator whose parameters ``library`` or ``kernel`` have parameters themselves."""

    _default_library: ClassVar[KernelLibrary | None] = None

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of kernels too: ``library__rbf__gamma=0.1``.

        The library is replaced by a changed one, so that other models which were given the same one
        keep it as it is. A dict, a word or None becomes the library that it stands for.

        Parameters
        ----------
        **params
            By the names of ``get_params``, and ``library__name__parameter`` whatever stands for the
            library.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a name that does not exist, with those that do.
        """
        nested: dict[str, dict[str, Any]] = {}
        own = {}
        for key, value in params.items():
            owner, _, name = key.partition(SEPARATOR)
            if name and owner in OWNERS and hasattr(self, owner):
                nested.setdefault(owner, {})[name] = value
            else:
                own[key] = value
        super().set_params(**own)
        for owner, changes in nested.items():
            given = getattr(self, owner)
            setattr(self, owner, with_parameters(given, changes, self._default_library))
        return self


def with_parameters(
    given: AnyLibrary, changes: dict[str, Any], default: KernelLibrary | None
) -> KernelLibrary | Kernel:
    """What stands for a library, with other parameters of its kernels.

    Parameters
    ----------
    given : KernelLibrary, mapping, Kernel, callable, str or None
    changes : dict of str to object
        New values by the names of ``get_params`` of a library, or of one kernel.
    default : KernelLibrary or None
        What None stands for; None: nothing.
    """
    if isinstance(given, Kernel):
        return given.set_params(**changes)
    if default is None and not isinstance(given, KernelLibrary):
        raise ValueError(f"kernel={given!r} has no parameters by name, got {sorted(changes)}")
    library = as_library(given) if default is None else as_library(given, default)
    return copy.copy(library).set_params(**changes)
