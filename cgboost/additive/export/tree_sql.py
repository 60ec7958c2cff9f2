"""Boosted linear trees in SQL: regressors, sums of trees, and the prediction.

A regressor is a column, so that the leaves of all trees share it; a tree is a CASE in a CASE, and
some trees at a time are added up in a column. A condition is written for the branch that missing
values do not go to: of NULL it is not true, so that ELSE has them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cgboost.additive.export.dialects import Dialect, dialect_of
from cgboost.additive.export.expressions import (
    LONGEST_SUM,
    SQL,
    Operand,
    case,
    is_number,
    linear,
    named,
)
from cgboost.additive.export.sql import check_one_type, feature_names, predicted, query, unused
from cgboost.additive.trees.model_tree import ModelTree, Regressors
from cgboost.tables.binning import Intervals
from cgboost.tables.table_encoding import Schema

Output = tuple[float, Sequence[tuple[float, ModelTree]]]
"""Intercept, and the trees of an output with their coefficients."""


def trees_statement(
    outputs: Sequence[Output],
    schema: Schema,
    table: str | Sequence[str],
    *,
    link: str,
    number: int = 0,
    output: str = "prediction",
    keep: str | Sequence[str] = (),
    dialect: str = "duckdb",
) -> str:
    """A query for the prediction of sums of trees, f = intercept + Σ coef · tree.

    Parameters
    ----------
    outputs : sequence of (intercept, [(coef, tree), …])
    table, output, keep, dialect
        As in :func:`cgboost.additive.export.sql.models_statement`.
    link : {"identity", "logistic", "log", "softmax"}
        As in :func:`cgboost.additive.export.sql.models_statement`.
    number : int, default=0
        Which of the outputs, k.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        As :func:`cgboost.additive.export.sql.models_statement`.
    """
    sql = dialect_of(dialect)
    features = feature_names(sql, schema)
    trees = [tree for _, terms in outputs for _, tree in terms]
    columns = list(map(named, features))
    steps, lines = _regressors(trees, features, columns)
    count = sum(-(-len(terms) // LONGEST_SUM) for _, terms in outputs)
    sums, scores = unused("sum", count, features), unused("score", len(outputs), features)
    for (intercept, terms), score in zip(outputs, scores, strict=True):
        own = []
        for start in range(0, len(terms), LONGEST_SUM):
            some = [
                (coef, _tree(sql, tree, 0, schema, columns, lines))
                for coef, tree in terms[start : start + LONGEST_SUM]
            ]
            own.append(sums.pop(0))
            steps[own[-1]] = linear(0.0, some)
        steps[score] = linear(intercept, [(1.0, named(name)) for name in own])
    prediction = predicted(list(map(named, scores)), link, number)
    return query(sql, schema, steps, prediction, table, output=output, keep=keep)


def _regressors(
    trees: Sequence[ModelTree], features: Sequence[str], columns: Sequence[SQL]
) -> tuple[dict[str, SQL], list[SQL]]:
    """Regressors that trees use, by their names, and all of them as columns."""
    if not trees:
        return {}, []
    regressors = trees[0].regressors
    names = unused("line", len(regressors), features)
    used = np.zeros(len(regressors), dtype=bool)
    for tree in trees:
        for node in tree.nodes:
            if node.keeps_rows:
                used |= node.coef != 0.0
    steps = {names[k]: _regressor(regressors, k, columns) for k in np.flatnonzero(used).tolist()}
    return steps, list(map(named, names))


def _regressor(regressors: Regressors, k: int, columns: Sequence[SQL]) -> SQL:
    """(x − middle)/scale of an x brought to its range; 0 where it is missing."""
    x = columns[int(regressors.features[k])]
    parts = (regressors.low, regressors.high, regressors.middle, regressors.scale)
    low, high, middle, scale = (float(part[k]) for part in parts)
    whens: list[tuple[SQL, Operand]] = [
        (x < low, (low - middle) / scale),
        (x <= high, (x - middle) / scale),
        (is_number(x), (high - middle) / scale),
    ]
    return case(whens, 0.0)


def _tree(
    sql: Dialect,
    tree: ModelTree,
    place: int,
    schema: Schema,
    columns: Sequence[SQL],
    lines: Sequence[SQL],
) -> SQL:
    """The part of a tree below a node."""
    node = tree.nodes[place]
    own = linear(node.level, list(zip(node.coef.tolist(), lines, strict=True)))
    if not node.children:
        return own
    values = [own, *(_tree(sql, tree, k, schema, columns, lines) for k in node.children)]
    missing = int(node.child[-1])
    branches = [b for b in np.unique(node.child).tolist() if b != missing]
    if missing < 0 or len(branches) > 1:  # the categories of a branch, if it has any
        known = set((schema.categories[node.feature] or {}).values())
        branches = [b for b in branches if any(node.child[code] == b for code in known)]
    whens = [(_condition(sql, tree, place, b, schema, columns), values[b + 1]) for b in branches]
    return case(whens, values[missing + 1])


def _condition(
    sql: Dialect,
    tree: ModelTree,
    place: int,
    branch: int,
    schema: Schema,
    columns: Sequence[SQL],
) -> SQL:
    """What is true of the rows of a branch, to which missing values do not belong."""
    node = tree.nodes[place]
    groups, known = tree.groups[node.feature], schema.categories[node.feature]
    column = columns[node.feature]
    own = np.flatnonzero(node.child[:-1] == branch)
    if known is not None:
        check_one_type(sql, column, known)
        values = [value for value, code in known.items() if node.child[code] == branch]
        return column.is_one_of(sql.categories(values))
    assert isinstance(groups, Intervals)
    if len(own) == groups.n_groups - 1:
        return is_number(column)
    if branch == 0:
        return column < float(groups.edges[own[-1]])
    return (column >= float(groups.edges[own[0] - 1])) & is_number(column)
