"""AdaBoost over stumps on odd against even digits: errors, their bound, and the weights by round.

With the best step the mean of exp(−y f) over the training rows is Π 2√(err(1 − err)). It is at
least the training error, since every wrong row has exp(−y f) ≥ 1.
"""

from __future__ import annotations

import time

import numpy as np
from booster_data import MNIST, Digits
from numpy.typing import NDArray
from transform_regression.measured import Record

from cgboost import AdaBoostClassifier
from cgboost.inspection.learning_curves import error_table
from cgboost.studies.datasets import odd_even_labels

Vector = NDArray[np.float64]

ROUNDS = tuple(np.unique(np.geomspace(1, 400, 45).round().astype(int)).tolist())
SHARES = (0.01, 0.1)
"""Of the rows, those that weigh most."""

QUANTILES = np.linspace(0, 1, 41)
LORENZ = (1, 10, 100, 400)


def adaboost(data: Digits, seed: int) -> list[Record]:
    """Errors, bound and concentration of the weights after some rounds; deviations from [N]."""
    y, y_test = odd_even_labels(data.digit), odd_even_labels(data.digit_test)
    clock = time.process_time()
    model = AdaBoostClassifier(n_estimators=ROUNDS[-1]).fit(data.X, y)
    seconds = time.process_time() - clock
    sets = {"training error": (data.X, y), "test error": (data.X_test, y_test)}
    errors = error_table(model, sets, ROUNDS)
    err = model.estimator_errors_
    bounds = np.cumprod(2 * np.sqrt(err * (1 - err)))
    outputs = np.array(list(model.staged_decision_function(data.X)))
    weights = normalised(np.exp(-y * outputs))
    at = np.array([number for number in ROUNDS if number <= len(outputs)]) - 1
    heavy = -np.sort(-weights[at], axis=1).cumsum(axis=1)
    curves = {name: 100 * errors[name] for name in sets} | {"bound": 100 * bounds[at]}
    curves["effective rows"] = 100 / np.square(weights[at]).sum(axis=1) / len(y)
    for share in SHARES:
        curves[f"heaviest {share:.0%}"] = 100 * heavy[:, round(share * len(y)) - 1]
    records = [
        Record("adaboost", MNIST, name, seed, tuple(map(float, row)), 0.0)
        for name, row in curves.items()
    ]
    for number in LORENZ:
        line = np.interp(QUANTILES, np.arange(len(y) + 1) / len(y), lorenz(weights[number - 1]))
        records.append(Record("adaboost", MNIST, f"lorenz {number}", seed, tuple(100 * line), 0.0))
    loss = np.exp(-y * outputs).mean(axis=1)
    pairs = (
        (recursive_weights(y, outputs, model.estimator_weights_), weights),
        (loss, bounds),
    )
    off = tuple(float(np.log10(np.abs(a / b - 1).max())) for a, b in pairs)
    return [*records, Record("adaboost", MNIST, "deviations", seed, off, seconds)]


def normalised(weights: Vector) -> Vector:
    """Rows of weights that add up to 1."""
    shares: Vector = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def lorenz(weights: Vector) -> Vector:
    """Share of the weight on the heaviest 0, 1, 2, … rows."""
    return np.concatenate([[0.0], -np.sort(-weights).cumsum()])


def recursive_weights(y: Vector, outputs: Vector, alphas: Vector) -> Vector:
    """Weights by step 2(d) of [N]: w ← w·e^α on the rows that the newest classifier gets wrong.

    A classifier with a negative α is used turned round, with −α, as [N] asks for.
    """
    votes = np.diff(outputs, axis=0, prepend=np.zeros((1, len(y))))
    w, rows = np.full(len(y), 1 / len(y)), []
    for vote, alpha in zip(votes, alphas, strict=True):
        w = normalised(w * np.exp(np.abs(alpha) * (vote * y < 0)))
        rows.append(w)
    return np.array(rows)
