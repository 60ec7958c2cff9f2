"""Names, numbers and categories as SQL writes them."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

LONGEST_SUM = 32
"""Longer ones are divided by brackets: databases read a sum as nested, and limit the depth."""


def quoted(name: str) -> str:
    """A name in double quotes.

    Raises
    ------
    ValueError
        If it is empty.
    """
    if not name:
        raise ValueError("a column or table has an empty name, which SQL cannot say: rename it")
    return '"' + name.replace('"', '""') + '"'


def check_names(names: Sequence[str], what: str) -> None:
    """See that no two names are one to a database.

    Raises
    ------
    ValueError
        If they are.
    """
    seen: dict[str, str] = {}
    for name in names:
        if (folded := name.casefold()) in seen:
            raise ValueError(
                f"{what} has columns {seen[folded]!r} and {name!r}, which many databases cannot "
                "tell apart: rename one"
            )
        seen[folded] = name


def unused(prefix: str, count: int, taken: Iterable[str]) -> list[str]:
    """Names prefix_0, prefix_1, …; with more underscores where others begin so."""
    folded = [name.casefold() for name in taken]
    while any(name.startswith(f"{prefix}_") for name in folded):
        prefix += "_"
    return [f"{prefix}_{k}" for k in range(count)]


def number(value: float) -> str:
    """A double precision literal that is read back as the same number.

    Raises
    ------
    ValueError
        If it is not finite.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot be written as a number in SQL")
    digits = repr(float(value))
    return digits if "e" in digits else f"{digits}e0"


def linear(constant: float, terms: Iterable[tuple[float, str]]) -> str:
    """The expression constant + Σ factor · operand, without factors of 0."""
    parts = [number(constant)]
    for factor, operand in terms:
        if factor != 0.0:
            sign = "-" if factor < 0.0 else "+"
            parts.append(f"{sign} {number(abs(factor))} * {operand}")
    while len(parts) > LONGEST_SUM:
        sums = [" ".join(parts[k : k + LONGEST_SUM]) for k in range(0, len(parts), LONGEST_SUM)]
        parts = [f"({sums[0]})", *(f"+ ({part.removeprefix('+ ')})" for part in sums[1:])]
    return " ".join(parts)


def category(value: Any) -> str:
    """A category as a literal: text, number, truth value, date or time without a zone.

    Raises
    ------
    ValueError
        If it is something else.
    """
    match kind(value):
        case "text":
            return "'" + value.replace("'", "''") + "'"
        case "truth value":
            return "TRUE" if value else "FALSE"
        case "number":
            return str(int(value)) if isinstance(value, Integral) else number(value)
        case "time":
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case "date":
            return f"DATE '{value.isoformat()}'"
    raise ValueError(
        f"the category {value!r} of type {type(value).__name__} cannot be written in SQL: make the "
        "categories of this feature strings"
    )


def kind(value: Any) -> str | None:
    """What type of column a category belongs in; None for what has none."""
    if isinstance(value, bool | np.bool_):
        return "truth value"
    if isinstance(value, datetime.datetime):
        return "time" if value.tzinfo is None else None
    for name, types in (("text", str), ("number", Real), ("date", datetime.date)):
        if isinstance(value, types):
            return name
    return None
