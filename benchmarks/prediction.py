"""Prediction against an RBF-SVC: MNIST odd/even, 1000 training rows, 10000 images to predict.

The models are those of a linear, a quadratic and an RBF kernel (cosine-normalised; C = 1, free α,
free offset), with the 1-norm and with the 2-norm; the SVC has γ = 0.02 and C = 10, about what
validation chooses for it. All run in one process and on one thread, in turn; medians count. The
SVC gets the images in double precision, in which it works; ours are measured in both.

    python benchmarks/prediction.py --data DATA [--rows 1000] [--images 10000] [--repeat 5]
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from cgboost import CGBoostClassifier
from cgboost.studies.datasets import Split, odd_even_split
from cgboost.studies.odd_even import parse_library
from cgboost.studies.scripts import medians, options

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


def compare(svc: SVC, models: dict[str, CGBoostClassifier], X: np.ndarray, repeat: int) -> None:
    """Print the seconds of every model for the rows of X, and how often ours fit into the SVC's."""
    double, single = X.astype(np.float64), X.astype(np.float32)
    predictions: Predictions = {"SVC": lambda: svc.decision_function(double)}
    for penalty, model in models.items():
        for rows in (single, double):
            predictions[f"{penalty}, {rows.dtype}"] = lambda model=model, rows=rows: (
                model.decision_function(rows)
            )
    times, _ = medians(predictions, repeat)
    print(f"{len(X)} rows")
    for name, seconds in times.items():
        print(f"  {name:12} {1e3 * seconds:9.2f} ms, ratio {times['SVC'] / seconds:6.1f}")


def main() -> None:
    """Print sizes, errors and times of all models."""
    given = options(__doc__, data=Path, rows=1000, images=10000, repeat=5, seed=0)
    split = odd_even_split(given.data, train=given.rows, test=given.images, seed=given.seed)
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
        compare(svc, models, split.X_test[:n_rows], given.repeat)


if __name__ == "__main__":
    main()
