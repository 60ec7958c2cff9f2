"""Schema of a table: columns, numbers or categories and which, and the numbers that they become.

A column has numbers if its type has, or if it is one of Python objects that are all numbers (as
frames have them after an ``astype(object)``); a column of a categorical type has categories, also
where these are numbers. Without any value it is undecided, unless later blocks decide.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]

TIMES = "mM"
"""Kinds of NumPy's types of times."""

NUMBERS = "fiub"
"""Kinds of NumPy's types of numbers."""

NUMERIC = ("boolean", "decimal")
"""How types of columns begin that arrive as objects and are numbers."""

CATEGORICAL = ("category", "categorical", "enum")
"""How types of columns begin that are categories, whatever their values are."""


@dataclass(frozen=True, eq=False)
class Column:
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
    def is_time(self) -> bool:
        """Whether it has dates or times."""
        return self.values.dtype.kind in TIMES

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
        return not self.is_time and all(map(_is_number, self.types))

    @property
    def has_truths(self) -> bool:
        """Whether all values there are are truth values."""
        types = (bool, np.bool_)
        return self.dtype.lower().startswith("bool") or all(kind in types for kind in self.types)

    @property
    def is_numeric(self) -> bool:
        """Whether it is to be taken for numbers unless somebody says otherwise."""
        return self.has_numbers and not self.dtype.lower().startswith(CATEGORICAL)

    def as_floats(self) -> NDArray[np.float64]:
        """The numbers, nan where missing."""
        if self.values.dtype.kind != "O":
            return self.values.astype(np.float64)
        plain = (np.nan if is_missing(value) else float(value) for value in self.values)
        return np.fromiter(plain, dtype=np.float64, count=len(self.values))

    def _has_values(self) -> bool:
        # nan and NaT are not equal to themselves
        return any(bool((part == part).any()) for part in (self.values[:1], self.values))


def called(name: str | None) -> str:
    """How messages call a feature."""
    return "a feature of X" if name is None else f"feature {name!r}"


def columns_of(X: Any) -> list[Column]:
    """The columns of a data frame or an array.

    Raises
    ------
    ValueError
        If two columns have the same name, or X is no table.
    """
    check_frame(X)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        names = [str(name) for name in X.columns]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"X has several columns called {sorted(twice)[:5]}: rename them")
        return [
            Column(str(name), _array(X[name]), str(getattr(X[name], "dtype", "")))
            for name in X.columns
        ]
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must have 2 dimensions (rows, features), got shape {array.shape}")
    return [Column(None, array[:, j], str(array.dtype)) for j in range(array.shape[1])]


def check_frame(X: Any) -> None:
    """Raise a ValueError for tables that are neither arrays nor frames of pandas or polars."""
    if hasattr(X, "to_pandas") and not hasattr(X, "dtypes"):
        raise ValueError(
            f"X must be an array or a data frame of pandas or polars, got a {type(X).__module__}."
            f"{type(X).__name__}: give X.to_pandas() or polars.from_arrow(X)"
        )


def kinds_of_types(types: Iterable[type]) -> set[str]:
    """Whether values of some types are numbers, words or something else."""
    return {
        "number" if _is_number(kind) else "word" if issubclass(kind, str) else "other"
        for kind in types
    }


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: None, nan, pandas' NA or NaT."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return type(value).__hash__ is not None and bool(value != value)


def some(names: Sequence[str | None]) -> str:
    """The first names, for a message."""
    return f"{list(names[:5])}{'…' if len(names) > 5 else ''}"


def _is_number(kind: type) -> bool:
    return issubclass(kind, (numbers.Real, Decimal, np.bool_))


def listed(types: Iterable[type]) -> str:
    """Names of types, for a message."""
    return " and ".join(sorted(kind.__name__ for kind in types))


def _array(column: Any) -> Values:
    """A column of a data frame as an array: of numbers, of dates or times, or of objects."""
    dtype = column.dtype
    values = np.asarray(column.to_numpy())
    kind = getattr(dtype, "kind", values.dtype.kind)
    if kind in TIMES:
        if values.dtype.kind == "O":  # times of a time zone
            values = np.asarray(column.to_numpy(dtype=f"{kind}8[us]"))
        return values.astype(f"{kind}8[us]")
    if values.dtype.kind in NUMBERS and str(dtype) != "category":
        return values
    if kind in NUMBERS or str(dtype).lower().startswith(NUMERIC):
        missing = column.isna() if hasattr(column, "isna") else column.is_null()
        found = np.full(len(values), np.nan)
        there = ~np.asarray(missing, dtype=bool)
        found[there] = values[there].astype(np.float64)
        return found
    return values.astype(object)


Vector = NDArray[np.float64]

Matrix = NDArray[np.floating[Any]]

Columns = Sequence[Column]

Names = Sequence[str | None]

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))

LARGEST_NUMBER = 1e100
"""Numbers may be of this size at most: squares of theirs are summed."""


@dataclass(frozen=True)
class Schema:
    """Names and kinds of the features.

    Attributes
    ----------
    names : tuple of str or None
        None where the data have no names.
    categories : tuple of (dict or None)
        For each feature the number of every category, None for numeric features.
    truths : frozenset of int
        Numeric features of which all values are truth values: databases have a type for them.
    """

    names: tuple[str, ...] | None
    categories: tuple[dict[Any, int] | None, ...]
    truths: frozenset[int] = frozenset()

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.categories)

    def encode(self, X: Any) -> Matrix:
        """A block as numbers, shape (n_rows, n_features); nan where missing or unknown.

        An array of float32 or float64 without categories is not copied.

        Raises
        ------
        ValueError
            If columns are missing, too many, or in another order; if numbers are infinite; if there
            are words where numbers were, or numbers where categories are words.
        """
        columns = columns_of(X)
        self._check(columns)
        if isinstance(X, np.ndarray) and X.dtype in FLOATS and not any(self.categories):
            for column in columns:
                _check_size(column, column.values)
            return X
        values = np.empty((len(columns[0].values) if columns else 0, len(columns)), order="F")
        for j, (column, known) in enumerate(zip(columns, self.categories, strict=True)):
            values[:, j] = _numbers(column) if known is None else _codes(column, known)
        return values

    def _check(self, columns: Columns) -> None:
        if len(columns) != self.n_features:
            raise ValueError(
                f"X has {len(columns)} features, but {self.n_features} features are expected"
            )
        names = tuple(column.name for column in columns)
        if self.names is not None and None not in names and names != self.names:
            raise _other_columns(names, self.names)


@dataclass
class _Seen:
    """What the blocks so far have told of a column: its categories (None for numbers), its type."""

    values: set[Any] | None
    kinds: set[str]
    described: str
    has_truths: bool


class SchemaMaker:
    """Finds out what the columns are, from one block after another.

    Parameters
    ----------
    categorical : "from_dtype" or sequence of str or int
        Features that are categories; by default those that are not numbers.

    Raises
    ------
    ValueError
        If ``categorical`` is something else.
    """

    def __init__(self, categorical: Any = "from_dtype") -> None:
        by_type = isinstance(categorical, str) and categorical == "from_dtype"
        if not by_type and (isinstance(categorical, str) or not np.iterable(categorical)):
            raise ValueError(
                "categorical_features must be 'from_dtype' or a list of names or numbers of "
                f"features, got {categorical!r}"
            )
        self.categorical = None if by_type else list(categorical)
        self._names: tuple[str | None, ...] | None = None
        self._seen: list[_Seen | None] = []

    def see(self, X: Any) -> None:
        """Take note of the categories in a block.

        Raises
        ------
        ValueError
            If its columns are others than those of the first block, of another type, or of a kind
            that is neither a number nor a category; if ``categorical`` names features that there
            are not, or leaves out some that are no numbers.
        """
        columns = columns_of(X)
        names = tuple(column.name for column in columns)
        if self._names is None:
            self._check_categorical(names)
            self._names, self._seen = names, [None] * len(names)
        elif names != self._names:
            raise _other_columns(names, self._names)
        for number, column in enumerate(columns):
            self._note(number, column)

    def merge(self, other: SchemaMaker) -> None:
        """Take note of what another one has seen, in blocks that come later.

        Raises
        ------
        ValueError
            As :meth:`see`.
        """
        if other._names is None:
            return
        if self._names is None:
            self._names, self._seen = other._names, [None] * len(other._names)
        elif other._names != self._names:
            raise _other_columns(other._names, self._names)
        for number, seen in enumerate(other._seen):
            if seen is not None:
                self._merge(number, seen)

    def schema(self) -> Schema:
        """The schema of all blocks seen.

        Raises
        ------
        ValueError
            If there were none.
        """
        if self._names is None:
            raise ValueError("the source of blocks is empty")
        names = None if None in self._names else tuple(str(name) for name in self._names)
        ordered = (
            None
            if seen is None or seen.values is None
            else sorted(seen.values, key=lambda v: (str(type(v)), str(v)))
            for seen in self._seen
        )
        categories = (
            None if values is None else {value: code for code, value in enumerate(values)}
            for values in ordered
        )
        truths = (
            number
            for number, seen in enumerate(self._seen)
            if seen is not None and seen.values is None and seen.has_truths
        )
        return Schema(names, tuple(categories), frozenset(truths))

    def _note(self, number: int, column: Column) -> None:
        category = self._is_category(number, column)
        if column.is_empty:  # which says nothing
            return
        kinds = kinds_of_types(column.types)
        values = _distinct(column) if category else None
        self._merge(number, _Seen(values, kinds, column.described, column.has_truths))

    def _merge(self, number: int, found: _Seen) -> None:
        seen, names = self._seen[number], self._names or ()
        if seen is None:
            self._seen[number] = found
            return
        if (seen.values is None) != (found.values is None) or not seen.kinds & found.kinds:
            raise ValueError(
                f"{called(names[number])} is of type {seen.described} in one block, and of type "
                f"{found.described} in a later one: give it the same type in all blocks"
            )
        seen.kinds |= found.kinds
        seen.has_truths &= found.has_truths
        if seen.values is not None and found.values is not None:
            seen.values |= found.values

    def _is_category(self, number: int, column: Column) -> bool:
        if self.categorical is not None and {number, column.name} & set(self.categorical):
            return True
        if column.is_time:
            raise ValueError(
                f"{column.called} has dates or times: make them numbers, days since a first day "
                "say, or name the feature in categorical_features"
            )
        if self.categorical is not None and not column.has_numbers:
            raise ValueError(
                f"{column.called} has values that are no numbers ({column.described}), and "
                f"categorical_features={some(self.categorical)} does not name it: a list takes "
                "the place of the default, so that it must name all features that are categories"
            )
        return self.categorical is None and not column.is_numeric

    def _check_categorical(self, names: Names) -> None:
        known = {*range(len(names)), *names} - {None}
        unknown = [feature for feature in self.categorical or () if feature not in known]
        if unknown:
            raise ValueError(
                f"categorical_features has {unknown[:5]}, which X does not have; it has "
                f"{len(names)} features{f' {some(names)}' if None not in names else ''}"
            )


def _numbers(column: Column) -> Vector:
    if not column.has_numbers:
        raise ValueError(
            f"{column.called} was numeric and now has values that are no numbers "
            f"({column.described}); name it in categorical_features if it has categories"
        )
    values = column.as_floats()
    _check_size(column, values)
    return values


def _check_size(column: Column, values: Matrix) -> None:
    if not len(values):
        return
    low, high = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
    if max(-low, high) > LARGEST_NUMBER:
        raise ValueError(
            f"{column.called} has the value {low if -low > high else high:g}: numbers must be "
            f"finite, not infinity, and at most {LARGEST_NUMBER:g} in size; nan stands for missing "
            "values"
        )


def _other_columns(names: Names, expected: Names) -> ValueError:
    if {*names, *expected} == {None}:
        return ValueError(
            f"a block has {len(names)} columns, and the first one {len(expected)}: all blocks must "
            "have the same"
        )
    if None in (*names, *expected):
        found, before = (
            f"is an array of {len(names)} columns"
            if None in names
            else f"is a frame, {some(names)}",
            "an array" if None in expected else "a frame",
        )
        return ValueError(
            f"a block {found}, and the first one, with {len(expected)} columns, is {before}: "
            "either all blocks have names for their columns or none"
        )
    new = [name for name in names if name not in expected]
    gone = [name for name in expected if name not in names]
    if not new and not gone:
        return ValueError(
            f"a block has its columns in another order, {some(names)}, than those seen first, "
            f"{some(expected)}"
        )
    return ValueError(
        f"a block has columns {some(names)}; new: {new[:5]}, missing: {gone[:5]}: it must have "
        f"those seen first, {some(expected)}, in this order"
    )


def _distinct(column: Column) -> set[Any]:
    try:
        found = set(column.values.tolist())
    except TypeError as error:
        raise ValueError(
            f"{column.called} has values that are neither numbers nor categories ({error})"
        ) from error
    return {value for value in found if not is_missing(value)}


def _codes(column: Column, known: dict[Any, int]) -> Vector:
    values = column.values.tolist()
    found = (known.get(value, np.nan) if _hashable(value) else np.nan for value in values)
    codes = np.fromiter(found, dtype=np.float64, count=len(values))
    if known and np.isnan(codes).all() and not column.is_empty:
        types = set(map(type, known))
        if not kinds_of_types(types) & kinds_of_types(column.types):
            raise ValueError(
                f"{column.called} has categories of type {listed(types)} "
                f"in the model, and is now of type {column.described}"
            )
    return codes


def _hashable(value: Any) -> bool:
    return value is not None and value.__hash__ is not None
