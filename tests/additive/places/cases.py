"""Where rows may be beside memory: in files, in partitions, in three databases."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cgboost.additive.places import memory, spilled
from cgboost.additive.places.memory import in_memory
from cgboost.additive.places.partitions import PartitionedRows
from cgboost.additive.places.workers import EncodedRows
from cgboost.parallel import SerialExecutor, ThreadExecutor
from cgboost.tables import holdout_choice
from cgboost.tables.row_blocks import SourceRows
from tests.additive.sql.sql_tables import DATABASES, Data, place_of
from tests.cases import Case

HOW: dict[str, Any] = {"max_bins": 16, "share": 0.3, "seed": 0}


@dataclass(frozen=True, kw_only=True)
class Elsewhere(Case[AbstractContextManager[Any]]):
    """Where the rows of a fit are.

    ``make(data, server, n_classes=1, **how)`` is the place, divided; closed in the end.
    """

    in_sql: bool = False
    row_by_row: bool = False
    """Whether sums are made for a target of each row, and not for one of each class."""


@contextmanager
def in_files(data: Data, _: str, n_classes: int = 1, **how: Any) -> Iterator[Any]:
    """Blocks of a source, and outputs that are not held in memory."""
    there = data.weights > 0
    frame, y = data.frame[there], data.y[there]
    blocks = [(frame[:150], y[:150]), (frame[150:], y[150:])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spilled, "LARGEST_HELD", 100)
        patch.setattr(memory, "LOSS_ROWS", 128)
        patch.setattr(holdout_choice, "NUMBERED_AT_ONCE", 300)
        source = SourceRows(blocks, data.schema, y)
        options = {"n_jobs": 1, "n_classes": n_classes, **HOW, **how}
        yield in_memory(source, data.schema, y, data.weights[there], **options)


def itself(part: Any) -> Any:
    """What a worker loads."""
    return part


def partitioned(data: Data, cuts: list[int], executor: Any = None) -> PartitionedRows:
    """The rows cut at some places, perhaps into empty parts."""
    X = data.schema.encode(data.frame)
    ends = [0, *cuts, len(X)]
    parts = [EncodedRows(X[a:b], data.y[a:b], data.weights[a:b]) for a, b in pairwise(ends)]
    return PartitionedRows(executor or SerialExecutor(), [partial(itself, part) for part in parts])


@contextmanager
def in_partitions(
    data: Data, _: str, n_classes: int = 1, *, cuts: list[int], executor: Any = None, **how: Any
) -> Iterator[Any]:
    """On workers that have rows of weight 0 as well."""
    rows = partitioned(data, cuts, executor)
    classes = None if n_classes == 1 else np.arange(float(n_classes))
    rows.know(data.schema, classes, encoded=True)
    place = rows.divide(**(HOW | how))
    yield place
    place.close()
    assert place.rows.kept == []


def in_database(database: str) -> Callable[..., AbstractContextManager[Any]]:
    """A table of the rows."""

    def make(data: Data, server: str, n_classes: int = 1, **how: Any) -> Any:
        return place_of(database, server, data, classification=n_classes > 1, **how)

    return make


PLACES: list[Elsewhere] = [
    Elsewhere(name="files", make=in_files, row_by_row=True),
    Elsewhere(name="one partition", make=partial(in_partitions, cuts=[])),
    Elsewhere(
        name="partitions",
        make=partial(in_partitions, cuts=[0, 1, 2, 130, 130, 599], executor=ThreadExecutor(2)),
    ),
    *(Elsewhere(name=own, make=in_database(own), in_sql=True) for own in DATABASES),
]
