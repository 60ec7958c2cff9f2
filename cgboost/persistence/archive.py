"""The container: a zip file of a manifest, a graph and the bytes of arrays, with a hash at its end.

::

    manifest.json    format, version of the format and of cgboost, kind
    graph.json       objects, see :mod:`cgboost.persistence.codec`
    arrays.bin       numbers, see :mod:`cgboost.persistence.arrays`
    (comment)        SHA-256 of every byte before it

Members are stored as they are, never compressed, so that reading takes no more memory than a small
multiple of the size of the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from numpy.typing import NDArray

from cgboost._version import __version__
from cgboost.exceptions import CorruptFileError, NewerFormatError, PersistenceError
from cgboost.persistence.arrays import BYTES_AT_ONCE, read_arrays, total_size, write_arrays
from cgboost.persistence.files import replacing

FORMAT = "cgboost model"
FORMAT_VERSION = 2
MANIFEST, GRAPH, ARRAYS = MEMBERS = ("manifest.json", "graph.json", "arrays.bin")
TRAILER = b"cgboost sha256:"
HEX = 64
MOST_MANIFEST = 1 << 20
"""Bytes."""


@dataclass(frozen=True)
class Manifest:
    """What a file says of itself, before any of its objects are made.

    Attributes
    ----------
    kind : str
        What it is: ``"model"``, or the kind that a caller of ``write`` has named.
    format_version : int
    version : str
        Of the cgboost that wrote it.
    needs : tuple of str
        Names of the user's functions and classes that have to be given to read it.
    about : dict
        Anything that the writer has said about it.
    written_with : dict
        Versions of NumPy, SciPy and scikit-learn.
    has_foreign : bool
        Whether there are estimators of scikit-learn in it, which belong to a version.
    """

    kind: str
    format_version: int
    version: str
    needs: tuple[str, ...]
    about: dict[str, Any] = field(default_factory=dict)
    written_with: dict[str, Any] = field(default_factory=dict)
    has_foreign: bool = False


def write_archive(
    path: str | os.PathLike[str],
    manifest: Manifest,
    graph: dict[str, Any],
    arrays: list[NDArray[Any]],
) -> None:
    """Write a file, which takes the place of an old one when it is complete."""
    encoded = _json(graph)
    with replacing(path) as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(zipfile.ZipInfo(GRAPH), encoded)
            arrays_info = zipfile.ZipInfo(ARRAYS)
            arrays_info.file_size = total_size(arrays)
            with archive.open(arrays_info, "w") as member:
                write_arrays(member, arrays)
            archive.writestr(zipfile.ZipInfo(MANIFEST), _json(_stored(manifest)))
            archive.comment = TRAILER + b"0" * HEX
        size = file.tell() if file.seek(0, os.SEEK_END) else 0
        digest = _hash(file, size - HEX)
        file.seek(size - HEX)
        file.write(digest.encode())


def _stored(manifest: Manifest) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": manifest.format_version,
        "cgboost": manifest.version,
        "kind": manifest.kind,
        "needs": list(manifest.needs),
        "about": manifest.about,
        "written_with": manifest.written_with,
        "has_foreign": manifest.has_foreign,
    }


def _json(what: Any) -> bytes:
    return json.dumps(what, allow_nan=False, separators=(",", ":")).encode()


def _hash(file: IO[bytes], n_bytes: int) -> str:
    """SHA-256 of the first bytes of a file."""
    sha256 = hashlib.sha256()
    file.seek(0)
    while n_bytes > 0 and (part := file.read(min(BYTES_AT_ONCE, n_bytes))):
        sha256.update(part)
        n_bytes -= len(part)
    return sha256.hexdigest()


# ---------------------------------------------------------------------- reading


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Archive]:
    """A file whose hash is right and whose manifest can be read by this version.

    Raises
    ------
    FileNotFoundError
        If there is none.
    CorruptFileError, NewerFormatError
    """
    name = str(path)
    if Path(path).is_dir():
        raise CorruptFileError(
            f"path must be a file that was written by save, {name!r} is a folder"
        )
    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            _check_trailer(name, file, size)
            with refusing(name), zipfile.ZipFile(file) as archive:
                yield Archive(name, archive, size)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise CorruptFileError(f"path {name!r} cannot be read: {error.strerror}") from error


@contextmanager
def refusing(name: str) -> Iterator[None]:
    """Raise a CorruptFileError for whatever is wrong with the content of a file."""
    try:
        yield
    except PersistenceError as error:
        said = str(error.args[0]) if error.args else ""
        if name in said:
            raise
        raise type(error)(f"{name!r}: {said}") from error
    except (MemoryError, OSError):
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise CorruptFileError(
            f"{name!r} is no stored model that can be read ({said:.200}). Take a copy that is whole"
        ) from error


def _check_trailer(name: str, file: IO[bytes], size: int) -> None:
    """Raise a CorruptFileError unless the hash at the end is that of the rest."""
    file.seek(max(0, size - HEX - len(TRAILER)))
    end = file.read()
    if not end.startswith(TRAILER) or len(end) != HEX + len(TRAILER):
        raise CorruptFileError(
            f"{name!r} is no file that was written by save, or its end is missing. Take a copy "
            "that is whole; a pickled model is read by pickle or joblib"
        )
    if _hash(file, size - HEX) != end[len(TRAILER) :].decode("latin-1"):
        raise CorruptFileError(
            f"{name!r} is damaged: its hash (SHA-256) is not the one that was stored with it. Take "
            "a copy that is whole, or save the model again"
        )


class Archive:
    """An open file: its manifest, graph and arrays."""

    def __init__(self, name: str, archive: zipfile.ZipFile, size: int) -> None:
        self.name, self._archive = name, archive
        self._members = self._checked_members(size)
        if MANIFEST not in self._members:
            raise CorruptFileError(f"{name!r} has no member {MANIFEST}: it is no stored model")
        self.manifest = self._read_manifest(self._read_json(MANIFEST))
        if set(self._members) != set(MEMBERS):
            raise CorruptFileError(
                f"{name!r} must have the members {', '.join(MEMBERS)}, and has "
                f"{', '.join(map(repr, sorted(self._members))):.200}"
            )

    def _checked_members(self, size: int) -> dict[str, zipfile.ZipInfo]:
        members: dict[str, zipfile.ZipInfo] = {}
        for info in self._archive.infolist():
            if info.filename in members:
                raise CorruptFileError(f"{self.name!r} has two members {info.filename!r:.80}")
            stored = info.compress_type == zipfile.ZIP_STORED
            if not stored or info.file_size != info.compress_size or info.flag_bits & 1:
                raise CorruptFileError(f"{info.filename!r:.80} in {self.name!r} is not plain bytes")
            members[info.filename] = info
        if sum(info.file_size for info in members.values()) > size:
            raise CorruptFileError(f"the members of {self.name!r} are larger than the file")
        return members

    def _read_manifest(self, own: Any) -> Manifest:
        if not isinstance(own, dict) or own.get("format") != FORMAT:
            raise CorruptFileError(f"{self.name!r} is a zip file, but no stored model")
        version, writer = own["format_version"], own["cgboost"]
        if type(version) is not int or version < 1 or not isinstance(writer, str):
            raise CorruptFileError(f"format version {version!r:.40} of {self.name!r} is none")
        if version > FORMAT_VERSION:
            raise NewerFormatError(
                f"{self.name!r} was written by cgboost {writer:.40} in version {version} of the "
                f"format; cgboost {__version__} reads up to version {FORMAT_VERSION}. "
                "Update cgboost"
            )
        kind, needs, about, others = (own[k] for k in ("kind", "needs", "about", "written_with"))
        mappings = isinstance(about, dict) and isinstance(others, dict)
        if not (isinstance(kind, str) and isinstance(needs, list) and mappings):
            raise CorruptFileError(f"the manifest of {self.name!r} is not complete")
        foreign = bool(own["has_foreign"])
        return Manifest(kind, version, writer, tuple(map(str, needs)), about, others, foreign)

    def graph(self) -> dict[str, Any]:
        """The objects, as JSON."""
        graph = self._read_json(GRAPH)
        if not isinstance(graph, dict):
            raise CorruptFileError(f"{GRAPH} of {self.name!r} has no objects")
        return graph

    def arrays(self, descriptions: Any) -> list[NDArray[Any]]:
        """The arrays with these descriptions."""
        if not isinstance(descriptions, list):
            raise CorruptFileError(f"{GRAPH} of {self.name!r} describes no arrays")
        info = self._members[ARRAYS]
        with self._archive.open(info) as file:
            return read_arrays(file, info.file_size, descriptions)

    def _read_json(self, member: str) -> Any:
        info = self._members[member]
        if member == MANIFEST and info.file_size > MOST_MANIFEST:
            raise CorruptFileError(f"{MANIFEST} of {self.name!r} is larger than {MOST_MANIFEST}")
        text = self._archive.read(info).decode("ascii")
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_once)


def _no_constant(name: str) -> Any:
    raise CorruptFileError(f"JSON has no {name}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    own = dict(pairs)
    if len(own) != len(pairs):
        raise CorruptFileError("a name stands twice in an object of JSON")
    return own
