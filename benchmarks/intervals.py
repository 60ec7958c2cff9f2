"""Quantiles that do not cross, intervals that hold, and stability, beside their peers.

    PYTHONPATH=. python benchmarks/intervals.py --write

Three tables go to ``docs/development/performance``: ``quantiles.csv`` (how long noncrossing fits
take, and how many of 100000 points of the box of the rows still cross), ``intervals.csv`` (measured
coverage of 90 % intervals on ten data sets, and CPU seconds beside MAPIE's cross-conformal quantile
regressor with scikit-learn's QuantileRegressor, on the same folds) and ``stability.csv``. Times are
CPU seconds of one thread. A peer that is not installed is left out, and named.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_friedman1
from sklearn.linear_model import QuantileRegressor
from sklearn.model_selection import KFold, train_test_split
from sklearn.preprocessing import StandardScaler

from cgboost import (
    IntervalRegressor,
    MultiQuantileRegressor,
    SparseLinearClassifier,
    SparseLinearRegressor,
)
from cgboost.inspection import stability

FOLDER = Path(__file__).parents[1] / "docs" / "development" / "performance"
REPEATS, REPEATS_OF_PEERS = 40, 4
LARGE = {"5000 × 50": (5000, 50), "2000 × 200": (2000, 200), "1000 × 500": (1000, 500)}
"""Rows and features of what is drawn three times, and shown to peers once."""

Rows = tuple[np.ndarray, np.ndarray]


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returns."""
    started = time.process_time()
    found = run()
    return time.process_time() - started, found


def noisy(n_rows: int, n_features: int, seed: int = 0) -> Rows:
    """Rows whose spread grows with a feature, so that separate quantiles cross."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    return X, X[:, 0] + (0.3 + np.abs(X[:, 1])) * rng.normal(size=n_rows)


# ---------------------------------------------------------------------------- A: quantiles


def quantiles() -> Iterator[dict[str, Any]]:
    """Fits one by one, apart on the rows, apart in the box; the box by CVXPY, too."""
    sizes = [(200, 5, 5, 0.01), (2000, 20, 13, 0.01), (2000, 20, 13, 0.001), (300, 500, 5, 0.05)]
    for n_rows, n_features, count, alpha in sizes:
        X, y = noisy(n_rows, n_features)
        levels = np.round(np.linspace(0.05, 0.95, count), 4)
        box = np.random.default_rng(1).uniform(X.min(axis=0), X.max(axis=0), (100_000, n_features))
        for where in (False, "rows", "box"):
            model = MultiQuantileRegressor(levels, alpha=alpha, noncrossing=where)
            took, _ = seconds(lambda model=model, X=X, y=y: model.fit(X, y))
            apart = np.diff(model.predict(box), axis=1).min(axis=1)
            yield {
                "rows": n_rows,
                "features": n_features,
                "quantiles": count,
                "alpha": alpha,
                "noncrossing": str(where),
                "cpu_s": round(took, 3),
                "objective": f"{model.objective_:.9g}",
                "gap": f"{model.gap_:.1e}",
                "points_that_cross": int((apart < -1e-9 * np.ptp(y)).sum()),
            }
        if n_rows * n_features > 50_000:
            continue  # minutes
        took, best = seconds(lambda X=X, y=y, q=levels, a=alpha: whole_program(X, y, q, a))
        yield {
            "rows": n_rows,
            "features": n_features,
            "quantiles": count,
            "alpha": alpha,
            "noncrossing": "box, CVXPY with Clarabel",
            "cpu_s": round(took, 3),
            "objective": f"{best:.9g}",
        }


def whole_program(X: np.ndarray, y: np.ndarray, levels: np.ndarray, alpha: float) -> float:
    """The optimum over the box by CVXPY: features in [0, 1], intercepts against negative parts."""
    import cvxpy as cp

    beta, b = cp.Variable((X.shape[1], len(levels))), cp.Variable(len(levels))
    lower, width = X.min(axis=0), np.ptp(X, axis=0)
    value, limits = alpha * cp.sum(cp.abs(beta)), []
    for k, q in enumerate(levels):
        error = y - X @ beta[:, k] - b[k]
        value += cp.sum(cp.maximum(q * error, (q - 1) * error)) / len(y)
        if k:
            slopes = beta[:, k] - beta[:, k - 1]
            least = cp.sum(cp.neg(cp.multiply(width, slopes)))
            limits.append(b[k] - b[k - 1] + lower @ slopes >= least)
    problem = cp.Problem(cp.Minimize(value), limits)
    return float(problem.solve(solver=cp.CLARABEL))


# ---------------------------------------------------------------------------- B: intervals


def data_sets() -> Iterator[tuple[str, Callable[[int], tuple[Rows, Rows]]]]:
    """Training and test rows by the number of a repetition."""

    def halves(X: np.ndarray, y: np.ndarray) -> Callable[[int], tuple[Rows, Rows]]:
        def split(seed: int) -> tuple[Rows, Rows]:
            train, test = train_test_split(np.arange(len(y)), test_size=0.4, random_state=seed)
            scaler = StandardScaler().fit(X[train])
            return (scaler.transform(X[train]), y[train]), (scaler.transform(X[test]), y[test])

        return split

    def made(make: Callable[[np.random.Generator, int], Rows], size: int) -> Any:
        def draw(seed: int) -> tuple[Rows, Rows]:
            rng = np.random.default_rng(seed)
            return make(rng, size), make(rng, 2000)

        return draw

    yield "diabetes", halves(*load_diabetes(return_X_y=True))
    wine, cancer = load_wine().data, load_breast_cancer().data
    yield "wine: alcohol", halves(wine[:, 1:], wine[:, 0])
    yield "breast cancer: worst texture", halves(np.delete(cancer, 21, axis=1), cancer[:, 21])
    yield "breast cancer: mean smoothness", halves(np.delete(cancer, 4, axis=1), cancer[:, 4])
    boston = Path(os.environ.get("CGBOOST_DATA", ""), "uci", "boston_housing.csv")
    if boston.is_file():
        table = np.genfromtxt(boston, delimiter=",", skip_header=1)
        table = table[np.isfinite(table).all(axis=1)]
        yield "Boston", halves(table[:, :-1], table[:, -1])
    else:
        print("Boston: left out, CGBOOST_DATA names no folder with uci/boston_housing.csv")

    def spread(rng: np.random.Generator, n: int) -> Rows:
        X = rng.uniform(size=(n, 20))
        return X, X[:, 0] + X[:, 1] * rng.normal(size=n)

    def tails(rng: np.random.Generator, n: int) -> Rows:
        X = rng.normal(size=(n, 10))
        return X, X[:, 0] + (0.2 + np.abs(X[:, 1])) * rng.standard_t(3, size=n)

    def skewed(rng: np.random.Generator, n: int) -> Rows:
        X = rng.uniform(size=(n, 10))
        return X, X[:, 0] + X[:, 2] * rng.exponential(size=n)

    def friedman(rng: np.random.Generator, n: int) -> Rows:
        return make_friedman1(n, noise=1.0, random_state=int(rng.integers(2**31)))

    def wide(rng: np.random.Generator, n: int) -> Rows:
        X = rng.normal(size=(n, 300))
        return X, X[:, :3].sum(axis=1) + np.exp(0.5 * X[:, 3]) * rng.normal(size=n)

    for name, make, size in (
        ("spread", spread, 1000),
        ("heavy tails", tails, 1000),
        ("skewed", skewed, 500),
        ("friedman1", friedman, 500),
        ("wide", wide, 500),
    ):
        yield f"{name} ({size} rows)", made(make, size)
    for name, (size, count) in LARGE.items():

        def broad(rng: np.random.Generator, n: int, count: int = count) -> Rows:
            X = rng.uniform(size=(n, count))
            return X, X[:, 0] + X[:, 1] * rng.normal(size=n)

        yield name, made(broad, size)


def intervals() -> Iterator[dict[str, Any]]:
    """Coverage in percent, over repeated splits or draws, and CPU seconds of the fits."""
    try:
        from mapie.regression.quantile_regression import CrossConformalizedQuantileRegressor
    except ImportError as error:
        print(f"MAPIE: left out, {error}")
        CrossConformalizedQuantileRegressor = None
    for name, draw in data_sets():
        own: dict[str, list[Any]] = {"ours": [], "mapie": []}
        repeats, of_peers = (3, 1) if name in LARGE else (REPEATS, REPEATS_OF_PEERS)
        for seed in range(repeats):
            (X, y), (X_new, y_new) = draw(seed)
            folds = KFold(5, shuffle=True, random_state=seed)
            model = IntervalRegressor(coverage=0.9, cv=folds)
            took, _ = seconds(lambda model=model, X=X, y=y: model.fit(X, y))
            own["ours"].append((took, *measured(model.predict_interval(X_new), y_new)))
            if CrossConformalizedQuantileRegressor is None or seed >= of_peers:
                continue
            learner = QuantileRegressor(alpha=model.model_.alpha_, solver="highs")
            peer = CrossConformalizedQuantileRegressor(learner, confidence_level=0.9, cv=folds)
            took, _ = seconds(lambda peer=peer, X=X, y=y: peer.fit_conformalize(X, y))
            found = peer.predict_interval(X_new)[1][:, :, 0]
            own["mapie"].append((took, *measured(found, y_new)))
        line: dict[str, Any] = {"data": name, "rows": len(y), "features": X.shape[1]}
        for who, runs in own.items():
            if not runs:
                continue
            took, inside, length = np.array(runs).T
            line[f"{who}_cpu_s"] = round(float(np.median(took)), 3)
            line[f"{who}_coverage"] = round(100 * float(inside.mean()), 2)
            if len(inside) > 1:
                error = 100 * float(inside.std(ddof=1)) / np.sqrt(len(inside))
                line[f"{who}_error"] = round(error, 2)
            line[f"{who}_length"] = f"{length.mean():.4g}"
        if own["mapie"]:
            line["ratio"] = round(line["mapie_cpu_s"] / line["ours_cpu_s"], 1)
        yield line


def measured(ends: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The share of rows inside, and the mean length."""
    inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
    return float(inside.mean()), float(np.mean(ends[:, 1] - ends[:, 0]))


# ---------------------------------------------------------------------------- C: stability


def stability_of_models() -> Iterator[dict[str, Any]]:
    """A hundred halves of the rows, in fits of all rows; also one by one, as anybody would."""
    sizes = [(500, 50), (2000, 200), (1000, 2000), (20000, 100)]
    for n_rows, n_features in sizes:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, n_features))
        y = X[:, :5].sum(axis=1) + rng.standard_t(3, size=n_rows)
        for model in (
            SparseLinearRegressor(alpha=0.05),
            SparseLinearRegressor(loss="squared_error", alpha=0.1),
            SparseLinearClassifier(C=20.0 / n_rows),
            SparseLinearClassifier(loss="log_loss", C=50.0 / n_rows),
        ):
            target = y > 0 if is_classifier(model) else y
            times = [seconds(lambda m=model, X=X, t=target: m.fit(X, t))[0] for _ in range(3)]
            one, n = float(np.median(times)), 100 if n_rows < 5000 else 20
            took, found = seconds(
                lambda m=model, X=X, t=target, n=n: stability(m, X, t, n, random_state=0)
            )

            def one_by_one(model: Any = model, X: Any = X, target: Any = target) -> None:
                for seed in range(10):
                    half = np.random.default_rng(seed).permutation(len(target))[: len(target) // 2]
                    clone(model).fit(X[half], target[half])

            yield {
                "model": type(model).__name__,
                "loss": model.loss,
                "rows": n_rows,
                "features": n_features,
                "in_model": model.n_columns_,
                "fit_cpu_s": round(one, 4),
                "hundred_halves_in_fits": round(took / one * 100 / n, 1),
                "one_by_one_in_fits": round(seconds(one_by_one)[0] / one * 10, 1),
                "stable": len(found.stable()),
            }


# ---------------------------------------------------------------------------- all

TABLES = {"quantiles": quantiles, "intervals": intervals, "stability": stability_of_models}


def main() -> None:
    """Measure, print and, if asked to, write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the tables")
    parser.add_argument("--only", choices=TABLES, help="one table")
    own = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, measure in TABLES.items():
        if own.only in (None, name):
            lines = []
            for line in measure():
                print(", ".join(f"{key} {value}" for key, value in line.items()), flush=True)
                lines.append(line)
            if own.write:
                write(FOLDER / f"{name}.csv", lines)


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    """A table with the columns of all lines."""
    names = list(dict.fromkeys(name for line in lines for name in line))
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, names, lineterminator="\n")
        table.writeheader()
        table.writerows(lines)


if __name__ == "__main__":
    main()
