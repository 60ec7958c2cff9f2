"""Data and sources of blocks that the tests of transform regression share."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cgboost import TransformClassifier, TransformRegressor
from cgboost.estimators.transform.holdouts import seed_of
from cgboost.tables.binning import prepared
from cgboost.tables.row_blocks import TableRows
from cgboost.tables.table_encoding import Schema
from tests.additive.sql.sql_tables import Data

Block = tuple[pd.DataFrame, np.ndarray, np.ndarray]


def surface() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Surface x + y + 5 sin(πx/2) sin(πy/2) on [−1, 1]² ([P] eq. 5): training and test points.

    A grid of step 0.01; points at multiples of 0.1 are the test points.
    """
    grid = np.round(np.arange(-1, 1.0001, 0.01), 2)
    x, y = (part.ravel() for part in np.meshgrid(grid, grid))
    X = np.column_stack([x, y])
    z = x + y + 5 * np.sin(np.pi * x / 2) * np.sin(np.pi * y / 2)
    on = (np.abs(10 * X - np.round(10 * X)) < 1e-6).all(axis=1)
    return X[~on], z[~on], X[on], z[on]


def mixed(seed: int, n_rows: int = 1000) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Numbers with gaps, at an offset, with few values and twice; categories with gaps; weights."""
    rng = np.random.default_rng(seed)
    x, few = rng.normal(size=n_rows), rng.integers(0, 7, n_rows).astype(float)
    far = rng.uniform(size=n_rows)
    group = rng.choice(list("abcdef"), n_rows)
    gaps = np.where(rng.uniform(size=n_rows) < 0.1, None, rng.choice(["p", "q"], n_rows))
    y = 2 * x + np.sin(3 * few) + 3 * (group == "a") * x.clip(-1, 1) + far * few
    x[rng.uniform(size=n_rows) < 0.05] = np.nan
    columns = {"x": x, "few": few, "far": far + 1e6, "group": group, "gaps": gaps, "twice": x}
    weights = rng.integers(1, 4, n_rows).astype(float)
    return pd.DataFrame(columns), y + 0.3 * rng.normal(size=n_rows), weights


def binary(seed: int, n_rows: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    """One feature of two values, and labels: P(1 | 0) = 0.3, P(1 | 1) = 0.7."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, n_rows)
    y = rng.uniform(size=n_rows) < np.where(x == 1, 0.7, 0.3)
    return x[:, None].astype(float), y.astype(int)


def few_values(seed: int, n_rows: int = 1200) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Three features of few values, a response of three, weights: most rows come several times."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.integers(0, 3, n_rows), "b": rng.choice(list("pqr"), n_rows)})
    y = X["a"].to_numpy() + 2.0 * (X["b"] == "q").to_numpy() * rng.integers(0, 2, n_rows)
    return X.assign(c=rng.integers(0, 2, n_rows) / 2), y, rng.choice([0.0, 0.5, 1.0, 2.0], n_rows)


def blocks(
    X: pd.DataFrame, y: np.ndarray, weights: np.ndarray, n_blocks: int, seed: int
) -> list[Block]:
    """All rows in random order, in blocks of random sizes."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.choice(np.arange(1, len(y)), n_blocks - 1, replace=False))
    parts = np.split(rng.permutation(len(y)), ends)
    return [(X.iloc[rows], y[rows], weights[rows]) for rows in parts]


class Parquet:
    """Blocks that are read from a file each time, a group of rows after another."""

    def __init__(self, path: Path, parts: list[Block]) -> None:
        self.path = path
        tables = [
            pa.Table.from_pandas(X.assign(y=y, w=w), preserve_index=False) for X, y, w in parts
        ]
        with pq.ParquetWriter(path, tables[0].schema) as writer:
            for table in tables:
                writer.write_table(table)

    def __iter__(self) -> Iterator[Block]:
        file = pq.ParquetFile(self.path)
        for number in range(file.num_row_groups):
            frame = file.read_row_group(number).to_pandas()
            X = frame.drop(columns=["y", "w"])
            yield X, frame["y"].to_numpy(), frame["w"].to_numpy()


def outputs(model: TransformRegressor | TransformClassifier, X: Any) -> np.ndarray:
    """Predictions, or what decides between classes."""
    if isinstance(model, TransformClassifier):
        return model.decision_function(X)
    return model.predict(X)


def structure(model: TransformRegressor | TransformClassifier) -> list[Any]:
    """Which inputs the stages use, their leaves and what is in them."""
    stages: list[Any] = []
    for own in model.stages_:  # of every class a list
        stages += own if isinstance(own, list) else [own]
    return [
        (term.feature, term.leaf.tolist(), (term.slope != 0).tolist(), (term.coef != 0).tolist())
        for stage in stages
        for _, term in stage.terms
    ]


def assert_same(model: Any, wanted: Any, X: Any, *, exact: bool = True) -> None:
    """Both say the same after every stage to 1e-8, from the same features, for the same reason."""
    f, g = (list(own.staged_decision_function(X)) for own in (model, wanted))
    np.testing.assert_allclose(np.array(f), np.array(g), rtol=1e-8, atol=1e-8)
    assert model.n_columns_ == wanted.n_columns_
    assert (model.n_iter_, model.stop_reason_) == (wanted.n_iter_, wanted.stop_reason_)
    np.testing.assert_allclose(
        model.history_["holdout_loss"], wanted.history_["holdout_loss"], rtol=1e-8, atol=1e-12
    )
    np.testing.assert_allclose(model.objective_, wanted.objective_, rtol=1e-8)
    np.testing.assert_allclose(model.importances_, wanted.importances_, atol=1e-8)
    assert list(model.feature_names_in_) == list(wanted.feature_names_in_)
    assert not exact or structure(model) == structure(wanted)


def answers(model: Any, X: pd.DataFrame, **how: Any) -> np.ndarray:
    """What a query of the model says of every row."""
    with duckdb.connect() as connection:
        connection.register("people", X.assign(row=np.arange(len(X))))
        query = model.to_sql("people", keep=["row"], output="said", **how)
        return connection.sql(f"{query} ORDER BY row").fetchnumpy()["said"]


def rare(n_classes: int = 3) -> Data:
    """Two features, one or two common classes, and one of two rows; weights."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 2)), columns=["a", "b"])
    y = (frame["a"] + rng.normal(size=150) > 0).to_numpy(dtype=float)
    y = y if n_classes == 3 else np.zeros(150)
    y[[3, 100]] = n_classes - 1.0
    return Data(frame, y, rng.choice([0.5, 1.0, 3.0], 150))


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


def target(kind: type, y: np.ndarray) -> np.ndarray:
    """Numbers, or whether they are large."""
    return y if kind is TransformRegressor else (y > 1).astype(int)


def product(**parameters: Any) -> tuple[pd.DataFrame, np.ndarray, TransformRegressor]:
    """A product of two features, a third is noise."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, size=(1500, 3)), columns=["a", "b", "noise"])
    y = (X["a"] + X["b"] + 3 * X["a"] * X["b"]).to_numpy()
    model = TransformRegressor(**{"n_estimators": 4} | parameters)
    return X, y, model.fit(X, y)


def counts(y: np.ndarray) -> np.ndarray:
    """Numbers of events whose mean is a function of the features."""
    return np.random.default_rng(0).poisson(np.exp(0.3 * y)).astype(float)
