"""The exponential loss: its steps in closed form."""

import numpy as np
import pytest

from cgboost.losses import Exponential
from cgboost.losses.base import DifferentiableLoss, UnboundedStepError


def test_exponential_step_of_a_classifier_is_half_the_log_odds() -> None:
    """½ log((1 − err)/err) for a column of ±1; a perfect one has no best step."""
    labels, weights = np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4)
    loss, zero = Exponential().on(labels, weights), np.zeros(4)
    column = np.array([1.0, 1.0, 1.0, -1.0])
    assert loss.line_search(zero, column) == pytest.approx(0.5 * np.log(3))
    assert DifferentiableLoss.line_search(loss, zero, column) == pytest.approx(0.5 * np.log(3))
    with pytest.raises(UnboundedStepError):
        loss.line_search(zero, -labels)
