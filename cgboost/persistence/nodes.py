"""What is stored of an object: a tag, what is the same for all of its kind, and its children."""

from __future__ import annotations

import functools
import types
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cgboost.exceptions import PersistenceError
from cgboost.persistence.arrays import describe, describe_dtype
from cgboost.persistence.attributes import names_in_files
from cgboost.persistence.classes import function_name, is_ours, plain_type_name
from cgboost.persistence.foreign import foreign_parts

CAN_BE_COMPLETED = ("list", "dict", "object", "instance", "learner", "objects", "ordered")
"""Nodes whose children can be set when they are already there."""
SHELLS = ("list", "dict", "object", "instance", "learner", "ordered", "set")
"""Nodes that can be there before their children, and may be in circles."""
MAPPINGS = ("dict", "ordered")
VERSIONS = ("_cgboost_version", "_sklearn_version")
"""What pickled estimators say of themselves; a file says it once, in its manifest."""


@dataclass(frozen=True)
class ObjectNode:
    """An object, taken apart.

    Attributes
    ----------
    static : tuple
        JSON that goes with the tag, the same for many objects.
    array : ndarray or None
        Whose bytes are stored; then without children.
    kind : type or None
        A class of the user's, whose object it is.
    """

    tag: str
    static: tuple[Any, ...]
    children: tuple[Any, ...]
    array: NDArray[Any] | None = None
    kind: type | None = None

    def takes_circle(self, place: int, tag: str) -> bool:
        """Whether a child may be an object of this tag that is still being done."""
        if tag not in SHELLS and tag not in ("tuple", "named"):
            return False
        if self.tag in MAPPINGS:
            return place % 2 == 1
        holds = self.tag in ("tuple", "named") and tag in SHELLS
        return self.tag in CAN_BE_COMPLETED or holds

    def step(self, place: int) -> str:
        """The way to a child, as Python writes it."""
        if self.tag in ("object", "instance", "learner"):
            names = self.static[1] if self.kind is None and self.tag != "instance" else ()
            return f".{names[place]}" if place < len(names) else ""
        if self.tag in MAPPINGS and place % 2:
            return f"[{self.children[place - 1]!r:.40}]"
        return f"[{place}]" if self.tag in ("list", "tuple", "objects") else ""


def is_given(what: Any) -> bool:
    """Whether it is a function or class that has to be given to read the file."""
    if isinstance(what, type):
        return plain_type_name(what) is None and not is_ours(what)
    functions = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc)
    return isinstance(what, functions) and function_name(what) is None


def described(what: Any) -> ObjectNode:
    """An object, taken apart.

    Raises
    ------
    PersistenceError
        If nothing is known about its type; the message has the type, and what can be done.
    """
    known = PLAIN.get(type(what))
    if known is not None:
        return known(what)
    if isinstance(what, type):
        name = plain_type_name(what)
        return ObjectNode("class" if name is None else "type", (name or what.__name__,), ())
    if (name := function_name(what)) is not None:
        return ObjectNode("function", (name,), ())
    if isinstance(what, np.dtype):
        return ObjectNode("dtype", (describe_dtype(what),), ())
    if isinstance(what, np.generic):
        return ObjectNode("scalar", (), (), np.asarray(what))
    if isinstance(what, np.memmap):
        return _array(np.asarray(what))
    parts = foreign_parts(what)
    if parts is not None:
        return ObjectNode(*parts)
    return _object(what)


def _list(what: Any) -> ObjectNode:
    return ObjectNode("list", (), tuple(what))


def _dict(what: Any) -> ObjectNode:
    flat = tuple(part for item in what.items() for part in item)
    return ObjectNode("ordered" if type(what) is OrderedDict else "dict", (), flat)


def _bytes(what: Any) -> ObjectNode:
    return ObjectNode(type(what).__name__, (), (), np.frombuffer(bytes(what), dtype=np.uint8))


def _array(what: NDArray[Any]) -> ObjectNode:
    if what.dtype.kind == "O" and what.dtype == object:
        order: Literal["C", "F"] = "C" if what.flags.c_contiguous else "F"
        order = order if what.flags.forc else "C"
        return ObjectNode("objects", (what.shape, order), tuple(what.ravel(order=order).tolist()))
    describe(what)
    return ObjectNode("array", (), (), what)


def _slice(what: slice) -> ObjectNode:
    ends = (what.start, what.stop, what.step)
    if not all(end is None or isinstance(end, int | np.integer) for end in ends):
        raise PersistenceError("it is a slice between other things than integers")
    return ObjectNode("slice", (), ends)


PLAIN: dict[type, Callable[[Any], ObjectNode]] = {
    list: _list,
    dict: _dict,
    OrderedDict: _dict,
    tuple: lambda what: ObjectNode("tuple", (), what),
    set: lambda what: ObjectNode("set", (), tuple(what)),
    frozenset: lambda what: ObjectNode("frozenset", (), tuple(what)),
    deque: lambda what: ObjectNode("deque", (), (what.maxlen, *what)),
    types.MappingProxyType: lambda what: ObjectNode("proxy", (), (dict(what),)),
    bytes: _bytes,
    bytearray: _bytes,
    complex: lambda what: ObjectNode("complex", (), (what.real, what.imag)),
    slice: _slice,
    range: lambda what: ObjectNode("range", (), (what.start, what.stop, what.step)),
    type(Ellipsis): lambda what: ObjectNode("ellipsis", (), ()),
    functools.partial: lambda what: ObjectNode(
        "partial", (), (what.func, what.args, what.keywords)
    ),
    np.ndarray: _array,
    np.str_: lambda what: ObjectNode("text", (), (what.item(),)),
    np.bytes_: lambda what: ObjectNode("np_bytes", (), (), np.frombuffer(what, dtype=np.uint8)),
}


def _object(what: Any) -> ObjectNode:
    """An object of one of our classes, or of one of the user's with plain attributes."""
    kind = type(what)
    ours = is_ours(kind)
    name = kind.__name__
    if isinstance(what, BaseException):
        return _exception(what, ours)
    if isinstance(what, Enum) and ours:
        return ObjectNode("enum", (name,), (what.name,))
    if isinstance(what, tuple) and hasattr(kind, "_fields") and ours:
        return ObjectNode("named", (name,), tuple(what))
    if ours and has_own(kind, "__reduce__"):
        return _made(what)
    if ours and hasattr(kind, "__setstate__") and not _is_estimator(kind):
        return ObjectNode("state", (name,), (what.__getstate__(),))
    if not ours and _has_own_ways(kind):
        raise PersistenceError(
            f"it is of the type {kind.__module__}.{kind.__qualname__}, which is neither cgboost's "
            "nor plain data. Leave it out, or store the model with joblib or pickle"
        )
    names, values = _state(what)
    if not ours:
        return ObjectNode("instance", (names,), values, kind=kind)
    return ObjectNode("object", (name, names), values)


def _has_own_ways(kind: type) -> bool:
    """Whether a class that is not ours says itself how it is stored, or is not plain Python."""
    plain = _is_estimator(kind) and kind.__module__.partition(".")[0] != "sklearn"
    ways = ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")
    custom = any(has_own(kind, name) for name in ways)
    known = kind.__module__.partition(".")[0] in ("builtins", "threading", "_thread", "sklearn")
    return known or (custom and not plain) or kind.__flags__ & (1 << 9) == 0


def _is_estimator(kind: type) -> bool:
    """Whether its state is that of scikit-learn's base class."""
    owner = next((own for own in kind.__mro__ if "__setstate__" in vars(own)), object)
    return owner is BaseEstimator or (is_ours(owner) and issubclass(owner, BaseEstimator))


def has_own(kind: type, name: str) -> bool:
    """Whether a class has another method of this name than all objects."""
    return getattr(kind, name, None) is not getattr(object, name, None)


def _made(what: Any) -> ObjectNode:
    """An object that its own class makes of some arguments and a state."""
    function, arguments, state = (*what.__reduce__(), None)[:3]
    if function is not type(what):
        raise PersistenceError(f"{type(what).__qualname__} is made by something else")
    return ObjectNode("made", (function.__name__,), (arguments, state))


def _exception(what: BaseException, ours: bool) -> ObjectNode:
    kind = type(what)
    if not ours and kind.__module__ != "builtins":
        kind = next(own for own in kind.__mro__ if own.__module__ == "builtins")
    name = kind.__name__ if ours else f"builtins:{kind.__name__}"
    return ObjectNode("exception", (name,), (what.args, dict(vars(what)) if ours else {}))


def _state(what: Any) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Names in files and values of the attributes of an object; derived ones are left out."""
    kind: Any = type(what)
    own = is_ours(kind) and _is_estimator(kind)  # whose state is made for pickle and skops
    state = BaseEstimator.__getstate__(what) if own else what.__getstate__()
    if isinstance(state, tuple) and len(state) == 2:
        state = (state[0] or {}) | (state[1] or {})
    if state is None:
        state = {}
    if not isinstance(state, dict) or not all(isinstance(name, str) for name in state):
        raise PersistenceError(f"{kind.__qualname__} has a state that is not attributes by name")
    kept = {
        name: value
        for name, value in state.items()
        if not isinstance(getattr(kind, name, None), functools.cached_property)
        and name not in VERSIONS
    }
    names = names_in_files(kind)
    return tuple(names.get(name, name) for name in kept), tuple(kept.values())
