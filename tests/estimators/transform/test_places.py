"""The same model wherever the rows are: in arrays, in blocks, in three databases."""

import numpy as np
import pandas as pd
import pytest

from cgboost import TransformClassifier, TransformRegressor
from cgboost.estimators.transform.variants import VARIANTS
from cgboost.sources import SQLSource
from tests.additive.sql.sql_tables import DATABASES, Data, connected, mixed, stored, write


def close(database: str, server: str, data: Data, model: TransformRegressor) -> None:
    """The model from a database is that from the frame, and leaves no table behind."""
    wanted = type(model)(**model.get_params()).fit(data.frame, data.y, data.weights)
    with connected(database, server) as connection:
        stored(connection, database, data)
        found = model.fit(SQLSource(connection, "t", target="the y", weight="w"))
    assert found.n_columns_ == wanted.n_columns_ > 0
    f, g = (list(own.staged_decision_function(data.frame)) for own in (found, wanted))
    np.testing.assert_allclose(np.array(f), np.array(g), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        found.history_["holdout_loss"], wanted.history_["holdout_loss"], rtol=1e-8, atol=1e-12
    )


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_database_gives_the_model_of_the_frame(variant: str, database: str, server: str) -> None:
    """Of every variant, from numbers with gaps, categories, weights and repeated rows."""
    close(database, server, mixed(1), TransformRegressor(variant=variant, n_estimators=4))


@pytest.mark.parametrize("way", ["joint", "ovr"])
@pytest.mark.parametrize("database", DATABASES)
def test_classes(database: str, way: str, server: str) -> None:
    """Two, and more than two, jointly or one against the rest."""
    data = mixed(2)
    for edges in ([0.3], [0.2, 0.6]):
        labels = np.digitize(data.y, np.quantile(data.y, edges)).astype(float)
        model = TransformClassifier(n_estimators=3, multi_class=way)
        close(database, server, data._replace(y=labels), model)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("database", DATABASES)
def test_classes_jointly_in_every_variant(database: str, variant: str, server: str) -> None:
    """Four classes, a share of every step where that may be, and sets of features."""
    data = mixed(5)
    labels = np.digitize(data.y, np.quantile(data.y, [0.2, 0.5, 0.8])).astype(float)
    how = {"n_holdouts": 2} if VARIANTS[variant].orthogonal else {"learning_rate": 0.5}
    rules = {} if VARIANTS[variant].link else {"interaction_cst": "pairwise"}
    model = TransformClassifier(variant=variant, n_estimators=2, **how, **rules)
    close(database, server, data._replace(y=labels), model)


@pytest.mark.parametrize("loss", ["huber", "poisson"])
@pytest.mark.parametrize("database", DATABASES)
def test_losses_steps_and_holdouts(database: str, loss: str, server: str) -> None:
    """Smooth losses, a share of every step, and the mean over two holdouts."""
    data = mixed(3)
    data = data._replace(y=np.round(np.exp(data.y / 2)))
    close(
        database,
        server,
        data,
        TransformRegressor(loss=loss, learning_rate=0.5, n_holdouts=2, n_estimators=3),
    )


@pytest.mark.parametrize("database", ["duckdb", "postgresql"])
def test_days_are_the_same_from_a_database_and_from_every_frame(database: str, server: str) -> None:
    """A model of a column of days knows objects, NumPy's dates, and the same column in SQL."""
    days = pd.date_range("2020-01-01", periods=5)
    some = pd.DataFrame({"day": days[np.arange(100) % 5]})
    y = (some["day"].dt.day % 3).to_numpy(dtype=float)
    objects = pd.DataFrame({"day": some["day"].dt.date})
    plain = {"categorical_features": ["day"], "early_stopping": False}
    wanted = TransformRegressor(**plain).fit(objects, y)
    np.testing.assert_allclose(wanted.predict(some), y, atol=1e-9)
    curve = wanted.transformation(0, "day")
    np.testing.assert_array_equal(curve(some["day"].to_numpy()), curve(objects["day"].tolist()))
    with connected(database, server) as connection:
        columns = {"day": ("DATE", objects["day"].tolist()), "y": ("DOUBLE", y.tolist())}
        write(connection, database, columns)
        found = TransformRegressor(**plain).fit(SQLSource(connection, "t", target="y"))
        for model in (wanted, found):
            np.testing.assert_allclose(model.predict(objects), y, atol=1e-9)
            cursor = connection.cursor()
            cursor.execute(model.to_sql("t", keep="y", dialect=database))
            answers = np.array(cursor.fetchall(), dtype=float)
            np.testing.assert_allclose(answers[:, 1], answers[:, 0], atol=1e-9)


@pytest.mark.parametrize("database", DATABASES)
def test_constraints(database: str, server: str) -> None:
    """Pairs that may meet, and a monotone feature: several stages a round."""
    data = mixed(4)
    numeric = data.frame.select_dtypes("number").columns[0]
    rules = {"interaction_cst": "pairwise", "monotonic_cst": {numeric: 1}}
    close(database, server, data, TransformRegressor(n_estimators=4, **rules))
