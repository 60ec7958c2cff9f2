"""The data of a block, and the pricer of all blocks."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from cgboost.generation.protocols import MasterState, NodeDecisions
from cgboost.integer.branching.decisions import (
    Apart,
    ComponentRow,
    CountRow,
    Together,
    VariableBound,
)
from cgboost.integer.decomposition.pricing import block_pricer
from cgboost.integer.decomposition.pricing.block import NO_POINT, BlockRequest, Found
from cgboost.integer.decomposition.pricing.block_pricer import BlockPricer
from cgboost.integer.decomposition.pricing.highs_block import HighsBlock

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
        expected = least(own, cost) - 0.25
        assert priced.exact
        assert priced.reduced_cost == {"k": pytest.approx(expected)}
        best = priced.columns[0]
        earned = sum(prices.get(name, 0.0) * a for name, a in best.variables.items())
        assert best.cost - best.values @ duals - earned == pytest.approx(expected)
        assert pricer.price(state(duals, prices), 0).columns == []


@pytest.mark.parametrize("switch", [False, True])
def test_equal_blocks_have_points_side_by_side(switch: bool) -> None:
    """Each the best without the linked variables of those before; a single block has one.

    None is asked for where only the bound is, or where the time is up.
    """
    own = replace(block(1, switch=switch, upper=1.0), copies=3)
    duals = np.array([9.0, 8.0, 7.0, 0.25, 9.0])
    priced = BlockPricer([own], ROWS, component_rows=False).price(state(duals), 5)
    sets = [{v for v in column.variables if v != "x3"} for column in priced.columns]
    assert len(sets) > 1
    assert sum(map(len, sets)) == len(set.union(*sets))
    upper, cost = own.upper.copy(), own.cost - own.prices(duals)
    for column, used in zip(priced.columns, sets, strict=True):
        best = least(replace(own, upper=upper.copy()), cost)
        assert column.cost - column.values @ duals == pytest.approx(best - 0.25)
        upper[[own.places[v] for v in used]] = 0.0
    one = BlockPricer([replace(own, copies=1)], ROWS, component_rows=False)
    assert one.price(state(duals), 5).reduced_cost == priced.reduced_cost
    assert one.price(state(duals), 5).columns[0].key == priced.columns[0].key
    asked: list[BlockRequest] = []
    pricer = BlockPricer([own], ROWS, component_rows=False)
    special = pricer.problems[0].special
    assert special is not None
    solve = special.solve
    special.solve = lambda request: asked.append(request) or solve(request)  # type: ignore
    assert pricer.price(state(duals), 0).exact
    pricer.seconds_left = 0.0
    assert pricer.price(state(duals), 5).exact
    assert len(asked) == 2


def test_no_time_is_no_bound() -> None:
    """Where the time limit ends a pricing problem the search is not exact."""
    own = block(0, lower=-1.0)  # no knapsack
    pricer = BlockPricer([own], ROWS, component_rows=False)
    pricer.seconds_left = 0.0
    priced = pricer.price(state(np.ones(5)), 5)
    assert not priced.exact


def test_a_search_without_costs_has_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rows are not met, both searches together keep to the limit; none at all shows less."""
    pricer, given = BlockPricer([block(0)], ROWS, component_rows=False), list[float]()

    def slow(request: BlockRequest) -> Found:
        assert request.seconds is not None
        given.append(request.seconds)
        clock[0] += 0.05
        return NO_POINT

    clock = [0.0]
    monkeypatch.setattr(block_pricer, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    monkeypatch.setattr(pricer.problems[0], "solve", slow)
    missed = replace(state(np.ones(5)), objective=np.inf)
    pricer.seconds_left = 10.0
    assert pricer.price(missed, 5).exact
    first, second = given
    assert first - second >= 0.05
    pricer.seconds_left = 0.02
    assert not pricer.price(missed, 5).exact
    assert len(given) == 3


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


def test_the_column_of_a_point() -> None:
    """It has the values of the linking rows, 1 in the convexity row, and names what is not 0."""
    column = block(0).column(np.array([2.0, 0.0, 1.0 + 1e-9]))
    assert column.values.tolist() == [2, 0, 1, 1, 0]
    assert column.variables == {"x0": 2.0, "x2": 1.0}
    assert (column.cost, column.block, column.integer) == (3.0, "k", True)


def test_bounds_of_decisions() -> None:
    """Those of the block and of all blocks count, those of others do not."""
    decisions = (
        VariableBound("x0", 1.0, block="k"),
        VariableBound("x1", upper=1.0),
        VariableBound("x2", upper=0.0, block="other"),
        VariableBound("y", upper=0.0),
    )
    lower, upper = block(0).bounds(decisions)
    assert lower.tolist() == [1, 0, 0]
    assert upper.tolist() == [2, 1, 2]


def test_what_bounds_do_not_say() -> None:
    """Pairs and counted columns ask for more than bounds; bounds and counts of a block do not."""
    point = np.zeros(1), np.zeros(1), np.ones(1)
    component = ComponentRow(frozenset([("a", 1.0)]), ">=", 1.0)
    assert BlockRequest(*point, (VariableBound("x"),), {CountRow("<=", 1.0): 2.0}).only_bounds
    for pair in (Together("a", "b"), Apart("a", "b")):
        assert not BlockRequest(*point, (pair,)).only_bounds
    assert not BlockRequest(*point, (), {component: 1.0}).only_bounds


def test_an_optimum_above_a_point_that_was_found_before_is_refuted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A solver that calls a worse point optimal proves nothing, whether the better one is in use.

    The better point prices out at once; where a node does not allow it the answer stands.
    """
    own = block(0)
    problem = HighsBlock(own, ROWS)
    request = BlockRequest(-np.ones(3), own.lower, own.upper)
    best = problem.solve(request)
    worse = Found(0.0, [np.zeros(3)])
    assert best.bound == problem.solve(request).bound < 0
    monkeypatch.setattr(problem, "_found", lambda cost: worse)
    refuted = problem.solve(request)
    assert refuted.bound == -np.inf
    assert refuted.points[0].tolist() == best.points[0].tolist()
    assert "nothing is proved by it" in caplog.text
    forbidden = replace(request, upper=np.zeros(3))
    assert problem.solve(forbidden) is worse
