"""Tables of the study's page: what was measured beside what the paper prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from drawings import WORDS, values_of
from page_tables import table
from printed import PAPER, TABLES, Pair, Printed
from records import Curve, Record, Store
from scipy.stats import ttest_rel
from thrombin import COSTS, COUNTS, LOSSES, NAME

LEVEL = 0.05
SHOWN_COUNTS = (1, 2, 3, 5, 10, 15, 20, 25)
HEADER = "data | loss | training | paper | test | paper | factors | paper | against squared error"
Key = tuple[str, str, str]


def tables(folder: Path) -> dict[str, str]:
    """All tables, made from the records in a folder."""
    groups = grouped(Store(folder / "blf_splits.csv", Record).rows)
    curves = Store(folder / "blf_curves.csv", Curve).rows
    areas = [curve for curve in curves if curve.data == NAME]
    found = {
        f"table-{number}": table(table_rows(groups, kernel, target), HEADER)
        for (kernel, target), (number, _) in TABLES.items()
    }
    return found | {
        "away": table(away_rows(groups), "means | further away | models"),
        "principal": table(principal_rows(groups), "data | loss | BLF | PCA | test | BLF | PCA"),
        "wins": table(win_rows(groups), "data | BLF better | PCA better | no difference"),
        "factors": table(area_rows(areas), "loss | " + " | ".join(map(str, SHOWN_COUNTS))),
        "machines": table(machine_rows(areas), "features | " + " | ".join(f"{C:g}" for C in COSTS)),
    }


def grouped(records: Iterable[Record]) -> dict[Key, list[Record]]:
    """Records of each kernel, data set and model, by split."""
    groups: dict[Key, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.split):
        groups.setdefault((record.kernel, record.data, record.model), []).append(record)
    return groups


def table_rows(groups: dict[Key, list[Record]], kernel: str, target: str) -> Iterator[list[str]]:
    """Rows of one of Tables 1 to 4, as far as there are records."""
    for key in PAPER:
        if key in groups and key[0] == kernel and is_regression(key) == (target == "numbers"):
            yield table_row(groups, key)


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


def away_rows(groups: dict[Key, list[Record]]) -> Iterator[list[str]]:
    """How many means are further from the paper's than the paper's standard deviation."""
    known = [key for key in PAPER if key in groups]
    compared_with = [list(pairs(groups[key], PAPER[key])) for key in known]
    for place, name in enumerate(("training results", "test results", "numbers of factors")):
        some = [found[place] for found in compared_with if place < len(found)]
        yield [name, str(sum(is_away(own, theirs) for own, theirs in some)), str(len(some))]


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


def win_rows(groups: dict[Key, list[Record]]) -> Iterator[list[str]]:
    """How often latent factors are better, worse and no different, as the paper counts it."""
    counts: dict[bool, list[int]] = {True: [], False: []}
    for (kernel, name, model), records in groups.items():
        if model.startswith("pca"):
            own = groups[kernel, name, model.removeprefix("pca ")]
            counts[name == "WBC"].append(verdict(own, records))
    for where, found in (("the first four", counts[False]), ("WBC", counts[True])):
        yield [where, *(str(found.count(sign)) for sign in (1, -1, 0))]


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
