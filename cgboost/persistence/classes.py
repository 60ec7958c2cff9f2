"""The classes and functions that a stored file may name, and no others.

A file names a class by its *kind*, the class's own name (``"RBF"``): no module is in it, so that
modules can move. The index of kinds is read off the sources of the rooms below, so that nothing is
imported for a name that is not there. Masters, solvers, what starts processes, reads pickles or
writes files is in no such room.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import re
import sys
import types
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from cgboost.exceptions import UnknownContentError

MODEL_ROOMS = (
    "additive", "constraints", "estimators", "generation", "kernels", "linear", "losses",
    "penalties", "pricing", "tables",
)  # fmt: skip
"""Whose classes models are made of."""
OTHER_ROOMS = (
    "exceptions", "integer.branching.decisions", "integer.decomposition.row_names",
    "integer.node_selection", "integer.resuming", "integer.tree_search", "persistence.checkpoint",
)  # fmt: skip
"""Whose classes records of runs and callbacks of estimators are made of."""
SHUT = ("additive.places", "additive.sql")
"""Within them, what no file may name: where rows are."""
RENAMED = {
    "additive:Changes": "FunctionChanges",
    "factors:Basis": "FactorBasis",
    "factors:Columns": "GrowingMatrix",
    "model_tree:Node": "ModelTreeNode",
    "refitted_leaves:Leaves": "NumberedLeaves",
    "scaling:Scaling": "UnitScaling",
}
"""Kinds of earlier versions and what they are called today. Files of format 1 name modules too,
``"cgboost.kernels.library:KernelLibrary"``: where two classes had one name, its last part is here.
"""
PLAIN = (
    "bool", "int", "float", "complex", "str", "bytes", "list", "tuple", "dict", "set", "object",
)  # fmt: skip
PLAIN_TYPES = {f"builtins:{name}": getattr(builtins, name) for name in PLAIN}
PLAIN_TYPES |= {f"numpy:{own.__name__}": own for own in set(np.sctypeDict.values())}
NAMES = {own: name for name, own in PLAIN_TYPES.items()}
LIBRARY_FUNCTIONS = ("sklearn.metrics.pairwise", "sklearn.metrics")
"""Modules whose public functions may be named, by these names of the modules."""


@functools.cache
def classes_in(rooms: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Module and name of the classes that some rooms of cgboost define."""
    folder, found = Path(__file__).parents[1], []
    for room in rooms:
        place = folder.joinpath(*room.split("."))
        for path in sorted(place.rglob("*.py")) or [place.with_suffix(".py")]:
            name = ".".join(path.relative_to(folder).with_suffix("").parts)
            if not f"{name}.".startswith(tuple(f"{own}." for own in SHUT)):
                names = re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
                found += [(f"cgboost.{name}", own) for own in names]
    return tuple(found)


@functools.cache
def kinds() -> dict[str, str]:
    """The module of each kind; of names that two classes have, none is a kind."""
    found = classes_in(MODEL_ROOMS + OTHER_ROOMS)
    counts = Counter(name for _, name in found)
    return {name: module for module, name in found if counts[name] == 1}


def is_ours(kind: type) -> bool:
    """Whether a class is one that files may name."""
    name, module = kind.__qualname__, kind.__module__
    return kinds().get(name) == module and vars(sys.modules[module]).get(name) is kind


def kind_today(name: str) -> str:
    """The kind that a name in a file says; in format 1 that begins with a module of ours."""
    module, _, kind = name.rpartition(":")
    if module and not module.startswith("cgboost."):
        return name
    return RENAMED.get(f"{module.rpartition('.')[2]}:{kind}" if module else kind, kind)


def known_class(name: Any) -> type:
    """One of our classes, by its kind.

    Raises
    ------
    UnknownContentError
        For all other names, without importing anything for them.
    """
    kind = kind_today(name) if isinstance(name, str) else ""
    module = kinds().get(kind)
    found = vars(importlib.import_module(module)).get(kind) if module else None
    if not isinstance(found, type) or found.__module__ != module:
        raise UnknownContentError(
            f"the file names the class {name!r:.120}, which is none of cgboost's: it was changed, "
            "or written by another version. Nothing of it was run"
        )
    return found


def plain_type_name(kind: type) -> str | None:
    """The name of a type of Python or NumPy that may be stored, such as ``numpy:float32``."""
    return NAMES.get(kind)


def function_name(function: Any) -> str | None:
    """The name of a function that may be named; None for those of users."""
    if isinstance(function, np.ufunc):
        return f"numpy:{function.__name__}" if _ufunc(function.__name__) is function else None
    if isinstance(function, types.FunctionType):
        for module in LIBRARY_FUNCTIONS:
            if function.__module__.startswith("sklearn.metrics.") and (
                _public(module, function.__name__) is function
            ):
                return f"{module}:{function.__name__}"
    return None


def known_function(name: Any) -> Any:
    """A function by the name that :func:`function_name` gave it.

    Raises
    ------
    UnknownContentError
        For all other names.
    """
    module, _, own = name.partition(":") if isinstance(name, str) else ("", "", "")
    found = _ufunc(own) if module == "numpy" else None
    if module in LIBRARY_FUNCTIONS:
        found = _public(module, own)
    if found is None:
        raise UnknownContentError(
            f"the file names the function {name!r:.120}, which no file may call: it was changed, "
            "or written by another version. Nothing of it was run"
        )
    return found


def _ufunc(name: str) -> Any:
    found = vars(np).get(name)
    return found if isinstance(found, np.ufunc) else None


def _public(module: str, name: str) -> Any:
    room = importlib.import_module(module)
    found = vars(room).get(name)
    own = isinstance(found, types.FunctionType) and found.__module__.startswith("sklearn.metrics")
    return found if own and (module != "sklearn.metrics" or name in room.__all__) else None
