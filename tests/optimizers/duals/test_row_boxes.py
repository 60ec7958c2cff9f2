"""Boxes of rows: which corners they have, and where rows go from where they stand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.losses import SupportVectorLoss, epsilon_insensitive, hinge
from cgboost.optimizers.active_set.quadratic_dual import RowBoxes
from tests.effort import examples
from tests.optimizers.duals.quadratic_duals import random_loss

PRICE = np.array([1.0, 0.0, 2.0])
TARGET = np.array([1.0, 1.0, -1.0])


def boxes_of(loss: SupportVectorLoss, kept: np.ndarray | None = None) -> RowBoxes:
    """The boxes of some variables, the others at 0."""
    variables = loss.variables
    kept = np.arange(len(variables)) if kept is None else kept
    return RowBoxes.of(variables, kept, variables.response(np.zeros(len(variables))))


def test_corners_of_hinge_tube_and_absolute_error() -> None:
    """The hinge has one piece a row, the tube two with a bend at 0; without ε they are one."""
    margin = boxes_of(hinge(TARGET, PRICE))
    np.testing.assert_array_equal(margin.row, [0, 2])
    np.testing.assert_array_equal(margin.corners, [[0, 0, 1], [-2, 0, 0]])
    np.testing.assert_array_equal(margin.exists, [[False, True], [True, False]])
    tube = boxes_of(epsilon_insensitive(TARGET, PRICE, 0.1))
    np.testing.assert_array_equal(tube.corners, [[-1, 0, 1], [-2, 0, 2]])
    np.testing.assert_allclose(tube.slopes, [[1.1, 0.9], [-0.9, -1.1]])
    absolute = boxes_of(epsilon_insensitive(TARGET, PRICE, 0.0))
    np.testing.assert_array_equal(absolute.corners, [[-1, -1, 1], [-2, -2, 2]])
    assert not absolute.exists[:, 0].any()


def test_a_frozen_side_moves_the_corners_of_its_row() -> None:
    """With the lower variable of row 0 fixed at its cap, the upper one starts from there."""
    loss = epsilon_insensitive(TARGET, PRICE, 0.1)
    variables = loss.variables
    lower = np.flatnonzero((variables.row == 0) & (variables.sign < 0))
    u = np.zeros(len(variables))
    u[lower] = variables.cap[lower]
    boxes = RowBoxes.of(
        variables, np.delete(np.arange(len(variables)), lower), variables.response(u)
    )
    np.testing.assert_array_equal(boxes.corners, [[-1, -1, 0], [-2, 0, 2]])


def test_status_and_corners() -> None:
    """Corners are 0, 2 and 4, pieces 1 and 3; rows at a corner are put exactly there."""
    boxes = boxes_of(epsilon_insensitive(np.zeros(5), np.full(5, 2.0), 0.1))
    r = np.array([-2.0, -0.5, 0.0, 1.0, 2.0])
    status = boxes.status(r)
    np.testing.assert_array_equal(status, [0, 1, 2, 3, 4])
    moved = boxes.at_corners(status, r + 0.25)
    np.testing.assert_array_equal(moved, [-2.0, -0.25, 0.0, 1.25, 2.0])


def test_rows_move_to_the_next_status_and_no_further() -> None:
    """A row beyond its piece goes to the corner, a corner of positive rate into the piece."""
    boxes = boxes_of(epsilon_insensitive(np.zeros(6), np.full(6, 2.0), 0.1))
    status = np.array([3, 3, 2, 2, 0, 4], dtype=np.int8)
    r = np.array([2.5, -1.0, 0.0, 0.0, -2.0, 2.0])
    pull = np.array([0.0, 0.0, -0.2, 0.2, -0.5, 0.5])
    moved, count = boxes.moved(status, r, pull, most=10)
    np.testing.assert_array_equal(moved, [4, 2, 3, 1, 1, 3])
    assert count == 6
    still, count = boxes.moved(np.array([2] * 6, dtype=np.int8), 0 * r, 0 * pull, most=10)
    np.testing.assert_array_equal(still, 2)  # inside the tube nothing is to be gained
    assert count == 0


def test_only_the_largest_rates_leave_their_corners() -> None:
    """Of many rows that should go inside, those of the largest rates go; all are counted."""
    boxes = boxes_of(hinge(np.ones(5), np.ones(5)))
    pull = np.array([0.5, 0.1, 0.9, 0.2, 3.0])
    moved, count = boxes.moved(boxes.status(np.zeros(5)), np.zeros(5), pull, most=2)
    np.testing.assert_array_equal(moved, [2, 3, 2, 3, 2])
    assert count == 4


@settings(max_examples=examples(60))
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["hinge", "tube", "absolute"]),
    curved=st.booleans(),
)
def test_gain_and_shortfall_are_those_of_the_loss(seed: int, kind: str, curved: bool) -> None:
    """The gain of r less output·r is the loss's, and the fenchel_gap is what the loss would add."""
    rng = np.random.default_rng(seed)
    loss = random_loss(rng, 7, kind, 1.5)
    if curved:
        curvature = rng.uniform(0.1, 2.0, size=7)
        loss = SupportVectorLoss(loss.target, loss.lower, loss.upper, loss.epsilon, curvature)
    boxes = boxes_of(loss)
    r = rng.uniform(loss.lower, loss.upper)
    output = rng.normal(size=7)
    reference = np.zeros(7)
    reference[boxes.row] = boxes.corners[:, 1]
    gained = float(boxes.gain(r, output).sum())
    expected = (loss.gain(r) - output @ r) - (loss.gain(reference) - output @ reference)
    assert gained == pytest.approx(expected, abs=1e-12)
    missing = loss.value(output) - (loss.gain(r) - output @ r)
    assert float(boxes.fenchel_gap(r, output).sum()) == pytest.approx(missing, abs=1e-12)
