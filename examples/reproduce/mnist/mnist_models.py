"""Table 1 and Figure 1 of [B]: what the paper prints, and what is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from study_jobs import Job, Measured, Record

from cgboost import CGBoostClassifier
from cgboost.studies.datasets import Split
from cgboost.studies.odd_even import fit_best, parse_library, table_row
from cgboost.studies.scripts import timed


class Printed(NamedTuple):
    """A row of the paper's table: errors in percent, seconds, columns of L, Q and R."""

    train_error: float
    test_error: float
    train_seconds: float
    test_seconds: float
    columns: tuple[int | None, int | None, int | None]


PRINTED: dict[str, dict[str, Printed]] = {
    "l2": {
        "L": Printed(1.1, 18.7, 73.1, 0.2, (969, None, None)),
        "Q": Printed(6, 18.0, 90.3, 4.4, (None, 181, None)),
        "R": Printed(16.2, 22.1, 115.2, 870, (None, None, 971)),
        "L+Q": Printed(3.1, 15.2, 90.9, 0.82, (184, 184, None)),
        "L+R": Printed(15, 20.0, 125.4, 882, (980, None, 980)),
        "L+Q+R": Printed(2.5, 16.1, 158.5, 889, (980, 980, 980)),
        "L,Q,R": Printed(0.4, 13.5, 130.2, 13.4, (122, 20, 13)),
    },
    "l1": {
        "L": Printed(4.8, 15.6, 33.1, 0.2, (171, None, None)),
        "Q": Printed(6.3, 19.6, 54.9, 2.3, (None, 94, None)),
        "R": Printed(40, 38.8, 74.6, 6.4, (None, None, 7)),
        "L+Q": Printed(6.0, 16.5, 73.0, 4.5, (98, 98, None)),
        "L+R": Printed(4.8, 15.8, 83.7, 84, (93, None, 93)),
        "L+Q+R": Printed(6.6, 15.3, 71.1, 85.5, (93, 93, 93)),
        "L,Q,R": Printed(0.9, 13.1, 95.5, 11.1, (77, 10, 12)),
    },
}
SCORED_A_ROUND = 255
"""Columns that the paper's stratified process scores a round; a full scan are 3000."""


STUDY = "table"
MIXTURE = "L,Q,R"
C_VALUES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
CERTIFIED, STOPPED = "certified", "stopped"
BOTH = [(kernels, "full") for kernels in PRINTED["l1"]] + [(MIXTURE, "stratified")]
"""Kernels and order of priority; the mixture also in the paper's order."""


Source = Callable[[int], Split]
"""The rows of a seed."""


class Figures(NamedTuple):
    """What is measured on one split; errors in percent, CPU seconds of the chosen C."""

    train_error: float
    validation_error: float
    test_error: float
    train_seconds: float
    test_seconds: float
    C: float
    columns: float
    columns_l: float
    columns_q: float
    columns_r: float
    scored_a_round: float
    gap: float


def name_of(penalty: str, kernels: str, end: str, priority: str) -> str:
    """How the records call an experiment."""
    return f"{penalty} {kernels}, {end}, {priority}"


def experiments() -> Iterator[tuple[str, str, str, str]]:
    """Norm, kernels, end and priority of every row."""
    for penalty in PRINTED:
        for kernels, priority in BOTH:
            for end in (CERTIFIED, STOPPED):
                yield penalty, kernels, end, priority


def table_record(
    split: Split, penalty: str, kernels: str, end: str, priority: str, seed: int
) -> Record:
    """One experiment on one split."""
    start = time.process_time()
    model, seconds, interrupted = fit_best(
        split,
        parse_library(kernels),
        C_VALUES,
        clock=time.process_time,
        penalty=penalty,
        priority=priority,
        early_stopping=end == STOPPED,
    )
    if interrupted:
        raise KeyboardInterrupt
    row = table_row(kernels, model, split, seconds, clock=time.process_time)
    counts = [_columns(row.columns, letter) for letter in "LQR"]
    figures = Figures(
        row.train_error,
        row.validation_error,
        row.test_error,
        row.train_seconds,
        row.test_seconds,
        row.C,
        float(model.n_columns_),
        *counts,
        row.evaluated_per_round,
        row.gap,
    )
    spent = time.process_time() - start
    name = name_of(penalty, kernels, end, priority)
    return Record(STUDY, name, "figures", seed, tuple(figures), spent)


def figures_of(
    measured: Measured, penalty: str, kernels: str, end: str, priority: str = "full"
) -> list[Figures]:
    """The figures of all seeds."""
    found = measured.chosen(STUDY, name_of(penalty, kernels, end, priority), "figures")
    return [Figures(*record.values) for record in found]


def _columns(columns: dict[str, int], letter: str) -> float:
    """Columns of a kernel; those of a composite count for each of its parts."""
    return float(sum(count for name, count in columns.items() if letter in name.split("+")))


ORDER_STUDY, VALIDATION = "priorities", "validation"
ORDERS = {"regular": "full", "stratified": "stratified"}
PRIORITY_C = 1.0
GOOD_C, BAD_C = 3.0, 1000.0


def fitted(split: Split, C: float, **parameters: Any) -> tuple[CGBoostClassifier, float]:
    """The mixture with the 1-norm, solved to the end, and its CPU time."""
    model = CGBoostClassifier(parse_library(MIXTURE), C=C, penalty="l1", tol=1e-6, **parameters)
    held = (split.X_validation, split.y_validation)
    seconds, _ = timed(partial(model.fit, eval_set=held), split.X_train, split.y_train)
    return model, seconds


def priority_records(split: Split, order: str, seed: int) -> Iterator[Record]:
    """Objective, columns and scores round by round, with one column a round as in the paper."""
    model, seconds = fitted(split, PRIORITY_C, priority=ORDERS[order], columns_per_round=1)
    history = model.history_
    curves = {
        "objective": history["objective"],
        "columns": history["columns"],
        "scored": np.cumsum(history["evaluated"]),
    }
    for name, values in curves.items():
        yield Record(ORDER_STUDY, order, name, seed, tuple(map(float, values)), seconds / 3)


def validation_records(split: Split, C: float, seed: int) -> Iterator[Record]:
    """Validation error after every round, and where early stopping ends and what it keeps."""
    model, seconds = fitted(split, C, priority="full", columns_per_round=5)
    history = model.history_
    curves = {"columns": history["columns"], "error": 100 * history["validation_error"]}
    stopped, spent = fitted(split, C, priority="full", columns_per_round=5, early_stopping=True)
    columns = stopped.history_["columns"]
    places = (float(columns[stopped.best_round_]), float(columns[-1]))
    for name, values in curves.items():
        yield Record(VALIDATION, f"{C:g}", name, seed, tuple(map(float, values)), seconds / 2)
    yield Record(VALIDATION, f"{C:g}", "stopped", seed, places, spent)


def table_jobs(split_of: Source, seeds: Iterable[int]) -> Iterator[Job]:
    """Table 1, one split after the other."""
    for seed in seeds:
        for row in experiments():

            def run(seed: int = seed, row: Any = row) -> list[Record]:
                return [table_record(split_of(seed), *row, seed)]

            yield Job(STUDY, name_of(*row), seed, run)


def figure_jobs(split_of: Source, seed: int) -> Iterator[Job]:
    """Figure 1 on one split."""
    for order in ORDERS:
        run = partial(lambda x: priority_records(split_of(seed), x, seed), order)
        yield Job(ORDER_STUDY, order, seed, run)
    for C in (GOOD_C, BAD_C):
        run = partial(lambda x: validation_records(split_of(seed), x, seed), C)
        yield Job(VALIDATION, f"{C:g}", seed, run)
