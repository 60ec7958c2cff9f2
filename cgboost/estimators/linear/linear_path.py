"""The values of α or C along a regularisation path of linear models."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cgboost.estimators.common.certified import PathValues
from cgboost.estimators.common.parameters import check_count, check_number


def values_of_path(
    parameter: Literal["alpha", "C"], values: Any, count: Any, eps: Any
) -> PathValues:
    """The values of a path, checked; or how they follow from the rows.

    Parameters
    ----------
    parameter : {"alpha", "C"}
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
            most = prepared._alpha_max or 1.0
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
