"""LogitBoost for ten classes: all together, or each against the rest, on MNIST's digits."""

from __future__ import annotations

from typing import Any

import numpy as np
from logit_models import DRAWN_IMAGES
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeRegressor
from study_data import Case
from study_jobs import Record

from cgboost import LogitBoostClassifier
from cgboost.studies.scripts import timed

DIGITS = "MNIST, ten digits"
LEAST_SHARE = 1e-15
"""Probabilities below it count as this in the log loss."""

LEARNERS = {"100 lines": 100, "100 trees of depth 3": 100}
RATES = {"full steps": 1.0, "learning rate 0.3": 0.3}
TOGETHER = {"joint": "together", "ovr": "each against the rest"}
MODELS = [(learner, rate, way) for learner in LEARNERS for rate in RATES for way in TOGETHER]


def digits(X: Any, y: Any, X_test: Any, y_test: Any, seed: int) -> Case:
    """10000 of the training images, drawn, and all test images."""
    rows = np.random.default_rng(seed).permutation(len(X))[:DRAWN_IMAGES]
    return Case(X[rows], y[rows], X_test, y_test)


def several_classes(case: Case, seed: int) -> list[Record]:
    """Training and test error in per cent, log loss of a test row, rounds of the model."""
    records = []
    for learner, rate, way in MODELS:
        tree = DecisionTreeRegressor(max_depth=3, max_features="sqrt")
        model = LogitBoostClassifier(
            "linear" if "lines" in learner else tree,
            n_estimators=LEARNERS[learner],
            learning_rate=RATES[rate],
            multi_class=way,
            random_state=seed,
        )
        seconds, _ = timed(model.fit, case.X, case.y)
        shares = np.clip(model.predict_proba(case.X_test), LEAST_SHARE, 1.0)
        outcome = (
            100.0 * (1.0 - model.score(case.X, case.y)),
            100.0 * (1.0 - model.score(case.X_test, case.y_test)),
            float(log_loss(case.y_test, shares / shares.sum(axis=1, keepdims=True))),
            float(model.n_iter_),
        )
        name = f"{learner}, {rate}, {TOGETHER[way]}"
        records.append(Record("classes", DIGITS, name, seed, outcome, seconds))
    return records
