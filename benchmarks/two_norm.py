"""The 2-norm masters: MNIST odd/even, 1000 rows × 3000 columns (L, Q, R, cosine-normalised).

Three comparisons in one process and on one thread, medians of several runs, all from the same
kernel columns and, where nothing else is said, to a certified relative gap of 1e-6:

(a) α free, every column taken in one round, against what a user of scikit-learn would do for the
    same model: build K Kᵀ and fit ``SVC(kernel="precomputed")``;
(b) α ≥ 0 over the columns y_j·K(·, x_j), against OSQP on the full primal, whose own gap is printed;
(c) columns in rounds of 2 % of the rows to a gap of 1e-4, against the same with PIQP as the solver.

    python benchmarks/two_norm.py --data DATA [--rows 1000] [--C 0.1 1 10] [--only a b c]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import osqp
import scipy.sparse as sp
from lp_column_generation import odd_even_columns
from sklearn.svm import SVC

from cgboost import ColumnGeneration
from cgboost.generation import Result
from cgboost.losses import hinge
from cgboost.masters import TwoNormMaster
from cgboost.pricing import FeaturePricer, KernelPool, StrataPricer
from cgboost.studies.scripts import medians, options, timed

OSQP_ACCURACY = 1e-5
"""Absolute and relative tolerance given to OSQP."""


@dataclass
class Study:
    """The columns, on the training rows, and how often to run."""

    pool: KernelPool
    H: np.ndarray
    labels: np.ndarray
    repeat: int

    def timed(self, run: Callable[[], Any]) -> tuple[float, Any]:
        """Median seconds, and the last answer."""
        seconds, answers = medians({"": run}, self.repeat, warm=False)
        return seconds[""], answers[""]

    def generated(self, C: float, tol: float, at_once: int, solver: str = "auto") -> Result:
        """Free α, by column generation over the kernels."""
        master = TwoNormMaster(hinge(self.labels, np.full(len(self.labels), C)), solver=solver)
        pricer = StrataPricer(self.pool, priority="full", tol=tol)
        return ColumnGeneration(master, pricer, tol=tol, columns_per_round=at_once).run()

    def svc(self, C: float) -> tuple[float, float]:
        """Seconds for the product and for the fit."""
        clock = time.perf_counter
        product_seconds, product = timed(np.matmul, self.H, self.H.T, clock=clock)
        machine = SVC(C=C, kernel="precomputed", tol=1e-6)
        return product_seconds, timed(machine.fit, product, self.labels, clock=clock)[0]

    def nonneg(self, signed: np.ndarray, C: float) -> Result:
        """α ≥ 0 over the signed columns, all in one round."""
        master = TwoNormMaster(hinge(self.labels, np.full(len(self.labels), C)), coef="nonneg")
        pricer = FeaturePricer(signed)
        return ColumnGeneration(master, pricer, tol=1e-6, columns_per_round=signed.shape[1]).run()

    def osqp(self, signed: np.ndarray, C: float) -> np.ndarray:
        """(α, b) of the full primal."""
        n_rows, n_columns = signed.shape
        y = self.labels[:, None]
        quadratic = sp.diags_array(np.repeat([1.0, 0.0], [n_columns, 1 + n_rows]), format="csc")
        margins = sp.csc_array(np.hstack([y * signed, y, np.eye(n_rows)]))
        bounds = sp.diags_array(np.repeat([1.0, 0.0, 1.0], [n_columns, 1, n_rows]), format="csc")
        lower = np.concatenate([np.ones(n_rows), np.zeros(n_columns), [-np.inf], np.zeros(n_rows)])
        solver = osqp.OSQP()
        solver.setup(
            quadratic,
            np.repeat([0.0, C], [n_columns + 1, n_rows]),
            sp.vstack([margins, bounds], format="csc"),
            lower,
            np.full(len(lower), np.inf),
            eps_abs=OSQP_ACCURACY,
            eps_rel=OSQP_ACCURACY,
            max_iter=100_000,
            verbose=False,
        )
        return np.asarray(solver.solve().x[: n_columns + 1])


def objective(H: np.ndarray, labels: np.ndarray, C: float, solution: np.ndarray) -> float:
    """Primal objective of (α, b), with α clipped at 0."""
    coef = np.maximum(solution[:-1], 0.0)
    errors = np.maximum(0.0, 1.0 - labels * (H @ coef + solution[-1]))
    return float(0.5 * coef @ coef + C * errors.sum())


def all_at_once(study: Study, C: float) -> None:
    """(a)."""
    n_columns = study.H.shape[1]
    ours, result = study.timed(lambda: study.generated(C, 1e-6, n_columns))
    assert result.gap <= 1e-6, result.summary()
    times = np.array([study.svc(C) for _ in range(study.repeat)])
    product, fit = np.median(times, axis=0)
    theirs = float(np.median(times.sum(axis=1)))
    print(
        f"(a) α free, C = {C:g}: {ours:.3f} s, gap {result.gap:.0e}; K Kᵀ and SVC {theirs:.3f} s "
        f"({product:.3f} + {fit:.3f}); ours / theirs = {ours / theirs:.2f}",
        flush=True,
    )


def nonnegative(study: Study, C: float) -> None:
    """(b)."""
    n_rows = len(study.labels)
    signed = study.H * np.tile(study.labels, study.H.shape[1] // n_rows)
    ours, result = study.timed(lambda: study.nonneg(signed, C))
    assert result.gap <= 1e-6, result.summary()
    theirs, solution = study.timed(lambda: study.osqp(signed, C))
    gap = objective(signed, study.labels, C, solution) / result.objective - 1.0
    print(
        f"(b) α ≥ 0, C = {C:g}: {ours:.3f} s, gap {result.gap:.0e}, {len(result.coef)} columns; "
        f"OSQP {theirs:.2f} s, gap {gap:.0e}; theirs / ours = {theirs / ours:.1f}",
        flush=True,
    )


def in_rounds(study: Study, C: float) -> None:
    """(c)."""
    share = max(1, round(0.02 * len(study.labels)))
    ours, result = study.timed(lambda: study.generated(C, 1e-4, share))
    theirs, other = study.timed(lambda: study.generated(C, 1e-4, share, solver="piqp"))
    assert max(result.gap, other.gap) <= 1e-4, (result.summary(), other.summary())
    masters = [one.history["master_seconds"].sum() for one in (result, other)]
    print(
        f"(c) in rounds, C = {C:g}: {ours:.2f} s (master {masters[0]:.2f}), {result.n_rounds} "
        f"rounds, {len(result.coef)} columns; with PIQP {theirs:.2f} s (master {masters[1]:.2f}); "
        f"theirs / ours = {theirs / ours:.1f}",
        flush=True,
    )


PARTS = {"a": all_at_once, "b": nonnegative, "c": in_rounds}


def main() -> None:
    """Print the ratios for every C."""
    everything = tuple(PARTS)
    found = options(
        __doc__, data=Path, rows=1000, C=[0.1, 1.0, 10.0], repeat=5, only=everything, seed=0
    )
    pool, H, labels = odd_even_columns(found.data, found.rows, found.seed)
    study = Study(pool, H, labels, found.repeat)
    for part in found.only:
        for C in found.C if part != "b" else [1.0]:
            PARTS[part](study, C)


if __name__ == "__main__":
    main()
