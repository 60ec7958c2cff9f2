"""Export of an additive model to SQL.

Stages of an additive model in SQL: an expression for each, and a query that predicts.

What is used of the language: ``CASE``, ``IN``, ``CAST``, ``WITH``, names in quotes, numbers of
double precision; with the logistic link ``EXP``. How a database writes them is a matter of its
dialect (:mod:`cgboost.additive.export.dialects`).

NaN is to a database above all numbers, or not comparable. What is missing is told from numbers by
``x <= 0 OR -x <= 0``, which is true neither of NaN nor of NULL.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cgboost.additive.export.dialects import DIALECTS, Dialect, dialect_of, kind
from cgboost.additive.stage import Stage, Stages
from cgboost.additive.trees.transformation import Transformation
from cgboost.tables.binning import Intervals
from cgboost.tables.table_encoding import Schema
from cgboost.tolerances import LARGEST_HALF_LOG_ODDS

LONGEST_SUM = 32
"""Longer ones are divided by brackets: databases read a sum as nested, and limit the depth."""


def unused(prefix: str, count: int, taken: Iterable[str]) -> list[str]:
    """Names prefix_0, prefix_1, …; with more underscores where others begin so."""
    folded = [name.casefold() for name in taken]
    while any(name.startswith(f"{prefix}_") for name in folded):
        prefix += "_"
    return [f"{prefix}_{k}" for k in range(count)]


def linear(sql: Dialect, constant: float, terms: Iterable[tuple[float, str]]) -> str:
    """The expression constant + Σ factor · operand, without factors of 0."""
    parts = [sql.number(constant)]
    for factor, operand in terms:
        if factor != 0.0:
            sign = "-" if factor < 0.0 else "+"
            parts.append(f"{sign} {sql.number(abs(factor))} * {operand}")
    while len(parts) > LONGEST_SUM:
        sums = [" ".join(parts[k : k + LONGEST_SUM]) for k in range(0, len(parts), LONGEST_SUM)]
        parts = [f"({sums[0]})", *(f"+ ({part.removeprefix('+ ')})" for part in sums[1:])]
    return " ".join(parts)


def by_interval(
    sql: Dialect,
    transformation: Transformation,
    column: str,
    outputs: Sequence[str],
    *,
    complete: bool,
) -> str:
    """A transformation of numbers.

    Parameters
    ----------
    sql : Dialect
    transformation : Transformation
    column : str
        What is transformed, as SQL writes it.
    outputs : sequence of str
        Earlier outputs, the same.
    complete : bool
        Whether the column is never NULL or NaN.
    """
    pieces = _pieces(sql, transformation, column, outputs)
    last = pieces[-1][1]
    whens = [f"WHEN {column} < {sql.number(upper)} THEN {text}" for upper, text in pieces[:-1]]
    missing = _leaf(sql, transformation, transformation.leaf[-1], outputs)
    if complete or missing == last:
        return case(whens, last)
    return case([*whens, f"WHEN {is_number(sql, column)} THEN {last}"], missing)


def by_category(
    sql: Dialect,
    transformation: Transformation,
    column: str,
    outputs: Sequence[str],
    known: dict[Any, int],
) -> str:
    """A transformation of categories; ``known`` has their numbers."""
    unknown = _leaf(sql, transformation, transformation.leaf[-1], outputs)
    lists: dict[str, list[Any]] = {}
    for value, code in known.items():
        group = min(code, transformation.groups.n_groups - 1)
        text = _leaf(sql, transformation, transformation.leaf[group], outputs)
        if text != unknown:
            lists.setdefault(text, []).append(value)
    check_one_type(column, known)
    return case(
        [
            f"WHEN {column} IN ({sql.categories(values)}) THEN {text}"
            for text, values in lists.items()
        ],
        unknown,
    )


def check_one_type(column: str, known: Iterable[Any]) -> None:
    """Raise a ValueError for categories that no column of a database can have together."""
    kinds = {kind(value): value for value in known}
    if len(kinds) > 1:
        first, second = list(kinds.values())[:2]
        raise ValueError(
            f"{column} has categories of different types, {first!r} and {second!r} say, and a "
            "column of a database has one type: make them strings"
        )


def is_number(sql: Dialect, column: str) -> str:
    """A condition that is true of numbers alone, neither of NaN nor of NULL."""
    zero = sql.number(0.0)
    return f"{column} <= {zero} OR -{column} <= {zero}"


def case(whens: Sequence[str], otherwise: str) -> str:
    """A CASE expression; without any WHEN what is otherwise."""
    return " ".join(["CASE", *whens, "ELSE", otherwise, "END"]) if whens else otherwise


def _pieces(
    sql: Dialect, t: Transformation, column: str, outputs: Sequence[str]
) -> list[tuple[float, str]]:
    """Ends of intervals and what the transformation is on each: constant beyond the range."""
    assert isinstance(t.groups, Intervals)
    low, high, origin = t.groups.low, t.groups.high, t.groups.origin
    along = f"({column} - {sql.number(origin)})" if origin else column
    edges = [-math.inf, *map(float, t.groups.edges), math.inf]
    pieces: list[tuple[float, str]] = []
    for leaf, start, end in zip(t.leaf[:-1], edges[:-1], edges[1:], strict=True):
        sloped = t.slope[leaf] != 0.0
        ends = [end, low, high] if sloped else [end]
        for upper in sorted({bound for bound in ends if start < bound <= end}):
            if upper <= low:
                text = _leaf(sql, t, leaf, outputs, at=low - origin)
            elif upper <= high:
                text = _leaf(sql, t, leaf, outputs, along=along)
            else:
                text = _leaf(sql, t, leaf, outputs, at=high - origin)
            if pieces and pieces[-1][1] == text:
                pieces.pop()
            pieces.append((upper, text))
    return pieces


def _leaf(
    sql: Dialect,
    t: Transformation,
    leaf: int,
    outputs: Sequence[str],
    *,
    at: float = 0.0,
    along: str = "",
) -> str:
    """What a leaf says at a value of its regressor, or along a column."""
    slope = float(t.slope[leaf])
    level = float(t.intercept[leaf]) + (0.0 if along else slope * at)
    own = [(slope, along)] if along else []
    used = map(int, np.flatnonzero(t.coef[leaf]))
    return linear(sql, level, [*own, *((float(t.coef[leaf, k]), outputs[k]) for k in used)])


Input = tuple[str, dict[Any, int] | None]
"""A column in quotes, and the numbers of its categories where it has any."""

LINKS = ("identity", "logistic", "log")

StagedModel = tuple[Stages, Sequence[float], float]
"""Stages, coefficients of the first of them, and intercept of an output."""


def stage_expressions(
    stages: Stages, schema: Schema, sql: Dialect = DIALECTS["duckdb"], prefix: str = "stage"
) -> dict[str, str]:
    """The output of every stage as an expression in columns and in the outputs before it.

    Parameters
    ----------
    stages : Stages
    schema : Schema
        Numeric columns must be double precision; NULL and NaN are missing. Columns without names
        are called x0, x1, …
    sql : Dialect, default=DIALECTS["duckdb"]
    prefix : str, default="stage"
        What names begin with.

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
        If a number is not finite, a column has an empty name, two names are one to a database, a
        name or a category has characters that SQL cannot say, or categories of a feature have no
        common type in SQL.
    """
    features = feature_names(sql, schema)
    names = unused(prefix, len(stages.stages), features)
    outputs = [sql.name(name) for name in names]
    inputs: list[Input] = list(zip(map(sql.name, features), schema.categories, strict=True))
    inputs += [(output, None) for output in outputs]
    expressions = {}
    for stage, name in zip(stages.stages, names, strict=True):
        total = _sum(sql, stage, inputs, schema.n_features)
        if stage.is_bounded:
            expressions[f"{name}_free"] = total
            total = between(sql, sql.name(f"{name}_free"), stage.low, stage.high)
        if stage.link is not None:
            expressions[f"{name}_sum"] = total
            total = by_interval(sql, stage.link, sql.name(f"{name}_sum"), outputs, complete=True)
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
    dialect: str = "duckdb",
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
    link : {"identity", "logistic", "log"}
        The output is f, 1/(1 + exp(−2f)) of an f brought between ∓350, or exp(f) of an f brought
        between ∓700.
    dialect : {"duckdb", "postgresql", "sqlite", "mysql", "bigquery", "snowflake"}, \
default="duckdb"
        The database that the query is for.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        As :func:`stage_expressions`; if there are more coefficients than stages, the link or the
        dialect is unknown, or two columns of the result have one name.
    """
    model = (stages, coef, intercept)
    columns: dict[str, Any] = {"output": output, "keep": keep, "dialect": dialect}
    if link not in LINKS:
        raise ValueError(f"link must be one of {LINKS}, got {link!r}")
    return models_statement([model], schema, table, link=link, **columns)


def models_statement(
    models: Sequence[StagedModel],
    schema: Schema,
    table: str | Sequence[str],
    *,
    output: str = "prediction",
    keep: str | Sequence[str] = (),
    link: str,
    number: int = 0,
    dialect: str = "duckdb",
) -> str:
    """As :func:`select_statement`, for one of the outputs of a model.

    Parameters
    ----------
    models : sequence of (stages, coef, intercept)
        Of each output.
    schema, table, output, keep, dialect
        As of :func:`select_statement`.
    link : {"identity", "logistic", "log", "softmax"}
        The last is e^{f_k} / Σ_l e^{f_l} of all outputs.
    number : int, default=0
        Which of the outputs, k.
    """
    sql = dialect_of(dialect)
    features = feature_names(sql, schema)
    steps: dict[str, str] = {}
    scores = unused("score", len(models), features)
    for k, (score, (stages, coef, intercept)) in enumerate(zip(scores, models, strict=True)):
        if len(coef) > len(stages.stages):
            raise ValueError(f"there are {len(coef)} coefficients for {len(stages.stages)} stages")
        prefix = "stage" if len(models) == 1 else f"output_{k}_stage"
        names = unused(prefix, len(coef), features)
        own = Stages(stages.stages[: len(coef)])
        steps |= stage_expressions(own, schema, sql, prefix)
        steps[score] = linear(sql, intercept, zip(coef, map(sql.name, names), strict=True))
    quoted = list(map(sql.name, scores))
    is_share = link == "softmax"
    prediction = share(sql, quoted, number) if is_share else linked(sql, quoted[number], link)
    return query(sql, schema, steps, prediction, table, output=output, keep=keep)


def query(
    sql: Dialect,
    schema: Schema,
    steps: dict[str, str],
    prediction: str,
    table: str | Sequence[str],
    *,
    output: str,
    keep: str | Sequence[str],
) -> str:
    """A query with a table expression for each of some columns, one after another.

    Parameters
    ----------
    sql : Dialect
    schema : Schema
    steps : dict of str to str
        Names (without quotes) and expressions in the features and the steps before.
    prediction : str
        The expression of the column that is made.
    table, output, keep
        As in :func:`select_statement`.

    Raises
    ------
    ValueError
        If two columns of the result have one name.
    """
    keep = [keep] if isinstance(keep, str) else keep
    sql.check_names([*keep, output], "the result")
    features = feature_names(sql, schema)
    kept = unused("kept", len(keep), features)
    path = [table] if isinstance(table, str) else list(table)
    first, *later = map(sql.name, unused("step", len(steps) + 1, path))
    read = [f"{sql.name(old)} AS {sql.name(new)}" for old, new in zip(keep, kept, strict=True)]
    read += [_read(sql, schema, j, name) for j, name in enumerate(features)]
    lines = [sql.table_expression(first, _select(read, sql.path(path)))]
    before = first
    for step, (name, expression) in zip(later, steps.items(), strict=True):
        columns = [f"{before}.*", f"{expression} AS {sql.name(name)}"]
        lines.append(sql.table_expression(step, _select(columns, before)))
        before = step
    made = [f"{sql.name(new)} AS {sql.name(old)}" for old, new in zip(keep, kept, strict=True)]
    made.append(f"{prediction} AS {sql.name(output)}")
    return "WITH " + ",\n".join(lines) + "\n" + _select(made, before)


def _select(columns: Sequence[str], table: str) -> str:
    return f"SELECT {', '.join(columns)} FROM {table}"


def feature_names(sql: Dialect, schema: Schema) -> list[str]:
    """Names of the columns of the table: x0, x1, … where the features have none."""
    if schema.names is None:
        return [f"x{j}" for j in range(schema.n_features)]
    sql.check_names(schema.names, "the table")
    return list(schema.names)


def _read(sql: Dialect, schema: Schema, feature: int, name: str) -> str:
    """A feature as the stages take it: double precision, or categories that compare exactly."""
    column, known = sql.name(name), schema.categories[feature]
    if known is None:
        there = sql.truth_column.format(column) if feature in schema.truths else column
        return f"{sql.as_double(there)} AS {column}"
    if any(kind(value) == "text" for value in known):
        return f"{sql.text_column.format(column)} AS {column}"
    return column


def linked(sql: Dialect, score: str, link: str) -> str:
    """The output for a score; no part of it overflows or underflows."""
    if link == "identity":
        return score
    if link == "log":
        bound = 2.0 * LARGEST_HALF_LOG_ODDS
        return f"EXP({between(sql, score, -bound, bound)})"
    f = between(sql, score, -LARGEST_HALF_LOG_ODDS, LARGEST_HALF_LOG_ODDS)
    one = sql.number(1.0)
    return f"{one} / ({one} + EXP({sql.number(-2.0)} * {f}))"


def share(sql: Dialect, scores: Sequence[str], number: int) -> str:
    """e^{f_k} / Σ_l e^{f_l}, of which no part overflows or underflows."""
    away = (f"({score} - {scores[number]})" for score in scores)
    terms = (linked(sql, gap, "log") for gap in away)
    return f"{sql.number(1.0)} / ({' + '.join(terms)})"


def between(sql: Dialect, column: str, low: float, high: float) -> str:
    """The value of a column, brought between two numbers."""
    whens = []
    if low > -math.inf:
        whens.append(f"WHEN {column} < {sql.number(low)} THEN {sql.number(low)}")
    if high < math.inf:
        whens.append(f"WHEN {column} > {sql.number(high)} THEN {sql.number(high)}")
    return case(whens, column)


def _sum(sql: Dialect, stage: Stage, inputs: Sequence[Input], n_features: int) -> str:
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
            text = by_interval(sql, term, column, outputs, complete=term.feature >= n_features)
        else:
            text = by_category(sql, term, column, outputs, known)
        terms.append((weight, f"({text})"))
    return linear(sql, stage.intercept, terms)
