"""Rules in words, as a table and in SQL."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from cgboost import RuleSetClassifier, RuleSetRegressor
from cgboost.additive.export.dialects import DIALECTS
from tests.additive.export.sql_databases import in_duckdb, in_sqlite, read
from tests.estimators.rules.people import people, rows_of

FRAME, LABELS, SCORE = people()


@pytest.mark.parametrize("budget", [8, None])
def test_rules_say_what_they_hold_for(budget):
    """Support and precision are those of the training rows; words name features and values.

    Intercept and weights of the rules that hold make the output; the text and a table have them.
    """
    model = RuleSetClassifier(budget, max_conditions=2).fit(FRAME, LABELS)
    total = np.full(len(FRAME), model.intercept_)
    for rule in model.rules_:
        inside = rows_of(model, rule, FRAME)
        total += rule.weight * inside
        assert rule.support == pytest.approx(inside.mean())
        assert rule.precision == pytest.approx((LABELS[inside] == rule.label).mean())
        assert rule.label == ("yes" if rule.weight > 0 else "no")
    np.testing.assert_allclose(total, model.decision_function(FRAME))
    table = pd.DataFrame(model.rules_table())
    assert len(table) == len(model.rules_) == model.n_columns_
    assert table["n_conditions"].sum() == sum(len(rule.conditions) for rule in model.rules_)
    assert {"label", "precision"} <= set(table.columns)
    text, lines = model.to_text(), model.to_text().splitlines()[1:]
    shown = [float(line.rsplit(": ", 1)[1].split()[0]) for line in lines]
    np.testing.assert_allclose(shown, [rule.weight for rule in model.rules_], rtol=1e-2)
    assert "married: +" in text or budget is None
    assert "support" in text
    assert "'yes'" in text
    assert lines[0].strip() in str(model)


def test_the_report_has_the_rules(tmp_path):
    """Each rule stands in words in the table of columns, and in the report."""
    model = RuleSetClassifier(4).fit(FRAME, LABELS)
    page = model.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(model.columns_["rule"]) == len(model.rules_)
    assert all(rule.conditions[0].split()[0] in page for rule in model.rules_)
    assert "rules" in repr(model)
    for name in ("support", "precision"):
        assert sorted(model.columns_[name]) == sorted(getattr(rule, name) for rule in model.rules_)
        assert f"{getattr(model.rules_[0], name):.6g}" in page
    numbers = RuleSetRegressor(4).fit(FRAME, SCORE)
    assert sorted(numbers.columns_["mean"]) == sorted(rule.mean for rule in numbers.rules_)
    assert {"rule", "weight", "support", "mean"} <= set(numbers.rules_table())


def columns_of(frame, missing=None):
    """The frame as columns for a database."""
    kinds = {"age": "DOUBLE", "work": "VARCHAR", "married": "BOOLEAN", "income": "DOUBLE"}
    values = {name: frame[name].astype(object).tolist() for name in kinds}
    for name in ("age", "work"):
        values[name] = [missing if pd.isna(v) else v for v in values[name]]
    return {name: (kinds[name], values[name]) for name in kinds}


NEW = pd.concat([FRAME, FRAME.head(3).assign(work="martian", age=np.nan)], ignore_index=True)


@pytest.mark.parametrize("case", ["budget", "none", "three classes"])
def test_databases_predict_the_same(case):
    """DuckDB and SQLite give every row its label: missing numbers, NULL, unknown words too."""
    of_income = np.array(["a", "b", "c"])[(FRAME["income"] // 8 % 3).astype(int)]
    labels = of_income if case == "three classes" else LABELS
    model = RuleSetClassifier(None if case == "none" else 12, C=0.5).fit(FRAME, labels)
    expected = model.predict(NEW).tolist()
    statement = model.to_sql("people")
    assert [row[0] for row in in_duckdb(statement, "people", columns_of(NEW)).rows] == expected
    lite = model.to_sql("people", dialect="sqlite")
    assert [row[0] for row in in_sqlite(lite, "people", columns_of(NEW)).rows] == expected
    sums = model.to_text().count("and what the rules that hold add")
    assert sums == (3 if case == "three classes" else 1)


def test_nan_in_a_database_is_missing():
    """NaN, which DuckDB has above all numbers, meets no comparison."""
    x = np.where(np.arange(60) % 3 == 0, np.nan, np.arange(60.0))
    frame = pd.DataFrame({"x": x})
    model = RuleSetRegressor(6, C=10.0).fit(frame, np.where(x > 30, 2.0, np.isnan(x) * 1.0))
    with duckdb.connect() as connection:
        connection.register("t", frame)
        rows = connection.execute(model.to_sql("t", keep="x")).fetchall()
    for value, prediction in rows:
        row = pd.DataFrame({"x": [np.nan if value is None else value]})
        assert prediction == pytest.approx(model.predict(row)[0])


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_every_dialect_can_be_read(dialect):
    """SQLGlot reads the statement of each database; an unknown one is an error."""
    model = RuleSetClassifier(12, C=0.5).fit(FRAME, LABELS)
    read(model.to_sql("people", dialect=dialect), dialect)
    with pytest.raises(ValueError, match="dialect must be one of"):
        model.to_sql("people", dialect="oracle")


def test_thresholds_in_words_divide_the_training_rows():
    """Large numbers have as many digits as tell the rows on both sides apart."""
    x = 1e9 + np.arange(60.0)
    y = np.where((x > 1e9 + 20) & (x < 1e9 + 40), "in", "out")
    model = RuleSetClassifier(4).fit(pd.DataFrame({"id": x}), y)
    for rule in model.rules_:
        for words, condition in zip(rule.conditions, rule.conjunction.conditions, strict=True):
            written = float(words.split()[-1])
            np.testing.assert_array_equal(x <= written, x <= condition.value)


def test_a_rule_against_its_class_says_so():
    """With several classes a negative weight speaks for all others, and is precise about them."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = RuleSetClassifier(4, max_conditions=2).fit(X, y)
    against = [rule for rule in model.rules_ if rule.weight < 0]
    assert against
    table = pd.DataFrame(model.rules_table())
    assert table.label[table.weight < 0].str.startswith("not ").all()
    for rule in against:
        assert rule.against
        right = (y != rule.label)[rows_of(model, rule, X)]
        assert rule.precision == pytest.approx(right.mean())
        assert f"against {rule.label}" in str(rule)


def test_the_gap_of_a_budget_is_relative():
    """The same problem in smaller units of y has the same gap."""
    x = np.arange(100.0)[:, None]
    y = np.where(x[:, 0] > 50, 1.0, -1.0) + 0.1 * np.sin(x[:, 0])
    gaps = [RuleSetRegressor(2).fit(x, unit * y).gap_ for unit in (1.0, 1e-2)]
    np.testing.assert_allclose(gaps[1], gaps[0], rtol=0.05)
