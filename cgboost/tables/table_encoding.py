"""Encoding of a table: which columns are numbers, which categories, and the numbers they become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cgboost.arrays import Matrix, Vector
from cgboost.tables.date_features import with_date_features
from cgboost.tables.table_columns import (
    TableColumn,
    called,
    columns_of,
    is_missing,
    kinds_of_types,
    listed,
    some,
)

TableColumns = Sequence[TableColumn]

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

    def __getstate__(self) -> dict[str, Any]:
        """Categories in lists: skops makes text of the keys of a dictionary."""
        lists = tuple(None if known is None else [*known.items()] for known in self.categories)
        return {**vars(self), "categories": lists}

    def __setstate__(self, state: dict[str, Any]) -> None:
        known = tuple(None if own is None else dict(own) for own in state["categories"])
        vars(self).update(state, categories=known)

    def encode(self, X: Any) -> Matrix:
        """A block as numbers, shape (n_rows, n_features); nan where missing or unknown.

        An array of float32 or float64 without categories is not copied.

        Raises
        ------
        ValueError
            If columns are missing, too many, or in another order; if numbers are infinite; if there
            are words where numbers were, or numbers where categories are words.
        """
        columns = columns_of(self.as_features(X))
        self._check(columns)
        if isinstance(X, np.ndarray) and X.dtype in FLOATS and not any(self.categories):
            if _largest(X) > LARGEST_NUMBER:  # the column is sought only where there is one
                for column in columns:
                    _check_size(column, column.values)
            return X
        values = np.empty((len(columns[0].values) if columns else 0, len(columns)), order="F")
        for j, (column, known) in enumerate(zip(columns, self.categories, strict=True)):
            values[:, j] = _numbers(column) if known is None else _codes(column, known)
        return values

    def as_features(self, X: Any) -> Any:
        """A table with its dates as features, unless they are categories."""
        return with_date_features(X, expected=self.names or ())

    def _check(self, columns: TableColumns) -> None:
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
        columns = columns_of(with_date_features(X, self.categorical or ()))
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

    def _note(self, number: int, column: TableColumn) -> None:
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

    def _is_category(self, number: int, column: TableColumn) -> bool:
        if any(issubclass(kind, (complex, np.complexfloating)) for kind in column.types):
            raise ValueError(
                f"{column.called} has complex numbers: give their real and imaginary parts, or "
                "their size and angle, as two features"
            )
        if self.categorical is not None and {number, column.name} & set(self.categorical):
            return True
        if column.has_times and not column.is_categorical:
            raise ValueError(
                f"{column.called} has dates or times: give a data frame, whose dates become "
                "features, or make them numbers, or name the feature in categorical_features"
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


def _numbers(column: TableColumn) -> Vector:
    if not column.has_numbers:
        raise ValueError(
            f"{column.called} was numeric and now has values that are no numbers "
            f"({column.described}); name it in categorical_features if it has categories"
        )
    values = column.as_floats()
    _check_size(column, values)
    return values


def _largest(values: Matrix) -> float:
    """The largest absolute value; missing ones do not count."""
    low = float(np.fmin.reduce(values, axis=None, initial=np.inf))
    return max(-low, float(np.fmax.reduce(values, axis=None, initial=-np.inf)))


def _check_size(column: TableColumn, values: Matrix) -> None:
    if _largest(values) > LARGEST_NUMBER:
        low, high = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
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


def _distinct(column: TableColumn) -> set[Any]:
    try:
        found = set(column.categories)
    except TypeError as error:
        raise ValueError(
            f"{column.called} has values that are neither numbers nor categories ({error})"
        ) from error
    return {value for value in found if not is_missing(value)}


def _codes(column: TableColumn, known: dict[Any, int]) -> Vector:
    values = column.categories
    try:
        found = [known.get(value, np.nan) for value in values]
    except TypeError:  # of a list, say, which is no category
        found = [known.get(value, np.nan) if _hashable(value) else np.nan for value in values]
    codes = np.array(found, dtype=np.float64)
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
