"""Models fitted in a database are those of arrays, and what fails there fails well."""

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cgboost import AdditiveRegressor, TransformClassifier, TransformRegressor
from cgboost.additive.sql.session import DatabaseError, Session
from cgboost.estimators.transform.transform import VARIANTS
from cgboost.sources import SQLSource
from tests.additive.sql.sql_tables import DATABASES, Data, connected, mixed, stored, tables_of

AGREES = 1e-8


def outputs(model: Any, X: Any) -> np.ndarray:
    """What it predicts: numbers, or probabilities."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def labelled(data: Data, n_classes: int) -> Data:
    """With a class in place of the number."""
    edges = np.quantile(data.y, np.arange(1, n_classes) / n_classes)
    return data._replace(y=np.digitize(data.y, edges).astype(float))


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_model_is_that_of_arrays(variant: str, database: str, server: str) -> None:
    """Numbers with gaps, categories, weights, repeated rows; every variant."""
    data = mixed(3, 1500)
    model = TransformRegressor(variant=variant, n_estimators=5, tol=0.0, random_state=1)
    wanted = model.fit(data.frame, data.y, data.weights)
    with connected(database, server) as connection:
        source = stored(connection, database, data)
        found = TransformRegressor(**model.get_params()).fit(source)
        assert not [name for name in tables_of(connection, database) if "cgboost" in name]
    np.testing.assert_allclose(found.predict(data.frame), wanted.predict(data.frame), atol=AGREES)
    np.testing.assert_array_equal(found.feature_names_in_, wanted.feature_names_in_)
    assert found.n_iter_ == wanted.n_iter_
    assert found.stop_reason_ == wanted.stop_reason_
    np.testing.assert_allclose(found.objective_, wanted.objective_, rtol=AGREES)
    np.testing.assert_allclose(
        found.history_["holdout_loss"], wanted.history_["holdout_loss"], rtol=AGREES
    )


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_classifier_is_that_of_arrays(n_classes: int, database: str, server: str) -> None:
    """One output, or one for each class, in one table; without a holdout too."""
    data = labelled(mixed(4, 1500), n_classes)
    for options in ({}, {"early_stopping": False}, {"variant": "orthogonal"}):
        model = TransformClassifier(n_estimators=3, tol=0.0, **options)
        wanted = model.fit(data.frame, data.y, data.weights)
        with connected(database, server) as connection:
            found = TransformClassifier(**model.get_params()).fit(
                stored(connection, database, data)
            )
        assert found.classes_.tolist() == wanted.classes_.tolist()
        proba = outputs(wanted, data.frame)
        np.testing.assert_allclose(outputs(found, data.frame), proba, atol=AGREES)


def test_a_query_of_the_model_says_in_the_database_what_the_model_says() -> None:
    """Fitted there, and predicted there."""
    data = mixed(5, 1000)
    with connected("duckdb") as connection:
        model = TransformRegressor(n_estimators=3).fit(stored(connection, "duckdb", data))
        query = model.to_sql("t", keep=["the y"])
        y, found = np.array(connection.execute(query).fetchall()).T
    order = np.lexsort((found, y))
    wanted = model.predict(data.frame)
    again = np.lexsort((wanted, data.y))
    np.testing.assert_allclose(found[order], wanted[again], atol=1e-9)


def test_a_fit_fetches_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What leaves is as much for 8000 rows as for 2000."""
    sessions: list[Session] = []
    begin = Session.open

    def noted(self: Session) -> None:
        sessions.append(self)
        begin(self)

    monkeypatch.setattr(Session, "open", noted)
    for n_rows in (2000, 8000):
        with connected("duckdb") as connection:
            source = stored(connection, "duckdb", mixed(6, n_rows))
            TransformRegressor(n_estimators=2, tol=0.0, max_bins=16).fit(source)
    few, many = (session.n_fetched for session in sessions)
    assert many < 1.25 * few < 1000


def test_validation_sets_are_scored() -> None:
    """Rows in memory, after every stage."""
    data = mixed(7)
    with connected("duckdb") as connection:
        source = stored(connection, "duckdb", data)
        model = TransformRegressor(n_estimators=2, tol=0.0).fit(
            source, eval_set=(data.frame, data.y)
        )
    assert model.history_["validation_mse"][-1] < model.history_["validation_mse"][0]


def test_what_belongs_into_the_table_is_refused_beside_it() -> None:
    """Responses and weights; estimators that need rows say so; a failed fit changes nothing."""
    data = mixed(0)
    with connected("duckdb") as connection:
        source = stored(connection, "duckdb", data)
        model = TransformRegressor(n_estimators=2).fit(data.frame, data.y)
        before = dict(vars(model))
        for given in ({"y": data.y}, {"sample_weight": data.weights}):
            with pytest.raises(ValueError, match="are columns of its table"):
                model.fit(source, **given)
        with pytest.raises(ValueError, match="n_estimators"):
            TransformRegressor(n_estimators=0).fit(source)
        with pytest.raises(ValueError, match="SQLSource is none of them"):
            AdditiveRegressor().fit(source)
        with pytest.raises(ValueError, match="is no column of the table"):
            model.fit(SQLSource(connection, "t", target="z"))
        assert vars(model) == before


class Failing:
    """Makes a statement of a fit fail, by its number among those with a result."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, failure: Any) -> None:
        self.count, run = 0, Session.rows

        def rows(session: Session, statement: str) -> list[tuple[Any, ...]]:
            self.count += 1
            if self.count == number:
                failure(session)
            return run(session, statement)

        monkeypatch.setattr(Session, "rows", rows)


def lose(session: Session) -> None:
    """The connection."""
    session.connection.close()


def interrupt(session: Session) -> None:
    """As by Ctrl-C."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("database", DATABASES)
def test_a_connection_lost_early_is_an_error_and_later_the_stages_so_far(
    database: str, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever statement it is that fails."""
    data, n_models = mixed(3), 0
    for number in (1, 4, 12, 16, 22, 30):
        with connected(database, server) as connection:
            source = stored(connection, database, data)
            with monkeypatch.context() as patch:
                failing = Failing(patch, number, lose)
                model = TransformRegressor(n_estimators=3, tol=0.0, early_stopping=False)
                try:
                    with pytest.warns(ConvergenceWarning, match="leaves no table behind"):
                        model.fit(source)
                    n_models += 1
                    assert np.isfinite(model.predict(data.frame)).all()
                except DatabaseError as error:
                    assert "leaves no table behind" in str(error)  # noqa: PT017
                    assert not hasattr(model, "coef_")
                assert failing.count >= number
    assert n_models > 0


@pytest.mark.parametrize("database", DATABASES)
def test_an_interrupt_leaves_no_table(
    database: str, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first stage it passes through; after it the model is that of the stages so far."""
    data = mixed(3)
    for number in (2, 14, 22, 30):
        with connected(database, server) as connection:
            source = stored(connection, database, data)
            with monkeypatch.context() as patch:
                Failing(patch, number, interrupt)
                model = TransformRegressor(n_estimators=3, tol=0.0, early_stopping=False)
                try:
                    with pytest.warns(ConvergenceWarning):
                        model.fit(source)
                    assert np.isfinite(model.predict(data.frame)).all()
                except KeyboardInterrupt:
                    assert not hasattr(model, "coef_")
            assert not [name for name in tables_of(connection, database) if "cgboost" in name]
