"""Rule sets as estimators: their optimum, their checks, and what they refuse."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

from cgboost import RuleSetClassifier, RuleSetRegressor
from cgboost.estimators.rules.rule_columns import UNKNOWN_CATEGORY, encoded
from cgboost.exceptions import DataWarning, TrivialModelWarning
from cgboost.losses import Huber
from cgboost.pricing.rules import Literals
from cgboost.tables.table_encoding import SchemaMaker
from tests.estimators.rules.people import people
from tests.pricing.rules.cases import all_rules, enumerated, least_hinge


@pytest.mark.parametrize("costs", [(0.0, 1.0), (1.0, 0.5)])
def test_without_a_budget_the_model_is_the_optimum_of_all_rules(costs):
    """The objective equals the linear program over every rule, to 1e-6, and the bound holds."""
    frame, labels, _ = people(80)
    model = RuleSetClassifier(
        None,
        loss="hinge",
        C=0.5,
        max_conditions=2,
        max_bins=4,
        rule_cost=costs[0],
        condition_cost=costs[1],
        tol=1e-8,
    ).fit(frame, labels)
    literals = Literals(model._schema.encode(frame), (False, True, False, False), max_bins=4)
    cost = costs[0] + costs[1] * np.arange(3.0)
    y = np.where(labels == "yes", 1.0, -1.0)
    optimum = least_hinge(all_rules(literals, cost), y, np.full(80, 0.5))
    assert model.objective_ == pytest.approx(optimum, abs=1e-6)
    assert model.dual_bound_ <= optimum + 1e-6
    assert model.converged_


def test_the_objective_within_a_budget_is_what_is_said():
    """Loss and half the squares of the weights, at the weights that are best for these rules.

    Stored, or fitted again, the model has the same rules and outputs; a feature without a condition
    has no share of the importances.
    """
    frame, labels, _ = people()
    frame["nothing"] = 1.0
    model = RuleSetClassifier(8, C=0.2).fit(frame, labels)
    y, output = np.where(labels == "yes", 1.0, -1.0), model.decision_function(frame)
    loss = np.logaddexp(0.0, -2.0 * y * output).sum()
    weights = np.array([rule.weight for rule in model.rules_])
    assert model.objective_ == pytest.approx(0.2 * loss + 0.5 * weights @ weights, rel=1e-6)
    assert model.n_conditions_ == sum(len(rule.conditions) for rule in model.rules_) <= 8
    assert model.stop_reason_ == "column_limit"
    for other in (clone(model).fit(frame, labels), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.decision_function(frame), output)
        assert [str(rule) for rule in other.rules_] == [str(rule) for rule in model.rules_]
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_[-1] == 0.0


def test_unknown_and_missing_values_when_predicting():
    """A new category is none of the old ones, and a missing value meets no comparison."""
    frame, labels, _ = people()
    model = RuleSetClassifier(6).fit(frame, labels)
    new = frame.head(4).copy()
    new["work"] = ["martian", None, "state", "private"]
    new["age"] = np.nan
    assert np.isfinite(model.decision_function(new)).all()


def test_words_of_arrays_are_categories_of_frames():
    """What the message about an array with words advises works, at predict too."""
    X = np.array([["a", 1.0], ["b", 2.0], ["a", 3.0], ["c", 4.0]] * 5, dtype=object)
    y = [0, 1, 0, 1] * 5
    model = RuleSetClassifier(2).fit(pd.DataFrame(X), y)
    assert model.score(pd.DataFrame(X), y) == 1.0
    with pytest.raises(ValueError, match="array with words"):
        model.predict(X)
    numbers = RuleSetClassifier(2).fit(X[:, 1:], y)  # objects that are numbers
    assert numbers.predict(X[:, 1:].astype(float)).tolist() == numbers.predict(X[:, 1:]).tolist()


def test_numbers_written_as_words_are_told():
    """A column of digits as text is a warning, unless it is a category by its type or by name."""
    frame = pd.DataFrame({"size": ["1", "2", "10", "20"] * 5, "word": list("abcd") * 5})
    y = [0, 0, 1, 1] * 5
    with pytest.warns(
        DataWarning, match="feature 'size' has numbers written as words \\('1', '10'"
    ):
        RuleSetClassifier(2).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RuleSetClassifier(2, categorical_features=["size", "word"]).fit(frame, y)
        RuleSetClassifier(2).fit(frame.astype({"size": "category"}), y)
        RuleSetClassifier(2).fit(frame.astype({"size": int}), y)


@pytest.mark.parametrize("budget", [None, 5])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
def test_regression_does_not_depend_on_the_units(budget, loss):
    """With C=None, y times 10⁴ or 10⁻⁵ has the same rules, and the run ends with the same gap."""
    frame, _, score = people(120)
    loss = Huber(0.5 * float(np.std(score))) if loss == "huber" else loss
    first = RuleSetRegressor(budget, loss=loss, max_conditions=1).fit(frame, score)
    for unit in (1e4, 1e-5):
        own = Huber(unit * loss.delta) if isinstance(loss, Huber) else loss
        model = RuleSetRegressor(budget, loss=own, max_conditions=1).fit(frame, unit * score)
        difference = model.predict(frame) / unit - first.predict(frame)
        assert np.abs(difference).mean() <= 0.05 * np.std(score)  # of rules as good, one is chosen
        assert model.rules_
        if budget is None:
            assert model.converged_
    assert RuleSetRegressor(budget, C=0.3, max_conditions=1).fit(frame, score).C_ == 0.3


def test_a_budget_of_rules_alone_counts_rules():
    """A rule may be long for nothing then, and costs that are given count."""
    frame, labels, _ = people()
    model = RuleSetClassifier(None, max_rules=2).fit(frame, labels)
    same = RuleSetClassifier(None, max_rules=2, rule_cost=1, condition_cost=0).fit(frame, labels)
    short = RuleSetClassifier(None, max_rules=2, condition_cost=1, rule_cost=0).fit(frame, labels)
    assert model.to_text() == same.to_text()
    assert model.dual_bound_ == same.dual_bound_
    assert model.n_conditions_ > short.n_conditions_
    assert len(model.rules_) == len(short.rules_) == 2


def test_advice_for_models_without_rules():
    """Without conditions C is of no use; without a budget costs may be too high.

    Where no feature varies there is no rule, and the larger class wins.
    """
    X, y = np.arange(20.0)[:, None], np.arange(20) >= 5
    for model, rows, words in [
        (RuleSetClassifier(min_support=20), (X, y), "no condition holds .* min_support=20"),
        (RuleSetClassifier(None, C=1e-6), (X, y), "a smaller rule_cost or condition_cost"),
        (RuleSetRegressor(), (np.ones((20, 1)), X[:, 0]), "no condition holds"),
        (RuleSetClassifier(), (np.ones((20, 1)), y), "within tol=0.001 of the opt|is optimal"),
    ]:
        with pytest.warns(TrivialModelWarning, match=words):
            model.fit(*rows)
    assert model.rules_ == []
    assert model.predict(np.ones((2, 1))).tolist() == [True, True]


@pytest.mark.slow
def test_an_endless_number_of_conditions_is_searched_safely():
    """A huge limit is no more than the conditions there are; the search ends at its limit."""
    X, y = load_breast_cancer(return_X_y=True)
    model = RuleSetClassifier(3, max_conditions=10**9, search_limit=1e6).fit(X[:, :6], y)
    assert model.n_conditions_ <= 3
    assert model.dual_bound_ <= model.objective_


@pytest.mark.slow
def test_support_and_precision_are_shares_of_rows_whatever_the_class_weight():
    """Counted on the rows where a rule holds; sample weights count, class weights do not."""
    X, y = load_breast_cancer(return_X_y=True)
    weights = np.where(np.arange(len(y)) % 2, 1.0, 3.0)
    model = RuleSetClassifier(4, class_weight={0: 5.0}).fit(X, y, sample_weight=weights)
    assert model.rules_
    for rule in model.rules_:
        inside = np.ones(len(y), dtype=bool)
        for condition in rule.conjunction.conditions:
            inside &= condition.holds(X)
        assert rule.support == pytest.approx(weights[inside].sum() / weights.sum())
        right = y[inside] == rule.label
        assert rule.precision == pytest.approx(np.average(right, weights=weights[inside]))


def test_support_and_pricing_count():
    """Every rule holds for as many rows as asked for; a greedy search has no bound."""
    frame, labels, _ = people()
    assert min(r.support for r in RuleSetClassifier(6).fit(frame, labels).rules_) < 0.3
    wide = RuleSetClassifier(6, min_support=0.3).fit(frame, labels)
    assert min(rule.support for rule in wide.rules_) >= 0.3
    greedy = RuleSetClassifier(6, pricing="greedy").fit(frame, labels)
    assert greedy.gap_ == np.inf
    assert greedy.dual_bound_ == -np.inf


def test_regression_of_a_box():
    """A step within an interval and a category is found, with two or three conditions."""
    frame, _, _ = people()
    target = 3.0 * ((frame["income"] > 45) & (frame["work"] == "self"))
    model = RuleSetRegressor(6, C=10.0).fit(frame, target)
    assert model.score(frame, target) > 0.99
    assert {"income", "work"} >= {
        frame.columns[c.feature] for c in model.rules_[0].conjunction.conditions
    }


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "epsilon_insensitive"])
def test_other_losses_of_regression(loss):
    """Budgeted and convex models work with losses that have kinks, and with bounds."""
    frame, _, score = people()
    for budget in (6, None):
        model = RuleSetRegressor(budget, loss=loss, max_conditions=1, C=1.0).fit(frame, score)
        assert model.score(frame, score) > 0.3
        assert model.dual_bound_ <= model.objective_


@pytest.mark.parametrize("selection", ["loss", "errors"])
def test_the_bound_is_below_every_rule_set_of_the_budget(selection):
    """On few rows, no pair of rules with one condition each does better than the bound says."""
    frame, labels, _ = people(60)
    model = RuleSetClassifier(2, max_conditions=1, max_bins=4, selection=selection)
    model.fit(frame, labels)
    literals = Literals(model._schema.encode(frame), (False, True, False, False), max_bins=4)
    covers = [inside for _, inside in enumerated(literals, 1)]
    y = np.where(labels == "yes", 1.0, -1.0)
    best = min(ridge_of(y, np.column_stack([a, b]), model.C_) for a in covers for b in covers)
    assert model.dual_bound_ <= best + 1e-9
    assert model.objective_ <= best * (1.05 if selection == "loss" else 1.5)


def ridge_of(y, H, C):
    """The least C·log loss + half the squared weights, by Newton's method."""
    B = np.column_stack([H, np.ones(len(y))]).astype(float)
    x, D = np.zeros(B.shape[1]), np.diag([1.0] * H.shape[1] + [1e-9])
    for _ in range(30):
        p = 1 / (1 + np.exp(2 * y * (B @ x)))
        slope = -2 * C * B.T @ (y * p) + D @ x
        x = x - np.linalg.solve((B * (4 * C * p * (1 - p))[:, None]).T @ B + D, slope)
    return C * np.logaddexp(0, -2 * y * (B @ x)).sum() + 0.5 * x[:-1] @ x[:-1]


def test_unknown_categories_are_told_from_missing_ones():
    """A category that training rows had not is −1, a missing one nan; known ones have numbers."""
    frame, _, _ = people(50)
    maker = SchemaMaker()
    maker.see(frame)
    schema = maker.schema()
    new = frame.head(3).assign(work=["martian", None, "self"])
    values = encoded(schema, new)[:, 1]
    assert values[0] == UNKNOWN_CATEGORY
    assert np.isnan(values[1])
    assert values[2] == schema.categories[1]["self"]


def test_an_array_of_numbers_is_not_copied():
    """Without categories the numbers are those that were given."""
    X = np.array([[1.0, np.nan], [2.0, 3.0]])
    maker = SchemaMaker()
    maker.see(X)
    assert encoded(maker.schema(), X) is X


def test_categories_of_pandas_and_truth_values():
    """Categorical types and truth values are read as they are in frames."""
    frame = pd.DataFrame({"c": pd.Categorical(["a", "b", None]), "t": [True, False, True]})
    maker = SchemaMaker()
    maker.see(frame)
    values = encoded(maker.schema(), frame)
    np.testing.assert_array_equal(values, [[0, 1], [1, 0], [np.nan, 1]])
