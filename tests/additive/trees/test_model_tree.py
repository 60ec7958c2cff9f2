"""Model trees from statistics: splits, growth, the fitted tree."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from cgboost.additive.statistics.moments import Moments
from cgboost.additive.statistics.passes import SplitMoments
from cgboost.additive.trees import model_tree_growth
from cgboost.additive.trees.model_tree import (
    Judge,
    ModelTree,
    ModelTreeNode,
    Regressors,
    large_branches,
    linear_model,
)
from cgboost.additive.trees.model_tree_growth import GrowthLimits, NodePasses, grown, regressors_of
from cgboost.parallel.threads import Threads
from cgboost.tables.binning import Categories, Intervals, intervals_of
from cgboost.tables.row_blocks import TableRows
from cgboost.tables.table_encoding import Schema

LIMITS = GrowthLimits(max_depth=4, min_samples_leaf=5, tol=1e-4)


def groups_of(X: np.ndarray, most: int = 16) -> list:
    """Intervals of every column."""
    return [intervals_of(x, np.ones(len(x)), most) for x in X.T]


def passes_of(X, held=None, weights=None, n_jobs=1):
    """Passes over a table."""
    weights = np.ones(len(X)) if weights is None else weights
    held = np.zeros(len(X), dtype=bool) if held is None else held
    return NodePasses(TableRows(X), weights, held, Threads(n_jobs))


def crossing(n_rows: int = 3000, *, offset: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Two lines in x₁, chosen by x₀; x₂ says nothing."""
    rng = np.random.default_rng(0)
    X = rng.integers(-8, 8, size=(n_rows, 3)) / 8.0
    y = np.where(X[:, 0] < 0.0, 1.0 + X[:, 1], 2.0 - 3.0 * X[:, 1])
    return X + offset, y


def tree_of(X, y, held=None, **limits):
    """A tree with intervals of all columns as regressors."""
    groups = groups_of(X)
    passes = passes_of(X, held)
    chosen = GrowthLimits(**(vars(LIMITS) | limits))
    return grown(passes, groups, Regressors.of(groups, list(range(X.shape[1]))), y, chosen)


def leaf(level: float, *, depth: int = 0, judged: float = 0.0, price: float = 0.0) -> ModelTreeNode:
    """A node without regressors."""
    return ModelTreeNode(level, np.zeros(0), depth, 1.0, judged, judged, price)


# ---------------------------------------------------------------------- the function


def test_regressors_are_measured_from_the_middle():
    """Values are brought to the range, missing ones to the middle; units can be had back."""
    groups = [Intervals(np.array([2.0, 4.0]), 0.0, 10.0), Categories(3)]
    regressors = Regressors.of(groups, [0])
    z = regressors(np.array([[3.0, 0.0], [13.0, 1.0], [-2.0, 2.0], [np.nan, 0.0]]))
    np.testing.assert_allclose(z[:, 0], [0.0, 0.7, -0.3, 0.0])
    for low in (7.0, 0.0):  # one value, or none at all, is no division by 0
        alone = Regressors.of([Intervals(np.zeros(0), low, low)], [0])
        np.testing.assert_array_equal(alone(np.array([[7.0], [np.nan]])), 0.0)
    level, coef = regressors.in_units(1.0, np.array([5.0]))
    assert (level, coef[0]) == (pytest.approx(-0.5), pytest.approx(0.5))


def test_rows_go_where_their_values_belong():
    """Intervals, missing values, unseen categories: the leaf, its value, and the words for it."""
    groups = [Intervals(np.array([0.0, 1.0]), -1.0, 2.0), Categories(2)]
    root = leaf(0.0)
    root.feature, root.child, root.children = 0, np.array([0, 1, 1, 2]), [1, 2, 3]
    below = leaf(1.0, depth=1)
    below.feature, below.child, below.children = 1, np.array([0, 1, 1]), [4, 5]
    nodes = [root, below, leaf(2.0), leaf(3.0), leaf(4.0, depth=2), leaf(5.0, depth=2)]
    tree = ModelTree(groups, Regressors.of(groups, []), nodes, np.zeros(0))
    X = np.array([[-1.0, 0.0], [-1.0, 1.0], [-1.0, np.nan], [0.0, 0.0], [9.0, 0.0], [np.nan, 0.0]])
    np.testing.assert_array_equal(tree.apply(X), [4, 5, 5, 2, 2, 3])
    np.testing.assert_array_equal(tree.predict(X), [4.0, 5.0, 5.0, 2.0, 2.0, 3.0])
    assert (tree.leaves, tree.depth) == ([2, 3, 4, 5], 2)
    words = tree.text(Schema(("a", "b"), (None, {"red": 0, "blue": 1})))
    for line in ("a < 0:", "0 ≤ a:", "a missing:", "b in {red}:", "b in {blue} or any other:"):
        assert line in words


# ---------------------------------------------------------------------- splits


def moments_of(X, y, codes, n_groups):
    """Statistics of groups, each by itself."""
    every = [Moments.of(np.column_stack([X, y])[codes == g], np.ones(np.sum(codes == g)))
             for g in range(n_groups)]  # fmt: skip
    return Moments(*(np.concatenate([getattr(m, name) for m in every])
                     for name in ("count", "mean", "scatter")))  # fmt: skip


@pytest.mark.parametrize("held", [True, False])
def test_linear_models_are_least_squares_on_what_matters(held):
    """The regressor that says something is in, useless ones are not."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 6))
    y = 1.0 + 2.0 * X[:, 3] + 0.1 * rng.normal(size=400)
    one = np.zeros(400, dtype=int)
    parts = SplitMoments(
        moments_of(X[:250], y[:250], one[:250], 1), moments_of(X[250:], y[250:], one[250:], 1)
    )
    if not held:
        parts = SplitMoments(parts.training, Moments.empty(1, 7))
    node = linear_model(parts, Judge(held), 0)
    assert np.flatnonzero(node.coef).tolist() == [3]
    reference = LinearRegression().fit(X[:250, [3]], y[:250])
    assert node.coef[3] == pytest.approx(reference.coef_[0])
    assert node.level == pytest.approx(reference.intercept_)
    rows = slice(250, None) if held else slice(250)
    missed = y[rows] - reference.predict(X[rows][:, [3]])
    assert node.judged == pytest.approx(missed @ missed)


def counts(*values: float) -> Moments:
    """Statistics of groups of so many rows, without regressors, of rising response."""
    n = np.array(values, dtype=float)
    return Moments(n, np.arange(len(n), dtype=float)[:, None], np.zeros((len(n), 1, 1)))


@pytest.mark.parametrize(
    ("leaf", "rows", "ordered", "wanted"),
    [
        ([0, 1, 2], [9, 9, 9], True, [0, 1, 2]),
        ([0, 1, 2], [9, 9, 1], True, [0, 1, 0]),  # missing values: to the largest
        ([0, 1, 2], [9, 9, 0], True, [0, 1, 0]),
        ([0, 1, 2, 3], [8, 2, 9, 9], True, [0, 0, 1, 2]),  # to the smaller neighbour
        ([0, 1, 2, 3], [8, 6, 2, 9], True, [0, 1, 1, 2]),  # never to missing values
        ([0, 1, 1, 2], [2, 1, 1, 9], True, [0, 0, 0, 0]),
        ([0, 1, 2, 3], [6, 0, 9, 0], False, [0, -1, 1, -1]),  # empty categories: to none
        ([2, 1, 0], [6, 7, 2], False, [0, 1, 1]),  # in the order of the response
        ([0, 0, 0], [1, 1, 1], True, [0, 0, 0]),
    ],
)
def test_branches_have_enough_rows(leaf, rows, ordered, wanted):
    """Small branches join a neighbour."""
    child = large_branches(np.array(leaf), counts(*rows), ordered, 5.0)
    np.testing.assert_array_equal(child, wanted)


# ---------------------------------------------------------------------- growth


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_crossing_lines_are_found_exactly(offset, held):
    """Two leaves with the two lines, whether rows are held out or not, far from 0 too."""
    X, y = crossing(offset=offset)
    tree = tree_of(X, y, np.arange(len(y)) % 3 == 0 if held else None)
    assert len(tree.leaves) == 2
    assert tree.nodes[0].feature == 0
    np.testing.assert_allclose(tree.predict(X), y, atol=1e-9)
    assert tree.importances()[2] == 0.0
    assert tree.importances()[0] > 0.5


def test_nodes_know_their_rows_and_errors():
    """Counts and squared errors of the nodes are those of the rows that come to them."""
    rng = np.random.default_rng(2)
    X, y = crossing()
    y = y + 0.3 * rng.normal(size=len(y))
    held = rng.uniform(size=len(y)) < 0.3
    tree = tree_of(X, y, held)
    place, missed = tree.apply(X), (tree.predict(X) - y) ** 2
    assert len(tree.leaves) >= 2
    for number in tree.leaves:
        node, own = tree.nodes[number], place == number
        assert node.count == np.sum(own & ~held)
        assert node.training == pytest.approx(missed[own & ~held].sum())
        assert node.judged == pytest.approx(missed[own & held].sum())


def test_passes_in_parts_are_passes_at_once(monkeypatch):
    """Few nodes a pass, few rows at a time, and several threads give the same tree."""
    rng = np.random.default_rng(3)
    X, y = crossing()
    y = y + np.where(X[:, 2] > 0, X[:, 0], 0.0) + 0.1 * rng.normal(size=len(y))
    held = rng.uniform(size=len(y)) < 0.3
    wanted = tree_of(X, y, held)
    assert wanted.depth > 1
    monkeypatch.setattr(model_tree_growth, "STATISTICS", 1)
    monkeypatch.setattr(model_tree_growth, "PRODUCTS", 1)
    found = tree_of(X, y, held)
    np.testing.assert_allclose(found.predict(X), wanted.predict(X), atol=1e-12)
    groups = groups_of(X)
    threads = grown(
        passes_of(X, held, n_jobs=3), groups, Regressors.of(groups, [0, 1, 2]), y, LIMITS
    )
    np.testing.assert_allclose(threads.predict(X), wanted.predict(X), atol=1e-12)


def test_statistics_of_nodes():
    """They are those of the rows of each group; what is constant in a group has no scatter."""
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.integers(0, 2, size=900), 1e5 * rng.uniform(size=900)])
    X[X[:, 0] == 0, 1] = 99999.0 + 1.0 / 3.0
    y, held = rng.normal(size=900), rng.uniform(size=900) < 0.3
    groups = groups_of(X)
    regressors = Regressors.of(groups, [0, 1])
    tree = ModelTree(groups, regressors, [ModelTreeNode(0.0, np.zeros(2), 0, 0, 0, 0)], np.zeros(2))
    place = np.zeros(900, dtype=np.int32)
    ((number, parts),) = passes_of(X, held).by_node(tree, place, [0], y)
    assert number == 0
    for j in range(2):
        codes, count = groups[j].codes(X[:, j]), groups[j].n_groups
        wanted = moments_of(regressors(X[~held]), y[~held], codes[~held], count)
        for name in ("count", "mean", "scatter"):
            found = getattr(parts[j].training, name)
            np.testing.assert_allclose(found, getattr(wanted, name), atol=1e-10)
    assert parts[0].training.scatter[0, 1, 1] == 0.0


def test_branches_that_do_not_pay_are_pruned():
    """Where the branches judge no better than their parent at the price of leaves, it is a leaf."""
    groups = [Intervals(np.array([0.0]), -1.0, 1.0)]

    def tree(errors, price):
        root = leaf(0.0, judged=10.0, price=price)
        root.feature, root.child, root.children = 0, np.array([0, 1, 1]), [1, 2]
        nodes = [root, *(leaf(1.0, depth=1, judged=e) for e in errors)]
        return ModelTree(groups, Regressors.of(groups, []), nodes, np.zeros(0))

    assert len(model_tree_growth._pruned(tree([3.0, 3.0], 1.0), 0.0).leaves) == 2
    assert len(model_tree_growth._pruned(tree([3.0, 3.0], 5.0), 0.0).leaves) == 1
    assert len(model_tree_growth._pruned(tree([6.0, 5.0], 0.0), 0.0).nodes) == 1
    assert len(model_tree_growth._pruned(tree([3.0, 3.0], 1.0), 3.5).nodes) == 1


def test_few_regressors_are_those_that_explain_most():
    """Of many numeric features those that alone explain most are regressors."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 5))
    y = X[:, 4] + 2.0 * np.abs(X[:, 2])
    groups = groups_of(X)
    assert regressors_of(passes_of(X), groups, y, 2).features.tolist() == [2, 4]
    assert regressors_of(passes_of(X), groups, y, 5).features.tolist() == [0, 1, 2, 3, 4]
