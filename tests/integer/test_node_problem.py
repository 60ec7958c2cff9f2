"""The problem of a node: rows of decisions, fixed columns, and what the pricer is told."""

import math
from typing import Any

import numpy as np
import pytest

from cgboost.generation import Column
from cgboost.generation.function_pricer import FunctionPricer
from cgboost.integer import Apart, CountRow, VariableRow
from cgboost.integer.node_problem import ForbiddenColumnError, NodeProblem
from cgboost.integer.pool import GlobalColumnPool
from cgboost.masters import LinearMaster


def column(*rows: int, cost: float = 1.0) -> Column:
    """A column that meets some of three rows."""
    values = np.zeros(3)
    values[list(rows)] = 1.0
    return Column(values, key=rows, cost=cost, variables=dict.fromkeys(rows, 1.0))


def problem(
    decisions: list[Any], seen: list[Any], copies: Any = None, **options: Any
) -> NodeProblem:
    """Three rows, single columns and one pair; the pricer offers the pair of rows 1 and 2."""

    def price(duals: Any) -> Any:
        seen.append(duals)
        return [column(1, 2)]

    pool = GlobalColumnPool(range(3))
    pool.add([column(0), column(1), column(2), column(0, 1)])
    master = LinearMaster(3, "==", 1.0, copies=copies)
    return NodeProblem(master, pool, FunctionPricer(price), decisions, **options)


def test_the_pricer_sees_what_decisions_add() -> None:
    """Duals of the user's rows alone; prices, constants and the restrictions beside them."""
    seen: list[Any] = []
    row, count = VariableRow(((0, 2.0), (1, -1.0)), "<=", 5.0), CountRow(">=", 3.0)
    node = problem([row, count, Apart(0, 2)], seen)
    state = node.master.solve()
    assert state.pseudo_response.shape == (5,)
    node.pricer.price(state, 3)
    (duals,) = seen
    assert duals.shape == (3,)
    np.testing.assert_array_equal(duals, state.pseudo_response[:3])
    assert duals.restrictions == (Apart(0, 2),)
    assert duals.extra == {row: state.pseudo_response[3], count: state.pseudo_response[4]}
    assert duals.prices == {0: 2.0 * duals.extra[row], 1: -duals.extra[row]}
    assert duals.constant() == duals.extra[count]
    np.testing.assert_array_equal(duals.rhs, 1.0)


def test_rows_of_decisions_in_the_master() -> None:
    """Columns have their coefficients after those of the user's rows.

    What fixed columns use is taken off the rows, rows of decisions, objective and copies.
    """
    node = problem([VariableRow(((0, 2.0), (1, -1.0)), "<=", 5.0)], [])
    values = {own.key: own.values.tolist() for own in node.master.columns}
    assert values[0, 1] == [1, 1, 0, 1]
    assert values[2,] == [0, 0, 1, 0]
    node = problem([CountRow("<=", 4.0)], [], fixed={3: 1.0})
    np.testing.assert_array_equal(node.master.constraints.rhs, [0, 0, 1, 3])
    assert node.fixed_cost == 1.0
    assert node.master.solve().objective == pytest.approx(1.0)  # row 2 alone is left
    assert problem([], [], copies=4.0, fixed={3: 1.0}).master.copies == 3.0


def test_forbidden_columns_leave_and_may_not_come_back() -> None:
    """The pool gives those that a restriction allows; a pricer that offers another is refused."""
    node = problem([Apart(0, 1), Apart(1, 2)], [])
    assert (0, 1) not in [own.key for own in node.master.columns]
    with pytest.raises(ForbiddenColumnError, match=r"\(1, 2\).*Apart"):
        node.pricer.price(node.master.solve(), 3)


def test_a_bound_of_the_pricer_is_none_on_the_columns_of_the_pool() -> None:
    """Where a column of the pool prices out that is not in the master, nothing is claimed."""

    def nothing(duals: Any) -> Any:
        return [], 0.0

    pool = GlobalColumnPool(range(3))
    pool.add([column(0, cost=9.0), column(1, cost=9.0), column(2, cost=9.0)])
    node = NodeProblem(LinearMaster(3, "==", 1.0), pool, FunctionPricer(nothing))
    state = node.master.solve()
    pool.add([column(0, 1, 2)])  # by another node; this pricer would not make it
    for limit in (0, 3):
        priced = node.pricer.price(state, limit)
        assert math.isnan(float(priced.reduced_cost))
        assert not priced.exact
    assert [own.key for own in node.pricer.price(state, 3).columns] == [(0, 1, 2)]
    assert not node.pricer.price(state, 0).columns


def test_columns_that_the_master_holds_are_nothing_new() -> None:
    """They price out by rounding alone: an exact pricer with no other ends the node."""

    def again(duals: Any) -> Any:
        return [column(0)], -1e-12

    pool = GlobalColumnPool(range(3))
    pool.add([column(0), column(1), column(2)])
    node = NodeProblem(LinearMaster(3, "==", 1.0), pool, FunctionPricer(again))
    priced = node.pricer.price(node.master.solve(), 3)
    assert not priced.columns
    assert priced.exact
    assert priced.reduced_cost == -1e-12
