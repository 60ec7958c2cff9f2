"""Knapsacks by dynamic programming: optimal, within the capacity, and clear about bad input."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgboost.pricing import solve_knapsack

ITEMS = st.lists(
    st.tuples(st.floats(-5, 10), st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=5
)


@given(ITEMS, st.integers(0, 25))
def test_no_other_amounts_are_worth_more(
    items: list[tuple[float, int, int]], capacity: int
) -> None:
    """Of all amounts within bounds and capacity, by enumeration."""
    values, weights, upper = (np.array(part) for part in zip(*items, strict=True))
    amounts, value = solve_knapsack(values, weights, capacity, upper)
    assert ((amounts >= 0) & (amounts <= upper)).all()
    assert weights @ amounts <= capacity
    assert value == pytest.approx(values @ amounts, abs=1e-9)
    every = (np.array(x) for x in product(*(range(u + 1) for u in upper.tolist())))
    assert value == pytest.approx(
        max(values @ x for x in every if weights @ x <= capacity), abs=1e-9
    )


def test_each_item_is_there_once_by_default() -> None:
    """And nothing is taken where nothing fits or helps."""
    amounts, value = solve_knapsack([5.0, 4.0, 3.0], [4, 3, 2], 7)
    assert (amounts.tolist(), value) == ([1, 1, 0], 9.0)
    assert solve_knapsack([1.0, -1.0], [5, 1], 4) == (pytest.approx([0, 0]), 0.0)
    amounts, value = solve_knapsack(np.zeros(0), np.zeros(0), 3)
    assert (len(amounts), value) == (0, 0.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"values": [np.nan], "weights": [1], "capacity": 1}, "values must be .* without nan"),
        ({"values": [1.0], "weights": [1.5], "capacity": 1}, "weights must be whole .* 1.5"),
        (
            {"values": [1.0], "weights": [-1], "capacity": 1},
            "weights must be .* not negative, got -1",
        ),
        ({"values": [1.0], "weights": [1, 2], "capacity": 1}, "weights must have 1 numbers"),
        ({"values": [1.0], "weights": [1], "capacity": -2}, "capacity must be .* -2"),
        (
            {"values": [1.0], "weights": [1], "capacity": 1, "upper": np.inf},
            "upper must be .* inf",
        ),
    ],
)
def test_bad_input_is_named(given: dict[str, object], words: str) -> None:
    """What was wrong and its value."""
    with pytest.raises(ValueError, match=words):
        solve_knapsack(**given)  # type: ignore[arg-type]
