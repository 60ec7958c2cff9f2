"""The entrants on Adult: models that obey, and fairlearn's reductions over several learners."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier
from study_data import read_data

from cgboost import ConstrainedBoostClassifier
from cgboost.constraints import ParityGap

LIMIT = 0.02
"""The difference of the rates of positive predictions that is asked for."""

SHORT = 5.0
"""Fits of fewer CPU seconds than this are made three times, and the shortest counts."""


@dataclass(frozen=True)
class Adult:
    """Adult, with categories as indicators; a missing one is none of them.

    Attributes
    ----------
    X, X_test : ndarray of shape (n_rows, 105)
    y, y_test : ndarray of 0 and 1
    male, male_test : ndarray of bool
    """

    X: Any
    y: Any
    male: Any
    X_test: Any
    y_test: Any
    male_test: Any


def read_adult(folder: Path) -> Adult:
    """The rows of the official training and test files."""
    adult = next(iter(read_data(folder)))
    X = pd.get_dummies(adult.X)
    X_test = pd.get_dummies(adult.X_test).reindex(columns=X.columns, fill_value=0)
    male = X["sex_Male"].to_numpy(bool), X_test["sex_Male"].to_numpy(bool)
    return Adult(
        X.to_numpy(np.float64),
        adult.y.astype(int),
        male[0],
        X_test.to_numpy(np.float64),
        adult.y_test.astype(int),
        male[1],
    )


@dataclass(frozen=True)
class Fitted:
    """A fitted entrant: scores and predictions of rows, the latter perhaps random."""

    scores: Callable[[Any], Any]
    predicted: Callable[[Any, int], Any]
    gap: float = np.nan
    objective: float = np.nan


def ours(**parameters: Any) -> Callable[[Adult], Fitted]:
    """A model that obeys."""

    def fit(data: Adult) -> Fitted:
        model = ConstrainedBoostClassifier(ParityGap("sex", LIMIT, of="rate"), **parameters)
        model.fit(data.X, data.y, groups={"sex": data.male})
        return Fitted(
            model.decision_function,
            lambda X, _: model.predict(X),
            model.gap_,
            model.objective_,
        )

    return fit


def reduction(learner: Any) -> Callable[[Adult], Fitted]:
    """Fairlearn's ExponentiatedGradient; its scores are the probabilities of a positive draw."""

    def fit(data: Adult) -> Fitted:
        from fairlearn.reductions import DemographicParity, ExponentiatedGradient

        model = ExponentiatedGradient(learner, DemographicParity(difference_bound=LIMIT))
        model.fit(data.X, data.y, sensitive_features=data.male)
        return Fitted(
            lambda X: model._pmf_predict(X)[:, 1],
            lambda X, seed: model.predict(X, random_state=seed),
        )

    return fit


def entrants() -> Iterator[tuple[str, str, Callable[[Adult], Fitted]]]:
    """Who, over what, and its fit."""
    mine = "ConstrainedBoostClassifier"
    yield mine, "stumps, default", ours()
    yield mine, "stumps, C=0.01", ours(C=0.01)
    yield mine, "stumps, C=0.01, max_columns=20", ours(C=0.01, max_columns=20)
    yield mine, "stumps, C=0.1, max_columns=60", ours(C=0.1, max_columns=60)
    for depth in (2, 4):
        tree = DecisionTreeClassifier(max_depth=depth)
        yield (
            mine,
            f"trees of depth {depth}, 8 of them",
            ours(columns=tree, max_columns=8, random_state=0),
        )
    theirs = "ExponentiatedGradient"
    for depth in (1, 2, 3, 4, 8):
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
        yield theirs, f"a tree of depth {depth}", reduction(tree)
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    yield theirs, "AdaBoost of 50 stumps", reduction(AdaBoostClassifier(stump, random_state=0))
    boosted = HistGradientBoostingClassifier(max_depth=1, random_state=0)
    yield theirs, "100 boosted stumps (histograms)", reduction(boosted)
    yield theirs, "LogisticRegression", reduction(LogisticRegression())


def measured(name: str, over: str, fit: Callable[[Adult], Fitted], data: Adult) -> dict[str, Any]:
    """Times, differences of rates, and whether two fits and draws are the same."""
    seconds, fits = [], []
    while not seconds or (len(seconds) < 3 and seconds[0] < SHORT):
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits.append(fit(data))
        seconds.append(time.process_time() - started)
    if len(fits) == 1:
        fits.append(fits[0])
    first, second = fits[0], fits[1]
    scores = first.scores(data.X_test)
    train, test = first.predicted(data.X, 0), first.predicted(data.X_test, 0)
    again = second.predicted(data.X_test, 1)
    return {
        "model": name,
        "over": over,
        "seconds": min(seconds),
        "auc": roc_auc_score(data.y_test, scores),
        "accuracy": float(np.mean(test == data.y_test)),
        "rates_train": difference(train, data.male),
        "rates_test": difference(test, data.male_test),
        "differ": float(np.mean(test != again)),
        "gap": first.gap,
        "objective": first.objective,
    }


def difference(predicted: Any, male: Any) -> float:
    """Fairlearn's demographic_parity_difference of two groups."""
    return float(abs(np.mean(predicted[male] > 0) - np.mean(predicted[~male] > 0)))
