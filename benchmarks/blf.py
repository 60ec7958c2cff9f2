"""Boosted Latent Factors against partial least squares, and on 100000 sparse features.

All in one process and on one thread, medians of several runs taken in turn:

(a) squared loss, 10 factors, random data of 10000 × 500 and 500 × 10000: scikit-learn's
    PLSRegression and ikpls (both algorithms, the better one counts), same data, not scaled; the
    coefficients must agree to 1e-8;
(b) log loss, 15 factors, Dorothea (800 × 100000, sparse; needs --data), classes balanced by
    weights: seconds, and the peak of memory above what the data take.

    python benchmarks/blf.py [--data DATA] [--repeat 7]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp
from ikpls.numpy import PLS
from sklearn.cross_decomposition import PLSRegression

from cgboost import BLFClassifier, BLFRegressor

FACTORS, SPARSE_FACTORS = 10, 15
SHAPES = ((10000, 500), (500, 10000))


def medians(runs: dict[str, Callable[[], Any]], repeat: int) -> tuple[dict[str, float], dict]:
    """Median seconds of each run, measured in turn after a first round, and the last answers."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    answers = {}
    for turn in range(repeat + 1):
        for name, run in runs.items():
            clock = time.perf_counter()
            answers[name] = run()
            if turn:
                seconds[name].append(time.perf_counter() - clock)
    return {name: statistics.median(times) for name, times in seconds.items()}, answers


def squared_loss(n_rows: int, n_features: int, repeat: int) -> None:
    """(a) on one shape."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)) + rng.normal(size=n_features)
    y = X[:, :20] @ rng.normal(size=20) + rng.normal(size=n_rows)

    def ikpls(algorithm: int) -> np.ndarray:
        model = PLS(algorithm=algorithm, scale_X=False, scale_Y=False)
        model.fit(X, y, FACTORS)
        return np.asarray(model.B[FACTORS - 1]).ravel()

    runs: dict[str, Callable[[], Any]] = {
        "BLF": lambda: BLFRegressor(FACTORS).fit(X, y).coef_,
        "PLSRegression": lambda: PLSRegression(FACTORS, scale=False).fit(X, y).coef_.ravel(),
        "ikpls 1": lambda: ikpls(1),
        "ikpls 2": lambda: ikpls(2),
    }
    seconds, coef = medians(runs, repeat)
    for name, other in coef.items():
        assert np.abs(other - coef["BLF"]).max() <= 1e-8 * np.abs(other).max(), name
    ours, theirs = seconds["BLF"], seconds["PLSRegression"]
    best = min(seconds["ikpls 1"], seconds["ikpls 2"])
    print(
        f"(a) {n_rows} × {n_features}, {FACTORS} factors: BLF {ours:.4f} s, PLSRegression "
        f"{theirs:.4f} s ({theirs / ours:.1f}×), ikpls {best:.4f} s ({best / ours:.1f}×)",
        flush=True,
    )


def dorothea(folder: Path) -> tuple[sp.csr_matrix, np.ndarray]:
    """The training rows: each line has the numbers of the ones."""
    lines = (folder / "dorothea_train.data").read_text().splitlines()
    ones = [np.array(line.split(), dtype=np.int32) - 1 for line in lines]
    starts = np.cumsum([0] + [len(own) for own in ones])
    values = np.ones(starts[-1])
    X = sp.csr_matrix((values, np.concatenate(ones), starts), shape=(len(lines), 100000))
    y = np.loadtxt(folder / "dorothea_train.labels", dtype=int)
    return X, y


def sparse_log_loss(folder: Path, repeat: int) -> None:
    """(b)."""
    X, y = dorothea(folder)
    weights = np.where(y > 0, 1.0 / np.sum(y > 0), 1.0 / np.sum(y < 0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fit = {"BLF": lambda: BLFClassifier(SPARSE_FACTORS).fit(X, y, sample_weight=weights)}
    seconds, models = medians(fit, repeat)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"(b) Dorothea {X.shape[0]} × {X.shape[1]}, {SPARSE_FACTORS} factors, log loss: "
        f"{seconds['BLF']:.3f} s, peak {after / 2**20:.2f} GB in all, "
        f"{(after - before) / 2**20:.2f} GB above what was there; {models['BLF'].stop_reason_}",
        flush=True,
    )


def main() -> None:
    """Print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with the Dorothea files")
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    if options.data:  # first: the peak of memory is that of the process
        sparse_log_loss(options.data, options.repeat)
    for shape in SHAPES:
        squared_loss(*shape, options.repeat)


if __name__ == "__main__":
    main()
