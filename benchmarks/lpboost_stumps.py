"""LPBoost over all decision stumps against the one-shot linear program, C = 1.

CPU seconds of one thread: `LPBoostClassifier` from the features to a certified relative gap of
1e-6, and `solvers.solve` with HiGHS on the dual program over every stump at once (without the time
to build it). Both must have the same objective to 1e-6.

    python benchmarks/lpboost_stumps.py [--data cancer digits] [--repeat 5] [--without-one-shot]
"""

from __future__ import annotations

import statistics

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from cgboost import LPBoostClassifier
from cgboost.pricing import StumpPool
from cgboost.studies.scripts import options, timed
from solvers import Program, solve


def rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Breast cancer, or digits odd/even."""
    X, y = {"cancer": load_breast_cancer, "digits": load_digits}[name](return_X_y=True)
    return X, y % 2


def one_shot(X: np.ndarray, y: np.ndarray) -> tuple[float, int, float]:
    """Objective over all stumps at once, how many there are, and CPU seconds."""
    pool = StumpPool(X)
    H = np.unique(pool.values(0, np.arange(pool.size(0))), axis=0)
    labels = 2.0 * y - 1.0
    program = Program(
        cost=-labels,
        matrix=H,
        row_lower=-np.ones(len(H)),
        row_upper=np.ones(len(H)),
        lower=np.minimum(0.0, labels),
        upper=np.maximum(0.0, labels),
    )
    seconds, solution = timed(lambda: solve(program, "highs", tol=1e-7))
    return -solution.objective, len(H), seconds


def main() -> None:
    """Print a line for every data set."""
    found = options(__doc__, data=("cancer", "digits"), repeat=5, without_one_shot=False)
    for name in found.data:
        X, y = rows(name)
        seconds = []
        for _ in range(found.repeat):
            spent, model = timed(LPBoostClassifier(tol=1e-6).fit, X, y)
            seconds.append(spent)
        print(
            f"{name}: LPBoost {statistics.median(seconds):.2f} s (median of {found.repeat}, "
            f"{min(seconds):.2f} to {max(seconds):.2f}), objective {model.objective_:.8f}, gap "
            f"{model.gap_:.1e}, {model.n_iter_} rounds, {model.n_columns_} stumps in use",
            flush=True,
        )
        if found.without_one_shot:
            continue
        optimum, n_stumps, full = one_shot(X, y)
        difference = abs(model.objective_ - optimum) / max(1.0, optimum)
        print(
            f"    one-shot {full:.2f} s over {n_stumps} different stumps, objective "
            f"{optimum:.8f}, relative difference {difference:.0e}",
            flush=True,
        )
        if difference > 1e-6:
            raise SystemExit("the objectives differ by more than 1e-6")


if __name__ == "__main__":
    main()
