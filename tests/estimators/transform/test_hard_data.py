"""Transform regression with data that end early, and with sources that break."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from cgboost import TransformClassifier, TransformRegressor
from tests.estimators.transform.transform_data import outputs

BOTH = [TransformRegressor, TransformClassifier]
RNG = np.random.default_rng(0)
N_ROWS = 300
X = RNG.normal(size=N_ROWS)
GROUP = RNG.choice(list("abc"), N_ROWS)
Y = X + 2 * (GROUP == "a") + 0.1 * RNG.normal(size=N_ROWS)
FRAME = pd.DataFrame({"x": X, "group": GROUP})


def quiet(kind: type, data: Any, y: Any, **parameters: Any) -> Any:
    """A fit of few stages, in which a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return kind(**{"n_estimators": 3} | parameters).fit(data, y)


CATEGORIES = {
    "object": pd.Series(GROUP, dtype=object),
    "string": pd.Series(GROUP, dtype="string"),
    "str": pd.Series(GROUP, dtype="str"),
    "category": pd.Series(GROUP).astype("category"),
    "number": pd.Series(np.searchsorted(list("abc"), GROUP)).astype("category"),
    "boolean": pd.Series(np.where(GROUP == "a", True, None), dtype="boolean"),
    "Int64": pd.Series(np.where(GROUP == "a", 1, None), dtype="Int64"),
    "polars": pl.Series(GROUP),
    "polars enum": pl.Series(GROUP, dtype=pl.Enum(list("abc"))),
    "polars boolean": pl.Series([True if value == "a" else None for value in GROUP]),
}


@pytest.mark.parametrize("case", CATEGORIES)
def test_columns_of_every_kind_are_used(case: str) -> None:
    """Categories, nullable numbers and truth values of pandas and polars."""
    column = CATEGORIES[case]
    frame = (pl if isinstance(column, pl.Series) else pd).DataFrame({"x": X, "group": column})
    model = quiet(TransformRegressor, frame, Y)
    assert model.score(frame, Y) > 0.98
    np.testing.assert_array_equal(model.feature_names_in_, ["x", "group"])
    assert model.predict(frame[:1]).shape == (1,)


USELESS = {
    "all missing": np.full(N_ROWS, np.nan),
    "no category": pd.Series([None] * N_ROWS, dtype=object),
    "constant": np.full(N_ROWS, 0.1),
    "one category": pd.Series(["z"] * N_ROWS),
    "one and missing": np.where(np.arange(N_ROWS) % 2, 0.1, np.nan),
    "every value a category": pd.Series([str(k) for k in range(N_ROWS)]),
}


@pytest.mark.parametrize("case", USELESS)
@pytest.mark.parametrize("kind", BOTH)
def test_columns_without_information_do_no_harm(kind: type, case: str) -> None:
    """Alone they leave the constant or nearly so; beside others they are not used."""
    y = Y if kind is TransformRegressor else (Y > 1).astype(int)
    alone = quiet(kind, pd.DataFrame({"useless": USELESS[case]}), y)
    assert alone.n_iter_ == 0
    assert alone.stop_reason_ == "no_column"
    assert alone.stages_ == []
    assert not alone.importances_.any()
    assert np.ptp(outputs(alone, pd.DataFrame({"useless": USELESS[case]}))) == 0.0
    frame = FRAME.assign(useless=USELESS[case])
    model = quiet(kind, frame, y)
    assert np.isfinite(outputs(model, frame)).all()
    used = {term.feature for stage in model.stages_ for _, term in stage.terms}
    assert {0, 1} <= used
    assert 2 not in used


@pytest.mark.parametrize("kind", BOTH)
def test_unseen_categories_and_missing_values_are_predicted(kind: type) -> None:
    """Unseen categories as missing ones; those as the mean over all, if none were missing."""
    y = Y if kind is TransformRegressor else (Y > 1).astype(int)
    model = quiet(kind, FRAME, y)
    unseen = outputs(model, FRAME.assign(group="new"))
    np.testing.assert_array_equal(unseen, outputs(model, FRAME.assign(group=None)))
    low, high = (outputs(model, FRAME.assign(group=name)).mean() for name in "ba")
    assert low < unseen.mean() < high
    nothing = pd.DataFrame({"x": [np.nan, 1e9, -1e9], "group": [None, "a", "zz"]})
    assert np.isfinite(outputs(model, nothing)).all()


@pytest.mark.parametrize("kind", BOTH)
def test_an_empty_holdout_part(kind: type) -> None:
    """A tiny share, or rows that are all equal: a price for coefficients decides instead."""
    y = Y if kind is TransformRegressor else (Y > 1).astype(int)
    tiny = quiet(kind, FRAME, y, validation_fraction=1e-12)
    none = quiet(kind, FRAME, y, early_stopping=False)
    np.testing.assert_array_equal(outputs(tiny, FRAME), outputs(none, FRAME))
    assert tiny.n_iter_ > 0
    same = quiet(kind, np.ones((50, 2)), np.arange(50) % 2)
    assert np.ptp(outputs(same, np.ones((50, 2)))) == 0.0


def test_an_outlier_in_a_feature_leaves_the_others_alone() -> None:
    """Other values of the same feature are still told apart."""
    far = X.copy()
    far[0] = 1e12
    assert quiet(TransformRegressor, far[:, None], X).score(far[1:, None], X[1:]) > 0.95


class Broken:
    """A source that raises when it is read for the n-th time, in the middle."""

    def __init__(self, turn: int, error: BaseException) -> None:
        self.turn, self.error = turn, error

    def __iter__(self):
        self.turn -= 1
        yield FRAME[:100], Y[:100]
        if self.turn == 0:
            raise self.error
        yield FRAME[100:], Y[100:]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("turn", [1, 2, 3, 4, 6])
def test_a_broken_source_leaves_the_estimator_as_it_was(turn: int, n_jobs: int) -> None:
    """While it is prepared, in the first stage, in a later one; the error passes through."""
    model = TransformRegressor(n_estimators=3, n_jobs=n_jobs).fit(FRAME[:50], Y[:50])
    before = dict(vars(model))
    wanted = model.predict(FRAME)
    with pytest.raises(OSError, match="disk gone"):
        model.fit(Broken(turn, OSError("disk gone")))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)
    np.testing.assert_array_equal(model.predict(FRAME), wanted)
    fresh = TransformRegressor(n_estimators=3)
    with pytest.raises(OSError, match="disk gone"):
        fresh.fit(Broken(turn, OSError("disk gone")))
    with pytest.raises(NotFittedError):
        fresh.predict(FRAME)


@pytest.mark.parametrize("turn", [2, 3, 5])
def test_a_source_that_yields_other_rows_is_an_error(turn: int) -> None:
    """Whenever it is noticed; the estimator stays as it was."""

    class Changing:
        count = 0

        def __iter__(self):
            self.count += 1
            order = np.arange(N_ROWS) if self.count < turn else RNG.permutation(N_ROWS)
            yield FRAME.iloc[order], Y[order]

    model = TransformRegressor(n_estimators=3)
    with pytest.raises(ValueError, match="must yield the same rows in the same order each time"):
        model.fit(Changing())
    assert not hasattr(model, "n_iter_")
