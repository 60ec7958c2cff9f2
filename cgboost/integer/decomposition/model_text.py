"""Damage in the text of a model that HiGHS reads over: truncation, and numbers that are none."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from cgboost.exceptions import CGBoostError

NAN = re.compile(rb"(?<![^\s:+\-<>=])nan(?!\S)", re.IGNORECASE)
"""A number that is none: HiGHS leaves the entry out, and says nothing."""

END = re.compile(rb"^\s*end\b", re.IGNORECASE | re.MULTILINE)
"""The last line of an LP file; without it HiGHS takes some parts of a file for the whole."""

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([ed][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)

WITH_NUMBERS = (b"COLUMNS", b"RHS", b"RANGES")
"""Sections of an MPS file in which a line ends with a number."""


class ModelError(CGBoostError, ValueError):
    """A model or a file of one cannot be read, or is no mixed-integer linear program."""

    section = "models-with-blocks"


def check_text(path: Path, names: Collection[str]) -> None:
    """Raise a ModelError for a file that HiGHS reads without a word, though it is damaged.

    That is a file without its last line, nan where it is no name, and in an MPS file a line that
    ends in no number where one belongs, or a bound of a variable that there is not.

    Parameters
    ----------
    path : Path
    names : collection of str
        Of rows and variables.
    """
    text, kind = path.read_bytes(), path.suffixes[-1:]
    if path.suffix == ".gz":
        kind = path.suffixes[-2:-1]
        with suppress(OSError, EOFError, zlib.error):  # HiGHS reads one that is not compressed
            text = gzip.decompress(text)
    for found in NAN.finditer(text):
        if found[0].decode() not in names:
            raise _error(path, text.count(b"\n", 0, found.start()) + 1, "nan is no coefficient")
    if kind == [".mps"]:
        _check_mps(path, text, plain=not any(" " in name for name in names))
    if kind == [".lp"] and END.search(text) is None:
        raise ModelError(f"{str(path)!r} has no line End: the file is truncated")


def _check_mps(path: Path, text: bytes, *, plain: bool) -> None:
    """``plain``: no name has a space, so that words are names."""
    section, columns = b"", set()
    for line, words in enumerate((own.split() for own in text.splitlines()), 1):
        if not words or words[0].startswith(b"*"):
            continue
        if len(words) == 1 or section == b"":
            section = words[0].upper() if len(words) == 1 else section
        elif section in WITH_NUMBERS and _is_odd(words):
            word = words[-1].decode(errors="replace")
            raise _error(path, line, f"{word!r} is no number")
        elif section == b"COLUMNS":
            columns.add(words[0])
        elif section == b"BOUNDS" and plain and columns.isdisjoint(words[1:]):  # HiGHS adds one
            what = words[-2].decode(errors="replace")
            raise _error(path, line, f"there is no variable {what!r} to have a bound")
        if section == b"ENDATA":
            return
    raise ModelError(f"{str(path)!r} has no line ENDATA: the file is truncated")


def _is_odd(words: list[bytes]) -> bool:
    """Whether a line should end with a number, and does not."""
    if b"'MARKER'" in words or any(b"$" in word for word in words):  # a comment may follow
        return False
    return NUMBER.fullmatch(words[-1]) is None


def _error(path: Path, line: int, what: str) -> ModelError:
    return ModelError(f"{str(path)!r}, line {line}: {what}")
