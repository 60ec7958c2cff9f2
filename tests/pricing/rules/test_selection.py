"""Rules one after another, within budgets."""

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.losses import LogLoss
from cgboost.masters import TwoNormMaster
from cgboost.pricing.rules import Literals, RuleSelection

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
Y = np.where((X[:, 0] > 0) & (X[:, 1] > -0.5), 1.0, -1.0)
LOSS = LogLoss().on(Y, np.full(150, 0.3))


def chosen(longest=3, **budgets):
    """The rules of a run."""
    literals = Literals(X, (False,) * 4, max_bins=10)
    pricer = RuleSelection(literals, np.arange(longest + 1.0), LOSS.curvature, **budgets)
    result = ColumnGeneration(TwoNormMaster(LOSS, offset="free"), pricer).run()
    return [len(column.key) for column in result.columns], result


@pytest.mark.parametrize("budget", [1, 2, 5, 9])
def test_conditions_stay_within_their_budget(budget):
    """All of the budget is used where rules help, and no more."""
    sizes, _ = chosen(max_conditions=budget)
    assert sum(sizes) == budget


def test_rules_stay_within_their_budget():
    """Three rules, of at most two conditions each."""
    sizes, _ = chosen(longest=2, max_rules=3)
    assert len(sizes) == 3
    assert max(sizes) <= 2


def test_each_rule_lowers_the_objective():
    """The objective falls from round to round."""
    _, result = chosen(max_conditions=8)
    assert (np.diff(result.history["objective"]) < 0).all()
