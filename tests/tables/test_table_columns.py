"""What the columns of tables are: numbers, categories, times, or nothing yet."""

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cgboost.tables.table_columns import columns_of, is_missing, legible

NUMERIC = {
    "floats": pd.Series([1.5, np.nan]),
    "objects": pd.Series([1, 2.5, None], dtype=object),
    "decimals": pd.Series([Decimal("1.5"), None]),
    "nullable": pd.Series([1, None], dtype="Int64"),
    "polars": pl.Series([1, None]),
}
WORDS = {
    "strings": pd.Series(["a", None]),
    "numbered categories": pd.Series([1, 2]).astype("category"),
    "mixed": pd.Series([1, "a"], dtype=object),
    "polars": pl.Series(["a", None]),
}


def only(series: pd.Series | pl.Series):
    """The column of a frame with this one."""
    (column,) = columns_of((pl if isinstance(series, pl.Series) else pd).DataFrame({"a": series}))
    return column


@pytest.mark.parametrize("kind", NUMERIC)
def test_columns_of_numbers(kind: str) -> None:
    """Also those of Python objects that are all numbers; missing ones become nan."""
    column = only(NUMERIC[kind])
    assert column.is_numeric
    assert not column.is_empty
    found = column.as_floats()
    assert found.dtype == np.float64
    assert np.isnan(found).sum() == 1


@pytest.mark.parametrize("kind", WORDS)
def test_columns_of_categories(kind: str) -> None:
    """Words, and numbers of a categorical type."""
    assert not only(WORDS[kind]).is_numeric


@pytest.mark.parametrize("values", [[None, None], [np.nan, np.nan], []])
def test_columns_without_values_are_undecided(values: list) -> None:
    """They are empty, of no type."""
    column = only(pd.Series(values, dtype=object))
    assert column.is_empty
    assert column.types == set()


@pytest.mark.parametrize("value", [None, np.nan, pd.NA, pd.NaT, float("nan")])
def test_missing_values(value: object) -> None:
    """All ways to say that there is none."""
    assert is_missing(value)
    assert not is_missing("nan")
    assert not is_missing([1])


@pytest.mark.parametrize(
    ("name", "shown"),
    [("two words", "two words"), ("a\nb", r"'a\nb'"), ("", "''"), (" a", "' a'"), (7, "7")],
)
def test_names_are_legible(name: object, shown: str) -> None:
    """On one line, with quotes where the ends would not be seen."""
    assert legible(name) == shown


TABLE = {
    "float": [1.0, None, 3.0],
    "whole": [1, None, 3],
    "truth": [True, None, False],
    "word": ["a", None, "b"],
    "day": [date(2020, 1, 1), None, date(2020, 1, 3)],
    "time": [datetime(2020, 1, 1, 12, tzinfo=UTC), None, datetime(2020, 1, 3, tzinfo=UTC)],
    "sum": [Decimal("1.5"), None, Decimal("2")],
}
"""One column of each kind, with a missing value."""


def test_frames_of_all_libraries_are_the_same_table() -> None:
    """Names, kinds and values are those of pandas for polars, for Arrow and for its types."""
    arrow = pa.table(TABLE)
    frames = [arrow, arrow.to_pandas(types_mapper=pd.ArrowDtype), pl.DataFrame(TABLE)]
    facts = ("is_numeric", "has_times", "has_truths", "is_categorical", "is_empty")
    for expected, *others in zip(*map(columns_of, [pd.DataFrame(TABLE), *frames]), strict=True):
        for column in others:
            for fact in ("name", *facts):
                assert getattr(column, fact) == getattr(expected, fact), (column, fact)
            if expected.is_numeric:
                np.testing.assert_array_equal(column.as_floats(), expected.as_floats())
            else:
                found = [[v for v in c.categories if not is_missing(v)] for c in (column, expected)]
                assert found[0] == found[1]


def test_types_that_differ_between_blocks_are_found() -> None:
    """The message names column and both types."""
    from cgboost import TransformRegressor

    first = pd.DataFrame({"a": np.arange(30.0), "b": ["x", "y"] * 15})
    later = first.assign(a=first["a"].astype(str))
    blocks = [(first, np.arange(30.0)), (later, np.arange(30.0))]
    with pytest.raises(ValueError, match=r"'a' is of type float64 in one block.*later one"):
        TransformRegressor().fit(blocks)
