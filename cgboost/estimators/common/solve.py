"""The runs of a fit: the loop of column generation for each subproblem of a plan."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.plan import Plan
from cgboost.generation.callbacks import Callback
from cgboost.generation.history import Round, StopReason
from cgboost.generation.loop import ColumnGeneration
from cgboost.generation.resuming import RunRecord

Callbacks = Sequence[Callable[[Round], Any]]


def no_callbacks(run: int) -> Callbacks:
    """Of a run that nobody watches."""
    return ()


@dataclass(frozen=True)
class Watch:
    """Who watches the runs, how they are called, and when their time is over.

    Attributes
    ----------
    callbacks : callable
        Those of a run, by its number.
    prefix : str
        What a fit inside of a fit is called.
    verbose : int
        1 shows a line of progress, 2 every round.
    deadline : float or None
        On the clock of ``time.perf_counter``; runs share the time that is left evenly.
    """

    callbacks: Callable[[int], Callbacks] = no_callbacks
    prefix: str = ""
    verbose: int = 0
    deadline: float | None = None

    def label(self, run: str) -> str:
        """What lines of progress begin with, for a run of this name."""
        return ", ".join(part for part in (self.prefix, run) if part)

    def seconds(self, n_runs: int) -> float | None:
        """A run's share of the time that is left for this number of runs."""
        if self.deadline is None:
            return None
        return max(0.0, self.deadline - time.perf_counter()) / n_runs


def solve(plan: Plan, watch: Watch, records: Iterator[RunRecord] | None = None) -> list[FittedRun]:
    """One run of the loop per subproblem; after Ctrl-C those that follow stay at round 0.

    Parameters
    ----------
    plan : Plan
    watch : Watch
    records : iterator of RunRecord or None
        Of runs that a checkpoint has, which go on from there.

    Raises
    ------
    Exception
        What a master or pricer has raised before its run had a round with columns: there is no
        model without a part of each run.
    KeyboardInterrupt
        If Ctrl-C came before the first round of the first run was complete.
    """
    records = iter(()) if records is None else records
    runs: list[FittedRun] = []
    kind, interrupted = plan.target_kind, False
    for task in plan.subproblems():  # enumerate() would keep the last one
        k = len(runs)
        loop = ColumnGeneration(
            task.master,
            task.pricer,
            columns_per_round=task.columns_per_round,
            callbacks=(
                (Interruption(),) if interrupted else (*task.callbacks, *watch.callbacks(k))
            ),
            time_limit=watch.seconds(kind.n_runs - k),
            verbose=0 if interrupted else watch.verbose,
            label=watch.label(kind.label(k)),
            **plan.stop.of(task),
        )
        try:
            result = loop.run(resume=None if interrupted else next(records, None))
        except KeyboardInterrupt:  # before even this run's first round was complete
            if not runs:
                raise
            interrupted, loop.callbacks = True, (Interruption(),)
            result = loop.run()
        interrupted = interrupted or result.stop_reason is StopReason.INTERRUPTED
        runs.append(FittedRun.of(result, task.master, task.n_outputs, task.level_of))
        del task, loop, result  # what masters hold goes before there is another one
    outputs = [output for run in runs for output in run.outputs]
    shared = iter(plan.shared([h for output in outputs for h in output.hypotheses]))
    for output in outputs:
        output.hypotheses[:] = islice(shared, len(output.hypotheses))
    return runs


class Interruption(Callback):
    """A callback that ends a run at once, for the runs that follow a Ctrl-C."""

    stop_reason = StopReason.INTERRUPTED

    def __call__(self, current: Round) -> bool:
        """Stop."""
        return True
