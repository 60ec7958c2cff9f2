"""X, y and sample weights as they are given, before they are read as numbers.

scikit-learn's ``validate_data`` takes masked values for numbers, dates for numbers of days or of
nanoseconds, and None for nan: here they are errors that say where they are.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import validation

from cgboost.exceptions import DataWarning, see, warn_caller
from cgboost.tables.frames import (
    TIMES,
    check_frame,
    check_no_times,
    check_unmasked,
    frame_of,
    is_frame,
    objects_of,
)
from cgboost.tables.row_blocks import RowsElsewhere
from cgboost.tables.table_columns import DATES, is_missing

THESE_TAKE = "transform regression, boosted linear trees and rule sets take"

THESE_TAKE_SPARSE = (
    "sparse linear models, kernel models, latent factors, L2-Boosting and the orthogonal greedy "
    "algorithm take"
)

NO_NUMBER = (
    "Complex data not supported",
    "a string or a real number",
    "setting an array element",
    "too large to convert",
    "too large for a float",
    "signaling NaN",
    "cannot convert",
    "Cannot cast",
)
"""What NumPy, pandas, polars and Python say of values that are no numbers of double precision."""

COMPLEX = (complex, np.complexfloating)
"""Types of complex numbers."""

LARGEST_WEIGHT: Final = 1e100
"""Of the largest weight, and its inverse: sums of squares stay within float64."""


def validate_data(
    estimator: Any, X: Any = "no_validation", y: Any = "no_validation", **how: Any
) -> Any:
    """scikit-learn's ``validate_data``, for values that are what they seem.

    Parameters
    ----------
    X, y : as given to ``fit`` or ``predict``
    **how
        As scikit-learn takes it.

    Raises
    ------
    ValueError
        As scikit-learn; for masked values, for dates instead of numbers, for responses that are
        missing; for words, missing values, infinity and others that are no numbers, with the column
        and what to do; for two columns of one name, and frames without columns; for rows in a
        database or in partitions.
    TypeError
        As scikit-learn, with the column.
    """
    check_here(estimator, X, reset=how.get("reset", True))
    check_unmasked("X", X)
    check_frame(X)
    if is_frame(X) and not frame_of(X).columns:
        raise ValueError(f"X must have rows and columns, got a data frame of shape {X.shape}")
    if not how.get("skip_check_array"):
        check_no_times(X, "X", "input-data")
    if not (y is None or (isinstance(y, str) and y == "no_validation")):
        check_y(estimator, y)
    try:
        return validation.validate_data(estimator, X, y, **how)
    except Exception as error:
        said, kind = str(error), type(error)
        words = said.partition("\n")[0]
        if "could not convert string" in said or "HistGradientBoosting" in said:
            raise ValueError(_in_words(X, words)) from None
        if words.startswith("Input X contains infinity"):
            raise ValueError(_infinite(X, words)) from None
        if "fill value must be 0" in words:
            raise ValueError(_filled(X)) from error
        if words.startswith("Sparse data was passed"):
            raise TypeError(
                f"{words[:-1]}: {type(estimator).__name__} has no use for zeros that are not "
                f"stored; {THESE_TAKE_SPARSE} sparse matrices{see('input-data')}"
            ) from None
        if any(part in words for part in NO_NUMBER):
            own = kind if kind in (TypeError, ValueError) else ValueError
            raise own(f"{_no_number(X, y)} ({words}){see('input-data')}") from error
        raise


def check_here(estimator: Any, X: Any, *, reset: bool) -> None:
    """Raise a ValueError for rows in a database or in partitions.

    Only transform regression is fitted where they are, and nothing predicts there.
    """
    if not isinstance(X, RowsElsewhere):
        return
    name = type(X).__name__
    if reset:
        raise ValueError(
            f"{type(estimator).__name__} cannot be fitted to a {name}, only TransformRegressor "
            "and TransformClassifier can: X must be an array or a data frame (boosted linear trees "
            "and rule sets take a source of blocks, too), which is read here"
        )
    hint = f": {X.instead}" if hasattr(estimator, "to_sql") else ""
    raise ValueError(f"X must be one table here, an array or a data frame, got {name}{hint}")


def _infinite(X: Any, words: str) -> str:
    """What is wrong with X, where, and what to do: infinity."""
    if hasattr(X, "tocoo"):
        entries = X.tocoo()
        places = zip(entries.row, entries.col, entries.data, strict=True)
        found = [(row, column, x) for row, column, x in places if np.isinf(x)]
    else:
        columns = (np.asarray(column, dtype=np.float64) for column in _columns(X)[1])
        rows = ((k, np.flatnonzero(np.isinf(column)), column) for k, column in enumerate(columns))
        found = [(own[0], k, column[own[0]]) for k, own, column in rows if len(own)]
    if not found:  # too large for a smaller type
        return f"{words}{see('input-data')}"
    row, place, value = found[0]
    names = _columns(X)[0]
    return (
        f"{words.rstrip('.')}: column {names[place] if names else place} has {value:g} in row "
        f"{row}: give a finite number, or leave the row out{see('input-data')}"
    )


def _no_number(X: Any, y: Any) -> str:
    """What is no number in X, where, and what to do."""
    for name, column in zip(*_columns(X), strict=True):
        for value in column.tolist():
            try:
                if not isinstance(value, COMPLEX):  # NumPy's have a float, their real part
                    float(value)
                    continue
            except (TypeError, ValueError, OverflowError):
                pass
            return (
                f"X must be numbers, but column {name} of X has {value!r:.40} of type "
                f"{type(value).__name__}: make it one number, or several in separate "
                "columns, or leave the column out"
            )
    wrong = "X must be an array or a data frame of numbers, with a row for each item"
    kind = f" of {X.dtype}" if hasattr(X, "dtype") else ""
    return f"{wrong}, got a {type(X).__module__}.{type(X).__qualname__}{kind}"


def _filled(X: Any) -> str:
    """What is wrong with a frame of sparse columns of pandas, where, and what to do."""
    name, fill = next(
        (name, kind.fill_value) for name, kind in X.dtypes.items() if kind.fill_value != 0
    )
    return (
        f"column {name!r} of X is sparse, and what it does not store is {fill!r}: give dense "
        f"columns, X.sparse.to_dense(), or sparse ones of fill value 0{see('input-data')}"
    )


def _check_numbers(y: NDArray[Any]) -> None:
    """Raise a ValueError for words and other values in the y of a regressor that are no numbers."""
    for place, value in enumerate(y.tolist()):
        try:
            if math.isfinite(float(value)):
                continue
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(value, (str, bytes)):
                raise ValueError(
                    f"y must be numbers, but has words, such as {value!r}: a regressor predicts "
                    f"numbers; classes are for a classifier"
                    f"{see('input-data')}"
                ) from None
            raise ValueError(
                f"y must be numbers, but has {value!r:.40} of type {type(value).__name__} in row "
                f"{place} ({error}): leave such rows out{see('input-data')}"
            ) from error
        raise ValueError(
            f"Input y contains infinity or nan: it has {value!r:.40} in row {place}: leave such "
            f"rows out{see('input-data')}"
        )


def _in_words(X: Any, words: str) -> str:
    """What is wrong with X, where, and what to do: words or missing values."""
    names, columns = _columns(X)
    for name, column in zip(names, columns, strict=True):
        values = column.tolist()
        if "could not convert" in words:
            texts = (value for value in values if isinstance(value, (str, bytes)))
            word = next((text for text in texts if not is_float(text)), None)
            if word is not None:
                return (
                    f"X must be numbers, but column {name} of X has words, such as {word!r}: "
                    f"encode them (OneHotEncoder, OrdinalEncoder), or leave the column out if it "
                    f"only names the rows; {THESE_TAKE} categories as they are{see('input-data')}"
                )
        elif any(is_missing(value) for value in values):
            missing = sum(map(is_missing, values))
            return (
                f"Input X contains NaN: column {name} has no value in {missing} of {len(values)} "
                f"rows: fill them (SimpleImputer), or leave the rows out; {THESE_TAKE} missing "
                f"values as they are{see('input-data')}"
            )
    return f"{words}{see('input-data')}"


def is_float(word: str | bytes) -> bool:
    """Whether a word is a number that is written out."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def _check_real(name: str, values: NDArray[Any]) -> None:
    """Raise a ValueError for complex numbers."""
    if values.dtype.kind not in "cO":
        return
    for value in values.flat:
        if isinstance(value, COMPLEX):
            raise ValueError(
                f"Complex data not supported: {name} must be numbers of one part, but has "
                f"{value!r:.40}: give the real parts, or the sizes{see('input-data')}"
            )


def _columns(X: Any) -> tuple[list[str], list[Any]]:
    """Names and columns of a frame or an array of two dimensions; none of anything else."""
    if is_frame(X):
        columns = [*frame_of(X).iter_columns()]
        return [repr(own.name) for own in columns], [objects_of(own) for own in columns]
    if hasattr(X, "tocsr"):
        return [], []
    try:
        table = np.asarray(X, dtype=None if hasattr(X, "dtype") else object)
    except ValueError:  # arrays in rows of other lengths
        return [], []
    if table.ndim != 2:
        return [], []
    return list(map(str, range(table.shape[1]))), list(table.T)


def check_y(estimator: Any, y: Any) -> None:
    """Raise a ValueError for masked, missing or complex values, words or dates of a regressor."""
    check_unmasked("y", y)
    known = hasattr(y, "dtype") or hasattr(y, "columns") or isinstance(y, (list, tuple))
    values = np.asarray(y) if known else None
    if values is not None:
        _check_real("y", values)
    if values is not None and values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values is not None and values.ndim == 2:
        _check_responses(estimator, y, values)
    if values is None or values.ndim != 1:
        return
    if values.dtype.kind == "O" and (missing := _missing_places(values)):
        shown = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
        raise ValueError(
            f"Input y contains NaN or None: it has no value in {len(missing)} of {len(values)} "
            f"rows ({shown}), row {missing[0]} has {values[missing[0]]!r}: leave these rows out"
            f"{see('input-data')}"
        )
    if not getattr(estimator, "_y_numeric", False):
        return
    if _are_times(values):
        raise ValueError(
            f"y must be numbers, got dates or times, such as {values[0]!r}: give numbers of days "
            f"since a first day, such as (y - y.min()) / np.timedelta64(1, 'D'){see('input-data')}"
        )
    if values.dtype.kind in "OSU":
        _check_numbers(values)


def _check_responses(estimator: Any, y: Any, values: NDArray[Any]) -> None:
    """Raise a ValueError for responses of an estimator that has one, and for missing ones."""
    if not estimator.__sklearn_tags__().target_tags.multi_output:
        raise ValueError(
            f"y should be a 1d array, got an array of shape {values.shape} instead: "
            f"{type(estimator).__name__} has one response; fit one model for each "
            f"(MultiOutputRegressor, MultiOutputClassifier), or several with common factors "
            f"(BLFRegressor){see('input-data')}"
        )
    names = [repr(name) for name in y.columns] if hasattr(y, "columns") else range(values.shape[1])
    for name, column in zip(names, values.T, strict=True):
        if missing := _missing_places(column):
            raise ValueError(
                f"Input y contains NaN: response {name} has no value in {len(missing)} of "
                f"{len(values)} rows, the first is row {missing[0]}: leave these rows out"
                f"{see('input-data')}"
            )


def read_weights(sample_weight: Any, X: Any) -> NDArray[np.float64]:
    """Sample weights, shape (n_rows,): checked, ones where there are none.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), number or None
    X : array-like of shape (n_rows, ...)

    Raises
    ------
    ValueError
        For weights that are masked, dates, complex, negative, not finite, all 0, or that have a
        largest below 1e-100 or above 1e100.
    """
    check_unmasked("sample_weight", sample_weight)
    _check_real("sample_weight", given := np.asarray(sample_weight))
    if sample_weight is not None and _are_times(given):
        raise ValueError(
            f"sample_weight must be numbers, got dates or times ({given.dtype}){see('input-data')}"
        )
    try:
        weights: NDArray[np.float64] = validation._check_sample_weight(
            sample_weight, X, dtype=np.float64
        )
    except (TypeError, OverflowError) as error:
        raise ValueError(f"sample_weight must be numbers ({error}){see('input-data')}") from error
    if weights.min() < 0:
        raise ValueError(f"sample_weight must not be negative, got {weights.min():g}")
    largest = float(weights.max())
    if not largest:
        raise ValueError("sample_weight must not be 0 for every row")
    if not 1.0 / LARGEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        raise ValueError(
            f"the largest sample_weight must be from {1.0 / LARGEST_WEIGHT:g} to "
            f"{LARGEST_WEIGHT:g} in size, got {largest:g}: divide the weights by their mean (and "
            f"multiply C by it, where there is one){see('input-data')}"
        )
    return weights


def warn_of_weights(called: str, weights: NDArray[np.float64], what: str) -> None:
    """Warn of weights that make of the rows many times as many, or a small part.

    Parameters
    ----------
    called : str
        The estimator, in words.
    weights : ndarray of shape (n_rows,)
        Positive.
    what : str
        What grows or falls with their sum, in words.

    Warns
    -----
    DataWarning
        If the mean weight is below 0.1 or above 10.
    """
    mean = float(weights.mean())
    if not 1.0 / FAR_FROM_ONE <= mean <= FAR_FROM_ONE:
        warn_caller(
            f"{called}: the sample weights of {len(weights)} rows add up to {weights.sum():.4g}, "
            f"and {what}, since a row of weight w counts as w rows; if they only compare rows, "
            f"divide them by their mean, {mean:.3g}{see('input-data')}",
            DataWarning,
        )


FAR_FROM_ONE = 10.0
"""A mean weight of 1/10 to 10 may be meant: rows that were drawn, or counted, several times."""


def _are_times(values: NDArray[Any]) -> bool:
    if values.dtype.kind != "O":
        return values.dtype.kind in TIMES
    return values.size > 0 and all(isinstance(value, DATES) for value in values.flat)


def _missing_places(values: NDArray[Any]) -> list[int]:
    return [place for place, value in enumerate(values.tolist()) if is_missing(value)]
