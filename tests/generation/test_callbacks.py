"""The callbacks: validation scores and early stopping."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.generation.callbacks import (
    EarlyStopping,
    ValidationMonitor,
    error_rate,
    mean_absolute_error,
    mean_squared_error,
)
from cgboost.generation.columns import Column
from cgboost.generation.history import Round, StopReason
from cgboost.generation.protocols import MasterState, Priced, Vertex
from cgboost.pricing.features.features import Feature

N_ROWS = 4


def column(index: int) -> Column:
    """Feature ``index`` as a column."""
    return Column(np.zeros(N_ROWS), ("feature", index), Feature(index))


@dataclass(frozen=True)
class AnyEntry:
    """An entry rule that nothing looks at."""

    two_sided: bool = True
    additive: bool = False

    def excess(self, scores: Any) -> Any:
        return np.abs(scores)

    def settled(self, score: float) -> float:
        return 0.0


@dataclass
class ToyMaster:
    """Coefficients 1, 2, 3, … and an objective that falls by one a column."""

    columns: list[Column] = field(default_factory=list)

    def add(self, columns: Any) -> None:
        self.columns += columns

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        zeros = np.zeros(N_ROWS)
        coef = np.arange(1.0, 1 + len(self.columns))
        objective = 10.0 - len(coef)
        return MasterState(
            tuple(self.columns), coef, 0.5, zeros, zeros, objective, zeros, AnyEntry()
        )

    def bound(self, state: MasterState, priced: Priced) -> None:
        return None


class ToyPricer:
    """Offers feature 0, then feature 1, and so on, six in all."""

    def price(self, state: MasterState, limit: int) -> Priced:
        found = [column(len(state.columns))] if len(state.columns) < 6 else []
        return Priced(found, n_evaluated=1)


def run(*callbacks: Any) -> Any:
    """One run of the toy loop."""
    return ColumnGeneration(ToyMaster(), ToyPricer(), callbacks=callbacks).run()


def scripted(*scores: float) -> Any:
    """A monitor that gives round k the k-th score."""

    def monitor(turn: Round) -> None:
        turn.scores["validation_error"] = scores[turn.number]

    return monitor


def test_scores_are_their_formulas():
    """Error rate (an output of 0 counts as −1), MAE and MSE on numbers worked out by hand."""
    assert error_rate(np.array([1.0, 1, -1, -1]), np.array([2.0, 0, 0, 0.1])) == 0.5
    assert mean_absolute_error(np.array([1.0, 2]), np.array([0.0, 4])) == 1.5
    assert mean_squared_error(np.array([1.0, 2]), np.array([0.0, 4])) == 2.5


def test_the_monitor_scores_every_round():
    """Every round's score is that of Σ coef·feature + intercept on the held-out rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 6)), rng.normal(size=20)
    result = run(ValidationMonitor(X, y, {"mse": mean_squared_error}))
    expected = [mean_squared_error(y, X[:, :k] @ np.arange(1.0, 1 + k) + 0.5) for k in range(7)]
    np.testing.assert_allclose(result.history["validation_mse"], expected)


def test_the_returned_round_is_scored_as_it_is_returned():
    """A crossover moves its coefficients; its score is that of the model, others keep theirs."""

    class Crossing(ToyMaster):
        def crossover(self, coef: Any, intercept: Any, *, time_limit: Any = None) -> Vertex:
            return Vertex(2.0 * coef, 0.0, 10.0 - len(coef))

    class Fourth:
        best_round = 4

        def __call__(self, turn: Round) -> None:
            return

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 6)), rng.normal(size=20)
    monitor = ValidationMonitor(X, y, {"mse": mean_squared_error})
    loop = ColumnGeneration(Crossing(), ToyPricer(), callbacks=[monitor, Fourth()])
    found = loop.run().history["validation_mse"]
    expected = [mean_squared_error(y, X[:, :k] @ np.arange(1.0, 1 + k) + 0.5) for k in range(7)]
    expected[4] = mean_squared_error(y, X[:, :4] @ (2.0 * np.arange(1.0, 5.0)))
    np.testing.assert_allclose(found, expected)


def test_of_several_outputs_the_largest_decides():
    """A row counts as wrong where another class than its own has the largest output."""
    labels = np.array([[1.0, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, -1]])
    outputs = np.array([[0.3, 0.2, 0.1], [2, 1, 0], [-3, -2, -1], [-1, -5, -5]])
    assert error_rate(labels, outputs) == 0.25


def test_the_monitor_adds_columns_to_their_outputs():
    """With a target of several columns every column adds to the output that it names."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 6)), rng.normal(size=(20, 2))

    class InTurn(ToyPricer):
        def price(self, state: MasterState, limit: int) -> Priced:
            priced = super().price(state, limit)
            return replace(
                priced, columns=[replace(c, output=len(state.columns) % 2) for c in priced.columns]
            )

    monitor = ValidationMonitor(X, y, {"mse": mean_squared_error})
    result = ColumnGeneration(ToyMaster(), InTurn(), callbacks=[monitor]).run()
    coef = np.zeros((6, 2))
    coef[np.arange(6), np.arange(6) % 2] = np.arange(1.0, 7.0)
    expected = [mean_squared_error(y, X[:, :k] @ coef[:k] + 0.5) for k in range(7)]
    np.testing.assert_allclose(result.history["validation_mse"], expected)


def test_the_monitor_starts_afresh_with_every_run():
    """A monitor used in two runs scores the second by the second's columns."""
    X, y = np.eye(6), np.arange(6.0)
    monitor = ValidationMonitor(X, y, {"mae": mean_absolute_error})
    first, second = run(monitor), run(monitor)
    np.testing.assert_array_equal(first.history["validation_mae"], second.history["validation_mae"])


@pytest.mark.parametrize(
    ("scores", "patience", "best", "rounds"),
    [
        ([5, 4, 3, 4, 4, 4, 4], 2, 2, 5),
        ([5, 4, 3, 2, 1, 0, 0], 1, 5, 7),
        ([5, 5, 5, 5, 5, 5, 5], 3, 0, 4),
        ([5, 4, 5, 3, 5, 5, 5], 2, 3, 6),
    ],
)
def test_early_stopping_returns_the_best_round(scores, patience, best, rounds):
    """It stops after ``patience`` rounds without improvement; ties go to the earlier round."""
    result = run(scripted(*scores), EarlyStopping("validation_error", patience=patience))
    assert (result.best_round, result.n_rounds, len(result.coef)) == (best, rounds, best)
    assert result.objective == 10.0 - best


def test_early_stopping_has_a_reason_of_its_own():
    """A callback may say why it stops; without a reason of its own it is "callback"."""
    stopping = EarlyStopping("validation_error", patience=2)
    assert run(scripted(1, 2, 3), stopping).stop_reason is StopReason.EARLY_STOPPING
    assert run(lambda turn: turn.number == 2).stop_reason is StopReason.CALLBACK


def test_small_improvements_may_not_count():
    """An improvement of less than min_delta does not reset the patience."""
    stopping = EarlyStopping("validation_error", patience=2, min_delta=0.5)
    result = run(scripted(5, 4.9, 4.8, 4.7, 4.6, 4.5, 4.4), stopping)
    assert (result.best_round, result.n_rounds) == (0, 3)


def test_early_stopping_starts_afresh_with_every_run():
    """A second run is not judged by the scores of the first."""
    stopping = EarlyStopping("validation_error", patience=2)
    run(scripted(0, 1, 1, 1, 1, 1, 1), stopping)
    assert run(scripted(9, 8, 7, 6, 5, 4, 3), stopping).best_round == 6


def test_early_stopping_names_a_missing_score():
    """Without the score it watches, it says which scores there are and what to do."""
    with pytest.raises(ValueError, match=r"'validation_mae'.*\['validation_error'\].*eval_set"):
        run(scripted(*range(7)), EarlyStopping("validation_mae"))
    with pytest.raises(ValueError, match="patience must be at least 1 round, got 0"):
        EarlyStopping("validation_error", patience=0)


@pytest.mark.parametrize(
    ("scores", "best"),
    [([0, 1, 3, 2, 2, 2, 2], 2), ([np.nan, np.nan, 1, 2, 0, 0, 0], 3), ([np.nan] * 7, 0)],
)
def test_greater_may_be_better(scores, best):
    """The round with the greatest score is kept; a score without a value is worse than any."""
    stopping = EarlyStopping("validation_error", patience=9, greater_is_better=True)
    assert run(scripted(*scores), stopping).best_round == best


def test_monitors_have_names():
    """Two monitors on rows of their own write scores that begin with their names."""
    rng = np.random.default_rng(0)
    sets = {name: (rng.normal(size=(9, 6)), rng.normal(size=9)) for name in ("a", "b")}
    monitors = [
        ValidationMonitor(X, y, {"mse": mean_squared_error}, name=name)
        for name, (X, y) in sets.items()
    ]
    history = run(*monitors).history
    for monitor, name in zip(monitors, sets, strict=True):
        alone = run(ValidationMonitor(monitor.X, monitor.y, monitor.scores)).history
        np.testing.assert_array_equal(history[f"{name}_mse"], alone["validation_mse"])


def test_what_a_callback_holds_is_given_back():
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

    run(Holding(99))
    with pytest.raises(RuntimeError, match="a mistake"):
        run(Holding(0))
    assert closed == [99, 0]
