"""Training rows that are elsewhere: on the workers of an executor, or in a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import Any

import numpy as np

from cgboost.additive.places.memory import check_size
from cgboost.additive.places.partitions import PartitionedRows, Partitions
from cgboost.additive.places.workers import EncodedRows
from cgboost.additive.sql.place import SQLPlace
from cgboost.additive.sql.source import SQLSource
from cgboost.estimators.common.fitted_runs import unchanged_on_failure
from cgboost.estimators.common.input_checks import check_here
from cgboost.estimators.common.parameters import threads_of
from cgboost.estimators.common.training_rows import TrainingRows, of_rows_that_count, rows_of
from cgboost.parallel import KeepingExecutor, ThreadExecutor, as_executor
from cgboost.tables.binning import check_weights
from cgboost.tables.row_blocks import RowBlock, SourceRows


def is_elsewhere(estimator: Any, X: Any) -> bool:
    """Whether rows stay in a database, or are to be kept in partitions."""
    return isinstance(X, (SQLSource, Partitions)) or (
        estimator.executor is not None and not isinstance(X, (SQLPlace, PartitionedRows))
    )


def keeping_executor(estimator: Any) -> KeepingExecutor:
    """The executor of an estimator; None stands for threads.

    Raises
    ------
    TypeError
        If it is none, or keeps no objects.
    """
    if estimator.executor is None:
        return ThreadExecutor(threads_of(estimator.n_jobs))
    executor: Any = as_executor(estimator.executor)
    if not all(hasattr(executor, name) for name in ("keep", "ask", "forget", "stays")):
        raise TypeError(
            f"{type(estimator).__name__} needs an executor that keeps rows, as ThreadExecutor, "
            f"FuturesExecutor and DaskExecutor do; got {executor!r}"
        )
    kept: KeepingExecutor = executor
    return kept


@contextmanager
def rows_elsewhere(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> Iterator[SQLPlace | PartitionedRows]:
    """Training rows where they stay, as long as the context lasts.

    A table and a source of blocks are read here for an executor, and their rows go out once, as
    numbers, in as many partitions as it has tasks. An error leaves the estimator as it was.

    Parameters
    ----------
    estimator : estimator
        With ``categorical_features`` and ``executor``.
    X, y, sample_weight
        As ``fit`` was given them.

    Raises
    ------
    ValueError
        As :func:`cgboost.estimators.common.training_rows.rows_of`, or for fewer than 2 rows.
    """
    with unchanged_on_failure(estimator):
        estimator._check_parameters()
        if not estimator._fits_elsewhere:
            check_here(estimator, X, reset=True)
        if isinstance(X, SQLSource):
            rows: SQLPlace | PartitionedRows = _of_database(estimator, X, y, sample_weight)
        elif isinstance(X, Partitions):
            rows = _of_partitions(estimator, X, y, sample_weight)
        else:
            rows = _of_table(estimator, X, y, sample_weight)
        with closing(rows):
            yield rows


def _of_database(estimator: Any, X: SQLSource, y: Any, sample_weight: Any) -> SQLPlace:
    if y is not None or sample_weight is not None:
        raise ValueError(
            "y and the weights of an SQLSource are columns of its table: give target and "
            "weight there, and leave y and sample_weight out"
        )
    if estimator.executor is not None:
        raise ValueError(
            "the rows of an SQLSource stay in its database: executor must be None, got "
            f"{estimator.executor!r}"
        )
    classes = not estimator._y_numeric
    return SQLPlace(X, estimator.categorical_features, classification=classes)


def _of_table(estimator: Any, X: Any, y: Any, sample_weight: Any) -> PartitionedRows:
    executor = keeping_executor(estimator)
    learn = partial(of_rows_that_count, estimator._learn)
    schema, here = rows_of(estimator, X, y, sample_weight, learn)
    check_size(len(here.y), float(np.abs(here.y).max()))
    rows = PartitionedRows(executor, _Cut(here, executor.n_tasks).loaders())
    rows.know(schema, None if estimator._y_numeric else estimator.classes_, encoded=True)
    return rows


def _of_partitions(estimator: Any, X: Partitions, y: Any, sample_weight: Any) -> PartitionedRows:
    executor = keeping_executor(estimator)
    if y is not None:
        raise ValueError("y of Partitions belongs in them, (X, y): leave y out")
    if sample_weight is not None:
        raise ValueError("weights of Partitions belong in them: (X, y, weights)")
    if X.is_lazy and not hasattr(executor, "client"):
        raise ValueError(
            "Partitions with futures of Dask need executor=DaskExecutor(client), got "
            f"executor={estimator.executor!r}"
        )
    with ExitStack() as stack:
        rows = stack.enter_context(closing(PartitionedRows(executor, X.loaders())))
        numeric = estimator._y_numeric
        found = rows.look(estimator.categorical_features, numeric)
        schema, n_rows = found.maker.schema(), sum(found.n_rows)
        if not n_rows:
            raise ValueError(f"Partitions must have rows, got {len(found.n_rows)} without any")
        check_size(n_rows, float(np.abs(found.responses).max()) if numeric else 0.0)
        classes = None
        if not numeric:
            if not len(found.responses):  # no row counts
                check_weights("the weights in the partitions", np.zeros(n_rows))
            estimator._learn(found.responses)
            classes = estimator.classes_
        rows.know(schema, classes, encoded=False)
        stack.pop_all()
    return rows


class _Cut:
    """Rows cut into parts of about the same size, one after the other.

    Parameters
    ----------
    rows : TrainingRows
        A source is read once, if parts are taken in their order, and again for a part that is asked
        for later.
    count : int
    """

    def __init__(self, rows: TrainingRows, count: int) -> None:
        self.rows, n_rows = rows, len(rows.y)
        self.ends = np.unique(np.linspace(0, n_rows, min(count, n_rows) + 1).astype(int)).tolist()
        self.plain = bool((rows.weights == 1.0).all())
        self._next = -1
        self._blocks: Iterator[RowBlock] = iter(())
        self._begun: RowBlock | None = None

    def loaders(self) -> list[Any]:
        """Functions that make the parts."""
        return [partial(self.part, number) for number in range(len(self.ends) - 1)]

    def part(self, number: int) -> EncodedRows:
        """A part."""
        rows = slice(self.ends[number], self.ends[number + 1])
        weights = None if self.plain else np.asarray(self.rows.weights[rows])
        X: Any = self.rows.X
        table = self._read(number, rows) if isinstance(X, SourceRows) else X[rows]
        return EncodedRows(table, self.rows.y[rows], weights)

    def _read(self, number: int, rows: slice) -> Any:
        """The rows of a part, from where the part before has ended."""
        if number != self._next:
            self._blocks, self._begun = iter(self.rows.X), None
        self._next, found = number + 1, []
        while (block := self._begun or next(self._blocks, None)) is not None:
            first, stop = block.rows.start, block.rows.stop
            self._begun = block if stop > rows.stop else None
            found.append(block.X[max(0, rows.start - first) : rows.stop - first])
            if stop >= rows.stop and number < len(self.ends) - 2:
                break  # the last part reads on, to see that no more rows come
        return np.concatenate(found)
