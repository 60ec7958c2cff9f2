"""Objects to files and back, without pickle.

On the way out they become nodes: a list of small JSON arrays that refer to each other by number.

::

    graph = {"shapes": [[tag, …], …],       what nodes are, each kind once
             "nodes":  [[shape, value, …], …]   children before parents, but for circles
             "root":   value,
             "arrays": [[dtype, shape, order], …],
             "given":  [[name, …], …]}      functions of the user's, and other names for them

    value   None, a truth value, a string, a finite number, or a list: [number of a node],
            ["f", "nan"], ["i", hexadecimal digits]

Objects that are held twice are one node; circles are kept. The work is done with its own stack, so
that long chains do not exhaust Python's.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy
import scipy
import sklearn
from numpy.typing import NDArray

from cgboost._version import __version__
from cgboost.exceptions import CorruptFileError, PersistenceError
from cgboost.persistence.archive import FORMAT_VERSION, Manifest, opened, write_archive
from cgboost.persistence.arrays import describe
from cgboost.persistence.decoding import decoded
from cgboost.persistence.nodes import ObjectNode, described, is_given

LAMBDA = "<lambda>"
MOST_PLAIN = 1 << 62
"""Larger integers are written in hexadecimal digits."""


@dataclass
class ObjectGraph:
    """Nodes of the objects that hang on one of them."""

    root: Any
    shapes: list[Any]
    nodes: list[list[Any]]
    arrays: list[NDArray[Any]]
    given: list[list[str]]

    def as_json(self) -> dict[str, Any]:
        """All but the bytes of arrays."""
        return {
            "shapes": self.shapes,
            "nodes": self.nodes,
            "root": self.root,
            "arrays": [describe(array) for array in self.arrays],
            "given": self.given,
        }


def encoded(root: Any, functions: Mapping[str, Any] | None = None) -> ObjectGraph:
    """The nodes of an object and of all that it holds.

    Parameters
    ----------
    functions : mapping of str to callable or None
        Names for functions, classes and objects of the user's; those of others are the names that
        they have in Python.

    Raises
    ------
    PersistenceError
        Naming the place of something that cannot be stored, and its type.
    """
    return _Encoder(functions or {}).run(root)


class _Frame:
    """A node whose children are being done: what it will be in the file, and how far it is."""

    def __init__(self, node: ObjectNode, key: int, shape: int) -> None:
        self.node, self.key = node, key
        self.values: list[Any] = [shape]

    @property
    def place(self) -> int:
        """Of the next child."""
        return len(self.values) - 1


class _Encoder:
    def __init__(self, functions: Mapping[str, Any]) -> None:
        self.names = {id(own): name for name, own in functions.items()}
        self.kept: list[Any] = list(functions.values())  # so that ids stay theirs
        self.numbers: dict[int, int] = {}
        self.open: dict[int, list[tuple[list[Any], int]]] = {}
        self.tags: dict[int, str] = {}
        self.shapes: dict[Any, int] = {}
        self.nodes: list[list[Any]] = []
        self.arrays: list[NDArray[Any]] = []
        self.given: dict[int, int] = {}
        self.given_names: list[list[str]] = []
        self.stack: list[_Frame] = []

    def run(self, root: Any) -> ObjectGraph:
        top: list[Any] = []
        self._put(root, top)
        while self.stack:
            frame = self.stack[-1]
            if frame.place < len(frame.node.children):
                self._put(frame.node.children[frame.place], frame.values)
            else:
                self.stack.pop()
                self.numbers[frame.key] = number = len(self.nodes)
                self.nodes.append(frame.values)
                for values, place in self.open.pop(frame.key):
                    values[place] = [number]
                (self.stack[-1].values if self.stack else top).append([number])
        self.given_names = [_callable_names(names) for names in self.given_names]
        self._check_names()
        return ObjectGraph(top[0], list(self.shapes), self.nodes, self.arrays, self.given_names)

    def _put(self, child: Any, values: list[Any]) -> None:
        """Append what stands for a child, or put it on the stack, to be appended when done."""
        kind, key = type(child), id(child)
        if child is None or kind is bool or kind is str:
            values.append(child)
        elif kind is int:
            values.append(child if -MOST_PLAIN < child < MOST_PLAIN else ["i", hex(child)])
        elif kind is float:
            values.append(child if math.isfinite(child) else ["f", repr(child)])
        elif key in self.numbers:
            if key in self.given:
                self._add_name(self.given[key])
            values.append([self.numbers[key]])
        elif key in self.open:
            self._close_circle(key, values)
        else:
            node = self._described(child)
            shape = self.shapes.setdefault((node.tag, *node.static), len(self.shapes))
            self.open[key], self.tags[key] = [], node.tag
            self.kept.append(child)
            self.stack.append(_Frame(node, key, shape))

    def _described(self, child: Any) -> ObjectNode:
        if id(child) in self.names or is_given(child):
            number = self._give(child)
            self._add_name(number)
            return ObjectNode("given", (), (number,))
        try:
            node = described(child)
        except PersistenceError as error:
            raise PersistenceError(f"{self._path()} cannot be stored: {error.args[0]}") from error
        if node.array is not None:
            self.arrays.append(node.array)
            return ObjectNode(node.tag, node.static, (len(self.arrays) - 1,))
        if node.kind is not None:
            return ObjectNode(node.tag, (self._give(node.kind), *node.static), node.children)
        return node

    def _give(self, own: Any) -> int:
        """The number of a function or class that is not cgboost's."""
        key = id(own)
        if key not in self.given:
            self.kept.append(own)
            name = self.names.get(key, getattr(own, "__name__", None))
            self.given[key] = len(self.given_names)
            self.given_names.append([str(type(own).__name__ if name is None else name)])
        return self.given[key]

    def _add_name(self, number: int) -> None:
        """Note the key of the mapping that a function of the user's stands in, as another name."""
        frame = self.stack[-1] if self.stack else None
        if frame is not None and frame.node.tag == "dict" and frame.place % 2:
            key = frame.node.children[frame.place - 1]
            if isinstance(key, str) and key not in self.given_names[number]:
                self.given_names[number].append(key)

    def _close_circle(self, key: int, values: list[Any]) -> None:
        frame = self.stack[-1]
        if not frame.node.takes_circle(frame.place, self.tags[key]):
            raise PersistenceError(
                f"{self._path()} cannot be stored: a {frame.node.tag} that holds itself"
            )
        self.open[key].append((values, len(values)))
        values.append(None)

    def _path(self) -> str:
        """Where the child is that is being done."""
        return "".join(frame.node.step(frame.place) for frame in self.stack) or "the object"

    def _check_names(self) -> None:
        first = [names[0] for names in self.given_names]
        twice = sorted({name for name in first if first.count(name) > 1})
        if twice:
            raise PersistenceError(
                f"two functions or classes that are not cgboost's have the name {twice[0]!r}. Say "
                "which is which: functions={'one': f, 'other': g}"
            )


def _callable_names(names: list[str]) -> list[str]:
    """Names under which a function can be given; that of all lambdas only if it has no other."""
    return [name for name in names if name != LAMBDA] or names


Functions = Mapping[str, Callable[..., Any]]


def write(
    path: str | os.PathLike[str],
    kind: str,
    what: Any,
    *,
    functions: Functions | None = None,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write an object, and all that it holds, to a file.

    The file takes the place of an old one when it is complete; until then that is as it was.

    Parameters
    ----------
    path : str or path
    kind : str
        What it is, for :func:`read` to check: ``"model"``.
    what : object
        Of cgboost's classes, plain data, arrays, random generators, sparse matrices, scikit-learn's
        trees and linear models, and whatever they hold. Derived values that are made again are left
        out (``functools.cached_property``).
    functions : mapping of str to callable or None
        Names for functions and classes of yours. Without it they are stored by their own names.
    about : mapping or None
        JSON that :func:`read_manifest` gives back without making any object.

    Raises
    ------
    PersistenceError
        Naming what cannot be stored, and where it is.
    FileError
        If the file cannot be written.
    """
    _check_functions(functions)
    graph = encoded(what, functions)
    needs = tuple(names[0] for names in graph.given)
    foreign = any(shape[0] in ("learner", "tree") for shape in graph.shapes)
    versions = {
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
    about = dict(about or {})
    manifest = Manifest(kind, FORMAT_VERSION, __version__, needs, about, versions, foreign)
    write_archive(path, manifest, graph.as_json(), graph.arrays)


def read(
    path: str | os.PathLike[str],
    kind: str,
    *,
    functions: Functions | None = None,
) -> Any:
    """The object in a file. Nothing in the file is run.

    Parameters
    ----------
    path : str or path
    kind : str
        What it must be.
    functions : mapping of str to callable or None
        Functions and classes of yours that the object needs, by the names under which they were
        saved.

    Raises
    ------
    FileNotFoundError
    CorruptFileError
        If the file is damaged, truncated, changed, of another kind, or was never written by this
        library.
    NewerFormatError
        If a later version has written it.
    UnknownContentError
        If it names classes that are not known, or functions that were not given.
    """
    return read_with_manifest(path, kind, functions=functions)[0]


def read_with_manifest(
    path: str | os.PathLike[str],
    kind: str,
    *,
    functions: Functions | None = None,
) -> tuple[Any, Manifest]:
    """The object in a file, as :func:`read` returns it, and what the file says of itself."""
    _check_functions(functions)
    with opened(path) as archive:
        if archive.manifest.kind != kind:
            raise CorruptFileError(
                f"{archive.name!r} is a {archive.manifest.kind!r:.40}, and not a {kind!r}"
            )
        graph = archive.graph()
        arrays = archive.arrays(graph.get("arrays"))
        return decoded(graph, arrays, functions), archive.manifest


def _check_functions(functions: Any) -> None:
    known = functions is None or isinstance(functions, Mapping)
    if not known or not all(isinstance(name, str) for name in functions or ()):
        raise PersistenceError(
            "functions must be a mapping of names to functions, {'mine': k}, got "
            f"{functions!r:.80}"
        )


def read_manifest(path: str | os.PathLike[str]) -> Manifest:
    """What a file says of itself: kind, version, the functions that it needs.

    Raises
    ------
    FileNotFoundError
    CorruptFileError, NewerFormatError
    """
    with opened(path) as archive:
        return archive.manifest
