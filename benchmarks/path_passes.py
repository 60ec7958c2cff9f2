"""What features that are not scored again save along a path of sparse linear models.

python benchmarks/path_passes.py [--size 1000x20000]

CPU seconds of one process, the fastest of two: with every feature scored in every pass, and with
those alone that earlier passes leave undecided.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any
from unittest.mock import patch

import numpy as np

from cgboost import SparseLinearClassifier, SparseLinearRegressor
from cgboost.exceptions import TrivialModelWarning
from cgboost.pricing.univariate.feature_pricer import EarlierScores, FeaturePool

TOL = 1e-6
SIGNALS = 50
VALUES = 20


def simulated(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal features, of which 50 count, and noise of 0.3 of the signal."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    coef = np.zeros(n_features)
    coef[rng.choice(n_features, SIGNALS, replace=False)] = rng.standard_normal(SIGNALS)
    signal = X @ coef
    return X, signal + 0.3 * signal.std() * rng.standard_normal(n_rows)


def measured(run: Any) -> tuple[float, float, int, float]:
    """CPU seconds in all and in pricing, passes, and these in whole ones."""
    search, passes = FeaturePool.search, []

    def counted(pool: FeaturePool, *args: Any) -> Any:
        started = time.process_time()
        found = search(pool, *args)
        passes.append((time.process_time() - started, found.n_evaluated / pool.size(0)))
        return found

    with patch.object(FeaturePool, "search", counted):
        started = time.process_time()
        run()
        whole = time.process_time() - started
    own, shares = np.array(passes).sum(axis=0)
    return whole, float(own), len(passes), float(shares)


def line(name: str, order: str, run: Any) -> str:
    """A row of the table."""
    both: dict[bool, list[tuple[float, float, int, float]]] = {False: [], True: []}
    run()
    for remembers in (False, True) * 2:
        if remembers:
            both[True].append(measured(run))
        else:
            with patch.object(EarlierScores, "usable", False):
                both[False].append(measured(run))
    whole, part = (np.array(both[remembers]).min(axis=0) for remembers in (False, True))
    return (
        f"| {order} | {name} | {whole[0]:.2f} → {part[0]:.2f} | {whole[1]:.2f} → {part[1]:.2f} | "
        f"{whole[2]:.0f} → {part[3]:.1f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="1000x20000")
    n_rows, n_features = map(int, parser.parse_args().size.split("x"))
    X, y = simulated(n_rows, n_features)
    labels = np.where(y > 0, 1, -1)
    squares = np.abs(X.T @ (y - y.mean())).max() / n_rows
    signs = np.abs(X.T @ np.sign(y - np.median(y))).max() / (2 * n_rows)
    price = np.abs(X.T @ (labels - labels.mean())).max()
    warnings.simplefilter("ignore", TrivialModelWarning)
    print("| X stored by | loss | path, s | of it pricing, s | passes → in whole ones |")
    print("| --- | --- | --- | --- | --- |")
    for order, matrix in (("rows", X), ("columns", np.asfortranarray(X))):
        for model, target, values in (
            (
                SparseLinearRegressor(loss="squared_error"),
                y,
                squares * np.geomspace(1, 0.1, VALUES),
            ),
            (SparseLinearClassifier(loss="log_loss"), labels, np.geomspace(1, 10, VALUES) / price),
            (SparseLinearRegressor(loss="quantile"), y, signs * np.geomspace(1, 0.3, VALUES)),
        ):
            model.set_params(tol=TOL)
            print(
                line(
                    str(model.loss),
                    order,
                    lambda m=model, X=matrix, t=target, v=values: m.path(X, t, v),
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
