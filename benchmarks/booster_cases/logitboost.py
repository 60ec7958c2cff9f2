"""LogitBoost over lines in one feature against XGBoost's linear booster: 6000 × 500, 300 rounds.

XGBoost's ``gblinear`` with the thrifty selector is asked for one coordinate a round, which is the
nearest to what LogitBoost does, and as it comes, where every round visits all coordinates. CPU
seconds of one thread, one run each, data already in each library's own form.
"""

from __future__ import annotations

import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from cgboost import LogitBoostClassifier

N_ROWS, N_FEATURES, N_ROUNDS, N_RELEVANT = 6000, 500, 300, 30


def rows() -> tuple[np.ndarray, np.ndarray]:
    """Noisy labels of a linear model in 30 of the features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    signal = X[:, :N_RELEVANT] @ rng.normal(size=N_RELEVANT)
    return X, (signal + 3.0 * rng.normal(size=N_ROWS) > 0).astype(int)


def log_loss(y: np.ndarray, p: np.ndarray) -> float:
    """Σ −log p of the right class."""
    return -float(np.log(np.where(y == 1, p, 1.0 - p)).sum())


def gblinear(X: np.ndarray, y: np.ndarray, top_k: int) -> tuple[float, float]:
    """Seconds, and the training loss."""
    import xgboost

    data = xgboost.DMatrix(X, label=y, nthread=1)
    parameters = {
        "booster": "gblinear",
        "updater": "coord_descent",
        "feature_selector": "thrifty",
        "top_k": top_k,
        "objective": "binary:logistic",
        "reg_lambda": 0.0,
        "eta": 1.0 if top_k else 0.5,
        "nthread": 1,
    }
    clock = time.process_time()
    booster = xgboost.train(parameters, data, N_ROUNDS)
    return time.process_time() - clock, log_loss(y, booster.predict(data))


def main() -> None:
    """Print one line for LogitBoost, and one for each setting of XGBoost."""
    X, y = rows()
    clock = time.process_time()
    model = LogitBoostClassifier(n_estimators=N_ROUNDS).fit(X, y)
    seconds = time.process_time() - clock
    print(
        f"LogitBoost, {N_ROWS} × {N_FEATURES}, {N_ROUNDS} rounds: {seconds:.2f} s, training loss "
        f"{model.objective_:.1f}",
        flush=True,
    )
    for top_k, what in ((1, "one coordinate a round"), (0, "all coordinates a round")):
        try:
            other, loss = gblinear(X, y, top_k)
        except ModuleNotFoundError:
            sys.exit("    gblinear: not compared, since XGBoost is missing: pip install xgboost")
        print(
            f"    gblinear, thrifty, {what}: {other:.2f} s, training loss {loss:.1f}; "
            f"{other / seconds:.1f} × LogitBoost's time",
            flush=True,
        )


if __name__ == "__main__":
    main()
