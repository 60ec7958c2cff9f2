"""Tables as they are given to an estimator: arrays are checked, data frames keep their columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data


def is_table(X: Any) -> bool:
    """Whether X is an array or a data frame, and not a source of blocks."""
    return hasattr(X, "shape") or hasattr(X, "dtypes")


def table_of(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
    """A checked array, or the data frame as it is, and the response.

    Raises
    ------
    ValueError
        As scikit-learn's ``validate_data``; nan is allowed in X.
    """
    numeric = estimator._y_numeric
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        if y is None:
            return (
                validate_data(
                    estimator, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
                ),
                None,
            )
        checked: tuple[Any, Any] = validate_data(
            estimator,
            X,
            y,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            y_numeric=numeric,
        )
        return checked
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if y is None:
        return X, None
    y = column_or_1d(y, warn=True)
    if numeric:
        y = np.asarray(y, dtype=np.float64)
        if not np.isfinite(y).all():
            raise ValueError("y must be finite, it has nan or infinity")
    check_consistent_length(X, y)
    return X, y
