"""Seconds of fit() from X with many small kernels, 1-norm.

* 117 kernels: pima, 70 % of its rows (537); 13 kernels, Gaussian ones of ten widths σ = 2^-3, …,
  2^6 (gamma = 1/(2σ²)) and polynomials (x·z + 1)^d, d = 1, 2, 3, on all features and on each of
  eight, cosine-normalised;
* 10000 kernels: wdbc, 500 rows; Gaussian ones of these widths on 1000 sets of one to five of its
  30 features, drawn at random.

Features have mean 0 and variance 1. CPU seconds, one thread, the least of ``--repeat`` runs; peak
memory is that of the process, so that ``--only`` has to name one problem for it to mean something.

    python benchmarks/many_kernels.py [--data DATA] [--only 117 10000] [--repeat 3] [--write]

``--write`` puts the rows into ``docs/development/performance/many_kernels.csv``.
"""

from __future__ import annotations

import csv
import resource
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from cgboost import RBF, CGBoostClassifier, KernelLibrary, On, Polynomial
from cgboost.kernels import Kernel
from cgboost.studies.datasets import data_folder
from cgboost.studies.scripts import options, timed

TABLE = Path(__file__).parents[1] / "docs" / "development" / "performance" / "many_kernels.csv"
HEAD = "kernels", "rows", "C", "CPU s", "rounds", "columns", "objective", "gap", "peak MB"

Rows = tuple[NDArray[np.float64], NDArray[np.str_]]


def rows_of(folder: Path, name: str, count: int) -> Rows:
    """Some rows of a table of ``uci``, standardised, and their classes."""
    table = np.loadtxt(folder / "uci" / f"{name}.csv", delimiter=",", skiprows=1, dtype=str)
    chosen = table[np.random.default_rng(0).permutation(len(table))[:count]]
    return StandardScaler().fit_transform(chosen[:, :-1].astype(float)), chosen[:, -1]


def gaussians() -> dict[str, Kernel]:
    """Ten widths."""
    return {f"rbf {e}": RBF(0.5 / 4.0**e) for e in range(-3, 7)}


def features_alone(n_features: int) -> KernelLibrary:
    """Thirteen kernels on all features, and on each."""
    own = gaussians() | {f"polynomial {d}": Polynomial(d, coef0=1.0) for d in (1, 2, 3)}
    kernels = dict(own)
    for j in range(n_features):
        kernels |= {f"feature {j}, {name}": On(kernel, columns=[j]) for name, kernel in own.items()}
    return KernelLibrary(kernels, normalize=True)


def sets_of_features(n_features: int, count: int = 1000) -> KernelLibrary:
    """Ten widths on sets of features."""
    rng = np.random.default_rng(0)
    chosen: set[tuple[int, ...]] = set()
    while len(chosen) < count:
        drawn = rng.choice(n_features, rng.integers(1, 6), replace=False)
        chosen.add(tuple(sorted(drawn.tolist())))
    return KernelLibrary(
        {
            f"{columns}, {name}": On(kernel, columns=list(columns))
            for columns in sorted(chosen)
            for name, kernel in gaussians().items()
        }
    )


def problems(folder: Path, only: list[str]) -> Iterator[tuple[KernelLibrary, Rows, float]]:
    """A library, rows, and C."""
    if "117" in only:
        X, y = rows_of(folder, "pima_diabetes", 537)
        for C in (1.0, 10.0):
            yield features_alone(X.shape[1]), (X, y), C
    if "10000" in only:
        X, y = rows_of(folder, "wdbc", 500)
        yield sets_of_features(X.shape[1]), (X, y), 1.0


def main() -> None:
    """Print a line for every problem."""
    found = options(__doc__, data=None, only=("117", "10000"), repeat=3, write=False)
    folder = Path(found.data) if found.data else data_folder()
    lines = []
    for library, (X, y), C in problems(folder, found.only):
        model = CGBoostClassifier(library, penalty="l1", C=C)
        seconds = min(timed(model.fit, X, y)[0] for _ in range(found.repeat))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes, on Linux
        n_rounds = len(model.history_["objective"])
        line = [f"{len(library)}", f"{len(X)}", f"{C:g}", f"{seconds:.2f}", f"{n_rounds}"]
        line += [f"{model.n_columns_}", f"{model.objective_:.8g}", f"{model.gap_:.0e}"]
        lines.append([*line, f"{peak:.0f}"])
        print(", ".join(f"{n} {v}" for n, v in zip(HEAD, lines[-1], strict=True)), flush=True)
    if found.write:
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *lines])


if __name__ == "__main__":
    main()
