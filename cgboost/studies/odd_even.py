"""The odd/even study of [B] section 5: digits, a mixture of kernels, C chosen on validation.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

import csv
import io
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cgboost.estimators.kernel.cg_boost import CGBoostClassifier
from cgboost.exceptions import TrivialModelWarning
from cgboost.generation.history import StopReason
from cgboost.generation.progress import ProgressLine
from cgboost.kernels import Kernel
from cgboost.kernels.library import KernelLibrary
from cgboost.kernels.numeric.distances import RBF
from cgboost.kernels.numeric.inner_products import Linear, Polynomial
from cgboost.persistence import write_text
from cgboost.studies.datasets import Split

Clock = Callable[[], float]

KERNELS: dict[str, Kernel] = {"L": Linear(), "Q": Polynomial(2), "R": RBF()}


@dataclass(frozen=True)
class Row:
    """One row of [B] Table 1: errors in percent, times in seconds, columns per kernel."""

    kernels: str
    penalty: str
    priority: str
    C: float
    train_error: float
    validation_error: float
    test_error: float
    train_seconds: float
    test_seconds: float
    columns: dict[str, int]
    evaluated_per_round: float
    gap: float

    def as_record(self) -> dict[str, Any]:
        """The row as a flat dict for a CSV file; ``columns_L`` and so on count columns.

        Numbers have six significant digits.
        """
        record = asdict(self)
        counts = record.pop("columns")
        for name, value in record.items():
            if isinstance(value, float):
                record[name] = float(f"{value:.6g}")
        return record | {f"columns_{name}": count for name, count in counts.items()}


class Chosen(NamedTuple):
    """The model with the lowest validation error; of equally good ones that with fewest columns.

    Attributes
    ----------
    model : CGBoostClassifier
    seconds : float
        Training time of this model alone.
    interrupted : bool
        Whether Ctrl-C ended the search, so that not every C was tried to its end.
    """

    model: CGBoostClassifier
    seconds: float
    interrupted: bool


def parse_library(kernels: str, *, normalize: bool = True, negation: bool = True) -> KernelLibrary:
    """Library from a word like ``"L,Q,R"`` (a mixture) or ``"L+Q"`` (a composite kernel).

    With ``normalize`` every kernel is normalised before kernels are added up, so that a composite
    weighs its parts equally. With α ≥ 0 and ``negation=False`` a kernel can only be added, as in
    [B] (4) and (7).
    """
    library: dict[str, Kernel] = {}
    for name in kernels.split(","):
        letters = name.strip().upper().split("+")
        unknown = [letter for letter in letters if letter not in KERNELS]
        if unknown or name.strip().upper() in library:
            raise ValueError(
                f"kernels must be letters of {', '.join(KERNELS)} joined by ',' (mixture) or '+' "
                f"(composite), each part once; got {kernels!r}"
            )
        library["+".join(letters)] = reduce(add, [KERNELS[letter] for letter in letters])
    return KernelLibrary(library, normalize=normalize, negation=negation)


def fit_best(
    split: Split,
    library: KernelLibrary,
    C_values: Sequence[float],
    *,
    progress: bool = False,
    clock: Clock = time.perf_counter,
    **parameters: Any,
) -> Chosen:
    """Fit for every C and keep the model with the lowest validation error.

    Of models with equal errors the one with fewest columns is kept, then the one with the C that
    comes first. ``progress`` shows a line for each C on the standard error stream. After Ctrl-C the
    models so far, the interrupted one included, are the candidates. ``clock`` tells the time in
    seconds, ``time.process_time`` for that of the processor. A candidate without columns, for a
    small C, is no warning.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C came before there was any model.
    """
    best: tuple[tuple[float, int], CGBoostClassifier, float] | None = None
    interrupted = False
    for C in C_values:
        aims: dict[str, Any] = {
            name: parameters.get(name) for name in ("tol", "max_columns", "time_limit")
        }
        line = [ProgressLine(f"C={C:g}: ", **aims)] if progress else None
        model = CGBoostClassifier(library, C=C, callbacks=line, **parameters)
        start = clock()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TrivialModelWarning)
                model.fit(
                    split.X_train, split.y_train, eval_set=(split.X_validation, split.y_validation)
                )
        except KeyboardInterrupt:  # before the first round of this C
            if best is None:
                raise
            interrupted = True
            break
        seconds = clock() - start
        rank = _error(model, split.X_validation, split.y_validation), model.n_columns_
        if best is None or rank < best[0]:
            best = rank, model, seconds
        if interrupted := model.stop_reason_ == StopReason.INTERRUPTED:
            break
    if best is None:
        raise ValueError("C_values must hold at least one value of C")
    return Chosen(best[1], best[2], interrupted)


def table_row(
    kernels: str,
    model: CGBoostClassifier,
    split: Split,
    train_seconds: float,
    *,
    clock: Clock = time.perf_counter,
) -> Row:
    """Measure a fitted model as [B] Table 1 does; ``clock`` as in :func:`fit_best`."""
    start = clock()
    test_error = _error(model, split.X_test, split.y_test)
    test_seconds = clock() - start
    return Row(
        kernels=kernels,
        penalty=str(model.penalty),
        priority=model.priority,
        C=model.C,
        train_error=_error(model, split.X_train, split.y_train),
        validation_error=_error(model, split.X_validation, split.y_validation),
        test_error=test_error,
        train_seconds=train_seconds,
        test_seconds=test_seconds,
        columns=model.columns_per_kernel_,
        evaluated_per_round=float(model.history_["evaluated"].mean()),
        gap=model.gap_,
    )


def write_table(path: Path, table: Mapping[str, Any]) -> None:
    """Write a dict of equal-length arrays as CSV."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    write_text(path, text.getvalue())


def _error(model: CGBoostClassifier, X: Any, y: Any) -> float:
    return 100.0 * float(np.mean(model.predict(X) != y))
