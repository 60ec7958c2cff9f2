"""Boosted Latent Factors with a penalty on the coefficients of the factors."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from cgboost import RBF, BLFClassifier, BLFRegressor
from cgboost.losses.registry import get_loss
from tests.estimators.latent.latent_data import (
    CLASSES,
    LOSSES,
    data_of,
    exact,
    known,
    optimum,
    overlapping,
)

ALL = [*LOSSES, "hinge", "squared_hinge"]
RIDGE = 0.5


def penalised(loss: str, n_components: int, **parameters: Any) -> BLFRegressor | BLFClassifier:
    """With full refits and the penalty."""
    parameters = {"l2_regularization": RIDGE} | parameters
    if loss in ("hinge", "squared_hinge"):
        return BLFClassifier(
            n_components, loss=loss, newton_steps=None, newton_damping=0.0, **parameters
        )
    return exact(loss, n_components, **parameters)


def rows_of(loss: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows that suit a loss."""
    return overlapping() if loss in ALL[-2:] else data_of(loss)


def target_of(loss: str, y: np.ndarray) -> np.ndarray:
    """±1 of classes."""
    return 2.0 * y - 1.0 if get_loss(loss).classification else y


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("loss", ALL)
def test_the_model_is_the_optimum_over_its_factors(loss: str, weighted: bool) -> None:
    """Of loss and penalty in CVXPY, whatever the loss, with few factors and with all.

    One more than there are proves it. The penalty is one on the output: the same for factors that
    are not orthonormal.
    """
    X, y = rows_of(loss)
    target = target_of(loss, y)
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(y)) if weighted else np.ones(len(y))
    for count in (2, 20):
        model = penalised(loss, count).fit(X, y, sample_weight=weights)
        T = model.x_scores_
        found = optimum(known(loss), T, target, weights, RIDGE)
        assert model.objective_ == pytest.approx(found, rel=1e-8)
        eye = np.eye(T.shape[1])
        np.testing.assert_allclose(T.T @ (weights[:, None] * T), eye, atol=1e-8)
        np.testing.assert_allclose(model.transform(X), T, atol=1e-8)
    assert (model.n_components_, model.stop_reason_) == (X.shape[1], "optimal")
    one, other = (
        penalised(loss, 3, deflate=deflate).fit(X, y, sample_weight=weights).objective_
        for deflate in (True, False)
    )
    assert one == pytest.approx(other, rel=1e-7)


@pytest.mark.parametrize("loss", CLASSES)
def test_separable_classes_have_an_optimum(loss: str) -> None:
    """With a kernel that tells all rows apart the run is not called unbounded."""
    X, y = overlapping()
    model = penalised(loss, 8, kernel=RBF(5.0)).fit(X, y)
    assert model.stop_reason_ == "max_columns"
    ones = np.ones(len(y))
    found = optimum(known(loss), model.x_scores_, target_of(loss, y), ones, RIDGE)
    assert model.objective_ == pytest.approx(found, rel=1e-8)


def test_squared_error_is_shrunk_partial_least_squares() -> None:
    """Every coefficient is divided by 1 + λ; the constant stays."""
    X, y = load_diabetes(return_X_y=True)
    bare = BLFRegressor(4).fit(X, y)
    shrunk = BLFRegressor(4, l2_regularization=0.25).fit(X, y)
    np.testing.assert_allclose(shrunk.factor_coef_, bare.factor_coef_ / 1.25)
    assert shrunk.factor_intercept_ == pytest.approx(bare.factor_intercept_)


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("loss", ALL)
def test_coefficients_shrink_with_the_penalty(loss: str, refit: bool) -> None:
    """Towards none; a tiny penalty changes next to nothing (but steps that end on a row's kink)."""
    X, y = rows_of(loss)

    def size(ridge: float) -> float:
        model = penalised(loss, 3, l2_regularization=ridge, refit=refit).fit(X, y)
        return float(np.linalg.norm(model.factor_coef_))

    sizes = [size(ridge) for ridge in (0.0, 1e-9, 0.1, 1.0, 1e4)]
    assert sizes[1] == pytest.approx(sizes[0], rel=1e-5 if refit else 1e-2)
    assert sizes[1] > sizes[2] > sizes[3] > 100 * sizes[4]
