"""The active set method against Clarabel, and how few steps it takes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.generation.columns import Column
from cgboost.losses import hinge
from cgboost.masters import TwoNormMaster
from cgboost.optimizers.active_set.active_set_method import (
    FEW_STEPS,
    LEAST,
    MOST,
    RELEASED,
    TARGET_GAP,
    ActiveSetMethod,
    ActiveSetSession,
    ProximalProblem,
    Proximity,
)
from cgboost.optimizers.active_set.quadratic_dual import KeptProducts
from tests.effort import examples
from tests.optimizers.duals.quadratic_duals import (
    KINDS,
    OFFSETS,
    at_zero,
    optimum,
    primal,
    random_loss,
    whole,
)
from tests.problems import columns_of

SIGNS = pytest.mark.parametrize("two_sided", [True, False])


@SIGNS
@pytest.mark.parametrize("offset", OFFSETS)
@settings(max_examples=examples(25))
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    form=st.sampled_from(["plain", "repeated", "none"]),
)
def test_the_optimum_is_clarabels(
    two_sided: bool, offset: str, seed: int, kind: str, form: str
) -> None:
    """At any price, of rows and columns that come twice, zeros and ones, and without columns."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(2, 26)), int(rng.integers(1, 31))
    columns = rng.normal(size=(n_rows, 0 if form == "none" else n_columns))
    if form == "repeated":
        columns = np.repeat(columns, 2, axis=0)
        n_rows = len(columns)
        columns = np.hstack([columns, columns, np.zeros((n_rows, 2)), np.ones((n_rows, 1))])
    loss = random_loss(rng, n_rows, kind, 10.0 ** rng.uniform(-3, 3))
    columns -= columns.mean(axis=0) if offset == "free" else 0.0
    problem = whole(loss, columns, two_sided=two_sided, offset=offset)
    end = ActiveSetMethod().solve(problem, at_zero(problem), np.inf)
    coef = np.sqrt(problem.block.weights) * problem.coefficients(end.s)
    found = primal(loss, columns, coef, end.offset, charged=offset == "penalized")
    best = optimum(loss, columns, two_sided=two_sided, offset=offset)
    assert end.relative_gap <= 1e-8
    assert found == pytest.approx(best, rel=1e-6, abs=1e-6)
    assert two_sided or coef.min(initial=0.0) >= 0


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
    end = ActiveSetMethod().solve(problem, at_zero(problem), np.inf)
    assert end.relative_gap <= 1e-8


def test_features_of_size_1000_are_solved_beyond_the_rounding_of_their_scores() -> None:
    """Hᵀr is a difference of large terms; coefficients that are kept apart from it are exacter."""
    rng = np.random.default_rng(0)
    columns = 1e3 * rng.normal(size=(100, 10))
    problem = whole(random_loss(rng, 100, "hinge", 1.0), columns, offset="none")
    end = ActiveSetMethod().solve(problem, at_zero(problem), np.inf)
    anew = problem.point(end.r, end.offset)
    assert end.relative_gap <= 1e-9
    assert end.relative_gap < 0.2 * anew.relative_gap


# ---------------------------------------------------------------------- steps


@SIGNS
def test_starts_take_few_steps(two_sided: bool) -> None:
    """From r = 0 some ten, not one a row; at the optimum none; with five more columns a few."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 4))
    columns = np.exp(-((X[:, None] - X[None, :250]) ** 2).sum(axis=2) / 8)
    labels = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=300) > 0, 1.0, -1.0)
    loss, method = hinge(labels, np.ones(300)), ActiveSetMethod()
    problem = whole(loss, columns[:, :200], two_sided=two_sided)
    end = method.solve(problem, at_zero(problem), np.inf)
    cold = method.steps
    assert end.relative_gap <= TARGET_GAP
    assert cold <= 80
    method.solve(problem, problem.point(end.r, end.offset), np.inf)
    assert method.steps == cold
    for count in range(205, 255, 5):
        before = method.steps
        problem = whole(loss, columns[:, :count], two_sided=two_sided)
        end = method.solve(problem, problem.point(end.r, end.offset), np.inf)
        assert end.relative_gap <= TARGET_GAP
        assert method.steps - before <= cold
    assert method.steps - cold <= 4 * cold  # ten solves


def test_another_column_of_a_master_costs_few_steps() -> None:
    """Far fewer than the first solve."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(300, 61))
    labels = np.where(H[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    master = TwoNormMaster(hinge(labels, np.ones(300)))
    master.add(columns_of(H[:, :60]))
    master.solve()
    session = master._live.session
    assert isinstance(session, ActiveSetSession)
    first = session.steps
    master.add([Column(values=H[:, 60], key="another")])
    master.solve()
    assert 0 < session.steps - first <= first / 2


def test_the_proximal_term_follows_how_steps_converge() -> None:
    """Weaker where they settle, much so after few; stronger where not, to what lies between."""
    settled = Proximity(1e-2)
    settled.learn(FEW_STEPS + 1)
    slow = settled.kappa
    assert LEAST < slow < 1e-2
    settled.learn(FEW_STEPS)
    assert settled.kappa < 1e-2 * slow
    for _ in range(5):
        settled.learn(1)
    assert settled.kappa == LEAST < MOST
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
    at_once, tried = Proximity(1e-2), Proximity(1e-2)  # where the next solve begins
    at_once.learn(2)
    assert at_once.first == pytest.approx(1e-3)
    for steps in (None, 2, 2):
        tried.learn(steps)
    assert tried.first == pytest.approx(1e-1)


# ---------------------------------------------------------------------- a proximal problem


@settings(max_examples=examples(60))
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    two_sided=st.booleans(),
    offset=st.sampled_from(OFFSETS),
)
def test_where_nothing_moves_the_proximal_problem_is_solved(
    seed: int, kind: str, two_sided: bool, offset: str
) -> None:
    """With a strong proximal term the steps converge, and r is its own proximal point."""
    rng = np.random.default_rng(seed)
    loss, columns = random_loss(rng, 12, kind, 3.0), rng.normal(size=(12, 8))
    problem = whole(loss, columns, two_sided=two_sided, offset=offset)
    centre, products, proximity = at_zero(problem), KeptProducts(), 5.0
    attempt = ProximalProblem(problem, centre, proximity)
    for _ in range(40):
        attempt.step(products)
        if not attempt.move():
            break
    else:
        pytest.fail("the steps have not converged")
    end = attempt.result(converged=True)
    # r minimises ½p|r − r₀|² − (gain − pull·r) over its box: one gradient step comes back to it
    stiffness = proximity * problem.unit
    there = centre.r - (end.output + end.offset) / stiffness
    bends = (loss.epsilon, -loss.epsilon) if kind == "tube" else (0.0, 0.0)
    low, high = (there + (loss.target + bend) / stiffness for bend in bends)
    nearest = np.where(high > 0, high, np.where(low < 0, low, 0.0))
    np.testing.assert_allclose(end.r, np.clip(nearest, loss.lower, loss.upper), atol=1e-9)
    if offset == "free":
        assert end.r.sum() == pytest.approx(proximity / problem.unit * end.offset, abs=1e-9)


def test_steps_of_a_weak_proximal_term() -> None:
    """A tenth of many rows leave their corners at once; what is not settled ends in its box."""
    rng = np.random.default_rng(3)
    loss, columns = random_loss(rng, 400, "hinge", 1.0), rng.normal(size=(400, 30))
    problem = whole(loss, columns, offset="none")
    attempt = ProximalProblem(problem, at_zero(problem), 1e-2)
    attempt.step(KeptProducts())
    assert attempt.move() == 400
    assert np.count_nonzero(attempt._status % 2 == 1) == RELEASED * 400
    loss, columns = random_loss(rng, 40, "tube", 1e-2), rng.normal(size=(40, 5))
    problem = whole(loss, columns, offset="none")
    attempt, products = ProximalProblem(problem, at_zero(problem), 1e-8), KeptProducts()
    for _ in range(3):
        attempt.step(products)
        attempt.move()
    assert np.any(np.abs(attempt.r) > loss.upper)
    end = attempt.result(converged=False)
    assert np.all(np.abs(end.r) <= loss.upper)
    np.testing.assert_allclose(end.s, problem.scores(end.r))
