"""The classes and functions that a stored file may name, and no others.

A name is that of a module and what it defines there, ``"cgboost.kernels.features.rbf:RBF"``. Only
modules that are files of cgboost or solvers are imported for it, and only classes defined there are
found. Rooms whose objects start processes, read pickles or write files are left out.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import re
import types
from pathlib import Path
from typing import Any

import numpy as np

from cgboost.exceptions import UnknownContentError

TOPS = ("cgboost", "solvers")
OWN_SOLVERS = "cgboost._solvers"
SHUT = (
    "cgboost.parallel",
    "cgboost.studies",
    "cgboost.inspection",
    "cgboost.persistence",
    "cgboost.integer.parallel_nodes",
    "cgboost.additive.sql",
    "cgboost._solvers",
)
"""Modules, and all below them, that no file may name."""
OPEN = frozenset({"cgboost.persistence.checkpoint"})
"""But for these: a model may hold a callback that writes, which loading does not call."""
MOVED = {"additive.tables.": "tables."}
"""Rooms of cgboost in files of earlier versions, and what they are called today."""
FUNCTIONS = frozenset({"cgboost.masters.linear.master:_remade"})
"""Functions of ours that objects are made with, or that they hold."""
PLAIN = (
    "bool",
    "int",
    "float",
    "complex",
    "str",
    "bytes",
    "list",
    "tuple",
    "dict",
    "set",
    "object",
)
PLAIN_TYPES = {f"builtins:{name}": getattr(builtins, name) for name in PLAIN}
PLAIN_TYPES |= {f"numpy:{own.__name__}": own for own in set(np.sctypeDict.values())}
NAMES = {own: name for name, own in PLAIN_TYPES.items()}
LIBRARY_FUNCTIONS = ("sklearn.metrics.pairwise", "sklearn.metrics")
"""Modules whose public functions may be named, by these names of the modules."""


@functools.cache
def our_modules() -> frozenset[str]:
    """All modules that files of a model may name."""
    found = set()
    for top in TOPS:
        folder = Path(str(_module(top).__file__)).parent
        for path in folder.rglob("*.py"):
            parts = (top, *path.relative_to(folder).with_suffix("").parts)
            found.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return frozenset(name for name in found if not is_shut(name))


def is_shut(module: str) -> bool:
    """Whether no file may name what is in a module."""
    own = any(module == name or module.startswith(f"{name}.") for name in SHUT)
    return own and module not in OPEN


def name_of(what: Any) -> str:
    """The name of a class or function, by which it is found again."""
    module = str(what.__module__)
    if module.startswith(OWN_SOLVERS):  # where a user has a module called solvers
        module = "solvers" + module.removeprefix(OWN_SOLVERS)
    return f"{module}:{what.__qualname__}"


def _module(name: str) -> types.ModuleType:
    """A module of ours by its name in files."""
    top, dot, rest = name.partition(".")
    if top == "solvers":
        top = importlib.import_module(OWN_SOLVERS).__name__
    return importlib.import_module(f"{top}{dot}{rest}")


def name_today(name: str) -> str:
    """The name of a class or function in a file, after its module has moved."""
    for old, new in MOVED.items():
        name = re.sub(rf"^cgboost\.{re.escape(old)}", f"cgboost.{new}", name)
    return name


def is_ours(kind: type) -> bool:
    """Whether a class is one that files may name."""
    name = name_of(kind)
    return name.partition(":")[0] in our_modules() and _found(name) is kind


def known_class(name: Any) -> type:
    """One of our classes, by its name.

    Raises
    ------
    UnknownContentError
        For all other names, without importing anything for them.
    """
    found = _found(name_today(name)) if isinstance(name, str) else None
    if not isinstance(found, type):
        raise UnknownContentError(
            f"the file names the class {name!r:.120}, which is none of cgboost's: it was changed, "
            "or written by another version. Nothing of it was run"
        )
    return found


def _found(name: str) -> Any:
    """What stands there under that name, and says of itself that it does."""
    module, _, path = name.partition(":")
    if module not in our_modules() or not path or "<" in path:
        return None
    found: Any = _module(module)
    for part in path.split("."):
        found = vars(found).get(part) if isinstance(found, (type, types.ModuleType)) else None
    named = isinstance(found, (type, types.FunctionType)) and name_of(found) == name
    return found if named else None


def plain_type_name(kind: type) -> str | None:
    """The name of a type of Python or NumPy that may be stored, such as ``numpy:float32``."""
    return NAMES.get(kind)


def function_name(function: Any) -> str | None:
    """The name of a function that may be named; None for those of users."""
    if isinstance(function, np.ufunc):
        return f"numpy:{function.__name__}" if _ufunc(function.__name__) is function else None
    if not isinstance(function, types.FunctionType):
        return None
    name = name_of(function)
    if name in FUNCTIONS and _found(name) is function:
        return name
    if function.__module__.startswith("sklearn.metrics."):
        for module in LIBRARY_FUNCTIONS:
            if _public(module, function.__name__) is function:
                return f"{module}:{function.__name__}"
    return None


def known_function(name: Any) -> Any:
    """A function by the name that :func:`function_name` gave it.

    Raises
    ------
    UnknownContentError
        For all other names.
    """
    found = None
    if isinstance(name, str):
        name = name_today(name)
        module, _, own = name.partition(":")
        if module == "numpy":
            found = _ufunc(own)
        elif module in LIBRARY_FUNCTIONS:
            found = _public(module, own)
        elif name in FUNCTIONS:
            found = _found(name)
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
