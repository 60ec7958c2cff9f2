"""Seconds of multiple kernel learning with many kernels and many rows, and how they grow.

Gaussian kernels of ten widths on sets of one to five features (``many_kernels.py`` draws them):

* 100 to 10000 kernels, 500 rows of wdbc, and 100000 kernels, 200 rows;
* 100 kernels, 250 to 1797 rows of scikit-learn's digits, odd against even.

``penalty="group"``, C = 1, to a certified gap of 1e-2, with the default budget of memory. CPU
seconds of one thread, one run, each in its own process: peak memory is that of the process,
with the library. The exponent e of seconds ~ size^e is that of the straight line through the
logarithms of the last three sizes: for small ones what does not grow counts most.

    python benchmarks/kernel_scaling.py [--data DATA] [--only kernels rows] [--write]

``--write`` makes ``kernel_scaling.csv`` and ``.png`` in ``docs/development/performance``;
``--only`` with nothing behind it draws the picture again.
"""

from __future__ import annotations

import csv
import multiprocessing
import resource
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from many_kernels import Rows, rows_of, sets_of_features
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from cgboost import CGBoostClassifier, KernelLibrary
from cgboost.studies.datasets import data_folder
from cgboost.studies.scripts import options, timed

FOLDER = Path(__file__).parents[1] / "docs" / "development" / "performance"
HEAD = "varied", "kernels", "rows", "CPU s", "rounds", "kept", "objective", "gap", "peak MB"
N_KERNELS = 100, 300, 1000, 3000, 10000
MOST_KERNELS, FEWER_ROWS = 100000, 200
N_ROWS = 250, 500, 1000, 1797


def part_of(library: KernelLibrary, count: int) -> KernelLibrary:
    """Some of the kernels, evenly spread."""
    names = list(library.kernels)
    chosen = np.linspace(0, len(names) - 1, count).astype(int)
    return KernelLibrary({names[p]: library.kernels[names[p]] for p in chosen})


def problem(folder: Path, varied: str, count: int) -> tuple[KernelLibrary, Rows]:
    """A library and rows, so many of what varies."""
    if varied == "kernels":
        X, y = rows_of(folder, "wdbc", 500 if count < MOST_KERNELS else FEWER_ROWS)
        return part_of(sets_of_features(X.shape[1], max(1000, count // 10)), count), (X, y)
    digits = load_digits()
    chosen = np.random.default_rng(0).permutation(len(digits.data))[:count]
    X, y = StandardScaler().fit_transform(digits.data[chosen]), digits.target[chosen] % 2
    return part_of(sets_of_features(X.shape[1], 100), 100), (X, y.astype(str))


def measured(folder: Path, varied: str, count: int) -> list[str]:
    """A line of the table; run in its own process."""
    library, (X, y) = problem(folder, varied, count)
    model = CGBoostClassifier(library, penalty="group", C=1.0, tol=1e-2)
    seconds, _ = timed(model.fit, X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes, on Linux
    kept = sum(weight > 0 for weight in model.kernel_weights_.values())
    sizes = [varied, f"{len(library)}", f"{len(X)}", f"{seconds:.2f}"]
    results = [f"{model.n_iter_}", f"{kept}", f"{model.objective_:.6g}", f"{model.gap_:.1e}"]
    return [*sizes, *results, f"{peak:.0f}"]


def lines_of(folder: Path, only: list[str]) -> Iterator[list[str]]:
    """The lines, each from a new process."""
    spawn = multiprocessing.get_context("spawn")
    for varied, counts in (("kernels", (*N_KERNELS, MOST_KERNELS)), ("rows", N_ROWS)):
        for count in counts if varied in only else ():
            with ProcessPoolExecutor(1, mp_context=spawn) as executor:
                yield executor.submit(measured, folder, varied, count).result()


def exponent(sizes: list[float], seconds: list[float]) -> float:
    """The slope of the logarithms, over the last three."""
    slope, _ = np.polyfit(np.log(sizes[-3:]), np.log(seconds[-3:]), 1)
    return float(slope)


def draw(lines: list[list[str]]) -> None:
    """Seconds against kernels, and against rows."""
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
    for panel, varied, place in zip(panels, ("kernels", "rows"), (1, 2), strict=True):
        own = [line for line in lines if line[0] == varied and int(line[1]) < MOST_KERNELS]
        sizes, seconds = ([float(line[column]) for line in own] for column in (place, 3))
        panel.loglog(sizes, seconds, "o-")
        panel.set_xticks(sizes, [f"{size:.0f}" for size in sizes])
        panel.minorticks_off()
        fixed = f"{own[0][2]} rows" if varied == "kernels" else f"{own[0][1]} kernels"
        panel.set_title(f"{fixed}: seconds ~ {varied}^{exponent(sizes, seconds):.1f}")
        panel.set_xlabel(f"number of {varied}")
        panel.grid(alpha=0.3)
    marks = [1, 2, 5, 10, 20, 50, 100]
    panels[0].set_yticks(marks, [str(mark) for mark in marks])
    panels[0].set_ylabel("CPU seconds to a gap of 1e-2")
    figure.savefig(FOLDER / "kernel_scaling.png", dpi=120)


def tell(
    table: Path,
    head: Sequence[str],
    lines: Iterable[list[str]] | None,
    draw: Callable[[list[list[str]]], None],
    *,
    write: bool,
) -> None:
    """Print every line, and write table and picture; None: only draw what the table has."""
    if lines is None:
        draw(list(csv.reader(table.open(encoding="utf-8")))[1:])
        return
    found: list[list[str]] = []
    for line in lines:
        found.append(line)
        print(", ".join(f"{n} {v}" for n, v in zip(head, line, strict=True)), flush=True)
    if write:
        with table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([head, *found])
        draw(found)


def main() -> None:
    """Print a line for every problem."""
    found = options(__doc__, data=None, only=("kernels", "rows"), write=False)
    folder = Path(found.data) if found.data else data_folder()
    lines = None if not found.only else lines_of(folder, found.only)
    tell(FOLDER / "kernel_scaling.csv", HEAD, lines, draw, write=found.write)


if __name__ == "__main__":
    main()
