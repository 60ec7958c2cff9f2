"""The runs of the loop that a fit needs: one after the other, all of them or none.

A target with one number a row asks for one output. A target with several, ±1 and 1 for the row's
class alone, asks for all of them in one run, whose master has a row for each pair of a training row
and another class (:mod:`cgboost.pricing.learners.joint`).
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

from cgboost.estimators.common.result import FittedRun
from cgboost.estimators.common.rows import Vector
from cgboost.generation.history import Round, StopReason
from cgboost.generation.loop import Callback, ColumnGeneration
from cgboost.generation.protocols import Master, Pricer
from cgboost.pricing import JointPricer, Pairs


@dataclass(frozen=True)
class Task:
    """One run of the loop.

    Attributes
    ----------
    master, pricer : Master, Pricer
    n_outputs : int
        Outputs of the model that the run makes.
    columns_per_round : int
    level : callable or None
        What the loss has chosen itself (ε or −ρ) for an output on the master's rows.
    callbacks : sequence of callables
        They see every round before the callbacks of the estimator do.
    max_rounds : int or None
        Where the data limit the rounds, and not a parameter alone.
    """

    master: Master
    pricer: Pricer
    n_outputs: int = 1
    columns_per_round: int = 1
    level: Callable[[Vector], float] | None = None
    callbacks: Sequence[Callback] = ()
    max_rounds: int | None = None


@dataclass(frozen=True)
class Problem:
    """One output; the master has the training rows.

    Attributes
    ----------
    target, weights : ndarray of shape (n_master_rows,)
    """

    target: Vector
    weights: Vector
    n_outputs: int = 1

    def pricer(self, make: Callable[[], Pricer]) -> Pricer:
        """The run's pricer, from a maker of pricers on the training rows."""
        return make()


@dataclass(frozen=True, kw_only=True)
class JointProblem(Problem):
    """An output for each class; the master has pairs of rows and other classes.

    Attributes
    ----------
    pairs : Pairs
    names : sequence
        What the classes are called.
    """

    pairs: Pairs
    names: Any

    def pricer(self, make: Callable[[], Pricer]) -> Pricer:
        """One pricer a class, merged."""
        pricers = [make() for _ in range(self.n_outputs)]
        return JointPricer(self.pairs, pricers, names=self.names)


def problem_of(target: Vector, weights: Vector, names: NDArray[Any] | None) -> Problem:
    """The problem that a target asks for: one output, or one for each of its columns."""
    if target.ndim == 1:
        return Problem(target, weights)
    n_outputs = target.shape[1]
    pairs = Pairs(target.argmax(axis=1), n_outputs)
    return JointProblem(
        np.ones(len(pairs)), weights[pairs.row], n_outputs, pairs=pairs, names=names
    )


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
