"""What readers of models fill in, be it from files or from the objects of modelling tools.

The readers of files are our own: those of solvers take much of what they do not understand for
something else without a word, each version of them another part.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from cgboost._solvers import Program
from cgboost.exceptions import CGBoostError

INFINITY = re.compile(r"inf(inity)?", re.IGNORECASE)


class ModelError(CGBoostError, ValueError):
    """A model or a file of one cannot be read, or is no mixed-integer linear program."""

    section = "models-with-blocks"


@dataclass
class ModelParts:
    """A model while it is read: rows and variables have their numbers in the order of names.

    Attributes
    ----------
    names, rows : dict of str to int
        The numbers of variables and rows.
    cost : dict of int to float
    entries : list of (int, int, float)
        Row, variable and value of each coefficient; those of one place are added up.
    sides, bounds : list of two floats for each row and variable
        Ends of the interval.
    integer : set of int
    constant : float
    maximize : bool
    notes : list of str
        What a reader took a source for where another one may take it for something else.
    """

    names: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    cost: dict[int, float] = field(default_factory=dict)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    sides: list[list[float]] = field(default_factory=list)
    bounds: list[list[float]] = field(default_factory=list)
    integer: set[int] = field(default_factory=set)
    constant: float = 0.0
    maximize: bool = False
    notes: list[str] = field(default_factory=list)

    def add_variable(
        self,
        name: str,
        lower: float | None,
        upper: float | None,
        *,
        whole: bool = False,
        cost: float = 0.0,
    ) -> int:
        """A new variable; its number. A bound of None is infinite, a name of "" its number."""
        place = len(self.bounds)
        self._add_name("variables", self.names, name or f"x{place}")
        self.bounds.append(_interval(lower, upper))
        if whole:
            self.integer.add(place)
        if cost:
            self.cost[place] = cost
        return place

    def add_row(
        self,
        name: str,
        terms: Iterable[tuple[int, float]],
        lower: float | None,
        upper: float | None,
    ) -> int:
        """A new row of variables, by their numbers, and values; its number."""
        place = len(self.sides)
        self._add_name("rows", self.rows, name or f"r{place}")
        self.sides.append(_interval(lower, upper))
        self.entries.extend((place, variable, float(value)) for variable, value in terms)
        return place

    def _add_name(self, kind: str, names: dict[str, int], name: str) -> None:
        if name in names:
            raise ModelError(f"two {kind} have the name {name!r}: names must be unique")
        names[name] = len(names)

    def program(self) -> Program:
        """The program, to be minimised."""
        sign, n = -1.0 if self.maximize else 1.0, len(self.bounds)
        cost = np.zeros(n)
        cost[list(self.cost)] = [sign * value for value in self.cost.values()]
        rows, columns, values = zip(*self.entries, strict=True) if self.entries else ((), (), ())
        matrix = sp.csr_array((values, (rows, columns)), shape=(len(self.sides), n))
        matrix.eliminate_zeros()
        sides, bounds = (np.array(each).reshape(-1, 2) for each in (self.sides, self.bounds))
        whole = np.zeros(n, dtype=np.bool_)
        whole[list(self.integer)] = True
        return Program(
            cost=cost,
            matrix=matrix,
            row_lower=sides[:, 0],
            row_upper=sides[:, 1],
            lower=bounds[:, 0],
            upper=bounds[:, 1],
            integrality=whole if self.integer else None,
            constant=sign * self.constant,
        )


def _interval(lower: float | None, upper: float | None) -> list[float]:
    return [
        -math.inf if lower is None else float(lower),
        math.inf if upper is None else float(upper),
    ]


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


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(map(repr, names[:3])) + more


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
