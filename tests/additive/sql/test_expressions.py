"""Expressions of a fit: hashes, intervals, functions and losses in SQL are those of Python."""

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.additive.export.dialects import DIALECTS
from cgboost.additive.export.expressions import SQL, added
from cgboost.additive.sql.engines import engine_of
from cgboost.additive.sql.expressions import (
    code_expression,
    copies_query,
    distance_expression,
    edges_query,
    hash_expression,
    intervals_from,
    ladder,
    numbered_query,
    regressor_expression,
    term_expression,
)
from cgboost.additive.sql.losses import expressions_of
from cgboost.additive.sql.session import SQLSession
from cgboost.additive.trees.transformation import Transformation
from cgboost.losses import Huber, LogLoss, Loss, Poisson, SquaredError
from cgboost.tables.binning import SAME, Categories, Intervals, intervals_of
from cgboost.tables.holdout_choice import content_hash, numbered
from tests.additive.sql.sql_tables import DATABASES, connection_to, write
from tests.effort import examples


@pytest.fixture(params=DATABASES, scope="module")
def opened(request: pytest.FixtureRequest, server: str) -> Any:
    """A session in each database, and its name."""
    connection = connection_to(request.param, server)
    session = SQLSession(connection, engine_of(connection, None))
    session.open()
    yield session, request.param
    session.close()
    connection.close()


def table(opened: Any, **columns: list[Any]) -> str:
    """The name of a new table of numbers."""
    session, database = opened
    session.n_made = getattr(session, "n_made", 0) + 1
    name = f"t{session.n_made}"
    made = {key: ("DOUBLE", list(values)) for key, values in columns.items()}
    write(session.connection, database, made, name)
    return name


def doubles(values: np.ndarray) -> list[float | None]:
    """Numbers as databases have them: NULL for nan."""
    return [None if value != value else value for value in values.tolist()]


BITS = st.integers(0, 2**64 - 1).map(lambda b: struct.unpack("<d", struct.pack("<Q", b))[0])
SPECIAL = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 0.1, 5e-324, -5e-324, 2.0**-1022, 1.7e308, -1.7e308, 1e16, float("nan")]
)
NUMBERS = st.one_of(SPECIAL, st.integers(-(10**6), 10**6).map(float), BITS).map(
    lambda x: float("nan") if abs(x) == float("inf") else x
)


@settings(max_examples=examples(25))
@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=40),
    st.integers(0, 2**32),
    st.randoms(use_true_random=False),
)
def test_hashes_are_those_of_python(
    opened: Any, rows: list[tuple[float, ...]], seed: int, random: Any
) -> None:
    """Of doubles of all kinds, each row once or several times, with weights, for every seed."""
    session, _ = opened
    rows = rows + random.choices(rows, k=len(rows))
    values = np.array(rows)
    weights = np.array([random.choice([0.5, 1.0, 3.0]) for _ in rows])
    names = ["a", "b", "c"]
    columns = {name: doubles(values[:, j]) for j, name in enumerate(names)}
    name = table(opened, **columns, w=weights.tolist(), n=np.arange(len(rows)).tolist())
    h = hash_expression(session.engine, names, seed)
    hashes = content_hash(values[:, :2], values[:, 2], seed)
    found = session.rows(f"SELECT {h} FROM {name} ORDER BY n")
    assert [row[0] for row in found] == hashes.tolist()
    hashed = session.create(f"SELECT w, {h} AS h FROM {name}")
    copies = session.create(copies_query(hashed))
    mixed = session.rows(numbered_query(session.sql, hashed, copies, ["w"], "w"))
    wanted = zip(weights.tolist(), numbered(hashes, weights).tolist(), strict=True)
    assert sorted(mixed) == sorted(wanted)


COUNTED = st.lists(
    st.tuples(
        st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6), st.just(float("nan"))),
        st.sampled_from([0.5, 1.0, 1.0, 7.0]),
    ),
    min_size=1,
    max_size=60,
)


@settings(max_examples=examples(40))
@given(COUNTED, st.integers(2, 12), st.sampled_from([0.0, SAME, 0.05]))
def test_intervals_are_those_of_python(
    opened: Any, rows: list[tuple[float, float]], most: int, same: float
) -> None:
    """The same edges and ends, to the last bit, also of a column without values."""
    session, _ = opened
    values, counts = np.array(rows).T + 0.0
    name = table(opened, x=doubles(values), w=counts.tolist())
    query = edges_query(session.engine, name, "x", "w", most, same)
    found = intervals_from(session.rows(query))
    wanted = intervals_of(values, counts, most, same=same)
    np.testing.assert_array_equal(found.edges, wanted.edges)
    assert (found.low, found.high) == (wanted.low, wanted.high)


X = np.array([np.nan, -5.0, -1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0, 1e300, -1e300])


@pytest.mark.parametrize("edges", [[], [0.5], [-0.5, 0.0, 0.5, 1.0], list(np.linspace(-1, 1, 64))])
def test_groups_and_regressors_are_those_of_python(opened: Any, edges: list[float]) -> None:
    """A number on an edge belongs above it; numbers beyond the range are brought to its ends."""
    session, _ = opened
    groups = Intervals(np.array(edges), -2.0, 1.5)
    name = table(opened, x=doubles(X), n=np.arange(len(X)).tolist())
    made = (code_expression, regressor_expression, distance_expression)
    texts = ", ".join(session.sql.write(make(groups, SQL("x"))) for make in made)
    rows = session.rows(f"SELECT {texts} FROM {name} ORDER BY n")
    found = np.array(rows, dtype=float)
    np.testing.assert_array_equal(found[:, 0], groups.codes(X))
    np.testing.assert_array_equal(found[:, 1], groups.regressor(X))
    middles = groups.regressor(groups.centres)[groups.codes(X)]
    np.testing.assert_array_equal(found[:, 2], groups.regressor(X) - middles)


@pytest.mark.parametrize("seed", range(6))
def test_transformations_are_those_of_python(opened: Any, seed: int) -> None:
    """Of numbers and of categories: leaves in runs or scattered, slopes, earlier outputs."""
    session, _ = opened
    rng = np.random.default_rng(seed)
    n, n_leaves = 200, 4
    outputs = rng.normal(size=(n, 2))
    x = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n) + 10 * (seed % 2))
    if seed < 4:
        groups: Any = intervals_of(x, np.ones(n), 9)
        leaf = np.append(np.sort(rng.integers(n_leaves - 1, size=9)), n_leaves - 1)
        slope = np.append(rng.normal(size=n_leaves - 1), 0.0)
    else:
        groups, x = Categories(30), rng.integers(-1, 30, size=n).astype(float)
        leaf, slope = rng.integers(n_leaves, size=31), np.zeros(n_leaves)
        x[x < 0] = np.nan
    level, coef = rng.normal(size=n_leaves), rng.normal(size=(n_leaves, 2)) * [1.0, seed % 3 > 0]
    term = Transformation(0, groups, leaf, level, slope, coef)
    name = table(
        opened,
        g=(2 * groups.codes(x) + rng.integers(2, size=n)).tolist(),
        v=groups.regressor(x).tolist(),
        s0=outputs[:, 0].tolist(),
        s1=outputs[:, 1].tolist(),
        n=np.arange(n).tolist(),
    )
    text = session.sql.write(term_expression(term, SQL("g"), "v", ["s0", "s1"]))
    found = [row[0] for row in session.rows(f"SELECT {text} FROM {name} ORDER BY n")]
    np.testing.assert_allclose(found, term(x, outputs), rtol=1e-12, atol=1e-12)


F = np.array([-1e6, -800.0, -351.0, -40.0, -1.5, -1e-9, 0.0, 1e-9, 0.3, 2.0, 40.0, 351.0, 800.0])


@pytest.mark.parametrize(
    "loss", [SquaredError(), Huber(0.7), LogLoss(), Poisson()], ids=lambda loss: loss.name
)
def test_losses_are_those_of_python(opened: Any, loss: Loss) -> None:
    """Value, response, curvature: where nothing may overflow either, at both ends, at kinks."""
    session, _ = opened
    targets = [-1.0, 1.0] if isinstance(loss, LogLoss) else [0.0, 1.0, 7.0]
    f = F[F < 500] if isinstance(loss, Poisson) else F
    y, f = (part.ravel() for part in np.meshgrid(targets, f))
    name = table(opened, y=y.tolist(), f=f.tolist(), n=np.arange(len(y)).tolist())
    for target in ("f", "(f * 1.0e0)"):  # a column, or an expression in brackets
        own = expressions_of(loss, SQL("y"), SQL(target))
        texts = ", ".join(map(session.sql.write, (own.value, own.response, own.curvature)))
        query = f"SELECT {texts} FROM {name} ORDER BY n"
        value, response, curvature = np.array(session.rows(query), dtype=float).T
        np.testing.assert_allclose(value, loss.value(y, f), rtol=1e-12, atol=2e-15)
        np.testing.assert_allclose(response, -loss.gradient(y, f), rtol=1e-12, atol=1e-250)
        wanted = loss.hessian_diag(y, f)
        np.testing.assert_allclose(curvature, wanted, rtol=1e-12, atol=1e-250)


def test_a_ladder_is_as_high_as_it_must_be() -> None:
    """Bisection: of 1000 values each is found by ten comparisons at most."""
    node = ladder(SQL("x"), range(1, 1000), range(1000))
    text = DIALECTS["duckdb"].write(node)
    depth = most = 0
    for word in text.split():
        depth += (word == "CASE") - word.count("END")
        most = max(most, depth)
    assert most == 10


def test_long_sums_are_not_nested_deeply(opened: Any) -> None:
    """Of 5000 terms too."""
    session, _ = opened
    assert session.rows(f"SELECT {session.sql.write(added([1] * 5000))}") == [(5000,)]
