"""Columns of any size: the right optimum, bounds that hold, and how free directions are made."""

import warnings
from dataclasses import replace
from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.interior_point.interior_session import InteriorSession
from cgboost.optimizers.large_columns import LargeColumns, levelled
from cgboost.pricing import FeaturePricer
from tests.effort import examples
from tests.problems import Formulation, Problem, columns_of, random_problem

LARGE = 1e4
"""Entries above which a column is large, here."""


def scaled_optimum(problem: Problem, scales: np.ndarray, formulation: Formulation) -> float:
    """The optimum with columns H·scales, by a solver that sees H: only the penalty has the scales.

    With α = β/scales the output is Hβ, and no number is large.
    """
    beta, b = cp.Variable(problem.H.shape[1]), cp.Variable()
    errors = cp.Variable(problem.H.shape[0], nonneg=True)
    output = problem.H @ beta + (b if formulation.offset != "none" else 0.0)
    alpha = cp.multiply(1.0 / scales, beta)
    if formulation.offset == "penalized":
        alpha = cp.hstack([alpha, b])
    penalty = cp.norm1(alpha) if formulation.penalty == "l1" else cp.sum_squares(alpha) / 2
    labels = np.where(problem.target > 0, 1.0, -1.0)
    if formulation.loss == "hinge":
        limits = [errors >= 1 - cp.multiply(labels, output)]
    else:
        apart = problem.target - output
        limits = [errors >= apart - problem.epsilon, errors >= -apart - problem.epsilon]
    model = cp.Problem(cp.Minimize(penalty + problem.price @ errors), limits)
    if formulation.penalty == "l1":
        model.solve(solver=cp.HIGHS)
    else:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            model.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return float(model.value)


FREE = [
    Formulation(loss, penalty, "free", offset)
    for loss, penalty, offset in product(
        ["hinge", "epsilon"], ["l1", "l2"], ["none", "penalized", "free"]
    )
]


@pytest.mark.parametrize("formulation", FREE, ids=str)
@settings(max_examples=examples(12))
@given(seed=st.integers(0, 10**6), exponent=st.sampled_from([2.0, 4.0, 6.0]))
@example(seed=26, exponent=6.0)
@example(seed=86, exponent=6.0)
@example(seed=4, exponent=4.0)
def test_any_scale_of_columns(formulation: Formulation, seed: int, exponent: float) -> None:
    """Column scales from 1e-6 to 1e6: the independent optimum, and no bound above it."""
    problem = random_problem(seed)
    powers = np.random.default_rng(seed).uniform(-exponent, exponent, problem.H.shape[1])
    scales = 10.0**powers
    optimum = scaled_optimum(problem, scales, formulation)
    master = formulation.master(problem.loss(formulation))
    pricer = FeaturePricer(problem.H * scales)
    result = ColumnGeneration(master, pricer, tol=1e-7, columns_per_round=3).run()
    unit = max(1.0, abs(optimum))
    assert abs(result.objective - optimum) <= 1e-6 * unit
    bounds = result.history["bound"]
    assert np.all(bounds[np.isfinite(bounds)] <= optimum + 1e-7 * unit)
    assert result.gap <= 5e-6  # seed 0 of hinge, l2, no offset stalls at 1.1e-6


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_graded_and_collinear_columns(penalty: str) -> None:
    """A quadratic kernel of raw features, of values from 1 to 1e13 and rank 6, is certified."""
    rng = np.random.default_rng(0)
    X = 1000.0 * rng.normal(size=(80, 2))
    labels = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 > 1.5e6, 1.0, -1.0)
    K = (X @ X.T + 1.0) ** 2
    formulation = Formulation("hinge", penalty, "free", "free")
    problem = Problem(K, labels, np.ones(80), 0.0)
    master = formulation.master(problem.loss(formulation))
    result = ColumnGeneration(master, FeaturePricer(K), tol=1e-4, columns_per_round=5).run()
    assert result.gap <= 1e-4
    assert isinstance(master._dual.session, InteriorSession)
    assert len(master._dual.columns.large) <= 6


def test_directions_and_residuals_make_the_columns() -> None:
    """Restored coefficients give the output of directions and residuals, whatever came when."""
    rng = np.random.default_rng(1)
    store = ColumnStore(30, centred=True, large=LARGE)
    H = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 12)) * 1e7 + rng.normal(size=(30, 12))
    for some in np.split(H.T, 3):
        store.append(list(some))
    assert len(store.large) == 4
    rest = store.scaled(np.arange(12), np.arange(30)) * store.scales
    assert np.abs(rest).max() < LARGE
    assert not rest[:, store.large.pivots].any()
    coef, free = rng.normal(size=12), rng.normal(size=4)
    output = rest @ coef + store.large.basis @ free
    whole = store.combine(store.large.restore(coef, free))
    assert np.allclose(whole, output, atol=1e-6)


def test_couplings_give_the_scores_of_the_columns() -> None:
    """Scores of pivots and residuals determine all scores."""
    rng = np.random.default_rng(2)
    H = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 5)) * 1e6
    large = LargeColumns(20, LARGE)
    rest, _ = large.take(H, np.arange(5))
    r = rng.normal(size=20)
    w = H[:, large.pivots].T @ r
    in_directions, others, in_others = large.couplings()
    assert np.allclose(w @ in_directions, large.basis.T @ r)
    assert np.allclose((rest.T @ r)[others] + w @ in_others, (H.T @ r)[others])


def test_levelled_stays_in_the_box_and_hits_the_scores() -> None:
    """Rows at an end stay there, the others bring the scores to where they should be."""
    rng = np.random.default_rng(3)
    directions = np.linalg.qr(rng.normal(size=(40, 3)))[0]
    r = np.clip(rng.uniform(-0.3, 1.3, 40), 0.0, 1.0)
    r = np.where(rng.random(40) < 0.3, np.round(r), r)
    near = np.clip(r + 1e-6 * rng.normal(size=40) * (r * (1 - r)), 0.0, 1.0)
    wanted = directions.T @ r
    found = levelled(
        near, np.zeros(40), np.ones(40), directions, lambda at: directions.T @ at - wanted
    )
    assert np.abs(directions.T @ found - wanted).max() <= 1e-15
    assert found.min() >= 0.0
    assert found.max() <= 1.0
    at_end = (near == 0.0) | (near == 1.0)
    assert np.array_equal(found[at_end], near[at_end])


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_no_large_column_changes_nothing(penalty: str) -> None:
    """With columns of common size the session is the one that it was."""
    problem = random_problem(5)
    formulation = Formulation("hinge", penalty, "free", "free")
    loss = problem.loss(formulation)
    master = formulation.master(replace(loss, lower=10.0 * loss.lower, upper=10.0 * loss.upper))
    master.add(columns_of(problem.H))
    master.solve()
    assert not len(master._dual.columns.large)
