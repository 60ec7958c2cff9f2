"""A path over 20 values of C against 20 separate fits, in one run.

python benchmarks/regularisation_path.py --data DATA [--rows 1000] [--repeat 3]

Both sides are measured in the same process: the 1-norm in both orders of pricing, the
2-norm with full pricing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the products are small: threads only cost

import numpy as np

from cgboost import CGBoostClassifier
from cgboost.studies.datasets import odd_even_split
from cgboost.studies.odd_even import parse_library

C_VALUES = np.geomspace(0.05, 20.0, 20)


def main() -> None:
    """Print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the MNIST files")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    split = odd_even_split(options.data, train=options.rows)
    X, y = split.X_train, split.y_train
    for penalty, priority in (("l1", "full"), ("l1", "stratified"), ("l2", "full")):
        shares = []
        for _ in range(options.repeat):
            model = CGBoostClassifier(parse_library("L,Q,R"), penalty=penalty, priority=priority)
            clock = time.perf_counter()
            path = model.path(X, y, C_VALUES)
            together = time.perf_counter() - clock
            clock = time.perf_counter()
            alone = [model.set_params(C=C).fit(X, y).objective_ for C in C_VALUES]
            separate = time.perf_counter() - clock
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
