"""Classes of few rows, and of none that counts: the same everywhere, and probable."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from cgboost import LinearTreeBoostingClassifier, TransformClassifier
from cgboost.estimators.transform.holdouts import seed_of
from cgboost.parallel import ThreadExecutor
from cgboost.sources import Partitions, SQLSource
from cgboost.tables.preparation import prepared
from cgboost.tables.rows import TableRows
from cgboost.tables.schema import Schema
from tests.additive.sql.sql_tables import DATABASES, Data, connected, stored
from tests.estimators.transform.transform_data import Parquet, blocks

N_ROWS = 150


def rare(n_classes: int = 3) -> Data:
    """Two features, one or two common classes, and one of two rows; weights."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N_ROWS, 2)), columns=["a", "b"])
    y = (frame["a"] + rng.normal(size=N_ROWS) > 0).to_numpy(dtype=float)
    y = y if n_classes == 3 else np.zeros(N_ROWS)
    y[[3, 100]] = n_classes - 1.0
    return Data(frame, y, rng.choice([0.5, 1.0, 3.0], N_ROWS))


def held_out(data: Data, seed: int, n_classes: int) -> np.ndarray:
    """The holdout rows; with one class as if there were none."""
    X, schema = TableRows(data.frame.to_numpy()), Schema(None, (None, None))
    how: dict[str, Any] = {"max_bins": 64, "share": 0.3, "seed": seed, "n_classes": n_classes}
    return prepared(X, schema, data.y, data.weights, **how).held


def unlucky(data: Data, n_holdouts: int = 1) -> int:
    """The first seed whose last holdout would have all rows of the rare class."""
    there = data.y == data.y.max()
    return next(
        seed for seed in range(200) if held_out(data, seed_of(seed, n_holdouts - 1), 1)[there].all()
    )


def assert_same(model: Any, wanted: Any, data: Data) -> None:
    """Both predict the same to 1e-8, from as many stages."""
    found = [own.decision_function(data.frame) for own in (model, wanted)]
    np.testing.assert_allclose(*found, rtol=0, atol=1e-8)
    assert model.n_columns_ == wanted.n_columns_
    np.testing.assert_allclose(
        model.history_["holdout_loss"], wanted.history_["holdout_loss"], rtol=1e-8
    )


CASES = {
    "three jointly": (3, {}),
    "one against the rest": (3, {"multi_class": "ovr"}),
    "two": (2, {}),
    "two holdouts": (3, {"n_holdouts": 2}),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[Data, TransformClassifier]:
    """Rows, and a model whose holdout would take a class whole."""
    n_classes, parameters = CASES[request.param]
    data = rare(n_classes)
    seed = unlucky(data, parameters.get("n_holdouts", 1))
    return data, TransformClassifier(n_estimators=3, random_state=seed, **parameters)


def test_a_class_that_the_holdout_would_take_whole_has_its_share(case: Any) -> None:
    """Its mean probability is near its share of the rows, and no probability is next to nothing."""
    data, model = case
    p = clone(model).fit(data.frame, data.y, data.weights).predict_proba(data.frame)[:, -1]
    share = np.average(data.y == data.y.max(), weights=data.weights)
    assert share / 4 < np.average(p, weights=data.weights) < 4 * share
    assert p.min() > 1e-6


def test_only_the_rows_of_such_a_class_change_sides(case: Any) -> None:
    """All of them train, and the other holdout rows are those of the hashes."""
    data, model = case
    n_classes = len(np.unique(data.y))
    seed = seed_of(model.random_state, model.n_holdouts - 1)
    held, without = held_out(data, seed, n_classes), held_out(data, seed, 1)
    there = data.y == data.y.max()
    assert without[there].all()
    assert not held[there].any()
    np.testing.assert_array_equal(held[~there], without[~there])


def test_blocks_files_and_partitions_have_the_model_of_one_table(case: Any, tmp_path: Path) -> None:
    """The rare class in one partition, or in two; in an executor's parts of a table too."""
    data, model = case
    wanted = clone(model).fit(data.frame, data.y, data.weights)
    parts = blocks(*data, 4, 1)
    assert_same(clone(model).fit(parts), wanted, data)
    assert_same(clone(model).fit(Parquet(tmp_path / "all.parquet", parts)), wanted, data)
    ends = [0, 50, 50, N_ROWS]
    cut = [tuple(part[a:b] for part in data) for a, b in pairwise(ends)]
    for found in (cut, [Parquet(tmp_path / f"{k}.parquet", parts[k::2]) for k in (0, 1)]):
        assert_same(clone(model).fit(Partitions(found)), wanted, data)
    spread = clone(model).set_params(executor=ThreadExecutor(2))
    assert_same(spread.fit(data.frame, data.y, data.weights), wanted, data)


@pytest.mark.parametrize("database", DATABASES)
def test_a_database_has_the_model_of_one_table(database: str, case: Any, server: str) -> None:
    """Counts of classes decide there too."""
    data, model = case
    wanted = clone(model).fit(data.frame, data.y, data.weights)
    with connected(database, server) as connection:
        assert_same(clone(model).fit(stored(connection, database, data)), wanted, data)


def test_two_rows_of_a_class_among_wines_are_not_forgotten() -> None:
    """For every seed, by transform regression and by boosted trees."""
    X, y = load_wine(return_X_y=True)
    y[y == 2] = 1
    y[[0, 5]] = 2
    for seed in range(6):
        for model in (
            TransformClassifier(n_estimators=2, random_state=seed),
            LinearTreeBoostingClassifier(
                n_estimators=2, validation_fraction=0.5, random_state=seed
            ),
        ):
            assert model.fit(X, y).predict_proba(X)[[0, 5], 2].min() > 1e-3


# ---------------------------------------------------------------------- weights of 0


def places(data: Data, connection: Any) -> dict[str, tuple[Any, ...]]:
    """The arguments of a fit in every place."""
    parts = [tuple(own[a:b] for own in data) for a, b in ((0, 50), (50, N_ROWS))]
    return {
        "table": tuple(data),
        "blocks": (parts,),
        "partitions": (Partitions(parts),),
        "database": (stored(connection, "duckdb", data),),
    }


@pytest.mark.parametrize("lost", [0.0, 2.0])
@pytest.mark.parametrize("place", ["table", "blocks", "partitions", "database"])
def test_a_class_of_rows_of_weight_zero_is_no_class(place: str, lost: float) -> None:
    """The model is that of the other rows: these rows are no rows."""
    data = rare()
    data = data._replace(weights=np.where(data.y == lost, 0.0, data.weights))
    there = data.weights > 0
    model = TransformClassifier(n_estimators=2)
    wanted = clone(model).fit(data.frame[there], data.y[there], data.weights[there])
    with duckdb.connect() as connection:
        found = clone(model).fit(*places(data, connection)[place])
    assert found.classes_.tolist() == [label for label in (0.0, 1.0, 2.0) if label != lost]
    assert_same(found, wanted, data)


@pytest.mark.parametrize("place", ["table", "blocks", "partitions", "database"])
def test_one_class_with_a_weight_is_an_error(place: str) -> None:
    """As is a target with one class."""
    data = rare()
    data = data._replace(weights=np.where(data.y == 1, data.weights, 0.0))
    with duckdb.connect() as connection, pytest.raises(ValueError, match=r"only one class: 1\.0"):
        TransformClassifier().fit(*places(data, connection)[place])


def test_boosted_trees_know_no_class_without_a_weight() -> None:
    """From a table and from blocks; with one class left it is an error that says why."""
    data = rare()
    model = LinearTreeBoostingClassifier(n_estimators=3)
    data = data._replace(weights=np.where(data.y == 2, 0.0, data.weights))
    for arguments in (tuple(data), ([tuple(data)],)):
        np.testing.assert_array_equal(clone(model).fit(*arguments).classes_, [0, 1])
        alone = np.where(data.y == 1, data.weights, 0.0)
        blocked = ([(*data[:2], alone)],) if len(arguments) == 1 else (*data[:2], alone)
        with pytest.raises(ValueError, match="one class: 1.*rows of weight 0 do not count"):
            clone(model).fit(*blocked)


def test_partitions_of_rows_of_weight_zero_alone_are_empty() -> None:
    """Their labels may be of another kind; where no row at all counts, that is the error."""
    X, y, weights = rare()
    words = (X, y.astype(str), np.zeros(N_ROWS))
    model = TransformClassifier(n_estimators=2)
    wanted = clone(model).fit(X, y, weights)
    found = clone(model).fit(Partitions([words, (X, y, weights)]))
    assert_same(found, wanted, Data(X, y, weights))
    with pytest.raises(ValueError, match="weights in the partitions must be .* not all 0"):
        model.fit(Partitions([words, words]))


def test_a_query_leaves_a_class_of_rows_of_weight_zero_out() -> None:
    """A database sees the weights of a query as those of a table."""
    data = rare()
    with duckdb.connect() as connection:
        stored(connection, "duckdb", data)
        query = 'SELECT a, b, "the y", CASE WHEN "the y" = 2 THEN 0 ELSE 1 END AS w FROM t'
        source = SQLSource(connection, query, target="the y", weight="w")
        assert TransformClassifier(n_estimators=1).fit(source).classes_.tolist() == [0.0, 1.0]
