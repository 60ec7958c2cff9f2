"""Objects to files and back, without pickle."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy
import scipy
import sklearn

from cgboost._version import __version__
from cgboost.exceptions import CorruptFileError, PersistenceError
from cgboost.persistence.archive import FORMAT_VERSION, Manifest, opened, write_archive
from cgboost.persistence.decoding import decoded
from cgboost.persistence.encoding import encoded

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
