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

import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples" / "reproduce"))

import numpy as np
from ikpls.numpy import PLS
from sklearn.cross_decomposition import PLSRegression
from study_data import read_dorothea

from cgboost import BLFClassifier, BLFRegressor
from cgboost.studies.scripts import medians, options

FACTORS, SPARSE_FACTORS = 10, 15
SHAPES = ((10000, 500), (500, 10000))


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


def sparse_log_loss(folder: Path, repeat: int) -> None:
    """(b)."""
    X, y = read_dorothea(folder, "train")
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
    found = options(__doc__, data=None, repeat=7)
    if found.data:  # first: the peak of memory is that of the process
        sparse_log_loss(Path(found.data), found.repeat)
    for shape in SHAPES:
        squared_loss(*shape, found.repeat)


if __name__ == "__main__":
    main()
