"""Data frames of pandas, polars, Arrow and whatever else narwhals reads, taken for one kind.

Numbers are made of their columns in :mod:`cgboost.tables.table_encoding`, over
:mod:`cgboost.tables.table_columns`; where all columns are numbers, by scikit-learn
(:func:`cgboost.estimators.common.input_checks.validate_data`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import narwhals
import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import Section, see

Frame = nw.DataFrame[Any]

FrameColumn = narwhals.Series[Any]

TIMES = "mM"
"""Kinds of NumPy's types of times."""

NUMBERS = "fiub"
"""Kinds of NumPy's types of numbers."""


def is_frame(X: Any) -> TypeGuard[Any]:
    """Whether X is a data frame whose rows are in memory."""
    # an array is none: narwhals would look for that in every library
    return not isinstance(X, np.ndarray) and bool(nw.dependencies.is_into_dataframe(X))


def frame_of(X: Any) -> Frame:
    """A data frame as narwhals has it.

    Raises
    ------
    ValueError
        If two columns have the same name.
    """
    try:
        frame = nw.from_native(X, eager_only=True)
    except nw.exceptions.DuplicateError:  # pandas and Arrow have such
        names = list(X.columns if hasattr(X, "dtypes") else X.column_names)
    else:
        names = [str(name) for name in frame.columns]
        if len(set(names)) == len(names):
            return frame
    twice = next(name for name in names if names.count(name) > 1)
    raise ValueError(
        f"X has {names.count(twice)} columns called {twice!r}: give every column another name"
        f"{see('input-data')}"
    )


def check_frame(X: Any) -> None:
    """Raise a ValueError for tables whose rows have not been read, or that no library knows."""
    if hasattr(type(X), "collect") and not hasattr(type(X), "shape"):
        todo = "X.collect()"  # a frame of polars that has not been read, say
    elif hasattr(X, "to_pandas") and not is_frame(X) and not hasattr(X, "dtype"):
        todo = "X.to_pandas()"
    else:
        return
    raise ValueError(
        f"X must be an array or a data frame, got a {type(X).__module__}.{type(X).__name__}: give "
        f"{todo}"
    )


def check_unmasked(name: str, values: Any) -> None:
    """Raise a ValueError for a masked array with masked values, which would count as numbers."""
    if isinstance(values, np.ma.MaskedArray) and (count := int(np.ma.count_masked(values))):
        raise ValueError(
            f"{name} has {count} masked value{'s' * (count > 1)} of {values.size}, which are no "
            f"numbers: leave these rows out, or fill the values in, {name}.filled(np.nan) where "
            f"missing values are allowed{see('input-data')}"
        )


def check_no_times(X: Any, of_what: str, section: Section) -> None:
    """Raise a ValueError for arrays, or columns of a frame, of dates or times.

    scikit-learn takes some for their nanoseconds.

    Parameters
    ----------
    X : array or data frame
    of_what : str
        What must be numbers, for the message.
    section : str
        Of the explanations, for the message.
    """
    found: tuple[str, Any] | None
    if is_frame(X):
        first = one_of_each_type(X)
        times = (own for own in first if own.dtype.is_temporal() or has_times(own))
        found = next(((f"column {own.name!r} of X", own.dtype) for own in times), None)
        if any(_is_dictionary(own) for own in first):
            _check_codes(X, section)
    else:
        dtype = getattr(X, "dtype", None)
        found = ("X", dtype) if getattr(dtype, "kind", "O") in TIMES else None
    if found is not None:
        raise ValueError(
            f"{of_what} must be numbers, but {found[0]} has dates or times ({found[1]}): "
            f"{DAYS}{see(section)}"
        )


DAYS = "give numbers of days since a first day, (day - first_day).dt.days in pandas"
"""What to do with dates."""


def one_of_each_type(X: Any) -> list[FrameColumn]:
    """The first column of each type of a frame: wide ones have few types."""
    types = X.dtypes if hasattr(X, "dtypes") else X.schema.types  # of Arrow
    first: dict[Any, int] = {}
    for number, own in enumerate(types):
        first.setdefault(own, number)
    frame = frame_of(X)
    return [frame[:, number] for number in first.values()]


def _is_dictionary(column: FrameColumn) -> bool:
    """Whether it is one of Arrow."""
    return column.dtype == nw.Categorical and not hasattr(column.to_native(), "dtype")


def _check_codes(X: Any, section: Section) -> None:
    """Raise a ValueError for missing values in a dictionary of Arrow.

    pyarrow 26 makes a NumPy array of such a column in which they are the last category.
    """
    for own in frame_of(X).iter_columns():
        if _is_dictionary(own) and (missing := own.null_count()):
            raise ValueError(
                f"Input X contains NaN: column {own.name!r} of X, a dictionary of Arrow, has no "
                f"value in {missing} of {len(own)} rows: fill them, or leave these rows "
                f"out{see(section)}"
            )


def has_times(column: FrameColumn) -> bool:
    """Whether the type of a column is one of dates, times or differences of them."""
    if column.dtype == nw.Unknown:  # one of Arrow's two types of dates
        return np.asarray(column.to_numpy()).dtype.kind in TIMES
    return column.dtype.is_temporal() and column.dtype != nw.Time  # times of day are categories


def has_numbers(column: FrameColumn) -> bool:
    """Whether the type of a column is one of numbers or truth values."""
    if column.dtype == nw.Unknown:  # sparse ones of pandas
        own = getattr(column.to_native(), "dtype", None)
        return getattr(own, "kind", "O") in NUMBERS
    return column.dtype.is_numeric() or column.dtype == nw.Boolean


def objects_of(column: FrameColumn) -> NDArray[Any]:
    """A column as an array of objects, whatever these are."""
    return filled(column.to_list())


def filled(values: Sequence[Any]) -> NDArray[Any]:
    """An array of objects, whatever these are."""
    return np.fromiter(values, dtype=object, count=len(values))


def some_rows(X: Any, rows: Any) -> Any:
    """Some rows of a frame, by number, or of an array."""
    return frame_of(X)[np.asarray(rows)].to_native() if is_frame(X) else X[rows]


def some_columns(X: Any, places: Sequence[int]) -> Any:
    """Some columns of a frame or an array, by number."""
    return frame_of(X)[:, list(places)].to_native() if is_frame(X) else X[:, list(places)]
