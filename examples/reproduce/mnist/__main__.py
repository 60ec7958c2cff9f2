"""The MNIST odd/even study of Bi, Zhang, Bennett (KDD 2004), section 5: writes docs/mnist.md.

    python examples/reproduce/mnist.py --data DATA [--docs docs] [--seeds 0 1 2 3 4]

Table: the mixture L,Q,R with both norms and both priorities, C chosen on the validation set, mean
and spread over random splits of 1000/2000/10000 rows. Figure 1: regular against stratified column
generation, and the validation curve of a good and a bad C.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cgboost import CGBoostClassifier
from cgboost.datasets import Split, odd_even_split
from cgboost.odd_even import Row, fit_best, parse_library, table_row

C_VALUES = {"l1": [0.3, 1.0, 3.0, 10.0, 30.0], "l2": [0.3, 1.0, 3.0, 10.0, 30.0]}
PAPER = {"l1": (0.9, 13.1, "77 / 10 / 12"), "l2": (0.4, 13.5, "122 / 20 / 13")}
LIBRARY = parse_library("L,Q,R")
PRIORITY_C = 1.0
BAD_C = 1000.0


@dataclass(frozen=True)
class Cell:
    """One line of the table: the same experiment over all seeds."""

    penalty: str
    priority: str
    early_stopping: bool
    rows: list[Row]

    def mean(self, name: str) -> str:
        """Mean ± standard deviation of a field of the rows."""
        values = [getattr(row, name) for row in self.rows]
        return f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}"

    def columns(self) -> str:
        """Mean number of columns per kernel."""
        return " / ".join(
            f"{statistics.mean(row.columns[name] for row in self.rows):.0f}" for name in "LQR"
        )


def experiment(
    splits: Sequence[Split], penalty: str, priority: str, *, early_stopping: bool
) -> Cell:
    """Fit every split with C chosen on its validation set."""
    rows = []
    for split in splits:
        model, seconds, interrupted = fit_best(
            split,
            LIBRARY,
            C_VALUES[penalty],
            penalty=penalty,
            priority=priority,
            early_stopping=early_stopping,
        )
        if interrupted:
            raise KeyboardInterrupt
        rows.append(table_row("L,Q,R", model, split, seconds))
        print(penalty, priority, early_stopping, rows[-1], flush=True)
    return Cell(penalty, priority, early_stopping, rows)


def table(cells: Sequence[Cell]) -> str:
    """The cells as a Markdown table, the paper's rows beside them."""
    lines = [
        "| norm | priority | R_trn | R_tst | T_trn (s) | T_tst (s) | C_l / C_q / C_r | "
        "columns scored a round | C | largest gap |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for cell in cells:
        chosen = sorted({row.C for row in cell.rows})
        lines.append(
            f"| {cell.penalty} | {cell.priority}{', early stop' * cell.early_stopping} | "
            f"{cell.mean('train_error')} | {cell.mean('test_error')} | "
            f"{cell.mean('train_seconds')} | {cell.mean('test_seconds')} | {cell.columns()} | "
            f"{statistics.mean(row.evaluated_per_round for row in cell.rows):.0f} | "
            f"{', '.join(f'{C:g}' for C in chosen)} | {max(row.gap for row in cell.rows):.0e} |"
        )
    for penalty, (train, test, columns) in PAPER.items():
        lines.append(
            f"| {penalty}, the paper | stratified | {train} | {test} | | | {columns} | 255 | | |"
        )
    return "\n".join(lines)


def draw_priorities(axes: Sequence[Axes], split: Split) -> str:
    """Objective against columns and against scores, regular and stratified, one column a round."""
    words = []
    for priority, colour in (("full", "C1"), ("stratified", "C0")):
        model = CGBoostClassifier(
            LIBRARY, C=PRIORITY_C, penalty="l1", priority=priority, columns_per_round=1, tol=1e-6
        ).fit(split.X_train, split.y_train)
        history = model.history_
        label = "regular" if priority == "full" else "stratified"
        axes[0].plot(history["columns"], history["objective"], colour, label=label)
        scored = np.cumsum(history["evaluated"])
        axes[1].plot(scored, history["objective"], colour, label=label)
        words.append(
            f"{label}: {history['columns'][-1]} columns in {len(scored)} rounds, "
            f"{history['evaluated'].mean():.0f} columns scored a round, {scored[-1]} in all"
        )
    axes[0].set(title="Objective against columns", xlabel="columns generated", yscale="log")
    axes[1].set(title="Objective against work", xlabel="columns scored", xscale="log", yscale="log")
    for place in axes[:2]:
        place.set_ylabel("objective")
        place.legend(frameon=False)
    return "; ".join(words)


def draw_validation(axes: Axes, split: Split, good: float) -> str:
    """Validation error against columns for a good and a bad C, with early stopping marked."""
    words = []
    for C, colour in ((good, "C0"), (BAD_C, "C3")):
        model = CGBoostClassifier(
            LIBRARY, C=C, penalty="l1", priority="full", columns_per_round=5, tol=1e-6
        ).fit(split.X_train, split.y_train, eval_set=(split.X_validation, split.y_validation))
        columns, error = model.history_["columns"], 100 * model.history_["validation_error"]
        best = int(np.argmin(error))
        axes.plot(columns, error, colour, label=f"C = {C:g}")
        axes.plot(columns[best], error[best], "o", color=colour, markerfacecolor="none")
        words.append(
            f"C = {C:g}: best {error[best]:.2f} % at {columns[best]} columns, "
            f"{error[-1]:.2f} % at the certified optimum ({columns[-1]} columns)"
        )
    axes.set(title="Validation error, best round ringed", xlabel="columns generated")
    axes.set_ylabel("validation error (%)")
    axes.set_ylim(5, 20)
    axes.legend(frameon=False)
    return "; ".join(words)


def figure(split: Split, good: float, path: Path) -> tuple[str, str]:
    """Figure 1 of the paper as a picture; returns what it shows in numbers."""
    canvas = Figure(figsize=(13, 4), layout="constrained")
    axes = canvas.subplots(1, 3)
    words = draw_priorities(axes, split), draw_validation(axes[2], split, good)
    for place in axes:
        place.spines[["top", "right"]].set_visible(False)
    canvas.savefig(path, dpi=120)
    return words


PAGE = """\
# Odd against even: MNIST with a mixture of kernels

The study of Bi, Zhang and Bennett (KDD 2004, section 5) on the same data: 1000 training, 2000
validation and 10000 test images, mutually exclusive, drawn at random from the 60000 training
images of MNIST; a library of a linear (L), a quadratic (Q) and an RBF kernel (R) with the paper's
width; C chosen on the validation set; α free, offset free. {n_seeds} random splits (seeds
{seeds}), mean ± standard deviation. Errors in percent. "Columns scored a round" counts
the columns the pricer evaluates; a full scan is 3000.

This page was written by

    python examples/reproduce/mnist.py --data DATA

in {minutes:.0f} minutes on {machine}.

{table}

## Figure 1

![Regular against stratified, and validation curves](mnist.png)

Left and middle (1-norm, C = {priority_C:g}, one column a round, as in the paper): {priorities}.

Right (1-norm, 5 columns a round): {validation}. The validation error of the large C turns up
again while columns are still being generated: one sees that C is too large, and may stop, without
solving to the end.

## What to read from it

* **Every row is certified**: "largest gap" is the largest relative duality gap over the splits, a
  proven distance to the optimum over all 3000 columns (early-stopped rows are stopped on purpose).
* **Stopped early, the 2-norm is best and sparse enough**: the round with the lowest validation
  error, at a large C, has some 400 columns and a lower test error than any certified optimum.
* **The 1-norm is the sparse one.** The 2-norm optimum is dense by nature (α_j = r·h_j is nonzero
  for almost every column); its sparse models come from early stopping.
* **Stratification saves scores, not rounds.** Scoring is cheap here; on 1000 rows the master takes
  most of the time, and the best columns overall are better columns than the best of the first
  stratum. Use `priority="full"` when kernel columns are cheap, `"stratified"` when they are dear or
  when you prefer simple kernels.

## Where we differ from the paper, and why

* Test errors are far below the paper's. Kernels are cosine-normalised (`normalize=True`), pixels
  are scaled to [0, 1], and every problem is solved to a certified gap; the paper does not say how
  its kernels were scaled.
* The paper's Figure 1 shows the regular process needing more columns than the stratified one. We
  see the opposite: choosing the best of all 3000 columns needs fewer columns, stratification scores
  fewer columns a round (and here hardly fewer in all).
"""


def main() -> None:
    """Run the study and write the page and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the MNIST files")
    parser.add_argument("--docs", type=Path, default=Path("docs"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    options = parser.parse_args()
    clock = time.perf_counter()
    splits = [odd_even_split(options.data, seed=seed) for seed in options.seeds]
    cells = [
        experiment(splits, penalty, priority, early_stopping=early)
        for penalty in ("l1", "l2")
        for priority, early in (("stratified", False), ("full", False), ("full", True))
    ]
    priorities, validation = figure(splits[0], cells[1].rows[0].C, options.docs / "mnist.png")
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "highspy", "piqp"))
    page = PAGE.format(
        n_seeds=len(splits),
        seeds=", ".join(map(str, options.seeds)),
        minutes=(time.perf_counter() - clock) / 60,
        machine=f"{os.cpu_count()} cores, Python {platform.python_version()}, {packages}",
        table=table(cells),
        priority_C=PRIORITY_C,
        priorities=priorities,
        validation=validation,
    )
    (options.docs / "mnist.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
