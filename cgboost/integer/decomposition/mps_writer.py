"""A model as the text of an MPS file that HiGHS, SCIP, CBC, CPLEX and GLPK take for the same model.

Every bound that programs fill in differently is written out: both ends of an integer variable, and
a lower end before an upper one. Numbers have the digits that give the same double again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from cgboost._solvers import Program
from cgboost.arrays import Mask
from cgboost.exceptions import DataWarning, warn_caller
from cgboost.integer.decomposition.model_parts import ModelError
from cgboost.integer.decomposition.mps_text import HEADS, Dialect


class NamedProgram(Protocol):
    """What is written: a program to be minimised, with names, and the sense that the file has."""

    @property
    def program(self) -> Program:
        """Costs and constant have the opposite sign if the sense is to maximise."""

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""

    @property
    def maximize(self) -> bool:
        """The sense."""

    @property
    def matrix(self) -> sp.csr_array:
        """Coefficients without zeros."""

    @property
    def integer(self) -> Mask:
        """Which variables are integer."""


NAME = re.compile(r"(?![$]|[+-]$)\S+")
"""Names that all programs keep: one word without a ``$`` in front, and no sign alone."""


def mps_of(model: NamedProgram, dialect: Dialect) -> str:
    """The text of an MPS file with a model."""
    for kind, names in (("row", model.row_names), ("variable", model.names)):
        for name in names:
            is_head = kind == "variable" and name.upper() in HEADS
            if is_head or name == "'MARKER'" or NAME.fullmatch(name) is None:
                raise ModelError(
                    f"programs would misread the name {name!r} of a {kind} in an MPS file: rename "
                    "it to one word without a $ in front that is no keyword"
                )
            if len(name.encode()) > dialect.longest:
                raise ModelError(
                    f"the name {name!r} of a {kind} has {len(name.encode())} bytes, and the "
                    f"programs that are to read it keep {dialect.longest}: rename it"
                )
    return "\n".join([*_lines(model, dialect), "ENDATA", ""])


def _lines(model: NamedProgram, dialect: Dialect) -> Iterator[str]:
    """All sections; that of right-hand sides is there even if it is empty: CBC asks for it."""
    program, names = model.program, {*model.names, *model.row_names}
    objective, right, lengths, bounds = (
        _new_name(word, names) for word in ("objective", "RHS", "RANGE", "BOUND")
    )
    maximize = model.maximize and dialect.has_sense
    sign = -1.0 if maximize else 1.0
    if model.maximize and not maximize:
        yield "* the objective is the negative of one that is to be maximised"
    yield "NAME model"
    if maximize:
        yield from ("OBJSENSE", " MAX")
    rows = [
        _row(low, high)
        for low, high in zip(program.row_lower.tolist(), program.row_upper.tolist(), strict=True)
    ]
    inexact = [name for name, row in zip(model.row_names, rows, strict=True) if not row[3]]
    if inexact:
        warn_caller(
            f"a range of an MPS file is a side and a length, and none gives both sides of the row "
            f"{inexact[0]!r}: one is off by a unit in the last place",
            DataWarning,
        )
    yield from ("ROWS", f" N {objective}")
    yield from (f" {kind} {name}" for name, (kind, *_) in zip(model.row_names, rows, strict=True))
    yield "COLUMNS"
    yield from _columns(model, objective, sign)
    yield "RHS"
    if program.constant:
        yield f" {right} {objective} {_number(dialect.constant_sign * sign * program.constant)}"
    for name, (_, side, _, _) in zip(model.row_names, rows, strict=True):
        if side:
            yield f" {right} {name} {_number(side)}"
    yield "RANGES"
    for name, (_, _, length, _) in zip(model.row_names, rows, strict=True):
        if length:
            yield f" {lengths} {name} {_number(length)}"
    yield "BOUNDS"
    ends = zip(model.names, program.lower.tolist(), program.upper.tolist(), strict=True)
    for (name, low, high), whole in zip(ends, model.integer, strict=True):
        yield from (f" {kind} {bounds} {name}{value}" for kind, value in _bounds(low, high, whole))


def _new_name(word: str, names: set[str]) -> str:
    """A word that is no name of the model: HiGHS misreads vectors that are called like a row."""
    while word in names:
        word += "_"
    return word


def _columns(model: NamedProgram, objective: str, sign: float) -> Iterator[str]:
    """Coefficients, those of integer variables between markers."""
    by_columns, cost = model.matrix.tocsc(), sign * model.program.cost
    number = 0
    for whole, places in groupby(range(len(model.names)), key=model.integer.tolist().__getitem__):
        if whole:
            yield f" MARKER{number} 'MARKER' 'INTORG'"
        for j in places:
            part = slice(by_columns.indptr[j], by_columns.indptr[j + 1])
            if cost[j] or part.start == part.stop:
                yield f" {model.names[j]} {objective} {_number(float(cost[j]))}"
            for i, value in zip(
                by_columns.indices[part], by_columns.data[part].tolist(), strict=True
            ):
                yield f" {model.names[j]} {model.row_names[i]} {_number(value)}"
        if whole:
            yield f" MARKER{number + 1} 'MARKER' 'INTEND'"
            number += 2


def _row(low: float, high: float) -> tuple[str, float, float, bool]:
    """Type, side and length of a row, and whether readers come to both of its sides."""
    if low == high:
        return "E", low, 0.0, True
    if math.isinf(low) or math.isinf(high):
        is_free = math.isinf(low) and math.isinf(high)
        kind = "N" if is_free else "L" if math.isinf(low) else "G"
        return kind, 0.0 if is_free else high if math.isinf(low) else low, 0.0, True
    near = high - low
    for length in (near, *(float(np.nextafter(near, end)) for end in (0.0, math.inf))):
        if low + length == high:
            return "G", low, length, True
        if high - length == low:
            return "L", high, length, True
    return "G", low, near, False


def _bounds(low: float, high: float, whole: bool) -> Iterator[tuple[str, str]]:
    """Types and values of the bounds of a variable."""
    if low == high:
        yield "FX", f" {_number(low)}"
    elif math.isinf(low) and math.isinf(high):
        yield "FR", ""
    else:
        if math.isinf(low):
            yield "MI", ""
        elif low or whole:
            yield "LO", f" {_number(low)}"
        if not math.isinf(high):
            yield "UP", f" {_number(high)}"
        elif whole:
            yield "PL", ""


def _number(value: float) -> str:
    """The shortest decimals that are read as this double."""
    return repr(value).removesuffix(".0")
