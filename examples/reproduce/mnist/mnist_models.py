"""Table 1 and Figure 1 of [B]: what the paper prints, and what is measured."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from study_jobs import Job, Measured, Record

from cgboost import CGBoostClassifier, KernelLibrary
from cgboost.exceptions import KernelScaleWarning, TrivialModelWarning
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


MIXTURE = "L,Q,R"
C_VALUES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
RAW_C_VALUES = tuple(float(f"1e{power}") for power in range(-7, 3))
"""Of unscaled kernels; with the 2-norm their C goes with the square of the kernel's size."""
CERTIFIED, STOPPED = "certified", "stopped"


@dataclass(frozen=True)
class Setting:
    """How the models of a Table 1 are set.

    Attributes
    ----------
    title : str
    ends : tuple of str
        Certified optimum, or stopped where the validation error was lowest.
    normalize : bool
        Divide kernels by √(k(x, x) k(z, z)).
    coef : str
        Sign rule of α.
    orders : tuple of str
        Orders of priority in which the mixture is fitted.
    """

    title: str
    ends: tuple[str, ...] = (CERTIFIED, STOPPED)
    normalize: bool = True
    coef: str = "free"
    orders: tuple[str, ...] = ("full",)

    @property
    def prices(self) -> tuple[float, ...]:
        """The values of C to choose from."""
        return C_VALUES if self.normalize else RAW_C_VALUES

    def library(self, kernels: str) -> KernelLibrary:
        """The columns; with α ≥ 0 they can only be added, as in the paper's (4) and (7)."""
        return parse_library(kernels, normalize=self.normalize, negation=self.coef == "free")


FREE, NONNEG, UNSCALED = "free", "nonneg", "unscaled"
SETTINGS = {
    FREE: Setting("α free", orders=("full", "stratified", "strict")),
    NONNEG: Setting("α ≥ 0", coef="nonneg"),
    UNSCALED: Setting("α free, unscaled kernels", (CERTIFIED,), normalize=False),
}


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


def experiments(setting: str) -> Iterator[tuple[str, str, str, str]]:
    """Norm, kernels, end and priority of every row."""
    for penalty in PRINTED:
        for kernels in PRINTED[penalty]:
            orders = SETTINGS[setting].orders if kernels == MIXTURE else ("full",)
            for priority in orders:
                for end in SETTINGS[setting].ends:
                    yield penalty, kernels, end, priority


def table_record(
    split: Split, setting: str, penalty: str, kernels: str, end: str, priority: str, seed: int
) -> Record:
    """One experiment on one split."""
    start = time.process_time()
    chosen = SETTINGS[setting]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (KernelScaleWarning, TrivialModelWarning))
        model, seconds, interrupted = fit_best(
            split,
            chosen.library(kernels),
            chosen.prices,
            clock=time.process_time,
            penalty=penalty,
            coef=chosen.coef,
            offset="free",
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
    return Record(setting, name, "figures", seed, tuple(figures), spent)


def figures_of(
    measured: Measured,
    setting: str,
    penalty: str,
    kernels: str,
    end: str = CERTIFIED,
    priority: str = "full",
) -> list[Figures]:
    """The figures of all seeds."""
    found = measured.chosen(setting, name_of(penalty, kernels, end, priority), "figures")
    return [Figures(*record.values) for record in found]


def _columns(columns: dict[str, int], letter: str) -> float:
    """Columns of a kernel; those of a composite count for each of its parts."""
    return float(sum(count for name, count in columns.items() if letter in name.split("+")))


ORDER_STUDY, VALIDATION = "priorities", "validation"
ORDERS = {"regular": "full", "stratified": "stratified", "strict": "strict"}
PRIORITY_C = 1.0
GOOD_C, BAD_C = 3.0, 1000.0


def fitted(
    split: Split, C: float, penalty: str = "l1", tol: float = 1e-6, **parameters: Any
) -> tuple[CGBoostClassifier, float]:
    """The mixture with free α, by default solved to the end, and its CPU time."""
    library = parse_library(MIXTURE)
    model = CGBoostClassifier(
        library, C=C, penalty=penalty, coef="free", offset="free", tol=tol, **parameters
    )
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


LIMITS, LIMIT_STUDY, LIMIT_C = (100, 200, 400), "limits", 3.0
MNIST, DIGITS = "MNIST", "digits of scikit-learn"


def limit_name(data: str, penalty: str, order: str, limit: int) -> str:
    """How the records call a run with a limit on columns."""
    return f"{data}, {penalty}, {order}, {limit}"


def limit_record(
    split: Split, name: str, penalty: str, order: str, limit: int, seed: int
) -> Record:
    """Validation error and columns per kernel of a mixture that may have so many columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model, seconds = fitted(
            split, LIMIT_C, penalty, priority=ORDERS[order], max_columns=limit, tol=1e-4
        )
    error = 100.0 * float(np.mean(model.predict(split.X_validation) != split.y_validation))
    counts = [float(count) for count in model.columns_per_kernel_.values()]
    return Record(LIMIT_STUDY, name, "figures", seed, (error, *counts), seconds)


def limits() -> Iterator[tuple[str, str, str, int]]:
    """Data, norm, order and limit of every run."""
    yield from product((MNIST, DIGITS), PRINTED, ORDERS, LIMITS)


def table_jobs(setting: str, split_of: Source, seeds: Iterable[int]) -> Iterator[Job]:
    """Table 1 in a setting, one split after the other."""
    for seed in seeds:
        for row in experiments(setting):

            def run(seed: int = seed, row: Any = row) -> list[Record]:
                return [table_record(split_of(seed), setting, *row, seed)]

            yield Job(setting, name_of(*row), seed, run)


def limit_jobs(split_of: Source, digits_of: Source, seeds: Iterable[int]) -> Iterator[Job]:
    """Runs with a limit on columns, on both data sets."""
    for seed in seeds:
        for data, *row in limits():
            name = limit_name(data, *row)

            def run(seed: int = seed, data: str = data, row: Any = row, name: str = name) -> Any:
                split = (split_of if data == MNIST else digits_of)(seed)
                return [limit_record(split, name, *row, seed)]

            yield Job(LIMIT_STUDY, name, seed, run)


def figure_jobs(split_of: Source, seed: int) -> Iterator[Job]:
    """Figure 1 on one split."""
    for order in ORDERS:
        run = partial(lambda x: priority_records(split_of(seed), x, seed), order)
        yield Job(ORDER_STUDY, order, seed, run)
    for C in (GOOD_C, BAD_C):
        run = partial(lambda x: validation_records(split_of(seed), x, seed), C)
        yield Job(VALIDATION, f"{C:g}", seed, run)
