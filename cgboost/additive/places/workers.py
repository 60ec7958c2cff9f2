"""What a worker has of the rows of a fit, and what it answers: sums over its partition.

A task has the plan of the fit, the partition of its worker, and a message. Rows, groups of rows and
outputs of stages stay in the partition. They follow from the rows, the plan and the calls of the
fit so far: a worker that has only the rows makes them again from the whole log of these calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from cgboost.additive.places.memory import MemoryAggregates
from cgboost.additive.statistics.passes import Passes
from cgboost.arrays import Indices, Mask, Vector
from cgboost.forks import Lock
from cgboost.losses.loss import Loss
from cgboost.tables.binning import (
    BlocksRead,
    FeatureGroups,
    check_weights,
    numbers_of,
    read_blocks,
    row_hashes,
    sampled,
)
from cgboost.tables.holdout_choice import Counts, counts_by_class, without_classes
from cgboost.tables.row_blocks import SourceRows, TableRows
from cgboost.tables.table_encoding import Schema, SchemaMaker


class Call(NamedTuple):
    """What a worker does with its aggregates.

    Attributes
    ----------
    part : int or None
        The output whose sums the function is of; None: of all together.
    function : callable
        (sums, …) → answer; a method of them, say.
    """

    part: int | None
    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def of(self, sums: MemoryAggregates) -> Any:
        """The answer."""
        own = sums if self.part is None else sums.parts[self.part]
        return self.function(own, *self.arguments)


class EncodedRows(NamedTuple):
    """Rows that are numbers already.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Responses, or numbers of classes.
    weights : ndarray of shape (n_rows,) or None
    """

    X: NDArray[Any]
    y: NDArray[Any]
    weights: Vector | None


@dataclass(frozen=True)
class PartitionPlan:
    """What all partitions of a fit have in common; the same for all messages of it.

    Attributes
    ----------
    schema : Schema or None
        None: the rows are encoded.
    classes : ndarray of shape (n_classes,) or None
        What responses are looked up in; None: they are numbers.
    level : float
        Of weights: see :class:`~cgboost.additive.statistics.passes.Passes`.
    n_classes : int
        Classes that responses are numbered by; 1 of a regression.
    held : list of ndarray of uint8
        For each partition which rows are held out, a bit a row.
    training_only : tuple of int
        Numbers of classes of which no row is held out, whatever the bits say.
    samples : list of ndarray of int
        For each partition the rows that intervals are made from.
    groups : tuple of Intervals or Categories
        Of the features.
    categorical : "from_dtype" or sequence of str or int
        Features that are categories: a worker that has the rows for the first time reads them.
    """

    n_features: int
    schema: Schema | None
    classes: NDArray[Any] | None
    level: float = 1.0
    n_classes: int = 1
    held: Sequence[NDArray[np.uint8]] = ()
    training_only: tuple[int, ...] = ()
    samples: Sequence[Indices] = ()
    groups: tuple[FeatureGroups, ...] = ()
    categorical: Any = "from_dtype"


@dataclass(frozen=True)
class Message:
    """What is asked of all partitions.

    Attributes
    ----------
    number : int
        Of the aggregates.
    alive : frozenset of int
        Numbers of those that are still needed.
    target : ndarray
        Of every class; of shape (0,) where the response is the target.
    spread : float
        Of the targets of the sample.
    start : int
        Calls that the worker should know of.
    calls : sequence of Call
        Those that followed, in their order.
    query : Call
        What to answer when all calls are made.
    """

    number: int
    alive: frozenset[int]
    loss: Loss
    target: Vector
    spread: float
    start: int
    calls: Sequence[Call]
    query: Call


class Behind:
    """The answer of a worker that lacks earlier calls."""


class RowPartition:
    """Some rows of a fit, where a worker has them.

    Parameters
    ----------
    data : EncodedRows, (X, y), (X, y, weights), a list of such blocks, or a source of blocks
        Tuples and lists are kept in memory as numbers; a source is read in every pass.
    number : int
        Of the partition.
    """

    def __init__(self, data: Any, number: int) -> None:
        self.data, self.number = data, number
        self._start()

    def _start(self) -> None:
        self.lock = Lock()  # a call that nobody waits for any more may still run
        self._read: tuple[NDArray[Any], Vector | None] | None = None
        self._rows: tuple[TableRows | SourceRows, Vector, Vector] | None = None
        self._aggregates: dict[int, tuple[int, MemoryAggregates]] = {}

    def __getstate__(self) -> tuple[Any, int]:
        """The rows alone: all else can be made again."""
        return self.data, self.number

    def __setstate__(self, state: tuple[Any, int]) -> None:
        self.data, self.number = state
        self._start()

    def __sizeof__(self) -> int:
        """Bytes of the rows, so that a cluster knows what it costs to move them."""
        parts = [part for block in self.blocks if isinstance(block, tuple) for part in block]
        return 1000 + sum(int(getattr(part, "nbytes", 0)) for part in parts)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Nothing else is done with it inside; errors of its data name it."""
        with self.lock:
            try:
                yield
            except ValueError as error:
                raise ValueError(f"partition {self.number}: {error}") from error

    @property
    def blocks(self) -> Iterable[Any]:
        """The data as blocks."""
        return [self.data] if isinstance(self.data, tuple) else self.data

    @property
    def in_memory(self) -> bool:
        """Whether the rows are kept as numbers."""
        return isinstance(self.data, (tuple, list))

    def read(self, categorical: Any) -> BlocksRead:
        """Columns, responses and weights."""
        read = read_blocks(self.blocks, categorical)
        self._read = read.y, read.weights
        return read

    def rows(self, plan: PartitionPlan) -> tuple[TableRows | SourceRows, Vector, Vector]:
        """Rows as numbers, responses as numbers, and weights."""
        if self._rows is None:
            table, given, weights = self._numbers(plan)
            weights = np.broadcast_to(1.0, len(given)) if weights is None else weights
            if plan.classes is None:
                y = np.asarray(given, dtype=np.float64)
            else:
                y, there = np.zeros(len(given)), weights > 0
                y[there] = np.searchsorted(plan.classes, given[there])
            self._rows = table, y, weights
        return self._rows

    def _numbers(
        self, plan: PartitionPlan
    ) -> tuple[TableRows | SourceRows, NDArray[Any], Vector | None]:
        if isinstance(self.data, EncodedRows):
            return TableRows(self.data.X), self.data.y, self.data.weights
        assert plan.schema is not None
        if self._read is None:
            self.read(plan.categorical)
        assert self._read is not None
        given, weights = self._read
        if not self.in_memory:
            return SourceRows(self.data, plan.schema, given), given, weights
        parts = [plan.schema.encode(block[0]) for block in self.blocks]
        return TableRows(parts[0] if len(parts) == 1 else np.concatenate(parts)), given, weights

    def held(self, plan: PartitionPlan) -> Mask:
        """Which rows are held out."""
        _, y, _ = self.rows(plan)
        held = np.unpackbits(plan.held[self.number], count=len(y)).astype(np.bool_)
        return without_classes(held, y, plan.training_only, plan.n_classes)

    def aggregates(self, plan: PartitionPlan, message: Message) -> MemoryAggregates | None:
        """Aggregates after all calls of the message; None where earlier ones are missing."""
        for number in set(self._aggregates) - message.alive:
            del self._aggregates[number]
        known, sums = self._aggregates.pop(message.number, (0, None))
        if known < message.start:
            return None
        if sums is None:
            sums = self._new(plan, message)
        for call in message.calls[known - message.start :]:
            call.of(sums)
        now = max(known, message.start + len(message.calls))  # less in a call that comes late
        self._aggregates[message.number] = now, sums
        return sums

    def _new(self, plan: PartitionPlan, message: Message) -> MemoryAggregates:
        rows, y, weights = self.rows(plan)
        passes = Passes(rows, weights, self.held(plan), level=plan.level)
        target, sample = targets(message.target, y), plan.samples[self.number]
        own = (weights, plan.groups, sample, message.spread)
        return MemoryAggregates(passes, message.loss, target, *own)


def targets(of_classes: Vector, y: Vector) -> Vector:
    """Targets of rows: those of their classes, or the responses where there are none."""
    return of_classes[y.astype(np.intp)] if len(of_classes) else y


# ---------------------------------------------------------------------- tasks


@dataclass(frozen=True)
class Look:
    """What the first reading of partitions tells.

    Attributes
    ----------
    n_rows : tuple of int
        Of every partition.
    weighted : tuple of bool or None
        Whether each has weights; None without rows.
    responses : ndarray
        The least and the largest, or all classes of rows of positive weight.
    """

    maker: SchemaMaker
    n_rows: tuple[int, ...]
    weighted: tuple[bool | None, ...]
    responses: NDArray[Any]


def look(shared: None, partition: RowPartition, message: tuple[Any, bool]) -> Look:
    """Columns, and responses: numbers, or classes."""
    categorical, numeric = message
    with partition.at_work():
        read = partition.read(categorical)
        weights, n_rows = read.weights, len(read.y)
        if numeric or weights is None:
            y = numbers_of(read.y) if numeric else read.y
        else:
            y = read.y[weights > 0]
        try:
            ends = np.array([y.min(), y.max()]) if numeric and len(y) else np.unique(y)
        except TypeError as error:
            raise ValueError(f"y must have labels of one kind, got a mixture ({error})") from error
        if not numeric and len(y):
            check_classification_targets(y)
        if weights is not None and weights.any():  # 0 in one partition alone is no error
            check_weights("the weights", weights)
    return Look(read.maker, (n_rows,), (weights is not None if n_rows else None,), ends)


def looked(looks: Sequence[Look]) -> Look:
    """Of all partitions.

    Raises
    ------
    ValueError
        If their columns, labels or weights do not go together.
    """
    maker = looks[0].maker
    for number, other in enumerate(looks[1:], 1):
        try:
            maker.merge(other.maker)
        except ValueError as error:
            raise ValueError(
                f"partition {number} does not go with those before it: {error}"
            ) from error
    n_rows = tuple(count for own in looks for count in own.n_rows)
    weighted = tuple(has for own in looks for has in own.weighted)
    if {True, False} <= {*weighted}:
        has, lacks = weighted.index(True), weighted.index(False)
        raise ValueError(
            f"partition {lacks} has no weights, and partition {has} has some: give weights in "
            "every partition, 1 where a row counts as one, or in none"
        )
    there = {number: own.responses for number, own in enumerate(looks) if len(own.responses)}
    example = {number: own.tolist()[0] for number, own in there.items()}
    of_words = {number: isinstance(label, str) for number, label in example.items()}
    if len({*of_words.values()}) > 1:
        first, second = (
            next(k for k, own in of_words.items() if own is has) for has in (False, True)
        )
        raise ValueError(
            f"partition {first} has labels that are numbers ({example[first]!r}), and partition "
            f"{second} has words ({example[second]!r}): give labels of one kind"
        )
    return Look(maker, n_rows, weighted, np.concatenate([*there.values()] or [np.zeros(0)]))


def hashes(
    plan: PartitionPlan, partition: RowPartition, seed: int
) -> tuple[NDArray[Any], Vector | None]:
    """Content hashes, and weights unless all are 1: the only numbers of every row that travel."""
    with partition.at_work():
        rows, y, weights = partition.rows(plan)
        plain = not len(weights) or weights.min() == weights.max() == 1.0
        return row_hashes(rows, y, seed), None if plain else weights


def class_counts(plan: PartitionPlan, partition: RowPartition, message: None) -> Counts:
    """Training and holdout rows of every class."""
    with partition.at_work():
        _, y, weights = partition.rows(plan)
        return counts_by_class(y, weights, partition.held(plan), plan.n_classes)


def sample_values(plan: PartitionPlan, partition: RowPartition, message: None) -> Vector:
    """The rows of the sample."""
    with partition.at_work():
        rows, _, _ = partition.rows(plan)
        return sampled(rows, plan.n_features, plan.samples[partition.number])


def sample_targets(plan: PartitionPlan, partition: RowPartition, of_classes: Vector) -> Vector:
    """The targets of the sample."""
    with partition.at_work():
        _, y, _ = partition.rows(plan)
        return targets(of_classes, y[plan.samples[partition.number]])


def answer(plan: PartitionPlan, partition: RowPartition, message: Message) -> Any:
    """What a query finds, after the calls that come with it.

    :class:`Behind` where earlier calls are missing, None where there are no rows.
    """
    with partition.at_work():
        if partition.rows(plan)[0].n_rows == 0:
            return None
        sums = partition.aggregates(plan, message)
        return Behind() if sums is None else message.query.of(sums)


def together(merge: Callable[[Any, Any], Any], answers: Sequence[Any]) -> Any:
    """The answer of all partitions, in their order; :class:`Behind` if one of them is."""
    if any(isinstance(own, Behind) for own in answers):
        return Behind()
    return reduce(merge, [own for own in answers if own is not None])
