"""Dates as features: days, month, weekday and hour of every column of dates of a frame.

They follow from the value alone, so that training and predicting see the same; a time of a time
zone counts as that of UTC, whatever zone or type a column has.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.tables.frames import FrameColumn, filled, frame_of, has_times, is_frame
from cgboost.tables.table_columns import DATES, TableColumn, column_of_frame, is_missing, plain_time

DAY = 86_400_000_000
"""Microseconds of a day."""

LENGTHS = (datetime.timedelta, np.timedelta64)
"""Types of lengths of time."""

PARTS = ("days", "month", "weekday", "hour")
"""What a date tells: days since 1970-01-01 with their fractions; 1 to 12; 0 (Monday) to 6; 0 to 23.
A feature is called as its column, with ``_month``."""


def with_date_features(
    X: Any,
    kept: Collection[Any] = (),
    *,
    parts: Collection[str] = PARTS,
    expected: Collection[Any] = (),
    lengths: Collection[str] | None = None,
) -> Any:
    """A frame with numbers in the place of its dates and times; anything else as it is.

    Parameters
    ----------
    X : data frame or array
    kept : collection of str or int
        Columns that stay as they are, by names or numbers.
    parts : collection of str
        Of :data:`PARTS`; of a length of time there are days only.
    expected : collection of str
        Features that a model knows: columns among them stay as they are, and a column without any
        value is one of dates if its days are among them, whatever its type is.
    lengths : collection of str or None
        Columns that must have lengths of time, where others must have dates; None: either.

    Raises
    ------
    ValueError
        If a feature would be called as another column is, ``kept`` has numbers and some columns
        do not stay, names of columns are no text, or a column has no dates where the model knows
        features of its dates.
    """
    if not is_frame(X):
        return X
    frame = frame_of(X)
    names = frame.columns
    kept_names = {names[int(one)] if _is_number_of(one, names) else one for one in kept}
    order: list[str] = []
    made: dict[str, Vector] = {}
    for own in frame.iter_columns():
        stays = own.name in kept_names or own.name in expected
        new = {} if stays else _features_of(own, parts, expected, lengths)
        lost = [] if stays or new else _expected_of(own.name, parts, expected)
        if lost and not {*lost} & {*frame.columns}:
            raise ValueError(
                f"feature {own.name!r} had dates or lengths of time in fit ({lost}), and is of "
                f"type {column_of_frame(own).described} now: give it the type that it had; "
                "pandas.to_datetime makes dates of text"
            )
        for feature in new:
            if feature in frame.columns:
                raise ValueError(
                    f"the dates of feature {own.name!r} would be a feature {feature!r}, which X "
                    "has too: give one of them another name"
                )
        made |= new
        order += new or [own.name]
    if not made:
        return X
    odd = [name for name in frame.columns if not isinstance(name, str)]
    if odd:
        raise ValueError(
            f"X has dates, whose features are called as their columns are, and the column "
            f"{odd[0]!r}, whose name is no text: name the columns, "
            "for example with X.columns.astype(str)"
        )
    if any(isinstance(one, Integral) for one in kept):
        raise ValueError(
            f"categorical_features={[*kept]} has numbers of features, and X has dates, each of "
            "which is several features: give their names"
        )
    numbers = nw.from_dict(made, backend=frame.implementation).to_native()
    if hasattr(numbers, "index"):  # narwhals joins rows of pandas by their index
        numbers.index = X.index
    parted: Any = [frame, nw.from_native(numbers, eager_only=True)]
    return nw.concat(parted, how="horizontal").select(order).to_native()


def _is_number_of(one: Any, names: list[str]) -> bool:
    """Whether this is the number of a column that has a name."""
    return isinstance(one, Integral) and one not in names and 0 <= int(one) < len(names)


def _features_of(
    column: FrameColumn,
    parts: Collection[str],
    expected: Collection[Any],
    lengths: Collection[str] | None = None,
) -> dict[str, Vector]:
    """The features of a column by their names, if it is one of dates; else none."""
    name = str(column.name)
    known = _expected_of(name, parts, expected)
    if not known and not _may_be_dates(column):
        return {}
    own = _starts_of_periods(column_of_frame(column))
    if known and own.is_empty:
        return dict.fromkeys(known, np.full(len(own.values), np.nan))
    mixed = any(_are_lengths(own)) and not all(_are_lengths(own))
    if not own.has_times or own.is_categorical or mixed:
        return {}
    if known and lengths is not None and any(_are_lengths(own)) != (name in lengths):
        kinds = ("lengths of time", "dates") if name in lengths else ("dates", "lengths of time")
        raise ValueError(
            f"feature {name!r} had {kinds[0]} in fit, and has {kinds[1]} now: give it the type "
            "that it had"
        )
    return {f"{name}_{part}": values for part, values in date_parts(own, parts).items()}


def _expected_of(name: Any, parts: Collection[str], expected: Collection[Any]) -> list[str]:
    """The features that a model knows of the dates, or lengths of time, of a column."""
    features = [f"{name}_{part}" for part in PARTS if part in parts]
    if all(feature in expected for feature in features):
        return features
    days = f"{name}_days"
    return [days] if days in features and days in expected else []


def _starts_of_periods(column: TableColumn) -> TableColumn:
    """A column with the first moments of pandas' periods in their place."""
    if not any(_is_period(kind) for kind in column.types) and not _has_periods(column.dtype):
        return column
    starts = [value.start_time if _is_period(type(value)) else value for value in column.values]
    if _has_periods(column.dtype):
        plain = [plain_time(start) for start in starts]
        return replace(column, values=np.array(plain, dtype="M8[us]"))
    return replace(column, values=filled(starts))


def _is_period(kind: type) -> bool:
    return kind.__name__ == "Period"


def _has_periods(dtype: str) -> bool:
    return dtype.startswith("period[")


def date_parts(column: TableColumn, parts: Collection[str] = PARTS) -> dict[str, Vector]:
    """The features of a column of dates, times or lengths of time; nan where there is none."""
    values = column.values
    if values.dtype.kind == "O":
        plain = [plain_time(value) for value in values]
        values = np.array(plain, dtype="m8[us]" if all(_are_lengths(column)) else "M8[us]")
    missing = np.isnat(values)
    since = np.where(missing, 0, values.astype(np.int64))
    day, within = np.divmod(since, DAY)
    made: dict[str, Any] = {"days": day + within / DAY}
    if values.dtype.kind == "M":
        months = day.astype("M8[D]").astype("M8[M]").astype(np.int64)
        made |= {"month": months % 12 + 1, "weekday": (day + 3) % 7, "hour": within * 24 // DAY}
    return {
        part: np.where(missing, np.nan, made[part]).astype(np.float64)
        for part in PARTS
        if part in parts and part in made
    }


def _are_lengths(column: TableColumn) -> list[bool]:
    """Of each type of value, whether it is one of lengths of time."""
    return [issubclass(kind, LENGTHS) for kind in column.types]


def _may_be_dates(column: FrameColumn) -> bool:
    """Whether a column is one of dates; of objects the first value decides whether to look."""
    own = getattr(column.to_native(), "dtype", None)
    if has_times(column) or _has_periods(str(own)):
        return True
    if column.dtype != nw.Object:
        return False
    first = next((value for value in column.to_list() if not is_missing(value)), None)
    return isinstance(first, DATES) or _is_period(type(first))


class DateFeatures(TransformerMixin, BaseEstimator):
    """Numbers in the place of the dates of a data frame, for models that take numbers alone.

    Of every column of dates or times there are the days since 1970-01-01 with their fractions, the
    month (1 to 12), the weekday (0 to 6 from Monday) and the hour (0 to 23); of a column of lengths
    of time there are the days; a period of pandas counts as its first moment. They are
    called as the column, ``when_days``, ``when_month`` and so
    on, and are nan where the date is missing. They follow from the date alone: training rows and
    new rows get the same. A time with a time zone counts as that of UTC, whatever its zone is; for
    local hours, leave the zone out before (``.dt.tz_localize(None)`` in pandas).

    Estimators that take tables as they are, transform regression, linear trees and rule sets, do
    this by themselves.

    Parameters
    ----------
    features : sequence of str, default=("days", "month", "weekday", "hour")
        Which of them to make.

    Attributes
    ----------
    feature_names_in_, n_features_in_
        Of the frame that it was fitted to.
    feature_names_out_ : list of str
        Of the frame that it makes.
    dates_, lengths_ : list of str
        Columns of dates and times, and of lengths of time.

    Examples
    --------
    >>> import pandas as pd
    >>> from cgboost.sources import DateFeatures
    >>> frame = pd.DataFrame({"when": pd.to_datetime(["2024-02-29 12:00", None]), "size": [1, 2]})
    >>> DateFeatures(("weekday", "hour")).fit_transform(frame)
       when_weekday  when_hour  size
    0           3.0       12.0     1
    1           NaN        NaN     2
    """

    def __init__(self, features: Sequence[str] = PARTS) -> None:
        self.features = features

    def fit(self, X: Any, y: Any = None) -> DateFeatures:
        """Note which columns are dates.

        Parameters
        ----------
        X : data frame of shape (n_rows, n_features)
        y : None
            Is not used.

        Raises
        ------
        ValueError
            If X is no data frame, or ``features`` has others than those that there are.
        """
        own: Any = self.features
        listed = isinstance(own, Collection) and not isinstance(own, str) and len(own) > 0
        if not listed or any(part not in PARTS for part in own):
            raise ValueError(f"features must be some of {list(PARTS)}, got {self.features!r}")
        names = self._columns(X)
        made = frame_of(with_date_features(X, parts=self.features))
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        self.feature_names_out_ = [str(name) for name in made.columns]
        gone = [name for name in names if name not in self.feature_names_out_]
        own = {name: frame_of(X).get_column(name) for name in gone}
        self.lengths_ = [name for name in gone if any(_are_lengths(column_of_frame(own[name])))]
        self.dates_ = [name for name in gone if name not in self.lengths_]
        return self

    def transform(self, X: Any) -> Any:
        """The frame with numbers in the place of its dates, of the same library.

        Parameters
        ----------
        X : data frame of shape (n_rows, n_features)

        Returns
        -------
        data frame of shape (n_rows, n_features_out)

        Raises
        ------
        ValueError
            If the columns are others than those of ``fit``, other ones have dates, or lengths of
            time are where dates were.
        """
        check_is_fitted(self)
        known = self.feature_names_out_
        if (names := self._columns(X)) != list(self.feature_names_in_):
            raise ValueError(
                f"X has columns {names}, and fit had {list(self.feature_names_in_)}: give the same"
            )
        kept = [column for column in frame_of(X).iter_columns() if column.name in known]
        odd = [str(one.name) for one in kept if _features_of(one, self.features, ())]
        if odd:
            raise ValueError(
                f"X has dates in other columns than in fit ({odd[:5]}): give every column the type "
                "that it had"
            )
        return with_date_features(X, parts=self.features, expected=known, lengths=self.lengths_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the features, shape (n_features_out,)."""
        check_is_fitted(self)
        return np.array(self.feature_names_out_, dtype=object)

    @staticmethod
    def _columns(X: Any) -> list[str]:
        if not is_frame(X):
            raise ValueError(
                f"X must be a data frame, whose columns have types, got a {type(X).__name__}"
            )
        return [str(name) for name in frame_of(X).columns]
