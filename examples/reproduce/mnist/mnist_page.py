"""Pictures and tables of the study's page, made from its records."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mnist_models import (
    BAD_C,
    CERTIFIED,
    GOOD_C,
    MIXTURE,
    ORDER_STUDY,
    ORDERS,
    PRINTED,
    STOPPED,
    VALIDATION,
    Figures,
    figures_of,
)
from page_tables import plus_minus, table
from study_jobs import Measured, made

NORMS = {"l2": "2-norm", "l1": "1-norm"}
ENDS = {CERTIFIED: ("C0", "certified optimum"), STOPPED: ("C1", "stopped on validation")}


def draw_table(measured: Measured, path: Path) -> None:
    """Test error and prediction time of every row of Table 1, the paper's beside them."""
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    axes = figure.subplots(2, 2, sharey=True)
    for (left, right), (penalty, title) in zip(axes, NORMS.items(), strict=True):
        dots(left, measured, penalty, "test_error")
        dots(right, measured, penalty, "test_seconds")
        left.set_title(f"{title}: test error (%)")
        right.set_title(f"{title}: prediction time, the mixture = 1")
        right.set_xscale("log")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=90)


def dots(axes: Axes, measured: Measured, penalty: str, field: str) -> None:
    """A row of dots for every kernel; times relative to those of the mixture."""
    names = list(PRINTED[penalty])
    places = np.arange(len(names))[::-1]
    printed = np.array([getattr(PRINTED[penalty][name], field) for name in names])
    relative = field == "test_seconds"
    axes.plot(printed / (printed[-1] if relative else 1), places, "s", color="0.6", label="paper")
    for shift, (end, (colour, label)) in zip((0.12, -0.12), ENDS.items(), strict=True):
        runs = [figures_of(measured, penalty, name, end) for name in names]
        mean = np.array([mean_of(own, field) for own in runs])
        spread = np.array([np.std([getattr(row, field) for row in own]) for own in runs])
        scale = mean[-1] if relative else 1.0
        axes.errorbar(
            mean / scale, places + shift, xerr=spread / scale, fmt="o", ms=5, color=colour,
            label=label,
        )  # fmt: skip
    axes.set_yticks(places, names)
    axes.axhspan(-0.5, 0.5, color="0.93", zorder=0)
    axes.grid(axis="x", color="0.9")


def mean_of(rows: list[Figures], field: str) -> float:
    """Mean of a figure over the seeds."""
    return statistics.mean(getattr(row, field) for row in rows)


def draw_curves(measured: Measured, seed: int, path: Path) -> None:
    """Figure 1 of the paper: objectives by columns and by scores; validation errors."""
    figure = Figure(figsize=(13, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for colour, order in zip(("C1", "C0"), ORDERS, strict=True):
        objective, columns, scored = (
            curve(measured, ORDER_STUDY, order, name, seed)
            for name in ("objective", "columns", "scored")
        )
        left.plot(columns, objective, colour, label=order)
        middle.plot(scored, objective, colour, label=order)
    left.set(title="Objective against columns", xlabel="columns generated", ylabel="objective")
    middle.set(title="Objective against work", xlabel="columns scored", ylabel="objective")
    for axes in (left, middle):
        axes.set_yscale("log")
        axes.legend(frameon=False)
    middle.set_xscale("log")
    draw_validation(right, measured, seed)
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=90)


def draw_validation(axes: Axes, measured: Measured, seed: int) -> None:
    """A good and a bad C; ringed the round that early stopping keeps, dashed where it ends."""
    for C, colour in ((GOOD_C, "C0"), (BAD_C, "C3")):
        columns, error, stopped = (
            curve(measured, VALIDATION, f"{C:g}", name, seed)
            for name in ("columns", "error", "stopped")
        )
        axes.plot(columns, error, colour, label=f"C = {C:g}")
        kept, end = stopped
        place = int(np.searchsorted(columns, kept))
        axes.plot(kept, error[place], "o", ms=9, color=colour, markerfacecolor="none")
        axes.axvline(end, color=colour, linestyle="--", linewidth=1)
    axes.set_title("Validation error by columns")
    axes.set(xlabel="columns generated", ylabel="validation error (%)", ylim=(5, 20))
    axes.legend(frameon=False)


def curve(measured: Measured, study: str, data: str, model: str, seed: int) -> np.ndarray:
    """The values of one record."""
    record = next(r for r in measured.chosen(study, data, model) if r.seed == seed)
    return np.array(record.values)


FILE = "mnist.csv"
HEAD = (
    "kernels | R_trn | R_tst | T_trn | T_tst | C_l / C_q / C_r | C | gap | "
    "paper: R_trn | R_tst | T_trn | T_tst | C_l / C_q / C_r"
)


def tables(folder: Path) -> dict[str, str]:
    """All tables, made from the records in a folder."""
    measured = Measured(folder / FILE)
    found = {
        f"{penalty} {end}": table(table_rows(measured, penalty, end), HEAD)
        for penalty in NORMS
        for end in (CERTIFIED, STOPPED)
    }
    rows = {
        "errors": (error_rows, "norm | end | mixture | best other | its error | splits won"),
        "times": (time_rows, "norm | end | mixture, s | L+R, ratio | L+Q+R, ratio"),
        "orders": (order_rows, "norm | end | order | R_tst | T_trn | scored a round"),
        "priorities": (priority_rows, "order | columns | rounds | scored a round | scored"),
        "validation": (
            validation_rows,
            "C | stops at | keeps | its error | columns at the optimum | its error",
        ),
    }
    found |= {name: table(make(measured), head) for name, (make, head) in rows.items()}
    return {"made": made(measured)} | {name.replace(" ", "-"): own for name, own in found.items()}


def table_rows(measured: Measured, penalty: str, end: str) -> Iterator[Sequence[str]]:
    """One row for each library, the paper's figures behind ours."""
    for kernels, printed in PRINTED[penalty].items():
        own = figures_of(measured, penalty, kernels, end)
        errors = [plus_minus([getattr(row, part) for row in own]) for part in ERRORS]
        times = [f"{mean_of(own, part):.2g}" for part in TIMES]
        yield (
            f"**{kernels}**" if kernels == MIXTURE else kernels,
            *errors,
            *times,
            counts([mean_of(own, f"columns_{letter}") for letter in "lqr"], kernels),
            ", ".join(f"{C:g}" for C in sorted({row.C for row in own})),
            f"{max(row.gap for row in own):.0e}",
            *(f"{value:g}" for value in printed[:4]),
            " / ".join("–" if n is None else str(n) for n in printed.columns),
        )


ERRORS = ("train_error", "test_error")
TIMES = ("train_seconds", "test_seconds")


def counts(columns: Sequence[float], kernels: str) -> str:
    """Mean numbers of columns, a dash for kernels that the library does not have."""
    pairs = zip("LQR", columns, strict=True)
    return " / ".join(f"{count:.0f}" if letter in kernels else "–" for letter, count in pairs)


def error_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Test error of the mixture beside the best of the others, for each norm and end."""
    for penalty, title, end, words in cases():
        others = others_by(measured, penalty, end, "test_error")
        mixture = figures_of(measured, penalty, MIXTURE, end)
        best, least = min(others.items(), key=lambda pair: pair[1])
        pairs = zip(mixture, figures_of(measured, penalty, best, end), strict=True)
        wins = sum(own.test_error < other.test_error for own, other in pairs)
        error = mean_of(mixture, "test_error")
        yield title, words, f"{error:.2f}", best, f"{least:.2f}", f"{wins} of {len(mixture)}"


def time_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Prediction time of the mixture, and of composites with an RBF part as multiples of it."""
    for penalty, title, end, words in cases():
        own = mean_of(figures_of(measured, penalty, MIXTURE, end), "test_seconds")
        others = others_by(measured, penalty, end, "test_seconds")
        ratios = (f"{others[name] / own:.2f}" for name in ("L+R", "L+Q+R"))
        yield title, words, f"{own:.2f}", *ratios


def cases() -> Iterator[tuple[str, str, str, str]]:
    """Norms and ends, with words for them."""
    for penalty, title in NORMS.items():
        yield penalty, title, CERTIFIED, "certified"
        yield penalty, title, STOPPED, "stopped on validation"


def others_by(measured: Measured, penalty: str, end: str, field: str) -> dict[str, float]:
    """The mean of a figure for every library but the mixture."""
    return {
        kernels: mean_of(figures_of(measured, penalty, kernels, end), field)
        for kernels in PRINTED[penalty]
        if kernels != MIXTURE
    }


def order_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """The mixture in both orders of priority."""
    for penalty, title, end, words in cases():
        for order, priority in ORDERS.items():
            own = figures_of(measured, penalty, MIXTURE, end, priority)
            error = plus_minus([row.test_error for row in own])
            seconds, scored = mean_of(own, "train_seconds"), mean_of(own, "scored_a_round")
            yield title, words, order, error, f"{seconds:.2g}", f"{scored:.0f}"


def first_split(measured: Measured) -> int:
    """The split of Figure 1."""
    return min(record.seed for record in measured.rows if record.study == ORDER_STUDY)


def priority_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Figure 1 (top): what each order of priority needs."""
    seed = first_split(measured)
    for order in ORDERS:
        columns, scored = (
            curve(measured, ORDER_STUDY, order, name, seed) for name in ("columns", "scored")
        )
        each = scored[-1] / len(scored)
        ends = (f"{columns[-1]:.0f}", str(len(scored)), f"{each:.0f}", f"{scored[-1]:.0f}")
        yield order, *ends


def validation_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Figure 1 (bottom): where early stopping ends, and the certified optimum."""
    seed = first_split(measured)
    for C in (GOOD_C, BAD_C):
        columns, error, stopped = (
            curve(measured, VALIDATION, f"{C:g}", name, seed)
            for name in ("columns", "error", "stopped")
        )
        kept = int(np.searchsorted(columns, stopped[0]))
        stop = (f"{stopped[1]:.0f}", f"{stopped[0]:.0f}", f"{error[kept]:.2f}")
        yield f"{C:g}", *stop, f"{columns[-1]:.0f}", f"{error[-1]:.2f}"
