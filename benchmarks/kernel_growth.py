"""CPU seconds and memory of kernel classifiers at their defaults, as rows and kernels grow.

* the library of the default, 500 to 8000 rows of MNIST, odd against even, pixels in [0, 1];
* 3 to 1000 Gaussian kernels of ten widths on sets of features (``many_kernels.py`` draws them),
  500 rows of wdbc.

``CGBoostClassifier()`` and, with one kernel, ``SVC()``: one run each in a process of its own, one
thread. Memory is by how much the fit raises the largest memory of its process. The exponent e of
seconds ~ size^e is that of the straight line through the logarithms of the last three sizes.

    python benchmarks/kernel_growth.py [--data DATA] [--write] [--draw]

``--write`` makes ``kernel_growth.csv`` and ``.png`` in ``docs/development/performance``; ``--draw``
only draws the picture again.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from kernel_scaling import FOLDER, exponent, part_of, tell
from many_kernels import Rows, rows_of, sets_of_features
from sklearn.svm import SVC

from cgboost import CGBoostClassifier, KernelLibrary
from cgboost.studies.datasets import data_folder, load_mnist
from cgboost.studies.scripts import options, timed

HEAD = "varied", "model", "kernels", "rows", "CPU s", "MB", "columns", "gap"
N_ROWS = 500, 1000, 2000, 4000, 8000
N_KERNELS = 3, 10, 30, 100, 300, 1000
WDBC_ROWS = 500


def problem(folder: Path, varied: str, count: int) -> tuple[KernelLibrary | None, Rows]:
    """A library, or None for that of the default, and rows."""
    if varied == "kernels":
        X, y = rows_of(folder, "wdbc", WDBC_ROWS)
        return part_of(sets_of_features(X.shape[1]), count), (X, y)
    images, labels, _, _ = load_mnist(folder / "mnist")
    chosen = np.random.default_rng(0).permutation(len(images))[:count]
    return None, (images[chosen], (labels[chosen] % 2).astype(str))


def peak_megabytes() -> float:
    """Largest memory of this process so far.

    On Linux ``ru_maxrss`` of a new process starts with that of the process that made it.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return float(status.split("VmHWM:")[1].split()[0]) / 1024


def measured(varied: str, model: str, library: KernelLibrary | None, rows: Rows) -> list[str]:
    """A line of the table; run in a process of its own, which has not read the data."""
    X, y = rows
    fitted = SVC() if model == "SVC" else CGBoostClassifier(library)
    before = peak_megabytes()
    seconds, _ = timed(fitted.fit, X, y)
    raised = peak_megabytes() - before
    found = [f"{seconds:.3g}", f"{raised:.0f}"]
    if isinstance(fitted, SVC):
        return [varied, model, "1", f"{len(X)}", *found, f"{len(fitted.support_)}", ""]
    kernels = f"{len(fitted.library_)}"
    columns = f"{fitted.n_columns_}"
    return [varied, model, kernels, f"{len(X)}", *found, columns, f"{fitted.gap_:.0e}"]


def lines_of(folder: Path) -> Iterator[list[str]]:
    """The lines, each from a new process."""
    spawn = multiprocessing.get_context("spawn")
    jobs = [("rows", model, count) for model in ("CGBoostClassifier", "SVC") for count in N_ROWS]
    jobs += [("kernels", "CGBoostClassifier", count) for count in N_KERNELS]
    jobs.append(("kernels", "SVC", 1))
    for varied, model, count in jobs:
        with ProcessPoolExecutor(1, mp_context=spawn) as executor:
            given = problem(folder, varied, count)
            yield executor.submit(measured, varied, model, *given).result()


def draw(lines: list[list[str]]) -> None:
    """Seconds and memory against rows, and against kernels."""
    figure, panels = plt.subplots(2, 2, figsize=(9, 6), layout="constrained", sharey="row")
    for row, (column, label) in zip(panels, ((4, "CPU seconds"), (5, "MB")), strict=True):
        for panel, varied, place in zip(row, ("rows", "kernels"), (3, 2), strict=True):
            for model, color in (("CGBoostClassifier", "C0"), ("SVC", "C1")):
                own = [line for line in lines if line[:2] == [varied, model]]
                sizes, values = ([float(line[c]) for line in own] for c in (place, column))
                values = [max(value, 1e-3) for value in values]  # a raise that was not seen is 0
                if len(own) == 1:
                    panel.axhline(values[0], color=color, ls=":", label=f"{model}, one kernel")
                    continue
                name = f"{model}: {varied}^{exponent(sizes, values):.1f}"
                panel.loglog(sizes, values, "o-", color=color, label=name)
            counts = N_ROWS if varied == "rows" else N_KERNELS
            panel.set_xticks(counts, [f"{count}" for count in counts])
            panel.minorticks_off()
            panel.set_xlabel(f"number of {varied}")
            panel.grid(alpha=0.3)
            panel.legend(fontsize="small")
        row[0].set_ylabel(label)
    panels[0, 0].set_title("the default library, MNIST")
    panels[0, 1].set_title(f"Gaussian kernels, {WDBC_ROWS} rows of wdbc")
    figure.savefig(FOLDER / "kernel_growth.png", dpi=120)


def main() -> None:
    """Print a line for every fit."""
    found = options(__doc__, data=None, write=False, draw=False)
    folder = Path(found.data) if found.data else data_folder()
    lines = None if found.draw else lines_of(folder)
    tell(FOLDER / "kernel_growth.csv", HEAD, lines, draw, write=found.write)


if __name__ == "__main__":
    main()
