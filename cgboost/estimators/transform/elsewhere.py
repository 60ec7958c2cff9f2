"""Training rows that are elsewhere: on the workers of an executor, or in a database."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from cgboost.additive.places.workers import EncodedRows
from cgboost.estimators.common.parameters import threads_of
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.parallel import KeepingExecutor, ThreadExecutor, as_executor
from cgboost.tables.row_blocks import RowBlock, SourceRows


def keeping_executor(given: Any, n_jobs: int, called: str) -> KeepingExecutor:
    """The executor of an estimator; None stands for threads.

    Raises
    ------
    TypeError
        If it is none, or keeps no objects.
    """
    if given is None:
        return ThreadExecutor(threads_of(n_jobs))
    executor: Any = as_executor(given)
    if not all(hasattr(executor, name) for name in ("keep", "ask", "forget", "stays")):
        raise TypeError(
            f"{called} needs an executor that keeps rows, as ThreadExecutor, FuturesExecutor and "
            f"DaskExecutor do; got {executor!r}"
        )
    kept: KeepingExecutor = executor
    return kept


class CutRows:
    """Rows cut into parts of about the same size, one after the other.

    Parameters
    ----------
    rows : TrainingRows
        A source is read once, if parts are taken in their order, and again for a part that is asked
        for later.
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
