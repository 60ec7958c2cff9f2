"""The boosting methods against what a Python user would pick today; ratios from one run.

    python benchmarks/boosters.py [--cases adaboost gradient_boosting l2boost logitboost oga]

One thread. What is compared with XGBoost needs it; the package itself does not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import AdaBoostClassifier as ScikitAdaBoost
from sklearn.ensemble import GradientBoostingClassifier as ScikitGradientBoosting
from sklearn.linear_model import orthogonal_mp
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from cgboost import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    L2BoostRegressor,
    LogitBoostClassifier,
    OrthogonalGreedyRegressor,
)
from cgboost.studies.scripts import options, timed

THRIFTY = {
    "booster": "gblinear",
    "updater": "coord_descent",
    "feature_selector": "thrifty",
    "nthread": 1,
}
"""XGBoost's linear booster that visits the coordinates in the order of their effect."""


def best_of(repeats: int, run: Callable[..., Any], *arguments: Any) -> float:
    """Shortest time of several runs, in seconds."""
    clock = time.perf_counter
    return min(timed(run, *arguments, clock=clock)[0] for _ in range(repeats))


def adaboost() -> None:
    """AdaBoost over stumps, compared with scikit-learn's with trees of depth 1; CPU seconds.

    The stumps are not the same: ours have the fewest weighted errors over 255 bins, scikit-learn's
    trees the smallest Gini impurity over all thresholds. So the areas under the ROC curve on fresh
    rows stand next to the times.
    """
    n_rows, n_features, rounds = 20_000, 50, 200
    shape = {"n_informative": 15, "n_redundant": 10, "flip_y": 0.05}
    for seed in (0, 1, 2):
        X, y = make_classification(2 * n_rows, n_features, random_state=seed, **shape)
        here, fresh = slice(n_rows), slice(n_rows, None)
        stump = DecisionTreeClassifier(max_depth=1)
        models = (
            AdaBoostClassifier(n_estimators=rounds),
            ScikitAdaBoost(stump, n_estimators=rounds),
        )
        ours, theirs = (timed(model.fit, X[here], y[here])[0] for model in models)
        areas = [roc_auc_score(y[fresh], model.decision_function(X[fresh])) for model in models]
        print(
            f"adaboost {n_rows}×{n_features}, {rounds} rounds, data {seed}: cgboost {ours:.2f} s, "
            f"scikit-learn {theirs:.1f} s, ratio {theirs / ours:.0f}; "
            f"AUC {areas[0]:.4f} and {areas[1]:.4f}",
            flush=True,
        )


def gradient_boosting() -> None:
    """Gradient boosting of ten classes: digits, 100 rounds of depth 3; CPU seconds.

    Both grow scikit-learn's trees and begin with the shares of the classes; 30 % are held out.
    """
    X, y = load_digits(return_X_y=True)
    lines = []
    for seed in range(6):
        split = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        X_train, X_test, y_train, y_test = split
        lines.append([])
        for maker in (GradientBoostingClassifier, ScikitGradientBoosting):
            seconds, model = timed(maker(random_state=seed).fit, X_train, y_train)
            lines[-1] += [seconds, model.score(X_test, y_test)]
    for what, line in [*enumerate(lines), ("mean", np.mean(lines, axis=0))]:
        own, accuracy, other, wanted = line
        print(
            f"gradient boosting, digits, {what}: {own:.2f} s, accuracy {accuracy:.4f}; "
            f"scikit-learn {other:.2f} s, {wanted:.4f}; time × {own / other:.2f}"
        )


def l2boost() -> None:
    """Componentwise L2-Boosting, compared with XGBoost's linear booster with its thrifty selector.

    The two are not the same method: a round of ours moves the one best feature, a round of XGBoost
    visits all of them, those that change most first. So the errors of both on fresh rows stand
    next to the times.
    """
    import xgboost

    n_rows, n_features, rounds = 2000, 2000, 300
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n_rows, n_features))
    y = X[:, :20] @ rng.normal(size=20) * 2.0 + rng.normal(size=2 * n_rows)
    here, fresh = slice(n_rows), slice(n_rows, None)

    def train() -> Any:
        return xgboost.train(THRIFTY, xgboost.DMatrix(X[here], y[here], nthread=1), rounds)

    theirs, booster = timed(train, clock=time.perf_counter)
    error = np.mean((booster.predict(xgboost.DMatrix(X[fresh])) - y[fresh]) ** 2)
    for rate in (0.1, 1.0):
        model = L2BoostRegressor(n_estimators=rounds, learning_rate=rate)
        ours = best_of(5, model.fit, X[here], y[here])
        own_error = np.mean((model.predict(X[fresh]) - y[fresh]) ** 2)
        print(
            f"l2boost    {n_rows} × {n_features}, {rounds} rounds, learning rate {rate}: "
            f"{ours:.3f} s ({len(model.support_)} features), gblinear thrifty {theirs:.2f} s: "
            f"{theirs / ours:.0f} times as fast; test mse {own_error:.2f} and {error:.2f}"
        )


def logitboost() -> None:
    """LogitBoost over lines in one feature, compared with XGBoost's linear booster; CPU seconds.

    XGBoost is asked for one coordinate a round, which is the nearest to what LogitBoost does, and
    as it comes, where every round visits all. Labels follow 30 of the features, with noise.
    """
    import xgboost

    n_rows, n_features, rounds, n_relevant = 6000, 500, 300, 30
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    signal = X[:, :n_relevant] @ rng.normal(size=n_relevant)
    y = (signal + 3.0 * rng.normal(size=n_rows) > 0).astype(int)
    seconds, model = timed(LogitBoostClassifier(n_estimators=rounds).fit, X, y)
    print(
        f"LogitBoost, {n_rows} × {n_features}, {rounds} rounds: {seconds:.2f} s, training loss "
        f"{model.objective_:.1f}",
        flush=True,
    )
    data = xgboost.DMatrix(X, label=y, nthread=1)
    for top_k, what in ((1, "one coordinate a round"), (0, "all coordinates a round")):
        eta = 1.0 if top_k else 0.5
        own = THRIFTY | {
            "top_k": top_k,
            "objective": "binary:logistic",
            "reg_lambda": 0,
            "eta": eta,
        }
        other, booster = timed(xgboost.train, own, data, rounds)
        p = booster.predict(data)
        loss = -np.log(np.where(y == 1, p, 1.0 - p)).sum()
        print(
            f"    gblinear, thrifty, {what}: {other:.2f} s, training loss {loss:.1f}; "
            f"{other / seconds:.1f} × LogitBoost's time",
            flush=True,
        )


def oga() -> None:
    """The orthogonal greedy algorithm with HDIC and trimming, and scikit-learn's bare pursuit.

    ``orthogonal_mp`` is given columns that are centred and normalised, and neither chooses a number
    of steps nor trims. Both times are the best of several runs.
    """
    n_rows, n_features, steps, repeats = 500, 20_000, 40, 5
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    y = 2.0 * X[:, :10].sum(axis=1) + rng.normal(size=n_rows)
    Z = X - X.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=0)
    model = OrthogonalGreedyRegressor(n_estimators=steps)
    ours = best_of(repeats, model.fit, X, y)
    theirs = best_of(repeats, lambda: orthogonal_mp(Z, y - y.mean(), n_nonzero_coefs=steps))
    print(
        f"oga        {n_rows} × {n_features}, {steps} steps: with HDBIC and trimming {ours:.3f} s, "
        f"orthogonal_mp {theirs:.3f} s: {theirs / ours:.2f} times as fast; "
        f"features kept {model.support_.tolist()}"
    )


CASES = {case.__name__: case for case in (adaboost, gradient_boosting, l2boost, logitboost, oga)}

if __name__ == "__main__":
    for name in options(__doc__, cases=tuple(CASES)).cases:
        try:
            CASES[name]()
        except ModuleNotFoundError as error:
            print(f"{name}: not compared, since {error.name} is missing")
