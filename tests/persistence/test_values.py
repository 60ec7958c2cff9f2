"""Dates, decimals, intervals and graphs come back as they were."""

import datetime
import sys
import uuid
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import cgboost
from cgboost import CGBoostClassifier, KernelLibrary, TransformRegressor, WeisfeilerLehman
from cgboost.exceptions import PersistenceError, UnknownContentError
from cgboost.persistence import read, write
from cgboost.persistence.values import make_value

UTC = datetime.UTC
VALUES: list[Any] = [
    datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
    datetime.datetime(2024, 2, 29, 1, tzinfo=UTC, fold=1),
    datetime.date(1999, 1, 2),
    datetime.time(1, 2, 3, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
    datetime.timedelta(-1, 2, 3),
    Decimal("0.10"),
    Fraction(1, 3),
    uuid.UUID(int=7),
    pd.NA,
    pd.NaT,
    pd.Interval(0.1, 0.5, closed="left"),
    pd.Period("2024-03", freq="M"),
    pd.Timestamp("2024-02-29 01:02:03.000000004"),
    pd.Timestamp("2024-02-29 01:02", tz="Europe/Paris"),
    pd.Interval(pd.Timestamp("2024"), pd.Timestamp("2025")),
    pd.Timedelta("1 day 3 ns"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_come_back(tmp_path: Path, value: Any) -> None:
    """Of the same type, and equal."""
    write(tmp_path / "a", "test", [value])
    own = read(tmp_path / "a", "test")[0]
    assert type(own) is type(value)
    assert own is value or own == value
    assert repr(own) == repr(value)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_graphs_come_back(tmp_path: Path, kind: Any) -> None:
    """With attributes of nodes, edges and themselves; kernels of graphs can be saved."""
    own = kind([(0, 1), (1, "a")], name="G")
    own.add_edge(0, 1, weight=2.0)
    own.add_node(7, label="x")
    write(tmp_path / "a", "test", own)
    other = read(tmp_path / "a", "test")
    assert type(other) is kind
    assert nx.utils.graphs_equal(own, other)
    assert other.graph == own.graph


def test_models_whose_categories_are_values(tmp_path: Path) -> None:
    """Intervals of ``pd.cut`` and dates; graphs as rows of a kernel model."""
    x = np.linspace(0, 1, 40)
    days = [datetime.date(2024, 1, 1 + int(3 * value)) for value in x]
    frame = pd.DataFrame({"x": x, "cut": pd.cut(x, 4), "day": pd.Categorical(days)})
    model = TransformRegressor().fit(frame, x**2)
    same = cgboost.load(model.save(tmp_path / "a.cgb"))
    np.testing.assert_array_equal(same.predict(frame), model.predict(frame))
    graphs = np.empty(12, dtype=object)
    graphs[:] = [nx.gnp_random_graph(5, 0.3 if i % 2 else 0.8, seed=i) for i in range(12)]
    library = KernelLibrary({"graphs": WeisfeilerLehman()})
    kernel = CGBoostClassifier(library, max_columns=5).fit(graphs, np.arange(12) % 2)
    same = cgboost.load(kernel.save(tmp_path / "b.cgb"))
    np.testing.assert_array_equal(same.decision_function(graphs), kernel.decision_function(graphs))


def test_time_zones_by_name_are_refused(tmp_path: Path) -> None:
    """What they mean is in a database that is not in the file."""
    value = datetime.datetime(2024, 1, 1, tzinfo=ZoneInfo("UTC"))
    with pytest.raises(PersistenceError, match="has a time zone by name"):
        write(tmp_path / "a", "test", value)


def test_packages_that_are_not_installed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """And types that are not in the list, without importing anything for them."""
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(UnknownContentError, match="pip install networkx"):
        make_value(["networkx:Graph"], [{}, [], []])
    for name in ("os:system", "datetime:tzinfo", 3, None):
        with pytest.raises(UnknownContentError, match="no type of values"):
            make_value([name], [])
