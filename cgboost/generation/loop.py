"""The loop: a restricted master gives duals and a pricer finds columns, until a certificate holds.

This file uses only the protocols: no solver, no kernel, no loss. A method is a pair of
:class:`~cgboost.generation.Master` and :class:`~cgboost.generation.Pricer`; everything else
(validation, early stopping, progress) is a callback that sees each
:class:`~cgboost.generation.Round`.

Bi, Zhang, Bennett (KDD 2004), section 3; the scheme goes back to Gilmore and Gomory (1961).
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, cast

import numpy as np

from cgboost.above import read_records
from cgboost.arrays import Vector
from cgboost.exceptions import CGBoostError, MasterError, ResumeError
from cgboost.generation.callbacks import Callback, as_callback, keeps_records
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import FunctionPricer, PriceFunction
from cgboost.generation.history import Result, Round, StopReason, Trace
from cgboost.generation.protocols import (
    Abilities,
    Master,
    MasterState,
    Priced,
    Pricer,
    TimedPricer,
    with_defaults,
)
from cgboost.generation.resuming import (
    RunRecord,
    check_resumable,
    fingerprint_of,
    not_held,
    recalled,
    record_of,
    remembered,
    replayed,
    restored_trace,
    round_of,
    take_first,
    time_used,
)
from cgboost.generation.rounding import rounding_of
from cgboost.generation.stabilization import NoSmoothing, Smoothing
from cgboost.generation.termination import (
    MAY_GO_ON,
    ON_REQUEST,
    RunError,
    RunLimits,
    Stop,
    blaming,
    check_bound,
    conclusion,
    crossing,
    described,
    no_progress,
)

logger = logging.getLogger(__name__)


SOLVED_SHARE = 0.1
"""Restricted problems need not be solved better than to this share of the tolerance."""

VERTEX_COST = 1e-10
"""A vertex may cost so much more than the point inside the face, relative to the scale of the gap.
Both are optimal up to rounding, which must not decide between them."""

OVERTIME = 0.1
"""A crossover may take this share of the time limit, beyond it."""


class ColumnGeneration:
    """Column generation for any master and pricer.

    Parameters
    ----------
    master : Master
    pricer : Pricer or callable
        A function ``price(duals)`` is wrapped in a :class:`~cgboost.generation.FunctionPricer`.
    tol : float, default=1e-4
        Stop when the certified relative duality gap is at most this.
    columns_per_round : int or None, default=None
        Maximum number of columns taken from one pricing pass. None: as the master says, 20 or
        more for a :class:`~cgboost.masters.LinearMaster` and 1 for those that say nothing. With 1
        every restricted problem is solved to its optimum; with more it need not be.
    max_columns : int or None
        Maximum number of columns in the master; the last pass adds only as many as fit.
    columns_reason : StopReason, default="max_columns"
        The stop reason at ``max_columns``: "column_limit" if the limit was not set by the user.
    max_rounds : int or None
        Maximum number of rounds; the first has only the initial columns of the master.
    time_limit : float or None
        Seconds for the whole run, including those of earlier runs if it is resumed.
    callbacks : sequence of Callback or callable
        Each is called with every :class:`Round`, in order; a true return value stops the loop.
    smoothing : Smoothing, default=NoSmoothing()
        Where to price; see :mod:`cgboost.generation.stabilization`.
    start_duals : ndarray of shape (n_rows,), optional
        Duals near the optimal ones, used as the starting point of the smoothing.
    verbose : {0, 1, 2}, default=0
        1 shows a live line on the standard error stream or in a notebook (lines every two seconds
        where there is no terminal), and how the run ended; 2 also writes a line for every round.
    label : str, default=""
        What these lines begin with.
    """

    def __init__(
        self,
        master: Master,
        pricer: Pricer | PriceFunction,
        *,
        tol: float = 1e-4,
        columns_per_round: int | None = None,
        max_columns: int | None = None,
        columns_reason: StopReason = StopReason.MAX_COLUMNS,
        max_rounds: int | None = None,
        time_limit: float | None = None,
        callbacks: Sequence[Callable[[Round], Any]] = (),
        smoothing: Smoothing | None = None,
        start_duals: Vector | None = None,
        verbose: int = 0,
        label: str = "",
    ) -> None:
        for name, count in (
            ("columns_per_round", columns_per_round),
            ("max_columns", max_columns),
            ("max_rounds", max_rounds),
        ):
            if count is not None and (not isinstance(count, Integral) or count < 1):
                raise ValueError(f"{name} must be a whole number ≥ 1, got {count!r}")
        if not tol >= 0:
            raise ValueError(f"tol must be at least 0, got {tol!r}")
        if time_limit is not None and not time_limit >= 0:
            raise ValueError(f"time_limit must be at least 0 seconds or None, got {time_limit!r}")
        if not isinstance(verbose, (int, np.integer)) or verbose < 0:
            raise ValueError(f"verbose must be 0, 1 or 2, got {verbose!r}")
        if callable(callbacks) or not isinstance(callbacks, Iterable):
            raise TypeError(f"callbacks must be a sequence of callables, got {callbacks!r}")
        callbacks = tuple(callbacks)
        for callback in callbacks:
            if not callable(callback):
                raise TypeError(f"a callback must be callable with a Round, got {callback!r}")
        needs = "add", "solve", "bound"
        if missing := [name for name in needs if not callable(getattr(master, name, None))]:
            raise TypeError(
                f"a master needs the methods {', '.join(needs)}; {master!r} lacks "
                f"{' and '.join(missing)}"
            )
        if isinstance(smoothing, type):
            raise TypeError(f"smoothing must be an object such as {smoothing.__name__}()")
        self.master = master
        self._able = with_defaults(master, Abilities())
        self._adjusts = hasattr(master, "columns") and hasattr(master, "accuracy")
        # by name: asking a protocol takes as long as a round of a small problem
        asked = pricer if hasattr(pricer, "price") else FunctionPricer(pricer)
        self.pricer = cast(Pricer, asked)
        timed = hasattr(asked, "seconds_left")
        self._timed = cast(TimedPricer, asked) if timed else None
        self.tol = tol
        self.columns_per_round = columns_per_round or self._able.columns_per_round
        self.max_columns, self.columns_reason = max_columns, columns_reason
        self.max_rounds = max_rounds
        self.time_limit = time_limit
        shown = (self._reporter(int(verbose), label),) if verbose else ()
        self.callbacks: tuple[Callback, ...] = (*map(as_callback, callbacks), *shown)
        self.smoothing = NoSmoothing() if smoothing is None else smoothing
        self.start_duals = start_duals
        self._offered: list[Column] = []
        self._shape: tuple[int, ...] = ()
        self._remembered: tuple[Any, dict[str, Any]] = None, {}

    @property
    def limits(self) -> RunLimits:
        """How far a run may go."""
        return RunLimits(self.max_columns, self.max_rounds, self.time_limit, self.columns_reason)

    def _reporter(self, verbose: int, label: str) -> Callback:
        """The line that shows how the run gets on."""
        from cgboost.generation.progress import ProgressLine

        return ProgressLine(
            f"{label}: " if label else "",
            tol=self.tol,
            max_columns=self.max_columns,
            max_rounds=self.max_rounds,
            time_limit=self.time_limit,
            every_round=verbose > 1,
        )

    @property
    def _saving(self) -> list[Callback]:
        """The callbacks that keep records."""
        return [callback for callback in self.callbacks if keeps_records(callback)]

    def run(self, *, resume: RunRecord | str | os.PathLike[str] | None = None) -> Result:
        """Generate columns until one of the stopping rules holds.

        An exception of the master or the pricer ends the run and is kept in ``Result.error``, with
        the last good round as the result. If that round uses no columns, the exception is raised.

        Parameters
        ----------
        resume : str, path, RunRecord or None
            The file of a :class:`cgboost.Checkpoint`. Master and pricer are new, with the same
            data; limits may differ. Callbacks are called again for the earlier rounds.
            ``time_limit`` includes the seconds of the earlier runs: with a limit that these have
            reached, the run ends at once.

        Raises
        ------
        Exception
            An exception of the master or the pricer before a round with columns was complete, or
            one that shows that bounds are wrong; a failure of a solver is a :class:`MasterError`.
        """
        saving = self._saving
        record: Any = resume
        if saving or resume is not None:
            check_resumable(self.pricer)
            mark = fingerprint_of(self.master, self.pricer)
            for saver in saving:
                saver.begin(mark)
            if record is not None and not isinstance(record, RunRecord):
                (record,) = read_records(record, mark, self.callbacks)
            if record is not None and not isinstance(record, RunRecord):
                raise ResumeError(
                    f"the checkpoint {str(resume)!r} is of a tree search, and not of a run of the "
                    "loop: resume it with BranchAndPrice(...).run(resume=...)"
                )
        try:
            return self._run(record)
        finally:
            for callback in self.callbacks:
                callback.close()

    def _run(self, resume: RunRecord | None) -> Result:
        trace = Trace(self.tol)
        if self._adjusts:
            trace.coming = len(self._able.columns)
        if self.start_duals is None:
            self.smoothing.start()
        else:
            self.smoothing.start(self.start_duals)
        error: Exception | None = None
        ended_before = False  # then the master has no columns, and the record has their vertex
        try:
            stop = None
            if resume is None:
                self._anticipate(trace)
            else:
                trace, stop = self._resumed(resume, trace)
                ended_before = stop is not None
            if self._saving:
                self._remembered = remembered(self.pricer, self.smoothing)
            while stop is None:
                stop = self._round(trace)
            reason, message = stop
        except KeyboardInterrupt:
            if not trace.entries:
                raise
            reason, message = StopReason.INTERRUPTED, "Ctrl-C; the last complete round is kept"
        except RunError as failure:
            error = failure.error
            timed_out = isinstance(error, MasterError) and error.timed_out
            reason = StopReason.TIME if timed_out else failure.reason
            message = f"{described(error)}; the last good round is kept"
            useful = trace.entries and (timed_out or trace.path[self._best_round(trace)][0].any())
            if not useful or (isinstance(error, CGBoostError) and error.refutes_bounds):
                raise error from error.__cause__
        logger.info("stopped after %d rounds: %s (%s)", len(trace.entries), reason, message)
        number = self._best_round(trace)
        if error is None and reason is not StopReason.INTERRUPTED and not ended_before:
            self._cross_over(trace, number)
        self._save(trace, (reason, message))
        result = trace.result(number, reason, message, error)
        if resume is not None and reason is StopReason.TIME:
            result = replace(result, message=message + time_used(resume.seconds, self.time_limit))
        if words := crossing(result):
            logger.warning("%s", words.removeprefix("; "))
            result = replace(result, message=result.message + words)
        for callback in self.callbacks:
            callback.finish(result)
        return result

    def _anticipate(self, trace: Trace) -> None:
        """Columns for the first round, where the solution of a neighbour shows some."""
        with blaming(StopReason.MASTER_FAILED):
            state = self._able.anticipated()
        if state is None:
            return
        trace.hold(state.columns)
        limit = self.limits.room(state.n_held, self.columns_per_round)
        with blaming(StopReason.PRICER_FAILED):
            fresh = trace.fresh(self.pricer.price(state, limit).columns)
        with blaming(StopReason.MASTER_FAILED):
            self.master.add(fresh)
        trace.coming = state.n_held + len(fresh)

    def _round(self, trace: Trace) -> Stop | None:
        """One round; its state, which is as long as the rows are many, ends with it."""
        # 1. the restricted master: coefficients of the columns so far, and duals
        clock, limits = time.perf_counter(), self.limits
        self._aim(len(trace.entries), trace.coming, trace.best_bound)
        with blaming(StopReason.MASTER_FAILED):
            left = trace.seconds_left(self.time_limit, first=self._able.has_start)
            state = self.master.solve(time_limit=left)
            if not np.isfinite(state.pseudo_response).all() or np.isnan(state.objective):
                raise MasterError(
                    "the restricted master returned duals that are not finite, or no objective"
                )
        with blaming(StopReason.INVALID_BOUND):
            trusted, trace.best_bound = trace.best_bound, -np.inf  # forgotten if it is refuted
            check_bound(trusted, state)
            trace.best_bound = trusted
        solved = time.perf_counter()
        trace.hold(state.columns)
        self._shape = np.shape(state.output)
        # 2. pricing: the columns that help most, and a lower bound; all that a search may still do
        # in a last round is to prove something
        priced, bound = Priced(columns=()), None
        searched = self._able.proves or not limits.last(state.n_held, len(trace.entries))
        if searched:
            limit = limits.room(state.n_held, self.columns_per_round)
            priced, bound = self._price(trace, state, self.smoothing.points(state), limit)
        seconds = (solved - clock, time.perf_counter() - solved)
        # 3. the record of the round, for callbacks and the history
        current = trace.record(state, priced, bound, seconds)
        stopping = [callback for callback in self.callbacks if callback(current)]
        trace.keep(current)
        # 4. the end, or new columns for the master
        fresh = trace.fresh(priced.columns)
        held = 0 if priced.replaces else state.n_held
        if self.max_columns is not None:  # a pricer may return more than it was asked for
            fresh = fresh[: limits.room(held, len(fresh))]
        shown = None
        if searched or not state.bounded:
            shown = conclusion(current, priced, fresh, self.tol)
        limited = self._stop(current, stopping, priced)
        is_late = limited is not None and limited[0] is StopReason.TIME
        if is_late and shown is not None and shown[0] is StopReason.NO_COLUMN:
            shown = None  # what ran out of time has not shown that there is nothing
        stop = shown or limited or no_progress(current, trace.flat)
        if stop is not None:
            if searched and stop[0] in ON_REQUEST and not priced.exact:
                self._certify(trace, state)
            trace.rounding = rounding_of(state) / state.gap_scale
            return stop
        with blaming(StopReason.MASTER_FAILED):
            taking = self._able.replace if priced.replaces else None
            (taking or self.master.add)(fresh)
        trace.coming = held + len(fresh)
        self._offered = fresh
        self._save(trace, None)
        return None

    def _resumed(self, record: RunRecord, fresh: Trace) -> tuple[Trace, Stop | None]:
        """Go on from a record; the end, if it has come to one that other limits do not move."""
        stop, begun = record.stop, record.to_go_on
        self._shape = record.shape
        recalled(self.pricer, record)
        if stop is not None and (stop[0] in MAY_GO_ON or record.rows[-1]["gap"] > self.tol):
            stop = self._stop(round_of(record.rows[-1], None), [], Priced(()))
        for current in replayed(record if stop is not None else begun):
            stopping = [callback for callback in self.callbacks if callback(current)]
        if stop is None and begun is record and record.stop is not None:
            stop = self._stop(current, stopping, Priced(()))
        if stop is not None:
            return restored_trace(self.tol, record, time.perf_counter()), stop
        if not begun.rows:
            return fresh, None
        with blaming(StopReason.MASTER_FAILED):
            if self._able.take_up is not None and not self._is_cut_short:
                self._able.take_up(not_held(self.master, begun), *record.path[-1])
            else:
                self._walk_again(begun)
        vars(self.smoothing).update(begun.smoothing)
        return restored_trace(self.tol, begun, time.perf_counter()), None

    @property
    def _is_cut_short(self) -> bool:
        """Whether something other than its certificate may end the run: its model has a past."""
        chosen = any(callback.best_round is not None for callback in self.callbacks)
        return chosen or self.max_columns is not None or self.max_rounds is not None

    def _walk_again(self, record: RunRecord) -> None:
        """Solve every round of a record again, with the columns that were found then."""
        take_first(self.master, record)
        bound = -np.inf
        for number, (group, row) in enumerate(zip(record.groups, record.rows, strict=True)):
            self._aim(number, record.sizes[number], bound)
            self.master.solve()
            bound = -np.inf if np.isnan(row["bound"]) else row["bound"]
            self.master.add(group)

    def _save(self, trace: Trace, stop: Stop | None) -> None:
        """Offer the run to callbacks that keep it."""
        saving = self._saving
        if not (saving and trace.entries):
            return
        if stop is None:  # what is remembered later is of a round that is made again
            self._remembered = remembered(self.pricer, self.smoothing)
        for callback in saving:
            callback.save(partial(self._record, trace, stop), ended=stop is not None)

    def _record(self, trace: Trace, stop: Stop | None) -> RunRecord:
        offered = self._offered if trace.coming > len(trace.columns) else []
        columns = [*trace.columns, *offered]
        seconds = time.perf_counter() - trace.started
        record = record_of(trace, columns, self._remembered, seconds)
        return replace(record, stop=stop, shape=self._shape)

    def _aim(self, number: int, columns: int, bound: float) -> None:
        """Tell the master how well to solve the round of a number, with so many columns.

        Gaps decide how far to go where a search can prove something; but what none has yet proved,
        or is known to be the last round, should not depend on a coarse answer; a warm start is no
        more than a beginning.
        """
        if not self._adjusts:
            return
        rough = (number == 0 and columns > 0) or bound > -np.inf
        rough = rough and self.columns_per_round > 1 and not self.limits.last(columns, number)
        # of the master, if it has one
        self._able.accuracy = SOLVED_SHARE * self.tol if rough else 0.0

    def _price(
        self, trace: Trace, state: MasterState, points: Iterable[Vector], limit: int
    ) -> tuple[Priced, float | None]:
        """Price at one dual point after another until a column helps the master.

        Each bound belongs to the point that was priced; the best of them is returned.
        """
        best: float | None = None
        evaluated = 0
        for duals in points:
            at = _state_at(state, duals)
            if self._timed is not None:
                self._timed.seconds_left = self._seconds_left(trace)
            with blaming(StopReason.PRICER_FAILED):
                priced = self.pricer.price(at, limit)
                for column in priced.columns:
                    column.check(len(duals))
            bound = None
            if priced.exact:
                with blaming(StopReason.MASTER_FAILED):
                    where = duals if priced.response is None else priced.response
                    bound = self.master.bound(_state_at(at, where), priced)
                    if bound is not None:
                        check_bound(bound, state)
                        best = bound if best is None else max(best, bound)
            self.smoothing.learn(duals, bound)
            evaluated += priced.n_evaluated
            if duals is state.pseudo_response:
                break
            if any(state.prices_out(column) for column in trace.fresh(priced.columns)):
                break
        same = evaluated == priced.n_evaluated
        return priced if same else replace(priced, n_evaluated=evaluated), best

    def _seconds_left(self, trace: Trace) -> float | None:
        """What is left of the time limit."""
        if self.time_limit is None:
            return None
        return max(0.0, self.time_limit - (time.perf_counter() - trace.started))

    def _certify(self, trace: Trace, state: MasterState) -> None:
        """One exact pass at the last round, so that a run cut short still knows its gap."""
        priced, bound = self._price(trace, state, [state.pseudo_response], 0)
        if priced.exact:
            trace.certify(bound, priced.n_evaluated)

    def _cross_over(self, trace: Trace, number: int) -> None:
        """Move the round to be returned to a vertex, where the master's answers are none."""
        coef, intercept = trace.path[number]
        left = None if self.time_limit is None else OVERTIME * self.time_limit
        try:
            vertex = self._able.crossover(coef, intercept, time_limit=left)
        except MasterError as failure:
            logger.info("the coefficients stay as they are: %s", failure)
            return
        if vertex is None:
            return
        allowed = trace.entries[number]["objective"] + VERTEX_COST * trace.scales[number]
        if vertex.objective <= allowed:
            trace.move(number, vertex)

    def _stop(self, current: Round, stopping: list[Callback], priced: Priced) -> Stop | None:
        """The callback or the limit that ends the run with this round."""
        if stopping:
            return stopping[0].stop_reason, f"asked to stop after round {current.number}"
        limits = self.limits
        if priced.replaces:  # there is room for columns that take the place of all
            limits = replace(limits, max_columns=None)
        return limits.reached(current)

    def _best_round(self, trace: Trace) -> int:
        """What a callback names, if that round was completed; else that of lowest objective.

        The objective falls from round to round, unless the solver's answers are inexact. A master
        whose steps may go up says so (``descends = False``); its model is the last round.
        """
        for callback in self.callbacks:
            number = callback.best_round
            if number is not None and number < len(trace.entries):
                return int(number)
        if not self._able.descends:
            return len(trace.entries) - 1
        objectives = np.array([entry["objective"] for entry in trace.entries])
        lowest = objectives.min() + 1e-9 * trace.scales[int(objectives.argmin())]
        return int(np.flatnonzero(objectives <= lowest)[-1])


def _state_at(state: MasterState, duals: Vector) -> MasterState:
    """The state with these duals; itself where they are its own."""
    if duals is state.pseudo_response:
        return state
    return replace(state, pseudo_response=duals)
