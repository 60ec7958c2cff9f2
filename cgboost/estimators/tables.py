"""Tables as they are given to an estimator: arrays are checked, data frames keep their columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from cgboost.estimators.rows import FLOATS


def is_table(X: Any) -> bool:
    """Whether X is an array or a data frame, and not a source of blocks."""
    return hasattr(X, "shape") or hasattr(X, "dtypes")


def table_of(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
    """A checked array, float32 or float64, or the data frame as it is, and the response.

    Raises
    ------
    ValueError
        As scikit-learn's ``validate_data``; nan is allowed in X.
    """
    numeric = estimator._y_numeric
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        how: dict[str, Any] = {"dtype": FLOATS, "ensure_all_finite": "allow-nan"}
        if y is None:
            return validate_data(estimator, X, reset=reset, **how), None
        checked: tuple[Any, Any] = validate_data(
            estimator, X, y, reset=reset, y_numeric=numeric, **how
        )
        return checked
    if 0 in X.shape:
        raise ValueError(f"X must have rows and columns, got a data frame of shape {X.shape}")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if y is None:
        return X, None
    y = response_of(estimator, y)
    check_consistent_length(X, y)
    return X, y


def response_of(estimator: Any, y: Any) -> NDArray[Any]:
    """The responses of a data frame or of a source: finite numbers for a regressor.

    Raises
    ------
    ValueError
        If they are not, or have two dimensions.
    """
    y = column_or_1d(y, warn=True)
    if not estimator._y_numeric:
        return np.asarray(y)
    numbers = np.asarray(y, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("y must be finite, it has nan or infinity")
    return numbers
