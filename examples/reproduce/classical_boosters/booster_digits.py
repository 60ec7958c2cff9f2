"""K-class gradient boosting on the ten digits: test error by round, and importances of pixels."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from booster_data import MNIST, SMALL, Digits
from sklearn.ensemble import GradientBoostingClassifier as TheirBoosting
from transform_regression.measured import Record

from cgboost import GradientBoostingClassifier

ROUNDS = 100
NOTES, SHRUNK, THEIRS = "full steps, as in the notes", "learning rate 0.1", "scikit-learn, 0.1"
LARGE = "learning rate 0.3, 28 pixels a split"


def models(data: str, seed: int) -> dict[str, Any]:
    """What is fitted: on the large images a split looks at √784 = 28 pixels, drawn anew."""
    if data == MNIST:
        large = GradientBoostingClassifier(
            n_estimators=ROUNDS, learning_rate=0.3, max_features="sqrt", random_state=seed
        )
        return {LARGE: large}
    ours = {
        name: GradientBoostingClassifier(
            n_estimators=ROUNDS, learning_rate=rate, start="zero", random_state=seed
        )
        for name, rate in ((NOTES, 1.0), (SHRUNK, 0.1))
    }
    return ours | {THEIRS: TheirBoosting(n_estimators=ROUNDS, random_state=seed)}


def digits(name: str, data: Digits, seed: int) -> list[Record]:
    """Test errors in per cent after every round; importances in thousandths."""
    records = []
    for model_name, model in models(name, seed).items():
        clock = time.process_time()
        model.fit(data.X, data.digit)
        seconds = time.process_time() - clock
        staged = model.staged_predict(data.X_test)
        errors = [100 * float(np.mean(found != data.digit_test)) for found in staged]
        records.append(Record("digits", name, model_name, seed, filled(errors), seconds))
        if model_name in (SHRUNK, LARGE):
            records += relevance(model, name, seed)
        if model_name == SHRUNK:
            records.append(Record("digits", name, "deviations", seed, sums(model, data), 0.0))
    return records


def filled(errors: list[float]) -> tuple[float, ...]:
    """A model that ended before the last round stays what it was."""
    return (*errors, *[errors[-1]] * (ROUNDS - len(errors)))


def relevance(model: GradientBoostingClassifier, name: str, seed: int) -> list[Record]:
    """I²_l of every pixel, and I²_lk of every class (of seed 0 for large images)."""
    parts = {"pixels": model.feature_importances_}
    if name == SMALL or seed == 0:
        for k, squared in enumerate(np.square(model.class_importances_)):
            parts[f"pixels of {k}"] = squared / squared.sum()
    return [
        Record("digits", name, part, seed, tuple(map(float, 1000 * values)), 0.0)
        for part, values in parts.items()
    ]


def sums(model: GradientBoostingClassifier, data: Digits) -> tuple[float, float]:
    """log₁₀ of the largest |Σ_k f_k|: as the model gives f, and of the trees as they are."""
    scores = model.decision_function(data.X_test)
    trees = np.zeros_like(scores)
    coef, classes = model.columns_["coefficient"], model.columns_["class"]
    for tree, weight, label in zip(model.estimators_, coef, classes, strict=True):
        trees[:, int(label)] += weight * tree.predict(data.X_test)
    centred = trees - trees.mean(axis=1, keepdims=True)
    assert np.allclose(centred, scores, atol=1e-5), "the scores are not the sums of the trees"
    of_model, of_trees = (float(np.abs(part.sum(axis=1)).max()) for part in (scores, trees))
    return float(np.log10(max(of_model, 1e-16))), float(np.log10(max(of_trees, 1e-16)))
