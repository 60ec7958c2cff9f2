"""Seconds of a pricing pass over all kernel columns, by what the pass makes use of.

MNIST odd/even in float32, kernels cosine-normalised: linear (L), quadratic (Q), RBF (R). Every pass
is exact. The pseudo-response has 20 % of the rows; in each pass ``--changed`` of them move.

* plain: blocks of kernel values with all rows, one kernel after the other, all threads for each
  product; everything else is a pass of the pool:
* support: the rows where r ≠ 0; blocks of values, from one matrix product for all kernels, but L
  takes X(Xᵀr) where there are many rows, and Q a matrix of moments where that is cheaper;
* changed: the rows where r has changed alone;
* kept: the same, where the values of these rows are in memory from the pass before.

Then full against stratified pricing, with error points in a tenth of the rows and no memory.

    python benchmarks/pricing.py --data DATA [--rows 1000 10000] [--changed 300 1000] [--repeat 5]

With ``--rows 60000`` a plain pass takes minutes; ``--skip-plain`` leaves it out.
"""

from __future__ import annotations

import statistics
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cgboost.generation import MasterState
from cgboost.parallel.threads import available
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing import KernelPool, StrataPricer
from cgboost.studies.datasets import load_mnist, odd_even_labels
from cgboost.studies.odd_even import parse_library
from cgboost.studies.scripts import options, timed

SUPPORT, ERRORS = 0.2, 0.1
"""Shares of rows with r ≠ 0, and of error points."""

LIBRARIES = ("L", "Q", "R", "L,Q,R")


class Problem:
    """Training rows, and pseudo-responses that move from pass to pass."""

    def __init__(self, X: np.ndarray, labels: np.ndarray, n_rows: int, repeat: int) -> None:
        self.rng = np.random.default_rng(0)
        rows = self.rng.permutation(len(X))[:n_rows]
        self.X, self.labels, self.repeat = X[rows], labels[rows], repeat
        self.support = self.rng.permutation(n_rows)[: int(SUPPORT * n_rows)]
        self.slack = np.zeros(n_rows)
        self.slack[self.support[: int(ERRORS * n_rows)]] = 1.0
        self.response = np.zeros(n_rows)
        self.response[self.support] = 0.1 * self.labels[self.support]

    def move(self, rows: np.ndarray) -> None:
        """Give the pseudo-response other values in some rows."""
        self.response = self.response.copy()
        self.response[rows] = self.labels[rows] * self.rng.uniform(0.01, 0.09, size=len(rows))

    def some(self, count: int) -> np.ndarray:
        """Rows among twice as many that are free to move."""
        return self.rng.permutation(self.support[: 2 * count])[:count]

    def state(self) -> MasterState:
        """What a pricer sees."""
        zeros = np.zeros(len(self.X))
        entry = OneNormEntry(two_sided=True)
        return MasterState((), np.zeros(0), 0.0, zeros, self.response, 1.0, self.slack, entry=entry)

    def pricer(self, kernels: str, megabytes: float, priority: str = "full") -> StrataPricer:
        """A pricer with no pass behind it; its tolerance leaves float32 as it is."""
        pool = KernelPool(parse_library(kernels), self.X, cache_size=megabytes)
        return StrataPricer(pool, priority=priority, tol=1e6, certify_every=10**9)

    def median(self, action: Callable[[], object], before: Callable[[], object]) -> float:
        """Seconds of an action, with something else before it each time."""
        seconds = []
        for _ in range(self.repeat):
            before()
            seconds.append(timed(action, clock=time.perf_counter)[0])
        return statistics.median(seconds)


def plain(problem: Problem, kernels: str) -> float:
    """Blocks of values with all rows, one kernel after the other."""
    fitted = list(parse_library(kernels).fit(problem.X).values())

    def scan() -> None:
        for kernel in fitted:
            for start in range(0, len(problem.X), 256):
                values = kernel(problem.X, problem.X[start : start + 256])
                _ = problem.response @ values.astype(np.float64)

    return problem.median(scan, lambda: None)


def support(problem: Problem, kernels: str) -> float:
    """The first pass of a pool without memory."""
    pricers: list[StrataPricer] = []
    return problem.median(
        lambda: pricers[-1].price(problem.state(), 0),
        lambda: pricers.append(problem.pricer(kernels, 0.0)),
    )


def changed(problem: Problem, kernels: str, count: int, megabytes: float) -> float:
    """Passes in which the same rows move: with memory, their values are there but once."""
    pricer, rows = problem.pricer(kernels, megabytes), problem.some(count)
    for _ in range(2):
        pricer.price(problem.state(), 0)
        problem.move(rows)
    pricer.price(problem.state(), 0)
    return problem.median(lambda: pricer.price(problem.state(), 0), lambda: problem.move(rows))


def by_priority(problem: Problem, priority: str, count: int) -> tuple[float, int]:
    """Seconds of a pass that finds columns, RBF alone and no memory, and columns evaluated."""
    pricer = problem.pricer("R", 0.0, priority)
    pricer.tol = -1.0  # every group has something
    pricer.price(problem.state(), 0)
    found = []
    seconds = problem.median(
        lambda: found.append(pricer.price(problem.state(), 10)),
        lambda: problem.move(problem.some(count)),
    )
    return seconds, found[-1].n_evaluated


def show(problem: Problem, given: Namespace) -> None:
    """The tables for one number of rows."""
    print(f"{len(problem.X)} rows, {len(problem.support)} of them in the support")
    heads = ["plain", "support"]
    heads += [f"{what} {n}" for n in given.changed for what in ("changed", "kept")]
    print(" " * 8 + "".join(f"{head:>14}" for head in heads))
    for kernels in LIBRARIES:
        times = [np.nan if given.skip_plain else plain(problem, kernels)]
        times.append(support(problem, kernels))
        for count in given.changed:
            times += [changed(problem, kernels, count, size) for size in (0.0, given.cache)]
        print(f"{kernels:8}" + "".join(f"{1e3 * t:11.1f} ms" for t in times), flush=True)
    for priority in ("full", "stratified"):
        seconds, evaluated = by_priority(problem, priority, given.changed[-1])
        print(f"R, {priority}: {1e3 * seconds:.1f} ms for {evaluated} columns", flush=True)


def main() -> None:
    """Print tables for every number of rows."""
    given = options(
        __doc__,
        one_thread=False,
        data=Path,
        rows=[1000, 10000],
        changed=[300, 1000],
        cache=2000.0,  # megabytes for kept values
        repeat=5,
        skip_plain=False,
    )
    X, digits, *_ = load_mnist(given.data)
    labels = odd_even_labels(digits).astype(np.float64)
    print(f"{available()} threads, {given.cache:g} MB for kept values")
    for n_rows in given.rows:
        show(Problem(X, labels, n_rows, given.repeat), given)


if __name__ == "__main__":
    main()
