"""Fits in a database: what leaves it, and what fails."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from cgboost import TransformClassifier, TransformRegressor
from cgboost.additive.sql.session import SQLSession
from cgboost.exceptions import DatabaseError
from cgboost.sources import SQLSource
from tests.additive.sql.sql_tables import DATABASES, connected, mixed, stored, tables_of, write


@pytest.mark.parametrize("database", DATABASES)
def test_categories_that_are_numbers_are_found_again(database: str, server: str) -> None:
    """Fitted and predicted there, also single precision and where few digits are shown."""
    double, single = np.array([0.25, 0.841613] * 50), np.array([7.5, 0.1] * 50, dtype=np.float32)
    frame, y = pd.DataFrame({"g": double, "s": single}), np.array([-10.0, 10.0] * 50)
    columns = {
        "g": ("DOUBLE", double.tolist()),
        "s": ("REAL", single.tolist()),
        "y": ("DOUBLE", y.tolist()),
    }
    with connected(database, server) as connection:
        if database == "postgresql":
            connection.execute("SET extra_float_digits = -3")
        write(connection, database, columns)
        for name in frame:
            source = SQLSource(connection, f"SELECT {name}, y FROM t", target="y")
            model = TransformRegressor(categorical_features=[name]).fit(source)
            assert model.score(frame[[name]], y) > 0.99
            cursor = connection.cursor()
            cursor.execute(model.to_sql("t", keep="y", dialect=database))
            kept, found = np.array(cursor.fetchall()).T
            np.testing.assert_allclose(found, kept, atol=0.5)
        if database == "postgresql":
            cursor.execute("SHOW extra_float_digits")
            assert cursor.fetchall() == [("-3",)]


def test_a_fit_fetches_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What leaves does not grow with the rows; an eval_set in memory is scored all the same."""
    sessions: list[SQLSession] = []
    begin = SQLSession.open

    def noted(self: SQLSession) -> None:
        sessions.append(self)
        begin(self)

    monkeypatch.setattr(SQLSession, "open", noted)
    model = TransformRegressor(n_estimators=2, tol=0.0, max_bins=16)
    for n_rows in (2000, 8000):
        data = mixed(6, n_rows)
        with connected("duckdb") as connection:
            model.fit(stored(connection, "duckdb", data), eval_set=(data.frame, data.y))
        assert model.history_["validation_mse"][-1] < model.history_["validation_mse"][0]
    few, many = (session.n_fetched for session in sessions)
    assert many < 2 * few < 1500


def test_what_belongs_into_the_table_is_refused_beside_it() -> None:
    """Responses and weights; a failed fit changes nothing.

    Comments before a query and behind it do no harm.
    """
    data = mixed(0)
    with connected("duckdb") as connection:
        source = stored(connection, "duckdb", data)
        model = TransformRegressor(n_estimators=2).fit(data.frame, data.y)
        before = dict(vars(model))
        for call, given, words in (
            (model.fit, (source, data.y), "are columns of its table"),
            (model.fit, (source, None, data.weights), "are columns of its table"),
            (model.fit, (SQLSource(connection, "t", target="z"),), "is no column of the table"),
            (model.predict, (source,), "SQLSource: model.to_sql"),
            (TransformRegressor(n_estimators=0).fit, (source,), "n_estimators"),
            (TransformClassifier(class_weight={1: 2.0}).fit, (source,), "a column of its table"),
            (TransformRegressor(loss="poisson").fit, (source,), "must not be negative for the Poi"),
        ):
            with pytest.raises(ValueError, match=words):
                call(*given)
        assert vars(model) == before
        query = '-- the rows\nSELECT "plain", "the y" FROM t -- all of them'
        model = TransformRegressor(n_estimators=1).fit(SQLSource(connection, query, target="the y"))
    assert list(model.feature_names_in_) == ["plain"]


class Failing:
    """Makes a statement of a fit fail, by its number among those with a result."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, failure: Any) -> None:
        self.count, run = 0, SQLSession.rows

        def rows(session: SQLSession, statement: str) -> list[tuple[Any, ...]]:
            self.count += 1
            if self.count == number:
                failure(session)
            return run(session, statement)

        monkeypatch.setattr(SQLSession, "rows", rows)


def fitted(model: TransformRegressor, source: SQLSource) -> str:
    """Fit a model; the warning that it was cut short."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(source)
    return " ".join(str(warning.message) for warning in caught)


def lose(session: SQLSession) -> None:
    """The connection."""
    session.connection.close()


def interrupt(session: SQLSession) -> None:
    """As by Ctrl-C."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("database", DATABASES)
def test_a_connection_lost_early_is_an_error_and_later_the_stages_so_far(
    database: str, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever statement it is that fails."""
    data, n_models = mixed(3), 0
    for number in (1, 4, 14, 18, 24, 26, 30, 32, 34):
        with connected(database, server) as connection:
            source = stored(connection, database, data)
            with monkeypatch.context() as patch:
                failing = Failing(patch, number, lose)
                model = TransformRegressor(n_estimators=3, tol=0.0, early_stopping=False)
                try:
                    words = fitted(model, source)
                except DatabaseError as error:
                    words = str(error)
                    assert not hasattr(model, "columns_")
                else:
                    n_models += 1
                    assert np.isfinite(model.predict(data.frame)).all()
                assert "leaves no table behind" in words
                assert failing.count >= number
    assert n_models > 0


@pytest.mark.parametrize("database", DATABASES)
def test_an_interrupt_leaves_no_table(
    database: str, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first stage it passes through; after it the model is that of the stages so far."""
    data = mixed(3)
    for number in (2, 14, 22, 26, 30, 34):
        with connected(database, server) as connection:
            source = stored(connection, database, data)
            with monkeypatch.context() as patch:
                Failing(patch, number, interrupt)
                model = TransformRegressor(n_estimators=3, tol=0.0, early_stopping=False)
                try:
                    assert fitted(model, source)
                except KeyboardInterrupt:
                    assert not hasattr(model, "columns_")
                else:
                    assert np.isfinite(model.predict(data.frame)).all()
            assert not [name for name in tables_of(connection, database) if "cgboost" in name]
