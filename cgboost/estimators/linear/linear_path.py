"""Regularisation paths of linear models, over α or C, and their grids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgboost.estimators.common.certified import RegularizationPath, fit_along
from cgboost.estimators.common.parameters import check_count, check_number
from cgboost.estimators.common.training_rows import EvalSets
from cgboost.estimators.linear.linear_fit import strongest

PathValues = NDArray[np.float64] | Callable[[Any], NDArray[np.float64]]


def values_of_path(
    parameter: Literal["alpha", "C"], values: Any, count: Any, eps: Any
) -> PathValues:
    """The values of a path, checked; or how they follow from the rows.

    Parameters
    ----------
    parameter : {"alpha", "C"}
    values : sequence of float or None
    count, eps : int, float
        With None for values: how many, and the share of the largest α (of the smallest C its
        inverse) at the other end.

    Raises
    ------
    ValueError
        If one is wrong, naming it.
    """
    name = f"{parameter}s"
    if values is None:
        check_count(f"n_{name}", count)
        check_number("eps", eps, above=0, below=1)
        shares = np.geomspace(1.0, eps, count) if count > 1 else np.ones(1)

        def grid(prepared: Any) -> NDArray[np.float64]:
            most = strongest(prepared) or 1.0
            if parameter == "alpha":
                return most * shares
            return 1.0 / (most * prepared._scaling.total * shares)

        return grid
    if np.ndim(values) != 1:
        raise ValueError(f"{name} must be a sequence of numbers, got {values!r}")
    if len(values) == 0:
        raise ValueError(f"{name} must have at least one value, got none")
    for value in values:
        check_number(name, value, above=0)
    return np.asarray(values, dtype=np.float64)


def path_of_alphas(
    self: Any,
    X: Any,
    y: Any = None,
    alphas: Sequence[float] | None = None,
    *,
    n_alphas: int = 100,
    eps: float = 1e-3,
    sample_weight: ArrayLike | None = None,
    eval_set: EvalSets | None = None,
) -> RegularizationPath:
    """Fit a model for every α; much cheaper than separate fits.

    Parameters
    ----------
    X, y, sample_weight, eval_set
        As in :meth:`fit`. Models are scored on the first set, by the first scorer of ``scoring``,
        or else by minus the mean loss, as in :class:`~cgboost.linear.SparseLinearRegressorCV`.
    alphas : sequence of float or None
        In any order. None means ``n_alphas`` values from ``alpha_max_`` down to ``eps`` times it,
        evenly spaced on a logarithmic scale.
    n_alphas : int, default=100
    eps : float, default=1e-3

    Returns
    -------
    RegularizationPath

    Raises
    ------
    ValueError
        As :meth:`fit`; if there is no α, or an α is not positive.
    """
    values = values_of_path("alpha", alphas, n_alphas, eps)
    return fit_along(self, X, y, "alpha", values, sample_weight, eval_set)


def path_of_costs(
    self: Any,
    X: Any,
    y: Any = None,
    Cs: Sequence[float] | None = None,
    *,
    n_Cs: int = 100,
    eps: float = 1e-3,
    sample_weight: ArrayLike | None = None,
    eval_set: EvalSets | None = None,
) -> RegularizationPath:
    """Fit a model for every C, as :meth:`SparseLinearRegressor.path` does for every α.

    Parameters
    ----------
    X, y, eps, sample_weight, eval_set
        As in :meth:`SparseLinearRegressor.path`.
    Cs : sequence of float or None
        In any order. None means ``n_Cs`` values from ``C_min_`` up to 1/``eps`` times it, evenly
        spaced on a logarithmic scale.
    n_Cs : int, default=100

    Returns
    -------
    RegularizationPath

    Raises
    ------
    ValueError
        As :meth:`fit`; if there is no C, or a C is not positive.
    """
    values = values_of_path("C", Cs, n_Cs, eps)
    return fit_along(self, X, y, "C", values, sample_weight, eval_set)
