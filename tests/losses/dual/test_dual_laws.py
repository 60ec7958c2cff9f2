"""Losses given by their dual: values of their definitions, and points on which bounds rest."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.losses import SupportVectorLoss, epsilon_insensitive, hinge, nu_hinge, nu_insensitive
from tests.effort import examples
from tests.problems import LOSSES, SMOOTH, Problem, least, random_problem

SEEDS = st.integers(0, 10**6)

DUAL = [name for name in LOSSES if name not in SMOOTH]
WITH_LEVEL = ["nu_hinge", "smooth_nu_hinge", "nu_tube", "one_class"]


def rows_of(seed: int) -> tuple[Problem, np.random.Generator]:
    """Rows, of which some cost nothing."""
    problem, rng = random_problem(seed), np.random.default_rng(seed + 1)
    some = rng.uniform(size=len(problem.price)) > 0.1
    some[:2] = True
    return replace(problem, price=problem.price * some), rng


def made(name: str, problem: Problem, *, free: bool) -> SupportVectorLoss:
    """The loss itself, or the box that one of the registry has."""
    loss = LOSSES[name][0](problem, free)
    return getattr(loss, "box", loss)


@pytest.mark.parametrize("name", DUAL)
@settings(max_examples=examples(12))
@given(seed=SEEDS)
def test_the_value_is_that_of_the_definition(name: str, seed: int) -> None:
    """CVXPY's minimum over level and split, where the loss has one, at any output."""
    problem, rng = rows_of(seed)
    f = 1.5 * rng.normal(size=len(problem.target))
    value = made(name, problem, free=False).value(f)
    assert value == pytest.approx(
        least(LOSSES[name][1](problem, cp.Constant(f))), rel=1e-6, abs=1e-6
    )


@pytest.mark.parametrize("name", DUAL)
@settings(max_examples=examples(60))
@given(seed=SEEDS, balanced=st.booleans())
def test_points_made_feasible_are_and_bound_the_loss(name: str, seed: int, balanced: bool) -> None:
    """In the box, of the right mass and sum, near what was given, and gain(r) − r·f ≤ loss(f)."""
    problem, rng = rows_of(seed)
    if name == "one_class" or len(np.unique(problem.target)) < 2:
        balanced = False
    loss = made(name, problem, free=balanced)
    f = rng.normal(size=loss.n_rows)
    given_point = 2.0 * rng.normal(size=loss.n_rows)
    if name == "negative_margin" and balanced and not loss.lower.sum() < 0 < loss.upper.sum():
        return
    r = loss.feasible(given_point, balanced=balanced)
    assert np.all((r >= loss.lower - 1e-12) & (r <= loss.upper + 1e-12))
    if balanced:
        assert abs(r.sum()) <= 1e-9 * max(1.0, np.abs(r).sum())
    if loss.mass is not None:
        mass = np.abs(r).sum()
        assert mass <= loss.mass.amount * (1 + 1e-9)
        assert loss.mass.at_most or mass == pytest.approx(loss.mass.amount)
    value = loss.value(f)
    assert loss.gain(r) - r @ f <= value + 1e-9 * (1.0 + abs(value))
    np.testing.assert_allclose(loss.feasible(r, balanced=balanced), r, atol=1e-12)
    if loss.mass is None:  # the nearest one
        other = loss.feasible(r + 0.1 * rng.normal(size=loss.n_rows), balanced=balanced)
        near = np.linalg.norm(r - given_point)
        assert np.linalg.norm(other - given_point) >= near - 1e-9


@pytest.mark.parametrize("name", WITH_LEVEL)
@settings(max_examples=examples(30))
@given(seed=SEEDS)
def test_at_its_best_level_the_loss_is_the_same(name: str, seed: int) -> None:
    """L(f) = L at the level + what the level costs, and at any other level it is no less."""
    problem, rng = rows_of(seed)
    loss = made(name, problem, free=False)
    f = rng.normal(size=loss.n_rows)
    level = loss.level(f)

    def value(at: float) -> float:
        return loss.at_level(at).value(f) + max(at, 0.0 if name == "nu_tube" else at) * amount

    amount = loss.mass.amount
    assert value(level) == pytest.approx(loss.value(f), rel=1e-9, abs=1e-9)
    assert all(value(level + shift) >= value(level) - 1e-9 for shift in (-0.05, 0.05))


@settings(max_examples=examples(60))
@given(SEEDS, st.sampled_from([0.5, 5.0, 500.0]))
def test_entropic_weights_are_the_maximiser(seed: int, eta: float) -> None:
    """The weights are feasible, F is their dual value, and no more than without the entropy."""
    problem, rng = rows_of(seed)
    loss = replace(made("entropic", problem, free=False), eta=eta)
    f = rng.normal(size=loss.n_rows)
    u = loss.weights(loss.variables.rate(f))
    assert np.all((u >= 0) & (u <= loss.variables.costs * (1 + 1e-12)))
    assert u.sum() == pytest.approx(loss.mass.amount, rel=1e-9)
    r = loss.variables.response(u)
    assert loss.gain(r) - r @ f == pytest.approx(loss.value(f), rel=1e-9, abs=1e-9)
    assert loss.value(f) <= made("nu_hinge", problem, free=False).value(f) + 1e-9


@settings(max_examples=examples(100))
@given(SEEDS)
def test_the_best_point_of_a_ray(seed: int) -> None:
    """ray_gain is the largest gain(t·r) − ½t²·quadratic, t in [0, 1]; with an own margin t = 1."""
    problem, rng = rows_of(seed)
    quadratic, rate = float(rng.uniform(0, 3)), float(rng.choice([-1.0, 0.2, 1.0]))
    for name in ("squared_hinge", "hinge", "nu_hinge"):
        loss = made(name, problem, free=False)
        response = rate * loss.target * problem.price * rng.uniform(size=loss.n_rows)
        ts = np.linspace(0.0, 1.0, 101) if loss.shrinks else np.ones(1)
        gains = [loss.gain(t * response) - 0.5 * t**2 * quadratic for t in ts]
        found, size = loss.ray_gain(response, quadratic), 1.0 + np.abs(gains).max()
        assert max(gains) - 1e-12 * size <= found
        assert found <= max(gains) + (1e-3 * size if loss.shrinks else 1e-12 * size)


@settings(max_examples=examples(30))
@given(SEEDS)
def test_the_empty_loss_is_that_of_the_best_constant(seed: int) -> None:
    """No constant of a fine grid has a smaller loss, and without an offset it is that of 0."""
    problem, _ = rows_of(seed)
    for name in ("hinge", "epsilon"):
        loss = made(name, problem, free=False)
        ends = 1.1 * np.abs(loss.target).max()
        grid = [loss.value(np.full(loss.n_rows, c)) for c in np.linspace(-ends, ends, 400)]
        best = loss.empty(offset=True)
        assert best <= min(grid) + 1e-4 * (1.0 + abs(min(grid)))
        assert loss.empty(offset=False) == loss.value(np.zeros(loss.n_rows)) >= best


# ---------------------------------------------------------------------- numbers by hand


def test_slack_is_how_far_an_output_is_on_the_side_that_costs() -> None:
    """Of a hinge, of a tube, and of a hinge from the margin that it chooses."""
    labels, output = np.array([1.0, 1.0, -1.0, -1.0]), np.array([2.0, 0.25, 0.5, -3.0])
    np.testing.assert_allclose(hinge(labels, np.ones(4)).slack(output), [0.0, 0.75, 1.5, 0.0])
    tube = epsilon_insensitive(np.array([0.0, 0.0, 1.0]), np.ones(3), 0.5)
    np.testing.assert_allclose(tube.slack(np.array([0.4, 2.0, 0.0])), [0.0, 1.5, 0.5])
    own = nu_hinge(labels, np.ones(4), 0.5, balanced=False)  # two of four rows are below ρ
    assert own.level(output) == -0.25
    np.testing.assert_allclose(own.slack(output), [0.0, 0.0, 0.75, 0.0])


def test_rows_that_all_cost_nothing() -> None:
    """A loss without prices is 0 everywhere, and so are its level and feasible response."""
    loss, output = hinge(np.array([1.0, -1.0]), np.zeros(2)), np.array([3.0, 4.0])
    assert loss.value(output) == loss.level(output) == 0.0
    np.testing.assert_array_equal(loss.feasible(output, balanced=True), [0.0, 0.0])


def test_a_sum_that_is_nearly_0_is_made_0() -> None:
    """A balanced response that is off by 1e-12 of its size is moved: bounds need all digits."""
    loss = epsilon_insensitive(np.arange(4.0), np.ones(4), 0.1)
    response = np.array([0.5, -0.5, 0.25, -0.25 + 1e-12])
    moved = loss.feasible(response, balanced=True)
    assert abs(moved.sum()) <= 1e-15 * np.abs(moved).sum()
    np.testing.assert_allclose(moved, response, atol=1e-12)
    exact = np.array([0.5, -0.5, 0.25, -0.25])
    np.testing.assert_array_equal(loss.feasible(exact, balanced=True), exact)


def test_the_mass_of_a_margin_is_half_on_each_side() -> None:
    """Where the offset is free; otherwise its sum alone is given."""
    labels = np.array([1.0, 1.0, -1.0, -1.0])
    margin = nu_hinge(labels, np.ones(4), 0.5, balanced=True)
    r = margin.feasible(np.array([0.9, 0.3, -0.8, -0.7]), balanced=True)
    assert (r[:2].sum(), r[2:].sum()) == (pytest.approx(1.0), pytest.approx(-1.0))
    r = margin.feasible(0.1 * labels, balanced=False)
    assert np.abs(r).sum() == pytest.approx(2.0)


def test_a_part_of_the_rows_stands_for_all() -> None:
    """Its box is wider by the share that is left out, on both sides."""
    loss = epsilon_insensitive(np.arange(4.0), np.array([1.0, 2.0, 3.0, 4.0]), 0.1)
    part = loss.on_part(np.array([1, 3]))
    np.testing.assert_array_equal(part.lower, [-4.0, -8.0])
    np.testing.assert_array_equal(part.upper, [4.0, 8.0])
    np.testing.assert_array_equal(part.target, [1.0, 3.0])


def test_a_tube_is_never_narrower_than_its_epsilon() -> None:
    """A level below 0 leaves the tube as it is, one above widens it."""
    loss = nu_insensitive(np.arange(3.0), np.ones(3), 0.5)
    assert loss.at_level(-0.5).epsilon == 0.0
    assert loss.at_level(0.5).epsilon == 0.5
