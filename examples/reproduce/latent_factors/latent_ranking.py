"""The ranking loss where only the order matters: wrong pairs on test rows.

Boston by its prices, and by a growing function of them, e^(2z) for standardised prices z; and two
sets of classes of which 5 % of the training rows are positive. A third of the rows are held out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from latent_models import Data, standardised
from page_tables import plus_minus
from scipy.stats import ttest_rel
from study_jobs import Record

from cgboost import BLFClassifier, BLFRegressor
from cgboost.losses import PairwiseExponential

STUDY = "ranking"
MOST = 13
SHARE = 0.05
NUMBERS = {
    "squared error": BLFRegressor("cv", max_components=MOST),
    "absolute error": BLFRegressor("cv", loss="absolute_error", max_components=MOST),
}
CLASSES = {
    "squared error": BLFClassifier("cv", loss="squared_error", max_components=MOST),
    "log loss": BLFClassifier("cv", max_components=MOST),
}
RANKING = BLFRegressor("cv", loss=PairwiseExponential, max_components=MOST)


def ranking_records(
    data: dict[str, Data], splits: int, known: set[tuple[str, str, str, int]]
) -> Iterator[list[Record]]:
    """The records of one split of one task after the other."""
    price = data["Boston"].y
    z = (price - price.mean()) / price.std()
    tasks: dict[str, tuple[Any, np.ndarray, dict[str, Any]]] = {
        "Boston": (data["Boston"].X, price, NUMBERS),
        "Boston, skewed": (data["Boston"].X, np.exp(2.0 * z), NUMBERS),
        "Diabetes, rare": (data["Diabetes"].X, data["Diabetes"].y, CLASSES),
        "WBC, rare": (data["WBC"].X, data["WBC"].y, CLASSES),
    }
    for split in range(splits):
        for name, (X, y, models) in tasks.items():
            if (STUDY, name, "ranking", split) not in known:
                yield list(split_records(name, X, y, models, split))


def split_records(
    name: str, X: np.ndarray, y: np.ndarray, models: dict[str, Any], split: int
) -> Iterator[Record]:
    """Wrong pairs of the test rows in per cent, and the number of factors."""
    train, held = rows_of(y, split, rare=len(np.unique(y)) == 2)
    own, other = standardised(X[train], X[held])
    for model, template in (models | {"ranking": RANKING}).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rows in perfect order
            fitted = template.set_params(random_state=split).fit(own, y[train])
        is_classifier = isinstance(fitted, BLFClassifier)
        f = fitted.decision_function(other) if is_classifier else fitted.predict(other)
        wrong = PairwiseExponential.row_errors(y[held], f)
        pairs = np.array([np.count_nonzero(y[held] != value) for value in y[held]])
        share = 100.0 * float(wrong @ pairs / pairs.sum())
        yield Record(STUDY, name, model, split, (share, float(np.mean(fitted.n_components_))))


def rows_of(y: np.ndarray, split: int, *, rare: bool) -> tuple[np.ndarray, np.ndarray]:
    """Two thirds and a third of the rows; of a rare class 5 % of those that are trained on."""
    order = np.random.default_rng(split).permutation(len(y))
    held, train = np.split(order, [len(order) // 3])
    if rare:
        positive, negative = train[y[train] > 0], train[y[train] <= 0]
        count = round(SHARE / (1.0 - SHARE) * len(negative))
        train = np.concatenate([positive[:count], negative])
    return train, held


RANKING_HEADER = "data | loss | wrong pairs, % | ranking against it | factors"


def ranking_rows(records: Sequence[Record]) -> Iterator[list[str]]:
    """A row for every task and loss."""
    found: dict[str, dict[str, dict[int, tuple[float, ...]]]] = {}
    for record in records:
        found.setdefault(record.data, {}).setdefault(record.model, {})[record.seed] = record.values
    for data, models in found.items():
        runs = {name: np.array([v for _, v in sorted(own.items())]) for name, own in models.items()}
        for name, own in runs.items():
            gains = own[:, 0] - runs["ranking"][:, 0]
            yield [
                data,
                name,
                plus_minus(list(own[:, 0])),
                "" if name == "ranking" else compared(gains),
                f"{own[:, 1].mean():.1f}",
            ]


def compared(gains: np.ndarray) -> str:
    """What a paired t-test at the level of 0.05 says."""
    if len(gains) < 2 or not gains.any() or ttest_rel(gains, np.zeros(len(gains))).pvalue >= 0.05:
        return "no difference"
    return "better" if gains.mean() > 0 else "worse"
