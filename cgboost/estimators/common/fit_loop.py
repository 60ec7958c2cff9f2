"""The runs of the loop that a fit asks for: one after the other, all of them or none."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator

from cgboost.estimators.common.result import FittedRun
from cgboost.estimators.common.subproblems import Task
from cgboost.generation.history import Round, StopReason
from cgboost.generation.loop import Callback, ColumnGeneration


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
