"""Callbacks of the loop: validation scores, early stopping, progress.

A callback is any callable that takes a :class:`~cgboost.generation.Round`; it sees the round's
numbers and its full state, may write into ``round.scores``, and stops the loop by returning a true
value. They run in order, so a monitor stands before whatever reads its score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.columns import Column, evaluate
from cgboost.generation.history import Result, Round, StopReason
from cgboost.generation.termination import blaming

Vector = NDArray[np.float64]
Score = Callable[[Any, Vector], float]


IN_WORDS = {
    StopReason.OPTIMAL: "optimal",
    StopReason.GAP: "gap reached",
    StopReason.NO_COLUMN: "no column found",
    StopReason.ONLY_DUPLICATES: "no new column found",
    StopReason.STALLED: "stalled short of the gap",
    StopReason.MAX_COLUMNS: "max_columns reached",
    StopReason.MAX_ROUNDS: "max_rounds reached",
    StopReason.TIME: "time limit",
    StopReason.CALLBACK: "stopped by a callback",
    StopReason.EARLY_STOPPING: "stopped early",
    StopReason.INTERRUPTED: "interrupted",
    StopReason.MASTER_FAILED: "solver failed",
    StopReason.PRICER_FAILED: "search for columns failed",
    StopReason.INVALID_BOUND: "contradictory bound",
    StopReason.UNBOUNDED: "the loss falls without end",
    StopReason.EXHAUSTED: "no further column",
    StopReason.INFEASIBLE: "infeasible",
}
"""Each stop reason as a progress line ends with it."""


def error_rate(labels: Vector, output: Vector) -> float:
    """Share of rows whose output decides for another class than their labels ±1.

    One output decides by its sign (0 counts as −1). Of several, one a class, the largest decides;
    labels and output then have the shape (n_rows, n_classes).
    """
    return float(np.mean(_decision(output) != _decision(labels)))


def _decision(output: Vector) -> NDArray[Any]:
    return output > 0 if output.ndim == 1 else output.argmax(axis=1)


def mean_absolute_error(response: Vector, output: Vector) -> float:
    """Mean of |y − f|."""
    return float(np.mean(np.abs(response - output)))


def mean_squared_error(response: Vector, output: Vector) -> float:
    """Mean of (y − f)²."""
    return float(np.mean((response - output) ** 2))


@runtime_checkable
class FinishingCallback(Protocol):
    """A callback that is told of the end."""

    def finish(self, result: Result) -> None:
        """Called once, however the loop ends."""
        ...


@runtime_checkable
class ChoosingCallback(Protocol):
    """A callback that may name the round to return."""

    @property
    def best_round(self) -> int | None:
        """Number of the round; None leaves the choice to others."""
        ...


@runtime_checkable
class ReasoningCallback(Protocol):
    """A callback that says why it stops the loop; without the member ``StopReason.CALLBACK``."""

    @property
    def stop_reason(self) -> StopReason:
        """What the result shows."""
        ...


class ValidationMonitor:
    """Score the model on held-out rows after every round.

    Each generated column is evaluated on these rows once; a round then costs one matrix-vector
    product. What a column raises here ends the run as ``pricer_failed``.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
    scores : mapping of str to callable
        ``score(y, output) -> float`` for an output of the shape of y; written to
        ``round.scores["validation_" + name]``.
    name : str, default="validation"
        What the names of the scores begin with.
    """

    def __init__(
        self, X: Any, y: Vector, scores: Mapping[str, Score], *, name: str = "validation"
    ) -> None:
        self.X = X
        self.y = y
        self.scores = dict(scores)
        self.name = name
        self._values = np.empty((len(y), 0), order="F")
        self._count = 0
        self._owner: list[int] = []
        self._output: list[int] = []

    def __call__(self, current: Round) -> None:
        """Add the round's scores."""
        state = current.state
        if current.number == 0:
            self._count, self._owner, self._output = 0, [], []  # a new run: other columns
        self._extend(state.columns)
        current.scores.update(self._scored(state.coef, state.intercept))

    def finish(self, result: Result) -> None:
        """Score the round that is returned again: a crossover may have moved its coefficients."""
        for name, score in self._scored(result.coef, result.intercept).items():
            result.history[name][result.best_round] = score

    def _scored(self, coef: Vector, intercept: float | Vector) -> dict[str, float]:
        """Scores of the model with these coefficients of the first columns."""
        parts = np.searchsorted(self._owner, len(coef))
        spread = coef[self._owner[:parts]]
        active = np.flatnonzero(spread)
        weights = np.zeros((len(active), math.prod(self.y.shape[1:])))
        weights[np.arange(len(active)), np.array(self._output, dtype=int)[active]] = spread[active]
        output = (self._values[:, active] @ weights + intercept).reshape(self.y.shape)
        return {f"{self.name}_{name}": score(self.y, output) for name, score in self.scores.items()}

    def _extend(self, columns: Sequence[Column]) -> None:
        """Evaluate the parts of columns that are new."""
        first = self._owner[-1] + 1 if self._owner else 0
        hypotheses = []
        for number, column in enumerate(columns[first:], start=first):
            for output, hypothesis in column.parts:
                hypotheses.append(hypothesis)
                self._owner.append(number)
                self._output.append(output)
        if hypotheses:
            self._evaluate(hypotheses)

    def _evaluate(self, hypotheses: list[Any]) -> None:
        needed = self._count + len(hypotheses)
        if needed > self._values.shape[1]:
            grown = np.empty((len(self.y), 2 * needed), order="F")
            grown[:, : self._count] = self._values[:, : self._count]
            self._values = grown
        with blaming(StopReason.PRICER_FAILED):  # they are the user's functions, as in a search
            self._values[:, self._count : needed] = evaluate(hypotheses, self.X)
        self._count = needed


class EarlyStopping:
    """Stop when a score has not improved for some rounds, and return its best round.

    Parameters
    ----------
    metric : str
        Name in ``round.scores``.
    patience : int, default=10
        Rounds without improvement before stopping; rounds whose model has no columns do not count.
    min_delta : float, default=0.0
        Smallest change for the better that counts as an improvement.
    greater_is_better : bool, default=False
        Whether the score rises as the model improves; errors fall.
    """

    stop_reason = StopReason.EARLY_STOPPING

    def __init__(
        self,
        metric: str,
        *,
        patience: int = 10,
        min_delta: float = 0.0,
        greater_is_better: bool = False,
    ) -> None:
        if patience < 1:
            raise ValueError(f"patience must be at least 1 round, got {patience}")
        self.metric = metric
        self.patience = patience
        self.min_delta = min_delta
        self.greater_is_better = greater_is_better
        self.best_round: int | None = None
        self.best_score = self._worst
        self._waited = 0

    def __call__(self, current: Round) -> bool:
        """Whether the last ``patience`` rounds brought nothing."""
        if current.number == 0:
            self.best_round, self.best_score, self._waited = None, self._worst, 0
        if self.metric not in current.scores:
            raise ValueError(
                f"early stopping watches {self.metric!r}, but the round has the scores "
                f"{sorted(current.scores)}; give an eval_set or put a monitor first"
            )
        score = current.scores[self.metric]
        if self.best_round is None or self._improves(score):
            known = not math.isnan(score)  # a score without a value is worse than any other
            self.best_round, self._waited = current.number, 0
            self.best_score = score if known else self._worst
        elif current.active:  # before there is a model nothing can improve
            self._waited += 1
        return self._waited >= self.patience

    @property
    def _worst(self) -> float:
        return -math.inf if self.greater_is_better else math.inf

    def _improves(self, score: float) -> bool:
        if self.greater_is_better:
            return score > self.best_score + self.min_delta
        return score < self.best_score - self.min_delta


class ProgressLine:
    """One live line: round, columns, objective, gap, validation scores, seconds.

    On a terminal the line is redrawn after every round; elsewhere a new line is written at most
    once every ``interval`` seconds and at the end.

    Parameters
    ----------
    label : str, default=""
        What every line begins with.
    interval : float, default=2.0
        Seconds between lines where there is no terminal.
    console : rich.console.Console or None
        Where to write; None is the standard error stream.
    """

    def __init__(self, label: str = "", *, interval: float = 2.0, console: Any = None) -> None:
        from rich.console import Console

        self.label = label
        self.interval = interval
        self._console = Console(stderr=True) if console is None else console
        self._written = 0.0

    def __call__(self, current: Round) -> None:
        """Show the round."""
        if current.number == 0:
            self._written = 0.0
        if self._console.is_terminal:
            self._erase()
            self._write(self._text(current), end="", no_wrap=True, overflow="ellipsis")
        elif current.seconds - self._written >= self.interval:
            self._written = current.seconds
            self._write(self._text(current), soft_wrap=True)

    def finish(self, result: Result) -> None:
        """Leave one line that says how it ended, and what was kept."""
        if self._console.is_terminal:
            self._erase()
        is_last = result.best_round == result.n_rounds - 1
        kept = "" if is_last else f"; round {result.best_round} kept"
        rounds = "1 round" if result.n_rounds == 1 else f"{result.n_rounds} rounds"
        self._write(
            f"{self.label}{IN_WORDS[result.stop_reason]} after {rounds}, "
            f"{result.history['seconds'][-1]:.1f} s{kept}: {len(result.coef)} columns, "
            f"objective {result.objective:.6g}, gap {_gap(result.gap)}",
            soft_wrap=True,
        )

    def _write(self, text: str, **layout: Any) -> None:
        self._console.print(text, markup=False, highlight=False, emoji=False, **layout)

    def _erase(self) -> None:
        from rich.control import Control
        from rich.segment import ControlType

        self._console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))

    def _text(self, current: Round) -> str:
        parts = [
            f"{self.label}round {current.number}",
            f"{current.columns} columns",
            f"objective {current.objective:.6g}",
            f"gap {_gap(current.gap)}",
            *(f"{name.replace('_', ' ')} {score:.4g}" for name, score in current.scores.items()),
            f"{current.evaluated} evaluated",
            f"{current.seconds:.1f} s",
        ]
        return "  ".join(parts)


def _gap(gap: float) -> str:
    return f"{gap:.1e}" if np.isfinite(gap) else "unknown"
