"""A path over 20 values of C against 20 separate fits, in one run.

python benchmarks/regularisation_path.py --data DATA [--rows 1000] [--repeat 3]

Both sides are measured in the same process: the 1-norm in both orders of pricing, the
2-norm with full pricing.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import numpy as np

from cgboost import CGBoostClassifier
from cgboost.studies.datasets import odd_even_split
from cgboost.studies.odd_even import parse_library
from cgboost.studies.scripts import options, timed

C_VALUES = np.geomspace(0.05, 20.0, 20)


def objectives(model: CGBoostClassifier, X: np.ndarray, y: np.ndarray) -> list[float]:
    """Of fits that know nothing of each other."""
    return [model.set_params(C=C).fit(X, y).objective_ for C in C_VALUES]


def main() -> None:
    """Print the shares."""
    given = options(__doc__, data=Path, rows=1000, repeat=3)
    split = odd_even_split(given.data, train=given.rows)
    X, y = split.X_train, split.y_train
    for penalty, priority in (("l1", "full"), ("l1", "stratified"), ("l2", "full")):
        shares = []
        for _ in range(given.repeat):
            model = CGBoostClassifier(parse_library("L,Q,R"), penalty=penalty, priority=priority)
            together, path = timed(model.path, X, y, C_VALUES, clock=time.perf_counter)
            separate, alone = timed(objectives, model, X, y, clock=time.perf_counter)
            shares.append(together / separate)
            worst = np.max(np.abs(path.table()["objective"] / alone - 1))
            print(
                f"{penalty}, {priority}: {together:.2f} s against {separate:.2f} s, objectives "
                f"equal to {worst:.0e}",
                flush=True,
            )
        print(f"{penalty}, {priority}: {100 * statistics.median(shares):.0f} % of separate fits")


if __name__ == "__main__":
    main()
