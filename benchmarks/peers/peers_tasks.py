"""The tasks: the rows of a seed in the forms asked for, the measure, and who takes part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from peers_entrants import (
    Entrant,
    digit_entrants,
    latent_entrants,
    number_entrants,
    program_entrants,
    table_entrants,
)
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes
from sklearn.metrics import roc_auc_score
from study_data import as_categories, read_data, read_uci

from cgboost.studies.datasets import data_folder, odd_even_split

Vector = NDArray[np.float64]

FACTORS = 10
ADULT_ROWS = 6000, 3000
"""Rows to train on and to choose with, drawn from adult.data; adult.test is the test set."""

ADULT_IS_NUMBER = tuple(j in (0, 2, 4, 10, 11, 12) for j in range(14))
RACE_COLUMN = 11
"""Column B of the Boston data, which was made from race, and is left out."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Training, validation and test rows of one seed.

    Attributes
    ----------
    forms : dict
        The features in the forms that entrants ask for, three parts each.
    y : tuple of ndarray
    reference : ndarray or None
        Coefficients to compare with.
    """

    forms: dict[str, tuple[Any, Any, Any]]
    y: tuple[Vector, Vector, Vector]
    reference: Vector | None = None


def digit_rows(folder: Path | str | None, seed: int) -> Rows:
    """Images of MNIST."""
    split = odd_even_split(data_folder(folder), seed=seed)
    X = (split.X_train, split.X_validation, split.X_test)
    y = (split.y_train, split.y_validation, split.y_test)
    return Rows({"numbers": X}, y)  # type: ignore[arg-type]


def adult_rows(folder: Path | str | None, seed: int) -> Rows:
    """Adult as text, as categories, and as numbers of categories (0 where missing)."""
    data = next(read_data(data_folder(folder)))
    order = np.random.default_rng(seed).permutation(len(data.y))
    n_train, n_validation = ADULT_ROWS
    parts = (order[:n_train], order[n_train : n_train + n_validation])
    categories, test_categories = as_categories(data.X, data.X_test)
    forms = {
        "text": (data.X, data.X_test),
        "categories": (categories, test_categories),
        "codes": (numbered(categories), numbered(test_categories)),
    }
    return Rows(
        {
            name: (_rows(X, parts[0]), _rows(X, parts[1]), X_test)
            for name, (X, X_test) in forms.items()
        },
        (data.y[parts[0]], data.y[parts[1]], data.y_test),
    )


def numbered(table: Any) -> Vector:
    """Numbers of the categories from 1 on, 0 where missing."""
    columns = [
        own.cat.codes + 1 if own.dtype == "category" else own
        for own in (table[name] for name in table)
    ]
    return np.column_stack(columns).astype(np.float64)


def _rows(table: Any, rows: Any) -> Any:
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def boston_rows(folder: Path | str | None, seed: int) -> Rows:
    """506 towns; the target is the last column."""
    X, y = read_uci(data_folder(folder), "boston_housing")
    return standardised(np.delete(X, RACE_COLUMN, axis=1), y, seed)


def diabetes_rows(seed: int) -> Rows:
    """442 patients."""
    return standardised(*load_diabetes(return_X_y=True), seed)


def standardised(X: Vector, y: Vector, seed: int) -> Rows:
    """60 % to train, 20 % to choose, 20 % to test; means 0 and deviations 1 of the first."""
    order = np.random.default_rng(seed).permutation(len(y))
    parts = np.split(order, [round(0.6 * len(y)), round(0.8 * len(y))])
    train = parts[0]
    X = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    y = (y - y[train].mean()) / y[train].std()
    return Rows({"numbers": tuple(X[part] for part in parts)}, tuple(y[part] for part in parts))  # type: ignore[arg-type]


def latent_rows(n_rows: int, n_features: int, seed: int, n_test: int = 1000) -> Rows:
    """Features that share a few factors with y; scikit-learn's coefficients are the reference."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n_rows + n_test, FACTORS))
    X = factors @ rng.normal(size=(FACTORS, n_features)) + rng.normal(
        size=(len(factors), n_features)
    )
    y = factors @ rng.normal(size=FACTORS) + 0.5 * rng.normal(size=len(factors))
    X_train, y_train, test = X[:n_rows], y[:n_rows], slice(n_rows, None)
    coef = PLSRegression(FACTORS, scale=False).fit(X_train, y_train).coef_
    return Rows({"numbers": (X_train, X[test], X[test])}, (y_train, y[test], y[test]), coef.ravel())


def program_rows(folder: Path | str | None, name: str, n_train: int, seed: int) -> Rows:
    """Numbers and two classes, ±1; the rows that are not trained on are the test."""
    X, label = read_uci(data_folder(folder), name)
    order = np.random.default_rng(seed).permutation(len(X))
    X, y = X[order], np.where(label[order] == np.unique(label)[-1], 1, -1)
    X_test, y_test = X[n_train:], y[n_train:]
    return Rows({"numbers": (X[:n_train], X_test, X_test)}, (y[:n_train], y_test, y_test))


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
