"""The sorted 1-norm: optima of CVXPY, ties of coefficients, and an exact certificate."""

from itertools import combinations, product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import ColumnGeneration
from cgboost.losses import Huber, LogLoss, Quantile, SquaredError, SquaredHinge
from cgboost.masters import OneNormMaster
from cgboost.pricing import SortedL1Pricer, check_pricer
from tests.effort import examples
from tests.problems import assert_certified, optimum

LOSSES = (Quantile(0.3), Huber(0.7), SquaredError(), SquaredHinge(), LogLoss())


def sorted_norm(weights: np.ndarray) -> Any:
    """Σ_i λ_i |α|_(i) in CVXPY: sums of the k largest, weighted by how much λ falls."""
    falls = -np.diff(weights, append=0.0)

    def penalty(a: cp.Expression) -> cp.Expression:
        return sum(d * cp.sum_largest(cp.abs(a), k + 1) for k, d in enumerate(falls))

    return penalty


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features in correlated pairs, numbers, and weights that fall evenly, at random or not."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(30, 4)), 2, axis=1) + 0.2 * rng.normal(size=(30, 8))
    y = X @ rng.choice([-2.0, 0.0, 1.0], 8) + rng.normal(size=30)
    weights = [np.linspace(2.0, 0.2, 8), np.sort(rng.uniform(0, 2, 8))[::-1], np.ones(8)][seed % 3]
    return X, y, rng.uniform(0.5, 3.0) * weights


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("offset", ["free", "none"])
@settings(max_examples=examples(9))
@given(seed=st.integers(0, 10**6), positive=st.booleans())
def test_the_optimum_is_that_of_cvxpy(loss: Any, offset: Any, seed: int, positive: bool) -> None:
    """With a proof, for losses with a box and smooth ones, and Ω(α) is the 1-norm of the sums."""
    X, y, weights = drawn(seed)
    bound = loss.on(np.where(y > 0, 1.0, -1.0) if loss.classification else y, np.full(30, 0.5))
    pricer = SortedL1Pricer(X, weights, positive=positive)
    master = OneNormMaster(bound, coef="nonneg", offset=offset)
    result = ColumnGeneration(master, pricer, tol=1e-8, columns_per_round=5).run()
    coef = "nonneg" if positive else "free"
    assert_certified(
        result, optimum(X, bound.to_cvxpy, sorted_norm(weights), coef=coef, offset=offset)
    )
    alpha = pricer.coefficients(result.columns, result.coef)
    value = pricer.penalty(alpha) + bound.value(X @ alpha + result.intercept)
    assert value == pytest.approx(result.objective, rel=1e-7)
    assert not positive or alpha.min() >= 0


@pytest.mark.parametrize("positive", [False, True])
def test_it_finds_the_best_of_all_signed_sums(positive: bool) -> None:
    """Of 4 features there are 80 with signs, 15 without."""
    X, _, weights = drawn(1)
    X, weights = X[:, :4], weights[:4]
    signs = (1.0,) if positive else (1.0, -1.0)
    every = [
        X[:, list(S)] @ np.array(sign) / weights[: len(S)].sum()
        for k in range(1, 5)
        for S in combinations(range(4), k)
        for sign in product(signs, repeat=k)
    ]
    pricer = SortedL1Pricer(X, weights, positive=positive)
    check_pricer(pricer, np.column_stack(every), two_sided=False)


def test_coefficients_of_alike_features_are_tied() -> None:
    """Twins share a coefficient (Bondell and Reich, theorem 1), and new rows are predicted."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(100, 3)), 2, axis=1) + 0.05 * rng.normal(size=(100, 6))
    y = X @ np.array([1.0, 1.0, -1.0, -1.0, 0.0, 0.0]) + 0.3 * rng.normal(size=100)
    pricer = SortedL1Pricer(X, 20.0 + 4.0 * np.arange(6)[::-1])
    master = OneNormMaster(SquaredError().on(y, np.ones(100)), coef="nonneg")
    result = ColumnGeneration(master, pricer, tol=1e-9).run()
    alpha = pricer.coefficients(result.columns, result.coef)
    assert alpha[0] == pytest.approx(alpha[1], rel=1e-9)
    assert alpha[2] == pytest.approx(alpha[3], rel=1e-9)
    np.testing.assert_array_equal(alpha[4:], 0.0)
    new = rng.normal(size=(5, 6))
    np.testing.assert_allclose(
        result.ensemble.decision_function(new), new @ alpha + result.intercept, atol=1e-12
    )


@pytest.mark.parametrize(
    "weights", [[1.0, 2.0], [1.0], [1.0, -1.0], [0.0, 0.0], [np.nan, 1.0]], ids=str
)
def test_weights_that_make_no_norm_are_refused(weights: list[float]) -> None:
    """One for each feature, not increasing, the first one positive."""
    with pytest.raises(ValueError, match="weights must"):
        SortedL1Pricer(np.ones((3, 2)), weights)
