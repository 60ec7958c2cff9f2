"""Prediction intervals: against the formula row by row, and as they cover new rows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cgboost import IntervalRegressor, MultiQuantileRegressor
from cgboost.exceptions import DataWarning, TrivialModelWarning
from cgboost.inspection import plot_coverage
from tests.effort import examples

FOLDS = KFold(5, shuffle=True, random_state=0)


def rows(seed: int, n_rows: int = 80, n_features: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose errors grow with a feature."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, n_features))
    return X, X[:, 0] + (0.1 + X[:, 1]) * rng.normal(size=n_rows)


@settings(max_examples=examples(12), deadline=None)
@given(seed=st.integers(0, 1000), coverage=st.sampled_from([0.5, 0.8, 0.9]), weighted=st.booleans())
def test_ends_are_those_of_the_formula(seed: int, coverage: float, weighted: bool) -> None:
    """CV+ from single fits of each fold, row by row; weights count as so many rows."""
    X, y = rows(seed, n_rows=40)
    new = np.random.default_rng(seed + 1).uniform(size=(15, X.shape[1]))
    weights = np.random.default_rng(seed).integers(0, 4, len(y)) if weighted else np.ones(len(y))
    model = IntervalRegressor(coverage, cv=FOLDS, alpha=0.01).fit(X, y, weights)
    tail, counts = (1.0 - coverage) / 2, np.flatnonzero(weights)
    levels = [tail, 1.0 - tail]
    low, high, copies = [], [], []
    for train, held in FOLDS.split(counts):
        own = MultiQuantileRegressor(levels, alpha=0.01, noncrossing="box")
        own.fit(X[counts[train]], y[counts[train]], weights[counts[train]])
        at_held, at_new = own.predict(X[counts[held]]), own.predict(new)
        target = y[counts[held]]
        scores = np.maximum(at_held[:, 0] - target, target - at_held[:, 1])
        np.testing.assert_allclose(model.conformity_scores_[counts[held]], scores, atol=1e-9)
        low.append(at_new[:, :1] - scores)
        high.append(at_new[:, 1:] + scores)
        copies.append(weights[counts[held]])
    times = np.concatenate(copies).astype(int)
    lower, upper = (np.sort(np.repeat(np.hstack(v), times, axis=1), axis=1) for v in (low, high))
    rank = int(np.ceil(round(coverage * (times.sum() + 1), 9)))
    ends = np.stack([lower[:, times.sum() - rank], upper[:, rank - 1]], axis=1)
    crossed = ends[:, 0] > ends[:, 1]
    ends[crossed] = ends[crossed].mean(axis=1, keepdims=True)
    found = model.predict_interval(new)
    assert found.shape == (15, 2)
    np.testing.assert_allclose(found, ends, atol=1e-9)
    middle = model.predict(new)
    assert ((found[:, 0] <= middle) & (middle <= found[:, 1])).all()


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_new_rows_are_covered_as_often_as_is_said(coverage: float) -> None:
    """On the mean of twenty training sets within 2.5 points, and where errors are large, too."""
    inside, wide = [], []
    for seed in range(20):
        X, y = rows(seed, n_rows=2300)
        model = IntervalRegressor(coverage, alpha=0.003).fit(X[:300], y[:300])
        low, high = model.predict_interval(X[300:]).T
        own = (low <= y[300:]) & (y[300:] <= high)
        inside.append(own.mean())
        wide.append(own[X[300:, 1] > 0.7].mean())
    assert abs(np.mean(inside) - coverage) < 0.025
    assert abs(np.mean(wide) - coverage) < 0.04


def test_a_report_counts_rows_and_groups() -> None:
    """As counted by hand, with the limits of the binomial distribution; weights are copies."""
    X, y = rows(1, n_rows=300)
    model = IntervalRegressor(alpha=0.01).fit(X[:100], y[:100])
    X, y, groups = X[100:], y[100:], np.where(X[100:, 1] > 0.5, "noisy", "calm")
    report = model.coverage_report(X, y, groups)
    low, high = model.predict_interval(X).T
    inside = (low <= y) & (y <= high)
    table = report.to_frame()
    assert list(table["group"]) == ["all", "calm", "noisy"]
    for line, own in zip(table.to_dict("records"), (groups != "", *np.eye(2)), strict=False):
        own = groups != "" if line["group"] == "all" else groups == line["group"]
        assert line["rows"] == own.sum()
        assert line["coverage"] == pytest.approx(inside[own].mean())
        assert line["length"] == pytest.approx((high - low)[own].mean())
        limits = binomtest(int(inside[own].sum()), int(own.sum())).proportion_ci(method="exact")
        assert (line["low"], line["high"]) == pytest.approx(tuple(limits))
    assert "nominal coverage 90.0%" in str(report)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = model.coverage_report(X, y, groups, sample_weight=weights).table
    copied = model.coverage_report(*(np.repeat(a, weights, axis=0) for a in (X, y, groups))).table
    np.testing.assert_allclose(weighted["coverage"], copied["coverage"])
    np.testing.assert_allclose(weighted["rows"], copied["rows"])
    drawn = plot_coverage(model, X, y, groups).axes[0]
    assert [text.get_text().split("\n")[0] for text in drawn.get_yticklabels()] == [
        "all",
        "calm",
        "noisy",
    ]


def test_too_few_rows_for_a_coverage_are_infinite_intervals() -> None:
    """With 9 rows 0.9 is the largest coverage, of 8 rows and of weights it is said."""
    X, y = rows(2, n_rows=9)
    assert np.isfinite(IntervalRegressor(cv=3, alpha=0.1).fit(X, y).predict_interval(X)).all()
    model = IntervalRegressor(cv=3, alpha=0.1)
    with pytest.warns(DataWarning, match="coverage=0.9 needs at least 9 rows, got 8"):
        model.fit(X[:8], y[:8])
    assert np.isinf(model.predict_interval(X)).all()
    assert np.isfinite(model.predict(X)).all()
    assert model.coverage_report(X, y).table["coverage"][0] == 1.0


@pytest.mark.parametrize("coverage", [1e-9, 0.999, 0.9999])
def test_coverages_near_0_and_1_are_fitted_from_few_rows(coverage: float) -> None:
    """With 20 rows a coverage of 0.999 is infinite intervals, no error, and the median is there."""
    X, y = rows(2, n_rows=20)
    model = IntervalRegressor(coverage)
    if coverage > 0.5:
        with pytest.warns(DataWarning, match="rows, got 20: intervals are infinite"):
            model.fit(X, y)
        assert np.isinf(model.predict_interval(X)).all()
    else:
        assert np.isfinite(model.fit(X, y).predict_interval(X)).all()
    assert np.isfinite(model.predict(X)).all()
    assert model.converged_


def test_rows_that_are_all_alike_have_intervals_of_length_zero() -> None:
    """One y, or one row many times."""
    for X in (rows(3, n_rows=30)[0], np.ones((30, 2))):
        with pytest.warns(TrivialModelWarning):
            model = IntervalRegressor().fit(X, np.full(30, 7.0))
        np.testing.assert_allclose(model.predict_interval(X), 7.0)


def test_groups_are_held_out_together_and_rows_of_weight_zero_not_at_all() -> None:
    """Fit takes groups for such a cv; fold_ says where each row was held out."""
    X, y = rows(4)
    groups, weights = np.arange(len(y)) // 8, np.ones(len(y))
    weights[[3, 50]] = 0.0
    model = IntervalRegressor(cv=GroupKFold(5)).fit(X, y, weights, groups=groups)
    assert (model.fold_[[3, 50]] == -1).all()
    assert np.isnan(model.conformity_scores_[[3, 50]]).all()
    for group in np.unique(groups):
        assert len(set(model.fold_[(groups == group) & (weights > 0)])) == 1
    X[3], y[50] = 1e6, -1e6
    again = IntervalRegressor(cv=GroupKFold(5)).fit(X, y, weights, groups=groups)
    np.testing.assert_array_equal(model.predict_interval(X[:3]), again.predict_interval(X[:3]))


def test_it_is_found_in_a_pipeline() -> None:
    """Intervals of scaled rows are those of the pipeline's last step."""
    X, y = load_diabetes(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), IntervalRegressor()).fit(X, y)
    last = pipeline[-1].predict_interval(pipeline[:-1].transform(X))
    assert last.shape == (442, 2)
    inside = float(np.mean((last[:, 0] <= y) & (y <= last[:, 1])))
    drawn = plot_coverage(pipeline, X, y).axes[0]
    assert drawn.containers[0][0].get_xdata().tolist() == [inside]
    assert pipeline.score(X, y) > 0.4


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"coverage": 1.0}, "coverage must be a finite number > 0 and < 1, got 1.0"),
        ({"coverage": 0.0}, "coverage must be a finite number > 0 and < 1, got 0.0"),
        ({"coverage": 1e-17}, "coverage must be further from 0 and 1, got 1e-17"),
        ({"coverage": np.nan}, "coverage must be a finite number"),
        ({"cv": 100}, "cv=100 needs at least 100 rows of positive weight, got n_samples=80"),
        ({"cv": ShuffleSplit(3, random_state=0)}, "must hold out every row once, but row"),
        ({"cv": iter([])}, "must hold out every row once, but row 0 is held out 0 times"),
        (
            {"cv": [(np.arange(80), np.arange(40)), (np.arange(80), np.arange(40, 80))]},
            "cv, a list, must train each fold without .*row 0 is in both parts of one",
        ),
    ],
    ids=range(8),
)
def test_what_it_does_not_take(given: dict[str, Any], words: str) -> None:
    """Errors name the parameter and its value, and leave nothing half-fitted."""
    X, y = rows(5)
    model = IntervalRegressor(**given)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
    assert not hasattr(model, "model_")
    with pytest.raises(ValueError, match=r"groups must have shape \(80,\), got \(5,\)"):
        IntervalRegressor(cv=GroupKFold(5)).fit(X, y, groups=np.arange(5))


def test_another_coverage_counts_from_the_next_fit_on() -> None:
    """Intervals, the report and its nominal coverage are those of the fit."""
    X, y = rows(7)
    model = IntervalRegressor(0.8).fit(X, y)
    before, report = model.predict_interval(X), str(model.coverage_report(X, y))
    model.set_params(coverage=0.5)
    np.testing.assert_array_equal(model.predict_interval(X), before)
    assert str(model.coverage_report(X, y)) == report
    assert model.coverage_report(X, y).nominal == pytest.approx(0.8, rel=1e-15)
    narrow = model.fit(X, y).predict_interval(X)
    assert np.ptp(narrow, axis=1).mean() < np.ptp(before, axis=1).mean()


def test_a_warning_of_a_fold_points_at_the_line_of_the_user() -> None:
    """Not at one of joblib, which fits the folds."""
    X, y = rows(8)
    with pytest.warns(ConvergenceWarning) as caught:
        IntervalRegressor(tol=1e-14).fit(X, y)
    assert len(caught) > 1
    assert {warning.filename for warning in caught} == {__file__}


def test_groups_of_a_report_may_be_dates() -> None:
    """They print as dates; the order is theirs."""
    X, y = rows(6)
    days = np.array(["2026-01-02", "2026-01-01"], dtype="datetime64[ns]")[np.arange(80) % 2]
    report = IntervalRegressor().fit(X, y).coverage_report(X, y, days)
    assert [str(name)[:10] for name in report.table["group"]] == ["all", "2026-01-01", "2026-01-02"]
    assert report.table["rows"].tolist() == [80, 40, 40]


def test_a_report_refuses_rows_without_a_match() -> None:
    """Lengths, missing y, weights of 0, and models without intervals."""
    X, y = rows(6)
    model = IntervalRegressor().fit(X, y)
    for (target, groups, weights), words in {
        (tuple(y[:5]), None, None): "y must have an entry for each of 80 rows, got 5",
        (tuple(np.full(80, np.nan)), None, None): "y must be finite, got",
        (tuple(y), (1, 2), None): "groups must have shape",
        (tuple(y), (None, *"a" * 79), None): "name or a number for each row, got None in row 0",
        (tuple(y), (*np.ones(79), float("nan")), None): "each row, got nan in row 79",
        (tuple(y), None, tuple(np.zeros(80))): "positive weight|not all be 0|weight",
    }.items():
        with pytest.raises(ValueError, match=words):
            model.coverage_report(X, target, groups, weights)
    mixed = np.array([1, *"a" * 79], dtype=object)
    with pytest.raises(ValueError, match="groups must be all names or all numbers, got int and st"):
        model.coverage_report(X, y, mixed)
    with pytest.raises(ValueError, match="must be an IntervalRegressor, got a LinearRegression"):
        plot_coverage(LinearRegression(), X, y)
