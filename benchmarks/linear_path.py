"""What a path of sparse linear models costs, next to one fit at its smallest α (or largest C).

python benchmarks/linear_path.py [--sizes 150x60 500x600]

CPU seconds of one process: 100 values from the zero model down to a thousandth of its price, and
the fastest of two fits alone.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

from cgboost import SparseLinearClassifier, SparseLinearRegressor
from cgboost.exceptions import TrivialModelWarning

SIZES = ("150x60", "500x600", "3000x300", "10000x100", "1000x1000", "200x5000")
REGRESSION = ("quantile", "squared_error", "huber")
CLASSIFICATION = ("hinge", "log_loss", "squared_hinge")


def simulated(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated features, of which one in twenty counts, and noise of a third of the signal."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    for j in range(1, n_features):
        X[:, j] = 0.3 * X[:, j - 1] + np.sqrt(1 - 0.3**2) * X[:, j]
    signal = X[:, rng.choice(n_features, max(1, n_features // 20), replace=False)].sum(axis=1)
    noise = rng.standard_normal(n_rows)
    return X, signal + noise * np.linalg.norm(signal) / np.linalg.norm(noise) / 3.0


def seconds(run: Any) -> tuple[float, Any]:
    """CPU seconds, and the result."""
    started = time.process_time()
    result = run()
    return time.process_time() - started, result


def line(size: str, model: Any) -> str:
    """A row of the table."""
    X, y = simulated(*map(int, size.split("x")))
    if isinstance(model, SparseLinearClassifier):
        y = np.where(y > np.median(y), 1, -1)
    along, path = seconds(lambda: model.path(X, y))
    last = path.models[-1]
    alone = min(seconds(lambda: type(model)(**last.get_params()).fit(X, y))[0] for _ in range(2))
    gap = max(fitted.gap_ for fitted in path)
    return (
        f"| {size.replace('x', ' × ')} | {model.loss} | {along:.2f} | {alone:.3f} | "
        f"{along / alone:.1f} | {gap:.0e} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    models = [SparseLinearRegressor(loss=loss) for loss in REGRESSION]
    models += [SparseLinearClassifier(loss=loss) for loss in CLASSIFICATION]
    warnings.simplefilter("ignore", TrivialModelWarning)
    print("| rows × features | loss | path, CPU s | one fit, CPU s | ratio | largest gap |")
    print("| --- | --- | --- | --- | --- | --- |")
    for size in parser.parse_args().sizes:
        for model in models:
            print(line(size, model), flush=True)


if __name__ == "__main__":
    main()
