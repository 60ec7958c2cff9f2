"""What the working set of rows is worth: the 1-norm with it and without, in one run.

python benchmarks/working_set.py --data DATA [--rows 10000] [--C 1] [--tol 1e-4]

Both sides are measured in the same process.
"""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path

import numpy as np

from cgboost import ColumnGeneration
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.optimizers import restricted_dual
from cgboost.pricing import KernelPool, StrataPricer
from cgboost.studies.datasets import odd_even_split
from cgboost.studies.odd_even import parse_library
from cgboost.studies.scripts import options, timed


def seconds(pool: KernelPool, labels: np.ndarray, given: Namespace) -> float:
    """Seconds of one run, after the first pass over all columns."""
    loop = ColumnGeneration(
        OneNormMaster(hinge(labels, np.full(len(labels), given.C))),
        StrataPricer(pool, tol=given.tol),
        tol=given.tol,
        columns_per_round=max(1, round(0.02 * len(labels))),
    )
    elapsed, result = timed(loop.run, clock=time.perf_counter)
    print(result.summary(), flush=True)
    return elapsed


def main() -> None:
    """Print the ratio."""
    given = options(__doc__, one_thread=False, data=Path, rows=10000, C=1.0, tol=1e-4)
    split = odd_even_split(given.data, train=given.rows)
    labels = split.y_train.astype(np.float64)
    pool = KernelPool(parse_library("L,Q,R"), split.X_train, cache_size=4000)
    for stratum in range(len(pool.strata)):
        pool.scores(stratum, None, labels)
    print("with the working set of rows")
    own = seconds(pool, labels, given)
    restricted_dual.CALM = np.inf  # no side is ever calm enough to leave
    print("without")
    everything = seconds(pool, labels, given)
    print(f"{own:.1f} s against {everything:.1f} s: ratio {everything / own:.1f}")


if __name__ == "__main__":
    main()
