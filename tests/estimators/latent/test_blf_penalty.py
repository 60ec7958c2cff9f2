"""Boosted Latent Factors with a penalty on the coefficients of the factors."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from cgboost import RBF, BLFClassifier, BLFRegressor
from cgboost.losses.registry import get_loss
from tests.estimators.latent.latent_data import CLASSES, LOSSES, data_of, exact, overlapping

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


def optimum(model: Any, T: np.ndarray, target: np.ndarray, weights: np.ndarray) -> float:
    """The least of loss + ½λ‖c‖² over f = μ + Tc, by Clarabel."""
    c, mu = cp.Variable(T.shape[1]), cp.Variable()
    loss = model._known_loss
    cost = weights @ loss.to_cvxpy(target, T @ c + mu)
    problem = cp.Problem(cp.Minimize(cost + 0.5 * model.l2_regularization * cp.sum_squares(c)))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return float(problem.value)


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("loss", ALL)
def test_the_model_is_the_optimum_over_its_factors(loss: str, weighted: bool) -> None:
    """Of loss and penalty in CVXPY, whatever the loss, with few factors and with all."""
    X, y = rows_of(loss)
    target = 2.0 * y - 1.0 if loss in [*CLASSES, *ALL[-2:]] else y
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(y)) if weighted else np.ones(len(y))
    for count in (2, X.shape[1]):
        model = penalised(loss, count).fit(X, y, sample_weight=weights)
        found = optimum(model, model.x_scores_, target, weights)
        assert model.objective_ == pytest.approx(found, rel=1e-8)


@pytest.mark.parametrize("loss", ALL)
def test_one_more_factor_than_there_are_proves_the_optimum(loss: str) -> None:
    """Of the penalised problem over all linear models; factors are orthonormal as ever."""
    X, y = rows_of(loss)
    model = penalised(loss, 20).fit(X, y)
    assert (model.n_components_, model.stop_reason_) == (X.shape[1], "optimal")
    T = model.x_scores_
    np.testing.assert_allclose(T.T @ T, np.eye(X.shape[1]), atol=1e-8)
    np.testing.assert_allclose(model.transform(X), T, atol=1e-8)


@pytest.mark.parametrize("loss", ALL)
def test_deflation_does_not_matter_to_full_refits(loss: str) -> None:
    """The penalty is one on the output: the same for factors that are not orthonormal."""
    X, y = rows_of(loss)
    one = penalised(loss, 3).fit(X, y)
    other = penalised(loss, 3, deflate=False).fit(X, y)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-7)


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


@pytest.mark.parametrize("loss", CLASSES)
def test_separable_classes_have_an_optimum(loss: str) -> None:
    """With a kernel that tells all rows apart the run is not called unbounded."""
    X, y = overlapping()
    model = penalised(loss, 8, kernel=RBF(5.0)).fit(X, y)
    assert model.stop_reason_ == "max_columns"
    target = 2.0 * y - 1.0
    assert model.objective_ == pytest.approx(
        optimum(model, model.x_scores_, target, np.ones(len(y))), rel=1e-8
    )


def test_the_number_of_factors_may_be_chosen_beside_it() -> None:
    """Cross-validation fits the penalised models."""
    X, y = overlapping(120)
    model = BLFClassifier("cv", l2_regularization=0.5, random_state=0).fit(X, y)
    assert 1 <= model.n_components_ <= X.shape[1]


@pytest.mark.parametrize("value", [-0.1, np.nan, "much"])
def test_bad_penalties_are_named(value: Any) -> None:
    """The error has the name and the value; a solver of linear programs alone is refused."""
    with pytest.raises(ValueError, match="l2_regularization"):
        BLFRegressor(l2_regularization=value).fit(*data_of("huber"))
    with pytest.raises(ValueError, match="solver"):
        BLFRegressor(l2_regularization=1.0, solver="highs-ds-none").fit(*data_of("huber"))


def test_the_loss_of_the_model_is_the_registrys() -> None:
    """What this file compares with is the loss by its name."""
    assert penalised("log_loss", 1)._known_loss == get_loss("log_loss")
