"""Explicit regularisation: a penalty on the coefficients of the factors, log and exponential loss.

Kernel models on the paper's data sets of classes. Its tables damp a single Newton step; here that
is compared with refits to the optimum, without and with the penalty. Sizes of penalties and numbers
of factors are chosen by the errors on the same inner folds.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from latent_models import MOST, Data, Problem, problem
from page_tables import plus_minus
from scipy.stats import ttest_rel
from study_jobs import Record

from cgboost import BLFClassifier, Precomputed
from cgboost.estimators.latent.latent_factors import smoothed

STUDY = "penalty"
LOSSES = ("log_loss", "exponential")
RIDGES = (0.01, 0.03, 0.1, 0.3, 1.0)
WAYS = ("damped step", "full refits", "full refits, penalty", f"{MOST} factors, penalty")
LEVEL = 0.05


def ridge_records(
    data: dict[str, Data], splits: int, known: set[tuple[str, str, str, int]]
) -> Iterator[list[Record]]:
    """The records of one split of one data set of classes after the other."""
    for loss in LOSSES:
        for split in range(splits):
            for name, rows in data.items():
                key = (STUDY, f"{name}, {loss}", WAYS[-1], split)
                if not rows.is_regression and key not in known:
                    yield list(split_records(f"{name}, {loss}", problem(rows, split, "rbf"), split))


def split_records(name: str, given: Problem, split: int) -> Iterator[Record]:
    """Test accuracy in per cent, mean log loss, number of factors and λ of each way."""
    loss = name.split(", ")[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # separated rows
        damped = fitted(given, loss, newton_steps=1, newton_damping=0.1)
        free = {ridge: fitted(given, loss, l2_regularization=ridge) for ridge in (0.0, *RIDGES)}
        penalised = [free[ridge] for ridge in RIDGES]
        best = min(penalised, key=lambda model: smoothed(model.cv_errors_).min())
        last = min(penalised, key=lambda model: smoothed(model.cv_errors_)[-1])
        full = fitted(given, loss, n=MOST, l2_regularization=last.l2_regularization)
    for way, model in zip(WAYS, (damped, free[0.0], best, full), strict=True):
        f = model.decision_function(given.held_gram)
        values = (
            float(100 * np.mean(model.predict(given.held_gram) == given.held_y)),
            float(np.mean(np.logaddexp(0.0, -2.0 * given.held_y * f))),
            float(model.n_components_),
            model.l2_regularization,
        )
        yield Record(STUDY, name, way, split, values)


def fitted(given: Problem, loss: str, *, n: Any = "cv", **settings: Any) -> BLFClassifier:
    """A kernel model, refitted to the optimum unless said otherwise."""
    how = {"newton_steps": None, "newton_damping": 0.0} | settings
    model = BLFClassifier(
        n, loss=loss, kernel=Precomputed(), cv=given.folds, max_components=MOST, **how
    )
    return model.fit(given.gram, given.y)


RIDGE_HEADER = (
    "data, loss | refits | accuracy, % | against the damped step | log loss | "
    "against the damped step | factors | λ, median"
)


def ridge_rows(records: Sequence[Record]) -> Iterator[list[str]]:
    """A row for every data set, loss and way."""
    found: dict[str, dict[str, dict[int, tuple[float, ...]]]] = {}
    for record in records:
        found.setdefault(record.data, {}).setdefault(record.model, {})[record.seed] = record.values
    for data, ways in found.items():
        runs = {way: np.array([v for _, v in sorted(own.items())]) for way, own in ways.items()}
        base = runs[WAYS[0]]
        for way, own in runs.items():
            yield [
                data,
                way,
                plus_minus(list(own[:, 0])),
                "" if own is base else compared(own[:, 0] - base[:, 0]),
                plus_minus(list(own[:, 1]), 3),
                "" if own is base else compared(base[:, 1] - own[:, 1]),
                f"{own[:, 2].mean():.1f}",
                f"{np.median(own[:, 3]):g}",
            ]


def compared(gains: np.ndarray) -> str:
    """What a paired t-test says of gains."""
    if len(gains) < 2 or not gains.any() or ttest_rel(gains, np.zeros(len(gains))).pvalue >= LEVEL:
        return "no difference"
    return "better" if gains.mean() > 0 else "worse"
