"""Dates as features: what they are, of every library; models and the transformer see the same."""

import datetime
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from cgboost import LinearTreeBoostingRegressor, RuleSetClassifier, TransformRegressor
from cgboost.inspection import contributions
from cgboost.inspection.effects import effects
from cgboost.sources import DateFeatures
from cgboost.tables.date_features import PARTS, with_date_features
from tests.effort import examples

TIMES = st.datetimes(datetime.datetime(1800, 1, 1), datetime.datetime(2200, 1, 1))
NAMES = ["size", "when_days", "when_month", "when_weekday", "when_hour", "word"]


def table(seed: int = 0, n_rows: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """A number, dates with gaps, and words; y follows the weekday and the hour."""
    rng = np.random.default_rng(seed)
    minutes = pd.to_timedelta(rng.integers(0, 400 * 24 * 60, n_rows), unit="min")
    when = pd.Series(pd.Timestamp("2023-01-01") + minutes)
    y = (
        2.0 * (when.dt.day_of_week >= 5)
        + np.sin(when.dt.hour / 4.0)
        + 0.1 * rng.normal(size=n_rows)
    )
    when[::9] = pd.NaT
    words = rng.choice(["a", "b"], n_rows)
    return pd.DataFrame(
        {"size": rng.normal(size=n_rows), "when": when, "word": words}
    ), y.to_numpy()


@settings(max_examples=examples(50), deadline=None)
@given(times=st.lists(TIMES, min_size=1, max_size=5))
def test_features_are_those_of_python(times: list[datetime.datetime]) -> None:
    """Days, month, weekday and hour of every time, before 1970 too; nan for a missing one."""
    made = with_date_features(pl.DataFrame({"t": [*times, None]}))
    first = datetime.datetime(1970, 1, 1)
    day = datetime.timedelta(days=1)
    wanted = [[(t - first) / day, t.month, t.weekday(), t.hour] for t in times]
    found = made.to_numpy()
    np.testing.assert_allclose(found[:-1], wanted, rtol=1e-12, atol=1e-9)
    assert np.isnan(found[-1]).all()
    assert made.columns == [f"t_{part}" for part in PARTS]


def test_every_library_and_zone_tell_the_same() -> None:
    """Of pandas, polars, Arrow and objects; a time of a zone is that of UTC; the index stays."""
    frame, _ = table()
    frame = frame.sample(frac=1.0, random_state=1)
    made = with_date_features(frame)
    assert made.columns.tolist() == NAMES
    assert made.index.equals(frame.index)
    numbers = made[NAMES[:-1]].to_numpy()
    zones = frame.assign(when=frame["when"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    objects = frame.assign(when=frame["when"].astype(object))
    for other in (zones, objects, pl.from_pandas(frame), pl.from_pandas(zones).to_arrow()):
        found = pl.DataFrame(with_date_features(other))
        np.testing.assert_array_equal(found.select(NAMES[:-1]).to_numpy(), numbers)


@pytest.mark.parametrize(
    "model", [LinearTreeBoostingRegressor(n_estimators=20), TransformRegressor()], ids=repr
)
def test_models_see_the_same_in_training_and_predictions(model: Any) -> None:
    """As fitted to the features themselves, stored too; a column without any value is missing."""
    frame, y = table()
    fitted, apart = clone(model).fit(frame, y), clone(model).fit(with_date_features(frame), y)
    found = fitted.predict(frame)
    np.testing.assert_array_equal(found, apart.predict(with_date_features(frame)))
    np.testing.assert_array_equal(found, fitted.predict(with_date_features(frame)))
    np.testing.assert_array_equal(found, pickle.loads(pickle.dumps(fitted)).predict(frame))
    assert np.corrcoef(found, y)[0, 1] > 0.8
    assert fitted.feature_names_in_.tolist() == NAMES
    one = frame[9:10].astype({"when": object})  # a missing date, of a column without any value
    np.testing.assert_array_equal(fitted.predict(one), found[9:10])
    with pytest.raises(ValueError, match=r"feature 'when' had dates .* of type str.*to_datetime"):
        fitted.predict(frame.assign(when="2024-01-01"))


@pytest.mark.parametrize("unit", ["h", "M", "Y"])
def test_periods_are_their_first_moments(unit: str) -> None:
    """Of pandas' type and as objects, with gaps and without any value, after 2262 too."""
    frame, _ = table(n_rows=40)
    starts = frame["when"].dt.to_period(unit)
    wanted = with_date_features(frame.assign(when=starts.dt.to_timestamp()))
    for other in (starts, starts.astype(object)):
        pd.testing.assert_frame_equal(with_date_features(frame.assign(when=other)), wanted)
    nothing = with_date_features(frame.assign(when=pd.PeriodIndex([pd.NaT] * 40, freq=unit)))
    assert nothing.columns.tolist() == NAMES
    assert nothing[NAMES[1:5]].isna().to_numpy().all()
    far = with_date_features(pd.DataFrame({"t": pd.PeriodIndex(["3000-01-01"], freq=unit)}))
    assert far["t_days"].tolist() == [(datetime.date(3000, 1, 1) - datetime.date(1970, 1, 1)).days]


def test_what_has_no_features_of_dates_is_refused() -> None:
    """Columns without names, dates beyond microseconds, and times beyond the years of UTC."""
    frame, y = table(n_rows=40)
    unnamed = frame.set_axis([0, 1, 2], axis=1)
    with pytest.raises(ValueError, match="the column 0, whose name is no text"):
        TransformRegressor().fit(unnamed, y)
    far = np.array(["300000-12-31", "NaT"], dtype="M8[s]")
    with pytest.raises(ValueError, match="300000-12-31T00:00:00 is more than 290000 years"):
        with_date_features(pd.DataFrame({"t": far}))
    west = datetime.timezone(datetime.timedelta(hours=-5))
    end = pd.Series([datetime.datetime(9999, 12, 31, 23, tzinfo=west)], dtype=object)
    with pytest.raises(ValueError, match="in none of the years 1 to 9999 of UTC"):
        with_date_features(pd.DataFrame({"t": end}))


def test_contributions_and_effects_have_the_names() -> None:
    """Of the features of dates, with their values."""
    frame, y = table()
    fitted = LinearTreeBoostingRegressor(n_estimators=5).fit(frame, y)
    told = contributions(fitted, frame[:9])
    assert list(told.feature_names) == NAMES
    assert told.data.shape == told.values.shape
    total = told.values.sum(axis=1) + told.base_values
    np.testing.assert_allclose(total, fitted.predict(frame[:9]))
    assert effects(fitted, frame[:9], ["when_hour"])[0].feature == "when_hour"


def test_dates_may_be_categories_and_rules() -> None:
    """Where they are named; numbers of columns beside dates are refused."""
    frame, y = table()
    named = TransformRegressor(categorical_features=["when", "word"]).fit(frame, y)
    assert named.feature_names_in_.tolist() == ["size", "when", "word"]
    with pytest.raises(ValueError, match=r"categorical_features=\[2\] has numbers of features"):
        TransformRegressor(categorical_features=[2]).fit(frame, y)
    with pytest.raises(ValueError, match="would be a feature 'when_hour', which X has"):
        TransformRegressor().fit(frame.assign(when_hour=1.0), y)
    rules = RuleSetClassifier(max_rules=2).fit(frame, frame["when"].dt.day_of_week >= 5)
    assert "when_weekday" in str(rules.rules_)


def test_the_transformer_makes_them_for_other_models() -> None:
    """In a pipeline; it checks its columns, and knows the names of what it makes."""
    frame, y = table()
    whole = frame.drop(columns="word").dropna()
    own = DateFeatures(("weekday", "hour"))
    model = make_pipeline(own, LinearRegression()).fit(whole, y[whole.index])
    assert model[0].get_feature_names_out().tolist() == ["size", "when_weekday", "when_hour"]
    assert model[1].feature_names_in_.tolist() == ["size", "when_weekday", "when_hour"]
    with pytest.raises(ValueError, match=r"feature 'when' had dates .* float64 now"):
        model[0].transform(whole.assign(when=1.0))
    changed = DateFeatures().fit(whole)
    with pytest.raises(ValueError, match="'when' had dates in fit, and has lengths of t"):
        changed.transform(whole.assign(when=whole["when"] - whole["when"].min()))
    with pytest.raises(ValueError, match="dates in other columns than in fit"):
        changed.transform(whole.assign(size=whole["when"]))
    with pytest.raises(ValueError, match=r"X has columns \['when'\], and fit had \['size', 'when'"):
        model[0].transform(whole[["when"]])
    with pytest.raises(ValueError, match=r"features must be some of \['days', 'month'"):
        DateFeatures(("year",)).fit(whole)
    for wrong in (3, (), None, "days"):
        with pytest.raises(ValueError, match="features must be some of"):
            DateFeatures(wrong).fit(whole)  # type: ignore[arg-type]
    missing = own.transform(whole.assign(when=None))
    assert missing[["when_weekday", "when_hour"]].isna().to_numpy().all()
    with pytest.raises(ValueError, match="must be a data frame"):
        DateFeatures().fit(whole.to_numpy())


def test_lengths_of_time_are_no_dates_where_both_are_days() -> None:
    """A transformer of days alone tells them apart, and which columns have which."""
    dates = pd.DataFrame({"t": pd.to_datetime(["2024-01-02", None])})
    lengths = pd.DataFrame({"t": pd.to_timedelta([1.5, None], unit="D")})
    nothing = pd.DataFrame({"t": [None, None]})
    for own, other, kinds in (
        (dates, lengths, "had dates in fit, and has lengths of time now"),
        (lengths, dates, "had lengths of time in fit, and has dates now"),
    ):
        made = DateFeatures(["days"]).fit(own)
        assert (made.dates_, made.lengths_) == ((["t"], []) if own is dates else ([], ["t"]))
        assert made.transform(own)["t_days"].notna().tolist() == [True, False]
        assert made.transform(nothing)["t_days"].isna().all()
        with pytest.raises(ValueError, match=f"feature 't' {kinds}"):
            made.transform(other)
