"""Export of an additive model to SQL.

SQL expressions: names, numbers, categories, and transformations as CASE.

Stages of an additive model in SQL: an expression for each, and a query that predicts.

What is used of the language: ``CASE``, ``IN``, ``CAST(… AS DOUBLE PRECISION)``, ``WITH``, names in
double quotes, numbers with an exponent (which are double precision); with the logistic link ``EXP``
and ``ABS``. DuckDB runs it as it is. Databases that merge sub-queries (SQLite, PostgreSQL) would
write a stage out wherever a later one refers to it; ``AS MATERIALIZED`` tells them not to.

NaN is to a database above all numbers, or not comparable. What is missing is told from numbers by
``x <= 0 OR -x <= 0``, which is true neither of NaN nor of NULL.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from cgboost.additive.stage import Stage, Stages
from cgboost.additive.tables.preparation import Intervals
from cgboost.additive.tables.schema import Schema
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


Input = tuple[str, dict[Any, int] | None]
"""A column in quotes, and the numbers of its categories where it has any."""

LINKS = ("identity", "logistic")


def stage_expressions(stages: Stages, schema: Schema) -> dict[str, str]:
    """The output of every stage as an expression in columns and in the outputs before it.

    Parameters
    ----------
    stages : Stages
    schema : Schema
        Numeric columns must be double precision; NULL and NaN are missing. Columns without names
        are called x0, x1, …

    Returns
    -------
    dict of str to str
        Name (without quotes) and expression, in the order in which they are to be evaluated:
        stage_0, stage_1, …; before a stage with a link comes its sum, stage_0_sum say, and before
        one with bounds what it would be without them, stage_0_free. Where the name of a column
        begins with stage_, these begin with stage__.

    Raises
    ------
    ValueError
        If a number is not finite, a column has an empty name, two names differ in case alone, or
        categories of a feature have no common type in SQL.
    """
    features = _features(schema)
    names = unused("stage", len(stages.stages), features)
    outputs = [quoted(name) for name in names]
    inputs: list[Input] = list(zip(map(quoted, features), schema.categories, strict=True))
    inputs += [(output, None) for output in outputs]
    expressions = {}
    for stage, name in zip(stages.stages, names, strict=True):
        total = _sum(stage, inputs, schema.n_features)
        if stage.is_bounded:
            expressions[f"{name}_free"] = total
            total = _between(quoted(f"{name}_free"), stage.low, stage.high)
        if stage.link is not None:
            expressions[f"{name}_sum"] = total
            total = by_interval(stage.link, quoted(f"{name}_sum"), outputs, complete=True)
        expressions[name] = total
    return expressions


def select_statement(
    stages: Stages,
    coef: Sequence[float],
    intercept: float,
    schema: Schema,
    table: str | Sequence[str],
    *,
    output: str = "prediction",
    keep: str | Sequence[str] = (),
    link: str = "identity",
    materialized: bool = False,
) -> str:
    """A query for f = intercept + Σ_k coef_k · stage_k, with a table expression for every stage.

    Parameters
    ----------
    stages : Stages
    coef : sequence of float
        Of the first stages; those beyond are left out.
    intercept : float
    schema : Schema
    table : str or sequence of str
        Its name, or the parts of its name, ("main", "people") say.
    output : str
        Name of the column that is made.
    keep : str or sequence of str
        Column or columns of the table that come before it: SQL promises no order of the rows.
    link : {"identity", "logistic"}
        The output is f, or 1/(1 + exp(−2f)).
    materialized : bool
        Whether every stage is kept as a table while the query runs: for SQLite and PostgreSQL,
        which take exponentially long otherwise. DuckDB needs less memory without.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        As :func:`stage_expressions`; if there are more coefficients than stages, the link is
        unknown, or two columns of the result have one name.
    """
    if len(coef) > len(stages.stages):
        raise ValueError(f"there are {len(coef)} coefficients for {len(stages.stages)} stages")
    if link not in LINKS:
        raise ValueError(f"link must be one of {LINKS}, got {link!r}")
    keep = [keep] if isinstance(keep, str) else keep
    check_names([*keep, output], "the result")
    features = _features(schema)
    names, kept = unused("stage", len(coef), features), unused("kept", len(keep), features)
    (score,) = unused("score", 1, features)
    steps = stage_expressions(Stages(stages.stages[: len(coef)]), schema)
    steps[score] = linear(intercept, zip(coef, map(quoted, names), strict=True))
    path = [table] if isinstance(table, str) else list(table)
    first, *later = map(quoted, unused("step", len(steps) + 1, path))
    read = [f"{quoted(old)} AS {quoted(new)}" for old, new in zip(keep, kept, strict=True)]
    read += map(_read, features, schema.categories)
    start = "AS MATERIALIZED (SELECT" if materialized else "AS (SELECT"
    lines = [f"{first} {start} {', '.join(read)} FROM {'.'.join(map(quoted, path))})"]
    before = first
    for step, (name, expression) in zip(later, steps.items(), strict=True):
        lines.append(f"{step} {start} {before}.*, {expression} AS {quoted(name)} FROM {before})")
        before = step
    made = [f"{quoted(new)} AS {quoted(old)}" for old, new in zip(keep, kept, strict=True)]
    made.append(f"{_linked(quoted(score), link)} AS {quoted(output)}")
    return "WITH " + ",\n".join(lines) + f"\nSELECT {', '.join(made)} FROM {before}"


def _features(schema: Schema) -> list[str]:
    if schema.names is None:
        return [f"x{j}" for j in range(schema.n_features)]
    check_names(schema.names, "the table")
    return list(schema.names)


def _read(name: str, known: dict[Any, int] | None) -> str:
    column = quoted(name)
    return column if known is not None else f"CAST({column} AS DOUBLE PRECISION) AS {column}"


def _linked(score: str, link: str) -> str:
    """The logistic function without overflow: exp(min(2f, 0)) / (1 + exp(−2|f|))."""
    if link == "identity":
        return score
    above = f"CASE WHEN {score} < 0e0 THEN EXP(2e0 * {score}) ELSE 1e0 END"
    return f"{above} / (1e0 + EXP(-2e0 * ABS({score})))"


def _between(column: str, low: float, high: float) -> str:
    """The value of a column, brought between two numbers."""
    below = f" WHEN {column} < {number(low)} THEN {number(low)}" if low > -math.inf else ""
    above = f" WHEN {column} > {number(high)} THEN {number(high)}" if high < math.inf else ""
    return f"CASE{below}{above} ELSE {column} END"


def _sum(stage: Stage, inputs: Sequence[Input], n_features: int) -> str:
    """The sum of the terms."""
    outputs = [column for column, _ in inputs[n_features:]]
    terms = []
    for weight, term in stage.terms:
        column, known = inputs[term.feature]
        if (known is None) != isinstance(term.groups, Intervals):
            raise ValueError(
                f"{column} is numeric in the schema and has categories in a stage, or the other "
                "way round: give the schema that the stages were fitted with"
            )
        if known is None:
            text = by_interval(term, column, outputs, complete=term.feature >= n_features)
        else:
            text = by_category(term, column, outputs, known)
        terms.append((weight, f"({text})"))
    return linear(stage.intercept, terms)
