"""Quantile regression without a penalty on many rows: CPU time, peak memory and certified gap.

    python benchmarks/many_rows.py [--rows 100000 1000000] [--features 10 50] [--write]

X is standard normal and y = Xβ + e, with normal e, or of Student's t with 2 degrees of freedom, or
rounded to whole numbers (ties). Every fit has its own process, which holds X and y. Besides it
stands statsmodels' QuantReg, where it is installed, at its defaults; its time has that of its
covariance in it. What its objective exceeds ours by is relative to that. ``--write`` puts the rows
into ``docs/development/performance/many_rows.csv``.
"""

from __future__ import annotations

import csv
import importlib.util
import multiprocessing
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cgboost import ColumnGeneration
from cgboost.generation.columns import Column
from cgboost.losses import Quantile
from cgboost.masters import FreeColumns, MatrixColumns, SupportVectorMaster
from cgboost.penalties import L1
from cgboost.pricing import FeaturePricer
from cgboost.studies.scripts import options, timed

TABLE = Path(__file__).parents[1] / "docs" / "development" / "performance" / "many_rows.csv"
HEAD = ("rows", "features", "errors", "quantile", "CPU s", "peak, MB", "certified gap")
PEER = ("statsmodels, CPU s", "statsmodels, peak, MB", "its objective above", "ratio of seconds")

SETTINGS = (("normal", 0.1), ("normal", 0.5), ("normal", 0.9), ("t, 2", 0.5), ("whole", 0.5))
"""Errors and quantile."""

Fit = tuple[float, float, float]
"""Coefficients are of no interest: objective, gap and CPU seconds."""


def data(n_rows: int, n_features: int, errors: str) -> tuple[Any, Any]:
    """Features and targets."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    e = rng.standard_t(2, n_rows) if errors == "t, 2" else rng.standard_normal(n_rows)
    y = X @ rng.standard_normal(n_features) + e
    return X, np.round(y) if errors == "whole" else y


def mean_loss(errors: Any, quantile: float) -> float:
    """Of the quantile loss."""
    return float(np.mean(np.maximum(quantile * errors, (quantile - 1.0) * errors)))


def column_generation(X: Any, y: Any, quantile: float) -> Fit:
    """All features are free columns; no column is to be priced."""
    n_rows, n_features = X.shape

    def fit() -> Any:
        loss = Quantile(quantile).on(y, np.full(n_rows, 1.0 / n_rows))
        columns = [Column(X[:, j], ("feature", j)) for j in range(n_features)]
        free = FreeColumns(columns, MatrixColumns(X))
        master = SupportVectorMaster(loss, L1(), free_columns=free)
        return ColumnGeneration(master, FeaturePricer(np.empty((n_rows, 0)))).run()

    seconds, result = timed(fit)
    return mean_loss(y - X @ result.coef - result.intercept, quantile), result.gap, seconds


def statsmodels(X: Any, y: Any, quantile: float) -> Fit:
    """The same by reweighted least squares."""
    QuantReg = importlib.import_module("statsmodels.api").QuantReg

    def fit() -> Any:
        ones = np.ones((len(X), 1))
        return QuantReg(y, np.hstack([ones, X])).fit(q=quantile, max_iter=1000).params

    seconds, coef = timed(fit)
    return mean_loss(y - coef[0] - X @ coef[1:], quantile), np.nan, seconds


def measured(
    method: Callable[..., Fit], n_rows: int, n_features: int, errors: str, quantile: float
) -> tuple[Fit, int]:
    """A fit, and the peak of its process in MB."""
    answer = method(*data(n_rows, n_features, errors), quantile)
    return answer, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def table(rows: list[int], features: list[int]) -> Iterator[list[Any]]:
    """A row for every setting; 50 features are left out where rows are few."""
    context = multiprocessing.get_context("spawn")
    for n_rows in rows:
        for n_features in features:
            if n_rows * n_features > 10**6 or n_features == min(features):
                for errors, quantile in SETTINGS:
                    setting = (n_rows, n_features, errors, quantile)
                    with context.Pool(1) as pool:
                        (own, gap, seconds), peak = pool.apply(
                            measured, (column_generation, *setting)
                        )
                    line = [*setting, f"{seconds:.2f}", peak, f"{gap:.0e}"]
                    if importlib.util.find_spec("statsmodels"):
                        with context.Pool(1) as pool:
                            (other, _, slower), most = pool.apply(measured, (statsmodels, *setting))
                        above = f"{(other - own) / own:.0e}"
                        line += [f"{slower:.2f}", most, above, f"{slower / seconds:.1f}"]
                    print(*line, sep="\t", flush=True)
                    yield line


def main() -> None:
    """Print the table, and write it."""
    given = options(__doc__, rows=[100000, 1000000], features=[10, 50], write=False)
    lines = list(table(given.rows, given.features))
    if given.write:
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([(*HEAD, *PEER), *lines])


if __name__ == "__main__":
    main()
