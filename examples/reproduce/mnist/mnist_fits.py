"""Table 1 of [B]: every kernel, composite and mixture, with C chosen on the validation set."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from mnist_printed import PRINTED
from transform_regression.measured import Measured, Record

from cgboost.studies.datasets import Split
from cgboost.studies.odd_even import fit_best, parse_library, table_row

STUDY = "table"
MIXTURE = "L,Q,R"
C_VALUES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
CERTIFIED, STOPPED = "certified", "stopped"
PRIORITIES = ("full", "stratified")
BOTH = [(kernels, "full") for kernels in PRINTED["l1"]] + [(MIXTURE, "stratified")]
"""Kernels and order of priority; the mixture also in the paper's order."""


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
