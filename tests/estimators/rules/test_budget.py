"""Budgets and the bound on all rule sets within them."""

from types import SimpleNamespace

import numpy as np
import pytest

from cgboost import RuleSetClassifier
from cgboost.estimators.rules.budget import capacity, second_derivative
from cgboost.losses import Hinge, LogLoss, SquaredError
from cgboost.masters import TwoNormMaster
from tests.estimators.rules.people import people


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
    estimator = SimpleNamespace(
        max_rules=rules,
        max_total_conditions=conditions,
        rule_cost=costs[0],
        condition_cost=costs[1],
    )
    assert capacity(estimator, np.zeros(4)) == expected


@pytest.mark.parametrize("loss", [LogLoss(), SquaredError()])
def test_second_derivatives_are_those_of_the_loss(loss):
    """Whether a master keeps the loss as it is or by its dual box."""
    y, w = np.array([1.0, -1.0, 1.0]), np.array([0.5, 1.0, 2.0])
    master = TwoNormMaster(loss.on(y, w))
    output = np.array([0.3, 0.2, -1.0])
    expected = w * loss.hessian_diag(y, output)
    np.testing.assert_allclose(second_derivative(master)(output), expected)


def test_a_hinge_counts_its_kinks():
    """A loss without curvature has the sizes of its kinks in place of it."""
    master = TwoNormMaster(Hinge().on(np.array([1.0, -1.0]), np.array([0.5, 2.0])))
    np.testing.assert_allclose(second_derivative(master)(np.zeros(2)), [0.5, 2.0])


@pytest.mark.parametrize("budgets", [{"max_rules": 3}, {"max_total_conditions": 5}])
@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_hinge"])
def test_bounds_hold_for_larger_searches(budgets, loss):
    """No set of the same budget that other settings find is below the bound."""
    frame, labels, _ = people(120)
    own = {"max_total_conditions": None, "loss": loss, "max_conditions": 2, "C": 0.3} | budgets
    model = RuleSetClassifier(**own).fit(frame, labels)
    assert np.isfinite(model.gap_)
    for power in (0.0, 1.0, 3.0):
        other = RuleSetClassifier(**own, rule_cost=power, pricing="greedy").fit(frame, labels)
        assert other.objective_ >= model.dual_bound_ - 1e-9


def test_the_bound_tightens_with_the_search():
    """One condition a rule allows less than two, and the bounds say so."""
    frame, labels, _ = people(120)
    one, two = (
        RuleSetClassifier(6, max_conditions=k, C=0.3).fit(frame, labels).dual_bound_ for k in (1, 2)
    )
    assert two <= one + 1e-9


def test_columns_per_round_and_time_limits_reach_the_bound():
    """Without time there is no bound; a model there is."""
    frame, labels, _ = people(120)
    model = RuleSetClassifier(6, columns_per_round=3).fit(frame, labels)
    assert np.isfinite(model.gap_)
    with pytest.warns(UserWarning, match="stopped before"):
        late = RuleSetClassifier(6, time_limit=1e-9).fit(frame, labels)
    assert late.gap_ == np.inf
