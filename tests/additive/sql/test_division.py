"""Preparation in a database is that in memory: holdout rows, intervals, groups."""

import numpy as np
import pytest

from cgboost.additive.sql.division import AT_A_TIME, HELD, SAMPLED
from cgboost.tables.preparation import Categories, Intervals
from tests.additive.sql.sql_tables import DATABASES, Data, mixed, place_of


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize(("seed", "sample"), [(0, 100_000), (1, 100)])
def test_the_same_rows_are_held_out_and_sampled_and_make_the_same_intervals(
    database: str, seed: int, sample: int, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row by row, to the last bit, from all rows or a sample, with copies and weights."""
    monkeypatch.setattr("cgboost.tables.holdout_choice.SAMPLE", sample)
    data = mixed(seed)
    wanted = data.prepared(seed=seed)
    with place_of(database, server, data, seed=seed) as place:
        division = place._division
        source = division.store.source("y w held sampled g0 g2 g4")
        rows = place.session.rows(f"SELECT y, w, {HELD}, {SAMPLED}, g0, g2, g4 FROM {source}")
    there = data.weights > 0
    y, w = data.y[there], data.weights[there]
    sampled = np.isin(np.arange(len(y)), wanted.sample)
    X = data.schema.encode(data.frame)[there]
    codes = [2 * wanted.groups[j].codes(X[:, j]) + wanted.held for j in (0, 2, 4)]
    expected = zip(y, w, wanted.held, sampled, *codes, strict=True)
    assert sorted(rows) == sorted(tuple(map(float, row)) for row in expected)
    np.testing.assert_allclose(division.training, w[~wanted.held].sum(), rtol=1e-12)
    np.testing.assert_allclose(division.holdout, w[wanted.held].sum(), rtol=1e-12)
    np.testing.assert_allclose(division.mean, np.average(y, weights=w), rtol=1e-12)
    assert division.n_rows == len(y)
    for own, groups in zip(division.groups, wanted.groups, strict=True):
        assert type(own) is type(groups)
        assert own.n_groups == groups.n_groups
        if isinstance(own, Intervals):
            np.testing.assert_array_equal(own.edges, groups.edges)
            assert (own.low, own.high) == (groups.low, groups.high)


@pytest.mark.parametrize("database", DATABASES)
def test_classes_that_would_have_no_training_row_are_not_held_out(
    database: str, server: str
) -> None:
    """Row by row as in memory, with many classes of one or two rows."""
    data = mixed(3, 200)
    there = data.weights > 0
    codes = np.unique(np.round(data.y[there], 1), return_inverse=True)[1].astype(float)
    n_classes = int(codes.max()) + 1
    y = np.full(len(data.y), -1.0)  # a class of rows of weight 0, which is none
    y[there] = codes
    data = data._replace(y=y)
    wanted = data.prepared(n_classes=n_classes).held
    assert (data.prepared().held & ~wanted).any()
    left = np.bincount(codes[~wanted].astype(int), minlength=n_classes)
    assert (left > 0).all()
    assert wanted.any()
    with place_of(database, server, data, classification=True) as place:
        division = place._division
        source = division.store.source(f"y w {HELD}")
        rows = place.session.rows(f"SELECT y, w, {HELD} FROM {source}")
    expected = zip(codes, data.weights[there], wanted, strict=True)
    assert sorted(rows) == sorted(tuple(map(float, row)) for row in expected)
    weights = data.weights[there]
    np.testing.assert_allclose(division.training, weights[~wanted].sum(), rtol=1e-12)
    np.testing.assert_allclose(division.holdout, weights[wanted].sum(), rtol=1e-12)


def test_nothing_is_held_out_where_nothing_would_be_left(server: str) -> None:
    """Nor where the share is 0."""
    for share, n_rows in ((0.0, 50), (1.0, 50)):
        with place_of("duckdb", server, mixed(0, n_rows), share=share) as place:
            assert not place.has_holdout
            assert place._division.holdout == 0.0
            assert place._division.training > 0


@pytest.mark.parametrize("database", DATABASES)
def test_many_categories_have_the_numbers_that_python_gives_them(
    database: str, server: str
) -> None:
    """More than are written in one statement."""
    n = 2 * AT_A_TIME + 8
    data = mixed(0, n)
    frame = data.frame.assign(many=[f"c{k}" for k in range(n)])
    data = Data(frame, np.arange(float(n)), np.ones(n))
    with place_of(database, server, data) as place:
        groups = place._division.groups[-1]
        assert isinstance(groups, Categories)
        assert groups.count == n
        source = place._division.store.source("y g6")
        found = place.session.rows(f"SELECT y, g6 FROM {source}")
    codes = data.schema.encode(data.frame)[:, -1]
    assert {int(y): code // 2 for y, code in found} == dict(enumerate(codes.tolist()))
