"""What it takes to go on with a run: its record, and what masters and pricers remember.

A record has the columns in their order, with the round in which each came, the coefficients and the
history of all rounds, the best bound, the seconds, and what the pricer and the smoothing remember.
Nothing of a solver is in it: a master takes up the columns and begins near the last coefficients,
or, where coefficients depend on the way, takes the rounds again without searching for columns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from cgboost.arrays import Vector
from cgboost.exceptions import ResumeError
from cgboost.generation.columns import Column
from cgboost.generation.history import Round, StopReason, Trace
from cgboost.generation.protocols import Master, MasterState, Pricer


@dataclass
class RunRecord:
    """A run up to one of its rounds.

    Attributes
    ----------
    columns : list of Column
        Those in the master, and those that it has got since.
    sizes : list of int
        How many columns the master had in each round.
    rows : list of dict
        Of the history.
    path : list of (coef, intercept)
    seconds : float
        Since the start.
    memory : object
        What the pricer remembers.
    smoothing : dict
        What the smoothing remembers.
    shape : tuple of int
        Of the output.
    allowance : float
        For rounding, in the last round.
    stop : (StopReason, str) or None
        Why the run has ended; None while it goes on.
    duals : list of (rows, ndarray) or None
        Of every round.
    """

    columns: list[Column]
    sizes: list[int]
    rows: list[dict[str, Any]]
    path: list[tuple[Vector, float | Vector]]
    scales: list[float]
    best_bound: float
    lowest: float
    highest: float
    flat: int
    seconds: float
    memory: Any = None
    smoothing: dict[str, Any] = field(default_factory=dict)
    shape: tuple[int, ...] = ()
    allowance: float = 0.0
    stop: tuple[StopReason, str] | None = None
    duals: list[Any] = field(default_factory=list)

    @property
    def to_go_on(self) -> RunRecord:
        """Without its last round, if no columns came of it: that one is made again, as it was."""
        if len(self.columns) > self.sizes[-1]:
            return self
        return replace(
            self,
            sizes=self.sizes[:-1],
            rows=self.rows[:-1],
            path=self.path[:-1],
            scales=self.scales[:-1],
            duals=self.duals[:-1],
        )

    @property
    def groups(self) -> Iterator[list[Column]]:
        """The columns that came after each round."""
        ends = [*self.sizes[1:], len(self.columns)]
        start = self.sizes[0] if self.sizes else 0
        for end in ends:
            yield self.columns[start:end]
            start = end


@runtime_checkable
class RememberingPricer(Protocol):
    """A pricer that can be interrupted: what it remembers, besides what the state says."""

    def memory(self) -> Any:
        """What :meth:`recall` needs; None where every search begins anew."""
        ...

    def recall(self, memory: Any) -> None:
        """Go on from there."""
        ...


class Memoryless:
    """A pricer whose searches depend on the state of the master alone."""

    def memory(self) -> Any:
        """Nothing: every search begins anew."""
        return None

    def recall(self, memory: Any) -> None:
        """Nothing to go on from."""


def fingerprint(*parts: Any) -> str:
    """A hash of arrays, sparse matrices, and whatever has a repr that says all."""
    digest = hashlib.sha256()
    for part in parts:
        if hasattr(part, "tocsr"):
            own = part.tocsr()
            arrays: Sequence[Any] = (own.data, own.indices, own.indptr)
            digest.update(repr(own.shape).encode())
        else:
            arrays = (part,) if isinstance(part, np.ndarray) else ()
        for array in arrays:
            digest.update(f"{array.dtype}{array.shape}".encode())
            if array.dtype.hasobject:
                digest.update(repr(array.tolist()).encode())
            else:
                digest.update(np.ascontiguousarray(array).data)
        if not arrays:
            digest.update(repr(part).encode())
    return digest.hexdigest()


def fingerprint_of(master: Any, pricer: Any) -> str:
    """A hash of what a master and a pricer show of their data; of a model, one of each part."""
    parts: list[Any] = [type(master).__name__, type(pricer).__name__]
    own = getattr(master, "fingerprint", None)
    loss = getattr(master, "loss", None)
    loss = getattr(loss, "on_rows", loss)
    for name in ("target", "lower", "upper", "weights", "epsilon", "curvature"):
        value = getattr(loss, name, None)
        if isinstance(value, (np.ndarray, float)):
            parts.append(value)
    mark = fingerprint(own, repr(getattr(master, "penalty", None)), *parts)
    named = getattr(pricer, "marks", None)
    return mark if not named else ";".join(f"{k}={v}" for k, v in {**named, "rows": mark}.items())


def time_used(seconds: float, time_limit: float | None) -> str:
    """Words about earlier runs that took the whole time limit; none if they did not."""
    if time_limit is None or seconds < time_limit:
        return ""
    return f"; the limit includes the {seconds:.3g} s of the earlier runs: give a larger one"


def check_resumable(pricer: Pricer) -> None:
    """Raise a ResumeError for a pricer of which nobody knows what it remembers.

    One that is made of others asks these, when it is asked for its own memory.
    """
    if isinstance(pricer, RememberingPricer):
        pricer.memory()
    else:
        raise ResumeError(
            f"a run of {type(pricer).__name__} cannot be resumed: leave out the Checkpoint, or "
            "give the pricer memory() and recall(memory), which say what a search depends on "
            "besides the state of the master"
        )


def memories(pricers: Sequence[Pricer]) -> list[Any]:
    """What each of several pricers remembers."""
    for pricer in pricers:
        check_resumable(pricer)
    return [cast(RememberingPricer, pricer).memory() for pricer in pricers]


def recall_all(pricers: Sequence[Pricer], memories: Sequence[Any]) -> None:
    """Let each of several pricers go on from there."""
    for pricer, memory in zip(pricers, memories, strict=True):
        cast(RememberingPricer, pricer).recall(memory)


class OfPricers:
    """A pricer made of others: it remembers what they do."""

    pricers: Sequence[Pricer]

    def memory(self) -> Any:
        """That of all pricers."""
        return memories(self.pricers)

    def recall(self, memory: Any) -> None:
        """Let each go on from its own."""
        recall_all(self.pricers, memory)


def remembered(pricer: Pricer, smoothing: Any) -> tuple[Any, dict[str, Any]]:
    """What pricer and smoothing remember; of the latter its own attributes."""
    assert isinstance(pricer, RememberingPricer)
    return pricer.memory(), dict(vars(smoothing))


def recalled(pricer: Pricer, record: RunRecord) -> None:
    """Bring a new pricer to where a record ends."""
    check_resumable(pricer)
    assert isinstance(pricer, RememberingPricer)
    pricer.recall(record.memory)


def not_held(master: Master, record: RunRecord) -> list[Column]:
    """The columns of a record that a new master does not have yet.

    Raises
    ------
    ResumeError
        If the master begins with columns that the record does not have.
    """
    return record.columns[_first_columns(master, record) :]


def take_first(master: Master, record: RunRecord) -> None:
    """Give a new master the columns with which the run of a record began.

    Raises
    ------
    ResumeError
        If the master begins with columns that the record does not have.
    """
    first = _first_columns(master, record)
    if first > record.sizes[0]:
        raise ResumeError("the master begins with more columns than the run of the checkpoint did")
    if first < record.sizes[0]:
        master.add(record.columns[first : record.sizes[0]])


def _first_columns(master: Any, record: RunRecord) -> int:
    """How many columns of the record the master has already."""
    held = [column.key for column in getattr(master, "columns", ())]
    if held != [column.key for column in record.columns[: len(held)]]:
        raise ResumeError(
            "the master begins with other columns than the run of the checkpoint did: begin with "
            "the same ones, or with none"
        )
    return len(held)


def restored_trace(tol: float, record: RunRecord, now: float) -> Trace:
    """The trace of a run as it was; its clock goes on from the seconds of the record."""
    trace = Trace(tol)
    trace.started = now - record.seconds
    trace.best_bound = record.best_bound
    trace.entries = [dict(row) for row in record.rows]
    trace.path, trace.scales = list(record.path), list(record.scales)
    trace.duals = list(record.duals)
    trace.columns = tuple(record.columns[: record.sizes[-1]] if record.sizes else ())
    trace.coming, trace.flat = len(record.columns), record.flat
    trace.allowance = record.allowance
    trace.set_extremes(record.lowest, record.highest)
    return trace


def record_of(
    trace: Trace, columns: Sequence[Column], remembers: tuple[Any, dict[str, Any]], seconds: float
) -> RunRecord:
    """The record of a run that goes on with these columns."""
    lowest, highest = trace.extremes
    return RunRecord(
        columns=list(columns),
        sizes=[int(entry["columns"]) for entry in trace.entries],
        rows=trace.entries,
        path=trace.path,
        scales=trace.scales,
        best_bound=trace.best_bound,
        lowest=lowest,
        highest=highest,
        flat=trace.flat,
        seconds=seconds,
        memory=remembers[0],
        smoothing=remembers[1],
        allowance=trace.allowance,
        duals=trace.duals,
    )


def replayed(record: RunRecord) -> Iterator[Round]:
    """The rounds of a record, for callbacks that have to see them again.

    Their state has columns, coefficients and the output, but no pseudo-response. They have the
    scores that callbacks wrote then.
    """
    output = np.zeros(record.shape)
    before: Vector = np.zeros(0)
    for row, (coef, intercept), size in zip(record.rows, record.path, record.sizes, strict=True):
        change = coef.copy()
        change[: len(before)] -= before
        for j in np.flatnonzero(change):
            column = record.columns[int(j)]
            part = output if output.ndim == 1 else output[:, column.output]
            part += change[j] * np.asarray(column.values, dtype=np.float64)
        before = coef
        nothing = np.zeros(record.shape)
        state = MasterState(
            columns=record.columns[:size],
            coef=coef,
            intercept=intercept,
            output=output + intercept if np.ndim(intercept) == 0 or output.ndim == 2 else output,
            pseudo_response=nothing,
            objective=row["objective"],
            slack=nothing,
        )
        yield round_of(row, state)


def round_of(row: dict[str, Any], state: MasterState | None) -> Round:
    """A round of a record, with the scores that it had."""
    names = {f for f in Round.__dataclass_fields__ if f not in ("state", "scores", "number")}
    return Round(
        number=int(row["round"]),
        state=cast(MasterState, state),
        scores={name: row[name] for name in row if name not in {*names, "round"}},
        **{name: row[name] for name in names},
    )
