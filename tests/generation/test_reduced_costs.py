"""Bounds on reduced costs, put together."""

import math
from typing import Any

import numpy as np
import pytest

from cgboost.generation.columns import combined, least_of


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ([-1.0, -3.0, 0.5], -3.0),
        ([{"a": -1.0}, {"b": -2.0}], {"a": -1.0, "b": -2.0}),
        ([{"a": -1.0}, {"a": -2.0, "b": 0.0}], {"a": -2.0, "b": 0.0}),
        ([{"a": -1.0, "b": 1.0}, -0.5], -1.0),
        ([-1.0, math.nan], math.nan),
        ([{"a": math.nan}, {"a": -2.0}], {"a": math.nan}),
        ([{"a": -2.0}, {"a": math.nan}], {"a": math.nan}),
        ([{}, -1.0], math.nan),
    ],
)
def test_the_combined_bound_holds_for_every_column(bounds: Any, expected: Any) -> None:
    """Per row where all are, else the least; what one part does not know, the whole does not."""
    np.testing.assert_equal(combined(bounds), expected)


def test_the_least_of_nothing_is_unknown() -> None:
    """A number, a mapping, and an empty mapping."""
    assert least_of(-1.0) == -1.0
    assert least_of({"a": 2.0, "b": -2.0}) == -2.0
    assert math.isnan(least_of({}))
