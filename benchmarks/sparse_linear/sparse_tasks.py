"""What is compared: a problem, the solvers that take part, and how long one may take.

Groups are the tables of the page: the 54 settings of benchopt's quantile benchmark, dense quantile
regressions of other shapes, ℓ1 support vector machines, and paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.datasets import make_regression
from sparse_data import (
    Problem,
    largest_hinge_penalty,
    quantile_problem,
    sparse_gaussians,
    two_gaussians,
    wide_table,
    word_counts,
)
from sparse_solvers import (
    EXACT,
    MACHINES,
    OURS,
    PATH,
    PENALISED,
    PROGRAMS,
    SMOOTHED,
    UNPENALISED,
)
from study_data import read_dorothea

from cgboost.studies.datasets import data_folder

SETTINGS, SHAPES, SVM, PATHS = "settings", "shapes", "svm", "paths"
GROUPS = (SETTINGS, SHAPES, SVM, PATHS)
SIZES = ((100, 10_000), (500, 600), (10_000, 100))
CORRELATIONS = (0.0, 0.6)
PENALTIES = (0.5, 0.1, 0.05)
ENDS = (0.05, 0.01)
"""Of paths, as shares of λ_max."""

QUANTILES = (0.2, 0.5, 0.8)

LIMIT = 60
"""CPU seconds after which a fit is stopped."""

LONG_LIMIT = 300
"""The same for large rows."""

MEMORY = 12
"""GiB of address space that a process may ask for."""


@dataclass(frozen=True)
class Task:
    """One problem.

    Attributes
    ----------
    group, name : str
        The table and the row of it.
    make : callable
        The problem; what it needs is read or drawn now.
    solvers : tuple of str
    limit : int
        CPU seconds.
    alone : bool
        Every fit in its own process, whose memory is recorded.
    """

    group: str
    name: str
    make: Callable[[], Problem]
    solvers: tuple[str, ...]
    limit: int = LIMIT
    alone: bool = False


def setting_name(n: int, p: int, rho: float, reg: float, quantile: float) -> str:
    """As in the table."""
    return f"{n} × {p}, ρ = {rho:g}, λ = {reg:g} λ_max, q = {quantile:g}"


def one_feature() -> Problem:
    """The example of scikit-learn's issue 20633, with the default α = 1."""
    X, y = make_regression(n_samples=10_000, n_features=1, n_informative=1, random_state=42)
    return Problem("quantile", np.asfortranarray(X), y, 1.0)


def dorothea(folder: Path | str | None) -> Problem:
    """800 rows of 100000 binary features; 1/C is a twentieth of ‖Xᵀy‖_∞."""
    X, y = read_dorothea(data_folder(folder), "train")
    return Problem("hinge", X.tocsc(), y, 1.0 / (0.05 * largest_hinge_penalty(X, y)))


def all_tasks(folder: Path | str | None = None) -> Iterator[Task]:
    """Every task; ``folder`` is read only when rows are asked for."""
    for (n, p), rho, reg, q in product(SIZES, CORRELATIONS, PENALTIES, QUANTILES):
        make = partial(quantile_problem, n, p, rho, reg, q)
        yield Task(SETTINGS, setting_name(n, p, rho, reg, q), make, PENALISED)
    for rho, reg in product(CORRELATIONS, PENALTIES[:2]):
        make = partial(quantile_problem, 3000, 1000, rho, reg, 0.5)
        yield Task(SHAPES, setting_name(3000, 1000, rho, reg, 0.5), make, PENALISED)
    yield Task(SHAPES, "10000 × 1, α = 1", one_feature, PENALISED, alone=True)
    million = partial(wide_table, 1_000_000, 50, 0.0, 0.0)
    yield Task(SHAPES, "1000000 × 50, α = 0", million, UNPENALISED, LONG_LIMIT, alone=True)
    large = partial(wide_table, 61_296, 2_846, 0.6, 0.1)
    peers = (OURS, SMOOTHED, EXACT, "scikit-learn, highs", *list(PROGRAMS)[:2])
    name = setting_name(61_296, 2_846, 0.6, 0.1, 0.5)
    yield Task(SHAPES, name, large, peers, LONG_LIMIT, alone=True)
    for n, p in ((100, 1000), (100, 10_000), (100, 100_000), (500, 500), (1000, 100)):
        yield Task(SVM, f"two Gaussians, {n} × {p}", partial(two_gaussians, n, p), MACHINES)
    gaussians = partial(sparse_gaussians, 1000, 100_000, 0.01, 0.05)
    yield Task(SVM, "1 % filled, 1000 × 100000", gaussians, MACHINES)
    words = partial(word_counts, 5000, 50_000, 150, 0.01)
    yield Task(SVM, "word counts, 5000 × 50000", words, MACHINES)
    yield Task(SVM, "Dorothea, 800 × 100000", partial(dorothea, folder), MACHINES)
    for (n, p), end in product((*SIZES, (3000, 1000)), ENDS):
        make = partial(quantile_problem, n, p, 0.6, end, 0.5)
        name = f"path to {end:g} λ_max, {n} × {p}, ρ = 0.6, q = 0.5"
        yield Task(PATHS, name, make, (OURS, PATH), LONG_LIMIT)
