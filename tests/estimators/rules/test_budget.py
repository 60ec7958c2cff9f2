"""Budgets and the bound on all rule sets within them."""

from types import SimpleNamespace

import numpy as np
import pytest

from cgboost import RuleSetClassifier
from cgboost.estimators.rules.budget import Budget, second_derivative
from cgboost.losses import Hinge, LogLoss, SquaredError
from cgboost.masters import TwoNormMaster
from tests.estimators.rules.people import people, rows_of


@pytest.mark.parametrize(
    ("rules", "conditions", "costs", "expected"),
    [
        (None, 10, (0.0, 1.0), 10.0),
        (4, None, (0.0, 1.0), 12.0),
        (4, None, (1.0, 0.0), 4.0),
        (4, 10, (2.0, 1.0), 18.0),
        (None, 10, (2.0, 1.0), 30.0),
    ],
)
def test_capacity_is_the_most_that_budgets_allow(rules, conditions, costs, expected):
    """Rules of up to three conditions: as many of both as there may be."""
    family = SimpleNamespace(rule_cost=costs[0], condition_cost=costs[1])
    assert Budget(rules, conditions).capacity(family, 3) == expected


@pytest.mark.parametrize("loss", [LogLoss(), SquaredError(), Hinge()])
def test_second_derivatives_are_those_of_the_loss(loss):
    """Whether a master keeps the loss as it is or by its dual box; of a hinge sizes of kinks."""
    y, w = np.array([1.0, -1.0, 1.0]), np.array([0.5, 1.0, 2.0])
    output = np.array([0.3, 0.2, -1.0])
    found = second_derivative(TwoNormMaster(loss.on(y, w)))(output)
    expected = w if isinstance(loss, Hinge) else w * loss.hessian_diag(y, output)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("budgets", [{"max_rules": 3}, {"max_total_conditions": 5}])
@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_hinge"])
@pytest.mark.slow
def test_bounds_hold_for_larger_searches(budgets, loss):
    """No set of the same budget that other settings find is below the bound."""
    frame, labels, _ = people(120)
    own = {"max_total_conditions": None, "loss": loss, "max_conditions": 2, "C": 0.3} | budgets
    model = RuleSetClassifier(**own).fit(frame, labels)
    assert np.isfinite(model.gap_)
    for power in (0.0, 1.0, 3.0):
        other = RuleSetClassifier(**own, rule_cost=power, pricing="greedy").fit(frame, labels)
        assert other.objective_ >= model.dual_bound_ - 1e-9


@pytest.mark.parametrize("n_features", [1, 2])
def test_a_budget_with_room_for_all_rules_leaves_no_gap(n_features):
    """The model of all rules is a convex problem; with less room there is a gap as before."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(90, n_features)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=90) > 1).astype(int)
    model = RuleSetClassifier(60, max_conditions=2).fit(X, y)
    assert model.converged_
    assert model.gap_ < 1e-6
    if n_features > 1:
        assert 1e-3 < RuleSetClassifier(2, selection="loss").fit(X, y).gap_ < 1.0


def test_no_rule_says_what_another_one_says():
    """Neither a rule for the same rows nor one for all others uses the budget."""
    frame, labels, _ = people()
    for selection in ("loss", "errors"):
        model = RuleSetClassifier(20, max_conditions=1, selection=selection, C=1.0)
        model.fit(frame, labels)
        covers = [rows_of(model, rule, frame) for rule in model.rules_]
        assert len({min(tuple(own), tuple(~own)) for own in covers}) == len(model.rules_)


def test_rounds_and_limits_reach_the_bound(capsys):
    """Relaxations have lines of their own with verbose=1, and tighten with the search.

    Without time there is no bound; a model there is.
    """
    frame, labels, _ = people(120)
    one, two = (
        RuleSetClassifier(6, max_conditions=k, C=0.3).fit(frame, labels).dual_bound_ for k in (1, 2)
    )
    assert two <= one + 1e-9
    model = RuleSetClassifier(6, columns_per_round=3, verbose=1).fit(frame, labels)
    assert np.isfinite(model.gap_)
    assert "bound: gap reached" in capsys.readouterr().err
    with pytest.warns(UserWarning, match="stopped before"):
        late = RuleSetClassifier(6, time_limit=1e-9).fit(frame, labels)
    assert late.gap_ == np.inf


def test_few_rules_are_chosen_together_by_their_errors() -> None:
    """Both of "A and B, or C and D" are found, with a valid bound."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 6)).astype(float)
    y = (X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] > 0).astype(int)
    model = RuleSetClassifier(4).fit(X, y)
    assert (model.selection_, model.C_) == ("errors", 1.0)
    assert model.score(X, y) == 1.0
    assert model.n_conditions_ <= 4
    assert model.dual_bound_ <= model.objective_
    one_by_one = RuleSetClassifier(4, selection="loss").fit(X, y)
    assert (one_by_one.selection_, one_by_one.C_) == ("loss", 0.1)
    assert RuleSetClassifier(12).fit(X, y).selection_ == "loss"
    assert RuleSetClassifier(12, selection="errors", C=0.5).fit(X, y).C_ == 0.5


def test_three_classes_have_rules_by_errors_each() -> None:
    """One against the rest, each within the budget, and weights of rows count."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = RuleSetClassifier(3, selection="errors").fit(X, y)
    assert model.score(X, y) > 0.95
    weights = np.where(y == 1, 0.0, 1.0)
    assert RuleSetClassifier(3).fit(X, y, weights).score(X[y != 1], y[y != 1]) > 0.97
