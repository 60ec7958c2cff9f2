"""The loop: a restricted master gives duals, a pricer finds columns, until a certificate says stop.

This file knows only the protocols: no solver, no kernel, no loss. A method is a pair of
:class:`~cgboost.generation.Master` and :class:`~cgboost.generation.Pricer`; everything else
(validation, early stopping, progress) is a callback that sees each
:class:`~cgboost.generation.Round`.

Bi, Zhang, Bennett (KDD 2004), section 3; the scheme goes back to Gilmore and Gomory (1961).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import MasterError
from cgboost.generation.callbacks import (
    ChoosingCallback,
    FinishingCallback,
    ReasoningCallback,
)
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import PriceFunction, as_pricer
from cgboost.generation.history import Result, Round, StopReason, Trace
from cgboost.generation.protocols import (
    AdjustableMaster,
    DescendingOrNot,
    Master,
    MasterState,
    Priced,
    Pricer,
    ProvingOrNot,
    VertexMaster,
)
from cgboost.generation.stabilization import NoSmoothing, Smoothing
from cgboost.generation.termination import (
    ON_REQUEST,
    Limits,
    RunError,
    Stop,
    blaming,
    check_bound,
    conclusion,
    described,
)

logger = logging.getLogger(__name__)

Vector = NDArray[np.float64]

SOLVED_SHARE = 0.1
"""Restricted problems need not be solved better than to this share of the tolerance."""

OVERTIME = 0.1
"""A crossover may take this share of the time limit, beyond it."""

Callback = Callable[[Round], Any]
"""Called after every round; a true return value stops the loop.

What it may have beyond that: :class:`~cgboost.generation.callbacks.ChoosingCallback`,
:class:`~cgboost.generation.callbacks.ReasoningCallback` and
:class:`~cgboost.generation.callbacks.FinishingCallback`.
"""


class ColumnGeneration:
    """Column generation for any master and pricer.

    Parameters
    ----------
    master : Master
    pricer : Pricer or callable
        A function ``price(duals)`` is wrapped in a :class:`~cgboost.generation.FunctionPricer`.
    tol : float, default=1e-4
        Stop when the certified relative duality gap is at most this.
    columns_per_round : int, default=1
        Most columns taken from one pricing pass.
    max_columns : int or None
        Stop when the master holds this many columns.
    max_rounds : int or None
        Stop after this many rounds; the first one has only the columns the master began with.
    time_limit : float or None
        Seconds for the whole run.
    callbacks : sequence of callables
        Each is called with every :class:`Round`, in order; a true return value stops the loop.
    smoothing : Smoothing, default=NoSmoothing()
        Where to price; see :mod:`cgboost.generation.stabilization`.
    """

    def __init__(
        self,
        master: Master,
        pricer: Pricer | PriceFunction,
        *,
        tol: float = 1e-4,
        columns_per_round: int = 1,
        max_columns: int | None = None,
        max_rounds: int | None = None,
        time_limit: float | None = None,
        callbacks: Sequence[Callback] = (),
        smoothing: Smoothing | None = None,
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
        if callable(callbacks):
            raise TypeError(f"callbacks must be a sequence of callables, got {callbacks!r}")
        if isinstance(smoothing, type):
            raise TypeError(f"smoothing must be an object such as {smoothing.__name__}()")
        self.master = master
        self.pricer = as_pricer(pricer)
        self.tol = tol
        self.columns_per_round = columns_per_round
        self.max_columns = max_columns
        self.max_rounds = max_rounds
        self.time_limit = time_limit
        self.callbacks = tuple(callbacks)
        self.smoothing = NoSmoothing() if smoothing is None else smoothing

    @property
    def limits(self) -> Limits:
        """How far a run may go."""
        return Limits(self.max_columns, self.max_rounds, self.time_limit)

    def run(self) -> Result:
        """Generate columns until one of the stopping rules holds.

        What the master or the pricer raises ends the run and is kept in ``Result.error``, beside
        the last good round. Where that round makes no use of any column there is nothing to keep,
        and the error is passed on.

        Raises
        ------
        Exception
            What the master or the pricer has raised, before a round with columns was complete; a
            solver's failure is a :class:`MasterError`.
        """
        trace = Trace(self.tol)
        self.smoothing.start()
        error: Exception | None = None
        try:
            reason, message = self._generate(trace)
        except KeyboardInterrupt:
            if not trace.rows:
                raise
            reason, message = StopReason.INTERRUPTED, "Ctrl-C; the last complete round is kept"
        except RunError as failure:
            error = failure.error
            timed_out = isinstance(error, MasterError) and error.timed_out
            if not (self._uses_columns(trace) or (timed_out and trace.rows)):
                raise error from error.__cause__
            reason = StopReason.TIME if timed_out else failure.reason
            message = f"{described(error)}; the last good round is kept"
        logger.info("stopped after %d rounds: %s (%s)", len(trace.rows), reason, message)
        number = self._round_to_return(trace)
        if error is None and reason is not StopReason.INTERRUPTED:
            self._cross_over(trace, number)
        result = trace.result(number, reason, message, error)
        for callback in self.callbacks:
            if isinstance(callback, FinishingCallback):
                callback.finish(result)
        return result

    def _generate(self, trace: Trace) -> Stop:
        held = _Held()
        while (stop := self._turn(trace, held)) is None:
            pass
        return stop

    def _turn(self, trace: Trace, held: _Held) -> Stop | None:
        """One turn of the loop; its state, which is as long as the rows are many, ends with it."""
        clock = time.perf_counter()
        if isinstance(self.master, AdjustableMaster):
            self.master.accuracy = self._accuracy(trace, held.coming)
        state = self._solve(trace.seconds_left(self.time_limit))
        with blaming(StopReason.INVALID_BOUND), trace.doubting_bound():
            check_bound(trace.best_bound, state)
        solved = time.perf_counter()
        held.update(state.columns)
        searched = self._is_worth_pricing(state, trace)
        priced, bound = self._price(state, held) if searched else (Priced(columns=()), None)
        seconds = (solved - clock, time.perf_counter() - solved)
        turn = trace.turn(state, priced, bound, seconds)
        stopping = [callback for callback in self.callbacks if callback(turn)]
        trace.keep(turn)
        fresh = held.without(priced.columns)
        known = searched or not state.bounded
        shown = conclusion(turn, priced, fresh, self.tol) if known else None
        if stop := shown or self._stop(turn, stopping):
            if searched and stop[0] in ON_REQUEST and not priced.exact:
                self._certify(trace, state)
            return stop
        with blaming(StopReason.MASTER_FAILED):
            self.master.add(fresh)
        held.coming = len(state.columns) + len(fresh)
        return None

    def _solve(self, time_limit: float | None) -> MasterState:
        with blaming(StopReason.MASTER_FAILED):
            state = self.master.solve(time_limit=time_limit)
            if not np.isfinite(state.pseudo_response).all() or np.isnan(state.objective):
                raise MasterError(
                    "the restricted master returned duals that are not finite, or no objective"
                )
        return state

    def _accuracy(self, trace: Trace, n_columns: int) -> float:
        """How well the restricted problem must be solved; 0: as well as can be.

        Where the search can prove something, gaps decide how far to go; and what no pass has yet
        proved, or what is known to be the last round, should not depend on a coarse answer.
        """
        last = self.limits.last(n_columns, len(trace.rows))
        proves = trace.best_bound > -np.inf
        return SOLVED_SHARE * self.tol if proves and not last else 0.0

    def _is_worth_pricing(self, state: MasterState, trace: Trace) -> bool:
        """Whether a search may still be of use: in a last round it can only prove something."""
        last = self.limits.last(len(state.columns), len(trace.rows))
        return not last or not isinstance(self.master, ProvingOrNot) or self.master.proves

    def _price(self, state: MasterState, held: _Held) -> tuple[Priced, float | None]:
        """Price at one dual point after another until a column helps the master.

        Each bound belongs to the point that was priced; the best of them is returned.
        """
        bounds: list[float] = []
        evaluated = 0
        room = self.limits.room(len(state.columns), self.columns_per_round)
        for duals in self.smoothing.points(state):
            priced, bound = self._price_at(state, duals, room)
            self.smoothing.learn(duals, bound)
            evaluated += priced.n_evaluated
            if bound is not None:
                bounds.append(bound)
            own = duals is state.pseudo_response
            fresh = held.without(priced.columns)
            if own or any(state.prices_out(column) for column in fresh):
                break
        return replace(priced, n_evaluated=evaluated), max(bounds, default=None)

    def _price_at(
        self, state: MasterState, duals: Vector, limit: int
    ) -> tuple[Priced, float | None]:
        at = replace(state, pseudo_response=duals)
        with blaming(StopReason.PRICER_FAILED):
            priced = self.pricer.price(at, limit)
            for column in priced.columns:
                column.check(len(duals))
        if not priced.exact:
            return priced, None
        with blaming(StopReason.MASTER_FAILED):
            bound = self.master.bound(at, priced)
            if bound is not None:
                check_bound(bound, state)
        return priced, bound

    def _certify(self, trace: Trace, state: MasterState) -> None:
        """One exact pass at the last round, so that a run cut short still knows its gap."""
        priced, bound = self._price_at(state, state.pseudo_response, 0)
        if priced.exact:
            trace.certify(bound, priced.n_evaluated)

    def _cross_over(self, trace: Trace, number: int) -> None:
        """Move the round to be returned to a vertex, where the master's answers are none."""
        coef, intercept = trace.path[number]
        if not isinstance(self.master, VertexMaster) or isinstance(intercept, np.ndarray):
            return
        left = None if self.time_limit is None else OVERTIME * self.time_limit
        try:
            vertex = self.master.crossover(coef, intercept, time_limit=left)
        except MasterError as failure:
            logger.info("the coefficients stay as they are: %s", failure)
            return
        if vertex is not None and vertex.objective <= trace.rows[number]["objective"]:
            trace.move(number, vertex)

    def _stop(self, turn: Round, stopping: list[Callback]) -> Stop | None:
        if stopping:
            asking: object = stopping[0]
            reason = StopReason.CALLBACK
            if isinstance(asking, ReasoningCallback):
                reason = asking.stop_reason
            return reason, f"asked to stop after round {turn.number}"
        return self.limits.reached(turn)

    def _uses_columns(self, trace: Trace) -> bool:
        """Whether the round to return has a column with a coefficient."""
        return bool(trace.rows) and bool(trace.path[self._round_to_return(trace)][0].any())

    def _round_to_return(self, trace: Trace) -> int:
        """What a callback names, if that round was completed; else that of lowest objective.

        The objective falls from round to round, unless the solver's answers are inexact. A master
        whose steps may go up says so (``descends = False``); its model is the last round.
        """
        asked: list[object] = list(self.callbacks)
        chosen = [one.best_round for one in asked if isinstance(one, ChoosingCallback)]
        named = [number for number in chosen if number is not None and number < len(trace.rows)]
        if named:
            return int(named[0])
        if isinstance(self.master, DescendingOrNot) and not self.master.descends:
            return len(trace.rows) - 1
        objectives = np.array([row["objective"] for row in trace.rows])
        lowest = objectives.min() + 1e-9 * max(1.0, abs(objectives.min()))
        return int(np.flatnonzero(objectives <= lowest)[-1])


class _Held:
    """The keys of the columns in the master, which only grow in number.

    Attributes
    ----------
    coming : int
        How many columns the master will have in the next round.
    """

    def __init__(self) -> None:
        self.coming = 0
        self._keys: set[Hashable] = set()
        self._count = 0

    def update(self, columns: Sequence[Column]) -> None:
        """Take note of the columns that are new since the last call."""
        self._keys.update(column.key for column in columns[self._count :])
        self._count = len(columns)

    def without(self, offered: Sequence[Column]) -> list[Column]:
        """The columns that the master does not hold, each key once, in the order offered."""
        fresh = {column.key: column for column in reversed(offered) if column.key not in self._keys}
        return list(reversed(fresh.values()))
