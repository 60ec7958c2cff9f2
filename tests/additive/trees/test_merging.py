"""Mergers cost least, and what is left of their tree costs the holdout rows least."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.additive.statistics.moments import (
    Moments,
    full,
    mean_squares,
    stepwise,
)
from cgboost.additive.statistics.products import SharedGroupProducts
from cgboost.additive.trees.merging import MERGE_RIDGE, Merging, any_two, chain
from tests.effort import examples


def groups_of(n_groups: int, seed: int = 0) -> tuple[Moments, np.ndarray, np.ndarray]:
    """Statistics of groups with a slope and a regressor; the rows, and their groups."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(400, 3))
    values[:, 2] += np.sin(np.arange(400) / 60)
    codes = np.arange(400) * n_groups // 400
    return SharedGroupProducts(values, np.ones(400)).grouped(codes, n_groups), values, codes


def merging(elements: Moments, *, any_pair: bool, n_movable: int | None = None) -> Merging:
    """Of one input."""
    movable = np.arange(len(elements) if n_movable is None else n_movable)
    pairs = any_two(movable) if any_pair else chain(movable)
    one = np.zeros(len(elements), dtype=np.intp)
    return Merging(elements, one, pairs, mean_squares(elements)[None])


@pytest.mark.parametrize("any_pair", [False, True])
def test_each_merger_costs_least(any_pair: bool) -> None:
    """Of all pairs that may be merged, in squared error of models with all regressors."""
    elements, _, _ = groups_of(10)
    found = merging(elements, any_pair=any_pair)
    alive = list(range(10))
    for k, (left, right) in enumerate(zip(found.left, found.right, strict=True)):
        alone = dict(zip(alive, full(found.nodes[alive], MERGE_RIDGE), strict=True))
        pairs = list(itertools.combinations(alive, 2) if any_pair else itertools.pairwise(alive))
        joint = Moments.stacked([found.nodes[[a]].merged(found.nodes[[b]]) for a, b in pairs])
        costs = full(joint, MERGE_RIDGE) - [alone[a] + alone[b] for a, b in pairs]
        at = [set(pair) for pair in pairs].index({left, right})
        np.testing.assert_allclose(costs[at], costs.min(), rtol=1e-6, atol=1e-9)
        alive[alive.index(left)] = 10 + k
        alive.remove(right)
    assert len(alive) == 1


def test_what_is_fixed_stays_alone() -> None:
    """A group without a pair is no part of any merger."""
    found = merging(groups_of(12)[0], any_pair=False, n_movable=11)
    assert len(found.left) == 10
    assert 11 not in {*found.left, *found.right}
    assert found.pruned(np.zeros(len(found.nodes)), np.zeros(1))[11] == 11


def test_statistics_of_nodes_are_those_of_their_rows() -> None:
    """Holdout errors that decide are what the leaves cost on the holdout rows."""
    _, values, codes = groups_of(8)
    held = np.arange(400) % 3 == 0
    training, holdout = (
        SharedGroupProducts(values[rows], np.ones(rows.sum())).grouped(codes[rows], 8)
        for rows in (~held, held)
    )
    found = merging(training, any_pair=True)
    models = stepwise(found.nodes, found.of_nodes(holdout))
    leaves = found.pruned(models.holdout, np.zeros(1))
    own = models[leaves[codes]]
    missed = values[:, 2] - own.intercept - (own.coef * values[:, :2]).sum(axis=1)
    total = models.holdout[np.unique(leaves)].sum()
    np.testing.assert_allclose(total, (missed[held] ** 2).sum(), rtol=1e-9)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(2, 7), st.integers(0, 10**6), st.booleans())
def test_no_pruning_of_the_tree_costs_less(n_groups: int, seed: int, any_pair: bool) -> None:
    """Every branch has been pruned by itself: all sets of leaves are tried."""
    found = merging(groups_of(n_groups, seed)[0], any_pair=any_pair)
    error = np.random.default_rng(seed).uniform(0.0, 1.0, len(found.nodes))
    children = {
        n_groups + k: pair for k, pair in enumerate(zip(found.left, found.right, strict=True))
    }

    def prunings(node: int) -> list[float]:
        costs = [error[node]]
        if node in children:
            left, right = (prunings(child) for child in children[node])
            costs += [a + b for a in left for b in right]
        return costs

    leaves = np.unique(found.pruned(error, np.zeros(1)))
    np.testing.assert_allclose(error[leaves].sum(), min(prunings(len(found.nodes) - 1)))


def test_of_equal_trees_the_smaller_one_is_taken() -> None:
    """A branch that gains no more than the least difference is one leaf."""
    found = merging(groups_of(6)[0], any_pair=False)
    error = np.ones(len(found.nodes))
    error[:6] = 1.0 / 6.0 - 1e-12
    assert len(np.unique(found.pruned(error, np.full(1, 1e-9)))) == 1
    assert len(np.unique(found.pruned(error, np.zeros(1)))) == 6
