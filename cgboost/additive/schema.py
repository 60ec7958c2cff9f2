"""What the columns of a table are: numbers, or categories and which; how they become numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.floating[Any]]
Columns = Sequence[tuple[str | None, NDArray[Any]]]

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))

TIMES = "mM"
"""Kinds of NumPy's types of times."""

NUMERIC = ("boolean", "decimal")
"""How types of columns begin that arrive as objects and are numbers."""

LARGEST = 1e100
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
    """

    names: tuple[str, ...] | None
    categories: tuple[dict[Any, int] | None, ...]

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
            If columns are missing, too many, or in another order; if numbers are infinite.
        """
        columns = columns_of(X)
        self._check(columns)
        if isinstance(X, np.ndarray) and X.dtype in FLOATS and not any(self.categories):
            for name, column in columns:
                _check_size(name, column)
            return X
        values = np.empty((len(columns[0][1]) if columns else 0, len(columns)), order="F")
        for j, (name, column) in enumerate(columns):
            known = self.categories[j]
            if known is None:
                values[:, j] = _numbers(name, column)
            else:
                values[:, j] = _codes(column, known)
        return values

    def _check(self, columns: Columns) -> None:
        if len(columns) != self.n_features:
            raise ValueError(
                f"X has {len(columns)} features, but {self.n_features} features are expected"
            )
        names = tuple(name for name, _ in columns)
        if self.names is not None and None not in names and names != self.names:
            raise _other_columns(names, self.names)


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
        self._values: list[set[Any] | None] = []

    def see(self, X: Any) -> None:
        """Take note of the categories in a block.

        Raises
        ------
        ValueError
            If its columns are others than those of the first block, or of a kind that is neither a
            number nor a category; if ``categorical`` names features that there are not.
        """
        columns = columns_of(X)
        names = tuple(name for name, _ in columns)
        if self._names is None:
            self._check_categorical(names)
            self._names = names
            self._values = [
                set() if self._is_category(j, name, column) else None
                for j, (name, column) in enumerate(columns)
            ]
        elif names != self._names:
            raise _other_columns(names, self._names)
        for values, (name, column) in zip(self._values, columns, strict=True):
            if values is not None:
                values.update(_distinct(name, column))

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
            None if values is None else sorted(values, key=lambda v: (str(type(v)), str(v)))
            for values in self._values
        )
        categories = (
            None if values is None else {value: code for code, value in enumerate(values)}
            for values in ordered
        )
        return Schema(names, tuple(categories))

    def _is_category(self, number: int, name: str | None, column: NDArray[Any]) -> bool:
        if self.categorical is None and column.dtype.kind in TIMES:
            raise ValueError(
                f"{_called(name)} has dates or times: make them numbers, days since a first day "
                "say, or name the feature in categorical_features"
            )
        if self.categorical is None:
            return column.dtype.kind not in "fiub"
        return number in self.categorical or (name is not None and name in self.categorical)

    def _check_categorical(self, names: tuple[str | None, ...]) -> None:
        known = {*range(len(names)), *names} - {None}
        unknown = [feature for feature in self.categorical or () if feature not in known]
        if unknown:
            raise ValueError(
                f"categorical_features has {unknown[:5]}, which X does not have; it has "
                f"{len(names)} features{_some(names) if None not in names else ''}"
            )


def columns_of(X: Any) -> list[tuple[str | None, NDArray[Any]]]:
    """The columns of a data frame or an array, with their names.

    Raises
    ------
    ValueError
        If two columns have the same name, or X is no table.
    """
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        names = [str(name) for name in X.columns]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"X has several columns called {sorted(twice)[:5]}: rename them")
        return [(str(name), _array(X[name])) for name in X.columns]
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must have 2 dimensions (rows, features), got shape {array.shape}")
    return [(None, array[:, j]) for j in range(array.shape[1])]


def _array(column: Any) -> NDArray[Any]:
    """A column of a data frame as an array: of numbers, of dates or times, or of objects."""
    dtype = column.dtype
    values = np.asarray(column.to_numpy())
    kind = getattr(dtype, "kind", values.dtype.kind)
    if kind in TIMES:
        if values.dtype.kind == "O":  # times of a time zone
            values = np.asarray(column.to_numpy(dtype=f"{kind}8[us]"))
        return values.astype(f"{kind}8[us]")
    if values.dtype.kind in "fiub" and str(dtype) != "category":
        return values
    if kind in "fiub" or str(dtype).lower().startswith(NUMERIC):
        missing = column.isna() if hasattr(column, "isna") else column.is_null()
        numbers = np.full(len(values), np.nan)
        there = ~np.asarray(missing, dtype=bool)
        numbers[there] = values[there].astype(np.float64)
        return numbers
    return values.astype(object)


def _numbers(name: str | None, column: NDArray[Any]) -> Vector:
    try:
        if column.dtype.kind in TIMES:
            raise TypeError(f"type {column.dtype}")  # which could be cast
        values = column.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{_called(name)} was numeric and now has values that are no numbers ({error}); name "
            "it in categorical_features if it has categories"
        ) from error
    _check_size(name, values)
    return values


def _check_size(name: str | None, values: Matrix) -> None:
    if not len(values):
        return
    low, high = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
    if max(-low, high) > LARGEST:
        raise ValueError(
            f"{_called(name)} has the value {low if -low > high else high:g}: numbers must be "
            f"finite, not infinity, and at most {LARGEST:g} in size; nan stands for missing values"
        )


def _called(name: str | None) -> str:
    return "a feature of X" if name is None else f"feature {name!r}"


def _some(names: Sequence[str | None]) -> str:
    return f" {list(names[:5])}{'…' if len(names) > 5 else ''}"


def _other_columns(names: Sequence[str | None], expected: Sequence[str | None]) -> ValueError:
    if None in (*names, *expected):
        return ValueError(
            f"a block has {len(names)} columns, those before it had {len(expected)}; either all "
            "blocks have names for them or none"
        )
    new = [name for name in names if name not in expected]
    gone = [name for name in expected if name not in names]
    return ValueError(
        f"a block has columns{_some(names)}; new: {new[:5]}, missing: {gone[:5]}: it must have "
        f"those seen first,{_some(expected)}, in this order"
    )


def _distinct(name: str | None, column: NDArray[Any]) -> set[Any]:
    try:
        found = set(column.tolist())
    except TypeError as error:
        raise ValueError(
            f"{_called(name)} has values that are neither numbers nor categories ({error})"
        ) from error
    return {value for value in found if not _is_missing(value)}


def _codes(column: NDArray[Any], known: dict[Any, int]) -> Vector:
    values = column.tolist()
    found = (known.get(value, np.nan) if _hashable(value) else np.nan for value in values)
    return np.fromiter(found, dtype=np.float64, count=len(values))


def _is_missing(value: Any) -> bool:
    return value is None or str(value) == "<NA>" or value != value


def _hashable(value: Any) -> bool:
    return value is not None and value.__hash__ is not None
