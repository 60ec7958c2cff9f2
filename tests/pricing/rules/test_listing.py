"""All rules, where they are few."""

import numpy as np
from hypothesis import given

from cgboost import ColumnGeneration
from cgboost.losses import LogLoss
from cgboost.masters import TwoNormMaster
from cgboost.pricing.rules import Literals, RuleList, all_rules
from tests.pricing.rules.cases import enumerated, tables


@given(tables())
def test_all_rules_are_those_of_an_enumeration(case):
    """One for each set of rows or of all others, no more, and none where they cost too much."""
    X, is_category, _ = case
    literals = Literals(X, is_category, max_bins=4, min_support=2)
    covers = {min(inside.tobytes(), (~inside).tobytes()) for _, inside in enumerated(literals, 2)}
    columns = all_rules(literals, np.array([0.0, 1.0, 2.0]), np.inf)
    found = [column.values > 0 for column in columns]
    assert {min(inside.tobytes(), (~inside).tobytes()) for inside in found} == covers
    assert len(found) == len(covers)
    total = sum(len(column.key) for column in columns)
    assert all_rules(literals, np.array([0.0, 1.0, 2.0]), total) is not None
    if total:
        assert all_rules(literals, np.array([0.0, 1.0, 2.0]), total - 0.5) is None


def test_many_conjunctions_are_not_listed():
    """More than can be looked at are not looked at."""
    X = np.random.default_rng(0).normal(size=(100, 8))
    literals = Literals(X, (False,) * 8, max_bins=20)
    assert all_rules(literals, np.arange(4.0), np.inf) is None


def test_a_list_is_priced_exactly():
    """A 2-norm master over a list ends at its optimum, with a bound that meets it."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(60, 3)).astype(float)
    y = np.where(X[:, 0] + rng.normal(size=60) > 0.5, 1.0, -1.0)
    columns = all_rules(Literals(X, (False,) * 3, max_bins=3), np.arange(3.0), np.inf)
    master = TwoNormMaster(LogLoss().on(y, np.full(60, 0.3)), offset="free")
    result = ColumnGeneration(master, RuleList(columns), tol=1e-8, columns_per_round=5).run()
    assert len(result.columns) == len(columns)
    assert result.gap <= 1e-8
