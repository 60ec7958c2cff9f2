"""Peak memory of transform regression from a file: `python benchmarks/transform_from_file.py 3e7`.

A file of float32 rows is written to a temporary folder, block by block, and read back by blocks in
every pass of the fit. What is as long as the rows stays in memory (y, f, who is held out; hashes in
the beginning); outputs of stages are in their own files.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cgboost import TransformRegressor

BLOCK = 2**17


class Rows:
    """Rows of a file of float32: features, and then the response."""

    def __init__(self, path: Path, n_features: int) -> None:
        self.path, self.width = path, n_features + 1

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Blocks (X, y)."""
        with self.path.open("rb") as file:
            while len(rows := np.fromfile(file, np.float32, BLOCK * self.width)):
                block = rows.reshape(-1, self.width)
                yield block[:, :-1], block[:, -1].astype(np.float64)


def write(path: Path, n_rows: int, n_features: int) -> None:
    """Products and bends that take several stages, and noise."""
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        for start in range(0, n_rows, BLOCK):
            X = rng.uniform(-1, 1, size=(min(BLOCK, n_rows - start), n_features))
            y = X[:, 0] + X[:, 1] + 3 * X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2])
            y += X[:, 3] + 2 * X[:, 3] * X[:, 4] + 0.5 * rng.normal(size=len(X))
            np.column_stack([X, y]).astype(np.float32).tofile(file)


def peak() -> float:
    """Largest resident set of this process so far, GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    """Write, fit, and say what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=float, nargs="?", default=3e7)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--stages", type=int, default=10)
    options = parser.parse_args()
    n_rows = int(options.rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.bin"
        write(path, n_rows, options.features)
        before, started = peak(), time.process_time()
        model = TransformRegressor(n_estimators=options.stages, tol=0.0)
        model.fit(Rows(path, options.features))
        seconds = time.process_time() - started
        size = path.stat().st_size / 1e9
    print(f"{n_rows} rows, {options.features} features, {size:.2f} GB; {len(model.stages_)} stages")
    print(f"peak {before:.2f} GB before the fit, {peak():.2f} GB after it; {seconds:.0f} CPU s")


if __name__ == "__main__":
    main()
