"""A transformation as a CASE expression: over intervals, or over lists of categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cgboost.additive.export.sql_text import category, kind, linear, number
from cgboost.additive.tables.intervals import Intervals
from cgboost.additive.trees.transformation import Transformation


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
