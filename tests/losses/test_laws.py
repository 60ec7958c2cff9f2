"""What every loss promises: derivatives, conjugate, box, CVXPY, metrics, and to be a value."""

import pickle
from dataclasses import FrozenInstanceError

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.base import clone

from cgboost import AnyBoostRegressor
from cgboost.exceptions import CGBoostError, UnsupportedLossError
from cgboost.losses import Loss, Poisson
from cgboost.losses.loss import require
from cgboost.losses.registry import LOSSES as REGISTRY
from tests.cases import law
from tests.effort import examples
from tests.losses.cases import CASES, SEEDS, LossCase, bound


def test_every_loss_is_a_case() -> None:
    """A new loss of the registry is not forgotten."""
    assert {type(case.make()) for case in CASES} == set(REGISTRY.values())


@law(CASES)
@settings(max_examples=examples(100))
@given(seed=SEEDS)
def test_derivatives_are_slopes(case: LossCase, seed: int) -> None:
    """Gradient and Hessian of every row, by central differences; f is away from kinks."""
    loss = case.make()
    bounded, f, _ = bound(loss, seed)
    y, step = bounded.target, 1e-6
    slope = (loss.value(y, f + step) - loss.value(y, f - step)) / (2 * step)
    np.testing.assert_allclose(loss.gradient(y, f), slope, rtol=1e-4, atol=1e-4)
    response = bounded.pseudo_response(f)
    np.testing.assert_allclose(response, -bounded.weights * loss.gradient(y, f), rtol=1e-12)
    if case.can("hessian_diag"):
        slope = (loss.gradient(y, f + step) - loss.gradient(y, f - step)) / (2 * step)
        np.testing.assert_allclose(loss.hessian_diag(y, f), slope, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(bounded.curvature(f), bounded.weights * loss.hessian_diag(y, f))
        for found, apart in zip(
            bounded.derivatives(f), (response, bounded.curvature(f)), strict=True
        ):
            np.testing.assert_allclose(found, apart, rtol=1e-14)


@law(CASES)
@settings(max_examples=examples(100))
@given(seed=SEEDS)
def test_the_gradient_is_a_subgradient(case: LossCase, seed: int) -> None:
    """ℓ(g) ≥ ℓ(f) + s·(g − f) for every row, at kinks too; losses are not negative."""
    loss = case.make()
    bounded, f, rng = bound(loss, seed)
    y = bounded.target
    kink = y if not isinstance(loss, Poisson) else np.log1p(y)
    for here in (f, kink, np.zeros(len(y))):
        value, slope = loss.value(y, here), loss.gradient(y, here)
        assert np.all(value >= 0.0)
        other = here + rng.normal(size=len(y)) * rng.choice([1e-3, 1.0, 10.0])
        lower = value + slope * (other - here)
        assert np.all(loss.value(y, other) >= lower - 1e-9 * (1.0 + np.abs(lower)))


@law(CASES)
@settings(max_examples=examples(100))
@given(seed=SEEDS)
def test_fenchel_young(case: LossCase, seed: int) -> None:
    """gain(r) ≤ L(f) + r·f for every r made feasible, with equality for the pseudo-response."""
    bounded, f, rng = bound(case.make(), seed)
    response = bounded.pseudo_response(f)
    upper = bounded.value(f) + response @ f
    assert bounded.gain(response) == pytest.approx(upper, rel=1e-8, abs=1e-8)
    for balanced in (False, True):
        wild = rng.normal(size=len(f)) * rng.choice([0.1, 1.0, 10.0])
        feasible = bounded.feasible(wild, balanced=balanced)
        assert feasible[1] == 0.0
        gain, scale = bounded.gain(feasible), 1.0 + np.abs(feasible) @ np.abs(f)
        assert np.isfinite(gain)
        assert gain <= bounded.value(f) + feasible @ f + 1e-8 * scale
        if balanced:
            assert abs(feasible.sum()) <= 1e-9 * max(1.0, np.abs(feasible).sum())
    np.testing.assert_allclose(bounded.feasible(response), response, rtol=1e-12)


@law(CASES)
def test_what_is_infeasible_gains_nothing(case: LossCase) -> None:
    """−inf for a response in a row of weight 0, and for one beyond the domain."""
    loss = case.make()
    bounded, f, _ = bound(loss, 3)
    response = bounded.pseudo_response(f)
    response[1] = 0.1
    assert bounded.gain(response) == -np.inf
    lower, upper = loss.domain(bounded.target)
    for ends, sign in ((lower, 1.0), (upper, -1.0)):
        beyond = bounded.feasible(np.zeros(len(f)))
        finite = np.flatnonzero(np.isfinite(ends) & (bounded.weights > 0))
        if finite.size:
            beyond[finite[0]] = bounded.weights[finite[0]] * (sign - ends[finite[0]])
            assert bounded.gain(beyond) == -np.inf


@law(CASES)
@settings(max_examples=examples(10))
@given(seed=SEEDS)
def test_the_conjugate_is_the_supremum(case: LossCase, seed: int) -> None:
    """ℓ*(y, s) = sup_f s·f − ℓ(y, f) by brute force, for slopes inside the domain."""
    loss = case.make()
    bounded, f, _ = bound(loss, seed)
    y = bounded.target[:1]
    slope = 0.9 * loss.gradient(y, f[:1]) + 0.1 * loss.gradient(y, -f[:1])
    slope = np.clip(slope, *loss.domain(y))  # without rounding

    def missing(output: float) -> float:
        here = np.array([output])
        return float((loss.value(y, here) - slope * here)[0])

    epsilon = getattr(loss, "epsilon", 0.0)
    kinks = [y[0] - epsilon, y[0], y[0] + epsilon, 0.0, -1.0, 1.0]
    brute = -minimize_scalar(missing, bracket=(-1.0, 1.0), tol=1e-12).fun
    corners = -min(missing(c) for c in kinks)
    assert loss.conjugate(y, slope)[0] == pytest.approx(max(brute, corners), rel=1e-6, abs=1e-6)


@law(CASES)
@settings(max_examples=examples(30))
@given(seed=SEEDS)
def test_no_constant_and_no_step_is_better(case: LossCase, seed: int) -> None:
    """The best constant, and the step along a direction that leads up on both sides in the end."""
    loss = case.make()
    bounded, f, rng = bound(loss, seed)
    h = rng.choice([-1.0, 1.0], len(f)) * rng.uniform(0.5, 2.0, len(f))
    h[[0, 2]] = [1.0, -1.0] if loss.classification else h[[0, 2]]  # both labels are −1
    step = bounded.line_search(f, h)
    best = minimize_scalar(lambda c: bounded.value(f + c * h), tol=1e-12).fun
    assert bounded.value(f + step * h) <= best + 1e-8 * max(1.0, abs(best))
    ones = np.ones(bounded.n_rows)
    if len(np.unique(bounded.target[bounded.weights > 0])) == 1 and not loss.attains_minimum:
        return  # of one class: no constant is best
    least, near = bounded.value(bounded.constant() * ones), np.array([-1e-4, 1e-4])
    others = [*bounded.target, *rng.normal(size=20), *(bounded.constant() + near)]
    assert least <= min(bounded.value(c * ones) for c in others) + 1e-9 * max(1.0, least)


@law(CASES, where=lambda case: case.can("dual_box"))
@settings(max_examples=examples(100))
@given(seed=SEEDS)
def test_the_dual_box_is_the_loss(case: LossCase, seed: int) -> None:
    """Value and gain of the box are those of the weighted loss."""
    bounded, f, rng = bound(case.make(), seed)
    box = bounded.box
    assert box.value(f) == pytest.approx(bounded.value(f), rel=1e-9, abs=1e-12)
    response = bounded.feasible(rng.normal(size=len(f)))
    np.testing.assert_allclose(box.feasible(response, balanced=False), response)
    assert box.gain(response) == pytest.approx(bounded.gain(response), rel=1e-9, abs=1e-9)


@law(CASES)
@settings(max_examples=examples(10))
@given(seed=SEEDS)
def test_cvxpy_evaluates_to_the_value(case: LossCase, seed: int) -> None:
    """Row by row and summed up, and CVXPY finds it convex."""
    loss = case.make()
    bounded, f, _ = bound(loss, seed)
    variable = cp.Variable(len(f), value=f)
    rows = loss.to_cvxpy(bounded.target, variable)
    assert rows.shape == f.shape
    assert rows.is_convex()
    np.testing.assert_allclose(rows.value, loss.value(bounded.target, f), rtol=1e-9, atol=1e-9)
    total = bounded.to_cvxpy(variable)
    assert total.is_convex()
    assert float(total.value) == pytest.approx(bounded.value(f))


@law(CASES)
@settings(max_examples=examples(30))
@given(seed=SEEDS)
def test_the_mean_over_rows_is_a_metric(case: LossCase, seed: int) -> None:
    """That of scikit-learn or SciPy, with weights of the rows."""
    bounded, f, rng = bound(case.make(), seed)
    weights = rng.uniform(0.5, 2.0, len(f))
    mean = bounded.loss.on(bounded.target, weights).value(f) / weights.sum()
    metric = case.metric(bounded.target, f, sample_weight=weights)
    assert mean == pytest.approx(metric, rel=1e-9, abs=1e-9)


@law(CASES)
def test_a_loss_is_a_value(case: LossCase) -> None:
    """It compares, hashes, pickles (with its rows, too), clones, prints, and cannot be changed."""
    loss = case.make()
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert clone(AnyBoostRegressor(loss=loss)).get_params()["loss"] == loss
    assert eval(repr(loss), {type(loss).__name__: type(loss)}) == loss
    assert len({loss, pickle.loads(pickle.dumps(loss))}) == 1
    assert [other.name for other in CASES if other.make() == loss] == [case.name]
    with pytest.raises(FrozenInstanceError):
        loss.delta = 3.0  # type: ignore[attr-defined]
    bounded, f, _ = bound(loss, 5)
    bounded.pseudo_response(f)
    again = pickle.loads(pickle.dumps(bounded))
    assert again.loss == loss
    assert again.value(f) == bounded.value(f)
    assert repr(bounded) == f"{loss!r}.on({len(f)} rows)"


@law(CASES)
@settings(max_examples=examples(100))
@given(seed=SEEDS, size=st.floats(1.0, 1e3))
def test_large_outputs_stay_finite(case: LossCase, seed: int, size: float) -> None:
    """Value, gradient and Hessian at |f| up to 1000 are numbers."""
    bounded, f, _ = bound(case.make(), seed)
    for output in (size * np.sign(f), -size * np.sign(f)):
        assert np.isfinite(bounded.value(output))
        assert np.isfinite(bounded.pseudo_response(output)).all()
        assert np.isfinite(bounded.curvature(output)).all()


@law(CASES)
def test_missing_abilities_are_one_error(case: LossCase) -> None:
    """It names what is missing and who can take the loss, and is a ValueError."""
    loss: Loss = case.make()
    require(loss, ["value", "gradient", "best_constant", "conjugate", "to_cvxpy"], "test")
    if case.can("dual_box"):
        require(loss, ["dual_box"], "OneNormMaster")
        return
    for by, act in (
        ("OneNormMaster", lambda: require(loss, ["dual_box"], "OneNormMaster")),
        (r"dual_box()", lambda: loss.dual_box(np.ones(2), np.ones(2))),
    ):
        with pytest.raises(UnsupportedLossError) as caught:
            act()
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, CGBoostError)
        assert str(caught.value).startswith(f"{by} needs dual_box of a loss, and {loss!r} has")
        assert "It can be used with CGBoostClassifier" in str(caught.value)
        assert "ConvexMaster, StagewiseMaster" in str(caught.value)
        assert "OneNormMaster" not in str(caught.value).partition("It can be")[2]
