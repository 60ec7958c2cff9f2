"""Sums of trees: the quick way gives what the trees give one by one."""

import numpy as np
import pytest

from cgboost.additive.trees import boosted_trees
from cgboost.additive.trees.boosted_trees import BoostedTree, BoostedTrees
from cgboost.additive.trees.model_tree import ModelTree, ModelTreeNode, Regressors
from cgboost.generation.columns import Term
from cgboost.tables.binning import Categories, FeatureGroups, Intervals

GROUPS: list[FeatureGroups] = [
    Intervals(np.array([-0.5, 0.0, 0.7]), -1.0, 1.0),
    Categories(3),
    Intervals(np.array([2.0]), 1.0, 4.0),
]
REGRESSORS = Regressors.of(GROUPS, [0, 2])


def random_tree(
    rng: np.random.Generator, n_splits: int, groups: list[FeatureGroups] = GROUPS
) -> ModelTree:
    """Binary splits of any leaf, at one place of numbers or between any categories; slopes.

    Unknown categories join a branch, or none.
    """
    nodes = [ModelTreeNode(rng.normal(), rng.normal(size=2), 0, 1.0, 0.0, 0.0)]
    for _ in range(n_splits):
        leaf = int(rng.choice([k for k, node in enumerate(nodes) if not node.children]))
        feature = int(rng.integers(3))
        size = groups[feature].n_groups
        child = rng.integers(0, 2, size)
        if groups[feature].ordered:
            child[:-1] = np.arange(size - 1) >= rng.integers(1, size)
        else:
            child[-1] = rng.integers(-1, 2)
        if child.max() == child[:-1].min():
            child[-1] = 1 - child[0]
        nodes[leaf].feature, nodes[leaf].child = feature, child
        nodes[leaf].children = [len(nodes), len(nodes) + 1]
        for _ in range(2):
            coef = rng.normal(size=2) * (rng.random(2) < 0.6)
            nodes.append(ModelTreeNode(rng.normal(), coef, nodes[leaf].depth + 1, 1.0, 0.0, 0.0))
    return ModelTree(groups, Regressors.of(groups, [0, 2]), nodes, np.zeros(2))


def rows(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Numbers beyond the range and on edges, categories, gaps."""
    X = np.round(rng.normal(size=(n_rows, 3)) * [1.0, 0.0, 2.0], 1)
    X[:, 1] = rng.integers(0, 4, n_rows)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    return X


@pytest.mark.parametrize("block", [7, 1000])
def test_sums_and_values_are_those_of_the_trees(block: int, monkeypatch) -> None:
    """Of trees of no split and of many, by blocks of rows."""
    monkeypatch.setattr(boosted_trees, "BLOCK", block)
    rng = np.random.default_rng(0)
    family = BoostedTrees(GROUPS, REGRESSORS)
    trees = [
        BoostedTree(family, k, random_tree(rng, n_splits), np.zeros(3))
        for k, n_splits in enumerate((0, 1, 3, 7))
    ]
    X, coef = rows(rng, 100), rng.normal(size=4)
    wanted = np.column_stack([hypothesis.tree.predict(X) for hypothesis in trees])
    np.testing.assert_allclose(family.outputs(X, trees), wanted, atol=1e-12)
    total = BoostedTrees.weighted_sum(X, [Term(family, trees, coef)])
    np.testing.assert_allclose(total, wanted @ coef, atol=1e-12)
    assert family.outputs(X[:0], trees).shape == (0, 4)


def test_importances_are_shares() -> None:
    """Of what the features take off; 0 for a tree that takes nothing off."""
    family, rng = BoostedTrees(GROUPS, REGRESSORS), np.random.default_rng(1)
    tree = random_tree(rng, 1)
    found = BoostedTree(family, 0, tree, np.array([1.0, 0.0, 3.0])).importances(3)
    np.testing.assert_allclose(found, [0.25, 0.0, 0.75])
    np.testing.assert_array_equal(BoostedTree(family, 0, tree, np.zeros(3)).importances(3), 0.0)
