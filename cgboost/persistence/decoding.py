"""From nodes back to objects.

Objects are made without running their ``__init__``: an empty one of a class that is known, and then
its attributes. Only ``__setstate__`` and ``__reduce__`` of cgboost's own classes, and the makers of
:mod:`cgboost.persistence.foreign`, do more than that.
"""

from __future__ import annotations

import functools
import math
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import CorruptFileError, UnknownContentError
from cgboost.persistence.arrays import is_shape, read_dtype
from cgboost.persistence.attributes import attributes, defaults
from cgboost.persistence.classes import PLAIN_TYPES, known_class, known_function
from cgboost.persistence.foreign import MAKERS, Maker, finish_learner, known_learner
from cgboost.persistence.nodes import has_own

FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
LATER = object()
"""Stands for a child that is made after its parent, until that is."""
DEEPEST_KEY = 100
"""Tuples within tuples of a key: Python hashes them on the stack of the process."""
DEEPEST = 1000
"""Objects within each other that Python takes apart on that stack."""
HEAVY = ("objects", "proxy", "partial")
"""These are."""


def decoded(
    graph: dict[str, Any], arrays: list[NDArray[Any]], functions: Mapping[str, Any] | None = None
) -> Any:
    """The object that a graph was made of.

    Parameters
    ----------
    graph : dict
        As read from JSON.
    arrays : list of ndarray
    functions : mapping of str to callable or None
        Functions, classes and objects of the user's, by the names under which they were saved.

    Raises
    ------
    UnknownContentError
        For a class or function that is not known, or was not given.
    CorruptFileError
        If the nodes do not fit together.
    """
    return _Decoder(graph, arrays, _given(graph["given"], functions or {})).run(graph["root"])


def _given(wanted: Any, functions: Mapping[str, Any]) -> list[Any]:
    """What stands for the names of a file."""
    found, missing = [], []
    for names in wanted:
        if not names or not all(isinstance(name, str) for name in names):
            raise CorruptFileError("the file names its functions by other things than strings")
        own = [functions[name] for name in names if name in functions]
        found += own[:1]
        missing += [] if own else [names]
    if missing:
        words = ", ".join(" or ".join(map(repr, names)) for names in missing)
        short = ", ".join(f"{names[0]!r}: …" for names in missing)
        raise UnknownContentError(
            f"the file needs functions or classes that are not cgboost's, and are never stored: "
            f"{words:.300}. Give them by these names, functions={{{short:.200}}}, to cgboost.load "
            "or to the Checkpoint among the callbacks"
        )
    return found


class _Decoder:
    def __init__(self, graph: Any, arrays: list[NDArray[Any]], given: list[Any]) -> None:
        self.shapes, self.nodes = graph["shapes"], graph["nodes"]
        self.arrays, self.given = arrays, given
        self.given_ids = frozenset(map(id, given))
        if not isinstance(self.shapes, list) or not isinstance(self.nodes, list):
            raise CorruptFileError("the file has no objects")
        self.classes = [self._class_of(shape) for shape in self.shapes]
        self.made: list[Any] = [LATER] * len(self.nodes)
        self.size = sum(len(node) for node in self.nodes if isinstance(node, list))
        self.depth = [0] * len(self.nodes)
        self.heavy = [0] * len(self.nodes)
        self.waiting: list[tuple[Any, Any, int]] = []

    def run(self, root: Any) -> Any:
        for number, node in enumerate(self.nodes):
            shape = self._shape(node)
            shell = SHELLS.get(self.shapes[shape][0])
            if shell is not None:
                self.made[number] = shell(self, shape)
        for number, node in enumerate(self.nodes):
            self._finish(number, node)
        for into, key, number in self.waiting:
            into[key] = self.made[number]
        for number, node in enumerate(self.nodes):
            if self.shapes[node[0]][0] == "learner":
                finish_learner(self.made[number])
        return self._value(root)

    def _shape(self, node: Any) -> int:
        if not isinstance(node, list) or not node or type(node[0]) is not int:
            raise CorruptFileError(f"{node!r:.60} is no object of a file")
        if not 0 <= node[0] < len(self.shapes):
            raise CorruptFileError(f"there is no kind {node[0]!r:.20} of objects")
        return node[0]

    def _class_of(self, shape: Any) -> Any:
        """The class that objects of this shape have; names are looked up once."""
        if not isinstance(shape, list) or not shape or not isinstance(shape[0], str):
            raise CorruptFileError(f"{shape!r:.60} is no kind of objects")
        tag, *static = shape
        if tag not in FINISH:
            raise CorruptFileError(f"{tag!r:.60} is no kind of objects")
        if tag in ("object", "learner", "instance"):
            first, names = static
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise CorruptFileError(f"{names!r:.60} are no names of attributes")
            if tag == "learner":
                return known_learner(first)
            own = known_class(first) if tag == "object" else self.given[_index(first, self.given)]
            if isinstance(own, type):
                shape[2] = attributes(own, names)
                shape.append([item for item in defaults(own).items() if item[0] not in shape[2]])
            return own
        if tag in ("class", "enum", "named", "state", "made"):
            return known_class(static[0])
        if tag == "exception":
            return _exception_class(static[0])
        return None

    def _value(self, value: Any) -> Any:
        """What a value of a node stands for; LATER if it is not there yet."""
        if not isinstance(value, list):
            if isinstance(value, dict):
                raise CorruptFileError("an object of JSON is no value")
            return value
        if len(value) == 1:
            return self.made[_index(value[0], self.made)]
        kind, words = value
        if kind == "f" and words in FLOATS:
            return FLOATS[words]
        if kind == "i" and isinstance(words, str) and words.lstrip("-").startswith("0x"):
            return int(words, 16)
        raise CorruptFileError(f"{value!r:.60} is no value")

    def _finish(self, number: int, node: Any) -> None:
        tag, *static = self.shapes[node[0]]
        self._measure(number, tag, node)
        if tag in COMPLETED:
            own = self.made[number]
            COMPLETED[tag](self, own, static, node[1:])
            return
        read = self.key if tag == "frozenset" else self._value
        children = [read(value) for value in node[1:]]
        if any(child is LATER for child in children):
            raise CorruptFileError(f"a {tag} needs what comes after it")
        self.made[number] = FINISH[tag](self, self.classes[node[0]], static, children)

    def _measure(self, number: int, tag: str, node: list[Any]) -> None:
        """Note how deep a node is, and refuse what would exhaust the stack of the process."""
        below = [_index(v[0], self.made) for v in node[1:] if isinstance(v, list) and len(v) == 1]
        if any(own >= number and self.shapes[self.nodes[own][0]][0] in HEAVY for own in below):
            raise CorruptFileError(f"a {tag} holds something that comes after it")
        if tag in ("tuple", "named"):
            self.depth[number] = 1 + max((self.depth[own] for own in below), default=0)
        self.heavy[number] = (tag in HEAVY) + max((self.heavy[own] for own in below), default=0)
        if self.heavy[number] > DEEPEST:
            raise CorruptFileError(f"more than {DEEPEST} arrays of objects are within each other")

    def key(self, value: Any) -> Any:
        """A child that is hashed: it must be there in full."""
        if isinstance(value, list) and len(value) == 1:
            deep = self.depth[_index(value[0], self.made)] > DEEPEST_KEY
            if deep or self.made[value[0]] is LATER:
                raise CorruptFileError("a key is too deep, or comes after what needs it")
        return self._value(value)

    def put(self, value: Any, into: Any, key: Any) -> None:
        """Set a child as an item, now or when it is made."""
        own = self._value(value)
        into[key] = None if own is LATER else own
        if own is LATER:
            self.waiting.append((into, key, value[0]))


def _index(number: Any, of: Any) -> int:
    if type(number) is not int or not 0 <= number < len(of):
        raise CorruptFileError(f"there is no number {number!r:.40} among {len(of)}")
    return number


def _exception_class(name: Any) -> type:
    if str(name).startswith("builtins:"):
        found = getattr(__import__("builtins"), str(name).partition(":")[2], None)
    else:
        found = known_class(name)
    if not (isinstance(found, type) and issubclass(found, Exception)):
        raise UnknownContentError(f"{name!r:.80} is no error that a file may name")
    return found


# ---------------------------------------------------------------------- there before their children


def _shell_object(decoder: _Decoder, shape: int) -> Any:
    kind = decoder.classes[shape]
    if decoder.shapes[shape][0] == "instance" and not isinstance(kind, type):
        return kind  # the user has given the object itself
    return object.__new__(kind)


def _shell_objects(decoder: _Decoder, shape: int) -> Any:
    _, lengths, order = decoder.shapes[shape]
    if not is_shape(lengths) or order not in ("C", "F"):
        raise CorruptFileError(f"{lengths!r:.60} is no shape")
    if math.prod(lengths) > decoder.size:
        raise CorruptFileError(f"an array of shape {lengths!r:.60} has more objects than the file")
    return np.empty(tuple(lengths), dtype=object, order=order)


SHELLS: dict[str, Callable[[_Decoder, int], Any]] = {
    "list": lambda decoder, shape: [],
    "dict": lambda decoder, shape: {},
    "ordered": lambda decoder, shape: OrderedDict(),
    "set": lambda decoder, shape: set(),
    "object": _shell_object,
    "instance": _shell_object,
    "learner": _shell_object,
    "state": _shell_object,
    "objects": _shell_objects,
}


def _complete_list(decoder: _Decoder, own: Any, static: Any, values: Any) -> None:
    own.extend([None] * len(values))
    for place, value in enumerate(values):
        decoder.put(value, own, place)


def _complete_dict(decoder: _Decoder, own: Any, static: Any, values: Any) -> None:
    if len(values) % 2:
        raise CorruptFileError("a mapping has a key without a value")
    for key, value in zip(values[::2], values[1::2], strict=True):
        decoder.put(value, own, decoder.key(key))
    if len(own) != len(values) // 2:
        raise CorruptFileError("a mapping has a key twice")


def _complete_set(decoder: _Decoder, own: Any, static: Any, values: Any) -> None:
    own.update([decoder.key(value) for value in values])


def _complete_object(decoder: _Decoder, own: Any, static: Any, values: Any) -> None:
    _, names, *more = static
    if len(names) != len(values):
        raise CorruptFileError("an object has more attributes than names, or fewer")
    if id(own) in decoder.given_ids:
        return
    places = [_place(own, name) for name in names]
    for name, value, place in zip(names, values, places, strict=True):
        decoder.put(value, place, name)
    for name, make in more[0] if more else ():
        _place(own, name)[name] = make()


class _Slots:
    """Slots of an object as items."""

    def __init__(self, own: Any) -> None:
        self.own = own

    def __setitem__(self, name: str, value: Any) -> None:
        object.__setattr__(self.own, name, value)


def _place(own: Any, name: str) -> Any:
    """What has an attribute as an item, so that no method of the class is called to set it."""
    if isinstance(getattr(type(own), name, None), types.MemberDescriptorType):
        return _Slots(own)
    if not hasattr(own, "__dict__"):
        raise CorruptFileError(f"{type(own).__name__} has no attribute {name!r:.60}")
    return own.__dict__


def _complete_state(decoder: _Decoder, own: Any, static: Any, values: Any) -> None:
    (value,) = values
    if not has_own(type(own), "__setstate__"):
        raise CorruptFileError(f"{type(own).__name__} has no separate state")
    own.__setstate__(decoder.key(value))


def _complete_objects(decoder: _Decoder, own: Any, static: Any, values: Any) -> None:
    if own.size != len(values):
        raise CorruptFileError(f"an array of shape {own.shape} has {len(values)} objects")
    flat = own.reshape(-1, order=static[1])
    for place, value in enumerate(values):
        decoder.put(value, flat, place)


COMPLETED: dict[str, Callable[[_Decoder, Any, Any, Any], None]] = {
    "list": _complete_list,
    "dict": _complete_dict,
    "ordered": _complete_dict,
    "set": _complete_set,
    "object": _complete_object,
    "instance": _complete_object,
    "learner": _complete_object,
    "state": _complete_state,
    "objects": _complete_objects,
}


# ---------------------------------------------------------------------- made of their children


def _scalar(decoder: _Decoder, kind: Any, static: Any, children: Any) -> Any:
    own = _array(decoder, kind, static, children)
    if own.shape != ():
        raise CorruptFileError("a number is an array")
    return own[()]


def _array(decoder: _Decoder, kind: Any, static: Any, children: Any) -> Any:
    (number,) = children
    return decoder.arrays[_index(number, decoder.arrays)]


def _bytes(decoder: _Decoder, kind: Any, static: Any, children: Any) -> bytes:
    return bytes(_array(decoder, kind, static, children).tobytes())


def _enum(decoder: _Decoder, kind: Any, static: Any, children: Any) -> Any:
    if not issubclass(kind, Enum) or children[0] not in kind.__members__:
        raise CorruptFileError(f"{children!r:.60} is no member of {kind.__name__}")
    return kind.__members__[children[0]]


def _named(decoder: _Decoder, kind: Any, static: Any, children: Any) -> Any:
    if not issubclass(kind, tuple) or len(kind._fields) != len(children):
        raise CorruptFileError(f"{kind.__name__} has not {len(children)} fields")
    return tuple.__new__(kind, children)


def _made(decoder: _Decoder, kind: Any, static: Any, children: Any) -> Any:
    if not has_own(kind, "__reduce__") or issubclass(kind, (tuple, Enum, BaseException)):
        raise CorruptFileError(f"{kind.__name__} is not made that way")
    arguments, state = children
    own = kind(*arguments)
    if state is not None:
        vars(own).update(state)
    return own


def _exception(decoder: _Decoder, kind: Any, static: Any, children: Any) -> Any:
    arguments, state = children
    own = kind.__new__(kind, *arguments)
    own.args = arguments
    vars(own).update(state)
    return own


def _partial(decoder: _Decoder, kind: Any, static: Any, children: Any) -> Any:
    function, arguments, keywords = children
    return functools.partial(function, *arguments, **keywords)


def _foreign(make: Maker, decoder: _Decoder, kind: Any, static: Any, children: Any) -> Any:
    return make(static, children)


def _plain_type(decoder: _Decoder, kind: Any, static: Any, children: Any) -> Any:
    if static[0] not in PLAIN_TYPES:
        raise UnknownContentError(f"{static[0]!r:.80} is no type that a file may name")
    return PLAIN_TYPES[static[0]]


def _slice(decoder: _Decoder, kind: Any, static: Any, children: Any) -> Any:
    return slice(*children)


FINISH: dict[str, Callable[[_Decoder, Any, Any, Any], Any]] = {
    **dict.fromkeys(COMPLETED, _array),  # never called: COMPLETED has them
    "tuple": lambda decoder, kind, static, children: tuple(children),
    "frozenset": lambda decoder, kind, static, children: frozenset(children),
    "deque": lambda decoder, kind, static, children: deque(children[1:], children[0]),
    "proxy": lambda decoder, kind, static, children: types.MappingProxyType(children[0]),
    "bytes": _bytes,
    "bytearray": lambda *parts: bytearray(_bytes(*parts)),
    "np_bytes": lambda *parts: np.bytes_(_bytes(*parts)),
    "text": lambda decoder, kind, static, children: np.str_(children[0]),
    "complex": lambda decoder, kind, static, children: complex(*map(float, children)),
    "slice": _slice,
    "range": lambda decoder, kind, static, children: range(*children),
    "ellipsis": lambda decoder, kind, static, children: Ellipsis,
    "partial": _partial,
    "array": _array,
    "scalar": _scalar,
    "dtype": lambda decoder, kind, static, children: read_dtype(static[0]),
    "class": lambda decoder, kind, static, children: kind,
    "type": _plain_type,
    "function": lambda decoder, kind, static, children: known_function(static[0]),
    "given": lambda decoder, kind, static, children: decoder.given[
        _index(children[0], decoder.given)
    ],
    "enum": _enum,
    "named": _named,
    "made": _made,
    "exception": _exception,
    **{tag: functools.partial(_foreign, make) for tag, make in MAKERS.items()},
}
