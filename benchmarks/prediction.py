"""Prediction against an RBF-SVC: MNIST odd/even, 1000 training rows, 10000 images to predict.

The models are those of a linear, a quadratic and an RBF kernel (cosine-normalised; C = 1, free α,
free offset), with the 1-norm and with the 2-norm; the SVC has γ = 0.02 and C = 10, about what
validation chooses for it. All run in one process and on one thread, in turn; medians count. The
SVC gets the images in double precision, in which it works; ours are measured in both.

    python benchmarks/prediction.py --data DATA [--rows 1000] [--images 10000] [--repeat 5]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.svm import SVC

from cgboost import CGBoostClassifier
from cgboost.studies.datasets import Split, odd_even_split
from cgboost.studies.odd_even import parse_library

Predictions = dict[str, Callable[[], np.ndarray]]
"""What is timed, by name; each makes the model outputs of all images."""


def fitted_models(split: Split) -> tuple[SVC, dict[str, CGBoostClassifier]]:
    """The SVC, and our models by the name of their penalty."""
    svc = SVC(kernel="rbf", C=10.0, gamma=0.02)
    svc.fit(split.X_train.astype(np.float64), split.y_train)
    models = {}
    for penalty in ("l1", "l2"):
        models[penalty] = CGBoostClassifier(parse_library("L,Q,R"), C=1.0, penalty=penalty)
        models[penalty].fit(split.X_train, split.y_train)
    return svc, models


def medians(predictions: Predictions, repeat: int) -> dict[str, float]:
    """Median seconds of each prediction, measured in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in predictions}
    for turn in range(repeat + 1):
        for name, predict in predictions.items():
            clock = time.perf_counter()
            predict()
            if turn:  # the first one warms up
                seconds[name].append(time.perf_counter() - clock)
    return {name: statistics.median(times) for name, times in seconds.items()}


def compare(svc: SVC, models: dict[str, CGBoostClassifier], X: np.ndarray, repeat: int) -> None:
    """Print the seconds of every model for the rows of X, and how often ours fit into the SVC's."""
    double, single = X.astype(np.float64), X.astype(np.float32)
    predictions: Predictions = {"SVC": lambda: svc.decision_function(double)}
    for penalty, model in models.items():
        for rows in (single, double):
            predictions[f"{penalty}, {rows.dtype}"] = lambda model=model, rows=rows: (
                model.decision_function(rows)
            )
    times = medians(predictions, repeat)
    print(f"{len(X)} rows")
    for name, seconds in times.items():
        print(f"  {name:12} {1e3 * seconds:9.2f} ms, ratio {times['SVC'] / seconds:6.1f}")


def main() -> None:
    """Print sizes, errors and times of all models."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the MNIST files")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--images", type=int, default=10000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    split = odd_even_split(options.data, train=options.rows, test=options.images, seed=options.seed)
    svc, models = fitted_models(split)
    print(f"SVC: {svc.n_support_.sum()} support vectors")
    for penalty, model in models.items():
        wrong = np.mean(model.predict(split.X_test) != split.y_test)
        centres = len(np.unique(model.columns_["row"]))
        print(
            f"{penalty}: {model.n_columns_} columns {model.columns_per_kernel_} on {centres} "
            f"centres, gap {model.gap_:.0e}, test error {100 * wrong:.1f} %",
            flush=True,
        )
    for n_rows in (len(split.X_test), 1):
        compare(svc, models, split.X_test[:n_rows], options.repeat)


if __name__ == "__main__":
    main()
