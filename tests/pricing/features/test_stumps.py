"""Exact stumps: scores against brute force, thresholds that separate, certificates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cgboost import ColumnGeneration
from cgboost.generation.columns import evaluate
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.pricing.features.stumps import CONSTANT_STUMP, Stump, StumpPool, StumpPricer
from tests.effort import examples
from tests.problems import FORMULATIONS, Problem

SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 4))
FEW_VALUES = arrays(np.float64, SHAPES, elements=st.integers(-2, 2).map(float))
ANY_VALUES = arrays(np.float64, SHAPES, elements=st.floats(allow_nan=False, allow_infinity=False))
SINGLE = arrays(
    np.float32, SHAPES, elements=st.floats(allow_nan=False, allow_infinity=False, width=32)
)


def whole_pool(pool):
    """All columns of a pool on its rows, shape (n_rows, n_stumps)."""
    return pool.values(0, np.arange(pool.size(0))).T


def brute_force(X):
    """Every ±1 column that a threshold at or below a value of X can make, as a set of tuples."""
    made = {(1.0,) * len(X)}
    for feature in X.T:
        for threshold in feature[feature < feature.max()]:
            made.add(tuple(np.where(feature > threshold, 1.0, -1.0)))
    return made


@settings(max_examples=examples(60))
@given(st.one_of(FEW_VALUES, ANY_VALUES, SINGLE), st.integers(0, 2**32 - 1))
def test_scores_and_columns_are_those_of_all_thresholds(X, seed):
    """Ties, constants, duplicates, neighbouring floats: the columns are all, the scores r·h."""
    pool = StumpPool(X)
    response = np.random.default_rng(seed).normal(size=len(X))
    columns = whole_pool(pool)
    assert set(map(tuple, columns.T)) == brute_force(X)
    np.testing.assert_allclose(pool.scores(0, None, response), columns.T @ response, atol=1e-12)
    some = np.arange(pool.size(0))[::2]
    np.testing.assert_allclose(
        pool.scores(0, some, response), (columns.T @ response)[some], atol=1e-12
    )


@settings(max_examples=examples(40))
@given(st.one_of(FEW_VALUES, ANY_VALUES, SINGLE))
def test_a_column_is_its_hypothesis_on_the_training_rows(X):
    """Values, single columns and hypotheses agree, and every key occurs once."""
    pool = StumpPool(X)
    columns = [pool.column(0, index) for index in range(pool.size(0))]
    values = np.stack([column.values for column in columns], axis=1)
    np.testing.assert_array_equal(values, whole_pool(pool))
    np.testing.assert_array_equal(values, evaluate([c.hypothesis for c in columns], X))
    assert len({column.key for column in columns}) == pool.size(0)


def test_constant_features_leave_the_constant_alone():
    """Features without two values have no threshold."""
    pool = StumpPool(np.ones((5, 3)))
    assert pool.size(0) == 1
    assert pool.stump(0) == Stump(CONSTANT_STUMP, -np.inf)
    np.testing.assert_array_equal(whole_pool(pool), np.ones((5, 1)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("low", [0.0, 1.0, -1.0, 1e-30, 3e38])
def test_neighbouring_floats_are_separated(dtype, low):
    """Between two neighbouring floats, or two very large ones, the threshold separates them."""
    low = dtype(low)
    X = np.array([[low], [np.nextafter(low, dtype(np.inf))]], dtype=dtype)
    np.testing.assert_array_equal(whole_pool(StumpPool(X)), [[-1, 1], [1, 1]])
    large = np.finfo(dtype).max
    assert np.isfinite(StumpPool(np.array([[large / 2], [large]]))._threshold).all()


def test_thresholds_lie_in_the_middle():
    """Where there is room the threshold is the middle of its neighbours."""
    assert StumpPool(np.array([[1.0], [4.0], [2.0], [2.0]]))._threshold.tolist() == [1.5, 3.0]


def test_float32_features_are_not_copied():
    """The pool keeps the matrix that it was given."""
    X = np.ones((4, 2), dtype=np.float32)
    assert StumpPool(X).X is X


@pytest.mark.parametrize("X", [np.ones(3), np.array([[np.nan]]), np.ones((0, 2)), np.ones((2, 0))])
def test_bad_rows(X):
    """Anything but a finite, non-empty matrix is an error."""
    with pytest.raises(ValueError, match=r"X must be a finite, non-empty matrix, got shape"):
        StumpPool(X)


def test_a_response_of_another_length():
    """A master with other rows is an error that names both numbers."""
    with pytest.raises(ValueError, match="X has 3 rows, the master has 2"):
        StumpPool(np.ones((3, 1))).scores(0, None, np.ones(2))


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_the_loop_reaches_the_optimum_over_all_stumps(formulation):
    """Bound ≤ optimum ≤ objective in every formulation, the optimum by an independent solver."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(20, 3)).astype(float)
    target = X[:, 0] - X[:, 1] + rng.normal(size=20)
    pool = StumpPool(X)
    problem = Problem(whole_pool(pool), target, np.full(20, 0.7), 0.1)
    optimum = problem.optimum(formulation)
    master = formulation.master(problem.loss(formulation))
    result = ColumnGeneration(master, StumpPricer(X, tol=1e-8), tol=1e-8).run()
    assert result.gap <= 1e-6
    assert result.bound <= optimum + 1e-6
    assert result.objective >= optimum - 1e-6


def test_the_constant_stands_for_a_penalized_offset():
    """Without an offset the optimum is that of a penalized offset: the constant is a stump."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 2))
    labels = np.where(X[:, 0] + 0.7 > 0, 1.0, -1.0)
    results = []
    for offset in ("none", "penalized"):
        master = OneNormMaster(hinge(labels, np.ones(30)), offset=offset)
        results.append(ColumnGeneration(master, StumpPricer(X), tol=1e-9).run())
    assert results[0].objective == pytest.approx(results[1].objective, rel=1e-8)
