"""Continuation: fits of many features start from the solutions of smaller prices of the loss."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from cgboost import ColumnGeneration, SparseLinearClassifier, SparseLinearRegressor
from cgboost.estimators.linear import feature_columns
from cgboost.estimators.linear.feature_columns import warm_start_by_continuation
from cgboost.generation.history import Result, StopReason
from cgboost.losses import LogLoss, Loss, Quantile, SquaredError
from cgboost.masters import SupportVectorMaster
from cgboost.masters.support_vector.support_vector_master import WarmStart
from cgboost.optimizers.newton.smooth_loss import as_master_loss
from cgboost.penalties import L1
from cgboost.pricing.univariate.feature_pricer import FeaturePool

MODELS = {
    "squared_error": SparseLinearRegressor(loss="squared_error", alpha=0.01),
    "poisson": SparseLinearRegressor(loss="poisson", alpha=0.01),
    "log_loss": SparseLinearClassifier(loss="log_loss", C=5.0, penalty="elasticnet"),
    "squared_hinge": SparseLinearClassifier(loss="squared_hinge", C=5.0, positive=True),
}


def start_of(
    loss: Loss, shape: tuple[int, int], price: float = 10.0, time_limit: float | None = None
) -> WarmStart:
    """Where a fit to random rows begins."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    y = np.sign(X[:, 0] + rng.normal(size=len(X)))
    bound = as_master_loss(loss.on(y, np.full(len(X), price)))
    return warm_start_by_continuation(
        FeaturePool(X), bound, lambda own: SupportVectorMaster(own, L1()), 20, time_limit
    )


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_answer_is_that_of_a_direct_fit(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same objective, certified, after fewer rounds, of which a fit has some if asked for."""
    model = clone(model).set_params(columns_per_round=120)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 200))
    y = rng.poisson(np.exp(0.5 * X[:, 0])).astype(float)
    target = y > 0 if isinstance(model, SparseLinearClassifier) else y
    fitted = model.fit(X, target)
    found = fitted.objective_, fitted.gap_, fitted.n_iter_
    monkeypatch.setattr(feature_columns, "MANY_FEATURES", np.inf)
    direct = model.fit(X, target)
    assert found[0] == pytest.approx(direct.objective_, rel=2e-7)
    assert found[1] <= 1e-6
    assert found[2] < direct.n_iter_


def test_where_there_is_a_start() -> None:
    """With smooth losses and many features, unless the price is so small that none is in use."""
    for loss in (SquaredError(), LogLoss()):
        assert len(start_of(loss, (40, 60)).columns) > 0
        assert len(start_of(loss, (40, 10)).columns) == 0
        assert len(start_of(loss, (40, 60), price=0.001).columns) == 0
    assert len(start_of(Quantile(0.5), (40, 60)).columns) == 0


def test_an_interruption_on_the_way_ends_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no model yet that could be kept."""
    run = ColumnGeneration.run

    def interrupted(loop: ColumnGeneration) -> Result:
        result = run(loop)
        object.__setattr__(result, "stop_reason", StopReason.INTERRUPTED)
        return result

    monkeypatch.setattr(ColumnGeneration, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        start_of(SquaredError(), (40, 60))


def test_there_is_no_step_when_the_time_is_over() -> None:
    """What is left of it is for the problem itself."""
    assert len(start_of(SquaredError(), (40, 60), time_limit=0.0).columns) == 0
    assert len(start_of(SquaredError(), (40, 60), time_limit=1e6).columns) > 0
