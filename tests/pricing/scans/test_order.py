"""The order in which strata are asked."""

from __future__ import annotations

from cgboost.pricing.scans.order import StratumOrder


def test_by_priority_the_first_stratum_always_comes_first() -> None:
    """What was found where makes no difference."""
    order = StratumOrder(3, round_robin=False)
    assert list(order) == [0, 1, 2]
    order.found_in(2)
    assert list(order) == [0, 1, 2]


def test_round_robin_goes_on_where_something_was_found() -> None:
    """Every stratum once, the last one that had something first, around the end."""
    order = StratumOrder(3, round_robin=True)
    assert list(order) == [0, 1, 2]
    order.found_in(2)
    assert list(order) == [2, 0, 1]
    assert list(order) == [2, 0, 1]
    order.found_in(1)
    assert list(order) == [1, 2, 0]
