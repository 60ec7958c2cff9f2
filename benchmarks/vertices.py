"""Columns of 1-norm models: the interior point with its crossover against the HiGHS simplex.

    python benchmarks/vertices.py [--data DATA] [--only WORD …] [--repeat 3] [--write]

Every problem is fitted with ``solver="auto"`` and with ``solver="highs"``, to a relative gap of
1e-9 (where both must find the same optimum) and of 1e-4, the default. Reported are the columns with
a nonzero coefficient, by how much the objective of "auto" exceeds that of "highs", relative to it,
and the least seconds of the processor among the repetitions. Features have mean 0 and variance 1
(pixels: 0 to 1). ``--data`` (or the environment variable CGBOOST_DATA) names the folder with MNIST
and ``uci``. ``--write`` puts the rows into ``docs/development/performance/vertices.csv``.
"""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
    LPBoostClassifier,
    LPBoostRegressor,
    Polynomial,
)
from cgboost.exceptions import TrivialModelWarning
from cgboost.losses import Quantile
from cgboost.studies.datasets import data_folder, load_digits, load_mnist
from cgboost.studies.scripts import options

TABLE = Path(__file__).parents[1] / "docs" / "development" / "performance" / "vertices.csv"
TOLERANCES = (1e-9, 1e-4)
HEAD = ("problem", "tol", "columns, auto", "columns, highs", "objective, auto − highs")
SECONDS = ("auto, CPU s", "highs, CPU s")

Problem = tuple[str, Callable[..., Any], dict[str, Any], Any]
"""Name, estimator, its parameters, and what its ``fit`` is given."""


def mixture(*, negation: bool = True) -> KernelLibrary:
    """A linear, a quadratic and a Gaussian kernel."""
    kernels = {"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF()}
    return KernelLibrary(kernels, normalize=True, negation=negation)


def table(name: str, folder: Path) -> tuple[Any, Any]:
    """A classification problem of ``uci``: all columns but the last, standardised, and it."""
    values = np.loadtxt(folder / "uci" / f"{name}.csv", delimiter=",", skiprows=1, dtype=str)
    return StandardScaler().fit_transform(values[:, :-1].astype(float)), values[:, -1]


def problems(folder: Path) -> Iterator[Problem]:
    """All of them."""

    def kernels(**parameters: Any) -> dict[str, Any]:
        return {"library": mixture(), "penalty": "l1", **parameters}

    classes, numbers = CGBoostClassifier, CGBoostRegressor
    X, digit = load_digits()
    digits = {"X": X, "y": digit % 2}
    for C in (0.1, 1.0, 10.0, 100.0):
        yield f"digits odd/even, C = {C:g}", classes, kernels(C=C), digits
    yield "digits, α ≥ 0", classes, kernels(coef="nonneg"), digits
    positive = kernels(coef="nonneg", library=mixture(negation=False))
    yield "digits, α ≥ 0, no negation", classes, positive, digits

    cancer, label = load_breast_cancer(return_X_y=True)
    cancer = StandardScaler().fit_transform(cancer)
    data = {"X": cancer, "y": label}
    yield "breast cancer", classes, kernels(), data
    yield "breast cancer, no offset, C = 10", classes, kernels(offset="none", C=10.0), data
    weights = np.random.default_rng(0).uniform(0.1, 2.0, len(label))
    yield "breast cancer, sample weights", classes, kernels(), {**data, "sample_weight": weights}
    linear = {"library": KernelLibrary({"linear": Linear()}), "penalty": "l1"}
    yield "breast cancer, linear kernel", classes, linear, data
    yield "breast cancer, stumps", LPBoostClassifier, {}, data

    for name in ("pima_diabetes", "ionosphere"):
        some, y = table(name, folder)
        data = {"X": some, "y": y}
        yield f"{name}, offset penalized", classes, kernels(offset="penalized"), data
        yield f"{name}, C = 10", classes, kernels(C=10.0), data
        yield f"{name}, ν = 0.3", classes, kernels(nu=0.3), data
    wine, kind = load_wine(return_X_y=True)
    data = {"X": StandardScaler().fit_transform(wine), "y": kind}
    yield "wine, one against the rest", classes, kernels(C=10.0), data

    diabetes, y = load_diabetes(return_X_y=True)
    data = {"X": StandardScaler().fit_transform(diabetes), "y": y / 100.0}
    yield "diabetes, ε = 0.1", numbers, kernels(), data
    yield "diabetes, ε = 0.1, C = 10, α ≥ 0", numbers, kernels(C=10.0, coef="nonneg"), data
    yield "diabetes, absolute error", numbers, kernels(loss="absolute_error"), data
    yield "diabetes, quantile 0.9", numbers, kernels(loss=Quantile(0.9), C=10.0), data
    yield "diabetes, stumps", LPBoostRegressor, {}, data

    pixels, digit = load_mnist(folder)[:2]
    for count in (1000, 3000):
        data = {"X": pixels[:count].astype(np.float64), "y": digit[:count] % 2}
        yield f"MNIST odd/even, {count} rows", classes, kernels(), data
    data = {"X": pixels[:1000].astype(np.float64), "y": digit[:1000] % 2}
    yield "MNIST, 1000 rows, α ≥ 0, no negation", classes, {**positive, "C": 10.0}, data


def fitted(problem: Problem, solver: str, tol: float, repeat: int) -> tuple[float, Any]:
    """The least seconds of so many fits, and the model."""
    _, estimator, parameters, data = problem
    seconds = []
    for _ in range(repeat):
        model = estimator(solver=solver, tol=tol, **parameters)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", TrivialModelWarning)
            model.fit(**data)
        seconds.append(time.process_time() - start)
    return min(seconds), model


def measured(problem: Problem, tol: float, repeat: int) -> list[str]:
    """One line of the table."""
    seconds, model = fitted(problem, "auto", tol, repeat)
    peer_seconds, peer = fitted(problem, "highs", tol, repeat if peer_is_quick(seconds) else 1)
    difference = (model.objective_ - peer.objective_) / max(1.0, abs(peer.objective_))
    columns = [f"{model.n_columns_}", f"{peer.n_columns_}"]
    return [
        problem[0],
        f"{tol:g}",
        *columns,
        f"{difference:.0e}",
        f"{seconds:.2f}",
        f"{peer_seconds:.2f}",
    ]


def peer_is_quick(seconds: float) -> bool:
    """Whether the other solver is worth timing more than once."""
    return seconds < 0.5


def main() -> None:
    """Measure, and write if asked."""
    given = options(__doc__, data="", only=[""], repeat=3, write=False)
    lines = []
    for problem in problems(data_folder(given.data or None)):
        if not any(word in problem[0] for word in given.only):
            continue
        for tol in TOLERANCES:
            lines.append(measured(problem, tol, given.repeat))
            print(*lines[-1], sep=" | ", flush=True)
    print("worse:", sum(int(line[2]) > int(line[3]) for line in lines), "of", len(lines))
    print("seconds of auto:", round(sum(float(line[5]) for line in lines), 2))
    if given.write:
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD + SECONDS, *lines])


if __name__ == "__main__":
    main()
