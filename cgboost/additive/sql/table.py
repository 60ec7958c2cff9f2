"""What a table in a database has: the schema of its features, its classes, its extremes.

The rows are copied once, as numbers of double precision and as categories, into a temporary table
that all that follows works on. From it come counts of categories and extremes of numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cgboost.additive.export.dialects import kind
from cgboost.additive.export.expressions import SQL
from cgboost.additive.sql.dates import date_expression
from cgboost.additive.sql.engines import kind_of
from cgboost.additive.sql.session import SQLSession
from cgboost.arrays import blocks_of
from cgboost.tables.date_features import PARTS
from cgboost.tables.table_columns import plain_time, some
from cgboost.tables.table_encoding import LARGEST_NUMBER, Schema

MOST_CATEGORIES = 100_000
"""Categories of a feature that a fit in a database takes: each is a group of rows with statistics
that leave the database, 10 MB of them with ten stages."""

MOST_AT_ONCE = 200
"""Columns that are looked at in one statement: SQLite takes 2000, each with two results."""

SINGLE = ({"real"}, {"FLOAT"})
"""Types of columns of single precision."""

TARGET, WEIGHT = "y", "w"
"""Names of columns in the copy."""


@dataclass(frozen=True)
class Copy:
    """The rows of a table, copied.

    Attributes
    ----------
    table : str
        A temporary table with columns c0, c1, … of the features, y and w.
    n_rows : int
        Of positive weight.
    least : float
        Of y, where it is a number.
    is_weighted : bool
        Whether there are weights other than 1.
    classes : list or None
        Values of y in ascending order, where it is a class label.
    """

    table: str
    schema: Schema
    n_rows: int
    least: float
    is_weighted: bool
    classes: list[Any] | None


@dataclass(frozen=True)
class _Column:
    """A feature: its column in the table, its number, and whether it has categories.

    Attributes
    ----------
    part : str
        What of a date it is; empty: the column itself.
    """

    name: str
    number: int
    is_category: bool
    part: str = ""

    @property
    def own(self) -> str:
        """Its name in the copy."""
        return f"c{self.number}"

    @property
    def feature(self) -> str:
        """Its name in the model."""
        return f"{self.name}_{self.part}" if self.part else self.name


def copied(
    session: SQLSession,
    query: str,
    target: str,
    weight: str | None,
    categorical: Any,
    *,
    classification: bool,
) -> Copy:
    """Copy the rows of a query, and look at them.

    Parameters
    ----------
    session : SQLSession
    query : str
        Of all rows and columns.
    target, weight : str
        Columns that are no features.
    categorical : "from_dtype" or sequence of str or int
        Features that are categories.
    classification : bool
        Whether the response is a class label.

    Raises
    ------
    ValueError
        If columns are missing or of a type that is neither number nor category; if there are no
        rows, NULL or infinity where a number is needed, negative weights, too many categories.
    """
    names = session.names(query)
    for role, name in (("target", target), ("weight", weight)):
        if name is not None and name not in names:
            raise ValueError(
                f"{role}={name!r} is no column of the table, which has {some(names)}: give one of "
                "its columns"
            )
    folded = [name.casefold() if session.engine.folds_names else name for name in names]
    twice = {name for name, own in zip(names, folded, strict=True) if folded.count(own) > 1}
    if twice:
        raise ValueError(
            f"the table has several columns called {some(sorted(twice))}: rename all but one in a "
            "query, or leave them out"
        )
    features = [name for name in names if name not in (target, weight)]
    if not features:
        raise ValueError(f"the table has no columns besides {some(names)}: there are no features")
    types = _types(session, query, names)
    chosen = _chosen(categorical, features)
    columns = _columns(features, types, categorical, chosen)
    _check_role(session, "target", target, types[target], number=not classification)
    if weight is not None:
        _check_role(session, "weight", weight, types[weight], number=True)
    copy = _copy(session, query, columns, types, target, weight, classification)
    session.make_room(query, len(names))
    table = session.create(copy)
    n_rows, least, is_weighted = _checked(session, table, columns, target, weight, classification)
    known = [
        _categories(session, table, column.own, column.name) if column.is_category else None
        for column in columns
    ]
    for column, values in zip(columns, known, strict=True):
        if values and chosen is not None and column.name not in chosen:
            raise ValueError(
                f"feature {column.name!r} has values that are no numbers ({values[0]!r}), and "
                f"categorical_features={some(sorted(chosen))} does not name it: a list takes the "
                "place of the default, so that it must name all features that are categories"
            )
    categories = tuple(
        None if not values else {value: code for code, value in enumerate(values)}
        for values in known
    )
    numbers = {column.number for column in columns if not column.is_category}
    schema = Schema(
        tuple(column.feature for column in columns),
        categories,
        frozenset(k for k in numbers if _kinds(types[columns[k].name]) == {"truth"}),
    )
    classes = _classes(session, table, target) if classification else None
    return Copy(table, schema, n_rows, least, is_weighted, classes)


def _types(session: SQLSession, query: str, names: Sequence[str]) -> dict[str, set[str]]:
    """Names of the types of every column; several where values have their own."""
    engine, found = session.engine, {}
    for some_names in _batches(names):
        types = [engine.type_of.format(session.sql.name(name)) for name in some_names]
        if engine.typed_by_value:
            for name, own in zip(some_names, types, strict=True):
                rows = session.rows(f"SELECT DISTINCT {own} FROM ({query}) AS q")
                found[name] = {str(row[0]) for row in rows} - {"null"}
            continue
        rows = session.rows(f"SELECT {', '.join(types)} FROM ({query}) AS q LIMIT 1")
        if not rows:
            raise ValueError("the table has no rows: a fit needs at least 2")
        found |= {name: {str(kind)} for name, kind in zip(some_names, rows[0], strict=True)}
    return found


def _kinds(types: set[str]) -> set[str | None]:
    return set(map(kind_of, types))


def _chosen(categorical: Any, features: Sequence[str]) -> set[str] | None:
    """Names of the features that are said to be categories; None: types decide."""
    if isinstance(categorical, str) and categorical == "from_dtype":
        return None
    if isinstance(categorical, str) or not np.iterable(categorical):
        raise ValueError(
            "categorical_features must be 'from_dtype' or a list of names or numbers of "
            f"features, got {categorical!r}"
        )
    known = {*range(len(features)), *features}
    unknown = [feature for feature in categorical if feature not in known]
    if unknown:
        raise ValueError(
            f"categorical_features has {unknown[:5]}, which the table does not have; it has "
            f"{len(features)} features {some(features)}"
        )
    return {feature if isinstance(feature, str) else features[feature] for feature in categorical}


def _columns(
    features: Sequence[str], types: dict[str, set[str]], categorical: Any, chosen: set[str] | None
) -> list[_Column]:
    """The features of a model, as :func:`cgboost.tables.date_features.with_date_features` has them.

    Raises
    ------
    ValueError
        As that, or if a column is of a type that is neither number, date nor category.
    """
    found: list[_Column] = []
    for name in features:
        for part in _parts(name, types[name], chosen):
            found.append(_Column(name, len(found), part is None, part or ""))
    dates = [column for column in found if column.part]
    for column in dates:
        if column.feature in features:
            raise ValueError(
                f"the dates of feature {column.name!r} would be a feature {column.feature!r}, "
                "which the table has too: give one of them another name in a query"
            )
    if dates and chosen and any(not isinstance(one, str) for one in categorical):
        raise ValueError(
            f"categorical_features={[*categorical]} has numbers of features, and the table has "
            "dates, each of which is several features: give their names"
        )
    return found


def _parts(name: str, types: set[str], chosen: set[str] | None) -> Sequence[str | None]:
    """The features of a column: parts of a date, "" for a number, None for categories."""
    described = " and ".join(sorted(types))
    kinds = _kinds(types)
    if len(kinds) > 1 or None in kinds:
        raise ValueError(
            f"feature {name!r} is of type {described}, which is neither a number, a date nor a "
            "category: convert it to a number or to text in a query, or leave it out"
        )
    own = kinds.pop() if kinds else "number"
    if chosen is not None and name in chosen:
        if own == "moment":
            raise ValueError(
                f"feature {name!r} has times of a time zone ({described}), which are no "
                "categories: convert it to text in a query, or leave categorical_features out"
            )
        return [None]
    if own in ("time", "moment"):
        return PARTS
    return [None] if own == "text" else [""]


def _check_role(
    session: SQLSession, role: str, name: str, types: set[str], *, number: bool
) -> None:
    kinds = _kinds(types)
    if len(kinds) > 1 or kinds - ({"truth", "number"} if number else {"truth", "number", "text"}):
        wanted = "numbers" if number else "numbers, text or truth values"
        raise ValueError(
            f"the {role} {name!r} is of type {' and '.join(sorted(types))}: it must have {wanted}"
        )


def _copy(
    session: SQLSession,
    query: str,
    columns: Sequence[_Column],
    types: dict[str, set[str]],
    target: str,
    weight: str | None,
    classification: bool,
) -> str:
    sql = session.sql

    def category(name: str) -> str:
        column = sql.name(name)
        if _kinds(types[name]) == {"text"}:
            return sql.text_column.format(column)
        # of single precision PostgreSQL would tell the digits that four bytes need
        return sql.write(sql.as_double(SQL(column))) if types[name] in SINGLE else column

    def number(name: str, part: str = "") -> str:
        column = sql.name(name)
        if part:
            column = date_expression(session.engine, column, part)
        elif _kinds(types[name]) == {"truth"}:
            column = sql.truth_column.format(column)
        return session.engine.number.format(column)

    read = [
        f"{category(own.name) if own.is_category else number(own.name, own.part)} AS {own.own}"
        for own in columns
    ]
    read.append(f"{(category if classification else number)(target)} AS {TARGET}")
    read.append(f"{sql.number(1.0) if weight is None else number(weight)} AS {WEIGHT}")
    return f"SELECT {', '.join(read)} FROM ({query}) AS q"


def _checked(
    session: SQLSession,
    table: str,
    columns: Sequence[_Column],
    target: str,
    weight: str | None,
    classification: bool,
) -> tuple[int, float, bool]:
    """Rows that count, the least y, whether there are weights; errors for bad values."""
    y = "0" if classification else TARGET
    ((n_rows, n_y, n_w, n_count, low_w, high_w, low, high),) = session.rows(
        f"SELECT COUNT(*), COUNT({TARGET}), COUNT({WEIGHT}), "
        f"SUM(CASE WHEN {WEIGHT} > 0 THEN 1 ELSE 0 END), MIN({WEIGHT}), "
        f"MAX({WEIGHT}), MIN({y}), MAX({y}) FROM {table}"
    )
    if not n_rows:
        raise ValueError("the table has no rows: a fit needs at least 2")
    for role, name, n_there in (("target", target, n_y), ("weight", weight, n_w)):
        if n_there < n_rows:
            raise ValueError(
                f"the {role} {name!r} is NULL or NaN in {n_rows - n_there} of {n_rows} rows: leave "
                "these rows out by a query"
            )
    if low_w < 0 or not high_w > 0 or high_w > LARGEST_NUMBER:
        raise ValueError(
            f"the weight {weight!r} must be finite, at most {LARGEST_NUMBER:g}, not negative and "
            f"not 0 in every row, got values from {low_w:g} to {high_w:g}"
        )
    if max(-float(low), float(high)) > LARGEST_NUMBER:
        raise ValueError(
            f"the target {target!r} has the value {low if -low > high else high:g}: it must be "
            f"finite and at most {LARGEST_NUMBER:g} in size"
        )
    if n_count < 2:
        raise ValueError(f"at least 2 rows of positive weight are needed, got {n_count}")
    for some_columns in _batches([column for column in columns if not column.is_category]):
        read = [f"MIN({column.own}), MAX({column.own})" for column in some_columns]
        (found,) = session.rows(f"SELECT {', '.join(read)} FROM {table}")
        for column, least, most in zip(some_columns, found[::2], found[1::2], strict=True):
            if least is not None and max(-least, most) > LARGEST_NUMBER:
                raise ValueError(
                    f"feature {column.name!r} has the value {least if -least > most else most:g}: "
                    f"numbers must be finite, not infinity, and at most {LARGEST_NUMBER:g} in "
                    "size; NULL stands for missing values"
                )
    return int(n_count), float(low), not low_w == high_w == 1.0


def _categories(session: SQLSession, table: str, column: str, name: str) -> list[Any]:
    """Values of a column, in the order in which categories are numbered.

    ``Schema`` has them in this order for data frames.
    """
    found = session.rows(
        f"SELECT {column}, COUNT(*) FROM {table} WHERE {column} IS NOT NULL GROUP BY {column} "
        f"LIMIT {MOST_CATEGORIES + 1}"
    )
    if len(found) > MOST_CATEGORIES:
        raise ValueError(
            f"feature {name!r} has more than {MOST_CATEGORIES} categories: leave it out by a "
            "query, or make fewer of them"
        )
    values = [plain_time(row[0]) for row in found]
    values = [value for value in values if value == value]  # without NaN
    for value in values:
        if kind(value) is None:
            raise ValueError(
                f"feature {name!r} has the category {value!r} of type {type(value).__name__}: "
                "make the categories of this feature text"
            )
    return sorted(values, key=lambda value: (str(type(value)), str(value)))


def _classes(session: SQLSession, table: str, target: str) -> list[Any]:
    found = session.rows(
        f"SELECT {TARGET}, COUNT(*) FROM {table} WHERE {WEIGHT} > 0 GROUP BY {TARGET} "
        f"LIMIT {MOST_CATEGORIES + 1}"
    )
    values = sorted(row[0] for row in found)
    if len(values) > MOST_CATEGORIES:
        raise ValueError(f"the target {target!r} has more than {MOST_CATEGORIES} different values")
    return values


def _batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[some] for some in blocks_of(len(items), MOST_AT_ONCE))
