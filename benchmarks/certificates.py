"""What certificates of scikit-learn's models cost, and how tight they are.

    PYTHONPATH=. python benchmarks/certificates.py --write

Eighteen models × data × three degrees of convergence (a twentieth, a fifth and all of the
iterations that the class needs at its defaults). For each: CPU seconds of the fit, of the
certificate and of polishing; the model's true gap (its objective over that of the polished model);
and the certified gap over the true one, which is 1 for a perfect bound. ``--write`` puts the table
into ``benchmarks/certificates.csv``.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_digits, make_classification, make_regression
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

from cgboost import certify, polish

FOLDER = Path(__file__).parent
DEGREES = (0.05, 0.2, 1.0)
KERNEL_ROWS = 4000
"""Kernel machines are fitted to so many rows at most."""

MODELS = (
    LinearSVC(loss="hinge", random_state=0),
    LinearSVC(random_state=0),
    LinearSVC(penalty="l1", random_state=0),
    LinearSVR(epsilon=0.1, random_state=0),
    SGDClassifier(random_state=0, tol=None, max_iter=100),
    SGDRegressor(random_state=0, tol=None, max_iter=100, eta0=1e-3),
    LogisticRegression(max_iter=500),
    LogisticRegression(solver="liblinear", l1_ratio=1.0),
    Lasso(alpha=0.01),
    ElasticNet(alpha=0.01),
    Ridge(solver="sag", random_state=0),
    HuberRegressor(alpha=0.1),
    PoissonRegressor(alpha=0.01, max_iter=300),
    SVC(),
    NuSVC(nu=0.3),
    SVR(),
    NuSVR(),
    OneClassSVM(nu=0.1),
)


def data_sets() -> Iterator[tuple[str, Any, Any, Any]]:
    """Name, rows, labels and numbers."""
    X, digit = load_digits(return_X_y=True)
    yield "digits 1797 × 64", X / 16.0, digit % 2, digit + 0.0
    X, y = make_classification(2000, 20, n_informative=8, flip_y=0.1, random_state=0)
    yield "made 2000 × 20", X, y, X[:, :3].sum(axis=1) + np.random.default_rng(0).normal(size=2000)
    X, y = make_regression(20000, 50, n_informative=10, noise=10.0, random_state=0)
    y = y / y.std()
    yield "made 20000 × 50", X, (y > 0).astype(int), y
    for rows, features, share in ((3000, 6000, 0.01), (1500, 100000, 0.0005)):
        rng = np.random.default_rng(0)
        X = sparse.random(rows, features, density=share, random_state=0, format="csr")
        line = X @ np.where(rng.random(features) < 0.1, rng.normal(size=features), 0.0)
        y = line / line.std() + 0.3 * rng.normal(size=rows)
        yield f"sparse {rows} × {features}", X, (y > 0).astype(int), y


def rows_of(data: str, *everything: Any) -> Iterator[dict[str, Any]]:
    """A row of the table for each model and degree."""
    for model in MODELS:
        kernel = hasattr(model, "kernel")
        if kernel and sparse.issparse(everything[0]):
            continue
        X, labels, numbers = (each[:KERNEL_ROWS] if kernel else each for each in everything)
        if isinstance(model, HuberRegressor) and sparse.issparse(X) and X.shape[1] > 10**4:
            continue
        y = labels if is_classifier(model) else numbers
        if isinstance(model, PoissonRegressor):
            y = np.random.default_rng(0).poisson(np.exp(np.clip(numbers / numbers.std(), -2, 2)))
        whole = clone(model).fit(X, y)
        needed = int(np.max(1000 if whole.n_iter_ is None else whole.n_iter_))
        best = None
        for degree in reversed(DEGREES):
            own = clone(model).set_params(max_iter=max(1, int(degree * needed)))
            fit, own = timed(own.fit, X, y)
            cost, certificate = timed(certify, own, X, y)
            if best is None:
                polishing, better = timed(polish, own, X, y)
                best = better.certificate_
            true = certificate.objective - best.objective
            yield {
                "data": data.replace("20000", str(len(y))),
                "model": name(model),
                "iterations": own.get_params()["max_iter"],
                "fit, s": fit,
                "certify, s": cost,
                "polish, s": polishing,
                "true gap": true / abs(best.objective),
                "certified / true": (certificate.objective - certificate.bound) / true
                if true > 1e-9 * abs(best.objective)
                else float("nan"),
                "bound ≤ optimum": certificate.bound <= best.objective + 1e-9 * abs(best.objective),
            }


def name(model: Any) -> str:
    """The class, and what is not its default."""
    hidden = ("random_state", "tol", "max_iter", "eta0")
    given = {k: v for k, v in model.get_params().items() if k not in hidden}
    usual = type(model)().get_params()
    changed = [f"{k}={v!r}" for k, v in given.items() if v != usual[k]]
    return f"{type(model).__name__}({', '.join(changed)})"


def timed(work: Any, *given: Any) -> tuple[float, Any]:
    """CPU seconds and answer."""
    start = time.process_time()
    answer = work(*given)
    return time.process_time() - start, answer


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="", help="only data sets whose name has this")
    parser.add_argument("--write", action="store_true", help="write the table")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for data, X, labels, numbers in data_sets():
        if options.data in data:
            for row in rows_of(data, X, labels, numbers):
                found.append(row)
                print(*(f"{v:.3g}" if isinstance(v, float) else v for v in row.values()), sep=" | ")
    if options.write:
        with (FOLDER / "certificates.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(found[0]))
            writer.writeheader()
            shown = [
                {k: f"{v:.3g}" if isinstance(v, float) else v for k, v in row.items()}
                for row in found
            ]
            writer.writerows(shown)
    for least in (0.5, 0.0):
        large = [r for r in found if r["fit, s"] >= least] if least else found
        shares = [r["certify, s"] / r["fit, s"] for r in large]
        if shares:
            print(f"fits ≥ {least} s: {len(shares)}, cost median {np.median(shares):.2f}, ", end="")
            print(f"worst {max(shares):.2f}")
    small = [r["certify, s"] for r in found if r["fit, s"] < 0.5]
    ratios = [
        r["certified / true"] for r in found if r["certified / true"] == r["certified / true"]
    ]
    print(
        f"below: at most {1e3 * max(small, default=0):.0f} ms, median {1e3 * np.median(small):.0f}"
    )
    print(f"certified / true: median {np.median(ratios):.2f}, worst {max(ratios):.2f}")
    print(
        f"bounds above the optimum: {sum(not r['bound ≤ optimum'] for r in found)} of {len(found)}"
    )


if __name__ == "__main__":
    main()
