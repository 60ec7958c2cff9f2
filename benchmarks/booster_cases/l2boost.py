"""Componentwise L2-Boosting against XGBoost's linear booster with its thrifty selector.

    python benchmarks/boosters.py l2boost

2000 rows, 2000 features, 300 rounds. The two are not the same method: a round of ours moves the one
best feature, a round of XGBoost visits all of them, those that change most first. So the errors of
both on fresh rows stand beside the times. Needs XGBoost, which the package itself does not.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from cgboost import L2BoostRegressor

N_ROWS, N_FEATURES, ROUNDS, REPEATS = 2000, 2000, 300, 5


def best_of(run: Callable[[], Any], repeats: int) -> float:
    """Shortest time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """One line per learning rate with both times, their ratio and both errors."""
    try:
        import xgboost
    except ImportError:
        sys.exit("this benchmark compares with XGBoost: pip install xgboost")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * N_ROWS, N_FEATURES))
    y = X[:, :20] @ rng.normal(size=20) * 2.0 + rng.normal(size=2 * N_ROWS)
    here, fresh = slice(N_ROWS), slice(N_ROWS, None)

    def train() -> Any:
        data = xgboost.DMatrix(X[here], y[here], nthread=1)
        settings = {
            "booster": "gblinear",
            "updater": "coord_descent",
            "feature_selector": "thrifty",
            "nthread": 1,
        }
        return xgboost.train(settings, data, num_boost_round=ROUNDS)

    theirs = best_of(train, repeats=1)
    error = np.mean((train().predict(xgboost.DMatrix(X[fresh])) - y[fresh]) ** 2)
    for rate in (0.1, 1.0):
        model = L2BoostRegressor(n_estimators=ROUNDS, learning_rate=rate)
        ours = best_of(lambda model=model: model.fit(X[here], y[here]), REPEATS)
        own_error = np.mean((model.predict(X[fresh]) - y[fresh]) ** 2)
        print(
            f"l2boost    {N_ROWS} × {N_FEATURES}, {ROUNDS} rounds, learning rate {rate}: "
            f"{ours:.3f} s ({len(model.support_)} features), gblinear thrifty {theirs:.2f} s: "
            f"{theirs / ours:.0f} times as fast; test mse {own_error:.2f} and {error:.2f}"
        )


if __name__ == "__main__":
    main()
