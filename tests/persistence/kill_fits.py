"""Fits that are killed at random moments and resumed: nothing is lost, and nothing is another.

A child process fits with a checkpoint after every round, is killed by SIGKILL at some moment, and
the fit goes on from the file here.
"""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cgboost.persistence.checkpoint as checkpoint
from cgboost import (
    RBF,
    BLFClassifier,
    BranchAndPrice,
    CGBoostClassifier,
    Checkpoint,
    LPBoostClassifier,
    TransformRegressor,
)
from cgboost.generation.columns import Column
from cgboost.integer import Apart, RyanFoster, Together, respects
from cgboost.masters import LinearMaster
from solvers import Program, solve

ROOT = Path(__file__).resolve().parents[2]


def rows(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of eight features, and a response with interactions and noise."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_rows, 8))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n_rows)
    return X, y


def kernel(**how: Any) -> float:
    """A kernel model to a gap of 1e-9."""
    X, y = rows(1000)
    model = CGBoostClassifier(RBF(0.2), C=3.0, tol=1e-9, columns_per_round=5)
    return fitted(model, X, np.sign(y), how)


def stumps(**how: Any) -> float:
    """LPBoost over stumps to a gap of 1e-9."""
    X, y = rows(400)
    model = LPBoostClassifier(C=0.3, tol=1e-9, columns_per_round=3)
    return fitted(model, X, np.sign(y), how)


def transform(**how: Any) -> float:
    """Transform regression of thirty stages, all rows."""
    X, y = rows(20_000)
    model = TransformRegressor(
        n_estimators=30, learning_rate=0.3, early_stopping=False, tol=0.0, random_state=0
    )
    return fitted(model, X, y, how)


def latent(**how: Any) -> float:
    """Eight kernel latent factors of the log loss."""
    X, y = rows(4000)
    model = BLFClassifier(n_components=25, kernel=RBF(0.05), loss="log_loss")
    return fitted(model, X, np.sign(y), how)


def fitted(model: Any, X: np.ndarray, y: np.ndarray, how: dict[str, Any]) -> float:
    """The objective of a fit with a checkpoint, or one that goes on from it."""
    if "checkpoint" in how:
        model.set_params(callbacks=[how["checkpoint"]])
    model.fit(X, y, resume=how.get("resume"))
    return float(model.objective_)


def tree(**how: Any) -> float:
    """Bins for 24 items of different costs, by branch-and-price."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(20, 60, size=24).astype(float)
    n = len(sizes)
    costs = rng.uniform(0.9, 1.1, size=n)

    @respects(Together, Apart)
    def price(duals: Any) -> Any:
        lower, upper, matrix = [], [], [sizes]
        lower.append(-np.inf)
        upper.append(150.0)
        for each in duals.restrictions:
            a, b = each.rows
            row = np.zeros(n)
            if isinstance(each, Together):
                row[a], row[b] = 1.0, -1.0
                bounds = (0.0, 0.0)
            else:
                row[a] = row[b] = 1.0
                bounds = (-np.inf, 1.0)
            matrix.append(row)
            lower.append(bounds[0])
            upper.append(bounds[1])
        program = Program(
            cost=0.01 * costs - np.asarray(duals),
            matrix=np.array(matrix),
            row_lower=np.array(lower),
            row_upper=np.array(upper),
            upper=np.ones(n),
            integrality=np.ones(n, dtype=bool),
        )
        solution = solve(program, "highs", options={"mip_rel_gap": 0.0})
        items = np.round(solution.x)
        cost = 1.0 + 0.01 * float(costs @ items)
        column = Column(items, tuple(np.flatnonzero(items).tolist()), cost=cost)
        reduced = cost - float(np.asarray(duals) @ items)
        return [column] if reduced < -1e-9 else [], reduced - 1e-9

    master = LinearMaster(n, "==", np.ones(n), copies=float(n))
    master.add([Column(row, (i,), cost=1.0 + 0.01 * costs[i]) for i, row in enumerate(np.eye(n))])
    callbacks = [how["checkpoint"]] if "checkpoint" in how else []
    search = BranchAndPrice(master, price, branching=RyanFoster(), callbacks=callbacks)
    return float(search.run(resume=how.get("resume")).objective)


KINDS: dict[str, Callable[..., float]] = {
    "kernel": kernel,
    "stumps": stumps,
    "transform": transform,
    "latent": latent,
    "tree": tree,
}
"""What is killed."""


class Outcome(NamedTuple):
    """A fit that was killed and resumed."""

    kind: str
    seconds: float
    difference: float
    alive: bool
    """Whether it was at work when it was killed."""


def killed(kind: str, after: float, path: Path) -> bool:
    """Kill a fit so many seconds after its first file; whether it was at work then."""
    code = f"from tests.persistence.kill_fits import child; child({kind!r}, {os.fspath(path)!r})"
    environment = os.environ | {"PYTHONPATH": os.fspath(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, cwd=ROOT)
    try:
        while not path.exists() and process.poll() is None:
            time.sleep(0.005)
        time.sleep(after)
    finally:
        process.send_signal(signal.SIGKILL)
        status = process.wait()
    return status == -signal.SIGKILL


def child(kind: str, path: str) -> None:
    """What the child process does: a file after every round, however long it takes."""
    checkpoint.MOST_SHARE = math.inf
    KINDS[kind](checkpoint=Checkpoint(path, every=0.0))


def outcomes(count: int, seed: int = 0, kinds: Any = tuple(KINDS)) -> list[Outcome]:
    """Fits of all kinds in turn, killed at random moments of the time that they take."""
    rng, whole, found = random.Random(seed), {}, []
    for kind in kinds:
        started = time.perf_counter()
        whole[kind] = KINDS[kind](), time.perf_counter() - started
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            kind = kinds[number % len(kinds)]
            expected, seconds = whole[kind]
            path = Path(folder) / f"{number}.ckpt"
            after = rng.uniform(0.0, seconds)
            alive = killed(kind, after, path)
            objective = KINDS[kind](resume=path)
            found.append(Outcome(kind, after, abs(objective - expected) / abs(expected), alive))
    return found
