"""Shallow trees for boosting: splits against brute force, models against normal equations."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.additive.trees import boosted_tree_growth
from cgboost.additive.trees.boosted_tree_growth import GrownTree, TreeGrower
from cgboost.additive.trees.boosted_trees import CodedRows, WorkingResponse, without_far_values
from cgboost.additive.trees.split_search import CATEGORY_PRIOR
from cgboost.parallel.threads import Threads
from cgboost.tables.binning import Categories, FeatureGroups, Intervals, intervals_of
from cgboost.tables.row_blocks import TableRows
from tests.effort import examples

RIDGE, SMALLEST = 2.0, 5.0


def table(seed: int, n_rows: int = 300) -> tuple[np.ndarray, list[FeatureGroups], WorkingResponse]:
    """Two numbers with gaps, one with few values, categories; a response and uneven weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    X[:, 2] = np.round(X[:, 2])
    X[:, 3] = rng.integers(0, 5, n_rows)
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + (X[:, 3] == 2) + 0.1 * rng.normal(size=n_rows)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    counts = rng.integers(0, 3, n_rows).astype(float)
    weights = counts * rng.uniform(0.2, 1.0, n_rows)
    groups: list[FeatureGroups] = [intervals_of(X[:, j], np.ones(n_rows), 8) for j in range(3)]
    return X, [*groups, Categories(5)], WorkingResponse(y, weights, counts)


def grower(
    X: np.ndarray, groups: list[FeatureGroups], training: np.ndarray, **options: Any
) -> TreeGrower:
    """With two levels and three regressors, unless asked otherwise."""
    given = {"max_depth": 2, "min_samples_leaf": SMALLEST, "max_regressors": 3, "ridge": RIDGE}
    return TreeGrower(CodedRows.of(TableRows(X), groups), training, **(given | options))


def grown(
    X: np.ndarray, groups: list[FeatureGroups], working: WorkingResponse, **options: Any
) -> GrownTree:
    """The tree of a response."""
    return grower(X, groups, working.counts, **options).grown(working)


def regressors(X: np.ndarray, groups: list[FeatureGroups]) -> np.ndarray:
    """X in its range, missing values in the middle of the edges; up to a unit what trees have."""
    columns = []
    for j, own in enumerate(groups):
        if isinstance(own, Intervals):
            bounded = without_far_values(own)
            x = np.clip(X[:, j], bounded.low, bounded.high) - np.median(own.edges)
            columns.append(np.nan_to_num(x / (bounded.high - bounded.low)))
    return np.column_stack(columns)


def ridge(
    z: np.ndarray, working: WorkingResponse, rows: np.ndarray, variance: np.ndarray
) -> np.ndarray:
    """Values of the model of some rows, by augmented least squares."""
    root = np.sqrt(working.weights[rows])
    A = np.column_stack([root, root[:, None] * z[rows]])
    penalty = np.column_stack([np.zeros(len(variance)), np.diag(np.sqrt(RIDGE * variance))])
    b = np.append(root * working.response[rows], np.zeros(len(variance)))
    beta = np.linalg.lstsq(np.vstack([A, penalty]), b, rcond=None)[0]
    return beta[0] + z[rows] @ beta[1:]


def candidates(
    X: np.ndarray, groups: list[FeatureGroups], working: WorkingResponse, left_over: np.ndarray
) -> Iterator[tuple[int, np.ndarray]]:
    """Every split: the feature, and which rows go to the left."""
    for j, own in enumerate(groups):
        codes, missing = own.codes(X[:, j]), own.n_groups - 1
        order = np.arange(missing)
        if not own.ordered:
            h = np.bincount(codes, working.weights, own.n_groups)[:missing]
            r = np.bincount(codes, working.weights * left_over, own.n_groups)[:missing]
            order = np.argsort(r / (h + CATEGORY_PRIOR))
        for last in range(1, missing + 1):
            left = np.isin(codes, order[:last])
            yield j, left
            yield j, left | (codes == missing)


def gain(
    j: int,
    left: np.ndarray,
    groups: list[FeatureGroups],
    codes: np.ndarray,
    z: np.ndarray,
    working: WorkingResponse,
    left_over: np.ndarray,
) -> float:
    """What the split takes off, from its definition, row by row."""
    w, counts = working.weights, working.counts
    share = counts / counts.sum()
    mean = share @ z
    variance = share @ (z - mean) ** 2
    if min(counts[left].sum(), counts[~left].sum()) < SMALLEST:
        return -np.inf
    x = np.zeros(len(w))
    if groups[j].ordered:
        sums = np.bincount(codes, counts * z[:, j], groups[j].n_groups)
        size = np.bincount(codes, counts, groups[j].n_groups)
        x = (sums / np.where(size > 0, size, 1.0))[codes]

    def score(rows: np.ndarray) -> float:
        h, r = w[rows], left_over[rows]
        total = (h @ r) ** 2 / h.sum()
        away = x[rows] - h @ x[rows] / h.sum()
        spread = h @ away**2
        if spread > 1e-12:
            total += (h @ (away * r)) ** 2 / (spread + RIDGE * variance[j])
        return float(total)

    changes = []
    for k in range(z.shape[1]):
        if k != j:
            u = w * left_over * (z[:, k] - mean[k]) / np.sqrt(variance[k])
            parts = [u[rows].sum() ** 2 / (w[rows].sum() + RIDGE) for rows in (left, ~left)]
            changes.append(sum(parts))
    return score(left) + score(~left) - score(np.ones(len(w), dtype=bool)) + max(changes)


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_first_split_is_the_best_of_all(seed: int) -> None:
    """Of all features, places and sides of missing values, scored row by row; and its models."""
    X, groups, working = table(seed)
    found = grown(X, groups, working, max_depth=1)
    z = regressors(X, groups)
    share = working.counts / working.counts.sum()
    variance = share @ (z - share @ z) ** 2
    everyone = np.ones(len(X), dtype=bool)
    left_over = working.response - ridge(z, working, everyone, variance)
    codes = [own.codes(X[:, j]) for j, own in enumerate(groups)]

    def worth(j: int, left: np.ndarray) -> float:
        return gain(j, left, groups, codes[j], z, working, left_over)

    best = max(worth(*split) for split in candidates(X, groups, working, left_over))
    root = found.tree.nodes[0]
    assert worth(root.feature, root.child[codes[root.feature]] == 0) == pytest.approx(best)
    values = found.values(grower(X, groups, working.counts).rows.z)
    for leaf in found.tree.leaves:
        rows = found.place == leaf
        np.testing.assert_allclose(values[rows], ridge(z, working, rows, variance), atol=1e-9)
        assert found.tree.nodes[leaf].count == pytest.approx(working.counts[rows].sum())


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_order_and_blocks_of_rows_do_not_matter(seed: int) -> None:
    """Any order, blocks of any size, and threads give the same function."""
    X, groups, working = table(seed)
    wanted = grown(X, groups, working).tree.predict(X)
    order = np.random.default_rng(seed).permutation(len(X))
    shuffled = WorkingResponse(*(part[order] for part in working))
    found = grown(X[order], groups, shuffled).tree.predict(X)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boosted_tree_growth, "BLOCK", 1 + seed % 100)
        for threads in (1, 3):
            found = grown(X, groups, working, mapped=Threads(threads)).tree.predict(X)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_weights_are_repetitions(seed: int) -> None:
    """A row of weight 2 is a row that comes twice, one of weight 0 is none."""
    X, groups, working = table(seed)
    heavy = WorkingResponse(working.response, working.counts, working.counts)
    many = np.repeat(np.arange(len(X)), working.counts.astype(int))
    ones = np.ones(len(many))
    long = grown(X[many], groups, WorkingResponse(working.response[many], ones, ones))
    found = grown(X, groups, heavy)
    np.testing.assert_allclose(found.tree.predict(X), long.tree.predict(X), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.gains, long.gains, atol=1e-7)


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 10**6), depth=st.integers(0, 4))
def test_a_tree_leads_down(seed: int, depth: int) -> None:
    """The response is no shorter along the tree than the tree itself: a step of 1 is no too far."""
    X, groups, working = table(seed)
    found = grown(X, groups, working, max_depth=depth)
    h, values = working.weights, found.tree.predict(X)
    assert h @ (values * working.response) >= h @ values**2 * (1 - 1e-9)
    assert found.tree.depth <= depth
    assert min(found.tree.nodes[leaf].count for leaf in found.tree.leaves) >= SMALLEST
    grid = grower(X, groups, working.counts).rows.z
    np.testing.assert_allclose(found.values(grid), values, atol=1e-12)
    assert np.array_equal(found.tree.apply(X), found.place)


def test_a_product_is_found_that_shows_along_no_feature() -> None:
    """Where the slope of one feature changes with another, one of the two splits."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(2000, 5))
    ones = np.ones(len(X))
    groups: list[FeatureGroups] = [intervals_of(x, ones, 32) for x in X.T]
    working = WorkingResponse(X[:, 1] * X[:, 3], ones, ones)
    found = grown(X, groups, working, max_depth=1, max_regressors=5)
    assert found.tree.nodes[0].feature in (1, 3)
    left_over = working.response - found.tree.predict(X)
    assert left_over.var() < 0.3 * working.response.var()
    assert found.gains[[1, 3]].sum() > 0.99 * found.gains.sum()


@pytest.mark.parametrize("missing_like", ["small", "large", "neither"])
def test_missing_values_go_where_they_fit(missing_like: str) -> None:
    """To the branch that is like them, or apart from all values."""
    x = np.repeat([*range(8), np.nan], 25)
    like = {"small": 0.0, "large": 9.0, "neither": 99.0}[missing_like]
    y, ones = np.where(np.isnan(x), like, np.where(x < 4.0, 0.0, 9.0)), np.ones(len(x))
    found = grown(x[:, None], [intervals_of(x, ones, 8)], WorkingResponse(y, ones, ones))
    np.testing.assert_allclose(found.tree.predict(x[:, None]), y, atol=0.05)
    child = found.tree.nodes[0].child
    assert (child[-1] == child[0], child[-1] == child[-2]) == {
        "small": (True, False),
        "large": (False, True),
        "neither": (False, False),
    }[missing_like]


def test_unseen_categories_join_no_branch() -> None:
    """Nor do missing ones, where there are none: they have nothing beside what all rows have."""
    x = np.repeat([0.0, 1.0, 3.0], [20, 30, 100])
    ones = np.ones(150)
    working = WorkingResponse(np.where(x == 3.0, 5.0, 0.0), ones, ones)
    found = grown(x[:, None], [Categories(4)], working)
    assert found.tree.predict(np.array([[2.0], [np.nan], [7.0]])) == pytest.approx(0.0)


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_equal_constant_and_absent_regressors(penalty: float) -> None:
    """Twins share a slope, constants have none, categories alone make constants."""
    rng = np.random.default_rng(1)
    x, ones = rng.uniform(-1, 1, 200), np.ones(200)
    X = np.column_stack([x, x, np.full(200, 3.0)])
    groups: list[FeatureGroups] = [intervals_of(column, ones, 8) for column in X.T]
    working = WorkingResponse(2.0 * x, ones, ones)
    found = grown(X, groups, working, ridge=penalty, max_depth=1)
    np.testing.assert_allclose(found.tree.predict(X), 2.0 * x, atol=0.2 * penalty + 1e-9)
    assert np.isfinite(found.tree.predict(np.full((3, 3), np.nan))).all()
    few = grown(np.round(X[:, :1]), [Categories(2)], working, ridge=penalty)
    assert all(not node.coef.size for node in few.tree.nodes)


def test_lines_end_where_values_are_far_out() -> None:
    """Three interquartile ranges beyond the quartiles; what has no such values stays as it is."""
    rng = np.random.default_rng(0)
    skewed, even = np.exp(2.0 * rng.normal(size=2000)), rng.uniform(size=2000)
    for x, cut in ((skewed, True), (even, False)):
        groups = intervals_of(x, np.ones(2000), 64)
        bounded = without_far_values(groups)
        first, third = np.quantile(groups.edges, [0.25, 0.75])
        limit = third + 3.0 * (third - first)
        assert bounded.high == pytest.approx(limit if cut else groups.high)
        assert bounded.low == groups.low
        np.testing.assert_array_equal(bounded.edges, groups.edges)
    few = intervals_of(np.array([0.0] * 9 + [1.0]), np.ones(10), 64)
    assert without_far_values(few) is few
    assert without_far_values(Categories(3)).count == 3
