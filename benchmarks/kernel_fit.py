"""Seconds of fit() from X: 1-norm, MNIST odd/even, the default library, ours and others.

* fit: ``CGBoostClassifier(penalty="l1", C=C).fit(X, y)``, as a user calls it;
* limit: one exact pass over all columns for the final pseudo-response, from X, and one solution of
  the restricted problem with the final columns: what no run over the same parts can do without;
* SVC: scikit-learn's, with its RBF kernel, the same C;
* full LP: kernels, then the fastest of the ways in ``lp_column_generation.py`` (``--full``).

CPU seconds, one thread, runs taken in turn; the median of ``--repeat``.

    python benchmarks/kernel_fit.py --data DATA [--rows 1000 3000 10000] [--C 1] [--full]
"""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np
from lp_column_generation import FULL, full_program, one_solve
from sklearn.svm import SVC

from cgboost import CGBoostClassifier
from cgboost.generation import MasterState
from cgboost.kernels.library import DEFAULT_LIBRARY
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.pricing import KernelPool, StrataPricer
from cgboost.studies.datasets import odd_even_split
from cgboost.studies.scripts import options, timed


class Problem:
    """Rows, labels, and the model that a fit gives."""

    def __init__(self, data: Path, rows: int, C: float, seed: int) -> None:
        split = odd_even_split(data, train=rows, seed=seed)
        self.X, self.C = split.X_train.astype(np.float64), C
        self.labels = split.y_train.astype(np.float64)
        self.state, self.keys = self._end()

    def fit(self) -> CGBoostClassifier:
        """The fit as a user calls it."""
        return CGBoostClassifier(penalty="l1", C=self.C).fit(self.X, self.labels)

    def master(self) -> OneNormMaster:
        """An empty master."""
        return OneNormMaster(hinge(self.labels, np.full(len(self.labels), self.C)))

    def _end(self) -> tuple[MasterState, list[tuple[int, int]]]:
        """The master's last state, and the columns it has then."""
        model = self.fit()
        table = model.columns_
        pool = KernelPool(DEFAULT_LIBRARY, self.X)
        kernels = {name: stratum for stratum, name in enumerate(pool.strata)}
        keys = [(kernels[k], int(j)) for k, j in zip(table["kernel"], table["row"], strict=True)]
        master = self.master()
        master.add(pool.columns([s for s, _ in keys], [j for _, j in keys]))
        return master.solve(), keys

    def limit(self) -> tuple[float, float]:
        """CPU seconds of one exact pass from X, and of one solution of the final problem."""

        def one_pass() -> KernelPool:
            pool = KernelPool(DEFAULT_LIBRARY, self.X)
            StrataPricer(pool).price(self.state, 0)
            return pool

        passing, pool = timed(one_pass)
        columns = pool.columns([s for s, _ in self.keys], [j for _, j in self.keys])

        def one_solution() -> MasterState:
            master = self.master()
            master.add(columns)
            return master.solve()

        return passing, timed(one_solution)[0]

    def full(self) -> float:
        """CPU seconds of all kernel columns, and of the fastest way to solve the full LP."""

        def kernels() -> np.ndarray:
            pool = KernelPool(DEFAULT_LIBRARY, self.X)
            every = np.arange(len(self.X))
            return np.hstack([pool.values(stratum, every).T for stratum in range(3)])

        seconds, H = timed(kernels)
        ways = (
            timed(one_solve, full_program(form, H, self.labels, self.C), settings)[0]
            for form, settings in FULL.values()
        )
        return seconds + min(ways)


def main() -> None:
    """Print the seconds for every size and C."""
    found = options(
        __doc__, data=Path, rows=[1000, 3000, 10000], C=[1.0], repeat=3, seed=0, full=False
    )
    for rows in found.rows:
        for C in found.C:
            problem = Problem(found.data, rows, C, found.seed)
            runs = [
                (
                    timed(problem.fit)[0],
                    *problem.limit(),
                    timed(SVC(C=C).fit, problem.X, problem.labels)[0],
                )
                for _ in range(found.repeat)
            ]
            fit, passing, solving, svc = map(statistics.median, zip(*runs, strict=True))
            print(
                f"{rows} rows, C = {C:g}: fit {fit:.2f} s, limit {passing + solving:.2f} s (pass "
                f"{passing:.2f}, solution {solving:.2f}), fit/limit "
                f"{fit / (passing + solving):.1f}, SVC {svc:.2f} s",
                flush=True,
            )
            if found.full:
                full = problem.full()
                print(f"  full LP from X {full:.2f} s: ratio {full / fit:.1f}", flush=True)


if __name__ == "__main__":
    main()
