"""Huber's loss between squared and absolute error."""

import numpy as np
import pytest

from cgboost.losses import AbsoluteError, Huber, SquaredError


def test_huber_is_between_squared_and_absolute_error() -> None:
    """½e² up to δ, a straight line of slope δ beyond; nothing else at the ends of δ."""
    y, weights, zero = np.array([0.5, -1.0, 3.0]), np.array([1.0, 2.0, 3.0]), np.zeros(3)
    loss = Huber(1.0).on(y, weights)
    assert loss.value(zero) == pytest.approx(0.125 + 2 * 0.5 + 3 * 2.5)
    np.testing.assert_array_equal(loss.pseudo_response(zero), [0.5, -2.0, 3.0])
    np.testing.assert_array_equal(loss.curvature(zero), [1.0, 0.0, 0.0])
    wide, narrow = Huber(100.0).on(y, weights), Huber(1e-9).on(y, weights)
    assert wide.value(zero) == SquaredError().on(y, weights).value(zero)
    assert wide.constant() == pytest.approx(SquaredError().on(y, weights).constant())
    assert narrow.value(zero) / 1e-9 == pytest.approx(AbsoluteError().on(y, weights).value(zero))


@pytest.mark.parametrize("delta", [0.0, -1.0, float("nan"), float("inf")])
def test_huber_has_a_positive_delta(delta: float) -> None:
    """Anything else is refused with its value."""
    with pytest.raises(ValueError, match=f"delta must be positive, got {delta}"):
        Huber(delta).on(np.zeros(2), np.ones(2))
