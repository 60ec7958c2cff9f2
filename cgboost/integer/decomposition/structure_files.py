"""Readers of GCG's structure files: ``.dec`` assigns rows to blocks, ``.blk`` variables.

Keywords are read in any case. A comment begins with a backslash. ``.dec``: PRESOLVED and NBLOCKS,
each with a number on the next line or the same; CONSDEFAULTMASTER; BLOCK (or BLOCKCONSS) k;
MASTERCONSS; then names, one a line. ``.blk``: the same with the names of variables after BLOCK k;
rows are named after MASTERCONSS, if at all.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cgboost.exceptions import CGBoostError

NUMBERS = ("PRESOLVED", "NBLOCKS", "CONSDEFAULTMASTER")
BLOCKS = ("BLOCK", "BLOCKCONSS")
IGNORED = ("INCOMPLETE",)
UNSUPPORTED = ("LINKINGVARS", "BLOCKVARS", "MASTERVARS", "STATICVARS")


class StructureError(CGBoostError, ValueError):
    """A structure cannot be read, or does not fit the model."""

    section = "models-with-blocks"


@dataclass(frozen=True)
class StructureFile:
    """The contents of a structure file.

    Attributes
    ----------
    rows, variables : dict of str to int
        The block that a row or a variable is in.
    master : frozenset of str
        Rows of the master.
    """

    rows: dict[str, int] = field(default_factory=dict)
    variables: dict[str, int] = field(default_factory=dict)
    master: frozenset[str] = frozenset()


def read_structure(
    path: str | Path, row_names: Collection[str], names: Collection[str]
) -> StructureFile:
    """The blocks assigned to rows and variables of a model by a ``.dec`` or ``.blk`` file.

    Parameters
    ----------
    path : str or Path
        The format is determined by the name; ``.gz`` may follow.
    row_names, names : collection of str
        Rows and variables of the model.

    Raises
    ------
    StructureError
        For a file that cannot be read, with the line; for a name that the model lacks.
    """
    path = Path(path)
    kind = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if kind not in (".dec", ".blk"):
        raise StructureError(f"{str(path)!r} is neither a .dec nor a .blk file")
    if not path.is_file():
        raise StructureError(f"there is no file {str(path)!r}")
    raw = path.read_bytes()
    try:
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise StructureError(f"{str(path)!r} cannot be read: {error}") from error
    return _SectionReader(str(path), text, kind == ".blk", set(row_names), set(names)).result()


class _SectionReader:
    """Goes through the lines of a file, section by section."""

    def __init__(
        self, path: str, text: str, by_variables: bool, row_names: set[str], names: set[str]
    ) -> None:
        self.path, self.by_variables = path, by_variables
        self.row_names, self.names = row_names, names
        self.lines = list(_words(text))
        self.blocks: dict[str, int] = {}
        self.master: set[str] = set()
        self.numbers: dict[str, int] = {}

    def result(self) -> StructureFile:
        """What the file says."""
        section: int | str | None = None
        place = 0
        while place < len(self.lines):
            line, words = self.lines[place]
            place += 1
            key = words[0].upper()
            if key in UNSUPPORTED:
                raise self._error(line, f"the section {key} is not supported")
            if key in IGNORED:
                continue
            if key in NUMBERS:
                if len(words) == 1 and place < len(self.lines):
                    line, words = self.lines[place][0], [key, *self.lines[place][1]]
                    place += 1
                self.numbers[key] = self._number(line, words, least=0)
            elif key in BLOCKS and self._opens(words):
                section = self._number(line, words, least=1)
                if section > self.numbers.get("NBLOCKS", section):
                    raise self._error(
                        line, f"block {section} of {self.numbers['NBLOCKS']} (NBLOCKS)"
                    )
            elif key == "MASTERCONSS" and len(words) == 1:
                section = key
            else:
                for word in words:
                    self._assign(line, word, section)
        if not self.blocks:
            raise StructureError(f"{self.path!r} assigns nothing to any block")
        master = frozenset(self.master)
        if self.by_variables:
            return StructureFile(variables=self.blocks, master=master)
        return StructureFile(rows=self.blocks, master=master)

    def _opens(self, words: list[str]) -> bool:
        """Whether a line begins a block: its keyword may be a name too."""
        known = self.names if self.by_variables else self.row_names
        return not (len(words) == 1 and words[0] in known)

    def _assign(self, line: int, name: str, section: int | str | None) -> None:
        if section is None:
            raise self._error(line, f"{name!r} stands before the first section")
        in_master = section == "MASTERCONSS"
        known = self.row_names if in_master or not self.by_variables else self.names
        if name not in known:
            kind = "row" if known is self.row_names else "variable"
            presolved = (
                ", and says PRESOLVED 1: it may be of the model after SCIP's presolving"
                if self.numbers.get("PRESOLVED")
                else ""
            )
            raise self._error(
                line, f"the model has no {kind} {name!r}: the file is of another model{presolved}"
            )
        before = "the master" if name in self.master else self.blocks.get(name)
        now = "the master" if in_master else section
        if before is not None and before != now:
            raise self._error(line, f"{name!r} is in {_place(before)} and in {_place(now)}")
        if in_master:
            self.master.add(name)
        else:
            self.blocks[name] = int(section)

    def _number(self, line: int, words: list[str], *, least: int) -> int:
        try:
            (word,) = words[1:]
            number = int(word)
        except ValueError:
            number = least - 1
        if number < least:
            raise self._error(
                line, f"after {words[0]} stands {' '.join(words[1:])!r}, no whole number ≥ {least}"
            )
        return number

    def _error(self, line: int, what: str) -> StructureError:
        return StructureError(f"{self.path!r}, line {line}: {what}")


def _place(block: int | str) -> str:
    return block if isinstance(block, str) else f"block {block}"


def _words(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("\\", 1)[0].split()
        if words:
            yield number, words
