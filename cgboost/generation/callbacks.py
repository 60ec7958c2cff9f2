"""Callbacks of the loop: validation scores, early stopping; progress is in progress.py.

A callback is a :class:`Callback`, or any callable that takes a :class:`~cgboost.generation.Round`.
It can read the round's numbers and its full state and write to ``round.scores``; it stops the loop
by returning a true value. Callbacks run in order: place a monitor before callbacks that read its
score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.generation.columns import Column, evaluate
from cgboost.generation.history import Result, Round, StopReason
from cgboost.generation.protocols import with_defaults
from cgboost.generation.termination import blaming

Score = Callable[[Any, Vector], float]


def error_rate(labels: Vector, output: Vector) -> float:
    """Share of rows whose output gives a class different from their label ±1.

    One output is classified by its sign (0 counts as −1). With one output per class, the largest
    determines the class; labels and output then have the shape (n_rows, n_classes).
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


class Callback:
    """What a run of the loop, and a search of a tree, tell while they last.

    A subclass has those of these methods that it needs; a function of a
    :class:`~cgboost.generation.Round` is a callback as well.

    Attributes
    ----------
    stop_reason : StopReason
        Why the run ends, where the callback stops it.
    best_round : int or None
        The round whose model is returned; None leaves the choice to others.
    """

    stop_reason: StopReason = StopReason.CALLBACK
    best_round: int | None = None

    def begin_fit(
        self, fingerprint: str, *, functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        """A fit of several runs begins, with names for functions that the estimator holds."""

    def begin(self, fingerprint: str) -> None:
        """A run begins, of data with this fingerprint; for callbacks that keep records."""

    def __call__(self, current: Any) -> Any:
        """A round, or a node, is done; a true value stops the run."""

    def waiting(self, state: Any) -> Any:
        """A round of a node of a tree is done, which may have many; a true value stops the run."""

    def save(self, record: Callable[[], Any], *, ended: bool) -> None:
        """A round, or a node, is complete, or all has ended; ``record()`` is where to go on.

        Records are kept for callbacks with both this method and :meth:`begin`.
        """

    def finish(self, result: Any) -> None:
        """The end, once, where there is a result."""

    def close(self) -> None:
        """Every end, exceptions among them: what is held, such as a terminal, is released."""

    def end_fit(self) -> None:
        """The runs that follow are no part of the fit."""


def as_callback(given: Callable[..., Any]) -> Callback:
    """A callback; a function, or an object with some of its members, as one."""
    return given if isinstance(given, Callback) else with_defaults(given, Callback())


def keeps_records(callback: Callback) -> bool:
    """Whether a callback takes records, which are work: it has both ``begin`` and ``save``."""
    own = [getattr(getattr(callback, name), "__func__", None) for name in ("begin", "save")]
    return own[0] is not Callback.begin and own[1] is not Callback.save


class ValidationMonitor(Callback):
    """Score the model on held-out rows after every round.

    Each generated column is evaluated on these rows once; a round then costs one matrix-vector
    product. An exception of a column here ends the run as ``pricer_failed``.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
    scores : mapping of str to callable
        ``score(y, output) -> float`` for an output of the shape of y; written to
        ``round.scores["validation_" + name]``.
    name : str, default="validation"
        Prefix of the names of the scores.
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
        """Score the returned round again, as a crossover may have changed its coefficients."""
        for name, score in self._scored(result.coef, result.intercept).items():
            result.history[name][result.best_round] = score

    def _scored(self, coef: Vector, intercept: float | Vector) -> dict[str, float]:
        """Scores of the model with these coefficients of the first columns."""
        parts = np.searchsorted(self._owner, len(coef))
        spread = coef[self._owner[:parts]]
        active = np.flatnonzero(spread)
        weights = np.zeros((len(active), math.prod(self.y.shape[1:])))
        weights[np.arange(len(active)), np.array(self._output, dtype=int)[active]] = spread[active]
        return self.scored((self._values[:, active] @ weights + intercept).reshape(self.y.shape))

    def scored(self, output: Vector) -> dict[str, float]:
        """The scores of an output on these rows, under their names in a history."""
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


class EarlyStopping(Callback):
    """Stop when a score has not improved for some rounds, and return its best round.

    Parameters
    ----------
    metric : str
        Name in ``round.scores``.
    patience : int, default=10
        Rounds without improvement before stopping; rounds whose model has no columns do not count.
    min_delta : float, default=0.0
        Smallest change that counts as an improvement.
    greater_is_better : bool, default=False
        Whether the score increases as the model improves; errors decrease.
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
