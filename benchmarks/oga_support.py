"""How often OGA + HDBIC + trimming finds exactly the true features.

    python benchmarks/oga_support.py [--seeds 50]

n = 500 rows, p = 20000 normal features, 10 of them with coefficients ±1, noise of variance 1. The
result is written next to this file (``oga_support.txt``).
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from cgboost import OrthogonalGreedyRegressor
from cgboost.studies.scripts import options, timed

N_ROWS, N_FEATURES, N_TRUE = 500, 20_000, 10


def trial(seed: int) -> tuple[int, int, int, float]:
    """True features missed, others chosen (with and without trimming), and seconds of the fit."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    true = rng.choice(N_FEATURES, N_TRUE, replace=False)
    y = X[:, true] @ rng.choice([-1.0, 1.0], N_TRUE) + rng.normal(size=N_ROWS)
    seconds, model = timed(OrthogonalGreedyRegressor().fit, X, y, clock=time.perf_counter)
    found, before = set(model.support_.tolist()), set(model.path_[: model.n_iter_].tolist())
    wanted = set(true.tolist())
    return len(wanted - found), len(found - wanted), len(before - wanted), seconds


def main() -> None:
    """Count the seeds with exactly the true support."""
    seeds = options(__doc__, seeds=50).seeds
    trials = np.array([trial(seed) for seed in range(seeds)])
    missed, extra, untrimmed, seconds = trials.T
    lines = [
        f"n = {N_ROWS}, p = {N_FEATURES}, {N_TRUE} true features, {seeds} seeds",
        f"exactly the true support   {np.sum((missed == 0) & (extra == 0))}",
        f"before trimming            {np.sum((missed == 0) & (untrimmed == 0))}",
        f"true features missed       {int(missed.sum())} in all",
        f"others chosen              {int(extra.sum())} in all",
        f"seconds a fit              {np.median(seconds):.2f} (median, one thread)",
    ]
    Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
