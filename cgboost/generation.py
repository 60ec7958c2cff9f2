"""The loop: a restricted master gives duals, a pricer finds columns, until a certificate says stop.

This file knows only the protocols: no solver, no kernel, no loss. A method is a pair of
:class:`~cgboost.protocols.Master` and :class:`~cgboost.protocols.Pricer`; everything else
(validation, early stopping, progress) is a callback that sees each
:class:`~cgboost.history.Round`.

Bi, Zhang, Bennett (KDD 2004), section 3; the scheme goes back to Gilmore and Gomory (1961).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cgboost.columns import Column
from cgboost.exceptions import MasterError
from cgboost.history import Result, Round, StopReason, Trace
from cgboost.protocols import Master, MasterState, Priced, Pricer

logger = logging.getLogger(__name__)

STOPS_ON_REQUEST = (StopReason.MAX_COLUMNS, StopReason.CALLBACK, StopReason.EARLY_STOPPING)


Callback = Callable[[Round], Any]
"""Called after every round; a true return value stops the loop.

A callback may have ``best_round`` (the number of the round to return, None for the last),
``stop_reason`` (why it stops, by default ``StopReason.CALLBACK``) and ``finish(result)`` (called
once at the end, however the loop ends).
"""


class ColumnGeneration:
    """Column generation for any master and pricer.

    Parameters
    ----------
    master : Master
    pricer : Pricer
    tol : float, default=1e-4
        Stop when the certified relative duality gap is at most this.
    columns_per_round : int, default=1
        Most columns taken from one pricing pass.
    max_columns : int or None
        Stop when the master holds this many columns.
    time_limit : float or None
        Seconds for the whole run.
    callbacks : sequence of callables
        Each is called with every :class:`Round`, in order; a true return value stops the loop.
    """

    def __init__(
        self,
        master: Master,
        pricer: Pricer,
        *,
        tol: float = 1e-4,
        columns_per_round: int = 1,
        max_columns: int | None = None,
        time_limit: float | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        if columns_per_round < 1:
            raise ValueError(f"columns_per_round must be at least 1, got {columns_per_round}")
        self.master = master
        self.pricer = pricer
        self.tol = tol
        self.columns_per_round = columns_per_round
        self.max_columns = max_columns
        self.time_limit = time_limit
        self.callbacks = tuple(callbacks)

    def run(self) -> Result:
        """Generate columns until one of the stopping rules holds.

        Raises
        ------
        MasterError
            If not even the first restricted master could be solved.
        """
        trace = Trace(self.tol)
        try:
            reason, message = self._generate(trace)
        except KeyboardInterrupt:
            if not trace.rows:
                raise
            reason, message = StopReason.INTERRUPTED, "Ctrl-C; the last complete round is kept"
        except MasterError as error:
            if not trace.rows:
                raise
            reason = StopReason.TIME if error.timed_out else StopReason.MASTER_FAILED
            message = f"{error}; the last good round is kept"
        logger.info("stopped after %d rounds: %s (%s)", len(trace.rows), reason, message)
        result = trace.result(self._round_to_return(trace), reason, message)
        for callback in self.callbacks:
            if (finish := getattr(callback, "finish", None)) is not None:
                finish(result)
        return result

    def _generate(self, trace: Trace) -> tuple[StopReason, str]:
        while True:
            clock = time.perf_counter()
            state = self.master.solve(time_limit=trace.seconds_left(self.time_limit))
            solved = time.perf_counter()
            priced = self.pricer.price(state, self._room(state))
            bound = self.master.bound(state, priced) if priced.exact else None
            seconds = (solved - clock, time.perf_counter() - solved)
            turn = trace.turn(state, priced, bound, seconds)
            stopping = [callback for callback in self.callbacks if callback(turn)]
            trace.keep(turn)
            fresh = _without_duplicates(priced.columns, state.columns)
            if stop := self._stop(turn, priced, fresh, stopping):
                if stop[0] in STOPS_ON_REQUEST and not priced.exact:
                    self._certify(trace, state)
                return stop
            self.master.add(fresh)

    def _certify(self, trace: Trace, state: MasterState) -> None:
        """One exact pass at the last round, so that a run cut short still knows its gap."""
        priced = self.pricer.price(state, 0)
        if priced.exact:
            trace.certify(self.master.bound(state, priced), priced.n_evaluated)

    def _room(self, state: MasterState) -> int:
        if self.max_columns is None:
            return self.columns_per_round
        return max(1, min(self.columns_per_round, self.max_columns - len(state.columns)))

    def _stop(
        self, turn: Round, priced: Priced, fresh: list[Column], stopping: list[Callback]
    ) -> tuple[StopReason, str] | None:
        if priced.exact and not priced.columns:
            if turn.gap <= self.tol:
                return StopReason.OPTIMAL, "no column prices out"
            return StopReason.STALLED, (
                f"no column prices out, but the certified gap {turn.gap:.1e} exceeds "
                f"tol={self.tol:g}: the duals of the restricted master are too inaccurate "
                "(scale the features or normalise the kernels, or use a more exact solver)"
            )
        if turn.gap <= self.tol:
            return StopReason.GAP, f"relative duality gap {turn.gap:.1e} ≤ {self.tol:g}"
        if not priced.columns:
            return StopReason.NO_COLUMN, "the pricer found no column; it is not exact"
        if not fresh:
            return StopReason.ONLY_DUPLICATES, "only columns already in the master price out"
        if stopping:
            reason = getattr(stopping[0], "stop_reason", StopReason.CALLBACK)
            return reason, f"asked to stop after round {turn.number}"
        if self.max_columns is not None and turn.columns >= self.max_columns:
            return StopReason.MAX_COLUMNS, f"{turn.columns} columns"
        if self.time_limit is not None and turn.seconds >= self.time_limit:
            return StopReason.TIME, "the time limit was reached"
        return None

    def _round_to_return(self, trace: Trace) -> int:
        """What a callback names, else the last round of lowest objective.

        The objective falls from round to round, unless the solver's answers are inexact.
        """
        chosen = [getattr(callback, "best_round", None) for callback in self.callbacks]
        named = [number for number in chosen if number is not None]
        if named:
            return int(named[0])
        objectives = np.array([row["objective"] for row in trace.rows])
        lowest = objectives.min() + 1e-9 * max(1.0, abs(objectives.min()))
        return int(np.flatnonzero(objectives <= lowest)[-1])


def _without_duplicates(offered: Sequence[Column], held: Sequence[Column]) -> list[Column]:
    """The columns whose key the master does not hold, each once, in the order offered."""
    known = {column.key for column in held}
    fresh = {column.key: column for column in reversed(offered) if column.key not in known}
    return list(reversed(fresh.values()))
