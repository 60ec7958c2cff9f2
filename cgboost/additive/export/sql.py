"""Stages of an additive model in SQL: an expression for each, and a query that predicts.

What is used of the language: ``CASE``, ``IN``, ``CAST``, ``WITH``, names in quotes, numbers of
double precision; with the logistic link ``EXP``. Expressions are trees of sqlglot
(:mod:`cgboost.additive.export.expressions`), the same for all databases; how one writes them is a
matter of its dialect (:mod:`cgboost.additive.export.dialects`).

NaN is to a database above all numbers, or not comparable. What is missing is told from numbers by
``x <= 0 OR -x <= 0``, which is true neither of NaN nor of NULL.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cgboost.additive.export.dialects import DIALECTS, Dialect, dialect_of, kind
from cgboost.additive.export.expressions import (
    SQL,
    added,
    between,
    call,
    case,
    exp,
    is_number,
    linear,
    named,
)
from cgboost.additive.stage import Stage, Stages
from cgboost.additive.trees.transformation import Transformation
from cgboost.tables.binning import Intervals
from cgboost.tables.table_encoding import Schema
from cgboost.tolerances import LARGEST_HALF_LOG_ODDS


def unused(prefix: str, count: int, taken: Iterable[str]) -> list[str]:
    """Names prefix_0, prefix_1, …; with more underscores where others begin so."""
    folded = [name.casefold() for name in taken]
    while any(name.startswith(f"{prefix}_") for name in folded):
        prefix += "_"
    return [f"{prefix}_{k}" for k in range(count)]


def by_interval(
    transformation: Transformation, x: SQL, outputs: Sequence[SQL], *, complete: bool
) -> SQL:
    """A transformation of numbers.

    Parameters
    ----------
    x : SQL
        What is transformed.
    outputs : sequence of SQL
        Earlier outputs.
    complete : bool
        Whether x is never NULL or NaN.
    """
    t = transformation
    assert isinstance(t.groups, Intervals)
    along = x - t.groups.origin if t.groups.origin else x
    pieces = _pieces(t)
    values = [_node(formula, along, outputs) for _, formula in pieces]
    uppers = [upper for upper, _ in pieces[:-1]]
    whens = [(x < upper, value) for upper, value in zip(uppers, values[:-1], strict=True)]
    missing = _formula(t, t.leaf[-1])
    if complete or missing == pieces[-1][1]:
        return case(whens, values[-1])
    return case([*whens, (is_number(x), values[-1])], _node(missing, along, outputs))


def by_category(
    sql: Dialect,
    transformation: Transformation,
    column: SQL,
    outputs: Sequence[SQL],
    known: dict[Any, int],
) -> SQL:
    """A transformation of categories; ``known`` has their numbers."""
    t = transformation
    unknown = _formula(t, t.leaf[-1])
    lists: dict[Formula, list[Any]] = {}
    for value, code in known.items():
        formula = _formula(t, t.leaf[min(code, t.groups.n_groups - 1)])
        if formula != unknown:
            lists.setdefault(formula, []).append(value)
    check_one_type(sql, column, known)
    whens = [
        (column.is_one_of(sql.categories(values)), _node(formula, column, outputs))
        for formula, values in lists.items()
    ]
    return case(whens, _node(unknown, column, outputs))


def check_one_type(sql: Dialect, column: SQL, known: Iterable[Any]) -> None:
    """Raise a ValueError for categories that no column of a database can have together."""
    kinds = {kind(value): value for value in known}
    if len(kinds) > 1:
        first, second = list(kinds.values())[:2]
        raise ValueError(
            f"{sql.write(column)} has categories of different types, {first!r} and {second!r} say, "
            "and a column of a database has one type: make them strings"
        )


Formula = tuple[float, tuple[tuple[float, int | None], ...]]
"""What a leaf says: a constant, and factors of earlier outputs; None: of the regressor."""


def _node(formula: Formula, along: SQL, outputs: Sequence[SQL]) -> SQL:
    """A formula of the regressor and the outputs."""
    level, terms = formula
    return linear(level, [(c, along if k is None else outputs[k]) for c, k in terms])


def _pieces(t: Transformation) -> list[tuple[float, Formula]]:
    """Ends of intervals and what the transformation is on each: constant beyond the range."""
    assert isinstance(t.groups, Intervals)
    low, high, origin = t.groups.low, t.groups.high, t.groups.origin
    edges = [-math.inf, *map(float, t.groups.edges), math.inf]
    pieces: list[tuple[float, Formula]] = []
    for leaf, start, end in zip(t.leaf[:-1], edges[:-1], edges[1:], strict=True):
        sloped = t.slope[leaf] != 0.0
        ends = [end, low, high] if sloped else [end]
        for upper in sorted({bound for bound in ends if start < bound <= end}):
            at = low if upper <= low else None if upper <= high else high
            formula = _formula(t, leaf, None if at is None else at - origin)
            if pieces and pieces[-1][1] == formula:
                pieces.pop()
            pieces.append((upper, formula))
    return pieces


def _formula(t: Transformation, leaf: int, at: float | None = 0.0) -> Formula:
    """What a leaf says at a value of its regressor; None: along it."""
    slope, level = float(t.slope[leaf]), float(t.intercept[leaf])
    own = ((slope, None),) if at is None and slope else ()
    used = map(int, np.flatnonzero(t.coef[leaf]))
    terms = ((float(t.coef[leaf, k]), k) for k in used)
    return level + (0.0 if at is None else slope * at), (*own, *terms)


Input = tuple[SQL, dict[Any, int] | None]
"""A column, and the numbers of its categories where it has any."""

LINKS = ("identity", "logistic", "log", "softmax")

StagedModel = tuple[Stages, Sequence[float], float]
"""Stages, coefficients of the first of them, and intercept of an output."""


def stage_expressions(
    stages: Stages, schema: Schema, sql: Dialect = DIALECTS["duckdb"], prefix: str = "stage"
) -> dict[str, SQL]:
    """The output of every stage as an expression in columns and in the outputs before it.

    Parameters
    ----------
    schema : Schema
        Numeric columns must be double precision; NULL and NaN are missing. Columns without names
        are called x0, x1, …
    sql : Dialect, default=DIALECTS["duckdb"]
    prefix : str, default="stage"
        What names begin with.

    Returns
    -------
    dict of str to SQL
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
    outputs = list(map(named, names))
    inputs: list[Input] = list(zip(map(named, features), schema.categories, strict=True))
    inputs += [(output, None) for output in outputs]
    expressions = {}
    for stage, name in zip(stages.stages, names, strict=True):
        total = _sum(sql, stage, inputs, schema.n_features)
        if stage.is_bounded:
            expressions[f"{name}_free"] = total
            total = between(named(f"{name}_free"), stage.low, stage.high)
        if stage.link is not None:
            expressions[f"{name}_sum"] = total
            total = by_interval(stage.link, named(f"{name}_sum"), outputs, complete=True)
        expressions[name] = total
    return expressions


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
    """A query for f = intercept + Σ_k coef_k · stage_k, with a table expression for every stage.

    Parameters
    ----------
    models : sequence of (stages, coef, intercept)
        Of each output; stages beyond the coefficients are left out.
    table : str or sequence of str
        Its name, or the parts of its name, ("main", "people") say.
    output : str
        Name of the column that is made.
    keep : str or sequence of str
        Column or columns of the table that come before it: SQL promises no order of the rows.
    link : {"identity", "logistic", "log", "softmax"}
        The output is f, 1/(1 + exp(−2f)) of an f brought between ∓350, exp(f) of an f brought
        between ∓700, or e^{f_k} / Σ_l e^{f_l} of all outputs.
    number : int, default=0
        Which of the outputs, k.
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
    sql = dialect_of(dialect)
    features = feature_names(sql, schema)
    steps: dict[str, SQL] = {}
    scores = unused("score", len(models), features)
    for k, (score, (stages, coef, intercept)) in enumerate(zip(scores, models, strict=True)):
        if len(coef) > len(stages.stages):
            raise ValueError(f"there are {len(coef)} coefficients for {len(stages.stages)} stages")
        prefix = "stage" if len(models) == 1 else f"output_{k}_stage"
        names = unused(prefix, len(coef), features)
        own = Stages(stages.stages[: len(coef)])
        steps |= stage_expressions(own, schema, sql, prefix)
        steps[score] = linear(intercept, zip(coef, map(named, names), strict=True))
    prediction = predicted(list(map(named, scores)), link, number)
    return query(sql, schema, steps, prediction, table, output=output, keep=keep)


def query(
    sql: Dialect,
    schema: Schema,
    steps: dict[str, SQL],
    prediction: SQL,
    table: str | Sequence[str],
    *,
    output: str,
    keep: str | Sequence[str],
) -> str:
    """A query with a table expression for each of some columns, one after another.

    Parameters
    ----------
    steps : dict of str to SQL
        Names (without quotes) and expressions in the features and the steps before.
    prediction : SQL
        The expression of the column that is made.
    table, output, keep
        As in :func:`models_statement`.

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
    first, *later = map(named, unused("step", len(steps) + 1, path))
    both = list(zip(map(named, keep), map(named, kept), strict=True))
    read = [old.alias(new) for old, new in both]
    read += [_read(sql, schema, j, name) for j, name in enumerate(features)]
    selects = [(first, _select(read, exp.Var(this=sql.path(path))))]
    before = first
    for step, (name, expression) in zip(later, steps.items(), strict=True):
        everything = SQL(exp.Column(this=exp.Star(), table=before.tree))
        columns = [everything, expression.alias(named(name))]
        selects.append((step, _select(columns, before.tree)))
        before = step
    made = [new.alias(old) for old, new in both]
    statement = _select([*made, prediction.alias(named(output))], before.tree)
    how = {"materialized": sql.materialized or None, "copy": False}
    for step, select in selects:
        apart = select.limit(2**63 - 1, copy=False) if sql.unmerged else select
        statement = statement.with_(exp.TableAlias(this=step.tree), apart, **how)
    return sql.write(SQL(statement))


def _select(columns: Sequence[SQL], table: Any) -> Any:
    trees = (column.tree for column in columns)
    return exp.select(*trees, copy=False).from_(exp.Table(this=table), copy=False)


def feature_names(sql: Dialect, schema: Schema) -> list[str]:
    """Names of the columns of the table: x0, x1, … where the features have none."""
    if schema.names is None:
        return [f"x{j}" for j in range(schema.n_features)]
    sql.check_names(schema.names, "the table")
    return list(schema.names)


def _read(sql: Dialect, schema: Schema, feature: int, name: str) -> SQL:
    """A feature as the stages take it: double precision, or categories that compare exactly."""
    column, known = named(name), schema.categories[feature]
    if known is None:
        is_truth = feature in schema.truths
        there = SQL(sql.truth_column.format(sql.name(name))) if is_truth else column
        return sql.as_double(there).alias(column)
    if any(kind(value) == "text" for value in known):
        return SQL(sql.text_column.format(sql.name(name))).alias(column)
    return column


def predicted(scores: Sequence[SQL], link: str, number: int) -> SQL:
    """The output of a model for its scores: of one of them, or its share of all of them."""
    if link not in LINKS:
        raise ValueError(f"link must be one of {LINKS}, got {link!r}")
    return share(scores, number) if link == "softmax" else linked(scores[number], link)


def linked(score: SQL, link: str) -> SQL:
    """The output for a score; no part of it overflows or underflows."""
    if link == "identity":
        return score
    if link == "log":
        bound = 2.0 * LARGEST_HALF_LOG_ODDS
        return call("EXP", between(score, -bound, bound))
    f = between(score, -LARGEST_HALF_LOG_ODDS, LARGEST_HALF_LOG_ODDS)
    return 1.0 / (1.0 + call("EXP", -2.0 * f))


def share(scores: Sequence[SQL], own: int) -> SQL:
    """e^{f_k} / Σ_l e^{f_l}, of which no part overflows or underflows."""
    away = (score - scores[own] for score in scores)
    return 1.0 / added([linked(gap, "log") for gap in away])


def _sum(sql: Dialect, stage: Stage, inputs: Sequence[Input], n_features: int) -> SQL:
    outputs = [column for column, _ in inputs[n_features:]]
    terms = []
    for weight, term in stage.terms:
        column, known = inputs[term.feature]
        if (known is None) != isinstance(term.groups, Intervals):
            raise ValueError(
                f"{sql.write(column)} is numeric in the schema and has categories in a stage, or "
                "the other way round: give the schema that the stages were fitted with"
            )
        if known is None:
            value = by_interval(term, column, outputs, complete=term.feature >= n_features)
        else:
            value = by_category(sql, term, column, outputs, known)
        terms.append((weight, value))
    return linear(stage.intercept, terms)
