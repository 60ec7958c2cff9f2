"""Decision stumps: all of them, and the best of those between bins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cgboost import ColumnGeneration
from cgboost.generation.columns import evaluate
from cgboost.generation.protocols import MasterState
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.masters.stagewise.stagewise import DescentEntry
from cgboost.pricing.learners.class_learners import ClassStumps
from cgboost.pricing.univariate.stumps import (
    CONSTANT_STUMP,
    BinnedStumpPricer,
    Stump,
    StumpPool,
    StumpPricer,
)
from cgboost.tables.histograms import BinnedFeatures, thresholds
from tests.effort import examples
from tests.pricing import cases

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
    """Ties, constants, duplicates, neighbouring floats: the columns are all, the scores r·h.

    Values and hypotheses agree on the training rows.
    """
    pool = StumpPool(X)
    response = np.random.default_rng(seed).normal(size=len(X))
    columns = whole_pool(pool)
    assert set(map(tuple, columns.T)) == brute_force(X)
    np.testing.assert_allclose(pool.scores(0, None, response), columns.T @ response, atol=1e-12)
    functions = [pool.column(0, index).hypothesis for index in range(pool.size(0))]
    np.testing.assert_array_equal(columns, evaluate(functions, X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("low", [0.0, 1.0, -1.0, 1e-30, 3e38])
def test_neighbouring_floats_are_separated(dtype, low):
    """Between two neighbouring floats, or two very large ones, the threshold separates them.

    Where there is room it is the middle of its neighbours.
    """
    low = dtype(low)
    X = np.array([[low], [np.nextafter(low, dtype(np.inf))]], dtype=dtype)
    np.testing.assert_array_equal(whole_pool(StumpPool(X)), [[-1, 1], [1, 1]])
    large = np.finfo(dtype).max
    assert np.isfinite(StumpPool(np.array([[large / 2], [large]]))._threshold).all()
    assert StumpPool(np.array([[1.0], [4.0], [2.0], [2.0]]))._threshold.tolist() == [1.5, 3.0]


def test_constant_features_leave_the_constant_alone():
    """Features without two values have no threshold; a float32 matrix is not copied."""
    X = np.ones((5, 3), dtype=np.float32)
    pool = StumpPool(X)
    assert pool.X is X
    assert (pool.size(0), pool.stump(0)) == (1, Stump(CONSTANT_STUMP, -np.inf))
    np.testing.assert_array_equal(whole_pool(pool), np.ones((5, 1)))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        *(
            (lambda X=X: StumpPool(X), "X must be a finite, non-empty matrix, got shape")
            for X in (np.ones(3), np.array([[np.nan]]), np.ones((0, 2)), np.ones((2, 0)))
        ),
        (lambda: BinnedStumpPricer(np.array([[np.nan], [1.0]])), "X must be a finite, non-empty"),
        (lambda: BinnedFeatures(np.ones((3, 1)), 1), "max_bins must be at least 2, got 1"),
        (
            lambda: BinnedStumpPricer(np.ones((3, 1))).price(state_of(np.ones(2)), 1),
            "X has 3 rows, the master has 2",
        ),
    ],
)
def test_bad_input(make, words):
    """Features that are no finite matrix, too few bins and another number of rows are named."""
    with pytest.raises(ValueError, match=words):
        make()


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


# ---------------------------------------------------------------------------- bins


def state_of(response: np.ndarray, *, two_sided: bool = True) -> MasterState:
    """The state of a master at the start, with this pseudo-response."""
    return cases.state_of(response, DescentEntry(1.0, two_sided=two_sided), np.abs(response))


def features(n_rows: int = 60) -> np.ndarray:
    """A continuous, a rounded, a binary and a constant feature."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n_rows, 4))
    return np.column_stack([Z[:, 0], Z[:, 1].round(), Z[:, 2] > 1, np.full(n_rows, 3.0)])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_with_a_bin_for_every_value_the_best_of_all_stumps_is_found(dtype):
    """|r·h| is the largest of the exhaustive pool, and the column is its hypothesis."""
    X = features().astype(dtype)
    for seed in range(20):
        response = np.random.default_rng(seed).normal(size=60) + (seed % 3 - 1.0) * (X[:, 1] > 0)
        [column] = BinnedStumpPricer(X).price(state_of(response), 1).columns
        best = np.abs(StumpPool(X).scores(0, None, response)).max()
        assert abs(response @ column.values) == pytest.approx(best, rel=1e-12)
        np.testing.assert_array_equal(evaluate([column.hypothesis], X)[:, 0], column.values)


def test_the_constant_is_a_stump():
    """Where all responses have one sign, or no feature varies, the constant 1 is the column."""
    response = np.random.default_rng(0).uniform(1, 2, size=60)
    for X in (features(), np.ones((60, 2))):
        for sign in (1.0, -1.0):
            [column] = BinnedStumpPricer(X).price(state_of(sign * response), 1).columns
            assert column.hypothesis.feature == CONSTANT_STUMP
            np.testing.assert_array_equal(column.values, 1.0)


def test_one_sided_masters_are_offered_a_way_down():
    """Where steps are positive the column is the best of positive score, if there is any."""
    X, response = features(), np.random.default_rng(3).normal(size=60) - 0.8
    [column] = BinnedStumpPricer(X).price(state_of(response, two_sided=False), 1).columns
    scores = StumpPool(X).scores(0, None, response)
    assert scores.max() < np.abs(scores).max()
    assert response @ column.values == pytest.approx(scores.max())
    assert (
        not BinnedStumpPricer(np.ones((60, 1)))
        .price(state_of(response * 0 - 1.0, two_sided=False), 1)
        .columns
    )


def test_a_stump_that_leads_nowhere_is_not_offered():
    """Neither with r = 0, nor where only rounding keeps all scores from 0, nor without a limit.

    A score is rounding beside Σ|r|, whatever the size of r.
    """
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    response = np.array([1.0, -1.0, -1.0, 1.0 + 1e-15])
    pricer = BinnedStumpPricer(X)
    assert not pricer.price(state_of(response), 1).columns
    assert not pricer.price(state_of(np.zeros(4)), 1).columns
    assert not pricer.price(state_of(response + 1), 0).columns
    assert not pricer.price(state_of(response), 1).exact
    pricer = BinnedStumpPricer(np.zeros((2, 1)))
    for size in (1.0, 1e6):
        response = size * np.array([1.0, -1.0 + 1e-13])
        assert not pricer.price(state_of(response), 1).columns
        assert pricer.price(state_of(response + 1e-9 * size), 1).columns


@pytest.mark.parametrize("max_bins", [2, 7, 255])
def test_bins_of_about_equally_many_rows(max_bins):
    """No bin has more than two equal shares of the rows, apart from one of a single value."""
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.exponential(size=2000), np.zeros(500)])
    cuts = thresholds(values, max_bins)
    counts = np.histogram(values, [-np.inf, *cuts, np.inf])[0]
    assert len(cuts) <= max_bins - 1
    assert np.all(np.diff(cuts) > 0)
    assert not np.isin(cuts, values).any()
    # as many values as bins are all cut, and a heavy last value has no bin beyond it
    few, heavy = np.array([0.0] * 7 + [1.0, 2.0, 3.0]), np.array([0.0, 1, 2, 3] + [4.0] * 20)
    np.testing.assert_array_equal(thresholds(few, 4), [0.5, 1.5, 2.5])
    np.testing.assert_array_equal(thresholds(heavy, 3), [3.5])
    sizes = [len(np.unique(values[np.searchsorted(cuts, values) == b])) for b in range(len(counts))]
    assert np.all((counts <= 2 * len(values) / max_bins) | (np.array(sizes) == 1))


def test_few_bins_find_the_best_stump_between_them():
    """With fewer bins than values the column is the best over the cuts."""
    X = np.random.default_rng(0).normal(size=(500, 3))
    response = np.random.default_rng(1).normal(size=500)
    pricer = BinnedStumpPricer(X, max_bins=8)
    [column] = pricer.price(state_of(response), 1).columns
    cuts = pricer.bins.thresholds
    best = max(abs(response @ np.where(X[:, f] > t, 1.0, -1.0)) for f in range(3) for t in cuts[f])
    assert abs(response @ column.values) == pytest.approx(best)


def test_class_stumps_make_the_fewest_weighted_errors():
    """Over all thresholds, and all pairs of classes on both sides of it."""
    X, labels = features(), np.random.default_rng(0).integers(0, 4, size=60)
    for seed in range(10):
        weights = np.random.default_rng(seed).exponential(size=60)
        stump = ClassStumps(X, labels, 4)(weights)
        fewest = min(
            weights[np.where(X[:, f] > t, a, b) != labels].sum()
            for f in range(4)
            for t in [-np.inf, *X[:, f]]
            for a in range(4)
            for b in range(4)
        )
        assert weights[stump.predict(X) != labels].sum() == pytest.approx(fewest)


def test_class_stumps_may_be_constant():
    """Without a feature that varies the heaviest class is predicted."""
    labels = np.array([0, 1, 2, 2])
    stump = ClassStumps(np.ones((4, 1)), labels, 3)(np.array([1.0, 5.0, 2.0, 2.0]))
    assert (stump.cut.feature, stump.above, stump.below) == (CONSTANT_STUMP, 1, 1)
    np.testing.assert_array_equal(stump.importances(1), [0.0])


def test_more_bins_than_codes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bins beyond the largest code would be taken for others; up to it they are taken."""
    X = np.arange(8.0).reshape(4, 2)
    monkeypatch.setattr("cgboost.tables.histograms.LARGEST_CODE", 4)
    assert BinnedFeatures(X, 2).thresholds.shape == (2, 2)
    monkeypatch.setattr("cgboost.tables.histograms.LARGEST_CODE", 3)
    with pytest.raises(ValueError, match="too large for 2 bins a feature"):
        BinnedFeatures(X, 2)


def test_sums_over_blocks_are_those_over_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all rows, and of parts of some, however many are summed at a time."""
    rng = np.random.default_rng(0)
    X, columns = rng.normal(size=(50, 3)), rng.integers(0, 9, (50, 2)).astype(float)
    rows, part = np.arange(0, 50, 2), np.arange(25, dtype=np.int32) % 2
    for at_once in (2**15, 7):
        monkeypatch.setattr("cgboost.tables.histograms.ROWS_SUMMED", at_once)
        bins = BinnedFeatures(X, 4).rows
        wanted = np.zeros((3, bins.n_bins, 2))
        for feature in range(3):
            np.add.at(wanted[0], bins.numbers[:, feature], columns)
            np.add.at(wanted, (1 + part, bins.numbers[rows, feature]), columns[rows])
        np.testing.assert_array_equal(bins.sums(columns), wanted[0])
        np.testing.assert_array_equal(bins.sums_by_part(rows, part, 2, columns[rows]), wanted[1:])
