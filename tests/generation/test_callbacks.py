"""The callbacks: validation scores, early stopping, progress."""

import io
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from cgboost.generation.callbacks import (
    IN_WORDS,
    EarlyStopping,
    ProgressLine,
    ValidationMonitor,
    error_rate,
    mean_absolute_error,
    mean_squared_error,
)
from cgboost.generation.columns import Column
from cgboost.generation.history import Round, StopReason
from cgboost.generation.loop import ColumnGeneration
from cgboost.generation.protocols import MasterState, Priced, Vertex
from cgboost.pricing.features.features import FeatureHypothesis

N_ROWS = 4


def column(index: int) -> Column:
    """Feature ``index`` as a column."""
    return Column(np.zeros(N_ROWS), ("feature", index), FeatureHypothesis(index))


@dataclass(frozen=True)
class AnyEntry:
    """An entry rule that nothing looks at."""

    two_sided: bool = True

    def excess(self, scores: Any) -> Any:
        return np.abs(scores)


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


def test_the_closing_line_describes_the_round_that_was_kept():
    """After early stopping the columns and objective at the end are those of the kept round."""
    stream = io.StringIO()
    progress = ProgressLine(interval=1e9, console=Console(file=stream, width=40))
    run(scripted(3, 2, 1, 2, 2), EarlyStopping("validation_error", patience=2), progress)
    line = stream.getvalue()
    assert line.startswith("stopped early after 5 rounds, ")
    assert line.endswith(" s; round 2 kept: 2 columns, objective 8, gap unknown\n")


def test_every_stop_reason_has_words():
    """No way to stop is shown by its identifier."""
    assert set(IN_WORDS) == set(StopReason)


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


def test_progress_in_a_file_is_one_line_per_interval():
    """Without a terminal there are no control codes: a line per interval, and one at the end."""
    stream = io.StringIO()
    console = Console(file=stream, width=40)
    run(ProgressLine("toy: ", interval=0.0, console=console))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 8
    assert lines[2].startswith("toy: round 2  2 columns  objective 8  gap unknown")
    assert lines[-1].startswith("toy: no column found after 7 rounds")
    assert "\x1b" not in stream.getvalue()
    stream.truncate(0)
    run(ProgressLine(interval=1e9, console=console))
    assert len(stream.getvalue().splitlines()) == 1


def test_progress_on_a_terminal_is_one_line():
    """On a terminal every round erases the line before it, and no round wraps."""
    stream = io.StringIO()
    run(ProgressLine(console=Console(file=stream, force_terminal=True, width=30)))
    *rounds, last = stream.getvalue().split("\r\x1b[2K")[1:]
    assert len(rounds) == 7
    assert all(len(text) <= 30 and "\n" not in text for text in rounds)
    assert last.startswith("no column found after 7 rounds")


def test_progress_shows_scores_and_survives_an_error():
    """Scores appear with their names; an error in the run leaves the terminal usable."""
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=200)

    def fail(turn: Round) -> None:
        if turn.number == 2:
            raise RuntimeError("a mistake in my callback")

    with pytest.raises(RuntimeError, match="my callback"):
        run(scripted(2, 12345, 0.123456), ProgressLine(console=console), fail)
    assert "validation error 0.1235" in stream.getvalue()
    assert "\x1b[?25l" not in stream.getvalue()  # the cursor was never hidden
