"""Losses of numbers, and shares of steps."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from cgboost import TransformRegressor
from cgboost.losses import Quantile, get_loss
from cgboost.sources import Partitions, SQLSource
from tests.estimators.transform.test_laws import LOSSES
from tests.estimators.transform.transform_data import counts, mixed


@pytest.mark.parametrize("name", LOSSES[:-1])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_the_first_constant_is_the_best_in_any_unit_and_at_any_shift(
    name: str, size: float
) -> None:
    """Of arrays, of partitions and in a database, against the loss's own best constant."""
    x, z = np.random.default_rng(7).normal(size=(2, 60))
    for shift in (0.0, 1e3 * size, -1e6 * size, 1e3, 1e6, -1e6):
        y = size * z + shift
        loss = get_loss(name).in_units(1.0 / size)[0]  # its δ and ε are those of z
        model = TransformRegressor(loss=loss, early_stopping=False, n_estimators=1)
        rounding = np.spacing(abs(shift)) / size
        wanted = np.sum(loss.value(y, np.full(60, loss.best_constant(y, np.ones(60)))))
        if rounding > 1e-2:  # y has no digits left
            continue
        sources = [Partitions([(x[:20, None], y[:20]), (x[20:, None], y[20:])])]
        if name in ("huber", "squared_error") and shift == 1e6:
            connection = duckdb.connect()
            connection.register("rows", pd.DataFrame({"x": x, "y": y}))
            sources.append(SQLSource(connection, "rows", target="y"))
        for rows in [(x[:, None], y), *((source,) for source in sources)]:
            found = model.fit(*rows).history_["objective"][0]
            assert found == pytest.approx(wanted, rel=1e-6 + 1e2 * rounding)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_quantiles_have_their_shares_below(share: float) -> None:
    """Of new rows, whose spread differs with a feature; its width is found."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(6000, 2))
    y = X[:, 0] + (0.2 + (X[:, 1] > 0)) * rng.normal(size=6000)
    model = TransformRegressor(loss=Quantile(share), learning_rate=0.5, n_estimators=30)
    model.fit(X[:4000], y[:4000])
    below = y[4000:] <= model.predict(X[4000:])
    for part in (X[4000:, 1] > 0, X[4000:, 1] <= 0):
        assert abs(below[part].mean() - share) < 0.06


def test_counts_have_positive_predictions() -> None:
    """E^f, with the mean of the counts."""
    X, y, _ = mixed(4, 1000)
    model = TransformRegressor(loss="poisson").fit(X, counts(y))
    assert (model.predict(X) > 0).all()
    np.testing.assert_allclose(model.predict(X).mean(), counts(y).mean(), rtol=0.1)


@pytest.mark.parametrize("value", [1e-12, 1e-9, 5.0, 1e6])
def test_a_constant_count_has_a_mean(value: float) -> None:
    """The best f is its logarithm, everywhere; only counts that are all 0 have none."""
    x = np.arange(40.0)
    connection = duckdb.connect()
    connection.register("rows", pd.DataFrame({"x": x, "y": np.full(40, value)}))
    parts = Partitions([(x[:15, None], np.full(15, value)), (x[15:, None], np.full(25, value))])
    for rows in (
        (x[:, None], np.full(40, value)),
        (parts,),
        (SQLSource(connection, "rows", target="y"),),
    ):
        model = TransformRegressor(loss="poisson", early_stopping=False).fit(*rows)
        assert (model.stop_reason_, model.n_columns_) == ("no_column", 0)
        assert model.intercept_ == pytest.approx(np.log(value), rel=1e-6)
    zeros = TransformRegressor(loss="poisson", early_stopping=False).fit(x[:, None], 0.0 * x)
    assert zeros.stop_reason_ == "unbounded"


def test_shares_of_steps_are_taken() -> None:
    """The first stage is the same, and comes in by that share; then more are needed."""
    X, y, _ = mixed(5, 1500)
    whole, part = (
        TransformRegressor(learning_rate=rate, n_estimators=30).fit(X, y) for rate in (1.0, 0.25)
    )
    assert part.column_weights_[0] == pytest.approx(0.25 * whole.column_weights_[0], rel=1e-9)
    assert part.n_iter_ > whole.n_iter_
