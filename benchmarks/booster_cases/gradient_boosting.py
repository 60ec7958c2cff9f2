"""Gradient boosting of ten classes against scikit-learn's: digits, 100 rounds of depth 3.

Both grow scikit-learn's trees and begin with the shares of the classes; CPU seconds of one thread,
30 % of the rows held out.
"""

from __future__ import annotations

import os
import time
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import GradientBoostingClassifier as ScikitClassifier
from sklearn.model_selection import train_test_split

from cgboost import GradientBoostingClassifier

SEEDS = (0, 1, 2, 3, 4, 5)


def fitted(model: Any, split: list[Any]) -> tuple[float, float]:
    """Seconds of the fit, and accuracy on the rows held out."""
    X, X_test, y, y_test = split
    clock = time.process_time()
    model.fit(X, y)
    return time.process_time() - clock, model.score(X_test, y_test)


def main() -> None:
    """Print one line for each split, and the means."""
    X, y = load_digits(return_X_y=True)
    lines = []
    for seed in SEEDS:
        split = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        own, accuracy = fitted(GradientBoostingClassifier(random_state=seed), split)
        other, wanted = fitted(ScikitClassifier(random_state=seed), split)
        lines.append([own, accuracy, other, wanted])
        show(f"split {seed}", *lines[-1])
    show("mean", *np.mean(lines, axis=0))


def show(what: str, own: float, accuracy: float, other: float, wanted: float) -> None:
    """One line."""
    print(
        f"gradient boosting, digits, {what}: {own:.2f} s, accuracy {accuracy:.4f}; scikit-learn "
        f"{other:.2f} s, {wanted:.4f}; time × {own / other:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
