"""The score of the holdout rows, and the end of a run that gains next to nothing."""

from functools import partial
from types import SimpleNamespace

import numpy as np

from cgboost.additive.holdout import HoldoutLoss, SmallGain, mean_loss
from cgboost.losses import SquaredError


def turn(number: int, objective: float, output: np.ndarray | None = None) -> SimpleNamespace:
    """A round."""
    state = SimpleNamespace(output=output)
    return SimpleNamespace(number=number, objective=objective, state=state, scores={})


def test_the_loss_is_the_mean_over_the_holdout_rows() -> None:
    """By their weights; others count nothing. A score from a run that was interrupted stays."""
    y, held = np.arange(4.0), np.array([False, True, True, False])
    turned = turn(0, 0.0, np.array([9.0, 0.0, 0.0, 9.0]))
    outside = SquaredError().on(y[held], np.array([1.0, 3.0]))
    HoldoutLoss(partial(mean_loss, outside, held))(turned)
    unit = SquaredError().on(y[held], np.array([1.0, 0.0])).value(np.zeros(2))
    np.testing.assert_allclose(turned.scores["holdout_loss"], (1 + 3 * 4) / 4 * unit)
    HoldoutLoss(lambda output: 0.0)(turned)  # rounds that are shown again have nothing to measure
    np.testing.assert_allclose(turned.scores["holdout_loss"], (1 + 3 * 4) / 4 * unit)
    nothing = SquaredError().on(y[:0], np.zeros(0))
    without = turn(0, 0.0, np.zeros(4))
    HoldoutLoss(partial(mean_loss, nothing, np.zeros(4, dtype=bool)))(without)
    assert without.scores["holdout_loss"] == 0.0


def test_a_run_ends_when_a_stage_gains_less_than_the_tolerance() -> None:
    """Relative to the first loss; a new run starts anew; 0 ends no run that does not rise."""
    stop = SmallGain(0.01)
    for _ in range(2):
        found = [stop(turn(k, loss)) for k, loss in enumerate([100.0, 50.0, 48.0, 47.5])]
        assert found == [False, False, False, True]
    stop = SmallGain(0.0)
    assert [stop(turn(k, loss)) for k, loss in enumerate([1.0, 1.0, 0.0, 0.0])] == [False] * 4
