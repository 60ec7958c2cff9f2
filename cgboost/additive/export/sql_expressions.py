"""SQL expressions: names, numbers, categories, and transformations as CASE."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from cgboost.additive.tables.intervals import Intervals
from cgboost.additive.trees.transformation import Transformation

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


def by_interval(
    transformation: Transformation, column: str, outputs: Sequence[str], *, complete: bool
) -> str:
    """A transformation of numbers.

    Parameters
    ----------
    transformation : Transformation
    column : str
        What is transformed, as SQL writes it.
    outputs : sequence of str
        Earlier outputs, the same.
    complete : bool
        Whether the column is never NULL or NaN.
    """
    pieces = _pieces(transformation, column, outputs)
    last = pieces[-1][1]
    whens = [f"WHEN {column} < {number(upper)} THEN {text}" for upper, text in pieces[:-1]]
    missing = _leaf(transformation, transformation.leaf[-1], outputs)
    if complete or missing == last:
        return _case(whens, last)
    return _case([*whens, f"WHEN {column} <= 0e0 OR -{column} <= 0e0 THEN {last}"], missing)


def by_category(
    transformation: Transformation, column: str, outputs: Sequence[str], known: dict[Any, int]
) -> str:
    """A transformation of categories; ``known`` has their numbers."""
    unknown = _leaf(transformation, transformation.leaf[-1], outputs)
    lists: dict[str, list[Any]] = {}
    for value, code in known.items():
        group = min(code, transformation.groups.n_groups - 1)
        text = _leaf(transformation, transformation.leaf[group], outputs)
        if text != unknown:
            lists.setdefault(text, []).append(value)
    kinds = {kind(value): value for value in known}
    if len(kinds) > 1:
        first, second = list(kinds.values())[:2]
        raise ValueError(
            f"{column} has categories of different types, {first!r} and {second!r} say, and a "
            "column of a database has one type: make them strings"
        )
    return _case(
        [
            f"WHEN {column} IN ({', '.join(map(category, values))}) THEN {text}"
            for text, values in lists.items()
        ],
        unknown,
    )


def _case(whens: Sequence[str], otherwise: str) -> str:
    return " ".join(["CASE", *whens, "ELSE", otherwise, "END"]) if whens else otherwise


def _pieces(t: Transformation, column: str, outputs: Sequence[str]) -> list[tuple[float, str]]:
    """Ends of intervals and what the transformation is on each: constant beyond the range."""
    assert isinstance(t.groups, Intervals)
    low, high, origin = t.groups.low, t.groups.high, t.groups.origin
    along = f"({column} - {number(origin)})" if origin else column
    edges = [-math.inf, *map(float, t.groups.edges), math.inf]
    pieces: list[tuple[float, str]] = []
    for leaf, start, end in zip(t.leaf[:-1], edges[:-1], edges[1:], strict=True):
        sloped = t.slope[leaf] != 0.0
        ends = [end, low, high] if sloped else [end]
        for upper in sorted({bound for bound in ends if start < bound <= end}):
            if upper <= low:
                text = _leaf(t, leaf, outputs, at=low - origin)
            elif upper <= high:
                text = _leaf(t, leaf, outputs, along=along)
            else:
                text = _leaf(t, leaf, outputs, at=high - origin)
            if pieces and pieces[-1][1] == text:
                pieces.pop()
            pieces.append((upper, text))
    return pieces


def _leaf(
    t: Transformation, leaf: int, outputs: Sequence[str], *, at: float = 0.0, along: str = ""
) -> str:
    """What a leaf says at a value of its regressor, or along a column."""
    slope = float(t.slope[leaf])
    level = float(t.intercept[leaf]) + (0.0 if along else slope * at)
    own = [(slope, along)] if along else []
    used = map(int, np.flatnonzero(t.coef[leaf]))
    return linear(level, [*own, *((float(t.coef[leaf, k]), outputs[k]) for k in used)])
