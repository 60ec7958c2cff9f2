"""Newton steps of smooth losses: over the rows or over the columns they are the same."""

from __future__ import annotations

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.losses import Exponential, LogLoss, Loss, Poisson, SquaredError
from cgboost.masters.support_vector.master import SupportVectorMaster
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss
from cgboost.optimizers.newton.smooth_primal import SmoothPrimal
from cgboost.penalties import L1, L2
from cgboost.penalties.base import DualForm
from cgboost.pricing import FeaturePricer

N_ROWS = 25


def target_of(loss: Loss, rng: np.random.Generator) -> np.ndarray:
    """Labels of ±1, or counts."""
    if loss.classification:
        return rng.choice([-1.0, 1.0], size=N_ROWS)
    return rng.poisson(2.0, size=N_ROWS).astype(np.float64)


def centred(H: np.ndarray) -> np.ndarray:
    """Columns of mean 0, which a free offset leaves as they are."""
    return H - H.mean(axis=0)


def restricted(
    loss: Loss, offset: str, n_columns: int, rng: np.random.Generator
) -> tuple[SmoothPrimal, np.ndarray]:
    """The restricted problem of random columns of mean 0 and unlike sizes, one row of weight 0."""
    weights = rng.uniform(0.5, 2.0, size=N_ROWS)
    weights[0] = 0.0
    bound = RowwiseLoss(loss.on(target_of(loss, rng), weights))
    H = centred(rng.normal(size=(N_ROWS, n_columns)) * rng.uniform(0.1, 1.0, size=n_columns))
    primal = SmoothPrimal(bound, DualForm(L2(), True, offset), "auto")
    primal.add(list(H.T))
    return primal, H


@pytest.mark.parametrize("softened", [False, True])
@pytest.mark.parametrize("offset", ["none", "penalized", "free"])
@pytest.mark.parametrize("loss", [LogLoss(), Exponential(), Poisson()], ids=repr)
def test_a_step_over_the_rows_is_the_step_over_the_columns(
    loss: Loss, offset: str, softened: bool
) -> None:
    """From any point, and after new columns, both find the minimiser of the quadratic model."""
    rng = np.random.default_rng(0)
    primal, H = restricted(loss, offset, 30, rng)
    for _ in range(2):
        coef = 0.1 * rng.normal(size=H.shape[1])
        intercept = 0.0 if offset == "none" else 0.2
        primal.expect(coef, intercept)
        output = H @ coef + intercept
        response = primal.loss.pseudo_response(output)
        by_rows = primal._minimised_by_rows(output, response, softened=softened)
        gradient = -np.append(H.T @ response, response.sum())
        hessian = primal._hessian(output, np.arange(H.shape[1]), softened=softened)
        by_columns = primal._minimised(gradient, hessian, np.append(coef, intercept))
        np.testing.assert_allclose(by_rows, by_columns, rtol=1e-6, atol=1e-7)
        new = centred(rng.normal(size=(N_ROWS, 5)))
        primal.add(list(new.T))
        H = np.hstack([H, new])


@pytest.mark.parametrize("offset", ["none", "penalized", "free"])
@pytest.mark.parametrize("loss", [LogLoss(), Exponential(), Poisson()], ids=repr)
def test_with_more_columns_than_rows_the_gradient_vanishes(loss: Loss, offset: str) -> None:
    """At the answer α = Hᵀr, and Σr is 0 or the offset: the conditions of the optimum."""
    primal, H = restricted(loss, offset, 60, np.random.default_rng(1))
    point = primal.solve(None)
    np.testing.assert_allclose(point.coef, H.T @ point.response, atol=1e-4)
    if offset != "none":
        total = point.intercept if offset == "penalized" else 0.0
        assert point.response.sum() == pytest.approx(total, abs=1e-4)


def test_scores_of_a_multiple_are_those_of_the_last_response() -> None:
    """With those of columns that are new since, and of any other r."""
    rng = np.random.default_rng(2)
    primal, H = restricted(LogLoss(), "free", 6, rng)
    response = rng.normal(size=N_ROWS)
    np.testing.assert_allclose(primal.scores(response), H.T @ response, rtol=1e-12)
    new = centred(rng.normal(size=(N_ROWS, 3)))
    primal.add(list(new.T))
    H = np.hstack([H, new])
    for other in (1.07 * response, rng.normal(size=N_ROWS)):
        np.testing.assert_allclose(primal.scores(other), H.T @ other, rtol=1e-11)


@pytest.mark.parametrize("size", [1e-12, 1e-8, 1e-4, 1e4, 1e8, 1e12])
def test_targets_of_any_size_take_the_same_steps(size: float) -> None:
    """With y·t and C/t the 1-norm objective is t times that of y and C, at the same gap."""
    rng = np.random.default_rng(1)
    H = rng.normal(size=(80, 60))
    y = 3.0 + H[:, :6].sum(axis=1) + rng.normal(size=80)
    found = []
    for unit in (1.0, size):
        loss = SquaredError().on(unit * y, np.full(80, 1.0 / unit))
        master = SupportVectorMaster(loss, L1())
        found.append(ColumnGeneration(master, FeaturePricer(H), tol=1e-7).run())
    plain, other = found
    assert max(plain.gap, other.gap) <= 1e-7
    assert other.objective / size == pytest.approx(plain.objective, rel=1e-7)
    np.testing.assert_allclose(other.output / size, plain.output, rtol=1e-4, atol=1e-4)
