"""Column generation against the full LP: 1-norm, MNIST odd/even, 1000 rows × 3000 columns.

Both solve the same problem (linear, quadratic and RBF kernel, cosine-normalised; free α, free
offset) from the same Gram columns, in one process and on one thread, to a certified relative gap of
1e-6. The full LP is given to the HiGHS simplex in every combination of form, strategy and presolve
listed in ``FULL``; the fastest counts.

    python benchmarks/lp_column_generation.py --data DATA [--rows 1000] [--C 0.1 1 10] [--repeat 5]
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from cgboost import ColumnGeneration
from cgboost.generation import Result
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.pricing import KernelPool, StrataPricer
from cgboost.studies.datasets import odd_even_split
from cgboost.studies.odd_even import parse_library
from cgboost.studies.scripts import medians, options, timed
from solvers import Program, Solution, open_session

FULL = {
    "dual form, dual simplex": ("dual", {"simplex_strategy": 1, "presolve": "off"}),
    "dual form, dual simplex, presolve": ("dual", {"simplex_strategy": 1, "presolve": "on"}),
    "dual form, primal simplex": ("dual", {"simplex_strategy": 4, "presolve": "off"}),
    "primal form, dual simplex": ("primal", {"simplex_strategy": 1, "presolve": "off"}),
    "primal form, primal simplex": ("primal", {"simplex_strategy": 4, "presolve": "off"}),
}


def full_program(form: str, H: np.ndarray, labels: np.ndarray, C: float) -> Program:
    """The LP over all columns, in its primal or its dual form."""
    n_rows, n_columns = H.shape
    if form == "dual":
        return Program(
            cost=-labels,
            matrix=np.vstack([np.ones(n_rows), H.T]),
            row_lower=np.concatenate([[0.0], -np.ones(n_columns)]),
            row_upper=np.concatenate([[0.0], np.ones(n_columns)]),
            lower=np.minimum(0.0, C * labels),
            upper=np.maximum(0.0, C * labels),
        )
    signed = labels[:, None] * H
    return Program(
        cost=np.concatenate([np.ones(2 * n_columns), [0.0], np.full(n_rows, C)]),
        matrix=np.hstack([signed, -signed, labels[:, None], np.eye(n_rows)]),
        row_lower=np.ones(n_rows),
        row_upper=np.full(n_rows, np.inf),
        lower=np.concatenate([np.zeros(2 * n_columns), [-np.inf], np.zeros(n_rows)]),
        upper=np.inf,
    )


def one_solve(program: Program, settings: dict[str, Any]) -> Solution:
    """The program by HiGHS, from nothing."""
    return open_session(program, "highs", **settings).solve()


def full_seconds(H: np.ndarray, labels: np.ndarray, C: float) -> tuple[dict[str, float], float]:
    """Seconds of every way to solve the full LP, and its optimal value."""
    seconds, optimum = {}, 0.0
    for name, (form, settings) in FULL.items():
        program = full_program(form, H, labels, C)
        seconds[name], solution = timed(
            open_session(program, "highs", **settings).solve, clock=time.perf_counter
        )
        optimum = abs(solution.objective)
        print(f"    full LP, {name}: {seconds[name]:.3f} s", flush=True)
    return seconds, optimum


def generated_seconds(
    pool: KernelPool, labels: np.ndarray, C: float, repeat: int
) -> tuple[float, float]:
    """Median seconds of column generation, checked for its certificate; the objective."""

    def run() -> Result:
        master = OneNormMaster(hinge(labels, np.full(len(labels), C)))
        pricer = StrataPricer(pool, priority="full", tol=1e-6)
        share = max(1, round(0.05 * len(labels)))
        return ColumnGeneration(master, pricer, tol=1e-6, columns_per_round=share).run()

    seconds, results = medians({"generated": run}, repeat, warm=False)
    result, median = results["generated"], seconds["generated"]
    assert result.gap <= 1e-6, result.summary()
    print(
        f"    column generation: {median:.3f} s (median of {repeat}), "
        f"{result.n_rounds} rounds, {len(result.coef)} of {len(pool.strata) * len(labels)} "
        f"columns, objective {result.objective:.6f}, gap {result.gap:.1e}",
        flush=True,
    )
    return median, result.objective


def odd_even_columns(data: Path, rows: int, seed: int) -> tuple[KernelPool, np.ndarray, np.ndarray]:
    """The pool of three kernels, all its columns on the training rows, and labels.

    The sums of all columns are computed already, so that every method starts from there.
    """
    split = odd_even_split(data, train=rows, seed=seed)
    X, labels = split.X_train.astype(np.float64), split.y_train.astype(np.float64)
    pool = KernelPool(parse_library("L,Q,R"), X)
    H = np.hstack([pool.values(stratum, np.arange(len(X))).T for stratum in range(3)])
    for stratum in range(3):
        pool.scores(stratum, None, labels)
    return pool, H, labels


def main() -> None:
    """Print the ratio for every C."""
    found = options(__doc__, data=Path, rows=1000, C=[0.1, 1.0, 10.0], repeat=5, seed=0)
    pool, H, labels = odd_even_columns(found.data, found.rows, found.seed)
    for C in found.C:
        print(f"C = {C:g}")
        seconds, objective = generated_seconds(pool, labels, C, found.repeat)
        full, optimum = full_seconds(H, labels, C)
        assert abs(objective - optimum) <= 1e-6 * max(1.0, optimum), (objective, optimum)
        ratio = min(full.values()) / seconds
        print(f"  ratio {ratio:.1f}, same objective to {abs(objective / optimum - 1):.0e}")


if __name__ == "__main__":
    main()
