"""The pricer of all blocks."""

from dataclasses import replace

import numpy as np
import pytest

from cgboost.generation.protocols import MasterState, NodeDecisions
from cgboost.integer.decomposition.pricing.block import Found
from cgboost.integer.decomposition.pricing.block_pricer import BlockPricer

from .blocks import ROWS, block, least


def state(duals: np.ndarray, prices: dict[str, float] | None = None) -> MasterState:
    """A master with these duals, and prices of variables."""
    return MasterState(
        [], np.zeros(0), 0.0, np.zeros(5), duals, 0.0, np.zeros(5), rows=ROWS,
        decisions=NodeDecisions(prices=prices or {}),
    )  # fmt: skip


def test_the_bound_of_each_block_is_its_least_reduced_cost() -> None:
    """The convexity row's dual and the prices of variables are taken off the cost."""
    own, duals = block(0), np.array([1.5, 0.5, 2.0, 0.25, 9.0])
    pricer = BlockPricer([own], ROWS, component_rows=False)
    for prices in ({}, {"x1": 2.0, "other": 5.0}):
        priced = pricer.price(state(duals, prices), 5)
        cost = own.cost - duals[:3] - np.array([0, prices.get("x1", 0.0), 0])
        expected = least(own, cost, (), {}) - 0.25
        assert priced.exact
        assert priced.reduced_cost == {"k": pytest.approx(expected)}
        best = priced.columns[0]
        earned = sum(prices.get(name, 0.0) * a for name, a in best.variables.items())
        assert best.cost - best.values @ duals - earned == pytest.approx(expected)
        assert pricer.price(state(duals, prices), 0).columns == []


def test_no_time_is_no_bound() -> None:
    """Where the time limit ends a pricing problem the search is not exact."""
    own = block(0, lower=-1.0)  # no knapsack
    pricer = BlockPricer([own], ROWS, component_rows=False)
    pricer.seconds_left = 0.0
    priced = pricer.price(state(np.ones(5)), 5)
    assert not priced.exact


def test_an_optimum_above_a_column_in_use_is_refuted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A solver that calls a worse point optimal proves nothing: the search is not exact."""
    own, duals = block(0), np.array([1.5, 0.5, 2.0, 0.25, 9.0])
    pricer = BlockPricer([own], ROWS, component_rows=False)
    best = pricer.price(state(duals), 5).columns[0]
    used = replace(state(duals), columns=[best], coef=np.ones(1))
    assert pricer.price(used, 5).exact
    worse = np.zeros(3)
    monkeypatch.setattr(
        pricer.problems[0], "solve", lambda request: Found(request.cost @ worse, [worse])
    )
    assert pricer.price(state(duals), 5).exact
    assert not pricer.price(used, 5).exact
    assert "nothing is proved by it" in caplog.text
    assert pricer.price(replace(used, coef=np.zeros(1)), 5).exact
