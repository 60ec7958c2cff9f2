"""Stored files that somebody has changed, with hashes that are right again."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cgboost.persistence.archive import HEX, TRAILER

Members = dict[str, Any]


def members(path: Path) -> Members:
    """The members of a file; JSON as objects."""
    with zipfile.ZipFile(path) as archive:
        own = {name: archive.read(name) for name in archive.namelist()}
    return {k: json.loads(v) if k.endswith(".json") else v for k, v in own.items()}


def sealed(data: bytes) -> bytes:
    """A zip file whose comment is the hash of all that is before it."""
    assert data[-HEX - len(TRAILER) : -HEX] == TRAILER
    return data[:-HEX] + hashlib.sha256(data[:-HEX]).hexdigest().encode()


def packed(parts: list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A sealed file of these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in parts:
            archive.writestr(name, data)
        archive.comment = TRAILER + b"0" * HEX
    return sealed(file.getvalue())


def forged(path: Path, change: Callable[[Members], Any], **options: Any) -> bytes:
    """A file in which the members are changed, and the hash is right."""
    own = members(path)
    own = change(own) or own
    data = {k: v if isinstance(v, bytes) else json.dumps(v).encode() for k, v in own.items()}
    return packed(list(data.items()), **options)
