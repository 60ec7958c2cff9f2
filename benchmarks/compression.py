"""Compressed support vector machines beside the given ones: size, decisions, errors, seconds.

MNIST with all ten digits, the same at 16 × 16 pixels, and Adult, 10000 rows each, scikit-learn's
``SVC``; one centre for 20 vectors. Rows to agree on are the training rows. The last columns
are the largest share of the bound, ε √k(x, x), that 10⁵ random rows take up, and the largest
difference of decisions in ONNX Runtime. With ``--write`` the table of
the guide is replaced.

    python benchmarks/compression.py --data DATA [--rows 10000] [--share 20] [--write]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC

from cgboost import compress
from cgboost.studies.datasets import load_mnist
from cgboost.studies.scripts import options, timed

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "examples" / "reproduce"))

RANDOM_ROWS = 100_000
TEST_ROWS = 10_000

Task = tuple[str, SVC, Any, Any, Any, Any]


def tasks(data: Path, n_rows: int) -> Iterator[Task]:
    """Name, machine, training and test rows."""
    from constrained.constrained_models import read_adult

    X, y, X_test, y_test = load_mnist(data)
    sets = {"MNIST, ten digits": (X, X_test)}
    sets["the same, 16 × 16 pixels"] = (small(X), small(X_test))
    for (name, (own, test)), gamma in zip(sets.items(), (0.02, 0.06), strict=True):
        yield name, SVC(C=10, gamma=gamma), own[:n_rows], y[:n_rows], test[:TEST_ROWS], y_test
    adult = read_adult(data)
    own, test = np.asarray(adult.X, dtype=np.float64), np.asarray(adult.X_test, dtype=np.float64)
    mean, std = own.mean(axis=0), own.std(axis=0)
    kept = std > 0
    rows = ((own[:, kept] - mean[kept]) / std[kept], (test[:, kept] - mean[kept]) / std[kept])
    y, y_test = adult.y[:n_rows], adult.y_test[:TEST_ROWS]
    yield "Adult, scaled", SVC(), rows[0][:n_rows], y, rows[1][:TEST_ROWS], y_test


def small(X: Any) -> Any:
    """Images of 16 × 16 pixels, of the 28 × 28 without their border, means of bilinear weights."""
    images = X.reshape(-1, 28, 28)
    edges = np.linspace(2, 26, 17)
    weights = np.array(
        [
            np.clip(np.minimum(stop, np.arange(28) + 1) - np.maximum(start, np.arange(28)), 0, None)
            for start, stop in pairwise(edges)
        ]
    ) / (edges[1] - edges[0])
    return np.einsum("ai,nij,bj->nab", weights, images, weights).reshape(len(X), -1)


def row(task: Task, share: int) -> str:
    """A line of the table."""
    name, machine, X, y, X_test, y_test = task
    X, X_test = X.astype(np.float64), X_test.astype(np.float64)
    fit, _ = timed(machine.fit, X, y)
    size = len(machine.support_) // share
    took, made = timed(lambda: compress(machine, X, size=size, random_state=0))
    slow, said = timed(machine.predict, X_test)
    fast, own = timed(made.predict, X_test)
    errors = [100 * np.mean(answer != y_test) for answer in (said, own)]
    same, own_same = 100 * np.mean(said == own), 100 * (1 - made.disagreement_)
    whole = compress(machine, X, size=len(machine.support_))
    return (
        f"| {name} | {len(machine.support_)} → {size} | {own_same:.2f} | {same:.2f} "
        f"| {errors[0]:.2f} → {errors[1]:.2f} | {fit:.1f}; {took:.1f} | {slow / fast:.0f} "
        f"| {largest_share(whole, made, X):.2f} | {off_in_onnx(made, X_test):.0e} |"
    )


def largest_share(whole: Any, made: Any, X: Any) -> float:
    """Largest |f − g| of random rows, over what the bound allows; ``whole`` has all vectors."""
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(RANDOM_ROWS // 1000):
        one, other = X[rng.integers(len(X), size=(2, 1000))]
        rows = one + rng.normal(size=(1000, 1)) * (other - one)
        off = np.abs(whole.outputs(rows) - made.outputs(rows))
        largest = max(largest, float((off / made.agreement(rows)).max()))
    return largest


def off_in_onnx(made: Any, X: Any) -> float:
    """Largest difference of decisions in ONNX Runtime, in float64."""
    from onnxruntime import InferenceSession

    session = InferenceSession(made.to_onnx(dtype="float64").SerializeToString())
    (decisions,) = session.run(["decision"], {"X": X})
    return float(
        np.abs(decisions.reshape(len(X), -1) - made.decision_function(X).reshape(len(X), -1)).max()
    )


def main() -> None:
    """Print the table, and write it into the guide."""
    given = options(__doc__, data=Path, rows=10_000, share=20, write=False)
    lines = [
        "| task | vectors | same decisions on the rows, % | on test rows, % | test errors, % "
        "| fit; compression, s | prediction, × as fast | share of the bound | ONNX differs by |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for task in tasks(given.data, given.rows):
        lines.append(row(task, given.share))
        print(lines[-1], flush=True)
    if given.write:
        from page_tables import refresh

        refresh(
            ROOT / "docs" / "user_guide" / "how_to_small_models.md",
            {"compression": "\n".join(lines)},
        )


if __name__ == "__main__":
    main()
