"""Rules as text, as a table and as SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from cgboost.additive.export.dialects import Dialect, dialect_of
from cgboost.additive.export.expressions import SQL, case, is_number, linear, named
from cgboost.additive.export.sql import check_one_type, feature_names, query, unused
from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_runs import FittedOutput
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.pricing.rules import Condition, Conjunction, Relation
from cgboost.tables.table_columns import legible
from cgboost.tables.table_encoding import Schema

FEWEST_DIGITS = 6
"""Significant digits of a threshold in words, unless more are needed."""

MOST_SHOWN = 30
"""Rules that ``print`` shows."""


@dataclass(frozen=True)
class Rule:
    """One rule of a fitted model.

    Attributes
    ----------
    conditions : tuple of str
        In words; the rule holds if all of them do.
    weight : float
        Its contribution to the output when it holds.
    label : class label or None
        The class that the rule votes for; with more than two classes, the class whose output it is
        part of. None for regression.
    support : float
        Share of the training rows, by ``sample_weight``, for which the rule holds.
    precision : float or None
        Among these rows, the share of the class that the rule votes for, or of all other classes
        if it votes against its class. None for regression.
    mean : float or None
        For regression, the mean of y over the rows for which the rule holds.
    conjunction : Conjunction
        The conditions on features as numbers, ``conjunction.conditions``.
    against : bool
        Whether the rule votes against its class: a weight below 0 with more than two classes.
    """

    conditions: tuple[str, ...]
    weight: float
    label: Any
    support: float
    precision: float | None
    mean: float | None
    conjunction: Conjunction
    against: bool = False

    def __str__(self) -> str:
        side = "against" if self.against else "for"
        speaks = f" {side} {_plain(self.label)!r}" if self.precision is not None else ""
        words = " and ".join(self.conditions)
        return f"{words}: {self.weight:+.3g}{speaks} ({', '.join(self.about)})"

    @property
    def about(self) -> list[str]:
        """Support and precision, or the mean, in words."""
        about = [f"support {100 * self.support:.3g} %"]
        if self.precision is not None:
            about.append(f"precision {100 * self.precision:.3g} %")
        if self.mean is not None:
            about.append(f"mean {self.mean:.4g}")
        return about


def rules_of(
    outputs: Sequence[FittedOutput], rows: TrainingRows, share: Vector, classes: Any, schema: Schema
) -> list[list[Rule]]:
    """The rules of each output, with what they hold for, in the order of their rounds.

    Parameters
    ----------
    share : ndarray of shape (n_rows,)
        Shares of the rows in all.
    classes : ndarray or None
        The labels of a classifier.
    """
    rules: list[list[Rule]] = []
    for number, output in enumerate(outputs):
        found = []
        for hypothesis, coef in zip(output.active, output.coef[output.coef != 0], strict=True):
            inside = hypothesis.family.outputs(rows.X, [hypothesis])[:, 0] > 0
            support = float(share[inside].sum())
            weight = float(coef) / hypothesis.scale
            label = precision = mean = None
            against = classes is not None and len(classes) > 2 and weight < 0
            if classes is None:
                mean = float(share[inside] @ rows.y[inside]) / support if support else np.nan
            else:
                own = number if len(classes) > 2 else int(weight > 0)
                right = rows.y[inside] == own
                right = ~right if against else right
                label, shares = classes[own], share[inside]
                precision = float((shares * right).sum()) / support if support else np.nan
            conjunction = Conjunction(hypothesis.conditions)
            words = tuple(in_words(c, schema, rows.X) for c in hypothesis.conditions)
            found.append(Rule(words, weight, label, support, precision, mean, conjunction, against))
        rules.append(found)
    return rules


def in_words(condition: Condition, schema: Schema, X: Any) -> str:
    """A condition as a reader sees it, a threshold to as many digits as divide the rows X alike."""
    j = condition.feature
    name = f"x{j}" if schema.names is None else legible(schema.names[j])
    known, relation = schema.categories[j], condition.relation
    if relation in (Relation.MISSING, Relation.PRESENT):
        return f"{name} is {'' if relation is Relation.MISSING else 'not '}missing"
    if known is not None:
        value = category_of(condition, schema)
        return f"{name} is {'' if relation is Relation.IS else 'not '}{_plain(value)!r}"
    if j in schema.truths:
        return name if relation is Relation.ABOVE else f"not {name}"
    below = X[:, j] <= condition.value
    written = (f"{condition.value:.{digits}g}" for digits in range(FEWEST_DIGITS, 17))
    exact = (text for text in written if np.array_equal(X[:, j] <= float(text), below))
    return f"{name} {relation.value} {next(exact, repr(condition.value))}"


def category_of(condition: Condition, schema: Schema) -> Any:
    """The category that a condition names."""
    known = schema.categories[condition.feature] or {}
    return next(value for value, code in known.items() if code == condition.value)


def table_of(rules: Sequence[Rule], *, labelled: bool) -> dict[str, list[Any]]:
    """The columns of a table of rules, with label and precision or with the mean."""
    table: dict[str, list[Any]] = {
        "rule": [" and ".join(rule.conditions) for rule in rules],
        "weight": [rule.weight for rule in rules],
        "n_conditions": [len(rule.conditions) for rule in rules],
        "support": [rule.support for rule in rules],
    }
    if labelled:
        table["label"] = [
            f"not {_plain(rule.label)}" if rule.against else _plain(rule.label) for rule in rules
        ]
        table["precision"] = [rule.precision for rule in rules]
    else:
        table["mean"] = [rule.mean for rule in rules]
    return table


def text_of_any(rules: Sequence[Rule], intercept: Any, classes: Any) -> str:
    """A model that says yes where any rule holds, in words: votes have no part in them."""
    no, yes = map(_plain, classes if intercept < 0 else classes[::-1])
    if not rules:
        return f"{no!r} for every row"
    lines = [f"{yes!r} if any of these rules holds, else {no!r}"]
    for rule in rules:
        words = f"{' and '.join(rule.conditions)} ({', '.join(rule.about)})"
        lines.append(f"  {words}")
    return "\n".join(lines)


def text_of(rules: Sequence[Rule], intercept: Any, classes: Any) -> str:
    """A model in words: its offset, and a line for each rule."""
    if classes is None:
        first = f"prediction: {intercept:.4g}, and what the rules that hold add"
        return "\n".join([first, *(f"  {rule}" for rule in rules)])
    if len(classes) == 2:
        no, yes = map(_plain, classes)
        first = (
            f"score: {intercept:+.3g}, and what the rules that hold add; above 0: {yes!r}, "
            f"else {no!r}"
        )
        return "\n".join([first, *(f"  {rule}" for rule in rules)])
    lines = ["the class with the largest score; scores are"]
    for label, own in zip(classes.tolist(), intercept, strict=True):
        lines.append(f"  {label!r}: {own:+.3g}, and what the rules that hold add")
        lines += [f"    {rule}" for rule in rules if _plain(rule.label) == label]
    return "\n".join(lines)


def shortened(text: str) -> str:
    """The text of a model as ``print`` shows it."""
    lines = text.split("\n")
    rest = len(lines) - 1 - MOST_SHOWN
    if rest > 0:
        lines = [*lines[: MOST_SHOWN + 1], f"  … and {rest} more: model.to_text()"]
    return "\n".join(f"  {line}" for line in lines)


def statement(
    outputs: Sequence[FittedOutput],
    schema: Schema,
    classes: Any,
    table: str | Sequence[str],
    *,
    dialect: str,
    **columns: Any,
) -> str:
    """The query of :meth:`BaseRuleSet.to_sql`."""
    sql = dialect_of(dialect)
    features = feature_names(sql, schema)
    names = unused("score", len(outputs), features)
    inputs = list(map(named, features))
    steps = {}
    for name, own in zip(names, outputs, strict=True):
        terms = []
        for rule, coef in zip(own.active, own.coef[own.coef != 0], strict=True):
            holds = reduce(and_, (_in_sql(sql, c, schema, inputs) for c in rule.conditions))
            terms.append((float(coef) / rule.scale, case([(holds, 1.0)], 0.0)))
        steps[name] = linear(own.intercept, terms)
    prediction = _prediction(classes, sql, list(map(named, names)))
    return query(sql, schema, steps, prediction, table, **columns)


def _prediction(classes: Any, sql: Dialect, scores: Sequence[SQL]) -> SQL:
    if classes is None:
        return scores[0]
    labels = [SQL(sql.category(label)) for label in classes.tolist()]
    if len(labels) == 2:
        return case([(scores[0] > 0.0, labels[1])], labels[0])
    whens = []
    for own, label in zip(scores[:-1], labels[:-1], strict=True):
        others = (own >= other for other in scores if other is not own)
        whens.append((reduce(and_, others), label))
    return case(whens, labels[-1])


def _in_sql(sql: Dialect, condition: Condition, schema: Schema, columns: Sequence[SQL]) -> SQL:
    """A condition that is true where it holds, and false or NULL elsewhere."""
    j, relation = condition.feature, condition.relation
    column, known = columns[j], schema.categories[j]
    if known is not None:
        check_one_type(sql, column, known)
        if relation in (Relation.MISSING, Relation.PRESENT):
            return column.is_null() if relation is Relation.MISSING else ~column.is_null()
        own = column.is_one_of(sql.categories([category_of(condition, schema)]))
        return own if relation is Relation.IS else ~own
    if relation is Relation.PRESENT:
        return is_number(column)
    if relation is Relation.MISSING:
        return case([(is_number(column), 0.0)], 1.0).equals(1.0)
    if relation is Relation.AT_MOST:  # NaN may be above all numbers, and is then below none
        return column <= condition.value
    return (column > condition.value) & (-column < -condition.value)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
