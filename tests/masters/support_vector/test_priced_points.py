"""One restricted problem at many prices of its loss, each point with a certificate."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.losses import Exponential, Hinge, Huber, LogLoss, Loss, Poisson, SquaredError
from cgboost.masters.support_vector.priced_points import PricedPoints
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.penalties import L1, L2, ElasticNet, Penalty
from cgboost.pricing.univariate.feature_pricer import FeaturePool
from tests.effort import examples

LOSSES = {
    "squared error": SquaredError(),
    "log loss": LogLoss(),
    "exponential": Exponential(),
    "poisson": Poisson(),
    "huber": Huber(1.5),
}
"""Of each kind of curvature: the same everywhere, of labels and of counts, and none in part."""


def rows_for(loss: Loss, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns, of which two are nearly equal, what they are fitted to, and weights."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(4, 30)), int(rng.integers(1, 12))
    H = rng.normal(size=(n_rows, n_columns)) * np.exp(rng.normal(size=n_columns))
    H[:, -1] = H[:, 0] + 1e-3 * rng.normal(size=n_rows)
    y = H.sum(axis=1) / np.linalg.norm(H, axis=1).max() + rng.normal(size=n_rows)
    if loss.classification:
        y = np.where(np.arange(n_rows) == 0, 1.0, np.where(y > np.median(y), 1.0, -1.0))
    elif isinstance(loss, Poisson):
        y = rng.poisson(np.exp(np.clip(y, -2.0, 2.0))).astype(float)
    return H, y, rng.uniform(0.5, 2.0, size=n_rows)


def points_of(
    loss: Loss, penalty: Penalty, H: np.ndarray, y: np.ndarray, weights: np.ndarray, **options: Any
) -> tuple[np.ndarray, PricedPoints]:
    """From the price at which columns come into use to a thousand times that."""
    pool, offset = FeaturePool(H), options.get("offset", "free")
    bound = loss.on(y, weights)
    constant = bound.constant() if offset == "free" else 0.0
    most = np.abs(pool.all_scores(bound.pseudo_response(np.full(len(y), constant)))).max()
    prices = penalty.threshold / most * np.geomspace(1.0, 1000.0, 8)
    master = SupportVectorMaster(loss.on(y, prices[0] * weights), penalty, **options)
    points = master.solved_along(
        H, prices / prices[0], lambda r: (pool.all_scores(r), pool.errors(None, r))
    )
    assert points is not None
    return prices, points


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@settings(max_examples=examples(6))
@given(
    seed=st.integers(0, 10**6),
    l1_ratio=st.sampled_from([1.0, 0.6]),
    coef=st.sampled_from(["free", "nonneg"]),
    offset=st.sampled_from(["free", "none"]),
)
def test_bound_and_objective_enclose_the_optimum(
    loss: Loss, seed: int, l1_ratio: float, coef: str, offset: str
) -> None:
    """At every price that has a point, against an independent solver; there are few without one."""
    H, y, weights = rows_for(loss, seed)
    penalty = L1() if l1_ratio == 1.0 else ElasticNet(l1_ratio)
    prices, points = points_of(loss, penalty, H, y, weights, coef=coef, offset=offset)
    proven = np.flatnonzero(points.gap <= 1e-6)
    assert len(proven) >= 5
    for k in proven[:: max(1, len(proven) // 3)]:
        a, b = cp.Variable(H.shape[1], nonneg=coef == "nonneg"), cp.Variable()
        output = H @ a + (b if offset == "free" else 0.0)
        charge = l1_ratio * cp.norm1(a) + 0.5 * (1.0 - l1_ratio) * cp.sum_squares(a)
        problem = cp.Problem(cp.Minimize(loss.on(y, prices[k] * weights).to_cvxpy(output) + charge))
        optimum = problem.solve(solver=cp.CLARABEL)
        scale = max(abs(optimum), 1e-3)
        assert points.bound[k] <= optimum + 1e-6 * scale
        assert points.objective[k] >= optimum - 1e-6 * scale
        assert points.bound[k] <= points.objective[k] + 1e-10 * scale


def test_a_point_that_is_not_found_has_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a Newton step for a price there is no proof, and no number either."""
    monkeypatch.setattr("cgboost.optimizers.newton.priced_path.STEPS_PER_PRICE", 0)
    _, points = points_of(LogLoss(), L1(), *rows_for(LogLoss(), 3))
    missing = np.isnan(points.gap)
    assert missing.any()
    assert np.isnan(points.objective[missing]).all()


@pytest.mark.parametrize(
    ("loss", "penalty", "options"),
    [
        (Hinge(), L1(), {"solver": "highs"}),
        (Hinge(), L2(), {}),
        (LogLoss(), L2(), {}),
        (LogLoss(), L1(), {"solver": "clarabel"}),
        (LogLoss(), L1(), {"offset": "penalized"}),
    ],
    ids=["kinks, named solver", "kinks", "no threshold", "named solver", "penalized offset"],
)
def test_other_problems_are_left_to_the_loop(
    loss: Loss, penalty: Penalty, options: dict[str, Any]
) -> None:
    """There is no answer, rather than one of another problem."""
    H, y, weights = rows_for(LogLoss(), 0)
    pool = FeaturePool(H)
    master = SupportVectorMaster(loss.on(y, weights), penalty, **options)
    assert master.solved_along(H, np.ones(1), lambda r: (pool.all_scores(r), r)) is None
