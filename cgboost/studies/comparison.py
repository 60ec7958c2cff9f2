"""The mixture compared with its neighbours on the same rows: the best single kernel, and SVC.

What a visitor wants to know of the odd/even study: how many columns or support vectors each model
is made of, how often it errs, how long it takes, and how far it can be from its optimum at most.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from cgboost.estimators.kernel.cg_boost import CGBoostClassifier
from cgboost.inspection import drawing
from cgboost.studies.datasets import Split
from cgboost.studies.odd_even import KERNELS, Row, fit_best, parse_library, table_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

    def cells(self) -> list[str]:
        """The figures in words."""
        return [
            f"{self.C:g}",
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
    """The mixture of a row of Table 1, then what it is compared with.

    Every C is chosen on the same validation rows, among equals for fewest columns.

    Parameters
    ----------
    split : Split
    row : Row
        Of the mixture (or of a composite kernel).
    C_values : sequence of float
    normalize, negation : bool
        As for :func:`~cgboost.studies.odd_even.parse_library`.
    **parameters
        Of :class:`~cgboost.CGBoostClassifier`, as the mixture was fitted.
    """
    letters = [letter for letter in KERNELS if letter in row.kernels.upper()]
    kind = "mixture" if "," in row.kernels else "kernel"
    yield entrant(f"{kind} {row.kernels}", row, len(row.columns) * len(split.X_train))
    if len(letters) > 1:
        kernels = {"normalize": normalize, "negation": negation}
        yield best_single(split, letters, C_values, **kernels, **parameters)
    yield support_vector_machine(split, C_values)


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
    return entrant(f"best single kernel {best.kernels}", best, len(split.X_train))


def support_vector_machine(split: Split, C_values: Sequence[float]) -> Entrant:
    """SVC of scikit-learn with its defaults (an RBF kernel), C chosen as for the others."""
    from sklearn.svm import SVC

    found = []
    for C in C_values:
        model = SVC(C=C)
        start = time.perf_counter()
        model.fit(split.X_train, split.y_train)
        fitted = time.perf_counter()
        test = 100.0 * float(np.mean(model.predict(split.X_test) != split.y_test))
        predicted = time.perf_counter()
        validation = 100.0 * float(np.mean(model.predict(split.X_validation) != split.y_validation))
        found.append(
            Entrant(
                "SVC of scikit-learn",
                C,
                int(model.n_support_.sum()),
                "support vectors",
                validation,
                test,
                fitted - start,
                predicted - fitted,
                np.nan,
            )
        )
    return min(found, key=lambda one: (one.validation_error, one.size))


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
    """The entrants as columns of a CSV file; an empty cell where no gap is proven."""
    rows = [asdict(one) | {"gap": one.gap if np.isfinite(one.gap) else ""} for one in found]
    return {name: [_short(row[name]) for row in rows] for name in rows[0]}


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


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
    drawing.label(axis, "The bound meets the objective", "round", "objective")


def _draw_percent(axis: Axes, rounds: Any, gap: Any, tol: float) -> None:
    shown = np.isfinite(gap) & (gap > 0)
    style: dict[str, Any] = {"color": drawing.INK, "marker": drawing.curve_marker(len(gap))}
    axis.plot(rounds[shown], gap[shown], **style)
    axis.axhline(tol, color=drawing.INK, linestyle=":", label=f"asked for: {tol:g} %")
    axis.set_yscale("log")
    axis.legend(frameon=False, loc="lower left")
    drawing.label(axis, "The gap between them", "round", "gap (% of the objective)")
