"""Leaves are merged until no more can be had on the holdout rows; all of it from statistics."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.additive.statistics.moments import (
    Moments,
    full,
    stepwise,
)
from cgboost.additive.statistics.passes import SplitMoments
from cgboost.additive.statistics.products import SharedGroupProducts, origins
from cgboost.additive.trees.merging import MERGE_RIDGE
from cgboost.additive.trees.transformation import (
    Transformation,
    judges,
    straight,
    together,
    transformation,
    transformations,
)
from cgboost.tables.binning import Categories, FeatureGroups, intervals_of
from tests.effort import examples


def statistics(
    groups: FeatureGroups, x: np.ndarray, y: np.ndarray, z: np.ndarray | None = None
) -> Moments:
    """Of (x, z, y) in each group."""
    others = np.zeros((len(x), 0)) if z is None else z
    shared = SharedGroupProducts(np.column_stack([others, y]), np.ones(len(x)))
    centres = groups.regressor(groups.centres)
    return shared.grouped_with(groups.regressor(x), groups.codes(x), groups.n_groups, centres)


def tree(
    x: np.ndarray,
    y: np.ndarray,
    *,
    bins: int = 40,
    held: np.ndarray | None = None,
    groups: FeatureGroups | None = None,
    z: np.ndarray | None = None,
) -> Transformation:
    """Every third row is held out."""
    held = np.arange(len(x)) % 3 == 0 if held is None else held
    groups = groups or intervals_of(x, np.ones(len(x)), bins)
    parts = [
        statistics(groups, x[rows], y[rows], None if z is None else z[rows])
        for rows in (~held, held)
    ]
    return transformation(0, groups, *parts)


def breaks(found: Transformation) -> np.ndarray:
    """Edges where the leaf changes."""
    return found.groups.edges[np.diff(found.leaf[:-1]) != 0]


def test_breakpoints_of_a_piecewise_linear_function_are_found() -> None:
    """Each piece is a leaf with the slope and the level of the piece."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 3, size=6000)
    y = np.select([x < 1, x < 2], [2 * x, 3 - x], 5.0)
    found = tree(x, y + 0.01 * rng.normal(size=6000), bins=30)
    np.testing.assert_allclose(breaks(found)[[0, -1]], [1, 2], atol=0.1)
    at = np.array([0.5, 1.5, 2.5])
    leaf = found.leaf[found.groups.codes(at)]
    np.testing.assert_allclose(found.slope[leaf], [2, -1, 0], atol=0.05)
    np.testing.assert_allclose(found(at, np.zeros((3, 0))), [1.0, 1.5, 5.0], atol=0.02)


@pytest.mark.parametrize("categories", [False, True])
def test_coefficients_of_earlier_outputs_depend_on_the_leaf(categories: bool) -> None:
    """Of intervals, and of categories that have the same mean; a sum with a line keeps them."""
    rng = np.random.default_rng(0)
    x, z = rng.integers(0, 8, size=4000).astype(float), rng.normal(size=(4000, 3))
    first = x % 2 == 0 if categories else x < 4
    y = np.where(first, 2 * z[:, 1], -z[:, 1]) + 0.1 * rng.normal(size=4000)
    found = tree(x, y, z=z, groups=Categories(8) if categories else None)
    near = np.arange(8.0)
    leaf = found.leaf[found.groups.codes(near)]
    assert len(set(leaf.tolist())) == 2
    wanted = np.where(near % 2 == 0 if categories else near < 4, 2.0, -1.0)
    np.testing.assert_allclose(found.coef[leaf, 1], wanted, atol=0.05)
    line = straight(0, found.groups, statistics(found.groups, x, x))
    both, gone = together([(0.7, found), (-2.0, line)]), np.where(x == 3, np.nan, x)
    np.testing.assert_allclose(
        both(gone, z), 0.7 * found(gone, z) - 2.0 * line(gone, z), atol=1e-12
    )


def test_a_line_is_one_leaf_and_noise_is_a_constant() -> None:
    """What does not help on the holdout rows is not there."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000)
    line = tree(x, 3 * x + rng.normal(size=3000))
    assert len(set(line.leaf[:-1])) == 1
    np.testing.assert_allclose(line.slope[line.leaf[0]], 3, atol=0.1)
    assert sum(tree(x, rng.normal(size=3000)).is_constant for _ in range(20)) >= 17


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_an_offset_of_the_feature_does_not_matter(offset: float) -> None:
    """The same leaves, and predictions to 1e-7 (the values have 1.5e-8 left)."""
    rng = np.random.default_rng(0)
    x = np.round(rng.uniform(0, 4, size=3000), 3)
    y = np.abs(x - 2) + 0.05 * rng.normal(size=3000)
    near, far = tree(x, y), tree(x + offset, y)
    np.testing.assert_array_equal(near.leaf, far.leaf)
    none = np.zeros((3000, 0))
    np.testing.assert_allclose(near(x, none), far(x + offset, none), atol=1e-7)


def test_categories_with_equal_means_merge() -> None:
    """In any order of their numbers; the leaf is the mean of their rows."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 8, size=4000).astype(float)
    level = np.array([1.0, 5.0, 1.0, 3.0, 5.0, 1.0, 3.0, 3.0])
    found = tree(x, level[x.astype(int)] + 0.1 * rng.normal(size=4000), groups=Categories(8))
    for a, b in itertools.combinations(range(8), 2):
        assert (found.leaf[a] == found.leaf[b]) == (level[a] == level[b])
    np.testing.assert_allclose(found.intercept[found.leaf[:8]], level, atol=0.02)
    assert not found.slope.any()


def test_unseen_categories_have_the_mean_of_all() -> None:
    """A leaf that no row is in; missing ones merge with others where there are some."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, size=900).astype(float)
    y = 2.0 * x + 0.1 * rng.normal(size=900)
    held = np.arange(900) % 3 == 0
    found = tree(x, y, groups=Categories(3), held=held)
    np.testing.assert_allclose(found(np.array([np.nan]), np.zeros((1, 0))), y[~held].mean())
    gone = np.where(x == 1, np.nan, x)
    missing = tree(gone, np.where(x == 2, 0.0, y), groups=Categories(3))
    values = missing(np.array([np.nan, 0.0, 2.0]), np.zeros((3, 0)))
    np.testing.assert_allclose(values, [2, 0, 0], atol=0.05)


@pytest.mark.parametrize("level", [7.0, 0.0])
def test_missing_values_of_a_number_keep_a_leaf_of_their_own(level: float) -> None:
    """Even where their mean is that of others."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=2000)
    y = np.where(np.arange(2000) % 4 == 0, level, 2 * x)
    x[::4] = np.nan
    found = tree(x, y)
    assert (found.leaf[:-1] != found.leaf[-1]).all()
    values = found(np.array([np.nan, 0.5]), np.zeros((2, 0)))
    np.testing.assert_allclose(values, [level, 1.0], atol=1e-12)


def wave() -> tuple[np.ndarray, np.ndarray, np.ndarray, FeatureGroups, list[Moments]]:
    """Noisy rows in intervals, which of them are held out, and statistics of both parts."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=900)
    y = np.sin(9 * x) + 0.3 * rng.normal(size=900)
    held = np.arange(900) % 3 == 0
    groups = intervals_of(x, np.ones(900), 20)
    return x, y, held, groups, [statistics(groups, x[at], y[at]) for at in (~held, held)]


def test_leaves_and_regressors_have_the_least_holdout_error() -> None:
    """Price included, neither the constant nor the groups by themselves would be better."""
    x, y, held, groups, parts = wave()
    found = transformation(0, groups, *parts)
    _, price = judges(*parts)
    missed = (y - found(x, np.zeros((900, 0))))[held]
    n_coef = found.n_leaves + np.count_nonzero(found.slope)
    cost = (missed**2).sum() + price * n_coef
    whole = y[held] - y[~held].mean()
    assert cost < (whole**2).sum() + 2 * price
    alone = stepwise(*parts, price=price)
    assert cost <= alone.holdout.sum() + 1e-9


def test_groups_of_categories_with_noise_are_found_again() -> None:
    """Two true groups of forty categories are two leaves for most seeds, never more than four."""
    counts = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 40, size=6000).astype(float)
        y = np.where(x % 2 == 0, 1.0, 0.0) + rng.normal(size=6000)
        counts.append(len(set(tree(x, y, groups=Categories(40)).leaf[:40])))
    assert np.median(counts) == 2
    assert max(counts) <= 4


def test_inputs_of_a_stage_do_not_disturb_each_other() -> None:
    """Trees of several inputs made at once are those made one by one."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=2000), rng.uniform(size=2000), np.arange(2000) % 5])
    X[::7, 1] = np.nan
    y = np.abs(X[:, 0]) + np.nan_to_num(X[:, 1]) + (X[:, 2] > 2) + 0.1 * rng.normal(size=2000)
    held = np.arange(2000) % 3 == 0
    inputs = {j: intervals_of(X[:, j], np.ones(2000), 20) for j in (0, 1)} | {2: Categories(5)}
    parts = [
        [statistics(groups, X[rows, j], y[rows]) for j, groups in inputs.items()]
        for rows in (~held, held)
    ]
    together = transformations(list(inputs.items()), *parts)
    for j, groups in inputs.items():
        alone = transformation(j, groups, parts[0][j], parts[1][j])
        np.testing.assert_array_equal(together[j].leaf, alone.leaf)
        np.testing.assert_allclose(together[j].intercept, alone.intercept, rtol=1e-12)
        np.testing.assert_allclose(together[j].slope, alone.slope, rtol=1e-12)


def test_the_input_itself_is_a_term() -> None:
    """A straight line in its range, and the mean of the training rows where it is missing."""
    x = np.append(5 + 2 * np.linspace(0, 1, 101) ** 2, np.nan)
    groups = intervals_of(x, np.ones(102), 10)
    line = straight(0, groups, statistics(groups, x, x))
    values = line(np.array([5.0, 6.0, 9.0, np.nan]), np.zeros((4, 0)))
    np.testing.assert_allclose(values - values[0], [0, 1, 2, x[:-1].mean() - 5], atol=1e-12)


@pytest.mark.parametrize("held", [True, False])
def test_rounding_errors_make_no_leaves(held: bool) -> None:
    """Of a response that leaves nothing over: a constant, a slope, categories; or of no row."""
    rng = np.random.default_rng(0)
    rows = np.arange(600) % 3 == 0 if held else np.zeros(600, dtype=bool)
    few = np.arange(600.0) % 8
    for groups in (None, Categories(8)):
        found = tree(few, np.full(600, 0.1), held=rows, groups=groups)
        np.testing.assert_allclose(found(np.array([3.0, np.nan]), np.zeros((2, 0))), 0.1)
        assert not found.slope.any()
    for _ in range(30):
        x = rng.normal(size=600)
        assert len(set(tree(x, 3 * x + 0.1, held=rows).leaf[:-1])) == 1
        level = np.repeat(0.1 + rng.permutation(4), 2)
        found = tree(few, level[few.astype(int)], held=rows, groups=Categories(8))
        assert len(set(found.leaf[:8])) == 4
    nothing = Moments.empty(2, 2)
    found = transformation(0, intervals_of(np.zeros(0), np.zeros(0), 4), nothing, nothing)
    assert found.is_constant
    assert found(np.array([1.0, np.nan]), np.zeros((2, 0))).tolist() == [0.0, 0.0]


def test_without_holdout_rows_the_bayesian_criterion_decides() -> None:
    """A step is found, and noise is not fitted."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=2000)
    none = np.zeros(2000, dtype=bool)
    found = tree(x, np.where(x < 0.5, 0.0, 1.0) + 0.1 * rng.normal(size=2000), held=none)
    np.testing.assert_allclose(breaks(found), 0.5, atol=0.03)
    assert tree(x, rng.normal(size=2000), held=none).is_constant


def test_a_single_holdout_row_has_a_price_too() -> None:
    """The variance of the response is that of all rows: one row alone has none."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=100), rng.normal(size=100)
    held = np.arange(100) == 0
    groups = intervals_of(x, np.ones(100), 10)
    _, price = judges(statistics(groups, x[~held], y[~held]), statistics(groups, x[held], y[held]))
    np.testing.assert_allclose(price, 4 * y.var(), rtol=1e-9)


def test_without_holdout_rows_full_models_of_small_groups_make_no_price() -> None:
    """With as many regressors as rows in a group they leave nothing over; noise is still noise."""
    rng = np.random.default_rng(0)
    x, y, z = rng.uniform(size=200), rng.normal(size=200), rng.normal(size=(200, 6))
    groups = intervals_of(x, np.ones(200), 40)
    found = statistics(groups, x, y, z)
    assert full(found, MERGE_RIDGE).sum() < 0.05 * (y**2).sum()
    _, price = judges(found, Moments.empty(len(found), found.mean.shape[1]))
    np.testing.assert_allclose(price, 2.0 * y.var() * np.log(200), rtol=1e-9)
    assert tree(x, y, held=np.zeros(200, dtype=bool), z=z).is_constant


def shaken(sums: np.ndarray, seed: int) -> np.ndarray:
    """Sums of products of six variables and 1, each changed by 1e-13 of its scale."""
    second, first = np.tril_indices(7)
    size = np.sqrt(sums[:, first == second])
    noise = np.random.default_rng(seed).normal(size=sums.shape)
    noise[:, 0] = 0.0  # counts are exact
    return sums + 1e-13 * size[:, first] * size[:, second] * noise


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, 10**6))
def test_rounding_of_the_sums_does_not_decide(seed: int) -> None:
    """The tree is the same: regressors are equal to x, twice there, or constant in groups."""
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 40, size=600)
    near = rng.normal(size=600) * (10.0 ** -rng.choice([2.0, 4.0, 8.0, 20.0], size=40))[place]
    x = rng.normal(size=40)[place] + near  # most groups are narrow
    steps = np.array([0.3, 0.0, 0.7])[np.digitize(x, [-0.5, 0.5])]
    other = rng.normal(size=600)
    z = np.column_stack([x, steps, other, other])
    y = np.round(np.where(x > 0, 3.0 * np.sign(near), other) + 0.1 * rng.normal(size=600), 1)
    groups = intervals_of(x, np.ones(600), 40)
    centres, codes = groups.regressor(groups.centres), groups.codes(x)
    held = rng.uniform(size=600) < 0.3
    shared = SharedGroupProducts(np.column_stack([z, y]), np.ones(600))
    away = groups.regressor(x) - centres[codes]
    sums = shared.sums(away, codes + groups.n_groups * held, 2 * groups.n_groups)
    origin = origins(np.tile(centres, 2), shared.origin)
    one, two = (
        transformation(0, groups, parts.training, parts.holdout)
        for own in (sums, shaken(sums, seed))
        for parts in [SplitMoments.of(Moments.from_sums(own, origin)).without_noise(groups)]
    )
    np.testing.assert_array_equal(one.leaf, two.leaf)
    np.testing.assert_array_equal(one.slope != 0, two.slope != 0)
    np.testing.assert_array_equal(one.coef != 0, two.coef != 0)
