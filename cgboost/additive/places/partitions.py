"""Rows in partitions on the workers of an executor: only sums over them come back.

Every worker has its partitions as a :class:`~cgboost.additive.places.workers.RowPartition`. Calls
that change what is there (a new output, its intervals, another f) are written down, and go out with
the next query; answers are merged in the order of the partitions.

Which rows are held out depends on the content of all rows, equal ones in different partitions too.
So their hashes come here once, 8 bytes a row, and with weights 8 more; and of every class how many
rows train, which says the workers which classes are not held out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from operator import add, and_, attrgetter
from typing import Any, ClassVar, cast
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.places.memory import MemoryAggregates, MemoryOutput, Sample, bent
from cgboost.additive.places.workers import (
    Behind,
    Call,
    Look,
    Message,
    PartitionPlan,
    RowPartition,
    answer,
    class_counts,
    hashes,
    look,
    looked,
    sample_targets,
    sample_values,
    together,
)
from cgboost.additive.stage import Stage
from cgboost.additive.statistics.passes import SplitMoments, level_of
from cgboost.additive.trees.transformation import Transformation
from cgboost.arrays import Vector
from cgboost.forks import cached_property
from cgboost.losses.dual.piecewise import spread_of
from cgboost.losses.loss import Loss
from cgboost.losses.second_order_model import Quadratic
from cgboost.parallel.cluster import is_lazy
from cgboost.parallel.executors import KeepingExecutor
from cgboost.tables.binning import SAME, FeatureGroups, check_weights, groups_of, intervals_of
from cgboost.tables.holdout_choice import chosen, training_only
from cgboost.tables.row_blocks import RowsElsewhere
from cgboost.tables.table_encoding import Schema


class Partitions(RowsElsewhere):
    """Rows in partitions that are read, or there already, where the tasks of an executor run.

    ``TransformRegressor(executor=DaskExecutor(client)).fit(Partitions(items))`` reads no row here.
    Every partition stays on one worker; sums over it come back, and once a hash of every row.

    Parameters
    ----------
    items : sequence
        Of each partition: a pair (X, y) or a triple (X, y, weights); a source of blocks, that is an
        object that can be pickled, whose ``__iter__`` yields such pairs or triples, the same ones
        each time (it is read by its worker, in every pass); or, with a ``DaskExecutor``, a Dask
        future or delayed object of one of these. A partition may be empty. All have the same
        columns, and weights all or none.

    Raises
    ------
    ValueError
        If there are no items, or an item is none of these.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import TransformRegressor
    >>> from cgboost.sources import Partitions
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> parts = [(X[:300], X[:300, 0]), (X[300:], X[300:, 0])]
    >>> model = TransformRegressor().fit(Partitions(parts))
    >>> bool(np.allclose(model.predict(X), TransformRegressor().fit(X, X[:, 0]).predict(X)))
    True
    """

    instead: ClassVar[str] = "give one after another, each without its y"

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = list(items)
        if not self.items:
            raise ValueError("Partitions needs at least one partition, got none")
        for number, item in enumerate(self.items):
            pair = isinstance(item, (tuple, list)) and len(item) in (2, 3)
            source = hasattr(item, "__iter__") and not hasattr(item, "__next__")
            if isinstance(item, (tuple, list, str, dict)) or hasattr(item, "shape"):
                source = False
            if not (pair or source or is_lazy(item)):
                raise ValueError(
                    f"partition {number} must be (X, y), (X, y, weights), a source of blocks that "
                    f"can be read again and again, or a Dask future of one; got a "
                    f"{type(item).__name__}"
                )

    def loaders(self) -> list[Any]:
        """What ``KeepingExecutor.keep`` takes."""
        return [item if is_lazy(item) else partial(_as_block, item) for item in self.items]

    @property
    def is_lazy(self) -> bool:
        """Whether there are Dask futures or delayed objects."""
        return any(is_lazy(item) for item in self.items)


def _as_block(item: Any) -> Any:
    return tuple(item) if isinstance(item, list) else item


class PartitionedRows:
    """Rows on workers: of a fit, before they are divided.

    Parameters
    ----------
    loaders : iterable of callables
        What makes the partitions: see :meth:`KeepingExecutor.keep`.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
        Of a classifier.
    """

    def __init__(self, executor: KeepingExecutor, loaders: Iterable[Any]) -> None:
        self.executor = executor
        self.kept: list[Any] = executor.keep(RowPartition, loaders)
        self.schema = Schema(None, ())
        self.classes: NDArray[Any] | None = None
        self._plan = PartitionPlan(0, None, None)
        self._categorical: Any = "from_dtype"
        self._alive: WeakSet[CallLog] = WeakSet()
        self._count = count(1)

    def look(self, categorical: Any, numeric: bool) -> Look:
        """Read all partitions for their columns and responses."""
        shared = self.executor.share(None)
        self._categorical = categorical
        found: Look = self.executor.ask(look, looked, shared, self.kept, (categorical, numeric))
        return found

    def know(self, schema: Schema, classes: NDArray[Any] | None, *, encoded: bool) -> None:
        """Take the columns of all partitions, and the classes; perhaps they are numbers already."""
        self.schema, self.classes = schema, classes
        self._plan = PartitionPlan(schema.n_features, None, None)
        if not encoded:
            self._plan = replace(
                self._plan, schema=schema, classes=classes, categorical=self._categorical
            )
        if classes is not None:
            self._plan = replace(self._plan, n_classes=len(classes))

    def divide(
        self, *, max_bins: int, share: float, seed: int, keep: bool = False
    ) -> PartitionedPlace:
        """Hold rows out, and divide the range of every feature into intervals.

        Parameters
        ----------
        max_bins, share, seed
            As of :func:`cgboost.tables.binning.prepared`.
        keep : bool
            Whether the rows will be divided again; they can always be.
        """
        shared = self.executor.share(self._plan)
        found = self.executor.ask(hashes, list, shared, self.kept, seed)
        sizes = [len(own) for own, _ in found]
        weights: Vector = np.broadcast_to(1.0, sum(sizes))
        if any(own is not None for _, own in found):
            parts = (np.ones(len(h)) if own is None else own for h, own in found)
            weights = np.concatenate(list(parts))
            check_weights("the weights in the partitions", weights)
        choice = chosen(np.concatenate([own for own, _ in found]), weights, share)
        del found
        ends = np.cumsum(sizes)
        cuts = np.searchsorted(choice.sample, ends)
        samples = np.split(choice.sample, cuts[:-1])
        plan = replace(
            self._plan,
            level=level_of(weights),
            held=[np.packbits(own) for own in np.split(choice.held, ends[:-1])],
            samples=[own - first for own, first in zip(samples, ends - sizes, strict=True)],
        )
        shared = self.executor.share(plan)
        values = np.concatenate(self.executor.ask(sample_values, list, shared, self.kept, None))
        own, categories = weights[choice.sample], self.schema.categories
        counts = sum(self.executor.ask(class_counts, list, shared, self.kept, None))
        plan = replace(
            plan,
            groups=tuple(groups_of(values, own, categories, max_bins)),
            training_only=tuple(training_only(counts[:, 0])),
        )
        return PartitionedPlace(self, plan, has_holdout=bool(counts[counts[:, 0] > 0, 1].any()))

    def register(self, log: CallLog) -> int:
        """A number for aggregates, by which workers know them as long as somebody has them."""
        self._alive.add(log)
        return next(self._count)

    @property
    def alive(self) -> frozenset[int]:
        """Numbers of the aggregates that somebody has."""
        return frozenset(own.number for own in self._alive)

    def close(self) -> None:
        """Leave nothing behind on the workers."""
        self.executor.forget(self.kept)
        self.kept = []


class PartitionedPlace:
    """Rows on workers, divided."""

    def __init__(self, rows: PartitionedRows, plan: PartitionPlan, *, has_holdout: bool) -> None:
        self.rows, self.groups, self.has_holdout = rows, plan.groups, has_holdout
        self._shared = rows.executor.share(plan)

    def aggregates(self, loss: Loss, target: Vector) -> PartitionedAggregates:
        """See :meth:`Place.aggregates`.

        Parameters
        ----------
        target : ndarray of shape (n_classes,) or (0,)
            Of every class; without classes the response is the target.
        """
        smooth = "hessian_diag" in loss.abilities
        spread = 0.0 if smooth else self.spread(target)
        return PartitionedAggregates(CallLog(self, loss, target, spread))

    def spread(self, target: Vector) -> float:
        """The spread of the targets of the sample."""
        ask = self.rows.executor.ask
        found = ask(sample_targets, list, self._shared, self.rows.kept, target)
        return spread_of(np.concatenate(found))

    def ask(self, message: Message, merge: Callable[[Any, Any], Any]) -> Any:
        """The answer of all partitions to a message."""
        combine = partial(together, merge)
        return self.rows.executor.ask(answer, combine, self._shared, self.rows.kept, message)

    def close(self) -> None:
        """Leave nothing behind on the workers."""
        self.rows.close()


class CallLog:
    """What workers should know of the aggregates of a loss.

    Parameters
    ----------
    target : ndarray of shape (n_classes,) or (0,)
        Of every class; without classes the response is the target.
    spread : float
        Of the targets of the sample.
    """

    def __init__(self, place: PartitionedPlace, loss: Loss, target: Vector, spread: float) -> None:
        self.place, self.loss, self.target, self.spread = place, loss, target, spread
        self.number = place.rows.register(self)
        self._calls: list[Call] = []
        self._known = 0

    def call(self, part: int | None, method: Callable[..., Any], *arguments: Any) -> None:
        """Write down a call, which goes out with the next query."""
        self._calls.append(Call(part, method, arguments))

    def ask(
        self,
        part: int | None,
        method: Callable[..., Any],
        merge: Callable[[Any, Any], Any],
        *arguments: Any,
    ) -> Any:
        """The answer of all partitions after all calls: with those that workers cannot know."""
        for start in (self._known, 0):
            message = Message(
                self.number,
                self.place.rows.alive,
                self.loss,
                self.target,
                self.spread,
                start,
                self._calls[start:],
                Call(part, method, arguments),
            )
            found = self.place.ask(message, merge)
            if not isinstance(found, Behind):
                break
        if self.place.rows.executor.stays:
            self._known = len(self._calls)
        return found


class PartitionedAggregates:
    """Sums over rows on workers: see :class:`~cgboost.additive.places.place.Aggregates`."""

    def __init__(self, log: CallLog) -> None:
        self.log, self.loss = log, log.loss
        self.parts = [PartitionedOutput(log, k) for k in range(log.loss.n_outputs)]
        self.is_smooth = "hessian_diag" in log.loss.abilities

    @cached_property
    def weight(self) -> float:
        """See :attr:`LossSums.weight`."""
        return float(self._ask(attrgetter("weight"), add))

    @cached_property
    def holdout_weight(self) -> float:
        """See :attr:`LossSums.holdout_weight`."""
        return float(self._ask(attrgetter("holdout_weight"), add))

    @cached_property
    def attains_minimum(self) -> bool:
        """See :attr:`LossSums.attains_minimum`."""
        return bool(self._ask(attrgetter("attains_minimum"), and_))

    def quadratic(
        self, coefs: Sequence[Vector], intercepts: Vector, last: Sequence[int]
    ) -> Quadratic:
        """See :meth:`LossSums.quadratic`."""
        ask = partial(self._ask, MemoryAggregates.curved, Quadratic.merged)
        return bent(ask, coefs, intercepts, last)

    def move(self, coefs: Sequence[Vector], intercepts: Vector) -> tuple[Vector, Vector]:
        """See :meth:`LossSums.move`: f is not at hand."""
        self.log.call(None, MemoryAggregates.follow, [own.copy() for own in coefs], intercepts)
        return np.zeros(0), np.zeros(0)

    def _ask(
        self, method: Callable[..., Any], merge: Callable[[Any, Any], Any], *arguments: Any
    ) -> Any:
        return self.log.ask(None, method, merge, *arguments)


class PartitionedOutput:
    """Sums of one output over rows on workers: see :class:`OutputSums`.

    Parameters
    ----------
    number : int
        Of the output.
    """

    def __init__(self, log: CallLog, number: int) -> None:
        self.log, self.number = log, number
        self.groups: list[FeatureGroups] = list(log.place.groups)
        self.n_features = len(self.groups)
        self.extremes: list[tuple[float, float]] = []

    @property
    def n_outputs(self) -> int:
        """See :class:`OutputSums`."""
        return len(self.extremes)

    def by_group(self, inputs: Sequence[int], n_regressors: int) -> dict[int, SplitMoments]:
        """See :meth:`OutputSums.by_group`."""
        found = self._ask(MemoryOutput.by_group, _both_groups, list(inputs), n_regressors)
        return cast(dict[int, SplitMoments], found)

    def of_terms(
        self, terms: Sequence[Transformation], n_regressors: int, near_means: Vector
    ) -> SplitMoments:
        """See :meth:`OutputSums.of_terms`."""
        arguments = (list(terms), n_regressors, near_means)
        return cast(SplitMoments, self._ask(MemoryOutput.of_terms, SplitMoments.merged, *arguments))

    def linking(self, stage: Stage, max_bins: int) -> tuple[FeatureGroups, SplitMoments]:
        """See :meth:`OutputSums.linking`."""
        self._call(MemoryOutput.make_sum, stage)
        groups = self._intervals(max_bins, MemoryOutput.sum_sample)
        return groups, self._ask(MemoryOutput.of_sum, SplitMoments.merged, groups)

    def append(self, stage: Stage) -> None:
        """See :meth:`OutputSums.append`."""
        self._call(MemoryOutput.append, stage)
        self.extremes = self._ask(attrgetter("extremes"), _widest)

    def intervals(self, number: int, max_bins: int) -> None:
        """See :meth:`OutputSums.intervals`."""
        groups = self._intervals(max_bins, MemoryOutput.output_sample, number)
        self.groups.append(groups)
        self._call(MemoryOutput.divide, groups)

    def drop(self, count: int) -> None:
        """See :meth:`OutputSums.drop`."""
        del self.extremes[count:], self.groups[self.n_features + count :]
        self._call(MemoryOutput.drop, count)

    def values(self, number: int) -> Vector:
        """See :meth:`OutputSums.values`: not at hand."""
        return np.zeros(0)

    def _intervals(
        self, max_bins: int, sample: Callable[..., Sample], *arguments: Any
    ) -> FeatureGroups:
        values, weights = self._ask(sample, _both_samples, *arguments)
        return intervals_of(values, weights, max_bins, same=SAME)

    def _call(self, method: Callable[..., Any], *arguments: Any) -> None:
        self.log.call(self.number, method, *arguments)

    def _ask(
        self, method: Callable[..., Any], merge: Callable[[Any, Any], Any], *arguments: Any
    ) -> Any:
        return self.log.ask(self.number, method, merge, *arguments)


def _both_groups(
    one: dict[int, SplitMoments], other: dict[int, SplitMoments]
) -> dict[int, SplitMoments]:
    return {number: parts.merged(other[number]) for number, parts in one.items()}


def _both_samples(one: Sample, other: Sample) -> Sample:
    return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])


def _widest(
    one: list[tuple[float, float]], other: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    both = zip(one, other, strict=True)
    return [(min(own[0], more[0]), max(own[1], more[1])) for own, more in both]
