"""Stages of an additive model in SQL: an expression for each, and a query that predicts.

What is used of the language: ``CASE``, ``IN``, ``CAST(… AS DOUBLE PRECISION)``, ``WITH``, names in
double quotes, numbers with an exponent (which are double precision); with the logistic link ``EXP``
and ``ABS``. DuckDB runs it as it is. Databases that merge sub-queries (SQLite, PostgreSQL) would
write a stage out wherever a later one refers to it; ``AS MATERIALIZED`` tells them not to.

NaN is to a database above all numbers, or not comparable. What is missing is told from numbers by
``x <= 0 OR -x <= 0``, which is true neither of NaN nor of NULL.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from cgboost.additive.export.sql_expressions import (
    by_category,
    by_interval,
    check_names,
    linear,
    number,
    quoted,
    unused,
)
from cgboost.additive.stage import Stage, Stages
from cgboost.additive.tables.intervals import Intervals
from cgboost.additive.tables.schema import Schema

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
