"""Ranges over all near-optimal models: as CVXPY has them, and how long they take.

    PYTHONPATH=. python benchmarks/near_optimal.py [--data DATA] [--share 0.1] [--write]

*Twenty problems* (those of ``tests/proofs``: all families, piecewise linear and curved losses, with
every column written out): predictions of three rows and a mean output, against CVXPY with Clarabel.
*FICO* (10459 rows, all stumps of 17 binary features): predictions of the first hundred rows.
*Quantile* (3000 × 1000, Gaussian features of which 20 have a coefficient, noise of three degrees of
freedom): the coefficients of all features. Of the last two the CPU seconds of both ends are
relative to those of the fit, the set itself included; ``--share`` of FICO's ends and a tenth of
that of the others are measured, evenly spread, and the rest is taken to last as long. Each is done
at three tolerances. ``--data`` (or the environment variable CGBOOST_DATA) names the folder with
``fipe/FICO.csv``. ``--write`` puts the rows into
``docs/development/performance/near_optimal.csv``.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np

from cgboost import LPBoostClassifier, SparseLinearRegressor, near_optimal
from tests.proofs.near_families import CASES, NEW, X

TABLE = Path(__file__).parents[1] / "docs/development/performance/near_optimal.csv"
COLUMNS = (
    "problem", "ends", "tol", "largest difference to CVXPY", "largest gap / width",
    "fit, CPU s", "an end, CPU ms", "all ends / fit",
)  # fmt: skip
EPSILON = 0.05


def compared(name: str) -> dict[str, Any]:
    """A problem with every column written out."""
    case = CASES[name]
    begun = time.process_time()
    model = case.fit()
    fitted = time.process_time()
    near = near_optimal(model, X, case.y, EPSILON, case.weights, tol=1e-6)
    mask = X[:, 0] > 0
    found = [*near.details("prediction", NEW), near.details("rate", mask)]
    ended = time.process_time()
    problem = case.written_out(model, EPSILON)
    wanted = [problem.range(problem.output(NEW[[k]])[0]) for k in range(len(NEW))]
    if not hasattr(model, "classes_"):
        wanted = [model._target_kind.predicted(np.array(ends)) for ends in wanted]
    wanted.append(problem.range(cp.sum(problem.output(X[mask])) / mask.sum()))
    ends = np.array([(own.low, own.high) for own in found])
    apart = np.abs(ends - np.array(wanted)) / np.maximum(1.0, np.abs(wanted))
    return {
        "problem": name,
        "ends": ends.size,
        "tol": 1e-6,
        "largest difference to CVXPY": f"{apart.max():.0e}",
        "largest gap / width": f"{max(own.gap / (own.high - own.low) for own in found):.0e}",
        "fit, CPU s": f"{fitted - begun:.3f}",
        "an end, CPU ms": f"{1000 * (ended - fitted) / ends.size:.0f}",
        "all ends / fit": f"{(ended - fitted) / (fitted - begun):.0f}",
    }


def timed(
    problem: str, make: Callable[[], Any], rows: Any, y: Any, kind: str, things: Any, tol: float,
    share: float,
) -> dict[str, Any]:  # fmt: skip
    """A part of the ends of a larger problem, and how long all of them take."""
    make().fit(rows, y)  # what is imported or compiled at the first time is
    begun = time.process_time()
    model = make().fit(rows, y)
    fit = time.process_time() - begun
    begun = time.process_time()
    near = near_optimal(model, rows, y, 0.01, tol=tol)
    opened = time.process_time() - begun
    places = np.unique(
        np.linspace(0, len(things) - 1, max(2, round(share * len(things)))).astype(int)
    )
    begun = time.process_time()
    found = [near.details(kind, things[place]) for place in places]
    an_end = (time.process_time() - begun) / (2 * len(places))
    return {
        "problem": problem,
        "ends": 2 * len(places),
        "tol": tol,
        "largest difference to CVXPY": "",
        "largest gap / width": f"{max(own.gap / (own.high - own.low) for own in found):.0e}",
        "fit, CPU s": f"{fit:.3f}",
        "an end, CPU ms": f"{1000 * an_end:.0f}",
        "all ends / fit": f"{(opened + 2 * len(things) * an_end) / fit:.0f}",
    }


def measured(data: str | None, share: float) -> Iterator[dict[str, Any]]:
    """All rows of the table."""
    yield from map(compared, CASES)
    rng = np.random.default_rng(0)
    rows, coef = rng.normal(size=(3000, 1000)), np.zeros(1000)
    coef[:20] = rng.normal(size=20)
    y = rows @ coef + rng.standard_t(3, size=3000)
    for tol in (1e-6, 1e-3, 1e-2):
        yield timed(
            "quantile, 3000 × 1000", lambda: SparseLinearRegressor(quantile=0.5, alpha=0.02),
            rows, y, "coef", range(1000), tol, share / 10.0,
        )  # fmt: skip
    if data is None:
        return
    table = np.loadtxt(Path(data) / "fipe" / "FICO.csv", delimiter=",", skiprows=1)
    for tol in (1e-6, 1e-3, 1e-2):
        yield timed(
            "FICO, all stumps", lambda: LPBoostClassifier(C=1.0), table[:, :-1], table[:, -1],
            "prediction", table[:100, :-1], tol, share,
        )  # fmt: skip


def main() -> None:
    """Print the table; with ``--write`` keep it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("CGBOOST_DATA"))
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for row in measured(given.data, given.share):
        found.append(row)
        print(", ".join(f"{value}" for value in row.values()), flush=True)
    if given.write:
        with TABLE.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)


if __name__ == "__main__":
    main()
