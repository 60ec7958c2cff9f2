"""Files that are damaged or hostile: a clear error for each, nothing run, little memory."""

import contextlib
import json
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cgboost
from cgboost.exceptions import (
    CorruptFileError,
    NewerFormatError,
    PersistenceError,
    UnknownContentError,
)
from cgboost.persistence import read_manifest, write
from tests.persistence.forging import Members, forged, members, packed, sealed
from tests.persistence.models import fitted

MEMORY = 40
"""Bytes of memory that may be taken for each byte of a file, for numbers and lists of JSON."""


WATCHED: list[bool] = []
SEEN: list[str] = []
RUNNING = ("exec", "compile", "os.system", "os.exec", "os.fork", "subprocess.Popen", "pickle")


def _watch(event: str, arguments: Any) -> None:
    if WATCHED and event.startswith(RUNNING):
        place = str(getattr(arguments[0], "co_filename", "")).replace("\\", "/")
        if not any(f"/{own}/" in place for own in ("cgboost", "solvers", "sklearn", "encodings")):
            SEEN.append(f"{event} {place}")


sys.addaudithook(_watch)  # which cannot be removed: one for all tests


@pytest.fixture(scope="module")
def stored(tmp_path_factory: Any) -> Path:
    """A small model with trees, arrays, strings and a random state."""
    model, _ = fitted("thinned forest")
    path: Path = model.save(tmp_path_factory.mktemp("stored") / "model.cgb")
    return path


def refused(path: Path, data: bytes) -> PersistenceError:
    """The error of a file, whose memory is bounded and which has run nothing."""
    path.write_bytes(data)
    SEEN.clear()
    WATCHED.append(True)
    tracemalloc.start()
    try:
        with pytest.raises(PersistenceError) as caught:
            cgboost.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        WATCHED.clear()
    assert peak < 3_000_000 + MEMORY * len(data), peak
    assert SEEN == []
    assert len(str(caught.value)) < 800
    return caught.value


def test_a_byte_that_has_changed_is_found(stored: Path, tmp_path: Path) -> None:
    """At 150 places all over the file, and at its ends."""
    data = stored.read_bytes()
    rng = np.random.default_rng(0)
    places = [0, 1, len(data) - 1, len(data) - 70, *rng.integers(0, len(data), 150).tolist()]
    for place in places:
        own = bytearray(data)
        own[place] ^= 1 << int(rng.integers(8))
        error = refused(tmp_path / "a.cgb", bytes(own))
        assert isinstance(error, CorruptFileError)


def test_a_file_that_is_cut_is_found(stored: Path, tmp_path: Path) -> None:
    """At any place; with something behind its end, too."""
    data = stored.read_bytes()
    rng = np.random.default_rng(1)
    for length in [0, 1, len(data) - 1, *rng.integers(0, len(data), 40).tolist()]:
        assert isinstance(refused(tmp_path / "a.cgb", data[:length]), CorruptFileError)
    for more in (b"\0", data):
        assert isinstance(refused(tmp_path / "a.cgb", data + more[:-1] + b"x"), CorruptFileError)


def test_bytes_that_change_under_a_hash_that_is_right(stored: Path, tmp_path: Path) -> None:
    """A file that was sealed again after a byte of the container has changed: an error or a model.

    Bytes of the container that nobody reads (dates, versions) may change it without harm.
    """
    data = stored.read_bytes()
    rng = np.random.default_rng(2)
    count = 0
    for place in rng.integers(0, len(data) - 80, 150).tolist():
        own = bytearray(data)
        own[place] ^= 1 << int(rng.integers(8))
        path = tmp_path / "a.cgb"
        path.write_bytes(sealed(bytes(own)))
        try:
            cgboost.load(path)
        except PersistenceError:
            count += 1
    assert count > 100


def no_zip(own: Members) -> None:
    """The file as it is."""


CONTAINERS: dict[str, Callable[[Path], bytes]] = {
    "no zip": lambda path: b"GIF89a" * 50,
    "a pickle": lambda path: b"\x80\x05cos\nsystem\n(S'touch hacked'\ntR.",
    "an empty zip": lambda path: packed([]),
    "another zip": lambda path: packed([("a.txt", b"a")]),
    "compressed": lambda path: forged(path, no_zip, compression=zipfile.ZIP_DEFLATED),
    "a bomb": lambda path: packed(
        [("manifest.json", b" " * 30_000_000)], compression=zipfile.ZIP_BZIP2
    ),
    "a long manifest": lambda path: packed([("manifest.json", b"[" * 2_000_000)]),
    "a path": lambda path: forged(path, lambda own: own | {"../../evil": b""}),
    "an absolute path": lambda path: forged(path, lambda own: own | {"/etc/passwd": b""}),
    "a member twice": lambda path: packed([("manifest.json", b"{}"), ("manifest.json", b"{}")]),
    "no graph": lambda path: forged(path, lambda own: own.pop("graph.json") and None),
    "no arrays": lambda path: forged(path, lambda own: own.pop("arrays.bin") and None),
    "one more member": lambda path: forged(path, lambda own: own | {"code.py": b"import os"}),
    "swapped members": lambda path: forged(
        path, lambda own: own | {"graph.json": own["arrays.bin"]}
    ),
    "arrays of JSON": lambda path: forged(
        path, lambda own: own | {"arrays.bin": json.dumps(own["graph.json"]).encode()}
    ),
    "no JSON": lambda path: forged(path, lambda own: own | {"graph.json": b"{"}),
    "no UTF-8": lambda path: forged(path, lambda own: own | {"graph.json": b'"\xff\xfe"'}),
    "deep JSON": lambda path: forged(path, lambda own: own | {"graph.json": b"[" * 300_000}),
    "NaN": lambda path: forged(path, lambda own: own | {"graph.json": b'{"root": NaN}'}),
    "a name twice": lambda path: forged(
        path, lambda own: own | {"graph.json": b'{"root": 1, "root": 2}'}
    ),
    "a long number": lambda path: forged(
        path, lambda own: own | {"graph.json": b'{"root": ' + b"9" * 100_000 + b"}"}
    ),
    "no manifest": lambda path: forged(path, lambda own: own["manifest.json"].clear()),
    "another format": lambda path: forged(
        path, lambda own: own["manifest.json"].update(format="pickle")
    ),
    "another kind": lambda path: forged(path, lambda own: own["manifest.json"].update(kind="cake")),
    "a version of words": lambda path: forged(
        path, lambda own: own["manifest.json"].update(format_version="1")
    ),
    "no kind": lambda path: forged(path, lambda own: own["manifest.json"].pop("kind") and None),
    "a list for a manifest": lambda path: forged(path, no_zip) and packed(
        [("manifest.json", b"[]"), ("graph.json", b"{}"), ("arrays.bin", b"")]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_that_are_not_ours(stored: Path, tmp_path: Path, name: str) -> None:
    """Other files, members by other names, compression, JSON that is none."""
    error = refused(tmp_path / "a.cgb", CONTAINERS[name](stored))
    assert isinstance(error, CorruptFileError)
    assert "a.cgb" in str(error)


def test_a_newer_format_says_who_wrote_it(stored: Path, tmp_path: Path) -> None:
    """The version of cgboost, and what to do."""
    data = forged(stored, lambda own: own["manifest.json"].update(format_version=3, cgboost="7.1"))
    error = refused(tmp_path / "a.cgb", data)
    assert isinstance(error, NewerFormatError)
    assert "written by cgboost 7.1 in version 3 of the format" in str(error)
    assert "Update cgboost" in str(error)


def of(shapes: list[Any], nodes: list[Any], root: Any = None, **more: Any) -> dict[str, Any]:
    """A graph."""
    last = [len(nodes) - 1] if root is None else root
    return {"shapes": shapes, "nodes": nodes, "root": last, "arrays": [], "given": []} | more


def nested(tag: str, count: int) -> dict[str, Any]:
    """Something within something, and so on."""
    return of([[tag]], [[0, None], *([0, [i]] for i in range(count))])


CHAIN = 30_000
FORBIDDEN = (
    "os:system", "posix:system", "builtins:eval", "builtins:exec", "subprocess:Popen",
    "builtins:getattr", "builtins:__import__", "pickle:loads", "cgboost.exceptions:os",
    "cgboost.exceptions:os.system", "cgboost.exceptions:sys.exit", "cgboost.os:system",
    "cgboost.exceptions:warn_caller", "cgboost.studies.cli:main", "numpy:load", "cgboost:load",
    "cgboost.parallel.item_tasks:_Part", "cgboost.integer.parallel_nodes:NodeTask",
    "cgboost.persistence.classes:known_class", "cgboost.integer.parallel_nodes:ParallelNodes",
    "cgboost.kernels.numeric.rbf:np", "cgboost.kernels.numeric.rbf:RBF.__call__",
    "cgboost.callables:anything", "antigravity:x", "", ":", "rbf", None, 3, [], {"a": 1},
    "_Part", "NodeTask", "LinearMaster", "HighsBlock", "np", "warn_caller", "RBF.__call__",
)  # fmt: skip
"""Names that no file may use, for classes or functions."""

TAGS: dict[str, tuple[list[Any], list[Any]]] = {
    "class": ([], []),
    "object": ([[]], []),
    "function": ([], []),
    "exception": ([], [[], {}]),
    "made": ([], [None, None]),
    "learner": ([[]], []),
    "type": ([], []),
}
"""Shapes that name a class or a function: what follows the name, and the values of a node."""

GRAPHS: dict[str, dict[str, Any]] = {
    **{f"class {name}": of([["class", name]], [[0]]) for name in FORBIDDEN},
    **{
        f"{tag} {name}": of([[tag, name, *more]], [[0, *values]])
        for tag, (more, values) in TAGS.items()
        for name in ("os:system", "cgboost.exceptions:os.system", "rbf", None)
    },
    "exit": of(
        [["tuple"], ["dict"], ["exception", "builtins:SystemExit"]], [[0], [1], [2, [0], [1]]]
    ),
    "unknown tag": of([["reduce", "os:system"]], [[0]]),
    "tag of numbers": of([[1]], [[0]]),
    "no shapes": of([], [[0]]),
    "negative shape": of([["list"]], [[-1]]),
    "negative node": of([["list"]], [[0, [-1]]]),
    "node too large": of([["list"]], [[0, [7]]]),
    "node of a float": of([["list"]], [[0, [0.0]]]),
    "node of truth": of([["list"]], [[0], [0, [True]]]),
    "no root": of([["list"]], [[0]], root=[5]),
    "root of JSON": of([["list"]], [[0]], root={"a": 1}),
    "number of words": of([["list"]], [[0, ["f", "1e5"]]]),
    "integer of words": of([["list"]], [[0, ["i", "12"]]]),
    "value of three": of([["list"]], [[0, ["f", "nan", 1]]]),
    "a tuple of itself": of([["tuple"]], [[0, [0]]]),
    "a key of itself": of([["dict"]], [[0, [0], 1]]),
    "a key of a list": of([["list"], ["dict"]], [[0], [1, [0], 1]]),
    "a key without value": of([["dict"]], [[0, "a"]]),
    "a key twice": of([["dict"]], [[0, "a", 1, "a", 2]]),
    "deep key": of([["tuple"], ["dict"]], [*nested("tuple", CHAIN)["nodes"], [1, [CHAIN], 1]]),
    "deep member of a set": of(
        [["tuple"], ["frozenset"]], [*nested("tuple", CHAIN)["nodes"], [1, [CHAIN]]]
    ),
    "deep objects": of(
        [["objects", [1], "C"]], [[0, None], *([0, [i]] for i in range(CHAIN))]
    ),
    "deep objects, forward": of(
        [["objects", [1], "C"], ["list"]], [*([0, [i + 1]] for i in range(CHAIN)), [1]], root=[0]
    ),
    "deep slices": of([["slice"]], [[0, 1, 2, 3], *([0, [i], None, None] for i in range(CHAIN))]),
    "deep tuples": nested("tuple", CHAIN),
    "objects of a huge shape": of([["objects", [1 << 40], "C"]], [[0]]),
    "objects of a shape too long": of([["objects", [1] * 100, "C"]], [[0, 1]]),
    "objects of a negative shape": of([["objects", [-1], "C"]], [[0]]),
    "too few objects": of([["objects", [2], "C"]], [[0, 1]]),
    "no such array": of([["array"]], [[0, 0]]),
    "array of truth": of([["array"]], [[0, True]]),
    "names that are none": of([["object", "RBF", [1]]], [[0, 1]]),
    "too few names": of([["object", "RBF", []]], [[0, 1]]),
    "abstract": of([["object", "Kernel", []]], [[0]]),
    "an enum that is none": of([["enum", "RBF"]], [[0, "A"]]),
    "a member that is none": of(
        [["enum", "StopReason"]], [[0, "__class__"]]
    ),
    "a state that is none": of([["state", "RBF"]], [[0, None]]),
    "made without a way": of([["tuple"], ["made", "RBF"]], [[0], [1, [0], None]]),
    "named without names": of([["named", "RBF"]], [[0, 1]]),
    "given that is not": of([["given"]], [[0, 0]]),
    "instance of none": of([["instance", 0, []]], [[0]]),
    "missing function": of([["given"]], [[0, 0]], given=[["os.system"]]),
    "functions of numbers": of([["given"]], [[0, 0]], given=[[1]]),
    "given of no list": of([["given"]], [[0, 0]], given=7),
    "no lists": {"shapes": 1, "nodes": 2, "root": 3, "arrays": [], "given": []},
    "nothing": {},
    "a list": of([["list"]], [[0]]),
    "a number": of([], [], root=7),
    "a generator of nothing": of([["generator"]], [[0, None]]),
    "bits of another": of([["dict"], ["bits", "SystemRandom"]], [[0], [1, [0], None]]),
    "seeds without end": of([["tuple"], ["seeds"]], [[0], [1, 1, [0], 1 << 40, 0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_that_were_made_by_hand(stored: Path, tmp_path: Path, name: str) -> None:
    """Classes and functions that are not ours, and nodes that do not fit together."""
    data = forged(stored, lambda own: own | {"graph.json": GRAPHS[name], "arrays.bin": b""})
    error = refused(tmp_path / "a.cgb", data)
    assert isinstance(error, (CorruptFileError, UnknownContentError))


ARRAYS: dict[str, Any] = {
    "huge": ["<f8", [1 << 40], "C"],
    "longer than addresses": ["<f8", [1 << 61, 1 << 61], "C"],
    "huge and empty": ["<f8", [0, 1 << 63], "C"],
    "negative": ["<f8", [-1], "C"],
    "of floats": ["<f8", [1.0], "C"],
    "of truth": ["<f8", [True], "C"],
    "of words": ["<f8", "8", "C"],
    "too many dimensions": ["<f8", [1] * 65, "C"],
    "objects": ["|O", [1], "C"],
    "objects inside": [[["a"], ["|O"], [0], 8], [1], "C"],
    "overlapping": [[["a", "b"], ["<f8", "<f8"], [0, 4], 16], [1], "C"],
    "outside": [[["a"], ["<f8"], [100], 8], [1], "C"],
    "a negative offset": [[["a"], ["<f8"], [-8], 8], [1], "C"],
    "void": ["|V8", [1], "C"],
    "no size": ["<U0", [1 << 40], "C"],
    "not plain": ["f8", [1], "C"],
    "of Python": ["float", [1], "C"],
    "a list of fields": ["f8,f8", [1], "C"],
    "no order": ["<f8", [1], "K"],
    "two of three": ["<f8", [1]],
    "nothing": None,
    "other bytes": ["|b1", [8], "C"],
    "one byte too few": ["|u1", [17], "C"],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_are_not_there(stored: Path, tmp_path: Path, name: str) -> None:
    """Shapes that do not fit the bytes, dtypes with pointers: nothing is allocated for them."""
    graph = of([["array"]], [[0, 0]], arrays=[ARRAYS[name]])
    data = forged(stored, lambda own: own | {"graph.json": graph, "arrays.bin": b"\x02" * 16})
    assert isinstance(refused(tmp_path / "a.cgb", data), CorruptFileError)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    """A missing file is that, and a folder is no file."""
    with pytest.raises(FileNotFoundError):
        cgboost.load(tmp_path / "none")
    with pytest.raises(CorruptFileError, match="is a folder"):
        cgboost.load(tmp_path)


def test_what_a_file_says_of_itself(tmp_path: Path) -> None:
    """Kind, versions and remarks, without making an object."""
    write(tmp_path / "a", "thing", [1], about={"rows": 3})
    own = read_manifest(tmp_path / "a")
    assert (own.kind, own.version, own.about) == ("thing", cgboost.__version__, {"rows": 3})
    assert own.needs == ()
    assert set(own.written_with) == {"numpy", "scipy", "scikit-learn"}
    assert list(members(tmp_path / "a")) == ["graph.json", "arrays.bin", "manifest.json"]


def changed(own: Members, rng: np.random.Generator) -> None:
    """Change a value, a shape or an array of a graph."""
    graph = own["graph.json"]

    def some(of: list[Any]) -> Any:
        return of[int(rng.integers(len(of)))]

    what = some(["node", "node", "shape", "array"])
    if what == "node":
        node = some(graph["nodes"])
        other = [int(rng.integers(len(graph["nodes"])))]
        node[int(rng.integers(len(node)))] = some(
            [None, True, -1, 7, 1e308, "a", other, some(node)]
        )
    elif what == "shape":
        some(graph["shapes"])[:] = list(some(graph["shapes"]))
    else:
        some(graph["arrays"])[:] = list(some(graph["arrays"]))


@pytest.mark.parametrize("name", ["thinned forest", "frame with words", "sparse rows"])
def test_graphs_that_have_changed_somewhere(tmp_path: Path, name: str) -> None:
    """A hundred times: an error of ours, or a model, and no other error, whatever has changed."""
    model, rows = fitted(name)
    path = model.save(tmp_path / "model.cgb")
    rng, refusals = np.random.default_rng(0), 0
    for _ in range(100):
        (tmp_path / "a.cgb").write_bytes(forged(path, lambda own: changed(own, rng)))
        try:
            own = cgboost.load(tmp_path / "a.cgb")
        except PersistenceError:
            refusals += 1
            continue
        with contextlib.suppress(Exception), np.errstate(all="ignore"):
            own.predict(rows)  # whatever it raises, it has not read memory that is not there
    assert refusals > 30
