"""The loop: a restricted master gives duals, a pricer finds columns, until a certificate says stop.

This file knows only the protocols below: no solver, no kernel, no loss. A method is a pair of
:class:`Master` and :class:`Pricer`; everything else (validation, early stopping, progress) is a
callback that sees each :class:`Round`.

Bi, Zhang, Bennett (KDD 2004), section 3; the scheme goes back to Gilmore and Gomory (1961).
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cgboost.columns import Column
from cgboost.exceptions import MasterError

logger = logging.getLogger(__name__)

Vector = NDArray[np.float64]


class StopReason(StrEnum):
    """Why the loop stopped."""

    OPTIMAL = "optimal"
    """An exact pricer found no column that prices out."""
    GAP = "gap"
    """The certified relative duality gap is at most ``tol``."""
    NO_COLUMN = "no_column"
    """A heuristic pricer found nothing: no certificate."""
    ONLY_DUPLICATES = "only_duplicates"
    """The pricer returned only columns that the master already holds."""
    STALLED = "stalled"
    """Nothing prices out, yet the gap exceeds ``tol``: the solver is not accurate enough."""
    MAX_COLUMNS = "max_columns"
    """The master holds ``max_columns`` columns."""
    TIME = "time"
    """The time limit was reached."""
    CALLBACK = "callback"
    """A callback asked to stop."""
    INTERRUPTED = "interrupted"
    """Ctrl-C; the last complete round is kept."""
    MASTER_FAILED = "master_failed"
    """The solver of the restricted master failed; the last good round is kept."""


STOPS_ON_REQUEST = (StopReason.MAX_COLUMNS, StopReason.CALLBACK)


class EntryRule(Protocol):
    """How much a column outside the master adds to the duality gap, from its score alone."""

    @property
    def two_sided(self) -> bool:
        """Whether a column may enter with either sign."""
        ...

    def excess(self, scores: Vector) -> Vector:
        """Contribution of each score ``r·h`` to the relative gap; 0 for a priced-out column."""
        ...

    def settled(self, score: float) -> float:
        """The score, nearest to this one, at which a column no longer prices out."""
        ...


@dataclass(frozen=True)
class MasterState:
    """The optimum of a restricted master.

    Attributes
    ----------
    columns : sequence of Column
        The columns in the master, in the order of ``coef``.
    coef : ndarray of shape (n_columns,)
    intercept : float
    output : ndarray of shape (n_rows,)
        Model output f = Σ α_j h_j + b.
    pseudo_response : ndarray of shape (n_rows,)
        r = −∂loss/∂f, feasible for the dual of the *full* problem up to scaling.
    objective : float
        Value of the restricted problem at (coef, intercept): an upper bound on the optimum.
    slack : ndarray of shape (n_rows,)
        ξ; positive on error points.
    entry : EntryRule
        Which columns may still lower the objective.
    """

    columns: Sequence[Column]
    coef: Vector
    intercept: float
    output: Vector
    pseudo_response: Vector
    objective: float
    slack: Vector
    entry: EntryRule


@dataclass(frozen=True)
class Priced:
    """What a pricer found.

    Attributes
    ----------
    columns : sequence of Column
        Columns that price out, best first.
    exact : bool
        Whether every column of the family was scored. Only then does finding nothing prove
        anything, and only then are ``max_excess`` and ``total_excess`` set.
    max_excess, total_excess : float
        Largest and summed :meth:`EntryRule.excess` over the whole family.
    n_evaluated : int
        Number of columns scored in this call.
    stratum : str
        The priority class in which the columns were found.
    """

    columns: Sequence[Column]
    exact: bool = False
    max_excess: float = math.nan
    total_excess: float = math.nan
    n_evaluated: int = 0
    stratum: str = ""


class Master(Protocol):
    """The restricted problem over the columns generated so far."""

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the problem."""
        ...

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Re-optimise; raise :class:`MasterError` where the solver gives no usable answer."""
        ...

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """Lower bound on the full problem from an exact pricing pass, None where there is none."""
        ...


class Pricer(Protocol):
    """Looks for the columns with the best score against the pseudo-response."""

    def price(self, state: MasterState, limit: int) -> Priced:
        """At most ``limit`` columns that price out at ``state``, best first.

        ``limit=0`` asks for the certificate alone: an exact pass, if the pricer can make one.
        """
        ...


@dataclass(frozen=True)
class Round:
    """One turn of the loop, as callbacks and the history see it.

    Attributes
    ----------
    number : int
        0 is the empty master.
    columns : int
        Columns in the master.
    active : int
        Columns with a nonzero coefficient.
    objective, bound, gap : float
        Objective of the restricted master, best lower bound so far (nan: none yet), and
        ``(objective − bound)/max(1, |objective|)``.
    evaluated : int
        Columns scored by the pricer.
    stratum : str
        Priority class in which the next columns were found.
    seconds, master_seconds, pricing_seconds : float
        Since the start, and of this round's two halves.
    scores : dict of str to float
        Validation scores; callbacks write them.
    state : MasterState
        The full state; not part of the history.
    """

    number: int
    columns: int
    active: int
    objective: float
    bound: float
    gap: float
    evaluated: int
    stratum: str
    seconds: float
    master_seconds: float
    pricing_seconds: float
    state: MasterState
    scores: dict[str, float] = field(default_factory=dict)

    def as_row(self) -> dict[str, float | int | str]:
        """The round without its state: one row of the history."""
        hidden = ("number", "state", "scores")
        row = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in hidden}
        return {"round": self.number} | row | self.scores


Callback = Callable[[Round], Any]
"""Called after every round; a true return value stops the loop.

A callback may have ``best_round`` (the number of the round to return, None for the last) and
``finish(result)`` (called once at the end, however the loop ends).
"""


@dataclass(frozen=True)
class Result:
    """Outcome of :meth:`ColumnGeneration.run`, at the round that was chosen.

    Attributes
    ----------
    objective, bound, gap : float
        ``bound`` is None when nothing was certified; ``gap`` is then infinite.
    columns : tuple of Column
        The columns in the master at that round; ``coef`` follows their order.
    coef : ndarray of shape (n_columns,)
    intercept : float
    n_rounds : int
        Rounds that were run, the empty master included.
    best_round : int
        The round this result describes.
    stop_reason : StopReason
    message : str
        The reason in words, with the solver's own where it has any.
    history : dict of str to ndarray
        One entry per round.
    path : list of (coef, intercept)
        Coefficients after every round; a round with fewer columns has a shorter ``coef``.
    """

    objective: float
    bound: float | None
    gap: float
    columns: tuple[Column, ...]
    coef: Vector
    intercept: float
    n_rounds: int
    best_round: int
    stop_reason: StopReason
    message: str
    history: dict[str, NDArray[Any]]
    path: list[tuple[Vector, float]]

    def summary(self) -> str:
        """A few lines for a person."""
        history = self.history
        bound = "none" if self.bound is None else f"{self.bound:.8g}"
        return "\n".join(
            [
                f"stopped      {self.stop_reason}: {self.message}",
                f"objective    {self.objective:.8g}",
                f"lower bound  {bound}",
                f"gap          {self.gap:.2e}",
                f"columns      {len(self.coef)} generated, {np.count_nonzero(self.coef)} active",
                f"rounds       {self.n_rounds}, {int(history['evaluated'].sum())} scores evaluated",
                f"seconds      {history['seconds'][-1]:.3f}: master "
                f"{history['master_seconds'].sum():.3f}, "
                f"pricing {history['pricing_seconds'].sum():.3f}",
            ]
        )


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
        trace = _Trace(self.tol)
        try:
            reason, message = self._generate(trace)
        except KeyboardInterrupt:
            if not trace.rows:
                raise
            reason, message = StopReason.INTERRUPTED, "interrupted by the user"
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

    def _generate(self, trace: _Trace) -> tuple[StopReason, str]:
        while True:
            clock = time.perf_counter()
            state = self.master.solve(time_limit=trace.seconds_left(self.time_limit))
            solved = time.perf_counter()
            priced = self.pricer.price(state, self._room(state))
            bound = self.master.bound(state, priced) if priced.exact else None
            seconds = (solved - clock, time.perf_counter() - solved)
            turn = trace.turn(state, priced, bound, seconds)
            wants_stop = [callback(turn) for callback in self.callbacks]
            trace.keep(turn)
            fresh = _without_duplicates(priced.columns, state.columns)
            if stop := self._stop(turn, priced, fresh, any(wants_stop)):
                if stop[0] in STOPS_ON_REQUEST and not priced.exact:
                    self._certify(trace, state)
                return stop
            self.master.add(fresh)

    def _certify(self, trace: _Trace, state: MasterState) -> None:
        """One exact pass at the last round, so that a run cut short still knows its gap."""
        priced = self.pricer.price(state, 0)
        if priced.exact:
            trace.certify(self.master.bound(state, priced), priced.n_evaluated)

    def _room(self, state: MasterState) -> int:
        if self.max_columns is None:
            return self.columns_per_round
        return max(1, min(self.columns_per_round, self.max_columns - len(state.columns)))

    def _stop(
        self, turn: Round, priced: Priced, fresh: list[Column], callback: bool
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
        if callback:
            return StopReason.CALLBACK, "a callback asked to stop"
        if self.max_columns is not None and turn.columns >= self.max_columns:
            return StopReason.MAX_COLUMNS, f"{turn.columns} columns"
        if self.time_limit is not None and turn.seconds >= self.time_limit:
            return StopReason.TIME, f"time limit of {self.time_limit:g} s"
        return None

    def _round_to_return(self, trace: _Trace) -> int:
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


class _Trace:
    """What happened so far: rows of the history, coefficients, the best bound."""

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self.started = time.perf_counter()
        self.best_bound = -math.inf
        self.rows: list[dict[str, Any]] = []
        self.path: list[tuple[Vector, float]] = []
        self.columns: tuple[Column, ...] = ()

    def seconds_left(self, limit: float | None) -> float | None:
        """What is left for the master; the first solve is let through, to have one round."""
        if limit is None or not self.rows:
            return None
        return max(0.01, limit - (time.perf_counter() - self.started))

    def turn(
        self,
        state: MasterState,
        priced: Priced,
        bound: float | None,
        seconds: tuple[float, float],
    ) -> Round:
        if bound is not None:
            self.best_bound = max(self.best_bound, bound)
        return Round(
            number=len(self.rows),
            columns=len(state.columns),
            active=int(np.count_nonzero(state.coef)),
            objective=state.objective,
            bound=self.best_bound if math.isfinite(self.best_bound) else math.nan,
            gap=relative_gap(state.objective, self.best_bound),
            evaluated=priced.n_evaluated,
            stratum=priced.stratum,
            seconds=time.perf_counter() - self.started,
            master_seconds=seconds[0],
            pricing_seconds=seconds[1],
            state=state,
        )

    def certify(self, bound: float | None, n_evaluated: int) -> None:
        """Enter an exact pass made after the last round into its row."""
        row = self.rows[-1]
        if bound is not None:
            self.best_bound = max(self.best_bound, bound)
            row["bound"] = self.best_bound
            row["gap"] = relative_gap(row["objective"], self.best_bound)
        row["evaluated"] += n_evaluated

    def keep(self, turn: Round) -> None:
        self.rows.append(turn.as_row())
        self.path.append((turn.state.coef, turn.state.intercept))
        self.columns = tuple(turn.state.columns)

    def result(self, number: int, reason: StopReason, message: str) -> Result:
        coef, intercept = self.path[number]
        row = self.rows[number]
        bound = self.best_bound if math.isfinite(self.best_bound) else None
        names = dict.fromkeys(name for entry in self.rows for name in entry)
        return Result(
            objective=row["objective"],
            bound=bound,
            gap=relative_gap(row["objective"], self.best_bound),
            columns=self.columns[: len(coef)],
            coef=coef,
            intercept=intercept,
            n_rounds=len(self.rows),
            best_round=number,
            stop_reason=reason,
            message=message,
            history={
                name: np.array([entry.get(name, math.nan) for entry in self.rows]) for name in names
            },
            path=self.path,
        )


def relative_gap(objective: float, bound: float) -> float:
    """Relative gap (objective − bound)/max(1, |objective|), at least 0; inf without a bound."""
    if not math.isfinite(bound):
        return math.inf
    return max(0.0, objective - bound) / max(1.0, abs(objective))
