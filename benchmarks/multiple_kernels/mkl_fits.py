"""What is measured of a data set and a seed: one record for every method.

C, and what else a method has to choose, is chosen by cross-validation on the training rows, in the
same way for every method; then the model is fitted to all training rows. SimpleMKL solves the
problem of the squared group norm,

    ½ (Σ_p s_p‖f_p‖)² + C Σ ξ,

and gets the C that was chosen there; again, C and the scales s_p of its paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Any

import numpy as np
from mkl_data import Rows, folds
from mkl_methods import (
    BEST_KERNELS,
    METHODS,
    PAPERS_COST,
    SIMPLE,
    SIMPLE_PAPER,
    SINGLE,
    SQUARED,
    Method,
    simple,
)

from cgboost.studies.scripts import timed


@dataclass(frozen=True)
class Measured:
    """One method on one split.

    Attributes
    ----------
    data, method : str
    seed : int
    choice : str
        C, and what else was chosen.
    validation, accuracy : float
        Per cent, over the folds and of the test rows.
    kernels : int
        Kept.
    seconds : float
        CPU time of the fit, from the features, Gram matrices included.
    choosing : float
        CPU time of the cross-validation.
    objective, gap : float
        Where there are such.
    """

    data: str
    method: str
    seed: int
    choice: str
    validation: float
    accuracy: float
    kernels: int
    seconds: float
    choosing: float
    objective: float
    gap: float


def chosen(method: Method, parts: Sequence[Rows], choices: Sequence[Any]) -> tuple[Any, float]:
    """The first of the choices with the best accuracy over the folds, and that accuracy."""
    means = mean_accuracies(method, parts, choices)
    best = int(np.argmax(means))
    return choices[best], float(means[best])


def mean_accuracies(method: Method, parts: Sequence[Rows], choices: Sequence[Any]) -> Any:
    """Of every choice, over the folds."""
    found = [[part.accuracy(own) for own in method.outputs(part, choices)] for part in parts]
    return np.mean(found, axis=0)


def chosen_kernel(parts: Sequence[Rows]) -> tuple[tuple[int, float], float]:
    """The kernel and C with the best accuracy: all kernels with C = 1, then the best with all C."""
    method = METHODS[SINGLE]
    every = [(p, 1.0) for p in range(len(parts[0].grams))]
    means = mean_accuracies(method, parts, every)
    best = np.argsort(-means, kind="stable")[:BEST_KERNELS]
    return chosen(method, parts, [(int(p), C) for p in best for C in method.choices])


def measured(
    data: str, seed: int, rows: Rows, wanted: Sequence[str], there: Mapping[str, Measured]
) -> Iterator[Measured]:
    """The records of these methods, each as soon as it is there, besides those that are."""
    found, make = dict(there), partial(record, data, seed, rows)
    chosen_here = [name for name in wanted if name in METHODS]
    parts = list(folds(rows, seed)) if chosen_here else []
    for name in chosen_here:
        method = METHODS[name]
        choose = chosen_kernel if name == SINGLE else chosen
        arguments = (parts,) if name == SINGLE else (method, parts, method.choices)
        seconds, (choice, best) = timed(choose, *arguments)
        found[name] = make(name, choice, method, validation=best, choosing=seconds)
        yield found[name]
    machine = Method(simple, ())
    if SIMPLE in wanted:
        yield make(SIMPLE, (cost_of(found[SQUARED]), True), machine)
    if SIMPLE_PAPER in wanted:
        yield make(SIMPLE_PAPER, (PAPERS_COST / len(rows.y), False), machine)


def record(
    data: str,
    seed: int,
    rows: Rows,
    name: str,
    choice: Any,
    method: Method,
    *,
    validation: float = nan,
    choosing: float = 0.0,
) -> Measured:
    """Fit to all training rows."""
    seconds, found = timed(method.fit, rows, choice)
    return Measured(
        data=data,
        method=name,
        seed=seed,
        choice=worded(name, choice, rows),
        validation=validation,
        accuracy=rows.accuracy(found.outputs),
        kernels=found.kernels,
        seconds=seconds + rows.gram_seconds * method.needs_grams,
        choosing=choosing,
        objective=found.objective,
        gap=found.gap,
    )


def cost_of(found: Measured) -> float:
    """C of a record whose choice is C alone."""
    return float(found.choice.removeprefix("C="))


def worded(name: str, choice: Any, rows: Rows) -> str:
    """As a person would say it."""
    if not isinstance(choice, tuple):
        return f"C={choice:.6g}"
    first, C = choice
    if isinstance(C, bool):
        return f"C={first:.6g}"
    return f"{rows.names[first]}; C={C:g}" if isinstance(first, int) else f"λ={first:g}, C={C:g}"
