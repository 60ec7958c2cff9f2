"""The same model wherever the rows are: in arrays, blocks, files, partitions and databases."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from cgboost import LinearTreeBoostingClassifier, TransformClassifier, TransformRegressor
from cgboost.estimators.transform.holdouts import seed_of
from cgboost.estimators.transform.variants import VARIANTS
from cgboost.parallel import ThreadExecutor
from cgboost.sources import Partitions, SQLSource
from tests.additive.sql.sql_tables import DATABASES, Data, connected, mixed, stored, write
from tests.cases import Case, law
from tests.estimators.transform.transform_data import (
    Parquet,
    assert_same,
    blocks,
    held_out,
    rare,
    unlucky,
)


@contextmanager
def put(place: str, data: Data, folder: Path, server: str) -> Iterator[tuple[tuple, dict]]:
    """The rows in a place: what a model is fitted to, and its parameters there."""
    parts = blocks(*data, 4, 1)
    ordered = [np.asarray(own)[np.argsort(data.y, kind="stable")] for own in data[1:]]
    ordered = [data.frame.iloc[np.argsort(data.y, kind="stable")], *ordered]
    ends = [0, 50, 50, len(data.y) // 2, len(data.y)]
    if place in DATABASES:
        with connected(place, server) as connection:
            yield (stored(connection, place, data),), {}
    elif place == "threads":
        yield tuple(data), {"executor": ThreadExecutor(2)}
    elif place == "partitions":  # of which some classes are in one alone
        cut = [tuple(own[a:b] for own in ordered) for a, b in pairwise(ends)]
        yield (Partitions(cut),), {"executor": ThreadExecutor(2)}
    elif place == "files of partitions":
        files = [Parquet(folder / f"{k}.parquet", parts[k::2]) for k in (0, 1)]
        yield (Partitions(files),), {}
    else:
        yield (Parquet(folder / "all.parquet", parts) if place == "files" else parts,), {}


def mixed_with(seed: int, target: Callable[[np.ndarray], np.ndarray]) -> Data:
    """Rows of every kind, with another response."""
    data = mixed(seed)
    return data._replace(y=target(data.y))


def counted() -> Data:
    """Whole numbers, none of them below 0."""
    return mixed_with(3, lambda y: np.round(np.exp(y / 2)))


def jointly(variant: str) -> TransformClassifier:
    """A share of every step and sets of features, where these may be; two holdouts elsewhere."""
    how = {"n_holdouts": 2} if VARIANTS[variant].orthogonal else {"learning_rate": 0.5}
    rules = {} if VARIANTS[variant].link else {"interaction_cst": "pairwise"}
    return TransformClassifier(variant=variant, n_estimators=2, **how, **rules)


def of_loss(loss: str) -> TransformRegressor:
    """Shares of steps, and the mean over two holdouts."""
    return TransformRegressor(loss=loss, learning_rate=0.5, n_holdouts=2, n_estimators=3)


RARE: dict[str, tuple[int, dict[str, Any]]] = {
    "three, one of them rare": (3, {}),
    "three against the rest, one rare": (3, {"multi_class": "ovr"}),
    "two, one of them rare": (2, {}),
    "two holdouts of a rare class": (3, {"n_holdouts": 2}),
}


def with_a_rare_class(name: str) -> tuple[TransformClassifier, Data]:
    """Rows, and a model whose holdout would take a class whole."""
    n_classes, parameters = RARE[name]
    data = rare(n_classes)
    seed = unlucky(data, parameters.get("n_holdouts", 1))
    return TransformClassifier(n_estimators=3, random_state=seed, **parameters), data


def case(name: str, model: Any, data: Any) -> Case:
    """A model, and the rows it is fitted to."""
    return Case(name=name, make=lambda: (model, data()))


def labelled(seed: int, *shares: float) -> Any:
    """Rows whose labels are the parts of y that these shares divide."""
    return lambda: mixed_with(seed, lambda y: np.digitize(y, np.quantile(y, shares)).astype(float))


THREE = {"multi_class": "ovr", "n_estimators": 3}
MONOTONE = {"interaction_cst": "pairwise", "monotonic_cst": {"plain": 1}}
SMOOTH = [
    *(case(v, TransformRegressor(variant=v, n_estimators=4), lambda: mixed(1)) for v in VARIANTS),
    *(case(f"{v}, classes", jointly(v), labelled(5, 0.2, 0.5, 0.8)) for v in VARIANTS),
    case("two classes", TransformClassifier(n_estimators=3), labelled(2, 0.3)),
    case("three against the rest", TransformClassifier(**THREE), labelled(2, 0.2, 0.6)),
    *(case(loss, of_loss(loss), counted) for loss in ("huber", "poisson")),
    case("constraints", TransformRegressor(n_estimators=4, **MONOTONE), lambda: mixed(4)),
    *(Case(name=name, make=lambda name=name: with_a_rare_class(name)) for name in RARE),
]
FEW = ["transform", "transform, classes", *RARE]
"""What is done in blocks, files and threads is that of partitions, but for who reads and adds."""


def same_as_in_memory(case: Case, place: str, folder: Path, server: str) -> None:
    """A fit in a place has the stages, losses and importances of one to arrays."""
    model, data = case.make()
    wanted = clone(model).fit(*data)
    assert wanted.n_columns_ > 0 or case.name in RARE
    with put(place, data, folder, server) as (rows, parameters):
        found = clone(model).set_params(**parameters).fit(*rows)
    assert_same(found, wanted, data.frame, exact=place not in DATABASES)


@pytest.mark.parametrize("place", ["partitions", *DATABASES])
@law(SMOOTH)
def test_partitions_and_databases_have_the_model_of_arrays(
    case: Case, place: str, tmp_path: Path, server: str
) -> None:
    """Numbers with gaps, categories, weights, repeated rows, a class that is rare."""
    same_as_in_memory(case, place, tmp_path, server)


@pytest.mark.parametrize("place", ["partitions", *DATABASES])
def test_rows_of_a_billion_and_a_little(place: str, tmp_path: Path, server: str) -> None:
    """Response and feature are 1e9 + something small: outputs differ in their last digits alone.

    Two numbers of this size are 1.2e-7 apart, of residuals of some 0.5.
    """
    data = mixed_with(1, lambda y: y + 1e9)
    data = data._replace(frame=data.frame.assign(plain=data.frame["plain"] + 1e9))
    wanted = TransformRegressor(n_estimators=4).fit(*data)
    with put(place, data, tmp_path, server) as (rows, _):
        found = TransformRegressor(n_estimators=4).fit(*rows)
    assert (found.n_columns_, found.stop_reason_) == (wanted.n_columns_, wanted.stop_reason_)
    np.testing.assert_allclose(
        found.predict(data.frame), wanted.predict(data.frame), atol=5e-7, rtol=0
    )
    assert found.objective_ == pytest.approx(wanted.objective_, rel=1e-6)
    assert wanted.n_columns_ > 1


@pytest.mark.parametrize("place", ["blocks", "files", "files of partitions", "threads"])
@law(SMOOTH, where=lambda case: case.name in FEW)
def test_blocks_files_and_threads_have_the_model_of_arrays(
    case: Case, place: str, tmp_path: Path
) -> None:
    """In any order of the rows, which are read again for every pass."""
    same_as_in_memory(case, place, tmp_path, "")


@law([case(loss, of_loss(loss), lambda: mixed(6)) for loss in ("absolute_error", "quantile")])
def test_losses_without_a_curvature_are_the_same_over_partitions(
    case: Case, tmp_path: Path
) -> None:
    """Their medians need the rows of all partitions."""
    same_as_in_memory(case, "partitions", tmp_path, "")


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


@pytest.mark.parametrize("lost", [0.0, 2.0])
@pytest.mark.parametrize("place", ["table", "blocks", "partitions", "duckdb"])
def test_a_class_of_rows_of_weight_zero_is_no_class(
    place: str, lost: float, tmp_path: Path
) -> None:
    """The model is that of the other rows; where one class is left that is an error."""
    data = rare()
    data = data._replace(weights=np.where(data.y == lost, 0.0, data.weights))
    there = data.weights > 0
    model = TransformClassifier(n_estimators=2)
    wanted = clone(model).fit(data.frame[there], data.y[there], data.weights[there])
    with put(place, data, tmp_path, "") as (rows, _):
        found = clone(model).fit(*(tuple(data) if place == "table" else rows))
    assert found.classes_.tolist() == [label for label in (0.0, 1.0, 2.0) if label != lost]
    assert_same(found, wanted, data.frame, exact=place != "duckdb")
    data = data._replace(weights=np.where(data.y == 1, data.weights, 0.0))
    with (
        put(place, data, tmp_path, "") as (rows, _),
        pytest.raises(ValueError, match=r"only one class: 1\.0"),
    ):
        clone(model).fit(*(tuple(data) if place == "table" else rows))


def test_partitions_of_rows_of_weight_zero_alone_are_empty() -> None:
    """Their labels may be of another kind; where no row at all counts, that is the error."""
    X, y, weights = rare()
    words = (X, y.astype(str), np.zeros(len(y)))
    model = TransformClassifier(n_estimators=2)
    wanted = clone(model).fit(X, y, weights)
    found = clone(model).fit(Partitions([words, (X, y, weights), (X[:0], y[:0])]))
    assert_same(found, wanted, X)
    with pytest.raises(ValueError, match="weights in the partitions must be .* not all 0"):
        model.fit(Partitions([words, words]))


def test_a_category_of_one_partition_alone() -> None:
    """Has its number from the categories of all, as a class has."""
    data = mixed(6)
    rare_word = data.frame.assign(**{"group's": np.where(data.y < -1, "only here", "others")})
    order = np.argsort(data.y, kind="stable")
    for kind, y in ((TransformRegressor, data.y), (TransformClassifier, np.sign(data.y))):
        rows = rare_word.iloc[order], y[order], data.weights[order]
        wanted = kind(n_estimators=3).fit(*rows)
        parts = [tuple(own[a:b] for own in rows) for a, b in pairwise([0, 250, 500, 600])]
        assert_same(kind(n_estimators=3).fit(Partitions(parts)), wanted, rare_word)


def test_a_query_leaves_a_class_of_rows_of_weight_zero_out() -> None:
    """A database sees the weights of a query as those of a table."""
    with connected("duckdb") as connection:
        stored(connection, "duckdb", rare())
        query = 'SELECT a, b, "the y", CASE WHEN "the y" = 2 THEN 0 ELSE 1 END AS w FROM t'
        source = SQLSource(connection, query, target="the y", weight="w")
        assert TransformClassifier(n_estimators=1).fit(source).classes_.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("name", RARE)
def test_a_class_that_the_holdout_would_take_whole_has_its_share(name: str) -> None:
    """All its rows train, and the other holdout rows are those of the hashes.

    Its mean probability is near its share of the rows, and no probability is next to nothing.
    """
    model, data = with_a_rare_class(name)
    p = clone(model).fit(*data).predict_proba(data.frame)[:, -1]
    there = data.y == data.y.max()
    share = np.average(there, weights=data.weights)
    assert share / 4 < np.average(p, weights=data.weights) < 4 * share
    assert p.min() > 1e-6
    seed = seed_of(model.random_state, model.n_holdouts - 1)
    held, without = held_out(data, seed, len(np.unique(data.y))), held_out(data, seed, 1)
    assert without[there].all()
    assert not held[there].any()
    np.testing.assert_array_equal(held[~there], without[~there])


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


def test_boosted_trees_know_no_class_without_a_weight() -> None:
    """From a table and from blocks; with one class left it is an error that says why."""
    X, y, weights = rare()
    model = LinearTreeBoostingClassifier(n_estimators=3)
    for lost, left in ((y == 2, [0, 1]), (y != 1, None)):
        own = np.where(lost, 0.0, weights)
        for rows in ((X, y, own), ([(X, y, own)],)):
            if left:
                np.testing.assert_array_equal(clone(model).fit(*rows).classes_, left)
            else:
                with pytest.raises(ValueError, match="one class: 1.*rows of weight 0 do not count"):
                    clone(model).fit(*rows)
