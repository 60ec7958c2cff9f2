"""The tasks: which rows, which measure, and who takes part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from entrants import Entrant
from line_up import digit_entrants, number_entrants, table_entrants
from numpy.typing import NDArray
from same_problem import latent_entrants, program_entrants
from sklearn.metrics import roc_auc_score
from task_rows import (
    ADULT_IS_NUMBER,
    FACTORS,
    Rows,
    adult_rows,
    boston_rows,
    diabetes_rows,
    digit_rows,
    latent_rows,
    program_rows,
)

Vector = NDArray[np.float64]
Measure = Literal["error, %", "AUC, %", "RMSE"]


@dataclass(frozen=True)
class Task:
    """What is compared.

    Attributes
    ----------
    name, title : str
    measure : str
    rows : callable
        The rows of a seed.
    entrants : tuple of Entrant
    compared : str
        The head of the column for what is compared beyond accuracy; empty for none.
    """

    name: str
    title: str
    measure: Measure
    rows: Callable[[int], Rows]
    entrants: tuple[Entrant, ...] = field(repr=False)
    compared: str = ""

    @property
    def higher_is_better(self) -> bool:
        """True of the area under the ROC curve."""
        return self.measure == "AUC, %"


def score(measure: Measure, model: Any, X: Any, y: Vector) -> Callable[[], float]:
    """Predict now; what is returned then scores the predictions, so that only they are timed."""
    if measure == "AUC, %":
        outputs = (
            model.decision_function(X)
            if hasattr(model, "decision_function")
            else np.asarray(model.predict_proba(X))
        )
        if outputs.ndim > 1:
            outputs = outputs[:, 1]
        return lambda: 100.0 * float(roc_auc_score(y, outputs))
    found = np.ravel(model.predict(X))
    if measure == "RMSE":
        return lambda: float(np.sqrt(np.mean(np.square(found - y))))
    return lambda: 100.0 * float(np.mean(found != y))


def all_tasks(folder: Path | str | None) -> Iterator[Task]:
    """Every task; ``folder`` is read only when rows are asked for."""
    yield Task(
        "digits",
        "MNIST, odd against even",
        "error, %",
        lambda seed: digit_rows(folder, seed),
        digit_entrants(),
    )
    yield Task(
        "adult",
        "Adult, a table with categories",
        "AUC, %",
        lambda seed: adult_rows(folder, seed),
        table_entrants(ADULT_IS_NUMBER),
    )
    yield Task(
        "boston",
        "Boston housing, a small table of numbers",
        "RMSE",
        lambda seed: boston_rows(folder, seed),
        number_entrants(),
    )
    yield Task(
        "diabetes",
        "Diabetes, a small table with little to find",
        "RMSE",
        diabetes_rows,
        number_entrants(),
    )
    for n_rows, n_features in ((10000, 500), (500, 10000)):
        yield Task(
            f"latent {n_rows} x {n_features}",
            f"Latent factors, {n_rows} × {n_features}",
            "RMSE",
            lambda seed, n=n_rows, d=n_features: latent_rows(n, d, seed),
            latent_entrants(FACTORS),
            "coefficients differ by",
        )
    programs: tuple[tuple[str, str, str, float, int, int], ...] = (
        ("ionosphere", "lp", "lp_boost", 0.1, 200, 200),
        ("ionosphere", "lp", "lp_boost", 1.0, 200, 80),
        ("wdbc", "lp", "lp_boost", 0.1, 300, 200),
        ("wdbc", "qp", "cg_boost", 0.1, 120, 60),
    )
    for data, formulation, solver, C, n_train, most in programs:
        yield Task(
            f"{formulation} {data} C={C:g}",
            f"{PROGRAMS[formulation]}, {data}, C = {C:g}",
            "error, %",
            lambda seed, name=data, n=n_train: program_rows(folder, name, n, seed),
            program_entrants(formulation, solver, C, most),
            "objective",
        )


PROGRAMS = {"lp": "LPBoost's linear program", "qp": "CG-Boost's quadratic program"}
