"""A fit as data, the runs that solve it, and how they go on from a checkpoint.

A plan says what is asked for, before the loop runs; :func:`solve` makes a run of the loop of each
of its tasks. With ``fit(X, y, resume="fit.ckpt")`` these go on with the runs of a checkpoint:
a :class:`cgboost.Checkpoint` among the callbacks of a fit keeps the record of each of its runs
(:mod:`cgboost.generation.resuming`) in a file (:mod:`cgboost.persistence.checkpoint`), with a mark:
hashes of the data and of the parameters that must not differ.
"""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import joblib
import numpy as np

from cgboost.above import is_storable, read_records
from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.targets import TargetKind
from cgboost.exceptions import ResumeError
from cgboost.generation.callbacks import Callback, as_callback, keeps_records
from cgboost.generation.history import Round, StopReason
from cgboost.generation.loop import ColumnGeneration
from cgboost.generation.protocols import Master, Pricer
from cgboost.generation.resuming import RunRecord, fingerprint
from cgboost.tables.frames import frame_of, is_frame


@dataclass(frozen=True)
class RunTask:
    """One run of the loop that is to be made: a :class:`FittedRun` comes of it.

    Attributes
    ----------
    n_outputs : int
        Outputs of the model that the run makes.
    level_of : callable or None
        What the loss has chosen itself (ε or −ρ), from an output on the master's rows.
    callbacks : sequence of callables
        They see every round before the callbacks of the estimator do.
    max_rounds : int or None
        Where the data limit the rounds, and not a parameter alone.
    max_columns : int or None
        Where the family limits the columns, and not the parameter alone.
    """

    master: Master
    pricer: Pricer
    n_outputs: int = 1
    columns_per_round: int = 1
    level_of: Callable[[Vector], float] | None = None
    callbacks: Sequence[Callable[[Round], Any]] = ()
    max_rounds: int | None = None
    max_columns: int | None = None


@dataclass(frozen=True)
class StopRule:
    """When the runs of a fit end, besides the time.

    Attributes
    ----------
    tol : float
        Relative gap; 0 for runs without a certificate.
    """

    tol: float = 0.0
    max_columns: int | None = None
    max_rounds: int | None = None

    def of(self, task: RunTask) -> dict[str, Any]:
        """Arguments of the loop for one run: these limits, and what its data allow."""
        limits: dict[str, Any] = {"tol": self.tol, "max_columns": self.max_columns}
        limits["max_rounds"] = task.max_rounds if self.max_rounds is None else self.max_rounds
        most = task.max_columns
        if most is not None and (self.max_columns is None or self.max_columns > most):
            limits |= {"max_columns": most, "columns_reason": StopReason.COLUMN_LIMIT}
        return limits


@dataclass(frozen=True)
class Plan(ABC):
    """What a fit asks for.

    Attributes
    ----------
    target_kind : TargetKind
        What y is.
    pool : object
        What the runs share to make columns.
    """

    target_kind: TargetKind
    stop: StopRule
    pool: Any = field(repr=False)

    @abstractmethod
    def tasks(self, watch: Watch) -> Iterator[RunTask]:
        """Master and pricer of one run after the other.

        The matrices of a run go before there are those of the next. What is solved to prepare a run
        counts against the deadline of ``watch``, as the run does.
        """

    def shared(self, functions: list[Any]) -> list[Any]:
        """The basis functions of all runs, with what they have in common kept once."""
        return functions


@dataclass(frozen=True)
class Rounds(Plan):
    """A number of rounds of masters and pricers that an estimator makes itself."""

    make_tasks: Callable[[], Iterator[RunTask]] = field(repr=False)

    def tasks(self, watch: Watch) -> Iterator[RunTask]:
        """Master and pricer of one run after the other."""
        return self.make_tasks()


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
    """One run of the loop per task; after Ctrl-C those that follow stay at round 0.

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
    for task in plan.tasks(watch):  # enumerate() would keep the last one
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


LIMITS = frozenset(
    [
        "callbacks",
        "cache_size",
        "columns_per_round",
        "executor",
        "max_columns",
        "max_iter",
        "n_components",
        "n_estimators",
        "n_iter_no_change",
        "n_jobs",
        "time_limit",
        "tol",
        "verbose",
    ]
)
"""Parameters that may change between a fit and the one that goes on with it."""


@contextmanager
def records_of(estimator: Any, data: Sequence[Any], path: Any) -> Iterator[Iterator[RunRecord]]:
    """Have checkpoints record the runs of a fit; yields the runs of a file, which these go on from.

    Parameters
    ----------
    data : sequence
        What the fit was given.
    path : str, path or None
    """
    kept = [c for c in map(as_callback, estimator.callbacks or ()) if keeps_records(c)]
    if path is None and not kept:
        yield iter(())
        return
    if any(part is not None and not _is_data(part) for part in data[:3]):
        raise ResumeError("a fit of a source of rows, as a database, cannot be resumed")
    mark = _mark(estimator, data)
    functions = _own_functions(estimator)
    records = [] if path is None else read_records(path, mark, kept, functions)
    for checkpoint in kept:
        checkpoint.begin_fit(mark, functions=functions)
    try:
        yield iter(records)
    finally:
        for checkpoint in kept:
            checkpoint.end_fit()


def _mark(estimator: Any, data: Sequence[Any]) -> str:
    """Hashes of the data and of each parameter that is no limit, by their names."""
    parts = dict(zip(("X", "y", "sample_weight", "eval_set"), map(_hashed, data), strict=False))
    for name, value in sorted(estimator.get_params(deep=False).items()):
        if name not in LIMITS:
            parts[name] = _parameter_hash(value)
    parts["class"] = type(estimator).__name__
    return ";".join(f"{name}={mark}" for name, mark in parts.items())


def _hashed(part: Any) -> str:
    """The same for the same values, however they lie in memory."""
    if part is None or hasattr(part, "tocsr"):
        return str(joblib.hash(None if part is None else part.tocsr()))
    if is_frame(part):
        columns = [*frame_of(part).iter_columns()]
        return str(joblib.hash([(str(own.name), _hashed(own.to_numpy())) for own in columns]))
    if isinstance(part, dict) or (isinstance(part, tuple) and part and np.ndim(part[0]) > 0):
        items = part.items() if isinstance(part, dict) else enumerate(part)
        return str(joblib.hash([(str(name), _hashed(own)) for name, own in items]))
    try:
        values = np.asarray(part)
    except ValueError:  # of rows that are not alike
        return str(joblib.hash(part))
    if values.dtype.kind in "iub":
        values = values.astype(np.int64)
    return str(joblib.hash(np.ascontiguousarray(values)))


def _parameter_hash(value: Any) -> str:
    """Of the state of a RandomState, of arrays, else of what the repr says."""
    if isinstance(value, np.random.RandomState):
        return fingerprint(repr(value.get_state()))
    if isinstance(value, np.random.Generator):
        return fingerprint(repr(value.bit_generator.state))
    if isinstance(value, np.ndarray):
        return _hashed(value)
    return fingerprint(re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value)))


def _own_functions(estimator: Any) -> dict[str, Any]:
    """Functions and classes of the user's in the library of kernels, by the kernels' names."""
    library = getattr(estimator, "library", None)
    kernels = getattr(library, "kernels", library)
    named = kernels.items() if isinstance(kernels, dict) else ()
    own = {name: one for name, one in named if callable(one) and not hasattr(one, "fit")}
    types_of = {type(one).__name__: type(one) for name, one in named if name not in own}
    return own | {name: kind for name, kind in types_of.items() if not is_storable(kind)}


def _is_data(part: Any) -> bool:
    """Whether it is what a hash can be made of."""
    return isinstance(part, (list, tuple)) or hasattr(part, "shape")
