"""What the columns of a table are: numbers, or categories and which; how they become numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


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

    def encode(self, X: Any) -> Vector:
        """A block as numbers, shape (n_rows, n_features); nan where missing or unknown.

        Raises
        ------
        ValueError
            If columns are missing, too many, or in another order.
        """
        columns = columns_of(X)
        self._check(columns)
        values = np.empty((len(columns[0][1]) if columns else 0, len(columns)), order="F")
        for j, (name, column) in enumerate(columns):
            known = self.categories[j]
            if known is None:
                values[:, j] = _numbers(name, column)
            else:
                values[:, j] = _codes(column, known)
        return values

    def _check(self, columns: Sequence[tuple[str | None, Any]]) -> None:
        if len(columns) != self.n_features:
            raise ValueError(
                f"X has {len(columns)} features, but {self.n_features} features are expected"
            )
        names = tuple(name for name, _ in columns)
        if self.names is not None and None not in names and names != self.names:
            odd = [n for n in names if n not in self.names] or list(names)
            raise ValueError(
                f"a block has columns {odd[:5]}, which do not match those seen first: it must have "
                f"{list(self.names[:5])}{'…' if len(self.names) > 5 else ''}, in this order"
            )


class SchemaMaker:
    """Finds out what the columns are, from one block after another.

    Parameters
    ----------
    categorical : "from_dtype" or sequence of str or int
        Features that are categories; by default those that are not numbers.
    """

    def __init__(self, categorical: Any = "from_dtype") -> None:
        self.categorical = categorical
        self._names: tuple[str | None, ...] | None = None
        self._values: list[set[Any] | None] = []

    def see(self, X: Any) -> None:
        """Take note of the categories in a block."""
        columns = columns_of(X)
        names = tuple(name for name, _ in columns)
        if self._names is None:
            self._names = names
            self._values = [
                set() if self._is_category(j, name, column) else None
                for j, (name, column) in enumerate(columns)
            ]
        elif names != self._names:
            raise ValueError(
                f"a block has columns {list(names)[:5]}, the first one had {list(self._names)[:5]}"
            )
        for values, (_, column) in zip(self._values, columns, strict=True):
            if values is not None:
                values.update(_distinct(column))

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
        if isinstance(self.categorical, str):
            return column.dtype.kind not in "fiub"
        chosen = list(self.categorical)
        return number in chosen or (name is not None and name in chosen)


def columns_of(X: Any) -> list[tuple[str | None, NDArray[Any]]]:
    """The columns of a data frame or an array, with their names."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return [(str(name), _array(X[name])) for name in X.columns]
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must have 2 dimensions (rows, features), got shape {array.shape}")
    return [(None, array[:, j]) for j in range(array.shape[1])]


def _array(column: Any) -> NDArray[Any]:
    """A column of a data frame as an array: of numbers, or of objects."""
    values = np.asarray(column.to_numpy())
    if values.dtype.kind in "fiub":
        return values
    if hasattr(column, "isna") and getattr(column.dtype, "kind", "O") in "fiub":
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return values.astype(object)


def _numbers(name: str | None, column: NDArray[Any]) -> Vector:
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError) as error:
        which = "a feature" if name is None else f"feature {name!r}"
        raise ValueError(
            f"{which} was numeric and now has values that are no numbers ({error})"
        ) from error


def _distinct(column: NDArray[Any]) -> set[Any]:
    return {value for value in set(column.tolist()) if not _is_missing(value)}


def _codes(column: NDArray[Any], known: dict[Any, int]) -> Vector:
    values = column.tolist()
    found = (known.get(value, np.nan) if _hashable(value) else np.nan for value in values)
    return np.fromiter(found, dtype=np.float64, count=len(values))


def _is_missing(value: Any) -> bool:
    return value is None or value != value or str(value) == "<NA>"


def _hashable(value: Any) -> bool:
    return value is not None and value.__hash__ is not None
