"""Sparse linear models with linear constraints against CVXPY; writes constrained_linear.csv.

    python benchmarks/constrained_linear.py problems      # 60 random problems: objectives, bounds
    python benchmarks/constrained_linear.py fit           # 1000 × 5000 with 50 rows: CPU seconds
    python benchmarks/constrained_linear.py path          # 50 values against one fit

Times are CPU seconds of one process, so that they mean something on a busy machine: both sides are
timed in the same process, one after the other. CVXPY's are those of its ``solve``, with Clarabel
for smooth losses and HiGHS for linear programs. A solver that is stopped after five minutes of the
clock has no optimum in the table, and a time and a ratio that are lower bounds.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np

from cgboost import SparseLinearClassifier, SparseLinearRegressor
from cgboost.losses.registry import CLASSIFICATION

TABLE = Path(__file__).parents[1] / "docs/development/performance/constrained_linear.csv"
REGRESSION = (
    "quantile",
    "absolute_error",
    "squared_error",
    "huber",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
    "expectile",
    "poisson",
)
KINDS = ("sum", "equations", "inequalities", "bounds", "order")
LINEAR = ("quantile", "absolute_error", "epsilon_insensitive", "hinge")
SIZES = (1000, 5000, 50)
LARGE = {"squared_error": 0.1, "log_loss": 0.05, "quantile": 0.05, "hinge": 0.05}
N_VALUES, WEAKEST = 50, 30.0
LIMIT = 300.0
"""Seconds of the clock after which CVXPY's solver is stopped; its optimum is then missing."""

Rows = list[tuple[Any, str, Any]]


def rows_of(kind: str, obeying: np.ndarray, rng: np.random.Generator) -> Rows:
    """Constraints of a kind that these coefficients obey."""
    p = len(obeying)
    if kind == "sum":
        return [(np.ones(p), "==", obeying.sum())]
    if kind == "bounds":
        few = rng.choice(p, 3, replace=False)
        unit = np.eye(p)[few]
        return [(unit, ">=", obeying[few] - 0.1), (unit, "<=", obeying[few] + 0.2)]
    if kind == "order":
        first, second = rng.choice(p, 2, replace=False)
        row = np.zeros(p)
        row[first], row[second] = 1.0, -1.0
        return [(row, ">=", min(0.0, obeying[first] - obeying[second]))]
    matrix = rng.normal(size=(5, p))
    if kind == "equations":
        return [(matrix, "==", matrix @ obeying)]
    return [(matrix, "<=", matrix @ obeying + rng.exponential(size=5))]


def problem_of(
    loss: str, sizes: tuple[int, int], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Features, and a target that suits the loss."""
    X = rng.normal(size=sizes)
    beta = np.where(np.arange(sizes[1]) < max(3, sizes[1] // 150), rng.normal(size=sizes[1]), 0.0)
    f = X @ beta / np.linalg.norm(beta) + 0.5 * rng.normal(size=sizes[0])
    if loss in CLASSIFICATION:
        return X, np.where(f > np.median(f), 1.0, -1.0)
    return X, rng.poisson(np.exp(np.clip(f, -2.0, 2.0))).astype(float) if loss == "poisson" else f


def model_of(loss: str, strength: float, n_rows: int, constraints: Rows) -> Any:
    """The estimator: alpha, or a C of the same weight."""
    if loss in CLASSIFICATION:
        C = 1.0 / (n_rows * strength)
        return SparseLinearClassifier(loss=loss, C=C, constraints=constraints)
    return SparseLinearRegressor(loss=loss, alpha=strength, constraints=constraints)


def by_cvxpy(model: Any, X: np.ndarray, y: np.ndarray, solver: str, **options: Any) -> Any:
    """The same problem, solved by CVXPY."""
    beta, b = cp.Variable(X.shape[1]), cp.Variable()
    f = (X @ beta + b) / (2.0 if model.loss == "log_loss" else 1.0)  # its f is half the log-odds
    loss = cp.sum(model._loss.to_cvxpy(y, f))
    if model.loss in CLASSIFICATION:
        objective = model.C * loss + cp.norm1(beta)
    else:
        objective = loss / len(y) + model.alpha * cp.norm1(beta)
    limits = []
    for matrix, sense, right in model.constraints:
        values = matrix @ beta
        limits.append({"<=": values <= right, ">=": values >= right, "==": values == right}[sense])
    problem = cp.Problem(cp.Minimize(objective), limits)
    problem.solve(solver=solver, **options)
    return problem


def problems() -> Iterator[dict[str, Any]]:
    """60 random problems, every loss with every kind: the worst of each loss against CVXPY."""
    exact = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    for number, loss in enumerate([*REGRESSION, *sorted(CLASSIFICATION)]):
        differences, bounds, gaps = [], [], []
        for kind in KINDS:
            rng = np.random.default_rng([number, KINDS.index(kind)])
            X, y = problem_of(loss, (60, 40), rng)
            obeying = np.round(np.where(rng.random(40) < 0.2, rng.normal(size=40), 0.0), 2)
            model = model_of(loss, 0.02, len(y), rows_of(kind, obeying, rng)).fit(X, y)
            best = by_cvxpy(model, X, y, "CLARABEL", **exact).value
            differences.append((model.objective_ - best) / abs(best))
            bounds.append((model.dual_bound_ - best) / abs(best))
            gaps.append(model.gap_)
        yield {
            "part": "5 problems, 60 × 40",
            "loss": loss,
            "constraints": "each kind",
            "difference": max(differences, key=abs),
            "bound_difference": max(bounds),
            "gap": max(gaps),
            "solver": "CLARABEL",
        }


def large(loss: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """An estimator for 1000 × 5000 with 40 inequalities and 10 equations."""
    n, p, k = SIZES
    rng = np.random.default_rng(0)
    X, y = problem_of(loss, (n, p), rng)
    obeying = np.where(np.arange(p) < 30, 0.3 * rng.normal(size=p), 0.0)
    matrix = rng.normal(size=(k, p))
    right = matrix @ obeying
    few = 4 * k // 5
    spare = 0.5 * rng.exponential(size=few)
    rows: Rows = [(matrix[:few], "<=", right[:few] + spare), (matrix[few:], "==", right[few:])]
    return model_of(loss, LARGE[loss], n, rows), X, y


def fits(*losses: str) -> Iterator[dict[str, Any]]:
    """CPU seconds of a fit and of CVXPY."""
    for loss in losses or LARGE:
        model, X, y = large(loss)
        begun = time.process_time()
        model.fit(X, y)
        ours = time.process_time() - begun
        solver = "HIGHS" if loss in LINEAR else "CLARABEL"
        begun = time.process_time()
        try:
            problem = by_cvxpy(model, X, y, solver, time_limit=LIMIT)
            best = problem.value if problem.status == cp.OPTIMAL else np.nan
        except cp.SolverError:
            best = np.nan  # what it took by then is a lower bound of its time
        theirs = time.process_time() - begun
        yield {
            "part": "fit",
            "loss": loss,
            "constraints": "40 <=, 10 ==",
            "objective": model.objective_,
            "reference": best,
            "difference": (model.objective_ - best) / abs(best),
            "bound_difference": (model.dual_bound_ - best) / abs(best),
            "gap": model.gap_,
            "seconds": ours,
            "solver": solver,
            "solver_seconds": theirs,
            "ratio": theirs / ours,
        }


def paths(*losses: str) -> Iterator[dict[str, Any]]:
    """CPU seconds of a path of 50 values, down to that of one fit, relative to that fit."""
    for loss in losses or LARGE:
        model, X, y = large(loss)
        begun = time.process_time()
        model.fit(X, y)
        one = time.process_time() - begun
        name, end = ("C", model.C) if loss in CLASSIFICATION else ("alpha", model.alpha)
        start = end / WEAKEST if name == "C" else end * WEAKEST
        begun = time.process_time()
        path = model.path(X, y, **{f"{name}s": np.geomspace(start, end, N_VALUES)})
        many = time.process_time() - begun
        yield {
            "part": "path",
            "loss": loss,
            "constraints": "40 <=, 10 ==",
            "objective": path.points[-1].objective_,
            "reference": model.objective_,
            "difference": path.points[-1].objective_ / model.objective_ - 1.0,
            "gap": float(path.table()["gap"].max()),
            "seconds": many,
            "solver": "one fit",
            "solver_seconds": one,
            "ratio": many / one,
        }


PARTS = {
    "problems": ("5 problems, 60 × 40", problems),
    "fit": ("fit", fits),
    "path": ("path", paths),
}
DIGITS = {"objective": 7, "reference": 7}
COLUMNS = [
    *("part", "loss", "constraints", "objective", "reference", "difference", "bound_difference"),
    *("gap", "seconds", "solver", "solver_seconds", "ratio"),
]


def as_text(name: str, value: Any) -> str:
    """A number with its digits; nothing where there is none."""
    if not isinstance(value, float):
        return str(value)
    return "" if np.isnan(value) else f"{value:.{DIGITS.get(name, 3)}g}"


def main(part: str, *losses: str) -> None:
    """Measure one part, and put its lines in place of those that the table has of it."""
    name, measure = PARTS[part]
    lines = []
    for line in measure(*losses):
        shown = {name: as_text(name, value) for name, value in line.items()}
        print(shown, flush=True)
        lines.append(shown)
    kept: list[dict[str, Any]] = []
    if TABLE.exists():
        with TABLE.open(encoding="utf-8") as file:
            kept = list(csv.DictReader(file))
    measured = {line["loss"] for line in lines}
    kept = [line for line in kept if line["part"] != name or line["loss"] not in measured]
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, *lines])


if __name__ == "__main__":
    main(*sys.argv[1:])
