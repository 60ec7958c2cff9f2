"""Fit loop: the subproblems of a fit and their results.

What a fitted model keeps of a run: arrays and hypotheses, never a solver or a Gram matrix.

The runs of the loop that a fit asks for: one after the other, all of them or none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cgboost.estimators.common.subproblems import Task
from cgboost.generation.columns import PREDICTION_BLOCK, Ensemble, evaluate
from cgboost.generation.history import Result, Round, StopReason
from cgboost.generation.loop import Callback, ColumnGeneration

Vector = NDArray[np.float64]

Table = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class FittedOutput:
    """One output of a model, cut loose from the training data.

    Attributes
    ----------
    hypotheses : list of Hypothesis
        The columns that add to it, in order of generation.
    strata : ndarray of str, shape (n_hypotheses,)
    path : list of (coef, intercept)
        Coefficients after every round of the run up to the best one, which makes the model.
    """

    hypotheses: list[Any]
    strata: NDArray[np.str_]
    path: list[tuple[Vector, float]]

    @classmethod
    def of(cls, result: Result, number: int) -> FittedOutput:
        """The part of a result that adds to the output of this number."""
        parts = [
            (j, hypothesis)
            for j, column in enumerate(result.columns)
            for output, hypothesis in column.parts
            if output == number
        ]
        mine = np.array([j for j, _ in parts], dtype=np.intp)
        path = result.path[: result.best_round + 1]
        return cls(
            hypotheses=[hypothesis for _, hypothesis in parts],
            strata=np.array([result.columns[j].stratum for j in mine], dtype=str),
            path=[
                (coef[mine[mine < len(coef)]], float(np.atleast_1d(b)[number if np.ndim(b) else 0]))
                for coef, b in path
            ],
        )

    @property
    def coef(self) -> Vector:
        """Coefficients of the model, shape (n_hypotheses,)."""
        return self.path[-1][0]

    @property
    def intercept(self) -> float:
        """Offset of the model."""
        return self.path[-1][1]

    @property
    def rounds(self) -> NDArray[np.intp]:
        """The round that generated each hypothesis, shape (n_hypotheses,)."""
        sizes = [len(earlier) for earlier, _ in self.path]
        return np.searchsorted(sizes, np.arange(len(self.hypotheses)), side="right")

    @property
    def active(self) -> list[Any]:
        """The hypotheses with a nonzero coefficient."""
        return [self.hypotheses[j] for j in np.flatnonzero(self.coef)]

    def values(self, X: Any) -> Vector:
        """The output on the rows of X, shape (n_rows,)."""
        return Ensemble(self.hypotheses, self.coef, self.intercept).decision_function(X)

    def staged_values(self, X: Any) -> Vector:
        """The output after every round up to the best one, shape (n_stages, n_rows)."""
        stages = np.zeros((len(self.hypotheses), len(self.path)))
        for stage, (coef, _) in enumerate(self.path):
            stages[: len(coef), stage] = coef
        values = np.empty((len(self.path), X.shape[0]))
        values[:] = np.array([intercept for _, intercept in self.path])[:, None]
        step = max(1, PREDICTION_BLOCK // max(1, len(self.hypotheses)))
        for start in range(0, X.shape[0], step):
            block = slice(start, start + step)
            values[:, block] += (evaluate(self.hypotheses, X[block]) @ stages).T
        return values


@dataclass(frozen=True)
class FittedRun:
    """One finished run of the loop: the outputs it made and what is known of them.

    Attributes
    ----------
    outputs : list of FittedOutput
    objective, bound, gap : float
        At the best round; ``bound`` is −inf where nothing was certified.
    stop_reason, message : StopReason, str
        Why the loop stopped, and the same in words.
    best_round : int
    history : dict of str to ndarray
        One entry per round, also those after the best one.
    level : float
        What the loss chose itself, ε or −ρ; nan where it chooses nothing.
    """

    outputs: list[FittedOutput]
    objective: float
    bound: float
    gap: float
    stop_reason: StopReason
    message: str
    best_round: int
    history: Table
    level: float

    @classmethod
    def of(cls, result: Result, task: Task) -> FittedRun:
        """Keep the hypotheses and numbers of a result, not its columns."""
        return cls(
            outputs=[FittedOutput.of(result, number) for number in range(task.n_outputs)],
            objective=result.objective,
            bound=-np.inf if result.bound is None else result.bound,
            gap=result.gap,
            stop_reason=result.stop_reason,
            message=result.message,
            best_round=result.best_round,
            history=result.history,
            level=np.nan if task.level is None else task.level(result.output),
        )

    @property
    def is_trivial(self) -> bool:
        """Whether no column is in the model."""
        return not any(output.coef.any() for output in self.outputs)


def stacked(tables: Sequence[Table], labels: NDArray[Any] | None) -> Table:
    """Tables below each other; ``labels``, one a table, become the column ``class``."""
    if labels is not None:
        sizes = [len(next(iter(table.values()))) for table in tables]
        tables = [
            table | {"class": np.repeat(labels[k : k + 1], size)}
            for k, (table, size) in enumerate(zip(tables, sizes, strict=True))
        ]
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def run_all(
    tasks: Iterable[Task],
    callbacks: Sequence[Sequence[Callback]],
    limits: Mapping[str, Any],
    deadline: float | None,
) -> list[FittedRun]:
    """One run of the loop per task; after Ctrl-C those that follow stay at round 0.

    Parameters
    ----------
    tasks : iterable of Task
        Each is made when its turn has come.
    callbacks : sequence of sequences of callables
        For each task, after its own.
    limits : mapping of str to number
        Arguments of the loop that limit every run.
    deadline : float or None
        On the clock of ``time.perf_counter``; runs share the time that is left evenly.

    Raises
    ------
    Exception
        What a master or pricer has raised before its run had a round with columns: there is no
        model without a part of each run.
    KeyboardInterrupt
        If Ctrl-C came before the first round of the first run was complete.
    """
    runs: list[FittedRun] = []
    interrupted = False
    for k, task in enumerate(tasks):
        loop = ColumnGeneration(
            task.master,
            task.pricer,
            columns_per_round=task.columns_per_round,
            time_limit=_share_of_time(deadline, runs_left=len(callbacks) - k),
            callbacks=(_Interruption(),) if interrupted else (*task.callbacks, *callbacks[k]),
            **({"max_rounds": task.max_rounds} | dict(limits)),
        )
        try:
            result = loop.run()
        except KeyboardInterrupt:  # before even this run's first round was complete
            if not runs:
                raise
            interrupted, loop.callbacks = True, (_Interruption(),)
            result = loop.run()
        interrupted = interrupted or result.stop_reason is StopReason.INTERRUPTED
        runs.append(FittedRun.of(result, task))
    return runs


def with_shared(
    runs: Sequence[FittedRun], sharing: Callable[[list[Any]], list[Any]]
) -> list[FittedRun]:
    """The runs with hypotheses that ``sharing`` has gone over, those of all runs at once."""
    outputs = [output for run in runs for output in run.outputs]
    shared = iter(sharing([h for output in outputs for h in output.hypotheses]))
    return [
        replace(
            run,
            outputs=[
                replace(output, hypotheses=[next(shared) for _ in output.hypotheses])
                for output in run.outputs
            ],
        )
        for run in runs
    ]


@contextmanager
def unchanged_on_failure(estimator: BaseEstimator) -> Iterator[None]:
    """Give an estimator its attributes back if anything goes wrong inside."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def _share_of_time(deadline: float | None, *, runs_left: int) -> float | None:
    if deadline is None:
        return None
    return max(0.0, deadline - time.perf_counter()) / runs_left


class _Interruption:
    """A callback that ends a run at once, for the runs that follow a Ctrl-C."""

    stop_reason = StopReason.INTERRUPTED

    def __call__(self, turn: Round) -> bool:
        return True
