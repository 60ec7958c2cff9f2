"""The active set method against Clarabel, and how few steps it takes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.losses import hinge
from cgboost.optimizers.active_set.active_set_method import (
    FEW_STEPS,
    LEAST,
    MOST,
    TARGET_GAP,
    ActiveSetMethod,
    Proximity,
)
from solvers import LimitError, Status
from tests.effort import examples
from tests.optimizers.duals.quadratic_duals import at_zero, optimum, primal, random_loss, whole

SIGNS = pytest.mark.parametrize("two_sided", [True, False])
OFFSETS = pytest.mark.parametrize("offset", ["none", "penalized", "free"])


def coefficients(problem, point) -> np.ndarray:
    """α in the units of the columns."""
    return np.sqrt(problem.block.weights) * problem.coefficients(point.s)


@SIGNS
@OFFSETS
@settings(max_examples=examples(25))
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["hinge", "tube", "absolute"]))
def test_the_optimum_is_clarabels(two_sided: bool, offset: str, seed: int, kind: str) -> None:
    """On random problems of any price the objective is the optimum, the gap says so."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(2, 26)), int(rng.integers(1, 31))
    price = 10.0 ** rng.uniform(-3, 3)
    loss, columns = random_loss(rng, n_rows, kind, price), rng.normal(size=(n_rows, n_columns))
    columns -= columns.mean(axis=0) if offset == "free" else 0.0
    problem = whole(loss, columns, two_sided=two_sided, offset=offset)
    end = ActiveSetMethod().solve(problem, at_zero(problem), None)
    found = primal(
        loss, columns, coefficients(problem, end), end.offset, charged=offset == "penalized"
    )
    best = optimum(loss, columns, two_sided=two_sided, offset=offset)
    assert end.relative_gap <= 1e-8
    assert found == pytest.approx(best, rel=1e-6, abs=1e-6)
    if not two_sided:
        assert coefficients(problem, end).min(initial=0.0) >= 0


@SIGNS
@pytest.mark.parametrize("width", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("price", [1e-3, 1.0, 1e3, 1e6])
def test_nearly_collinear_kernel_columns(two_sided: bool, width: float, price: float) -> None:
    """Gram columns of ever wider kernels, of which a few directions matter, are solved exactly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    columns = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / width)
    loss = hinge(np.where(X[:, 0] + 0.3 * rng.normal(size=80) > 0, 1.0, -1.0), np.full(80, price))
    problem = whole(loss, columns, two_sided=two_sided)
    end = ActiveSetMethod().solve(problem, at_zero(problem), None)
    assert end.relative_gap <= 1e-8


@SIGNS
def test_duplicate_rows_and_columns(two_sided: bool) -> None:
    """Rows and columns that occur twice, columns of zeros and of ones make no trouble."""
    rng = np.random.default_rng(1)
    columns = np.repeat(rng.normal(size=(20, 6)), 2, axis=0)
    columns = np.hstack([columns, columns, np.zeros((40, 2)), np.ones((40, 1))])
    for kind in ("hinge", "tube", "absolute"):
        loss = random_loss(rng, 40, kind, 2.0)
        for offset in ("none", "penalized", "free"):
            problem = whole(loss, columns, two_sided=two_sided, offset=offset)
            end = ActiveSetMethod().solve(problem, at_zero(problem), None)
            assert end.relative_gap <= 1e-9


def test_no_columns_at_all() -> None:
    """The best offset alone is found, free or penalized."""
    rng = np.random.default_rng(2)
    for kind in ("hinge", "tube", "absolute"):
        loss = random_loss(rng, 30, kind, 2.0)
        for offset in ("none", "penalized", "free"):
            problem = whole(loss, np.zeros((30, 0)), offset=offset)
            end = ActiveSetMethod().solve(problem, at_zero(problem), None)
            assert end.relative_gap <= 1e-9
            others = np.linspace(-3, 3, 61)
            charged = offset == "penalized"
            best = primal(loss, np.zeros((30, 0)), np.zeros(0), end.offset, charged=charged)
            if offset != "none":
                for other in others:
                    value = primal(loss, np.zeros((30, 0)), np.zeros(0), other, charged=charged)
                    assert best <= value + 1e-9


def test_features_of_size_1000_are_solved_beyond_the_rounding_of_their_scores() -> None:
    """Hᵀr is a difference of large terms; coefficients that are kept apart from it are exacter."""
    rng = np.random.default_rng(0)
    columns = 1e3 * rng.normal(size=(100, 10))
    problem = whole(random_loss(rng, 100, "hinge", 1.0), columns, offset="none")
    end = ActiveSetMethod().solve(problem, at_zero(problem), None)
    anew = problem.point(end.r, end.offset)
    assert end.relative_gap <= 1e-9
    assert end.relative_gap < 0.2 * anew.relative_gap


# ---------------------------------------------------------------------- steps


def kernel_problem(rng: np.random.Generator, n_rows: int, n_columns: int):
    """Columns of an RBF kernel, and labels with some noise."""
    X = rng.normal(size=(n_rows, 4))
    columns = np.exp(-((X[:, None] - X[None, :n_columns]) ** 2).sum(axis=2) / 8)
    labels = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0, 1.0, -1.0)
    return hinge(labels, np.ones(n_rows)), columns


@SIGNS
def test_a_cold_start_takes_few_steps(two_sided: bool) -> None:
    """From r = 0, 300 rows and as many columns need some ten steps, not one for every row."""
    loss, columns = kernel_problem(np.random.default_rng(3), 300, 300)
    problem = whole(loss, columns, two_sided=two_sided)
    method = ActiveSetMethod()
    end = method.solve(problem, at_zero(problem), None)
    assert end.relative_gap <= TARGET_GAP
    assert method.steps <= 80


@SIGNS
def test_a_warm_start_takes_a_few_steps(two_sided: bool) -> None:
    """The optimum itself needs none; with another five columns, a few."""
    loss, columns = kernel_problem(np.random.default_rng(4), 300, 250)
    method = ActiveSetMethod()
    problem = whole(loss, columns[:, :200], two_sided=two_sided)
    end = method.solve(problem, at_zero(problem), None)
    cold = method.steps
    method.solve(problem, problem.point(end.r, end.offset), None)
    assert method.steps == cold
    for count in range(205, 255, 5):
        before = method.steps
        problem = whole(loss, columns[:, :count], two_sided=two_sided)
        end = method.solve(problem, problem.point(end.r, end.offset), None)
        assert end.relative_gap <= TARGET_GAP
        assert method.steps - before <= cold
    assert method.steps - cold <= 4 * cold  # ten solves


def test_a_deadline_that_has_passed_ends_the_solve() -> None:
    """The error says that it was time, as every backend's does."""
    loss, columns = kernel_problem(np.random.default_rng(5), 50, 50)
    problem = whole(loss, columns)
    with pytest.raises(LimitError, match="ran out of time") as caught:
        ActiveSetMethod().solve(problem, at_zero(problem), deadline=0.0)
    assert caught.value.status is Status.TIME_LIMIT


# ---------------------------------------------------------------------- κ


def test_the_proximal_term_weakens_when_steps_settle() -> None:
    """By a little after many steps, by much after few, never below the least."""
    proximity = Proximity(1e-2)
    proximity.learn(FEW_STEPS + 1)
    slow = proximity.kappa
    assert LEAST < slow < 1e-2
    proximity.learn(FEW_STEPS)
    assert proximity.kappa < 1e-2 * slow
    for _ in range(5):
        proximity.learn(1)
    assert proximity.kappa == LEAST
    assert not LEAST < proximity.kappa < MOST


def test_the_proximal_term_strengthens_when_they_do_not() -> None:
    """At first tenfold; later to somewhere between what converged and what did not."""
    at_first, later = Proximity(1e-2), Proximity(1e-2)
    at_first.learn(None)
    assert at_first.kappa == pytest.approx(1e-1)
    for _ in range(20):
        at_first.learn(None)
    assert at_first.kappa == MOST
    later.learn(FEW_STEPS + 1)
    converged = later.kappa
    later.learn(1)
    refused = later.kappa
    later.learn(None)
    assert refused < later.kappa < converged


def test_the_next_solve_begins_where_the_first_steps_have_converged() -> None:
    """A little weaker if they converged at once, the same if that took trying."""
    at_once, tried = Proximity(1e-2), Proximity(1e-2)
    at_once.learn(2)
    assert at_once.first == pytest.approx(1e-3)
    tried.learn(None)
    tried.learn(2)
    tried.learn(2)
    assert tried.first == pytest.approx(1e-1)
