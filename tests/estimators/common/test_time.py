"""One limit of time for all that a fit solves, by a clock that only the loops move."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from cgboost import (
    CGBoostClassifier,
    CGBoostRegressor,
    ColumnGeneration,
    SparseLinearClassifier,
    SparseLinearRegressor,
)
from cgboost.estimators.kernel import kernel_columns
from cgboost.generation.history import Result

LIMIT = 100.0
"""Seconds that these fits are given."""

MODELS = {
    "kernels": CGBoostRegressor(penalty="l1"),
    "kernels, by class": CGBoostClassifier(penalty="l1"),
    "kernels, calibrated": CGBoostClassifier(penalty="l1", probability=True),
    "features": SparseLinearRegressor(loss="squared_error", alpha=0.01),
    "features, by class": SparseLinearClassifier(loss="log_loss", C=10.0),
    "features, calibrated": SparseLinearClassifier(loss="squared_hinge", C=10.0, probability=True),
}
"""Fits of two and more loops, and of such a fit for each class and each fold."""


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of each loop: each takes all that it is given, an hour where that is no limit."""
    now, taken = 1000.0, []
    run = ColumnGeneration.run

    def slow(loop: ColumnGeneration, **given: Any) -> Result:
        nonlocal now
        result = run(loop, **given)
        taken.append(3600.0 if loop.time_limit is None else loop.time_limit)
        now += taken[-1]
        return result

    monkeypatch.setattr(ColumnGeneration, "run", slow)
    monkeypatch.setattr("time.perf_counter", lambda: now)
    monkeypatch.setattr(kernel_columns, "MANY_ROWS", 20)
    monkeypatch.setattr(kernel_columns, "PART", 2)
    monkeypatch.setattr(kernel_columns, "COLUMNS", 0.5)
    return taken


@pytest.mark.parametrize("name", MODELS)
def test_all_loops_of_a_fit_share_its_time(name: str, loops: list[float]) -> None:
    """Starts from a part of the rows or from smaller prices, classes and folds, however slow."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 130))
    y = np.digitize(X[:, 0], [-0.4, 0.4] if "by class" in name else [0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clone(MODELS[name]).set_params(time_limit=LIMIT).fit(X, y)
    assert len(loops) >= 2 * (3 if "by class" in name else 6 if "calibrated" in name else 1)
    assert sum(loops) == pytest.approx(LIMIT)
