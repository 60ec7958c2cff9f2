"""The stagewise master: steps are the best along each column, and stay."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from cgboost.generation.columns import Column
from cgboost.losses import (
    AbsoluteError,
    Exponential,
    Huber,
    LogLoss,
    Multinomial,
    SquaredError,
)
from cgboost.losses.loss import DifferentiableLoss
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.masters.stagewise.stagewise import PERFECT, StagewiseMaster

RNG = np.random.default_rng(0)
N_ROWS = 40
LABELS = np.where(np.arange(N_ROWS) % 2, 1.0, -1.0)
WEIGHTS = RNG.uniform(0.5, 2.0, N_ROWS)
H = RNG.normal(size=(N_ROWS, 3))
RESPONSE = H[:, 0] + RNG.normal(size=N_ROWS)
LOSSES: dict[str, DifferentiableLoss] = {
    "squared_error": SquaredError().on(RESPONSE, WEIGHTS),
    "absolute_error": AbsoluteError().on(RESPONSE, WEIGHTS),
    "exponential": Exponential().on(LABELS, WEIGHTS),
    "log_loss": LogLoss().on(LABELS, WEIGHTS),
}


def column(j: int, output: int = 0) -> Column:
    """Column j of H."""
    return Column(H[:, j], ("h", j, output), output=output)


@pytest.mark.parametrize("name", LOSSES)
def test_each_step_is_the_best_one_and_stays(name: str) -> None:
    """Every coefficient minimises the loss along its column at the f of its round."""
    loss = LOSSES[name]
    master = StagewiseMaster(loss)
    output = np.zeros(N_ROWS)
    for j in range(3):
        best = minimize_scalar(lambda c, f=output, j=j: loss.value(f + c * H[:, j]), tol=1e-12).x
        master.add([column(j)])
        state = master.solve()
        assert state.coef[j] == pytest.approx(best, rel=1e-5, abs=1e-6)
        output = output + state.coef[j] * H[:, j]
        np.testing.assert_allclose(state.output, output, atol=1e-12)
    assert state.objective == pytest.approx(loss.value(output))


@pytest.mark.parametrize("name", ["squared_error", "exponential", "log_loss"])
def test_newton_steps_learning_rate_and_start(name: str) -> None:
    """One Newton step, shortened; the best constant as the intercept; or a step of one's own."""
    loss = LOSSES[name]
    start = np.full(N_ROWS, loss.constant())
    master = StagewiseMaster(loss, step="newton", learning_rate=0.1, start="constant")
    master.add([column(0)])
    state = master.solve()
    slope = loss.pseudo_response(start) @ H[:, 0]
    assert state.coef[0] == pytest.approx(0.1 * slope / (loss.curvature(start) @ H[:, 0] ** 2))
    assert state.intercept == pytest.approx(loss.constant())
    fixed = StagewiseMaster(loss, step=0.25)
    fixed.add([column(0), column(1)])
    np.testing.assert_array_equal(fixed.solve().coef, [0.25, 0.25])


def test_columns_of_several_outputs_step_from_the_same_point() -> None:
    """With K class scores the steps of one round do not see each other."""
    classes = np.arange(N_ROWS) % 3
    loss = Multinomial(3).on(classes, WEIGHTS)
    master = StagewiseMaster(loss)
    master.add([column(k, output=k) for k in range(3)])
    state = master.solve()
    zero = np.zeros((N_ROWS, 3))
    for k in range(3):
        direction = np.zeros((N_ROWS, 3))
        direction[:, k] = H[:, k]
        best = minimize_scalar(lambda c, d=direction: loss.value(zero + c * d), tol=1e-12).x
        assert state.coef[k] == pytest.approx(best, rel=1e-5)
    np.testing.assert_allclose(state.output, H * state.coef, atol=1e-12)


def test_a_perfect_column_ends_the_run() -> None:
    """Where the loss falls without end the column gets the coefficient 1, and r becomes 0."""
    master = StagewiseMaster(LOSSES["exponential"])
    master.add([Column(-LABELS, "wrong throughout")])
    state = master.solve()
    np.testing.assert_array_equal(state.coef, [-PERFECT])
    assert not state.pseudo_response.any()


@pytest.mark.parametrize("name", ["exponential", "log_loss"])
def test_a_step_changes_no_output_by_more_than_it_may(name: str) -> None:
    """Nor along a perfect column, which does not end the run; shorter steps are as they were."""
    loss = LOSSES[name]
    master = StagewiseMaster(loss, most=0.5)
    master.add([Column(-3.0 * LABELS, "wrong throughout")])
    state = master.solve()
    np.testing.assert_allclose(state.coef, [-0.5 / 3.0])
    assert state.bounded
    assert state.pseudo_response.any()
    free, bounded = StagewiseMaster(loss), StagewiseMaster(loss, most=1e6)
    for one in (free, bounded):
        one.add([column(0)])
    np.testing.assert_array_equal(free.solve().coef, bounded.solve().coef)


def test_a_free_offset_stays_the_best() -> None:
    """Σr = 0 after every step, the intercept moves, and f is what coefficients and it make."""
    loss = LOSSES["log_loss"]
    master = StagewiseMaster(loss, start="constant", offset="free")
    states = [master.solve()]
    for j in range(3):
        master.add([column(j)])
        states.append(master.solve())
    for j, state in enumerate(states):
        np.testing.assert_allclose(state.pseudo_response.sum(), 0.0, atol=1e-9)
        np.testing.assert_allclose(state.output, H[:, :j] @ state.coef + state.intercept)
    assert len({float(state.intercept) for state in states}) == 4
    assert all(b.objective < a.objective for a, b in itertools.pairwise(states))
    slow = StagewiseMaster(loss, start="constant", offset="free", learning_rate=0.5)
    slow.add([column(0)])
    start, end = (states[k].intercept for k in (0, 1))
    assert slow.solve().coef[0] == pytest.approx(0.5 * states[1].coef[0])
    assert slow.solve().intercept == pytest.approx(0.5 * (start + end))


MANY = Multinomial(3).on(np.arange(N_ROWS) % 3, WEIGHTS)
LOG, ABSOLUTE, SQUARED = (LOSSES[name] for name in ("log_loss", "absolute_error", "squared_error"))
FREE = "offset='free' needs step='line-search'"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: StagewiseMaster(LOG, offset="none"),
            "offset must be 'fixed' or 'free', got",
        ),
        (lambda: StagewiseMaster(ABSOLUTE, offset="free"), FREE),
        (lambda: StagewiseMaster(LOG, step="newton", offset="free"), FREE),
        (lambda: StagewiseMaster(LOG, step=0.1, offset="free"), FREE),
        (lambda: StagewiseMaster(MANY, offset="free"), FREE),
        (lambda: StagewiseMaster(LOG, most=0.0), r"most must be positive, got 0\.0"),
        (
            lambda: StagewiseMaster(LOG, step="exact"),
            "step must be 'line-search', 'newton', 'confidence' or",
        ),
        (
            lambda: StagewiseMaster(LOG, start="mean"),
            "start must be 'zero' or 'constant', got",
        ),
        (lambda: StagewiseMaster(Huber()), r"needs targets: give Huber\(.*\).on\("),
        (lambda: CorrectiveMaster(Huber()), r"needs targets: give Huber\(.*\).on\("),
        (lambda: CorrectiveMaster(MANY), "one output"),
        (lambda: CorrectiveMaster(LOG, offset="penalized"), "'free' or 'none', got 'penalized'"),
        (lambda: CorrectiveMaster(ABSOLUTE, subgradient="both"), "'dual' or 'sign', got 'both'"),
        (lambda: OrthogonalMaster(SQUARED, offset="mean"), "'free' or 'none', got 'mean'"),
        (
            lambda: OrthogonalMaster(SquaredError().on(RESPONSE, np.arange(N_ROWS) * 1.0)),
            "weights must be positive",
        ),
    ],
    ids=range(15),
)
def test_bad_arguments_of_stagewise_masters(make: Callable[[], Any], words: str) -> None:
    """Step rule, start, offset, bound, outputs and weights are checked by name."""
    with pytest.raises(ValueError, match=words):
        make()
