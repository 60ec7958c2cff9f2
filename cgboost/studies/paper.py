"""Table 1 and Figure 1 of [B], measured anew on one split.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
Table 1 has seven libraries with two norms; [B] has two rules for signs, (4) and (7) with α ≥ 0, and
(11) with free α, and does not say which is the table's: with both these are 28 rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from cgboost.estimators.kernel.cg_boost import CGBoostClassifier
from cgboost.estimators.kernel.kernel_columns import Priority
from cgboost.inspection import drawing
from cgboost.studies.datasets import Split
from cgboost.studies.odd_even import Row, fit_best, parse_library, table_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIBRARIES = ("L", "Q", "R", "L+Q", "L+R", "L+Q+R", "L,Q,R")
RULES = tuple(product(("free", "nonneg"), ("l2", "l1")))
"""Sign rule and norm."""

ORDERS: dict[str, Priority] = {"regular": "full", "stratified": "stratified", "strict": "strict"}
"""Of Figure 1; the last is the process that the paper calls stratified."""


class PaperRow(NamedTuple):
    """A row of the table, and its sign rule."""

    coef: str
    row: Row

    def as_record(self) -> dict[str, Any]:
        """For a CSV file: columns of a composite count for each of its kernels."""
        record = self.row.as_record()
        own = {name: value for name, value in record.items() if not name.startswith("columns_")}
        return {"coef": self.coef} | own | dict(zip("LQR", self.counts(), strict=True))

    def counts(self) -> list[int]:
        """Columns of L, Q and R."""
        found = self.row.columns.items()
        return [sum(n for name, n in found if letter in name.split("+")) for letter in "LQR"]

    def line(self) -> str:
        """As the paper prints it."""
        row = self.row
        numbers = f"{row.train_error:6.2f} {row.test_error:6.2f} {row.train_seconds:7.2f}"
        counts = " ".join(f"{n or '–':>5}" for n in self.counts())
        return (
            f"{self.coef:6} {row.penalty:4} {row.kernels:6} {numbers} {row.test_seconds:7.3f} "
            f"{counts}"
        )


HEAD = f"{'α':6} {'norm':4} {'kernel':6}  R_trn  R_tst   T_trn   T_tst   C_l   C_q   C_r"


def table_one(
    split: Split, C_values: Sequence[float], *, priority: Priority = "strict"
) -> Iterator[PaperRow]:
    """The 28 rows, C of each chosen on the validation rows; the offset is free.

    With α ≥ 0 kernels are only added, as in (4) and (7). Columns are generated in the order of
    section 5 of [B] unless another ``priority`` is given; the optima are the same.
    """
    for (coef, penalty), kernels in product(RULES, LIBRARIES):
        library = parse_library(kernels, negation=coef == "free")
        rules: dict[str, Any] = {"penalty": penalty, "coef": coef, "priority": priority}
        found = fit_best(split, library, C_values, offset="free", **rules)
        if found.interrupted:
            raise KeyboardInterrupt
        yield PaperRow(coef, table_row(kernels, found.model, split, found.seconds))


def draw_figure_one(split: Split, good: float, bad: float) -> Figure:
    """Objectives in all orders of priority, and validation errors for a good C and one too large.

    The mixture with free α and the 1-norm, one column a round.
    """
    figure, (left, right) = drawing.panels(None, 2, vertical=False)
    fit = partial(_fitted, split)
    for k, (name, priority) in enumerate(ORDERS.items()):
        _draw(left, fit(C=good, priority=priority), "objective", name, k)
    for k, C in enumerate((good, bad)):
        _draw(right, fit(C=C), "validation_error", f"C = {C:g}", k)
    left.set_yscale("log")
    drawing.label(left, "Regular, stratified and strict", "columns generated", "objective")
    drawing.label(right, "A good C and one too large", "columns generated", "validation error")
    return figure


def _fitted(split: Split, C: float, **parameters: Any) -> CGBoostClassifier:
    model = CGBoostClassifier(
        parse_library("L,Q,R"), C=C, penalty="l1", columns_per_round=1, **parameters
    )
    held = split.X_validation, split.y_validation
    return model.fit(split.X_train, split.y_train, eval_set=held)


def _draw(axis: Axes, model: CGBoostClassifier, score: str, name: str, k: int) -> None:
    history = model.history_
    label = f"{name}: {history['columns'][-1]} columns"
    axis.plot(history["columns"], history[score], color=drawing.colour(k), label=label)
    axis.legend(frameon=False)
