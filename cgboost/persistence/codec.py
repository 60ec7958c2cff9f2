"""Objects to files and back, without pickle."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from cgboost._version import __version__
from cgboost.exceptions import CorruptFileError
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
    graph = encoded(what, functions)
    needs = tuple(names[0] for names in graph.given)
    manifest = Manifest(kind, FORMAT_VERSION, __version__, needs, dict(about or {}))
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
    with opened(path) as archive:
        if archive.manifest.kind != kind:
            raise CorruptFileError(
                f"{archive.name!r} is a {archive.manifest.kind!r:.40}, and not a {kind!r}"
            )
        graph = archive.graph()
        arrays = archive.arrays(graph.get("arrays"))
        return decoded(graph, arrays, functions)


def read_manifest(path: str | os.PathLike[str]) -> Manifest:
    """What a file says of itself: kind, version, the functions that it needs.

    Raises
    ------
    FileNotFoundError
    CorruptFileError, NewerFormatError
    """
    with opened(path) as archive:
        return archive.manifest
