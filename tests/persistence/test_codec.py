"""Objects come back from a file as they were, and nothing else comes back."""

import datetime
import functools
import math
import sys
import uuid
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from cgboost import RBF, KernelLibrary, Linear
from cgboost.exceptions import CorruptFileError, PersistenceError, UnknownContentError
from cgboost.generation.history import StopReason
from cgboost.persistence import read, read_manifest, write
from cgboost.persistence.foreign import make_value
from tests.effort import examples


def back(what: Any, folder: Path, **options: Any) -> Any:
    """What is read of a file that it was written to."""
    path = folder / "what.cgb"
    write(path, "test", what)
    return read(path, "test", **options)


def same(one: Any, other: Any) -> bool:
    """Equal, of the same type, bit by bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        if one.dtype == object:
            return alike and all(map(same, one.ravel().tolist(), other.ravel().tolist()))
        return alike and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return same(list(one.items()), list(other.items()))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return one.hex() == other.hex() or (math.isnan(one) and math.isnan(other))
    if isinstance(one, complex):
        return same(one.real, other.real) and same(one.imag, other.imag)
    return bool(one == other)


KEYS = st.text(st.characters(), max_size=5) | st.integers() | st.booleans() | st.none()
DTYPES = st.one_of(
    arrays.scalar_dtypes().filter(lambda dtype: dtype.itemsize > 0),
    arrays.byte_string_dtypes(min_len=1, max_len=4),
    arrays.unicode_string_dtypes(min_len=1, max_len=4),
)
ARRAYS = DTYPES.flatmap(
    lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0, max_side=4))
)
ATOMS = st.one_of(
    KEYS,
    st.floats(),
    st.complex_numbers(),
    st.binary(max_size=9),
    st.text(st.characters(), max_size=9),
    st.integers(-(10**5000), 10**5000),
    st.sampled_from([StopReason.GAP, RBF(0.5), np.float32(0.1), np.str_("a"), np.nan, float]),
    ARRAYS,
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(KEYS, inner, max_size=4),
        st.frozensets(KEYS, max_size=4),
        st.lists(inner, min_size=2, max_size=2).map(lambda own: _objects(own)),
    ),
    max_leaves=20,
)


def _objects(own: list[Any]) -> np.ndarray:
    made = np.empty((1, len(own)), dtype=object)
    made[0, :] = own if not isinstance(own[0], np.ndarray) else [None, 1]
    return made


@settings(max_examples=examples(150), deadline=None)
@given(VALUES)
def test_values_come_back_bit_by_bit(tmp_path_factory: Any, value: Any) -> None:
    """Numbers of any kind, NaN among them, strings, containers and arrays of all dtypes."""
    assert same(back(value, tmp_path_factory.getbasetemp()), value)


def test_what_is_held_twice_and_circles_stay(tmp_path: Path) -> None:
    """One object at two places is one again, and an object that holds itself does so again."""
    shared, loop, array = [1], [], np.arange(3)
    loop.append(({"self": loop},))
    one, two, ring, first, second = back([shared, (shared,), loop, array, [array]], tmp_path)
    assert two[0] is one
    assert ring[0][0]["self"] is ring
    assert second[0] is first
    held = np.empty(1, dtype=object)
    held[0] = held
    with pytest.raises(PersistenceError, match="holds itself"):
        back(held, tmp_path)


def test_a_chain_of_any_length_can_be_stored(tmp_path: Path) -> None:
    """Depth is not limited by the stack of Python."""
    chain: Any = None
    for _ in range(20_000):
        chain = (chain,)
    own, depth = back(chain, tmp_path), 0
    while own is not None:
        (own,) = own
        depth += 1
    assert depth == 20_000
    for _ in range(20_000):  # one by one: Python would take them apart on its stack
        (chain,) = chain


@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_generators_go_on_where_they_were(tmp_path: Path, name: str) -> None:
    """The same numbers follow, and the same children are spawned.

    Of random states also the half of a pair of normal numbers that is kept.
    """
    own = np.random.Generator(getattr(np.random, name)(3))
    own.normal(size=3)
    own.spawn(1)
    other = back(own, tmp_path)
    np.testing.assert_array_equal(other.normal(size=9), own.normal(size=9))
    assert other.spawn(1)[0].random() == own.spawn(1)[0].random()
    old = np.random.RandomState(0)
    old.normal(size=3)
    np.testing.assert_array_equal(back(old, tmp_path).normal(size=5), old.normal(size=5))


def test_sparse_matrices_and_the_order_of_memory(tmp_path: Path) -> None:
    """Format, type, numbers and layout: sums over columns would else have other last digits."""
    for layout in ("csr", "csc", "coo"):
        for kind in ("array", "matrix"):
            own = getattr(sparse, f"{layout}_{kind}")(np.eye(3)[:2] * 0.1)
            other = back(own, tmp_path)
            assert type(other) is type(own)
            np.testing.assert_array_equal(other.toarray(), own.toarray())
    own = np.asfortranarray(np.random.default_rng(0).normal(size=(5, 3)))
    other = back(own, tmp_path)
    assert (other.flags.f_contiguous, other.flags.c_contiguous) == (True, False)
    assert other.flags.writeable
    np.testing.assert_array_equal(other, own)


def test_other_plain_things(tmp_path: Path) -> None:
    """Slices, ranges, ordered mappings, partial functions of NumPy's, dtypes, errors."""
    own = back(
        [slice(1, None), range(3), OrderedDict(a=1), functools.partial(np.exp), np.dtype("f4")],
        tmp_path,
    )
    assert own[:3] == [slice(1, None), range(3), OrderedDict(a=1)]
    assert own[3].func is np.exp
    assert own[4] == np.dtype("f4")
    error = back(ValueError("no", 1), tmp_path)
    assert type(error) is ValueError
    assert error.args == ("no", 1)


def mine(X: Any, Z: Any) -> Any:
    """A kernel of a user's."""
    return X @ Z.T


def test_functions_of_the_user_are_given_by_name(tmp_path: Path) -> None:
    """By their own, by that of the mapping that holds them, or by one given when they are saved."""
    path = tmp_path / "library.cgb"
    library = KernelLibrary({"lin": mine, "rbf": RBF(), "both": Linear() + RBF()})
    write(path, "library", library)
    for name in ("mine", "lin"):
        own = read(path, "library", functions={name: mine})
        assert own == library
        assert own.kernels["lin"].function is mine
    assert read_manifest(path).needs == ("mine",)
    with pytest.raises(UnknownContentError, match="'mine' or 'lin'"):
        read(path, "library")
    write(path, "library", library, functions={"third": mine})
    assert read(path, "library", functions={"third": mine}) == library


@pytest.mark.parametrize("functions", [[mine], {1: mine}, mine])
def test_functions_must_have_names(tmp_path: Path, functions: Any) -> None:
    """Both to write and to read."""
    with pytest.raises(PersistenceError, match="functions must be a mapping of names"):
        write(tmp_path / "a", "test", 1, functions=functions)
    write(tmp_path / "a", "test", 1)
    with pytest.raises(PersistenceError, match="functions must be a mapping of names"):
        read(tmp_path / "a", "test", functions=functions)


def test_two_functions_of_one_name_need_names(tmp_path: Path) -> None:
    """Two lambdas cannot be told apart, unless names are given."""
    one, two = (lambda: 1), (lambda: 2)
    with pytest.raises(PersistenceError, match="have the name '<lambda>'"):
        write(tmp_path / "two", "test", [one, two])
    names = {"one": one, "two": two}
    write(tmp_path / "two", "test", [one, two], functions=names)
    assert read(tmp_path / "two", "test", functions=names) == [one, two]


class Mine:
    """A class of a user's."""

    def __init__(self, value: Any) -> None:
        self.value = value


def test_objects_of_classes_of_the_user(tmp_path: Path) -> None:
    """Their attributes are stored, and the class is given."""
    own = Mine([1])
    path = tmp_path / "mine.cgb"
    write(path, "test", [own, own])
    one, two = read(path, "test", functions={"Mine": Mine})
    assert one is two
    assert one.value == [1]
    with pytest.raises(UnknownContentError, match="'Mine'"):
        read(path, "test")
    assert read(path, "test", functions={"Mine": own})[0] is own


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ([{"a": (x for x in "a")}], r"\[0\]\['a'\] cannot be stored: .*builtins\.generator"),
        (np.ma.masked_array([1]), "MaskedArray"),
        (open, "functions"),
    ],
)
def test_what_cannot_be_stored_is_named(tmp_path: Path, what: Any, words: str) -> None:
    """With its type and the way to it; functions are refused when they are not given."""
    with pytest.raises(PersistenceError, match=words):
        back(what, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] in ([], ["what.cgb"])


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    """A checkpoint is no model."""
    write(tmp_path / "a", "checkpoint", 1)
    with pytest.raises(CorruptFileError, match="'checkpoint', and not a 'model'"):
        read(tmp_path / "a", "model")


DATES: list[Any] = [
    datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
    datetime.datetime(2024, 2, 29, 1, tzinfo=datetime.UTC, fold=1),
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


@pytest.mark.parametrize("value", DATES, ids=lambda value: type(value).__name__)
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
