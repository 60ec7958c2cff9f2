"""Leaves are merged until no more can be had on the holdout rows; all of it from statistics."""

import itertools

import numpy as np
import pytest

from cgboost.additive.statistics.moments import (
    Moments,
    SharedProducts,
    full,
    mean_squares,
    stepwise,
)
from cgboost.additive.tables.preparation import Categories, Groups, intervals_of
from cgboost.additive.trees.transformation import (
    MERGE_RIDGE,
    Transformation,
    _Elements,
    _Merging,
    judges,
    transformation,
)


def statistics(
    groups: Groups, x: np.ndarray, y: np.ndarray, z: np.ndarray | None = None
) -> Moments:
    """Of (x, z, y) in each group."""
    others = np.zeros((len(x), 0)) if z is None else z
    shared = SharedProducts(np.column_stack([others, y]), np.ones(len(x)))
    centres = groups.regressor(groups.centres)
    return shared.grouped_with(groups.regressor(x), groups.codes(x), groups.n_groups, centres)


def tree(
    x: np.ndarray,
    y: np.ndarray,
    *,
    bins: int = 40,
    held: np.ndarray | None = None,
    groups: Groups | None = None,
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


def test_leaves_may_use_earlier_outputs() -> None:
    """The coefficient of a regressor depends on the interval of the feature."""
    rng = np.random.default_rng(0)
    x, z = rng.uniform(-1, 1, size=4000), rng.normal(size=(4000, 3))
    y = np.where(x < 0, 2 * z[:, 1], -z[:, 1]) + 0.1 * rng.normal(size=4000)
    found = tree(x, y, z=z)
    leaf = found.leaf[found.groups.codes(np.array([-0.5, 0.5]))]
    np.testing.assert_allclose(found.coef[leaf, 1], [2, -1], atol=0.05)
    assert np.mean((y - found(x, z)) ** 2) < 0.1  # one interval has the edge in it


def merging(n_groups: int = 12, *, fixed: int = 0) -> _Merging:
    """Of groups with a slope and a regressor."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(400, 3))
    values[:, 2] += np.sin(np.arange(400) / 60)
    codes = np.arange(400) * n_groups // 400
    shared = SharedProducts(values, np.ones(400)).grouped(codes, n_groups)
    return _Merging(_Elements(shared, shared), mean_squares(shared), fixed=fixed)


@pytest.mark.parametrize("fixed", [0, 1])
def test_partitions_are_nested(fixed: int) -> None:
    """Every merger joins two neighbours; what is fixed stays alone."""
    merged = merging(fixed=fixed)
    before = None
    for size in range(len(merged.mergers) + 1):
        chosen, leaf = merged.leaves(size)
        assert len(chosen) == 12 - size
        assert len({tuple(np.flatnonzero(leaf == k)) for k in range(len(chosen))}) == 12 - size
        for k in range(len(chosen)):
            members = np.flatnonzero(leaf == k)
            np.testing.assert_array_equal(members, np.arange(members[0], members[-1] + 1))
            assert before is None or len(set(before[members])) <= 2
        if fixed:
            assert np.count_nonzero(leaf == leaf[-1]) == 1
        before = leaf
    assert len(merged.mergers) == 11 - fixed


def test_each_merger_costs_least() -> None:
    """Of all neighbours, in squared error of models with all regressors, from the statistics."""
    merged = merging()
    for size in range(len(merged.mergers)):
        chosen, leaf = merged.leaves(size)
        order = chosen[np.argsort([np.flatnonzero(leaf == k)[0] for k in range(len(chosen))])]
        alone = full(merged.training[order], MERGE_RIDGE)
        pairs = merged.training[order[:-1]].merged(merged.training[order[1:]])
        costs = full(pairs, MERGE_RIDGE) - alone[:-1] - alone[1:]
        left, right = merged.mergers[size]
        place = order.tolist().index(left)
        assert order[place + 1] == right
        np.testing.assert_allclose(costs[place], costs.min(), rtol=1e-6, atol=1e-9)


def wave() -> tuple[np.ndarray, np.ndarray, np.ndarray, Groups, list[Moments]]:
    """Noisy rows in intervals, which of them are held out, and statistics of both parts."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=900)
    y = np.sin(9 * x) + 0.3 * rng.normal(size=900)
    held = np.arange(900) % 3 == 0
    groups = intervals_of(x, np.ones(900), 20)
    return x, y, held, groups, [statistics(groups, x[at], y[at]) for at in (~held, held)]


def test_errors_of_the_sizes_are_those_of_the_rows() -> None:
    """The holdout error that decides is what the leaves cost on the holdout rows."""
    x, y, held, groups, parts = wave()
    merged = _Merging(_Elements(*parts), mean_squares(parts[0]), fixed=1)
    models = stepwise(merged.training, merged.holdout)
    errors = merged.sizes_and_errors(models.holdout)
    for size in (0, 7, 15, len(merged.mergers)):
        chosen, leaf = merged.leaves(size)
        own = models[chosen]
        at = leaf[groups.codes(x)]
        missed = y - own.intercept[at] - own.coef[at, 0] * x
        np.testing.assert_allclose(errors[size], (missed[held] ** 2).sum(), rtol=1e-9)


def test_the_size_has_the_least_holdout_error() -> None:
    """Neither the fewest leaves nor the most of them would be better, price included."""
    x, y, held, groups, parts = wave()
    found = transformation(0, groups, *parts)
    holdout, price = judges(*parts)
    merged = _Merging(_Elements(parts[0], holdout), mean_squares(parts[0]), fixed=1)
    models = stepwise(merged.training, merged.holdout, price=price)
    errors = merged.sizes_and_errors(models.holdout)
    assert found.n_leaves == 21 - int(np.argmin(errors))
    missed = (y - found(x, np.zeros((900, 0))))[held]
    n_coef = found.n_leaves + np.count_nonzero(found.slope)
    np.testing.assert_allclose((missed**2).sum() + price * n_coef, errors.min(), rtol=1e-9)


@pytest.mark.parametrize("held", [True, False])
def test_a_constant_target_is_a_constant(held: bool) -> None:
    """With and without holdout rows, for numbers and categories."""
    x = np.arange(60.0) % 7
    rows = np.arange(60) % 3 == 0 if held else np.zeros(60, dtype=bool)
    for groups in (None, Categories(7)):
        found = tree(x, np.full(60, 0.1), held=rows, groups=groups)
        np.testing.assert_allclose(found(np.array([3.0, np.nan]), np.zeros((2, 0))), 0.1)
        assert not found.slope.any()


@pytest.mark.parametrize("held", [True, False])
def test_rounding_errors_make_no_leaves(held: bool) -> None:
    """Of a response that leaves nothing over, in numbers with a slope and in categories."""
    rng = np.random.default_rng(0)
    rows = np.arange(600) % 3 == 0 if held else np.zeros(600, dtype=bool)
    for _ in range(30):
        x = rng.normal(size=600)
        assert len(set(tree(x, 3 * x + 0.1, held=rows).leaf[:-1])) == 1
        few = np.arange(600.0) % 8
        level = np.repeat(0.1 + rng.permutation(4), 2)
        found = tree(few, level[few.astype(int)], held=rows, groups=Categories(8))
        assert len(set(found.leaf[:8])) == 4


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


def test_no_rows_at_all() -> None:
    """Statistics of nothing give the constant 0."""
    groups = intervals_of(np.zeros(0), np.zeros(0), 4)
    found = transformation(0, groups, Moments.empty(2, 2), Moments.empty(2, 2))
    assert found.is_constant
    assert found(np.array([1.0, np.nan]), np.zeros((2, 0))).tolist() == [0.0, 0.0]
