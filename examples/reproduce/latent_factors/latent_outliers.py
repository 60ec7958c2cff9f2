"""Squared and absolute error on wide data with outliers, in place of the paper's Albumin.

Albumin (94 rows, 524 features) is not public. Here 94 images of MNIST stand for it: the upper 18 of
28 lines of pixels, 504 features, tell the mean ink of the lower ten lines. Some targets of the
training rows are moved ten standard deviations up or down; those of the 500 test rows are left as
they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from page_tables import plus_minus
from scipy.stats import ttest_rel
from study_jobs import Record

from cgboost import RBF, BLFRegressor
from cgboost.studies.datasets import load_mnist
from cgboost.studies.scripts import timed

STUDY = "outliers"
N_TRAIN, N_TEST = 94, 500
UPPER = 18 * 28
SHARES = (0.0, 0.05, 0.1, 0.2)
"""Of the training targets that are moved."""

SHIFT = 10.0
"""By so many standard deviations."""

LOSSES = ("squared_error", "absolute_error", "huber")
KERNELS = {"linear": None, "rbf": RBF(1.0 / 50.0**2)}
"""The paper's σ for Albumin is 50: 94 rows of about as many features."""

MOST = 15


def outlier_records(
    folder: Path, splits: int, known: set[tuple[str, str, str, int]]
) -> Iterator[list[Record]]:
    """The records of each split that is not known."""
    images, _, _, _ = load_mnist(folder)
    for split in range(splits):
        if (STUDY, label("rbf", SHARES[-1]), LOSSES[-1], split) not in known:
            yield list(split_records(images, split))


def split_records(images: np.ndarray, split: int) -> Iterator[Record]:
    """Mean squared and mean absolute test error, and the number of factors, of every model."""
    rng = np.random.default_rng(split)
    rows = rng.choice(len(images), N_TRAIN + N_TEST, replace=False)
    X, y = images[rows, :UPPER].astype(float), images[rows, UPPER:].mean(axis=1, dtype=float)
    X = (X - X[:N_TRAIN].mean(axis=0)) / np.sqrt(X[:N_TRAIN].var(axis=0).mean())
    train, test = X[:N_TRAIN], X[N_TRAIN:]
    y = (y - y[:N_TRAIN].mean()) / y[:N_TRAIN].std()
    order, signs = rng.permutation(N_TRAIN), rng.choice([-SHIFT, SHIFT], N_TRAIN)
    for share in SHARES:
        moved = order[: round(share * N_TRAIN)]
        target = y[:N_TRAIN].copy()
        target[moved] += signs[moved]
        for kernel, function in KERNELS.items():
            for loss in LOSSES:
                model = BLFRegressor(
                    "cv", loss=loss, kernel=function, max_components=MOST, random_state=split
                )
                seconds, _ = timed(model.fit, train, target)
                errors = model.predict(test) - y[N_TRAIN:]
                values = (float((errors**2).mean()), float(np.abs(errors).mean()))
                yield Record(
                    STUDY,
                    label(kernel, share),
                    loss,
                    split,
                    (*values, float(model.n_components_)),
                    seconds,
                )


def label(kernel: str, share: float) -> str:
    """The data of a record."""
    return f"{kernel}, {share:.0%}"


def outlier_rows(records: Sequence[Record]) -> Iterator[list[str]]:
    """A row for every kernel and share of outliers."""
    found: dict[tuple[str, str], dict[int, tuple[float, ...]]] = {}
    for record in records:
        found.setdefault((record.data, record.model), {})[record.seed] = record.values
    for kernel in KERNELS:
        for share in SHARES:
            data = label(kernel, share)
            if (data, LOSSES[-1]) not in found:
                continue
            runs = [np.array([v for _, v in sorted(found[data, loss].items())]) for loss in LOSSES]
            errors = [plus_minus(list(run[:, 0])) for run in runs]
            sizes = [f"{run[:, 2].mean():.1f}" for run in runs]
            yield [kernel, f"{share:.0%}", *errors, verdict(runs[0][:, 0], runs[1][:, 0]), *sizes]


def verdict(squares: np.ndarray, absolutes: np.ndarray) -> str:
    """What a paired t-test at the level of 0.05 says of the absolute error."""
    if ttest_rel(squares, absolutes).pvalue >= 0.05:
        return "no difference"
    return "better" if absolutes.mean() < squares.mean() else "worse"


OUTLIER_HEADER = (
    "factors | moved targets | squared error | absolute error | Huber | absolute against squared | "
    "number: squared | absolute | Huber"
)
