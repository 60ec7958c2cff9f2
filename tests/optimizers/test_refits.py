"""Refits against closed forms, the formulas of [M], and linear programs solved from scratch.

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006.
"""

import warnings

import numpy as np
import pytest

from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.losses import (
    AbsoluteError,
    EpsilonInsensitive,
    Exponential,
    Huber,
    LogLoss,
    Quantile,
    SquaredError,
)
from cgboost.losses.loss import Loss
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.optimizers.refits import refits
from cgboost.optimizers.refits.refits import LeastDeviations, LeastSquares, NewtonRefit, refit_of
from cgboost.optimizers.refits.ridged import RidgedLoss
from tests.pricing.latent.references import full_optimum

RNG = np.random.default_rng(0)
H = np.column_stack([np.ones(40), RNG.normal(size=(40, 4))])
Y = H @ RNG.normal(size=5) + RNG.standard_t(2, size=40)
LABELS = np.where(H[:, 1] + RNG.normal(size=40) > 0, 1.0, -1.0)
WEIGHTS = RNG.uniform(0.5, 2.0, 40)
WEIGHTS[::9] = 0.0

PIECEWISE = {
    "absolute_error": AbsoluteError().on(Y, WEIGHTS),
    "epsilon_insensitive": EpsilonInsensitive(0.4).on(Y, WEIGHTS),
    "quantile": Quantile(0.8).on(Y, WEIGHTS),
}


def test_every_loss_has_its_way() -> None:
    """Least squares, a linear program, or Newton's method."""
    ways = {
        SquaredError().on(Y, WEIGHTS): LeastSquares,
        PIECEWISE["quantile"]: LeastDeviations,
        Huber(1.0).on(Y, WEIGHTS): NewtonRefit,
        LogLoss().on(LABELS, WEIGHTS): NewtonRefit,
    }
    for loss, way in ways.items():
        assert type(refit_of(loss, newton_steps=None, damping=0.0, solver="auto")) is way


@pytest.mark.parametrize("name", PIECEWISE)
def test_a_growing_program_is_the_program_from_scratch(name: str) -> None:
    """A column a round: every objective is CVXPY's, and the dual has Hᵀr = 0 inside its box."""
    loss = PIECEWISE[name]
    growing = LeastDeviations(loss, "auto")
    coef = np.array([loss.constant()])
    for count in range(1, 6):
        found = growing.refit(H[:, :count], coef, None)
        options = {"epsilon": 0.4, "alpha": 0.8}
        optimum = full_optimum(name, H[:, :count], Y, WEIGHTS, **options)
        assert loss.value(H[:, :count] @ found.coef) == pytest.approx(optimum, rel=1e-9)
        r = found.response
        assert np.abs(H[:, :count].T @ r).max() <= 1e-9
        assert np.all((r >= loss.box.lower) & (r <= loss.box.upper))
        assert loss.box.gain(r) == pytest.approx(optimum, rel=1e-9)  # the program's own optimum
        coef = np.append(found.coef, 0.0)


@pytest.mark.parametrize("price", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_a_program_has_no_scale(size: float, price: float, shift: float) -> None:
    """Responses and weights of any size, and far from 0, give the same coefficients."""
    expected = LeastDeviations(PIECEWISE["absolute_error"], "auto").refit(H, np.zeros(5), None)
    loss = AbsoluteError().on(size * (Y + shift), price * WEIGHTS)
    start = np.array([loss.constant(), 0.0, 0.0, 0.0, 0.0])
    found = LeastDeviations(loss, "auto").refit(H, start, None)
    found.coef[0] -= size * shift
    np.testing.assert_allclose(found.coef / size, expected.coef, atol=1e-15 * shift + 1e-7)
    np.testing.assert_allclose(found.response / price, expected.response, atol=1e-7)


def test_one_outlier_does_not_blur_the_others() -> None:
    """A residual of 10¹² leaves the fit to the other rows exact."""
    found = []
    for far in (1e12, 1e3):
        loss = AbsoluteError().on(np.where(np.arange(40) == 1, far, Y), WEIGHTS)
        start = np.array([loss.constant(), 0, 0, 0, 0])
        found.append(LeastDeviations(loss, "auto").refit(H, start, None).coef)
    np.testing.assert_allclose(*found, atol=1e-6)


def test_a_program_out_of_time_is_a_master_error() -> None:
    """The native exception never leaks."""
    with pytest.raises(MasterError) as caught:
        LeastDeviations(PIECEWISE["quantile"], "auto").refit(H, np.zeros(5), 0.0)
    assert caught.value.timed_out


@pytest.mark.parametrize("kind", [LogLoss, Exponential])
@pytest.mark.parametrize("damping", [0.0, 0.1, 0.9])
def test_one_step_is_that_of_the_paper(kind: type[Loss], damping: float) -> None:
    """Ĥ⁻¹Hᵀr with Ĥ = (1 − λ)H + λ trace(H)/n I, H = HᵀdH (eq. 30, 41, 42), in one full step.

    Columns have length 1, weighted.
    """
    loss = kind().on(LABELS, WEIGHTS)
    columns = H / np.sqrt(WEIGHTS @ H**2)
    coef = 0.1 * RNG.normal(size=5)
    f = columns @ coef
    if kind is LogLoss:
        r, d = WEIGHTS * (LABELS - np.tanh(f)), WEIGHTS * np.cosh(f) ** -2
    else:
        d = WEIGHTS * np.exp(-LABELS * f)
        r = LABELS * d
    hessian = columns.T @ np.diag(d) @ columns
    hessian = (1 - damping) * hessian + damping * np.trace(hessian) / 5 * np.eye(5)
    expected = coef + np.linalg.solve(hessian, columns.T @ r)
    found = NewtonRefit(loss, 1, damping).refit(columns, coef, None)
    np.testing.assert_allclose(found.coef, expected, atol=1e-10)
    units = np.array([1e-3, 1.0, 1e4, 7.0, 1e-8])
    found = NewtonRefit(loss, 1, damping).refit(columns * units, coef / units, None)
    np.testing.assert_allclose(found.coef * units, expected, atol=1e-10)


@pytest.mark.parametrize("damping", [0.0, 0.5])
@pytest.mark.parametrize("name", ["log_loss", "exponential", "huber"])
def test_steps_to_convergence_reach_the_optimum(name: str, damping: float) -> None:
    """Hᵀr = 0 and CVXPY's objective, from far off, damped or not."""
    target = Y if name == "huber" else LABELS
    makers = {"log_loss": LogLoss, "exponential": Exponential}
    loss = Huber(0.3).on(Y, WEIGHTS) if name == "huber" else makers[name]().on(LABELS, WEIGHTS)
    found = NewtonRefit(loss, None, damping).refit(H, np.full(5, 3.0), None)
    optimum = full_optimum(name, H, target, WEIGHTS, delta=0.3)
    assert loss.value(H @ found.coef) == pytest.approx(optimum, rel=1e-8)
    assert found.bounded


def test_a_step_never_raises_the_loss() -> None:
    """Where the full step would, its best part is taken; without a curvature that of squares."""
    loss = LogLoss().on(LABELS, WEIGHTS)
    for seed in range(20):
        coef = 5.0 * np.random.default_rng(seed).normal(size=5)
        full = loss.value(H @ NewtonRefit(loss, 1, 0.0).refit(H, coef, None).coef)
        assert full <= loss.value(H @ coef) * (1 + 1e-12)
    # Huber's with all residuals beyond δ: nothing bends, and the loss falls all the same
    loss = Huber(1e-3).on(np.array([-10.0, -10.0, 10.0, 10.0]), np.ones(4))
    columns = np.column_stack([np.ones(4), [1.0, 2.0, 3.0, 5.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = NewtonRefit(loss, 1, 0.0).refit(columns, np.zeros(2), None)
    assert loss.value(columns @ found.coef) < loss.value(np.zeros(4))


@pytest.mark.parametrize("kind", [LogLoss, Exponential])
@pytest.mark.parametrize("offset", ["free", "none"])
def test_separated_classes_are_called_unbounded_and_separated(
    kind: type[Loss], offset: str
) -> None:
    """The master says that there is no optimum, all labels come out right, nothing overflows."""
    columns = H[:, 1:3]
    labels = np.where(columns[:, 0] + 0.3 * columns[:, 1] > 0, 1.0, -1.0)
    master = CorrectiveMaster(kind().on(labels, WEIGHTS), offset=offset)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for j in range(2):
            master.add([Column(columns[:, j], j)])
            state = master.solve()
    assert not state.bounded
    assert np.isfinite(state.coef).all()
    assert state.objective <= refits.SEPARATED * WEIGHTS.sum()
    counting = WEIGHTS > 0
    np.testing.assert_array_equal(np.sign(state.output)[counting], labels[counting])
    np.testing.assert_array_equal(state.pseudo_response, np.zeros(40))


RIDGED = {
    "squared": SquaredError().on(Y, 0.1 + WEIGHTS),
    "huber": Huber(0.5).on(Y, 0.1 + WEIGHTS),
    "absolute": AbsoluteError().on(Y, 0.1 + WEIGHTS),
    "log": LogLoss().on(LABELS, 0.1 + WEIGHTS),
}


@pytest.mark.parametrize("name", RIDGED)
def test_a_loss_with_a_penalty_on_the_variance_of_the_output(name: str) -> None:
    """½λ Σ w (f − f̄)² on top, which a constant does not pay, and its derivatives and steps."""
    loss, rng = RIDGED[name], np.random.default_rng(0)
    ridged, f, ones = RidgedLoss(loss, 0.7), rng.normal(size=40), np.ones(40)
    penalty = 0.35 * loss.weights @ (f - np.average(f, weights=loss.weights)) ** 2
    assert ridged.value(f) == pytest.approx(loss.value(f) + penalty)
    assert ridged.value(ones) == pytest.approx(loss.value(ones))
    assert ridged.constant() == loss.constant()
    D, step = np.column_stack([ones, rng.normal(size=40)]), 1e-5

    def slopes(f: np.ndarray) -> np.ndarray:
        return -(D.T @ ridged.pseudo_response(f))

    by_value = [(ridged.value(f + step * d) - ridged.value(f - step * d)) / (2 * step) for d in D.T]
    np.testing.assert_allclose(slopes(f), by_value, rtol=1e-6)
    if name != "absolute":
        by_slopes = [(slopes(f + step * d) - slopes(f - step * d)) / (2 * step) for d in D.T]
        np.testing.assert_allclose(ridged.hessian(f, D), by_slopes, rtol=1e-4, atol=1e-6)
    best = ridged.line_search(f, D[:, 1])
    least = ridged.value(f + best * D[:, 1])
    assert all(least <= ridged.value(f + (best + by) * D[:, 1]) for by in (-1e-4, 1e-4))
