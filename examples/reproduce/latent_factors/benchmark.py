"""All models on all splits of the six data sets, and the errors behind Figure 3."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from benchmark_data import FOLDS, Data, Matrix, Problem, problem
from contenders import (
    CLASS_LOSSES,
    DAMPING,
    NUMBER_LOSSES,
    ClassLoss,
    Outcome,
    PrincipalComponents,
    latent_factors,
    support_vectors,
)
from records import Curve, Record

from cgboost import BLFClassifier
from cgboost.inspection.model_pictures import component_errors

CURVE_LOSSES: tuple[ClassLoss, ...] = ("log_loss", "squared_error")
CURVE_LENGTH = 30


def table_records(
    data: dict[str, Data], splits: int, known: set[tuple[str, int]]
) -> Iterator[list[Record]]:
    """The records of one split of one data set after the other; known ones are left out."""
    for split in range(splits):
        for name, rows in data.items():
            if (name, split) not in known and not (rows.is_regression and split >= FOLDS):
                yield [
                    record
                    for kernel in ("linear", "rbf")
                    for record in measured(name, problem(rows, split, kernel), split)
                ]


def measured(name: str, given: Problem, split: int) -> Iterator[Record]:
    """Every model on one split with one kernel."""
    for model, contender in contenders(given).items():
        start = time.process_time()
        own, held, size = contender()
        seconds = time.process_time() - start
        train = score(own, given.y, given.is_regression)
        test = score(held, given.held_y, given.is_regression)
        yield Record(name, given.kernel, model, split, train, test, float(size), seconds)


def contenders(given: Problem) -> dict[str, Callable[[], Outcome]]:
    """What is compared: the losses, a support vector machine, and principal components."""
    losses = NUMBER_LOSSES if given.is_regression else CLASS_LOSSES
    found: dict[str, Callable[[], Outcome]] = {
        loss: partial(latent_factors, given, loss) for loss in losses
    }
    found["svm"] = partial(support_vectors, given)
    if given.kernel == "rbf" and not given.is_regression:
        principal = PrincipalComponents(given)
        for loss in losses:
            found[f"pca {loss}"] = partial(principal.outcome, loss)
    return found


def score(outputs: Matrix, y: Matrix, is_regression: bool) -> float:
    """Mean squared error, or accuracy in per cent."""
    if is_regression:
        return float(np.mean(np.square(outputs - y)))
    return float(100 * np.mean(outputs == y))


def error_curves(data: Data, splits: int, known: set[tuple[str, int]]) -> Iterator[list[Curve]]:
    """Errors in per cent with 1, 2, … linear factors, on training and test rows."""
    for split in range(splits):
        if (data.name, split) in known:
            continue
        given = problem(data, split, "linear")
        sets = {"train": (given.train, given.y), "test": (given.held, given.held_y)}
        found = []
        for loss in CURVE_LOSSES:
            count = min(CURVE_LENGTH, given.train.shape[1])
            model = BLFClassifier(count, loss=loss, newton_damping=DAMPING)
            errors = component_errors(model.fit(given.train, given.y), sets)
            for part in sets:
                values = tuple(float(100 * error) for error in errors[part])
                found.append(Curve(data.name, f"{loss} {part}", split, values))
        yield found
