"""Columns of any table become numbers, the same ones whatever blocks they come in."""

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cgboost import SparseLinearRegressor
from cgboost.tables.table_columns import columns_of, is_missing, legible
from cgboost.tables.table_encoding import Schema, SchemaMaker


def schema_of(*blocks: Any, categorical: Any = "from_dtype") -> Schema:
    """The schema of some blocks."""
    maker = SchemaMaker(categorical)
    for block in blocks:
        maker.see(block)
    return maker.schema()


DAY = datetime.datetime(2020, 2, 29)
CATEGORIES = {
    "object": pd.Series(["b", "a", None], dtype=object),
    "str": pd.Series(["b", "a", None], dtype="str"),
    "string": pd.Series(["b", "a", None], dtype="string"),
    "arrow": pd.Series(["b", "a", None], dtype="string[pyarrow]"),
    "category": pd.Series(["b", "a", None]).astype("category"),
    "category of numbers": pd.Series([7, 3, None]).astype("category"),
    "mixed": pd.Series(["b", 3, None], dtype=object),
    "polars": pl.Series(["b", "a", None]),
    "polars categorical": pl.Series(["b", "a", None], dtype=pl.Categorical),
    "polars enum": pl.Series(["b", "a", None], dtype=pl.Enum(["b", "a", "c"])),
    "polars time": pl.Series([datetime.time(2), datetime.time(1), None]),
}
NUMBERS = {
    "int": pd.Series([2, 1, 0]),
    "float32": pd.Series([2, 1, 0], dtype=np.float32),
    "bool": pd.Series([True, True, False]),
    "Int64": pd.Series([2, 1, None], dtype="Int64"),
    "Float64": pd.Series([2.5, 1, None], dtype="Float64"),
    "boolean": pd.Series([True, False, None], dtype="boolean"),
    "arrow": pd.Series([2.5, 1, None], dtype="double[pyarrow]"),
    "arrow decimal": pd.Series(
        [decimal.Decimal("2.5"), decimal.Decimal(1), None],
        dtype=pd.ArrowDtype(pa.decimal128(5, 2)),
    ),
    "polars int": pl.Series([2, 1, None]),
    "polars boolean": pl.Series([True, False, None]),
    "polars decimal": pl.Series([decimal.Decimal("2.5"), decimal.Decimal(1), None]),
    "objects": pd.Series([1, 2.5, None], dtype=object),
    "decimals": pd.Series([decimal.Decimal("1.5"), None], dtype=object),
    "nothing": pd.Series([None, np.nan], dtype=object),
    "no rows": pd.Series([], dtype=object),
    "polars null": pl.Series([None, None, None], dtype=pl.Float64),
}


def frame(column: Any) -> Any:
    """A data frame of one column."""
    return (pl if isinstance(column, pl.Series) else pd).DataFrame({"a": column})


@pytest.mark.parametrize("kind", CATEGORIES)
def test_categories_of_every_kind(kind: str) -> None:
    """Two categories and a missing value, with numbers that do not depend on the order of rows."""
    X = frame(CATEGORIES[kind])
    schema = schema_of(X)
    codes = schema.encode(X)[:, 0]
    assert sorted(codes[:2]) == [0, 1]
    assert np.isnan(codes[2])
    assert schema_of(X[::-1]).categories == schema.categories
    assert schema.names == ("a",)


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_every_kind(kind: str) -> None:
    """Booleans, decimals and columns without a value are numbers; missing ones are nan."""
    column = NUMBERS[kind]
    schema = schema_of(frame(column))
    assert schema.categories == (None,)
    wanted = [np.nan if is_missing(value) else float(value) for value in column]
    np.testing.assert_array_equal(schema.encode(frame(column))[:, 0], wanted)


DATES = {
    "days": pd.Series([DAY.date(), DAY.date(), None], dtype=object),
    "times": pd.Series([DAY, DAY, None], dtype=object),
    "both": pd.Series([DAY, DAY.date(), None], dtype=object),
    "stamps": pd.Series([pd.Timestamp(DAY), pd.Timestamp(DAY), pd.NaT], dtype=object),
    "zone objects": pd.Series([DAY.replace(tzinfo=datetime.UTC)] * 2 + [None], dtype=object),
    "numpy": pd.Series([np.datetime64("2020-02-29"), np.datetime64(DAY), None], dtype=object),
    "arrow days": pd.Series([DAY, DAY, None], dtype=pd.ArrowDtype(pa.date32())),
    "arrow times": pd.Series([DAY, DAY, None], dtype=pd.ArrowDtype(pa.timestamp("ns"))),
    "datetime64": pd.Series([DAY, DAY, None], dtype="M8[ns]"),
    "zone": pd.Series([DAY, DAY, None]).dt.tz_localize("UTC"),
    "category": pd.Series([DAY, DAY, None], dtype="M8[ns]").astype("category"),
    "category of days": pd.Series([DAY.date(), DAY.date(), None], dtype=object).astype("category"),
    "polars days": pl.Series([DAY.date(), DAY.date(), None]),
    "polars times": pl.Series([DAY, DAY, None]),
    "polars objects": pl.Series([DAY.date(), DAY, None], dtype=pl.Object),
    "polars zone": pl.Series([DAY, DAY, None]).dt.replace_time_zone("UTC"),
}


@pytest.mark.parametrize("kind", DATES)
def test_a_day_is_one_category_whatever_its_type(kind: str) -> None:
    """A model that learned it from one type of column knows it in all others."""
    found = schema_of(frame(DATES[kind]), categorical=["a"])
    assert found.categories == ({DAY: 0},)
    for column in DATES.values():
        np.testing.assert_array_equal(found.encode(frame(column))[:, 0], [0, 0, np.nan])
    block = np.array([["2020-02-29"], ["2020-02-28"]], dtype="M8[ns]")
    np.testing.assert_array_equal(found.encode(block)[:, 0], [0, np.nan])


@pytest.mark.parametrize("kind", DATES)
def test_dates_are_features_unless_their_type_is_one_of_categories(kind: str) -> None:
    """Objects as well as types of dates; what was a number is an error as a date."""
    if kind.startswith("category"):
        assert schema_of(frame(DATES[kind])).categories == ({DAY: 0},)
        return
    found = schema_of(frame(DATES[kind]))
    assert found.names == ("a_days", "a_month", "a_weekday", "a_hour")
    for column in DATES.values():
        if not isinstance(column.dtype, pd.CategoricalDtype | pl.Categorical):
            encoded = found.encode(frame(column))
            np.testing.assert_array_equal(encoded[0], [18321, 2, 5, 0])
            assert np.isnan(encoded[2]).all()
    with pytest.raises(ValueError, match="'a' was numeric and now has values that are no numbers"):
        schema_of(pd.DataFrame({"a": [1.0]})).encode(frame(DATES[kind]))


def test_dates_beside_words_are_the_same_categories() -> None:
    """In a column of both."""
    mixed = pd.DataFrame({"a": pd.Series(["never", DAY.date(), None], dtype=object)})
    schema = schema_of(mixed)
    dates = pd.DataFrame({"a": pd.Series([DAY, None], dtype="M8[ns]")})
    assert schema.encode(dates)[0, 0] == schema.categories[0][DAY] == schema.encode(mixed)[1, 0]


def test_differences_of_times_are_one_category_whatever_their_type() -> None:
    """Objects of Python, of NumPy and of pandas."""
    hour = datetime.timedelta(hours=1)
    columns = [
        pd.Series([hour], dtype=object),
        pd.Series([np.timedelta64(3600, "s")], dtype=object),
        pd.Series([pd.Timedelta(hour)], dtype=object),
        pd.Series([hour], dtype="m8[ns]"),
        pl.Series([hour]),
    ]
    for one in columns:
        assert schema_of(frame(one)).names == ("a_days",)
        schema = schema_of(frame(one), categorical=["a"])
        assert [schema.encode(frame(other))[0, 0] for other in columns] == [0.0] * len(columns)


def test_features_of_truth_values_are_known() -> None:
    """Of every kind of frame and of arrays, with gaps or without, if they are so in all blocks."""
    first = pd.DataFrame(
        {
            "plain": [True, False],
            "gaps": pd.array([True, None], dtype="boolean"),
            "objects": np.array([True, None], dtype=object),
            "numbers": [1, 0],
            "chosen": [True, False],
            "later": [None, None],
            "mixed": [True, False],
        }
    )
    later = first.assign(later=[True, False], mixed=[1, 0])
    assert schema_of(first, later, categorical=["chosen"]).truths == {0, 1, 2, 5}
    assert schema_of(pl.DataFrame({"a": [True, None], "b": [1, 0]})).truths == {0}
    assert schema_of(np.array([[True, False]])).truths == {0, 1}
    assert schema_of(np.array([[1.0, 0.0]])).truths == frozenset()


def test_unknown_categories_are_missing() -> None:
    """Those that were not seen, and what cannot be a category."""
    schema = schema_of(pd.DataFrame({"a": ["x", "y"]}))
    new = pd.DataFrame({"a": pd.Series(["y", "z", None, [1], 3.0], dtype=object)})
    np.testing.assert_array_equal(schema.encode(new)[:, 0], [1, *[np.nan] * 4])


def test_blocks_together_have_the_categories_of_the_whole() -> None:
    """In any order, with numbers of other types in between."""
    whole = pd.DataFrame({"a": ["c", "a", None, "b"], "n": [1, 2, 3, 4]})
    parts = [whole.iloc[[3]].astype({"n": "Int64"}), whole.iloc[[2]], whole.iloc[:2]]
    assert schema_of(*parts) == schema_of(whole)
    assert schema_of(*parts[::-1]) == schema_of(whole)


def test_arrays_have_no_names_and_chosen_categories() -> None:
    """By number; in frames by name or number."""
    X = np.array([[1.0, 30.0], [2.0, 10.0], [3.0, np.nan]])
    schema = schema_of(X, categorical=[1])
    assert schema == Schema(None, (None, {10.0: 0, 30.0: 1}))
    np.testing.assert_array_equal(schema.encode(X)[:, 1], [1, 0, np.nan])
    named = pd.DataFrame(X, columns=["p", "q"])
    assert schema_of(named, categorical=["q"]) == schema_of(named, categorical=[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_array_of_numbers_is_not_copied(dtype: type) -> None:
    """It stays what it is."""
    X = np.ones((5, 2), dtype=dtype)
    assert schema_of(X).encode(X) is X
    assert schema_of(X).encode(X.astype(int)).dtype == np.float64


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e200])
def test_numbers_that_are_too_large_are_refused(value: float) -> None:
    """In arrays and in frames, with the value."""
    for X in (np.array([[1.0], [np.nan], [value]]), pd.DataFrame({"a": [1.0, None, value]})):
        schema = schema_of(X)
        with pytest.raises(ValueError, match=f"has the value {value:g}".replace("+", r"\+")):
            schema.encode(X)


TABLE = {
    "float": [1.0, None, 3.0],
    "whole": [1, None, 3],
    "truth": [True, None, False],
    "word": ["a", None, "b"],
    "day": [datetime.date(2020, 1, 1), None, datetime.date(2020, 1, 3)],
    "time": [
        datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC),
        None,
        datetime.datetime(2020, 1, 3, tzinfo=datetime.UTC),
    ],
    "sum": [decimal.Decimal("1.5"), None, decimal.Decimal("2")],
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


def test_missing_values_of_a_dictionary_of_arrow_stay_missing() -> None:
    """In numbers they are an error that names the column, as is all that is no number."""
    words = pa.array(["a", None, "b"])
    for column in (words, words.dictionary_encode()):
        (found,) = columns_of(pa.table({"w": column}))
        assert list(found.categories) == ["a", None, "b"]
    model = SparseLinearRegressor()
    for column, message in [
        (
            pa.array([1.0, None, 2.0]).dictionary_encode(),
            "column 'c'.* has no value in 1 of 3 rows",
        ),
        (pa.array([1.0, None, 2.0]), "column 'c' has no value in 1 of 3 rows"),
        (pa.array(["a", "a", "b"]), "column 'c' of X has words, such as 'a'"),
        (pa.array([0, 86_400_000, 0], pa.date64()), "column 'c' of X has dates or times"),
        (pa.nulls(3), "column 'c' has no value in 3 of 3 rows"),
        (pa.array([datetime.time(1)] * 3), "column 'c' of X has dates or times"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(pa.table({"c": column}), [1.0, 2.0, 3.0])
    (empty,) = columns_of(pa.table({"n": pa.nulls(3)}))
    assert empty.is_empty


ONE = pd.DataFrame({"a": [1.0], "b": [2.0]})
BAD_BLOCKS = {
    "renamed": (ONE.rename(columns={"b": "c"}), r"new: \['c'\], missing: \['b'\]"),
    "more": (ONE.assign(c=0), r"new: \['c'\], missing: \[\]"),
    "fewer": (ONE[["a"]], r"new: \[\], missing: \['b'\]"),
    "reordered": (ONE[["b", "a"]], r"another order, \['b', 'a'\].*those seen first, \['a', 'b'\]"),
    "array": (np.ones((1, 3)), "an array of 3 columns, and the first one, with 2 columns"),
    "other types": (ONE.astype({"a": str}), r"'a' is of type float64 in one block.*later one"),
    "unread": (pl.LazyFrame({"a": [1.0], "b": [2.0]}), r"LazyFrame: give X\.collect\(\)"),
    "vector": (np.ones(3), r"X must have 2 dimensions .* got shape \(3,\)"),
    "twice": (pd.DataFrame([[1, 2]], columns=["a", "a"]), "X has 2 columns called 'a'"),
}


@pytest.mark.parametrize("case", BAD_BLOCKS)
def test_blocks_with_other_columns_are_refused(case: str) -> None:
    """The error names what is new and what is missing."""
    block, words = BAD_BLOCKS[case]
    with pytest.raises(ValueError, match=words):
        schema_of(ONE, block)


def test_other_bad_input() -> None:
    """Each error says what to do."""
    with pytest.raises(ValueError, match="the source of blocks is empty"):
        schema_of()
    with pytest.raises(ValueError, match=r"has \['z', 9\], which X does not have; it has 2"):
        schema_of(ONE, categorical=["z", 9])
    for odd in ("a", None, 3):
        with pytest.raises(ValueError, match="must be 'from_dtype' or a list"):
            SchemaMaker(odd)
    with pytest.raises(ValueError, match="feature 'a' has values that are neither numbers nor"):
        schema_of(pd.DataFrame({"a": [[1], [2]]}))
    with pytest.raises(ValueError, match="'a' was numeric .* name it in categorical_features"):
        schema_of(ONE).encode(pd.DataFrame({"a": ["x"], "b": [1.0]}))
    with pytest.raises(ValueError, match="X has 1 features, but 2 features are expected"):
        schema_of(ONE).encode(np.ones((3, 1)))


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
