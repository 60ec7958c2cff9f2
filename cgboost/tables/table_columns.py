"""Columns of tables, of arrays and of data frames: their values and what they are.

A column has numbers if its type has, or if it is one of Python objects that are all numbers (as
frames have them after an ``astype(object)``); the same goes for dates. A column of a categorical
type has categories, also where these are numbers or dates. Without any value it is undecided,
unless later blocks decide.

As a category a date is its midnight, and a time of a time zone that of UTC, whatever type a table
has for them: days of Arrow, of Python and of NumPy are the same.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.forks import cached_property
from cgboost.tables.frames import (
    NUMBERS,
    TIMES,
    FrameColumn,
    check_frame,
    check_unmasked,
    frame_of,
    has_numbers,
    has_times,
    is_frame,
    objects_of,
)

Values = NDArray[Any]

DATES = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)
"""Types of objects that are dates, times or differences of them."""

FINE = ("us", "ns", "ps", "fs", "as")
"""Units of NumPy from which all dates can be given in microseconds."""

CATEGORICAL = "category"
"""The type of columns that have categories, whatever their values are."""


@dataclass(frozen=True, eq=False)
class TableColumn:
    """One column.

    Attributes
    ----------
    name : str or None
        None where the data have no names.
    values : ndarray of shape (n_rows,)
        Numbers, dates or times, or Python objects.
    dtype : str
        Its type, as the data have it.
    """

    name: str | None
    values: Values
    dtype: str

    @property
    def called(self) -> str:
        """How messages call it."""
        return called(self.name)

    @property
    def described(self) -> str:
        """Its type, and that of its values."""
        if self.values.dtype.kind != "O" or not self.types:
            return self.dtype
        return f"{self.dtype}, values of type {listed(self.types)}"

    @property
    def has_times(self) -> bool:
        """Whether all values there are are dates or times."""
        if self.values.dtype.kind != "O":
            return self.values.dtype.kind in TIMES
        return bool(self.types) and all(issubclass(kind, DATES) for kind in self.types)

    @property
    def is_categorical(self) -> bool:
        """Whether its type says that it has categories, whatever they are."""
        return self.dtype == CATEGORICAL

    @cached_property
    def types(self) -> set[type]:
        """Types of the values that are not missing."""
        if self.values.dtype.kind != "O":
            return {self.values.dtype.type} if self._has_values() else set()
        listed = self.values.tolist()
        found = set(map(type, listed))
        doubtful = {kind for kind in found if not issubclass(kind, (str, int))}
        there = {
            type(value) for value in listed if type(value) in doubtful and not is_missing(value)
        }
        return (found - doubtful) | there

    @property
    def is_empty(self) -> bool:
        """Whether all values are missing."""
        return not self.types

    @property
    def has_numbers(self) -> bool:
        """Whether all values there are are numbers."""
        return self.values.dtype.kind not in TIMES and all(map(_is_number, self.types))

    @property
    def has_truths(self) -> bool:
        """Whether all values there are are truth values."""
        types = (bool, np.bool_)
        return self.dtype.lower().startswith("bool") or all(kind in types for kind in self.types)

    @property
    def is_numeric(self) -> bool:
        """Whether it is to be taken for numbers unless somebody says otherwise."""
        return self.has_numbers and not self.is_categorical

    @property
    def categories(self) -> list[Any]:
        """The values as categories: dates and times as :func:`plain_time` has them."""
        values = self.values.tolist()
        if self.values.dtype.kind != "O" or not any(issubclass(kind, DATES) for kind in self.types):
            return values
        return [plain_time(value) if isinstance(value, DATES) else value for value in values]

    def as_floats(self) -> Vector:
        """The numbers, nan where missing."""
        if self.values.dtype.kind != "O":
            return self.values.astype(np.float64)
        plain = (np.nan if is_missing(value) else _float(value) for value in self.values)
        return np.fromiter(plain, dtype=np.float64, count=len(self.values))

    def _has_values(self) -> bool:
        # nan and NaT are not equal to themselves
        return any(bool((part == part).any()) for part in (self.values[:1], self.values))


def plain_time(value: Any) -> Any:
    """A date or a time as ``datetime`` in UTC without a zone, in microseconds; None if missing.

    Differences are ``timedelta``, other values stay as they are.
    """
    if is_missing(value):
        return None
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return microseconds(np.asarray(value)).item()
    if isinstance(value, datetime.timedelta):
        return datetime.timedelta(value.days, value.seconds, value.microseconds)
    if not isinstance(value, datetime.date):
        return value
    if not isinstance(value, datetime.datetime):
        return datetime.datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        try:
            value = value.astimezone(datetime.UTC)
        except OverflowError as error:
            raise ValueError(
                f"the time {value} is in none of the years 1 to 9999 of UTC: leave its zone out, "
                "or give an earlier or later time in its place"
            ) from error
    return datetime.datetime.combine(value.date(), value.time())


def microseconds(values: Values) -> Values:
    """Dates or times of NumPy in the unit that categories have.

    Raises
    ------
    ValueError
        If one is too far away for it, which NumPy would turn into another date.
    """
    made = values.astype(f"{values.dtype.kind}8[us]")
    if np.datetime_data(values.dtype)[0] in FINE:
        return made
    days = values.astype(f"{values.dtype.kind}8[D]")
    far = ~np.isnat(values) & (made.astype(days.dtype) != days)
    if far.any():
        raise ValueError(
            f"{values[far][0]} is more than 290000 years from 1970, or that long: give the numbers "
            "as they are, or a missing value in its place"
        )
    return made


def legible(value: Any) -> str:
    """A name or a category on one line; with quotes where blanks at its ends would not be seen."""
    text = str(value)
    return text if text and text == text.strip() and text.isprintable() else repr(text)


def called(name: str | None) -> str:
    """How messages call a feature."""
    return "a feature of X" if name is None else f"feature {name!r}"


def columns_of(X: Any) -> list[TableColumn]:
    """The columns of a data frame or an array.

    Raises
    ------
    ValueError
        If two columns have the same name, or X is no table.
    """
    check_frame(X)
    if is_frame(X):
        return [column_of_frame(own) for own in frame_of(X).iter_columns()]
    check_unmasked("X", X)
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must have 2 dimensions (rows, features), got shape {array.shape}")
    values = microseconds(array) if array.dtype.kind in TIMES else array
    return [TableColumn(None, values[:, j], str(array.dtype)) for j in range(array.shape[1])]


def kinds_of_types(types: Iterable[type]) -> set[str]:
    """Whether values of some types are numbers, words or something else."""
    return {
        "number" if _is_number(kind) else "word" if issubclass(kind, str) else "other"
        for kind in types
    }


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: None, nan, pandas' NA or NaT."""
    if value is None or type(value).__name__ == "NAType":
        return True
    if isinstance(value, Decimal):
        return value.is_nan()  # comparing one that signals is an error
    return type(value).__hash__ is not None and bool(value != value)


def some(names: Sequence[str | None]) -> str:
    """The first names, for a message."""
    return f"{list(names[:5])}{'…' if len(names) > 5 else ''}"


def _is_number(kind: type) -> bool:
    return issubclass(kind, (numbers.Real, Decimal, np.bool_)) and not issubclass(kind, DATES)


def listed(types: Iterable[type]) -> str:
    """Names of types, for a message."""
    return " and ".join(sorted(kind.__name__ for kind in types))


def column_of_frame(column: FrameColumn) -> TableColumn:
    """A column of a data frame: numbers, dates or times, or objects."""
    name, native = str(column.name), column.to_native()
    dtype = str(getattr(native, "dtype", column.dtype))
    try:
        values = np.asarray(column.to_numpy())
    except Exception as error:  # polars' own, for integers of 128 bits
        raise ValueError(
            f"{called(name)} has values of type {dtype}, which NumPy does not have ({error}): "
            "convert it to numbers of 64 bits, or to text"
        ) from error
    if values.ndim > 1:
        raise ValueError(
            f"{called(name)} has several values in a row, of type {dtype}: give a column for each "
            "of them, as X.unnest in polars makes of a struct"
        )
    if isinstance(column.dtype, (nw.Categorical, nw.Enum)):
        return TableColumn(name, objects_of(column), CATEGORICAL)
    if values.dtype.kind in NUMBERS:
        return TableColumn(name, values, dtype)
    if has_times(column):
        if values.dtype.kind == "O":  # days of Arrow
            kind = "m" if column.dtype == nw.Duration else "M"
            values = np.array([plain_time(value) for value in values], dtype=f"{kind}8[us]")
        return TableColumn(name, microseconds(values), dtype)
    found = TableColumn(name, values.astype(object), dtype)
    return replace(found, values=found.as_floats()) if has_numbers(column) else found
