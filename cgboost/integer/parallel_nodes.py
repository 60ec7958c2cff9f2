"""Relaxations of several nodes at once, on an executor.

What travels: master, pricer and columns once; for each node its decisions and the duals of its
parent; back come its relaxation and the new columns. A worker keeps the columns, with what was
computed of them, and takes in those that are new to it. Every node is solved by a fresh copy of the
pricer over the columns that there were before the batch, so that what comes out does not depend on
where it was solved.
"""

from __future__ import annotations

import pickle
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import joblib
import numpy as np

from cgboost.integer.branching.decisions import Decision
from cgboost.integer.search_state import Relaxation, Search
from cgboost.parallel.executors import Executor
from cgboost.parallel.pickling import pickled, sendable

SENT_AGAIN = 0.5
"""New columns are sent with every batch until there are so many, relative to those that all workers
can read; then they are put there."""


SENT = "a node its pricer, rules and columns"


@dataclass(frozen=True)
class NodeTask:
    """A node that is to be solved.

    Attributes
    ----------
    decisions : sequence of Decision
        With the cuts.
    near : tuple or None
        Duals of the parent.
    """

    decisions: Sequence[Decision]
    near: Any


@dataclass(frozen=True)
class _WorkerData:
    """What workers can read: all but the name of the search is pickled.

    ``begin`` makes a search of a pricer and a time limit.
    """

    name: str
    begin: bytes
    pricer: bytes
    columns: Sequence[bytes]


@dataclass(frozen=True)
class _State:
    """What a batch begins with: pickled columns that are new, the best solution, and the time."""

    columns: Sequence[bytes]
    objective: float
    seconds: float | None


class ParallelNodes:
    """Solves the relaxations of several nodes on an executor.

    Parameters
    ----------
    executor : Executor
        A batch has as many nodes as it has tasks.
    """

    def __init__(self, search: Search, executor: Executor) -> None:
        self._search, self._executor = search, executor
        self._name, self._shared = uuid.uuid4().hex, None
        self._columns: list[bytes] = []
        self._n_pickled = self._n_shared = self._n_readable = 0

    @property
    def n_nodes(self) -> int:
        """Of a batch."""
        return self._executor.n_tasks

    def solve(self, tasks: Sequence[NodeTask]) -> list[Relaxation]:
        """Relaxations of some nodes, whose new columns come to the pool in their order."""
        search = self._search
        n_columns = len(search.pool)
        if n_columns > self._n_pickled:
            self._columns.append(
                pickled(search.pool.columns[self._n_pickled :], self._executor, SENT)
            )
            self._n_pickled = n_columns
        if n_columns > (1 + SENT_AGAIN) * self._n_readable:
            self._share()
        new = self._columns[self._n_shared :]
        state = _State(new, search.objective, search.seconds_left)
        states = [pickled(task, self._executor, SENT) for task in tasks]
        _, answers = self._executor.run(_solved, list, self._shared, states, state)
        relaxations = []
        for relaxation, columns in (pickle.loads(answer) for answer in answers):
            numbers = np.r_[np.arange(n_columns), search.pool.add(columns)]
            relaxations.append(replace(relaxation, numbers=numbers[relaxation.numbers]))
            search.n_relaxations += 1
        return relaxations

    def _share(self) -> None:
        search, executor = self._search, self._executor
        begin = partial(
            Search,
            search.master.with_rows(copies=search.master.copies),
            objective_step=search.objective_step,
            columns_per_round=search.columns_per_round,
            smoothing=search.smoothing,
            gap=search.gap,
            constant=search.constant,
        )
        begun, pricer = (pickled(own, executor, SENT) for own in (begin, search.pricer))
        self._n_shared, self._n_readable = len(self._columns), self._n_pickled
        self._shared = executor.share(_WorkerData(self._name, begun, pricer, tuple(self._columns)))


class _Worker(threading.local):
    """The last search that a thread of a worker has solved nodes of."""

    name = ""
    search: Search
    n_known = 0


_worker = _Worker()


def _solved(shared: _WorkerData, task: bytes, state: _State) -> tuple[None, bytes]:
    """The relaxation of a node, and the columns that were generated for it."""
    own = _worker
    if own.name != shared.name:
        begin: Callable[..., Search] = pickle.loads(shared.begin)
        own.search = begin(pickle.loads(shared.pricer), time_limit=state.seconds)
        own.name, own.n_known = shared.name, 0
    search = own.search
    for columns in (*shared.columns, *state.columns)[own.n_known :]:
        search.pool.add(pickle.loads(columns))
        own.n_known += 1
    search.pricer = pickle.loads(shared.pricer)
    search.objective, search.time_limit = state.objective, state.seconds
    search.started = time.perf_counter()
    n_columns = len(search.pool)
    try:
        node: NodeTask = pickle.loads(task)
        relaxation = search.relaxation(search.problem(node.decisions, near=node.near))
        if relaxation.error is not None:
            relaxation = replace(relaxation, error=sendable(relaxation.error))
        answer = relaxation, search.pool.columns[n_columns:]
        return None, pickle.dumps(joblib.wrap_non_picklable_objects(answer, keep_wrapper=False))
    finally:
        search.pool.keep(n_columns)
