"""Rows of the comparison: trees."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from users_rows import Row

N_ROWS, N_FEATURES, N_FRESH = 15000, 10, 5000
ROUNDS = {1: 100, 2: 100, 10: 20}
"""Rounds by the number of classes; 1 stands for numbers."""


@cache
def table(n_rows: int, n_features: int, n_classes: int) -> tuple[Any, ...]:
    """Rows to fit and fresh ones; numbers for one class."""
    from sklearn.datasets import make_classification, make_regression

    size, own = n_rows + N_FRESH, {"n_features": n_features, "random_state": 0}
    if n_classes == 1:
        X, y = make_regression(size, noise=10.0, **own)
        y += 50.0 * np.sin(3.0 * X[:, 0])
    else:
        shape = {"n_informative": 8, "n_redundant": 0, "flip_y": 0.05}
        X, y = make_classification(size, n_classes=n_classes, **shape, **own)
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def fitted(make: Callable[[], Any], data: tuple[Any, ...]) -> Any:
    """A model of the rows."""
    return make().fit(data[0], data[1])


def errors(data: tuple[Any, ...], model: Any) -> str:
    """Errors of a classifier on fresh rows, or 1 − R²."""
    return f"{100 * (1 - model.score(data[2], data[3])):.2f} %"


def gradient_boosting(
    n_classes: int, mae: bool = False, **chosen: Any
) -> dict[str, Callable[[Any], Any]]:
    """The same trees, rounds and learning rate for all."""
    rounds = ROUNDS[n_classes]
    same: dict[str, Any] = {"max_depth": 3, "learning_rate": 0.1}
    loss = {"loss": "absolute_error"} if mae else {}
    objective = {"objective": "mae"} if mae else {}

    def ours() -> Any:
        import cgboost

        kind = "Regressor" if n_classes == 1 else "Classifier"
        return getattr(cgboost, f"GradientBoosting{kind}")(n_estimators=rounds, **loss, **chosen)

    def light() -> Any:
        import lightgbm

        kind = lightgbm.LGBMRegressor if n_classes == 1 else lightgbm.LGBMClassifier
        return kind(n_estimators=rounds, n_jobs=1, verbose=-1, **same, **objective)

    def histograms() -> Any:
        from sklearn import ensemble

        kind = "Regressor" if n_classes == 1 else "Classifier"
        maker = getattr(ensemble, f"HistGradientBoosting{kind}")
        return maker(max_iter=rounds, early_stopping=False, **same, **loss)

    return {
        "cgboost": partial(fitted, ours),
        "LightGBM": partial(fitted, light),
        "HistGradientBoosting": partial(fitted, histograms),
    }


def stumps() -> dict[str, Callable[[Any], Any]]:
    """Boosting of stumps, everything at its default."""

    def ours(name: str) -> Any:
        import cgboost

        return getattr(cgboost, name)()

    def theirs() -> Any:
        from sklearn.ensemble import AdaBoostClassifier

        return AdaBoostClassifier()

    return {
        "cgboost": partial(fitted, partial(ours, "LPBoostClassifier")),
        "cgboost AdaBoost": partial(fitted, partial(ours, "AdaBoostClassifier")),
        "AdaBoostClassifier": partial(fitted, theirs),
    }


def linear_trees() -> dict[str, Callable[[Any], Any]]:
    """Twenty rounds of linear trees, nothing held out."""

    def ours() -> Any:
        from cgboost import LinearTreeBoostingRegressor

        return LinearTreeBoostingRegressor(n_estimators=20, early_stopping=False)

    def light() -> Any:
        import lightgbm

        same = {"max_depth": 2, "num_leaves": 4, "n_estimators": 20, "n_jobs": 1}
        return lightgbm.LGBMRegressor(linear_tree=True, verbose=-1, **same)

    return {"cgboost": partial(fitted, ours), "LightGBM": partial(fitted, light)}


def rows(data: Path) -> list[Row]:
    """Rows of this part; ``data`` is the folder of public data sets."""
    shape = f"{N_ROWS} × {N_FEATURES}"
    boosted = [
        ("two classes", 2, {}, 4.0),
        ("ten classes", 10, {}, 6.0),
        ("ten classes, joint leaves", 10, {"leaves": "joint"}, 6.0),
        ("numbers", 1, {}, 4.0),
        ("numbers, absolute error", 1, {"mae": True}, 10.0),
    ]
    found = [
        Row(
            f"gradient boosting, {name}, {shape}",
            partial(table, N_ROWS, N_FEATURES, n_classes),
            gradient_boosting(n_classes, **chosen),
            errors,
            goal,
        )
        for name, n_classes, chosen, goal in boosted
    ]
    for size in (1000, 4000):
        make = partial(table, size, N_FEATURES, 2)
        found.append(Row(f"LPBoost, {size} × {N_FEATURES}", make, stumps(), errors))
    make = partial(table, 100_000, 20, 1)
    found.append(Row("linear trees, 100000 × 20", make, linear_trees(), errors, 2.0))
    return found
