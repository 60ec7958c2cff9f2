"""Models of the odd/even study on the same rows: the one to take away first, then the paper's.

A machine of few free centres, compressed from an SVC; that SVC; the mixture of kernels, and the
best kernel of it alone. What a visitor wants to know of them: how many centres, vectors or columns
each is made of, how often it errs, how long it takes, and how far it can be from its optimum.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from cgboost.estimators.kernel.cg_boost import CGBoostClassifier
from cgboost.estimators.kernel.compression import compress
from cgboost.inspection import drawing
from cgboost.studies.datasets import Split
from cgboost.studies.odd_even import KERNELS, Row, fit_best, parse_library, table_row
from cgboost.studies.scripts import timed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VECTORS_A_CENTRE = 10
"""The compressed machine has one centre for so many support vectors of the SVC."""

WIDTHS = (1.0, 2.0)
"""The γ of an SVC to choose from, in units of scikit-learn's ``gamma="scale"``."""

FIGURES = (
    "C",
    "made of",
    "validation error",
    "test error",
    "training",
    "prediction",
    "proven gap",
)
"""What the table says of each model, line by line."""


@dataclass(frozen=True)
class Entrant:
    """A model and its figures: errors in percent, seconds, relative gap (nan: none is proven)."""

    model: str
    C: float
    size: int
    made_of: str
    validation_error: float
    test_error: float
    train_seconds: float
    test_seconds: float
    gap: float
    gamma: float = np.nan

    def cells(self) -> list[str]:
        """The figures in words."""
        return [
            f"{self.C:g}" if np.isnan(self.gamma) else f"{self.C:g}, γ {self.gamma:.2g}",
            f"{self.size} {self.made_of}",
            f"{self.validation_error:.2f} %",
            f"{self.test_error:.2f} %",
            f"{self.train_seconds:.3f} s",
            f"{1000 * self.test_seconds:.0f} ms",
            f"{100 * self.gap:.3f} %" if np.isfinite(self.gap) else "none",
        ]


def entrants(
    split: Split,
    row: Row,
    C_values: Sequence[float],
    *,
    normalize: bool = True,
    negation: bool = True,
    **parameters: Any,
) -> Iterator[Entrant]:
    """The compressed machine and its SVC, the mixture of a row of Table 1, its best kernel alone.

    Every C (and γ) is chosen on the same validation rows, among equals for fewest columns.

    Parameters
    ----------
    row : Row
        Of the mixture (or of a composite kernel).
    normalize, negation : bool
        As for :func:`~cgboost.studies.odd_even.parse_library`.
    **parameters
        Of :class:`~cgboost.CGBoostClassifier`, as the mixture was fitted.
    """
    letters = [letter for letter in KERNELS if letter in row.kernels.upper()]
    kind = "mixture" if "," in row.kernels else "kernel"
    machines = support_vector_machines(split, C_values)
    svc = best_machine(machines, split)
    yield compressed(machines, split, max(1, svc.size // VECTORS_A_CENTRE))
    yield svc
    yield entrant(f"{kind} {row.kernels}", row, len(row.columns) * len(split.X_train))
    if len(letters) > 1:
        kernels = {"normalize": normalize, "negation": negation}
        yield best_single(split, letters, C_values, **kernels, **parameters)


def entrant(name: str, row: Row, n_columns: int) -> Entrant:
    """A row of Table 1 as an entrant."""
    return Entrant(
        name,
        row.C,
        sum(row.columns.values()),
        f"of {n_columns} columns",
        row.validation_error,
        row.test_error,
        row.train_seconds,
        row.test_seconds,
        row.gap,
    )


def best_single(
    split: Split,
    letters: Iterable[str],
    C_values: Sequence[float],
    *,
    normalize: bool = True,
    negation: bool = True,
    **parameters: Any,
) -> Entrant:
    """The kernel that alone has the lowest validation error, among equals the fewest columns."""
    rows = []
    for letter in letters:
        library = parse_library(letter, normalize=normalize, negation=negation)
        chosen = fit_best(split, library, C_values, **parameters)
        if chosen.interrupted:
            raise KeyboardInterrupt
        rows.append(table_row(letter, chosen.model, split, chosen.seconds))
    best = min(rows, key=lambda row: (row.validation_error, sum(row.columns.values())))
    return entrant(f"best kernel {best.kernels}", best, len(split.X_train))


def support_vector_machines(split: Split, C_values: Sequence[float]) -> list[tuple[Any, float]]:
    """SVC of scikit-learn for every C and γ, and the seconds of each fit."""
    from sklearn.svm import SVC

    X, y = split.X_train, split.y_train
    scale = 1.0 / (X.shape[1] * X.var())
    machines = [SVC(C=C, gamma=width * scale) for C in C_values for width in WIDTHS]
    return [(machine, timed(machine.fit, X, y, clock=time.perf_counter)[0]) for machine in machines]


def best_machine(machines: Iterable[tuple[Any, float]], split: Split) -> Entrant:
    """The SVC with the lowest validation error, among equals the fewest vectors."""
    found = [
        _of_machine("scikit-learn SVC", machine, machine, seconds, split)
        for machine, seconds in machines
    ]
    return min(found, key=lambda one: (one.validation_error, one.size))


def compressed(machines: Iterable[tuple[Any, float]], split: Split, size: int) -> Entrant:
    """The best of these SVCs with so many centres; validation rows show, unlabelled, what comes."""
    rows = np.vstack([split.X_train, split.X_validation])
    found = []
    for machine, seconds in machines:
        spent, small = timed(
            partial(compress, machine, rows, size=size, random_state=0), clock=time.perf_counter
        )
        found.append(_of_machine("compressed SVC", small, machine, seconds + spent, split))
    return min(found, key=lambda one: one.validation_error)


def _of_machine(name: str, model: Any, machine: Any, seconds: float, split: Split) -> Entrant:
    """A kernel machine as an entrant, with the parameters of the SVC that it comes from."""
    predicted, labels = timed(model.predict, split.X_test, clock=time.perf_counter)
    wrong = 100.0 * float(np.mean(model.predict(split.X_validation) != split.y_validation))
    is_small = model is not machine
    return Entrant(
        name,
        machine.C,
        len(model.centers_) if is_small else int(machine.n_support_.sum()),
        "centres" if is_small else "vectors",
        wrong,
        100.0 * float(np.mean(labels != split.y_test)),
        seconds,
        predicted,
        np.nan,
        machine.gamma,
    )


def in_words(found: Iterable[Entrant]) -> str:
    """A table that reads well on a terminal and is one in Markdown, too."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    models = list(found)
    table = Table(box=box.MARKDOWN)
    table.add_column("", no_wrap=True)
    for one in models:
        table.add_column(one.model, justify="right", no_wrap=True)
    for line in zip(FIGURES, *(one.cells() for one in models), strict=True):
        table.add_row(*line)
    text = StringIO()
    Console(file=text, width=1000, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines() if line.strip())


def records(found: Sequence[Entrant]) -> dict[str, list[Any]]:
    """The entrants as columns of a CSV file; an empty cell where there is no gap or no γ."""
    rows = [asdict(one) for one in found]
    return {name: [_short(row[name]) for row in rows] for name in rows[0]}


def _short(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return float(f"{value:.6g}") if np.isfinite(value) else ""


def draw_bound(model: CGBoostClassifier) -> Figure:
    """Objective and proven bound that meet, and the gap between them, round by round."""
    figure, (left, right) = drawing.panels(None, 2, vertical=False)
    history = model.history_
    rounds, objective = history["round"], history["objective"]
    bound = np.fmax.accumulate(history["bound"])
    _draw_meeting(left, rounds, objective, bound)
    gap = 100.0 * (objective - bound) / np.maximum(1.0, np.abs(objective))
    _draw_percent(right, rounds, gap, 100.0 * float(model.tol))
    return figure


def _draw_meeting(axis: Axes, rounds: Any, objective: Any, bound: Any) -> None:
    style: dict[str, Any] = {"marker": drawing.curve_marker(len(rounds))}
    axis.plot(rounds, objective, color=drawing.colour(0), label="objective of the model", **style)
    axis.plot(rounds, bound, color=drawing.colour(1), label="proven lower bound", **style)
    shade: dict[str, Any] = {"color": drawing.INK, "alpha": 0.12, "linewidth": 0}
    axis.fill_between(rounds, bound, objective, label="the optimum lies in here", **shade)
    drawing.log_if_wide(axis, np.concatenate([objective, bound]))
    drawing.keep_in_view(axis, objective)
    axis.legend(frameon=False, loc="upper right")
    drawing.counted(axis, rounds)
    drawing.label(axis, "The bound meets the objective", "round", "objective")


def _draw_percent(axis: Axes, rounds: Any, gap: Any, tol: float) -> None:
    shown = np.isfinite(gap) & (gap > 0)
    style: dict[str, Any] = {"color": drawing.INK, "marker": drawing.curve_marker(len(gap))}
    axis.plot(rounds[shown], gap[shown], **style)
    axis.axhline(tol, color=drawing.INK, linestyle=":", label=f"asked for: {tol:g} %")
    axis.set_yscale("log")
    axis.legend(frameon=False, loc="lower left")
    drawing.counted(axis, rounds)
    drawing.label(axis, "The gap between them", "round", "gap (% of the objective)")
