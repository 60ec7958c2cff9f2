"""The callbacks: validation scores and early stopping."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost.generation.callbacks import (
    EarlyStopping,
    ValidationMonitor,
    as_callback,
    error_rate,
    keeps_records,
    mean_absolute_error,
    mean_squared_error,
)
from cgboost.generation.history import Round, StopReason
from cgboost.generation.protocols import MasterState, Priced, Vertex

from .cases import CountingMaster, Supply, run, scripted, watched

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(20, 6)), RNG.normal(size=20)
COEF = np.arange(1.0, 7.0)
MSE = {"mse": mean_squared_error}


def scores_of(y: np.ndarray = Y, coef: np.ndarray = COEF) -> list[float]:
    """Those of the rounds of a counting run, by their definition."""
    return [mean_squared_error(y, X[:, :k] @ coef[:k] + k) for k in range(7)]


@pytest.mark.parametrize(
    ("score", "y", "output", "value"),
    [
        (error_rate, [1.0, 1, -1, -1], [2.0, 0, 0, 0.1], 0.5),
        (mean_absolute_error, [1.0, 2], [0.0, 4], 1.5),
        (mean_squared_error, [1.0, 2], [0.0, 4], 2.5),
        (
            error_rate,
            [[1.0, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, -1]],
            [[0.3, 0.2, 0.1], [2, 1, 0], [-3, -2, -1], [-1, -5, -5]],
            0.25,
        ),
    ],
)
def test_scores_are_their_formulas(score: Any, y: Any, output: Any, value: float) -> None:
    """By hand: an output of 0 counts as −1; of several outputs the largest decides."""
    assert score(np.array(y), np.array(output)) == value


def test_the_monitor_scores_every_round_of_every_run() -> None:
    """Σ coef·feature + intercept on its own rows, under its name; a second run begins afresh."""
    monitor = ValidationMonitor(X, Y, MSE)
    other = ValidationMonitor(X, -Y, MSE, name="other")
    for history in (watched(monitor, other).history, watched(monitor).history):
        np.testing.assert_allclose(history["validation_mse"], scores_of())
    np.testing.assert_allclose(watched(other).history["other_mse"], scores_of(-Y))


def test_the_returned_round_is_scored_as_it_is_returned() -> None:
    """A crossover moves its coefficients; its score is that of the model, others keep theirs."""

    class Crossing(CountingMaster):
        def crossover(self, coef: Any, intercept: Any, *, time_limit: Any = None) -> Vertex:
            return Vertex(2.0 * coef, 0.0, 10.0 - len(coef))

    class Fourth:
        best_round = 4

        def __call__(self, turn: Round) -> None:
            return

    monitor = ValidationMonitor(X, Y, MSE)
    supply = Supply(6, exact=False)
    found = run(Crossing(), supply, callbacks=[monitor, Fourth()]).history["validation_mse"]
    expected = scores_of()
    expected[4] = mean_squared_error(Y, X[:, :4] @ (2.0 * COEF[:4]))
    np.testing.assert_allclose(found, expected)


def test_the_monitor_adds_columns_to_their_outputs() -> None:
    """With a target of several columns every column adds to the output that it names."""

    class InTurn(Supply):
        def price(self, state: MasterState, limit: int) -> Priced:
            priced = super().price(state, limit)
            output = len(state.columns) % 2
            return replace(priced, columns=[replace(c, output=output) for c in priced.columns])

    y = np.column_stack([Y, Y[::-1]])
    monitor = ValidationMonitor(X, y, MSE)
    result = run(pricer=InTurn(6, exact=False), callbacks=[monitor])
    coef = np.zeros((6, 2))
    coef[np.arange(6), np.arange(6) % 2] = COEF
    np.testing.assert_allclose(result.history["validation_mse"], scores_of(y, coef))


@pytest.mark.parametrize(
    ("scores", "options", "best", "rounds"),
    [
        ([5, 4, 3, 4, 4, 4, 4], {"patience": 2}, 2, 5),
        ([5, 4, 3, 2, 1, 0, 0], {"patience": 1}, 5, 7),
        ([5, 5, 5, 5, 5, 5, 5], {"patience": 3}, 0, 4),
        ([5, 4, 5, 3, 5, 5, 5], {"patience": 2}, 3, 6),
        ([5, 4.9, 4.8, 4.7, 4.6, 4.5, 4.4], {"patience": 2, "min_delta": 0.5}, 0, 3),
        ([0, 1, 3, 2, 2, 2, 2], {"greater_is_better": True}, 2, 7),
        ([np.nan, np.nan, 1, 2, 0, 0, 0], {"greater_is_better": True}, 3, 7),
        ([np.nan] * 7, {"greater_is_better": True}, 0, 7),
    ],
)
def test_early_stopping_returns_the_best_round(
    scores: list[float], options: dict[str, Any], best: int, rounds: int
) -> None:
    """It stops after ``patience`` rounds without improvement; of ties the earlier round is kept.

    An improvement of less than ``min_delta`` does not count, and nan is worse than any score.
    """
    stopping = EarlyStopping("validation_error", **options)
    for _ in range(2):  # a second run is not judged by the scores of the first
        result = watched(scripted(*scores), stopping)
        assert (result.best_round, result.n_rounds, len(result.coef)) == (best, rounds, best)
        assert result.objective == 10.0 - best
        early = rounds < 7
        assert result.stop_reason is (StopReason.EARLY_STOPPING if early else StopReason.NO_COLUMN)


def test_early_stopping_names_a_missing_score() -> None:
    """Without the score it watches, it says which scores there are and what to do."""
    with pytest.raises(ValueError, match=r"'validation_mae'.*\['validation_error'\].*eval_set"):
        watched(scripted(*range(7)), EarlyStopping("validation_mae"))
    with pytest.raises(ValueError, match="patience must be at least 1 round, got 0"):
        EarlyStopping("validation_error", patience=0)


def test_what_a_callback_holds_is_given_back() -> None:
    """close() is called after a run that ends well, and after one that raises."""
    closed = []

    class Holding:
        def __init__(self, number: int) -> None:
            self.number = number

        def __call__(self, turn: Round) -> None:
            if turn.number == self.number:
                raise RuntimeError("a mistake")

        def close(self) -> None:
            closed.append(self.number)

    watched(Holding(99))
    with pytest.raises(RuntimeError, match="a mistake"):
        watched(Holding(0))
    assert closed == [99, 0]


def test_members_of_other_meaning_are_left_alone() -> None:
    """A method ``save`` without ``begin`` is none for records, and None stands for no member."""

    class Curve:
        finish = close = begin = None

        def __call__(self, turn: Round) -> None:
            """Nothing."""

        def save(self, path: str) -> None:
            raise AssertionError("not for the loop")

    callback = as_callback(Curve())
    assert not keeps_records(callback)
    assert callback.best_round is None
    watched(Curve())


def test_a_member_of_a_master_that_is_none_is_none() -> None:
    """The run is that of a master without it."""

    class Plain(CountingMaster):
        anticipated = crossover = replace = take_up = None

    plain, usual = Plain(), CountingMaster()
    found, expected = (run(master, Supply(4), max_rounds=3) for master in (plain, usual))
    assert found.history["columns"].tolist() == expected.history["columns"].tolist()
    assert found.stop_reason == expected.stop_reason
