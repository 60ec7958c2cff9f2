"""One space of factors for several outputs, beside factors for each of them: MNIST.

Responses: 94 images, whose upper 14 lines of pixels tell the ink of each of the next ten lines.
Classes: 300 images and their ten digits. 2000 other images are the test rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from latent_outliers import verdict
from page_tables import plus_minus
from sklearn.multioutput import MultiOutputRegressor
from study_jobs import Record

from cgboost import BLFClassifier, BLFRegressor
from cgboost.studies.datasets import load_mnist
from cgboost.studies.scripts import timed

STUDY = "shared"
LINES, PIXELS = 14, 28
N_RESPONSES, N_CLASSES, N_TEST = 94, 300, 2000
MOST = 20
WAYS: tuple[str, ...] = ("shared", "each", "shared, 10 factors", "each, 10 factors")
SIZES: tuple[Any, ...] = ("cv", "cv", 10, 1)
RESPONSES, CLASSES = "ink of ten lines", "ten digits"


def shared_records(
    folder: Path, splits: int, known: set[tuple[str, str, str, int]]
) -> Iterator[list[Record]]:
    """The records of each split that is not known."""
    images, labels, _, _ = load_mnist(folder)
    for split in range(splits):
        if (STUDY, CLASSES, WAYS[-1], split) not in known:
            rows = np.random.default_rng(split).permutation(len(images))
            yield [
                *response_records(images[rows[: N_RESPONSES + N_TEST]], split),
                *class_records(
                    images[rows[: N_CLASSES + N_TEST]], labels[rows[: N_CLASSES + N_TEST]], split
                ),
            ]


def response_records(images: np.ndarray, split: int) -> Iterator[Record]:
    """Mean squared error in units of each response's variance, and factors altogether."""
    cut = LINES * PIXELS
    X = images[:, :cut].astype(float)
    below = images[:, cut : cut + 10 * PIXELS].reshape(len(images), 10, PIXELS)
    Y = below.mean(axis=2, dtype=float)
    train, test = slice(N_RESPONSES), slice(N_RESPONSES, None)
    Y = (Y - Y[train].mean(axis=0)) / Y[train].std(axis=0)
    for way, sizes in zip(WAYS, SIZES, strict=True):
        model = BLFRegressor(sizes, max_components=MOST, random_state=split)
        fitted = model if way.startswith("shared") else MultiOutputRegressor(model)
        seconds, _ = timed(fitted.fit, X[train], Y[train])
        error = float(np.mean((fitted.predict(X[test]) - Y[test]) ** 2))
        parts = [fitted] if fitted is model else fitted.estimators_
        count = sum(part.n_components_ for part in parts)
        yield Record(STUDY, RESPONSES, way, split, (error, 0.0, float(count)), seconds)


def class_records(images: np.ndarray, labels: np.ndarray, split: int) -> Iterator[Record]:
    """Wrong labels in per cent, log loss, and factors altogether."""
    train, test = slice(N_CLASSES), slice(N_CLASSES, None)
    X, y = images.astype(float), labels.astype(int)
    settings: dict[str, Any] = {"max_components": MOST, "random_state": split}
    settings |= {"newton_steps": None, "newton_damping": 0.0, "l2_regularization": 0.01}
    for way, sizes in zip(WAYS, SIZES, strict=True):
        loss = "multinomial" if way.startswith("shared") else "log_loss"
        model = BLFClassifier(sizes, loss=loss, **settings)
        seconds, _ = timed(model.fit, X[train], y[train])
        shares = model.predict_proba(X[test])
        wrong = 100.0 * float(np.mean(model.predict(X[test]) != y[test]))
        log_loss = -float(np.mean(np.log(shares[np.arange(N_TEST), y[test]].clip(1e-15))))
        count = float(np.sum(model.n_components_))
        yield Record(STUDY, CLASSES, way, split, (wrong, log_loss, count), seconds)


SHARED_HEADER = "outputs | factors | test error | shared against it | log loss | number | CPU s"


def compared(errors: dict[str, np.ndarray], way: str) -> str:
    """What a paired t-test says of shared factors, of as many or chosen in the same way."""
    other = way.replace("each", "shared")
    if other == way or len(errors[way]) < 2:
        return ""
    return verdict(errors[way], errors[other])


def shared_rows(records: Sequence[Record]) -> Iterator[list[str]]:
    """A row for both ways on both tasks."""
    for task in (RESPONSES, CLASSES):
        found = {way: [r for r in records if (r.data, r.model) == (task, way)] for way in WAYS}
        errors = {way: np.array([r.values[0] for r in own]) for way, own in found.items()}
        for way, own in found.items():
            if own:
                losses = [r.values[1] for r in own]
                yield [
                    task,
                    way,
                    plus_minus(list(errors[way])),
                    compared(errors, way),
                    plus_minus(losses, 3) if any(losses) else "",
                    f"{np.mean([r.values[2] for r in own]):.1f}",
                    f"{np.mean([r.seconds for r in own]):.2f}",
                ]
