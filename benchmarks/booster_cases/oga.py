"""The orthogonal greedy algorithm with HDIC and trimming against scikit-learn's bare pursuit.

    python benchmarks/boosters.py oga

n = 500 rows, p = 20000 features, M = 40 steps. scikit-learn's ``orthogonal_mp`` is given columns
that are centred and normalised, and neither chooses a number of steps nor trims. Both times are the
best of several runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import orthogonal_mp

from cgboost import OrthogonalGreedyRegressor

N_ROWS, N_FEATURES, STEPS, REPEATS = 500, 20_000, 40, 5


def best_of(run: Callable[[], Any]) -> float:
    """Shortest time of several runs, in seconds."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """One line with both times and their ratio."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    y = 2.0 * X[:, :10].sum(axis=1) + rng.normal(size=N_ROWS)
    Z = X - X.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=0)
    model = OrthogonalGreedyRegressor(n_estimators=STEPS)
    ours = best_of(lambda: model.fit(X, y))
    theirs = best_of(lambda: orthogonal_mp(Z, y - y.mean(), n_nonzero_coefs=STEPS))
    print(
        f"oga        {N_ROWS} × {N_FEATURES}, {STEPS} steps: with HDBIC and trimming {ours:.3f} s, "
        f"orthogonal_mp {theirs:.3f} s: {theirs / ours:.2f} times as fast; "
        f"features kept {model.support_.tolist()}"
    )


if __name__ == "__main__":
    main()
