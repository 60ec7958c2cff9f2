"""What the readers of MPS and LP files fill in, and their errors.

The readers are our own: those of solvers take much of what they do not understand for something
else without a word, each version of them another part.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from cgboost.integer.decomposition.model_parts import ModelError, ModelParts

INFINITY = re.compile(r"inf(inity)?", re.IGNORECASE)


@dataclass
class ModelText(ModelParts):
    """A model while its text is read: rows and variables have their numbers in the order of names.

    Attributes
    ----------
    path : Path
        The file, for messages.
    """

    path: Path = Path()

    def error(self, line: int, what: str) -> ModelError:
        """An error with the file and the line."""
        return ModelError(f"{str(self.path)!r}, line {line}: {what}")

    def variable(self, name: str) -> int:
        """The number of a variable, which is a new one from 0 on if it has not been named yet."""
        place = self.names.setdefault(name, len(self.bounds))
        if place == len(self.bounds):
            self.bounds.append([0.0, math.inf])
        return place

    def row(self, name: str, line: int) -> int:
        """The number of a new row, of which the sides are still missing."""
        if name in self.rows:
            raise self.error(line, f"two rows have the name {name!r}")
        self.rows[name] = len(self.sides)
        self.sides.append([-math.inf, math.inf])
        return self.rows[name]


def text_of(path: Path, comment: re.Pattern[bytes]) -> str:
    """The text of a file, with ``.gz`` or without; without comments if only these are no UTF-8."""
    data = path.read_bytes()
    try:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ModelError(f"{str(path)!r} cannot be decompressed: {error}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        try:
            return comment.sub(b"", data).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ModelError(f"{str(path)!r} is no UTF-8 text: {error}") from error
