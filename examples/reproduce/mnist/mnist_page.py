"""The page of the study: its tables and sentences, made of the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from mnist_curves import BAD_C, GOOD_C, ORDERS, PRIORITIES, PRIORITY_C, VALIDATION
from mnist_pictures import NORMS, curve, mean_of
from mnist_printed import PRINTED, SCORED_A_ROUND
from mnist_table import CERTIFIED, MIXTURE, STOPPED, Figures, figures_of
from mnist_words import PAGE, READING
from page_form import made, table, worded
from transform_regression.measured import Measured

COMMAND = "python examples/reproduce/mnist --data DATA"
FILE = "mnist.csv"
HEAD = (
    "kernels | R_trn | R_tst | T_trn | T_tst | C_l / C_q / C_r | C | gap | "
    "paper: R_trn | R_tst | T_trn | T_tst | C_l / C_q / C_r"
)


def write_page(measured: Measured, seed: int, path: Path) -> None:
    """Write docs/mnist.md."""
    cells = {
        f"{penalty}_{end}": table(table_rows(measured, penalty, end), HEAD)
        for penalty in NORMS
        for end in (CERTIFIED, STOPPED)
    }
    page = PAGE.format(
        **cells,
        made=made(measured, COMMAND, FILE),
        errors="\n".join(error_lines(measured)),
        times="\n".join(time_lines(measured)),
        reading=READING.strip(),
        gap=f"{max(row.gap for row in all_figures(measured, CERTIFIED)):.0e}",
        orders=table(order_rows(measured), "norm | end | order | R_tst | T_trn | scored a round"),
        slower=slower(measured),
        scored=SCORED_A_ROUND,
        priority_C=f"{PRIORITY_C:g}",
        priorities=" ".join(priority_words(measured, seed, order) for order in ORDERS),
        validation=" ".join(validation_words(measured, seed, C) for C in (GOOD_C, BAD_C)),
    )
    path.write_text(page, encoding="utf-8")


def table_rows(measured: Measured, penalty: str, end: str) -> Iterator[Sequence[str]]:
    """One row for each library, the paper's figures behind ours."""
    for kernels, printed in PRINTED[penalty].items():
        own = figures_of(measured, penalty, kernels, end)
        errors = [worded([getattr(row, part) for row in own]) for part in ERRORS]
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


def all_figures(measured: Measured, end: str) -> list[Figures]:
    """Every row of the table with this end."""
    return [
        row
        for penalty, printed in PRINTED.items()
        for kernels in printed
        for row in figures_of(measured, penalty, kernels, end)
    ]


def error_lines(measured: Measured) -> Iterator[str]:
    """Whether the mixture has the lowest test error, for each norm and end."""
    for penalty, title, end, words in cases():
        others = others_by(measured, penalty, end, "test_error")
        mixture = figures_of(measured, penalty, MIXTURE, end)
        error = mean_of(mixture, "test_error")
        best, least = min(others.items(), key=lambda pair: pair[1])
        beside = figures_of(measured, penalty, best, end)
        pairs = zip(mixture, beside, strict=True)
        wins = sum(own.test_error < other.test_error for own, other in pairs)
        above = [name for name, other in others.items() if round(other, 2) <= round(error, 2)]
        verdict = "below all others" if not above else f"not below {', '.join(above)}"
        yield (
            f"- {title}, {words}: {error:.2f} %, {verdict}; the best of the others is {best} with "
            f"{least:.2f} %, and the mixture is better in {wins} of {len(mixture)} splits."
        )


def time_lines(measured: Measured) -> Iterator[str]:
    """Prediction time of the mixture against composites with an RBF part."""
    for penalty, title, end, words in cases():
        own = mean_of(figures_of(measured, penalty, MIXTURE, end), "test_seconds")
        ratios = {
            name: seconds / own
            for name, seconds in others_by(measured, penalty, end, "test_seconds").items()
            if "+R" in name
        }
        told = " and ".join(f"{ratio:.2f} × for {name}" for name, ratio in ratios.items())
        slower = [name for name, ratio in ratios.items() if ratio <= 1.0]
        verdict = f": not below {', '.join(slower)}" if slower else ""
        yield f"- {title}, {words}: {own:.2f} s, against {told}{verdict}."


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
            error = worded([row.test_error for row in own])
            seconds, scored = mean_of(own, "train_seconds"), mean_of(own, "scored_a_round")
            yield title, words, order, error, f"{seconds:.2g}", f"{scored:.0f}"


def slower(measured: Measured) -> str:
    """How many times as long the mixture takes in the paper's order: the least and the most."""
    ratios = []
    for penalty, _, end, _ in cases():
        own = {
            order: mean_of(figures_of(measured, penalty, MIXTURE, end, priority), "train_seconds")
            for order, priority in ORDERS.items()
        }
        ratios.append(own["stratified"] / own["regular"])
    return f"{min(ratios):.1f} to {max(ratios):.1f}"


def priority_words(measured: Measured, seed: int, order: str) -> str:
    """What Figure 1 (top) shows of one order, in numbers."""
    columns, scored = (curve(measured, PRIORITIES, order, n, seed) for n in ("columns", "scored"))
    rounds = len(scored)
    each = scored[-1] / rounds
    return (
        f"{order.capitalize()}: {columns[-1]:.0f} columns in {rounds} rounds, {each:.0f} scored a "
        f"round, {scored[-1]:.0f} in all."
    )


def validation_words(measured: Measured, seed: int, C: float) -> str:
    """What Figure 1 (bottom) shows of one C, in numbers."""
    columns, error, stopped = (
        curve(measured, VALIDATION, f"{C:g}", name, seed)
        for name in ("columns", "error", "stopped")
    )
    kept = int(np.searchsorted(columns, stopped[0]))
    return (
        f"C = {C:g}: early stopping ends at {stopped[1]:.0f} columns and keeps {stopped[0]:.0f}, "
        f"those of the best round until then, {error[kept]:.2f} %; at the certified optimum, with "
        f"{columns[-1]:.0f} columns generated, it is {error[-1]:.2f} %."
    )
