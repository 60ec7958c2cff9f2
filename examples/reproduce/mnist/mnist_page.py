"""Pictures and tables of the study's page, made from its records."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mnist_models import (
    BAD_C,
    CERTIFIED,
    DIGITS,
    FREE,
    GOOD_C,
    LIMIT_STUDY,
    LIMITS,
    MIXTURE,
    MNIST,
    ORDER_STUDY,
    ORDERS,
    PRINTED,
    SETTINGS,
    STOPPED,
    VALIDATION,
    Figures,
    figures_of,
    limit_name,
)
from page_tables import plus_minus, table
from study_jobs import Measured, made

NORMS = {"l2": "2-norm", "l1": "1-norm"}
ENDS = {CERTIFIED: ("C0", "certified optimum"), STOPPED: ("C1", "stopped on validation")}


def draw_table(measured: Measured, path: Path) -> None:
    """Test error of every row of Table 1 in every setting, the paper's next to them."""
    figure = Figure(figsize=(11, 6.2), layout="constrained")
    axes = figure.subplots(len(NORMS), len(SETTINGS), sharey=True, sharex=True)
    for row, (penalty, norm) in zip(axes, NORMS.items(), strict=True):
        for axis, (name, setting) in zip(row, SETTINGS.items(), strict=True):
            dots(axis, measured, name, penalty)
            axis.set_title(f"{norm}, {setting.title}")
    for axis in axes[-1]:
        axis.set_xlabel("test error (%)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=90)


def dots(axes: Axes, measured: Measured, setting: str, penalty: str) -> None:
    """Test errors of every kernel, the paper's as squares."""
    names = list(PRINTED[penalty])
    places = np.arange(len(names))[::-1]
    printed = [PRINTED[penalty][name].test_error for name in names]
    axes.plot(printed, places, "s", color="0.6", label="paper")
    shifts = dict(zip(ENDS, (0.12, -0.12), strict=True))
    for end in SETTINGS[setting].ends:
        colour, label = ENDS[end]
        runs = [
            [row.test_error for row in figures_of(measured, setting, penalty, name, end)]
            for name in names
        ]
        axes.errorbar(
            np.mean(runs, axis=1), places + shifts[end], xerr=np.std(runs, axis=1), fmt="o", ms=5,
            color=colour, label=label,
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
    for colour, order in zip(("C1", "C0", "C2"), ORDERS, strict=True):
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
HEAD = "norm | kernels | R_trn | R_tst | C_l / C_q / C_r | T_trn | T_tst | C | gap"
STOPPED_HEAD = "stopped: R_tst | C_l / C_q / C_r"
PAPER_HEAD = "norm | kernels | paper: R_trn | R_tst | T_trn | T_tst | C_l / C_q / C_r"
CLOSE_ERROR, CLOSE_COUNT = 2.0, 1.25
"""A test error is the paper's within so many points, a number of columns within this factor."""


def tables(folder: Path) -> dict[str, str]:
    """All tables, made from the records in a folder."""
    measured = Measured(folder / FILE)
    settings = [f"{setting.title}: R_tst | C_l / C_q / C_r" for setting in SETTINGS.values()]
    titles = [setting.title for setting in SETTINGS.values()]
    rows = {
        "paper": (paper_rows, " | ".join((PAPER_HEAD, *settings))),
        "claims": (claim_rows, " | ".join(("norm", "the mixture's …", "paper", *titles))),
        "orders": (
            order_rows,
            "norm | end | order | R_tst | splits better than all others | T_trn | scored a round",
        ),
        "limits": (
            limit_rows,
            "data | norm | columns | "
            + " | ".join(f"{order}: R_val | L / Q / R" for order in ORDERS),
        ),
        "priorities": (priority_rows, "order | columns | rounds | scored a round | scored"),
        "validation": (
            validation_rows,
            "C | stops at | keeps | its error | columns at the optimum | its error",
        ),
    }
    found = {name: table(make(measured), head) for name, (make, head) in rows.items()}
    for name, setting in SETTINGS.items():
        head = f"{HEAD} | {STOPPED_HEAD}" if STOPPED in setting.ends else HEAD
        found[name] = table(table_rows(measured, name), head)
    return {"made": made(measured)} | found


def table_rows(measured: Measured, setting: str) -> Iterator[Sequence[str]]:
    """Table 1 in a setting: the certified models, and where the stopped ones end."""
    for penalty, norm in NORMS.items():
        for kernels in PRINTED[penalty]:
            own = figures_of(measured, setting, penalty, kernels)
            row = [norm, bold(kernels, kernels == MIXTURE)]
            row += [plus_minus([getattr(run, part) for run in own]) for part in ERRORS]
            row += [counts(own, kernels)]
            row += [f"{mean_of(own, part):.2g}" for part in TIMES]
            row += [", ".join(f"{C:g}" for C in sorted({run.C for run in own}))]
            row += [f"{max(run.gap for run in own):.0e}"]
            if STOPPED in SETTINGS[setting].ends:
                early = figures_of(measured, setting, penalty, kernels, STOPPED)
                row += [plus_minus([run.test_error for run in early]), counts(early, kernels)]
            yield row


ERRORS = ("train_error", "test_error")
TIMES = ("train_seconds", "test_seconds")


def bold(text: str, wanted: bool) -> str:
    """The text, stressed if wanted."""
    return f"**{text}**" if wanted else text


def mean_counts(own: list[Figures], kernels: str) -> list[float | None]:
    """Mean numbers of columns of L, Q and R; None for kernels that the library does not have."""
    return [mean_of(own, f"columns_{k.lower()}") if k in kernels else None for k in "LQR"]


def counts(own: list[Figures], kernels: str) -> str:
    """These numbers in words."""
    return in_words(mean_counts(own, kernels))


def in_words(columns: Sequence[float | None]) -> str:
    """Numbers of columns, a dash for kernels that the library does not have."""
    return " / ".join("–" if count is None else f"{count:.0f}" for count in columns)


def paper_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """The paper's Table 1, and what of it each setting reproduces, which is stressed."""
    for penalty, norm in NORMS.items():
        for kernels, printed in PRINTED[penalty].items():
            row = [
                norm,
                bold(kernels, kernels == MIXTURE),
                *(f"{value:g}" for value in printed[:4]),
            ]
            row += [in_words(printed.columns)]
            for setting in SETTINGS:
                own = figures_of(measured, setting, penalty, kernels)
                error, columns = mean_of(own, "test_error"), mean_counts(own, kernels)
                close = abs(error - printed.test_error) <= CLOSE_ERROR
                pairs = zip(columns, printed.columns, strict=True)
                same = all(alike(count, other) for count, other in pairs)
                row += [bold(f"{error:.1f}", close), bold(in_words(columns), same)]
            yield row


def alike(count: float | None, printed: int | None) -> bool:
    """Whether a number of columns is that of the paper, more or less."""
    if count is None or printed is None:
        return count is printed
    return printed / CLOSE_COUNT <= count <= printed * CLOSE_COUNT


COMPOSITES = ("L+Q", "L+R", "L+Q+R")
SINGLE = ("L", "Q", "R")


def claim_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """What the paper claims of the mixture, in numbers: there, and in each setting."""
    for penalty, norm in NORMS.items():
        printed = PRINTED[penalty]
        theirs = claims({k: (row.test_error, row.test_seconds) for k, row in printed.items()})
        values = [[*theirs, "–", share([float(n or 0) for n in printed[MIXTURE].columns])]]
        for setting in SETTINGS:
            own = {k: figures_of(measured, setting, penalty, k) for k in PRINTED[penalty]}
            means = {
                k: (mean_of(runs, "test_error"), mean_of(runs, "test_seconds"))
                for k, runs in own.items()
            }
            splits = zip(*own.values(), strict=True)
            wins = sum(min(runs, key=lambda run: run.test_error) is runs[-1] for runs in splits)
            mixture = [mean_of(own[MIXTURE], f"columns_{letter}") for letter in "lqr"]
            values.append([*claims(means), f"{wins} of {len(own[MIXTURE])}", share(mixture)])
        for words, row in zip(CLAIMS, zip(*values, strict=True), strict=True):
            yield norm, words, *row


CLAIMS = (
    "error less that of the best single kernel, points",
    "error less that of the best composite, points",
    "prediction time, that of L+R = 1",
    "splits with the least error of all seven",
    "share of the 3000 columns",
)


def claims(rows: Mapping[str, tuple[float, float]]) -> list[str]:
    """Differences and ratios of test errors and prediction times."""
    error, seconds = rows[MIXTURE]
    single, composite = (min(rows[k][0] for k in names) for names in (SINGLE, COMPOSITES))
    return [
        f"{error - single:+.1f}",
        f"{error - composite:+.1f}",
        f"{seconds / rows['L+R'][1]:.2g}",
    ]


def share(columns: Sequence[float]) -> str:
    """Columns of the mixture among all of them."""
    return f"{sum(columns) / ALL_COLUMNS:.0%}".replace("%", " %")


ALL_COLUMNS = 3000


def cases() -> Iterator[tuple[str, str, str, str]]:
    """Norms and ends, with words for them."""
    for penalty, title in NORMS.items():
        yield penalty, title, CERTIFIED, "certified"
        yield penalty, title, STOPPED, "stopped on validation"


def order_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """The mixture in all orders of priority."""
    for penalty, title, end, words in cases():
        for order, priority in ORDERS.items():
            own = figures_of(measured, FREE, penalty, MIXTURE, end, priority)
            error = plus_minus([row.test_error for row in own])
            best = [
                min(run.test_error for run in runs)
                for runs in zip(*others(measured, penalty, end), strict=True)
            ]
            wins = sum(run.test_error < other for run, other in zip(own, best, strict=False))
            seconds, scored = mean_of(own, "train_seconds"), mean_of(own, "scored_a_round")
            won = f"{wins} of {len(own)}"
            yield title, words, order, error, won, f"{seconds:.2g}", f"{scored:.0f}"


def others(measured: Measured, penalty: str, end: str) -> Iterator[list[Figures]]:
    """The runs of every library but the mixture."""
    for kernels in PRINTED[penalty]:
        if kernels != MIXTURE:
            yield figures_of(measured, FREE, penalty, kernels, end)


def limit_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Validation error and columns of runs with a limit on columns, in all orders."""
    for data, penalty, limit in product((MNIST, DIGITS), NORMS, LIMITS):
        row = [data, NORMS[penalty], str(limit)]
        for order in ORDERS:
            runs = measured.values(LIMIT_STUDY, limit_name(data, penalty, order, limit), "figures")
            row += [plus_minus(runs[:, 0]), in_words(runs[:, 1:].mean(axis=0))]
        yield row


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
