"""Words of the page that depend on what was measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from booster_adaboost import ROUNDS
from booster_data import MNIST, SMALL
from booster_digits import NOTES, SHRUNK, THEIRS
from booster_letter import DATA
from booster_pictures import values
from booster_support import (
    BOOSTING,
    DESIGNS,
    FEATURES,
    HDIC,
    LASSO_CV,
    LASSO_IC,
    METHODS,
    ROWS,
    TRIMMED,
    UNTRIMMED,
    cell,
)
from numpy.typing import NDArray
from page_form import worded
from transform_regression.measured import Measured

Vector = NDArray[np.float64]


def found(measured: Measured) -> dict[str, str]:
    """Everything that the page says in words."""
    return {
        "boosted": boosted(measured),
        "full_steps": full_steps(measured),
        "theirs": theirs(measured),
        "corners": corners(measured),
        "draws": draws(measured),
        "decoys": decoys(measured),
        "trimming": trimming(measured),
        "stopped": of_methods(measured, "decoys", [BOOSTING]),
        "lasso": of_methods(measured, "independent", [LASSO_CV, LASSO_IC]),
        "lasso_exact": exact_everywhere(measured, [LASSO_CV, LASSO_IC]),
        "few_rows": few_rows(measured),
        "constant": constant(measured),
    }


def boosted(measured: Measured) -> str:
    """Where the mean curves of AdaBoost end, and where the test error is lowest."""
    names = ("bound", "training error", "test error")
    bound, wrong, tested = (values(measured, "adaboost", MNIST, name).mean(0) for name in names)
    zero = np.flatnonzero(wrong == 0)
    ends = f"{wrong[-1]:.2f} %"
    if len(zero):
        ends = f"0, from round {ROUNDS[zero[0]]} on in every draw"
    lowest = int(np.argmin(tested))
    return (
        f"from round 1 to round {ROUNDS[len(bound) - 1]} the bound goes from {bound[0]:.1f} to "
        f"{bound[-1]:.2f} % and the training error from {wrong[0]:.1f} % to {ends}. The test error "
        f"goes from {tested[0]:.1f} to {tested[-1]:.1f} %; its lowest mean is {tested[lowest]:.1f} "
        f"%, after {ROUNDS[lowest]} rounds"
    )


RUINED = 50.0
"""Test errors in per cent, on ten digits, above which a model is of no use."""


def full_steps(measured: Measured) -> str:
    """Full steps beside a tenth of them, after the last round."""
    full, shrunk = (values(measured, "digits", SMALL, name)[:, -1] for name in (NOTES, SHRUNK))
    words = (
        f"{worded(full)} % wrong with full steps, {worded(shrunk)} % with a tenth; full steps are "
        f"worse in {int(np.sum(full > shrunk))} of {len(full)} draws"
    )
    ruined = full > RUINED
    if not ruined.any():
        return words
    return (
        f"{words}. In {ruined.sum()} of them a step was so huge that no later tree could mend it, "
        f"and nearly all digits are wrong; in the others it is {worded(full[~ruined])} %"
    )


def theirs(measured: Measured) -> str:
    """Ours beside scikit-learn's."""
    ours, other = (values(measured, "digits", SMALL, name)[:, -1] for name in (SHRUNK, THEIRS))
    return (
        f"its errors differ from ours by {worded(other - ours)} in the mean of the draws; it has "
        f"fewer in {int(np.sum(other < ours))} of {len(ours)} of them, as many in "
        f"{int(np.sum(other == ours))}"
    )


def corners(measured: Measured) -> str:
    """What the corners share of the importances."""
    words = []
    for data, size in ((SMALL, 1), (MNIST, 4)):
        mean = values(measured, "digits", data, "pixels").mean(axis=0) / 10
        side = round(np.sqrt(len(mean)))
        image = mean.reshape(side, side)
        ends = np.r_[:size, side - size : side]
        words.append(f"{image[np.ix_(ends, ends)].sum():.2f} % on the {data.split()[-1]} images")
    return " and ".join(words)


def together(measured: Measured, design: str, method: str) -> tuple[Vector, list[float]]:
    """Counts of all sizes, and the seconds of the fits."""
    runs = [
        run
        for n in ROWS
        for p in FEATURES
        for run in measured.chosen("support", cell(design, n, p), method)
    ]
    return np.array([run.values for run in runs]), [run.seconds for run in runs]


def draws(measured: Measured) -> str:
    """How many there are of each design and size."""
    first = cell(DESIGNS[0], ROWS[0], FEATURES[0])
    return str(len(values(measured, "support", first, TRIMMED)))


def exactly(counts: Vector) -> str:
    """Exact recoveries, in per cent."""
    return f"{np.mean(counts.sum(axis=1) == 0):.0%}"


def share(measured: Measured, design: str, method: str) -> str:
    """Exact recoveries of a method in a design, in per cent."""
    return exactly(together(measured, design, method)[0])


def decoys(measured: Measured) -> str:
    """Exact recoveries of every method among decoys, the best first."""
    shares = {method: share(measured, "decoys", method) for method in METHODS}
    order = sorted(shares, key=lambda method: -float(shares[method].rstrip("%")))
    return "; ".join(f"{method}: {shares[method]}" for method in order)


def of_methods(measured: Measured, design: str, methods: Sequence[str]) -> str:
    """True features missed and others chosen."""
    words = []
    for method in methods:
        counts, _ = together(measured, design, method)
        missed, others = (worded(counts[:, k], 1) for k in (0, 1))
        name = f"{method}: " if len(methods) > 1 else ""
        words.append(f"{name}{missed} missed, {others} others chosen")
    return "; ".join(words)


def exact_everywhere(measured: Measured, methods: Sequence[str]) -> str:
    """Exact recoveries over all designs."""
    words = []
    for method in methods:
        counts = np.concatenate([together(measured, design, method)[0] for design in DESIGNS])
        words.append(f"{exactly(counts)} ({method})")
    return " and ".join(words)


def few_rows(measured: Measured) -> str:
    """The method that is exactly right most often with the fewest and with the most rows."""
    words = []
    for n in (ROWS[0], ROWS[-1]):
        parts = [cell(design, n, p) for design in ("independent", "alike") for p in FEATURES]
        shares = {}
        for method in METHODS:
            counts = np.concatenate([values(measured, "support", name, method) for name in parts])
            shares[method] = float(np.mean(counts.sum(axis=1) == 0))
        best = max(shares, key=lambda method: shares[method])
        words.append(f"{n} rows: {shares[best]:.0%} ({best})")
    return "; ".join(words)


def extras(measured: Measured, design: str, method: str) -> str:
    """Features chosen that are not true, where no true one is missed."""
    counts, _ = together(measured, design, method)
    whole = counts[counts[:, 0] == 0, 1]
    return worded(whole, 1) if len(whole) else "–"


def trimming(measured: Measured) -> str:
    """What trimming does where it matters, and where it does not."""
    words = "; ".join(
        f"{design}: {share(measured, design, UNTRIMMED)} without, "
        f"{share(measured, design, TRIMMED)} with"
        for design in DESIGNS
    )
    without, trimmed = (extras(measured, "decoys", method) for method in (UNTRIMMED, TRIMMED))
    return (
        f"{words}. In the draws with decoys that miss no true feature, {without} others are "
        f"chosen without, {trimmed} with"
    )


def constant(measured: Measured) -> str:
    """HDIC beside HDBIC."""
    return "; ".join(
        f"{design}: {share(measured, design, HDIC)} and {share(measured, design, TRIMMED)}"
        for design in DESIGNS
    )


def deviations(measured: Measured) -> dict[str, str]:
    """What the notes say, in numbers."""
    weights = values(measured, "adaboost", MNIST, "deviations")
    sums = values(measured, "digits", SMALL, "deviations")
    rules = values(measured, "letter", DATA, "greedy rules")
    orthogonal = values(measured, "letter", DATA, "deviations")
    return {
        "off_weights": power(weights[:, 0]),
        "off_loss": power(weights[:, 1]),
        "off_sum": power(sums[:, 0]),
        "off_trees": f"{10 ** sums[:, 1].max():.1f}",
        "by_norm": worded(rules[:, 0], 1),
        "by_square": worded(rules[:, 1], 1),
        "same_path": f"{int(rules[:, 2].sum())} of {len(rules)}",
        "repeats": f"{int(rules[:, 3].sum())}",
        "off_orthogonal": power(orthogonal[:, 0]),
    }


def power(logarithms: Vector) -> str:
    """The largest of all seeds as a power of ten."""
    return f"10^{np.ceil(logarithms.max()):.0f}"
