"""The pricer of a 1-norm master over rules."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.losses import Hinge, SquaredError
from cgboost.masters import OneNormMaster, TwoNormMaster
from cgboost.pricing.rules import Literals, RulePricer
from solvers import Program, solve
from tests.effort import examples
from tests.pricing.rules.cases import enumerated, tables


def all_rules(literals, cost):
    """Every conjunction as a column of the master."""
    columns = [inside / cost[len(p)] for p, inside in enumerated(literals, len(cost) - 1)]
    return np.array(columns).reshape(-1, literals.n_rows).T


def least_hinge(H, y, price):
    """The optimum of the linear program over given columns, with a free offset."""
    n, m = H.shape
    A = np.hstack([y[:, None] * H, -y[:, None] * H, y[:, None], np.eye(n)])
    cost = np.concatenate([np.ones(2 * m), [0.0], price])
    lower = np.concatenate([np.zeros(2 * m), [-np.inf], np.zeros(n)])
    program = Program(cost=cost, matrix=A, row_lower=np.ones(n), row_upper=np.inf, lower=lower)
    return solve(program, "highs").objective


@given(tables(), st.sampled_from([0.3, 1.0, 5.0]), st.sampled_from([1, 2]), st.booleans())
@settings(max_examples=examples(25), deadline=None)
def test_column_generation_solves_the_program_of_all_rules(case, C, least, by_root):
    """Its optimum is that of the linear program over every conjunction, to 1e-6, with its bound."""
    X, kinds, response = case
    literals = Literals(X, kinds, max_bins=4, min_support=least)
    if not len(literals):
        return
    cost = np.array([0.0, 1.0, 1.5, 2.0])
    cost = np.sqrt(cost) if by_root else cost
    y = np.where(response > 0, 1.0, -1.0)
    price = np.full(len(y), C)
    master = OneNormMaster(Hinge().on(y, price), solver="highs")
    pricer = RulePricer(literals, cost, tol=1e-9)
    result = ColumnGeneration(master, pricer, tol=1e-9, columns_per_round=5).run()
    optimum = least_hinge(all_rules(literals, cost), y, price)
    assert result.objective == pytest.approx(optimum, abs=1e-6 * max(1.0, optimum))
    assert result.bound <= optimum + 1e-6 * max(1.0, optimum)
    assert result.gap <= 1e-6


def small():
    """Rows of two features, and a master of the squared error."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = 2.0 * ((X[:, 0] > 0) & (X[:, 1] > 0)) + 0.1 * rng.normal(size=60)
    return Literals(X, (False,) * 3, max_bins=8), SquaredError().on(y, np.ones(60))


def test_greedy_pricing_has_no_bound():
    """Neither a greedy search nor a master whose bound adds excesses up gets a claim."""
    literals, loss = small()
    cost = np.array([0.0, 1.0, 2.0])
    greedy = ColumnGeneration(OneNormMaster(loss), RulePricer(literals, cost, exact=False)).run()
    assert greedy.bound is None
    sums = TwoNormMaster(loss).solve()
    assert not RulePricer(literals, cost).price(sums, 3).exact


def test_a_limited_search_keeps_its_bound_below_the_optimum():
    """With hardly any work allowed the bound is worse, and still one."""
    literals, loss = small()
    cost = np.array([0.0, 1.0, 1.2, 1.3])
    whole = ColumnGeneration(OneNormMaster(loss), RulePricer(literals, cost), tol=1e-6).run()
    limited = RulePricer(literals, cost, search_limit=1.0)
    part = ColumnGeneration(OneNormMaster(loss), limited, tol=1e-6).run()
    assert not limited.complete
    assert part.bound <= whole.objective * (1 + 1e-9)


def test_rules_for_the_same_rows_come_once():
    """Columns of one round differ, and their complements too; none is in the master."""
    literals, loss = small()
    master = OneNormMaster(loss)
    priced = RulePricer(literals, np.array([0.0, 1.0, 2.0])).price(master.solve(), 10)
    marks = {min(tuple(c.values > 0), tuple(c.values == 0)) for c in priced.columns}
    assert len(marks) == len(priced.columns) > 1


@pytest.mark.parametrize("cost", [[0.0], [0.0, 0.0], [0.0, 2.0, 1.0]])
def test_costs_must_be_positive_and_not_fall(cost):
    """The bound of branch and bound rests on that."""
    with pytest.raises(ValueError, match="cost must have an entry"):
        RulePricer(small()[0], np.array(cost))


def test_rows_must_be_those_of_the_master():
    """Another number of rows is an error that has both."""
    literals, _ = small()
    state = OneNormMaster(SquaredError().on(np.zeros(3), np.ones(3))).solve()
    with pytest.raises(ValueError, match="the rules have 60 rows, the master has 3"):
        RulePricer(literals, np.array([0.0, 1.0])).price(state, 1)
