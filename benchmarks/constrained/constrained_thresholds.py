"""Thresholds on one fitted booster: cgboost's, fairlearn's and OxonFair's, on rows of Adult."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from constrained_models import LIMIT, Adult, difference, read_adult
from sklearn.frozen import FrozenEstimator

from cgboost import ConstrainedBoostClassifier
from cgboost.constraints import ParityGap

DRAWN = 8000
"""Rows of the smaller problem, whose features are those that occur in more than a hundredth."""

DRAWS = 5
"""Draws of predictions over which random ones are averaged."""

Predict = Callable[[Any, Any, int], Any]
"""Labels of rows, given whether each is male and the number of the draw."""


def problems(folder: Path) -> Iterator[tuple[str, Adult]]:
    """Rows drawn from the official training file, and all of them."""
    whole = read_adult(folder)
    drawn = np.random.default_rng(0).permutation(len(whole.X))[:DRAWN]
    kept = whole.X[drawn].mean(axis=0) > 0.01
    yield (
        f"{DRAWN} × {kept.sum()}",
        Adult(
            whole.X[drawn][:, kept],
            whole.y[drawn],
            whole.male[drawn],
            whole.X_test[:, kept],
            whole.y_test,
            whole.male_test,
        ),
    )
    yield f"{len(whole.X)} × {whole.X.shape[1]}", whole


def ours(columns: Callable[[Any], Any]) -> Callable[[Any, Adult], Predict]:
    """A threshold for each group, on the score of the booster alone or with stumps."""

    def fit(booster: Any, data: Adult) -> Predict:
        sex = next(j for j, x in enumerate(data.X.T) if np.array_equal(x, data.male))
        model = ConstrainedBoostClassifier(
            ParityGap(sex, LIMIT, of="rate"), columns=columns(booster), offset="group"
        ).fit(data.X, data.y)
        return lambda X, male, draw: model.predict(X)

    return fit


def fairlearn(booster: Any, data: Adult) -> Predict:
    """ThresholdOptimizer with a relaxed limit: random between two thresholds of a group."""
    from fairlearn.postprocessing import ThresholdOptimizer

    model = ThresholdOptimizer(
        estimator=booster,
        constraints="demographic_parity",
        prefit=True,
        predict_method="predict_proba",
        tol=LIMIT,
    ).fit(data.X, data.y, sensitive_features=data.male)
    return lambda X, male, draw: model.predict(X, sensitive_features=male, random_state=draw)


def oxonfair(booster: Any, data: Adult) -> Predict:
    """FairPredictor: thresholds of groups on a grid."""
    from oxonfair import FairPredictor, group_metrics

    def rows(X: Any, male: Any) -> dict[str, Any]:
        return {"data": X, "target": np.arange(len(X)) % 2, "groups": male.astype(int)}

    model = FairPredictor(booster, rows(data.X, data.male) | {"target": data.y})
    model.fit(group_metrics.accuracy, group_metrics.demographic_parity, LIMIT)
    return lambda X, male, draw: np.ravel(model.predict(rows(X, male)))


ENTRANTS: dict[tuple[str, str], Callable[[Any, Adult], Predict]] = {
    ("ConstrainedBoostClassifier", "the booster's score"): ours(FrozenEstimator),
    ("ConstrainedBoostClassifier", "its score and stumps"): ours(
        lambda booster: [FrozenEstimator(booster), "stumps"]
    ),
    ("ThresholdOptimizer", "the booster's score"): fairlearn,
    ("FairPredictor (OxonFair)", "the booster's score"): oxonfair,
}
"""Who, and over what."""


def measured(folder: Path) -> Iterator[dict[str, Any]]:
    """A row for each problem and entrant; first the booster itself, whose time is its fit."""
    from lightgbm import LGBMClassifier

    for problem, data in problems(folder):
        started = time.process_time()
        booster = LGBMClassifier(n_jobs=1, verbose=-1).fit(data.X, data.y)
        seconds = time.process_time() - started
        plain: Predict = lambda X, male, draw, booster=booster: booster.predict(X)  # noqa: E731
        yield row(problem, ("LightGBM", "no limit"), [seconds], plain, data)
        for name, fit in ENTRANTS.items():
            times = []
            for _ in range(5):
                started = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    predict = fit(booster, data)
                times.append(time.process_time() - started)
            yield row(problem, name, times, predict, data)


def row(
    problem: str, name: tuple[str, str], times: list[float], predict: Predict, data: Adult
) -> dict[str, Any]:
    """The median time, and means over draws."""
    found = []
    for draw in range(DRAWS):
        train = np.asarray(predict(data.X, data.male, draw)).astype(int)
        test = np.asarray(predict(data.X_test, data.male_test, draw)).astype(int)
        found.append(
            (
                np.mean(train == data.y),
                np.mean(test == data.y_test),
                difference(train, data.male),
                difference(test, data.male_test),
            )
        )
        if draw == 0 and name[0] != "ThresholdOptimizer":  # not random
            break
    means = np.mean(found, axis=0).tolist()
    keys = ("accuracy_train", "accuracy", "rates_train", "rates_test")
    return {
        "rows": problem,
        "model": name[0],
        "over": name[1],
        "seconds": float(np.median(times)),
        **dict(zip(keys, means, strict=True)),
    }
