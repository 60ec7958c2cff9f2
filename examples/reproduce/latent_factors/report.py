"""The page of the study: tables of what was measured beside what the paper prints."""

from __future__ import annotations

import platform
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from contenders import MOST_PRINCIPAL
from drawings import WORDS, values_of
from printed import MISPRINTS, PAPER, TABLES, Pair, Printed
from records import Curve, Record
from report_words import PAGE
from scipy.stats import ttest_rel
from thrombin import COSTS, COUNTS, LOSSES, NAME

PACKAGES = ("numpy", "scipy", "scikit-learn")
LEVEL = 0.05
SHOWN_COUNTS = (1, 2, 3, 5, 10, 15, 20, 25)
HEADER = "data | loss | training | paper | test | paper | factors | paper | against squared error"
Key = tuple[str, str, str]


def write_report(records: Sequence[Record], curves: Sequence[Curve], path: Path) -> None:
    """Write docs/blf.md."""
    groups = grouped(records)
    areas = [curve for curve in curves if curve.data == NAME]
    machine = f"Python {platform.python_version()}, " + ", ".join(
        f"{name} {version(name)}" for name in PACKAGES
    )
    page = PAGE.format(
        machine=machine,
        n_records=len(records),
        n_splits=len({record.split for record in records}),
        minutes=f"{sum(record.seconds for record in records) / 60:.0f}",
        tables="\n\n".join(tables(groups)),
        outside=outsiders(groups),
        misprints=misprints(),
        principal=table(principal_rows(groups), "data | loss | BLF | PCA | test | BLF | PCA"),
        verdicts=verdicts(groups),
        at_limit=at_limit(records),
        most_principal=MOST_PRINCIPAL,
        n_areas=len({curve.split for curve in areas}),
        factors=table(area_rows(areas), "loss | " + " | ".join(map(str, SHOWN_COUNTS))),
        machines=table(machine_rows(areas), "features | " + " | ".join(f"{C:g}" for C in COSTS)),
    )
    path.write_text(page, encoding="utf-8")


def grouped(records: Iterable[Record]) -> dict[Key, list[Record]]:
    """Records of each kernel, data set and model, by split."""
    groups: dict[Key, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.split):
        groups.setdefault((record.kernel, record.data, record.model), []).append(record)
    return groups


def tables(groups: dict[Key, list[Record]]) -> Iterator[str]:
    """Tables 1 to 4, as far as there are records."""
    for (kernel, target), (number, title) in TABLES.items():
        rows = [
            table_row(groups, key)
            for key in PAPER
            if key in groups and key[0] == kernel and is_regression(key) == (target == "numbers")
        ]
        if rows:
            yield f"### Table {number}. {title}\n\n{table(rows, HEADER)}"


def is_regression(key: Key) -> bool:
    """Whether a data set has numbers to find."""
    return (key[0], key[1], "absolute_error") in PAPER


def table_row(groups: dict[Key, list[Record]], key: Key) -> list[str]:
    """One model on one data set."""
    row = [key[1], WORDS[key[2]]]
    for own, theirs in pairs(groups[key], PAPER[key]):
        away = f"**{shown(own)}**" if is_away(own, theirs) else shown(own)
        row += [away, shown(theirs)]
    return [*row, *[""] * (8 - len(row)), compared(groups, key)]


def pairs(records: Sequence[Record], printed: Printed) -> Iterator[tuple[Pair, Pair]]:
    """Ours and theirs: training, test, and number of factors."""
    yield moments([record.train for record in records]), printed.train
    yield moments([record.test for record in records]), printed.test
    if printed.size is not None:
        yield moments([record.size for record in records]), printed.size


def moments(values: Sequence[float]) -> Pair:
    """Mean and standard deviation."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return float(np.mean(values)), spread


def shown(pair: Pair) -> str:
    """Mean ± standard deviation."""
    return f"{pair[0]:.2f} ± {pair[1]:.2f}"


def is_away(own: Pair, theirs: Pair) -> bool:
    """Whether our mean is more than the paper's standard deviation from the paper's mean."""
    return abs(own[0] - theirs[0]) > theirs[1]


def compared(groups: dict[Key, list[Record]], key: Key) -> str:
    """What the paired t-test says of the test results beside those of the squared error."""
    base = groups.get((key[0], key[1], "squared_error"), [])
    if key[2] in ("squared_error", "svm"):
        return ""
    lower = is_regression(key)
    return {1: "better", -1: "worse", 0: "no difference"}[verdict(groups[key], base, lower=lower)]


def verdict(one: Sequence[Record], other: Sequence[Record], *, lower: bool = False) -> int:
    """1 if the first is significantly better on test rows, −1 if worse, else 0."""
    left, right = ([record.test for record in records] for records in (one, other))
    difference = np.mean(left) - np.mean(right)
    if len(left) != len(right) or len(left) < 2 or np.array_equal(left, right):
        return 0
    if ttest_rel(left, right).pvalue >= LEVEL:
        return 0
    return 1 if (difference < 0) == lower else -1


def outsiders(groups: dict[Key, list[Record]]) -> str:
    """How many results are away from the paper's, and which test results are."""
    names = ("training", "test", "factors")
    away: dict[str, list[str]] = {name: [] for name in names}
    known = [key for key in PAPER if key in groups]
    for key in known:
        for name, (own, theirs) in zip(names, pairs(groups[key], PAPER[key]), strict=False):
            if is_away(own, theirs):
                away[name].append(f"* {where(key)}: {shown(own)} beside {shown(theirs)}.")
    counts = {name: len(lines) for name, lines in away.items()}
    summary = (
        f"Means that are further from the paper's than its standard deviation, of {len(known)} "
        f"models: {counts['test']} of test results, {counts['training']} of training results, "
        f"{counts['factors']} of numbers of factors. The test results:"
    )
    return "\n".join([paragraph(summary), "", *(away["test"] or ["* none."])])


def misprints() -> str:
    """What we take for slips of the pen, in words."""
    found = "; ".join(f"{where(key)}: {text}" for key, text in MISPRINTS.items())
    return paragraph(f"Two numbers of the paper seem to be misprinted. {found}.")


def paragraph(text: str) -> str:
    """Text in lines of at most 100 characters."""
    return textwrap.fill(text, 100)


def where(key: Key) -> str:
    """A model in words."""
    return f"{key[1]}, {'RBF' if key[0] == 'rbf' else 'linear'}, {WORDS[key[2]]}"


def principal_rows(groups: dict[Key, list[Record]]) -> Iterator[list[str]]:
    """Latent factors beside principal components."""
    for (kernel, name, model), records in groups.items():
        if not model.startswith("pca"):
            continue
        loss = model.removeprefix("pca ")
        own = groups[kernel, name, loss]
        row = [name, WORDS[loss]]
        row += [shown(moments([record.test for record in some])) for some in (own, records)]
        row.append({1: "BLF better", -1: "PCA better", 0: "no difference"}[verdict(own, records)])
        yield [*row, *(shown(moments([r.size for r in some])) for some in (own, records))]


def verdicts(groups: dict[Key, list[Record]]) -> str:
    """Wins, losses and ties of latent factors against principal components, as in the paper."""
    counts: dict[bool, list[int]] = {True: [], False: []}
    for (kernel, name, model), records in groups.items():
        if model.startswith("pca"):
            own = groups[kernel, name, model.removeprefix("pca ")]
            counts[name == "WBC"].append(verdict(own, records))
    results = "; ".join(
        f"on {where}, BLF wins {found.count(1)} times, PCA {found.count(-1)} times, and "
        f"{found.count(0)} are ties"
        for where, found in (("the first four data sets", counts[False]), ("WBC", counts[True]))
    )
    return paragraph(f"By the paired t-test, {results}.")


def at_limit(records: Iterable[Record]) -> str:
    """The share of choices that are as many principal components as were tried."""
    sizes = [record.size for record in records if record.model.startswith("pca")]
    return f"{100 * np.mean([size >= MOST_PRINCIPAL for size in sizes]):.0f}" if sizes else "0"


def area_rows(curves: Sequence[Curve]) -> Iterator[list[str]]:
    """Median and quartiles at some numbers of factors."""
    for loss in LOSSES if curves else ():
        values = values_of(curves, NAME, loss)
        counts = [min(count, values.shape[1]) for count in SHOWN_COUNTS]
        yield [WORDS[loss], *(quartiles(values[:, count - 1]) for count in counts)]


def machine_rows(curves: Sequence[Curve]) -> Iterator[list[str]]:
    """Medians of linear support vector machines over C."""
    pairs = [(count, loss) for count in COUNTS for loss in LOSSES]
    names = [(f"svm on {n} factors of {loss}", f"{n} factors, {WORDS[loss]}") for n, loss in pairs]
    for model, name in [*names, ("svm on all features", "all")] if curves else ():
        medians = np.median(values_of(curves, NAME, model), axis=0)
        yield [name, *(f"{median:.3f}" for median in medians)]


def quartiles(values: np.ndarray) -> str:
    """Median and the two quartiles."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return f"{middle:.3f} ({low:.3f}, {high:.3f})"


def table(rows: Iterable[Sequence[str]], header: str) -> str:
    """A table in Markdown."""
    width = header.count("|") + 1
    lines = [f"| {header} |", "|" + " --- |" * width]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
