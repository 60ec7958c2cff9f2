"""Rows in partitions on the workers of an executor: only sums over them come back.

Every worker has its partitions as a :class:`~cgboost.additive.places.workers.Partition`. Calls that
change what is there (a new output, its intervals, another f) are written down, and go out with the
next query; answers are merged in the order of the partitions.

Which rows are held out depends on the content of all rows, equal ones in different partitions too.
So their hashes come here once, 8 bytes a row, and with weights 8 more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.places.memory import Sample
from cgboost.additive.places.workers import (
    Behind,
    Look,
    Message,
    Partition,
    Plan,
    answer,
    hashes,
    look,
    looked,
    merged,
    sample_values,
)
from cgboost.additive.stage import Stage
from cgboost.additive.statistics.passes import Parts, level_of
from cgboost.additive.tables.preparation import (
    SAME,
    Groups,
    check_weights,
    chosen,
    groups_of,
    intervals_of,
)
from cgboost.additive.tables.schema import Schema
from cgboost.additive.trees.transformation import Transformation
from cgboost.losses.base import Loss
from cgboost.losses.quadratic import Quadratic
from cgboost.parallel.cluster import is_lazy
from cgboost.parallel.executors import KeepingExecutor

Vector = NDArray[np.float64]


class Partitions:
    """Rows in partitions that are read, or there already, where the tasks of an executor run.

    ``TransformRegressor(executor=DaskExecutor(client)).fit(Partitions(items))`` reads no row here.
    Every partition stays on one worker; sums over it come back, and once a hash of every row.

    Parameters
    ----------
    items : sequence
        Of each partition: a pair (X, y) or a triple (X, y, weights); a source of blocks, that is an
        object that can be pickled, whose ``__iter__`` yields such pairs or triples, the same ones
        each time (it is read by its worker, in every pass); or, with a ``DaskExecutor``, a Dask
        future or delayed object of one of these. A partition may be empty.

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


@dataclass
class PartitionedRows:
    """Rows on workers.

    Attributes
    ----------
    executor : KeepingExecutor
    kept : list
        What stands for the partitions.
    plan : Plan
    categories : tuple of (dict or None)
        Of the features.
    """

    executor: KeepingExecutor
    kept: list[Any]
    plan: Plan
    categories: tuple[Any, ...] = ()

    @classmethod
    def sent(
        cls, executor: KeepingExecutor, loaders: Iterable[Callable[[], Any]], schema: Schema
    ) -> PartitionedRows:
        """Rows that are encoded here and go out once."""
        kept = executor.keep(Partition, loaders)
        return cls(executor, kept, Plan(schema.n_features, None, None), schema.categories)

    @classmethod
    def of(cls, executor: KeepingExecutor, partitions: Partitions) -> PartitionedRows:
        """Partitions that workers have or read; :meth:`look` has to follow."""
        return cls(executor, executor.keep(Partition, partitions.loaders()), Plan(0, None, None))

    def look(self, categorical: Any, numeric: bool) -> Look:
        """Read all partitions for their columns and responses."""
        shared = self.executor.share(None)
        found: Look = self.executor.ask(look, looked, shared, self.kept, (categorical, numeric))
        return found

    def know(self, schema: Schema, classes: NDArray[Any] | None) -> None:
        """Take the columns of all partitions, and the classes of a classifier."""
        self.plan = replace(self.plan, n_features=schema.n_features, schema=schema, classes=classes)
        self.categories = schema.categories

    def place(self, *, max_bins: int, share: float, seed: int) -> PartitionedPlace:
        """Hold rows out, and divide the range of every feature into intervals.

        As :func:`cgboost.additive.tables.preparation.prepared`.
        """
        shared = self.executor.share(self.plan)
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
            self.plan,
            level=level_of(weights),
            held=[np.packbits(own) for own in np.split(choice.held, ends[:-1])],
            samples=[own - first for own, first in zip(samples, ends - sizes, strict=True)],
        )
        shared = self.executor.share(plan)
        values = np.concatenate(self.executor.ask(sample_values, list, shared, self.kept, None))
        groups = groups_of(values, weights[choice.sample], self.categories, max_bins)
        plan = replace(plan, groups=tuple(groups))
        return PartitionedPlace(self.executor, self.kept, plan, bool(choice.held.any()))

    def close(self) -> None:
        """Leave nothing behind on the workers."""
        self.executor.forget(self.kept)
        self.kept = []


class PartitionedPlace:
    """Rows of a fit on workers.

    Parameters
    ----------
    executor : KeepingExecutor
    kept : list
        What stands for the partitions.
    plan : Plan
    has_holdout : bool
    """

    def __init__(
        self, executor: KeepingExecutor, kept: list[Any], plan: Plan, has_holdout: bool
    ) -> None:
        self.executor, self.kept, self.has_holdout = executor, kept, has_holdout
        self.groups = plan.groups
        self._shared = executor.share(plan)
        self._alive: WeakSet[PartitionedAggregates] = WeakSet()
        self._count = 0

    def aggregates(self, loss: Loss, target: Vector) -> PartitionedAggregates:
        """See :meth:`Place.aggregates`.

        Parameters
        ----------
        loss : Loss
        target : ndarray
            Of every class; of shape (0,) where the response is the target.
        """
        self._count += 1
        new = PartitionedAggregates(self, self._count, loss, target)
        self._alive.add(new)
        return new

    def ask(self, message: Message) -> Any:
        """The answer of all partitions to a message."""
        combine = partial(merged, message.query)
        return self.executor.ask(answer, combine, self._shared, self.kept, message)

    @property
    def alive(self) -> frozenset[int]:
        """Numbers of the aggregates that somebody still has."""
        return frozenset(own.number for own in self._alive)

    def close(self) -> None:
        """Leave nothing behind on the workers."""
        self.executor.forget(self.kept)
        self.kept = []


class PartitionedAggregates:
    """Sums over rows on workers: see :class:`~cgboost.additive.places.place.Aggregates`.

    Parameters
    ----------
    place : PartitionedPlace
    number : int
        By which workers know these aggregates.
    loss : Loss
    target : ndarray
        Of every class; of shape (0,) where the response is the target.
    """

    def __init__(self, place: PartitionedPlace, number: int, loss: Loss, target: Vector) -> None:
        self.place, self.number, self.loss, self.target = place, number, loss, target
        self.groups: list[Groups] = list(place.groups)
        self.n_features = len(self.groups)
        self.extremes: list[tuple[float, float]] = []
        self._calls: list[tuple[str, tuple[Any, ...]]] = []
        self._known = 0
        self._weights: Vector | None = None

    @property
    def n_outputs(self) -> int:
        """See :class:`Aggregates`."""
        return len(self.extremes)

    # ------------------------------------------------------------------ for stages

    def by_group(self, inputs: Sequence[int], n_regressors: int) -> dict[int, Parts]:
        """See :meth:`Aggregates.by_group`."""
        return cast(dict[int, Parts], self._ask("by_group", list(inputs), n_regressors))

    def of_terms(self, terms: Sequence[Transformation], n_regressors: int, near: Vector) -> Parts:
        """See :meth:`Aggregates.of_terms`."""
        return cast(Parts, self._ask("of_terms", list(terms), n_regressors, near))

    def linking(self, stage: Stage, max_bins: int) -> tuple[Groups, Parts]:
        """See :meth:`Aggregates.linking`."""
        self._call("make_sum", stage)
        groups = self._intervals("sum_sample", max_bins)
        return groups, cast(Parts, self._ask("of_sum", groups))

    def append(self, stage: Stage) -> None:
        """See :meth:`Aggregates.append`."""
        self._call("append", stage)
        self.extremes.append(self._ask("extremes", self.n_outputs))

    def intervals(self, number: int, max_bins: int) -> None:
        """See :meth:`Aggregates.intervals`."""
        groups = self._intervals("output_sample", max_bins, number)
        self.groups.append(groups)
        self._call("divide", groups)

    def drop(self, count: int) -> None:
        """See :meth:`Aggregates.drop`."""
        del self.extremes[count:], self.groups[self.n_features + count :]
        self._call("drop", count)

    def values(self, number: int) -> Vector:
        """See :meth:`Aggregates.values`: not at hand."""
        return np.zeros(0)

    # ------------------------------------------------------------------ for masters

    @property
    def weight(self) -> float:
        """See :meth:`Aggregates.weight`."""
        return float(self._both_weights[0])

    @property
    def attains_minimum(self) -> bool:
        """See :attr:`Aggregates.attains_minimum`."""
        return self.loss.attains_minimum

    @property
    def holdout_weight(self) -> float:
        """See :meth:`Aggregates.holdout_weight`."""
        return float(self._both_weights[1])

    def quadratic(self, coef: Vector, intercept: float, last: int) -> Quadratic:
        """See :meth:`Aggregates.quadratic`."""
        found: Quadratic = self._ask("quadratic", coef, intercept, last, False)
        if found.hessian[0, 0] > 0:
            return found
        return cast(Quadratic, self._ask("quadratic", coef, intercept, last, True))

    def move(self, coef: Vector, intercept: float) -> tuple[Vector, Vector]:
        """See :meth:`Aggregates.move`: f is not at hand."""
        self._call("move", coef.copy(), intercept)
        return np.zeros(0), np.zeros(0)

    # ------------------------------------------------------------------ messages

    @property
    def _both_weights(self) -> Vector:
        if self._weights is None:
            self._weights = self._ask("weights")
        return self._weights

    def _intervals(self, query: str, max_bins: int, *arguments: Any) -> Groups:
        sample: Sample = self._ask(query, *arguments)
        return intervals_of(*sample, max_bins, same=SAME)

    def _call(self, method: str, *arguments: Any) -> None:
        """Write down a call of :class:`MemoryAggregates`, which goes out with the next query."""
        self._calls.append((method, arguments))

    def _ask(self, query: str, *arguments: Any) -> Any:
        """The answer of all partitions after all calls: with those that workers cannot know."""
        for start in (self._known, 0):
            message = Message(
                self.number,
                self.place.alive,
                self.loss,
                self.target,
                start,
                self._calls[start:],
                query,
                arguments,
            )
            found = self.place.ask(message)
            if not isinstance(found, Behind):
                break
        if self.place.executor.stays:
            self._known = len(self._calls)
        return found
