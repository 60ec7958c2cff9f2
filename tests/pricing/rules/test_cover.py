"""The pricer of rule sets of which any rule may hold, against all conjunctions one by one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.masters import LinearMaster
from cgboost.pricing.rules import CONDITIONS, RULES, CoverPricer, Literals
from tests.pricing.rules.cases import enumerated, tables

LONGEST = 3


@given(tables(), st.integers(1, 40), st.floats(0.0, 2.0), st.integers(0, 2**32 - 1))
@settings(max_examples=8, deadline=None)
def test_lists_have_the_cheapest_rules_and_bounds_of_the_others(table, limit, most, seed):
    """Reduced costs are those of the rules, and each rule that is not in the list costs more.

    A rule may be left out where another of the list holds for the same positive rows, has no more
    conditions and costs no more.
    """
    X, kinds, response = table
    literals = Literals(X, kinds, max_bins=3)
    rng = np.random.default_rng(seed)
    positive, negative = np.maximum(response, 0.0), np.maximum(-response, 0.0)
    cost = 0.1 * np.arange(LONGEST + 1.0)
    pricer = CoverPricer(literals, positive, negative, cost)
    names = [*pricer.rows, RULES, CONDITIONS]
    n_groups = len(pricer.groups)
    master = LinearMaster(
        names, [">="] * n_groups + ["<="] * 2, np.r_[np.ones(n_groups), 2.0, 4.0], copies={RULES: 2}
    )
    master.add(pricer.missed(names))
    state = master.solve()
    duals = state.pseudo_response
    duals[:] = np.r_[rng.uniform(0, 1, n_groups) * pricer.positive[pricer.groups], -0.05, -0.1]
    every = {}
    for places, _ in enumerated(literals, LONGEST):
        column = pricer.column(places, names)
        every[column.key] = (column.cost - column.values @ duals, column)
    least = min([0.0, *(reduced for reduced, _ in every.values())])
    priced = pricer.price(state, 0)
    assert priced.exact
    assert least - 1e-7 <= priced.reduced_cost + 1e-7 <= max(least, 0.0) + 1e-6
    columns, bound, outside = pricer.cheapest(state, most, limit)
    assert bound <= least + 1e-9
    assert len(columns) <= limit
    listed = {column.key for column in columns}
    for key, (reduced, column) in every.items():
        if key in listed:
            continue
        assert reduced >= outside - 1e-9 or any(
            np.array_equal(column.values[:n_groups], other.values[:n_groups])
            and len(other.key) <= len(key)
            and other.cost <= column.cost + 1e-9
            for other in columns
        )
