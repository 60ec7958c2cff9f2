"""What a user gets from each method with at most so many conditions.

Among the models of a method, a set and a seed with at most B conditions, the constant one
included, the one with the best accuracy on the training rows is taken, or with the best accuracy of
the inner folds; of equally good ones the one with the fewest conditions. Its accuracy on the test
rows counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from rule_data import BUDGETS, NAMES
from rule_peers import CONSTANT

Criterion = Literal["train_acc", "cv_acc"]


@dataclass(frozen=True)
class Fit:
    """A model: nan for what was not measured; seconds of CPU are those of its fit."""

    set: str
    seed: int
    method: str
    parameter: str
    rules: int
    conditions: int
    train_acc: float
    test_acc: float
    cv_acc: float
    cpu_s: float


UNIONS: dict[str, tuple[str, ...]] = {
    "ruleopt (RUG or RUX)": ("RUG", "RUX"),
    "BRCG (DNF or CNF)": ("BRCG DNF", "BRCG CNF"),
}
"""Methods whose models a user would choose from together."""


def chosen(fits: Sequence[Fit], budget: int, criterion: Criterion) -> Fit | None:
    """The model that is taken, None if the criterion was not measured for any but the constant."""
    small = [own for own in fits if own.conditions <= budget and own.method != CONSTANT]
    constant = [own for own in fits if own.method == CONSTANT]
    measured = [own for own in small if not np.isnan(getattr(own, criterion))]
    if small and not measured:
        return None
    known = [own for own in (*measured, *constant) if not np.isnan(getattr(own, criterion))]
    return max(known, key=lambda own: (getattr(own, criterion), -own.conditions), default=None)


def budget_tables(fits: Sequence[Fit]) -> str:
    """Markdown: means over sets and seeds, then each set, for both criteria."""
    texts = []
    criteria: tuple[tuple[Criterion, str], ...] = (
        ("train_acc", "training accuracy"),
        ("cv_acc", "three inner folds"),
    )
    found = {(own.set) for own in fits}
    sets = [name for name in NAMES if name in found]
    for criterion, words in criteria:
        small = [name for name in sets if name != "adult"]
        for heading, own in (
            ("mean over all sets", sets),
            ("mean over the sets without adult", small),
            *((name, [name]) for name in sets),
        ):
            table = _table(fits, own, criterion)
            if table:
                texts.append(f"### {heading}; chosen by {words}\n\n{table}")
    return "\n\n".join(texts)


def _table(fits: Sequence[Fit], sets: Sequence[str], criterion: Criterion) -> str:
    methods = list(dict.fromkeys(own.method for own in fits if own.method != CONSTANT))
    lines = [
        "| method | seeds | " + " | ".join(f"≤ {budget}" for budget in BUDGETS) + " |",
        "| --- |" + " --- |" * (len(BUDGETS) + 1),
    ]
    for method in (CONSTANT, *methods, *UNIONS):
        own = UNIONS.get(method, (method,))
        row, seeds = [], set()
        for budget in BUDGETS:
            mean, count = _mean(fits, sets, own, budget, criterion)
            row.append("–" if mean is None else f"{100 * mean:.2f}")
            seeds.add(count)
        if any(entry != "–" for entry in row):
            lines.append(f"| {method} | {max(seeds)} | " + " | ".join(row) + " |")
    return "\n".join(lines) if len(lines) > 3 else ""


def _mean(
    fits: Sequence[Fit],
    sets: Sequence[str],
    methods: tuple[str, ...],
    budget: int,
    criterion: Criterion,
) -> tuple[float | None, int]:
    """Mean over the sets of means over seeds, None if a set is missing; and the fewest seeds."""
    means, seeds = [], []
    for name in sets:
        accuracies = []
        for seed in sorted({own.seed for own in fits if own.set == name}):
            of_seed = [own for own in fits if own.set == name and own.seed == seed]
            there = {own.method for own in of_seed}
            if not all(method in there for method in methods):
                continue
            best = chosen(
                [own for own in of_seed if own.method in (*methods, CONSTANT)], budget, criterion
            )
            if best is not None:
                accuracies.append(best.test_acc)
        if not accuracies:
            return None, 0
        means.append(float(np.mean(accuracies)))
        seeds.append(len(accuracies))
    return (float(np.mean(means)), min(seeds)) if means else (None, 0)
