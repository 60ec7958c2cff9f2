"""What members say of rows that they have not seen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from cgboost.estimators.thinning.fitting import members_of
from cgboost.estimators.thinning.honest_rows import share_of_known
from cgboost.estimators.thinning.unseen_predictions import (
    drawn_entries,
    neutral,
    weights_of_the_fit,
    without_own,
)
from tests.effort import examples
from tests.estimators.thinning.thinning_data import classes


@pytest.mark.parametrize("share", [None, 0.5, 20])
def test_out_of_bag_rows_are_those_of_the_forest(share):
    """The mean of what is out of bag is scikit-learn's own."""
    X, y = classes(3)
    forest = RandomForestClassifier(40, oob_score=True, max_samples=share, random_state=0)
    forest.fit(X, y)
    unseen = ~drawn_entries(forest, len(y))
    outputs = members_of(forest).outputs(X)
    means = neutral(outputs, unseen)
    for j in range(3):
        np.testing.assert_allclose(
            means[:, j][~unseen[:, j]], forest.oob_decision_function_[~unseen[:, j]], atol=1e-6
        )
        np.testing.assert_array_equal(means[:, j][unseen[:, j]], outputs[:, j][unseen[:, j]])


@settings(max_examples=examples(15), deadline=None)
@given(st.integers(0, 1000), st.integers(1, 6), st.booleans())
def test_leaving_one_row_out_of_its_leaf(seed, least, weighted):
    """By hand: the mean of the other rows in the leaf, or in the first node above that has some."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    weights = rng.uniform(0.5, 2.0, 40) if weighted else np.ones(40)
    forest = ExtraTreesRegressor(2, min_samples_leaf=least, random_state=seed)
    forest.fit(X, y, weights)
    found = without_own(members_of(forest), X, y, weights)
    for k, tree in enumerate(forest.estimators_):
        paths = tree.decision_path(X.astype(np.float32)).toarray().astype(bool)
        depth = paths.sum(axis=0)
        for i in range(0, 40, 7):
            for node in sorted(np.flatnonzero(paths[i]), key=lambda n: depth[n]):
                others = paths[:, node] & (np.arange(40) != i)
                if others.any():
                    expected = np.average(y[others], weights=weights[others])
                    break
            assert found[i, k, 0] == pytest.approx(expected, abs=1e-3)


def median(values, weights):
    """By copies: weights are whole numbers."""
    return np.median(np.repeat(values, weights.astype(int)))


@pytest.mark.parametrize("kind", [ExtraTreesRegressor, RandomForestRegressor])
@pytest.mark.parametrize("least", [1, 3, 4])
def test_leaving_one_row_out_of_medians(kind, least):
    """By hand, with copies of rows for weights; some rows have none, and some the same value."""
    rng = np.random.default_rng(least)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 15, 40).astype(float)
    weights = rng.integers(0, 4, 40).astype(float)
    forest = kind(3, criterion="absolute_error", bootstrap=False, random_state=0)
    forest.set_params(min_samples_leaf=least).fit(X, y, weights)
    members, asked = members_of(forest), np.arange(1, 40, 2)
    found = without_own(members, X, y, weights)
    np.testing.assert_array_equal(without_own(members, X, y, weights, asked), found[asked])
    for k, tree in enumerate(forest.estimators_):
        paths = tree.decision_path(X.astype(np.float32)).toarray().astype(bool)
        for i in range(40):
            others = [paths[:, n] & (np.arange(40) != i) for n in np.flatnonzero(paths[i])]
            rest = [own for own in others if weights[own].sum() > 0]
            smallest = min(rest, key=lambda own: weights[own].sum())
            assert found[i, k, 0] == pytest.approx(median(y[smallest], weights[smallest]))


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_leaving_no_row_out_says_what_the_tree_says(criterion):
    """A row without weight changes no leaf: clipped ones (``monotonic_cst``) keep their limits."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(60, 2)), rng.integers(0, 2, 60).astype(float)
    y = np.exp(np.sin(3.0 * X[:, 0]) + rng.normal(size=60))
    limits = [1, -1] if criterion == "squared_error" else None
    forest = ExtraTreesRegressor(5, criterion=criterion, monotonic_cst=limits, random_state=0)
    members = members_of(forest.set_params(min_samples_leaf=2).fit(X, y, weights))
    found, said = without_own(members, X, y, weights), members.outputs(X)
    np.testing.assert_allclose(found[weights == 0], said[weights == 0], rtol=1e-5)


def test_leaving_one_row_out_of_clipped_means():
    """A leaf at its limit does not go beyond it for one row."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    forest = ExtraTreesRegressor(5, monotonic_cst=[1, 0], min_samples_leaf=5, random_state=0)
    members = members_of(forest.fit(X, y))
    found, said = without_own(members, X, y, np.ones(80))[:, :, 0], members.outputs(X)[:, :, 0]
    leaves = np.column_stack([tree.apply(X.astype(np.float32)) for tree in forest.estimators_])
    sums = np.column_stack([np.bincount(own, y)[own] for own in leaves.T])
    counts = np.column_stack([np.bincount(own)[own] for own in leaves.T])
    over, under = sums / counts > said + 1e-4, sums / counts < said - 1e-4
    assert over.any() or under.any()
    assert np.all(found[over] <= said[over])
    assert np.all(found[under] >= said[under])
    free, others = ~(over | under), (sums - y[:, None]) / (counts - 1)
    np.testing.assert_allclose(found[free], others[free], atol=1e-5)


def test_leaving_one_row_out_of_probabilities():
    """Full trees know each row by heart; without the row itself they do not, and still sum to 1."""
    X, y = classes(3)
    forest = ExtraTreesClassifier(10, random_state=0).fit(X, y)
    places = np.searchsorted(forest.classes_, y)
    members = members_of(forest)
    found = without_own(members, X, places, np.ones(len(y)))
    np.testing.assert_allclose(found.sum(axis=2), 1.0, atol=1e-5)
    assert (members.outputs(X).argmax(axis=2) == places[:, None]).all()
    assert (found.argmax(axis=2) == places[:, None]).mean() < 0.95


@pytest.mark.parametrize("known", [True, False])
def test_rows_of_the_fit_are_told_from_new_ones(known):
    """Of rows that a forest has memorised all fit a row of its fit; of new ones hardly any does."""
    X, y = make_classification(800, 10, flip_y=0.2, random_state=0)
    forest = RandomForestClassifier(60, random_state=0).fit(X[:400], y[:400])
    rows = slice(0, 200) if known else slice(400, 600)
    said = np.stack([tree.predict(X[rows]) for tree in forest.estimators_], axis=1)
    share, count = share_of_known(~drawn_entries(forest, 400), said != y[rows, None])
    assert count >= 20
    assert share == 1.0 if known else share < 0.05


def test_rows_that_few_members_are_wrong_on_say_nothing():
    """Then a new row, too, would fit some row of the fit."""
    unseen = np.random.default_rng(0).uniform(size=(100, 50)) < 0.37
    wrong = np.zeros((10, 50), dtype=bool)
    wrong[:, :3] = True
    assert share_of_known(unseen, wrong) == (0.0, 0)


def test_rows_that_nobody_draws_are_not_compared():
    """A row of weight 0 has a place for every new row; without it new rows are seen to be new."""
    rng = np.random.default_rng(0)
    unseen = rng.uniform(size=(100, 60)) < 0.37
    unseen[:20] = True
    wrong = rng.uniform(size=(30, 60)) < 0.5
    share, count = share_of_known(unseen, wrong)
    assert (share, count) == (0.0, 30)
    wrong[:] &= unseen[30]
    assert share_of_known(unseen, wrong)[0] > 0.5


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e8])
@pytest.mark.parametrize("class_weight", [None, {"a": 1, "b": 5, "c": 0.1}])
def test_weights_of_rows_are_read_from_the_leaves(unit, class_weight):
    """Trees know the weights of their fit: of full ones they are those of rows times classes."""
    X, y = classes(3, 120)
    weights = unit * np.random.default_rng(0).uniform(0.5, 2.0, 120)
    forest = ExtraTreesClassifier(20, class_weight=class_weight, random_state=0)
    members = members_of(forest.fit(X, y, weights))
    expected = weights * ([1.0] * 120 if class_weight is None else [class_weight[c] for c in y])
    found = weights_of_the_fit(members, X, np.ones(120))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    near = weights_of_the_fit(members_of(forest.fit(X, y)), X, weights)
    if class_weight is None:
        np.testing.assert_array_equal(near, 1.0)
