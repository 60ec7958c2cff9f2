"""Fits without rounds: small problems of a smooth loss, which nobody watches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array

from cgboost import SparseLinearClassifier, SparseLinearRegressor
from cgboost.arrays import Vector

LOSSES = ("squared_error", "huber", "poisson", "expectile", "log_loss", "squared_hinge")


def watch(current: Any) -> None:
    """A callback: with one, a fit has rounds."""


def problem(loss: str, seed: int, **own: Any) -> tuple[Any, Vector, Vector]:
    """An estimator and rows, with features of different sizes and heavy tails."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 12)) * rng.choice([0.1, 1.0, 30.0], 12)
    y = X[:, :3] @ np.array([1.0, -1.0, 0.5]) / 10.0 + rng.standard_t(3, size=80)
    if loss in ("log_loss", "squared_hinge"):
        C = (0.1, 1.0, 100.0)[seed]
        return SparseLinearClassifier(loss=loss, C=C, **own), X, np.where(y > 0, 1.0, -1.0)
    if loss == "poisson":
        y = rng.poisson(np.exp(np.clip(y, -3.0, 3.0) / 2.0)).astype(float)
    return SparseLinearRegressor(loss=loss, alpha=(0.3, 0.03, 0.001)[seed], **own), X, y


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_a_fit_without_rounds_is_that_of_the_loop(loss: str, seed: int) -> None:
    """Objectives are equal up to the loop's gap, bounds do not cross, records have one form."""
    own = {"penalty": ("l1", "elasticnet", "l1")[seed], "positive": seed == 2}
    model, X, y = problem(loss, seed, **own)
    at_once = model.fit(X, y)
    looped = problem(loss, seed, callbacks=[watch], **own)[0].fit(X, y)
    scale = abs(looped.objective_)
    assert abs(at_once.objective_ - looped.objective_) <= 1e-6 * scale
    for one, other in ((at_once, looped), (looped, at_once)):
        assert one.dual_bound_ <= other.objective_ + 1e-13 * scale
    assert at_once.stop_reason_ == looped.stop_reason_
    assert list(at_once.history_) == list(looped.history_)
    np.testing.assert_array_equal(at_once.columns_["feature"], np.flatnonzero(at_once.coef_))


@pytest.mark.parametrize("stored", [np.asarray, csc_array])
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "huber"])
def test_so_is_one_of_many_features(loss: str, stored: Any) -> None:
    """Dense or sparse, standardized, with the penalty at a tenth of the largest."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 400)) * (rng.random((60, 400)) < 0.1)
    output = X[:, :5].sum(axis=1)
    model, _, _ = problem(loss, 0, standardize=True)
    y = np.where(output > 0, 1.0, -1.0)
    if isinstance(model, SparseLinearRegressor):
        y = rng.poisson(np.exp(output / 2.0)).astype(float)
        model.alpha = 0.1 * model.fit(X, y).alpha_max_
    else:
        model.C = 10.0 * model.fit(X, y).C_min_
    at_once = model.fit(stored(X), y)
    count, coef, objective = at_once.history_["columns"][-1], at_once.coef_, at_once.objective_
    looped = model.set_params(columns_per_round=120).fit(stored(X), y)
    assert count == 400 > looped.history_["columns"][-1]  # without rounds all features are there
    assert abs(objective - looped.objective_) <= 1e-6 * abs(looped.objective_)
    np.testing.assert_allclose(coef, looped.coef_, atol=1e-2 * np.abs(coef).max())


def test_steps_that_go_too_far_are_shortened() -> None:
    """Where few rows bend, as with Huber's loss, a first whole step leads away from the optimum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 10))
    y = X[:, :3] @ rng.normal(size=3) + 0.5 * rng.standard_t(3, size=150)
    y = 4.0 * y
    model = SparseLinearRegressor(loss="huber", alpha=0.03).fit(X, y)
    looped = SparseLinearRegressor(loss="huber", alpha=0.03, callbacks=[watch]).fit(X, y)
    assert model.gap_ <= 1e-12 < looped.gap_
