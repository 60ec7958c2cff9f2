"""Classes of few rows, and of none that counts, are probable."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from cgboost import LinearTreeBoostingClassifier, TransformClassifier
from cgboost.estimators.transform.holdouts import seed_of
from tests.estimators.transform.test_places import RARE, with_a_rare_class
from tests.estimators.transform.transform_data import held_out, rare


@pytest.mark.parametrize("name", RARE)
def test_a_class_that_the_holdout_would_take_whole_has_its_share(name: str) -> None:
    """All its rows train, and the other holdout rows are those of the hashes.

    Its mean probability is near its share of the rows, and no probability is next to nothing.
    """
    model, data = with_a_rare_class(name)
    p = clone(model).fit(*data).predict_proba(data.frame)[:, -1]
    there = data.y == data.y.max()
    share = np.average(there, weights=data.weights)
    assert share / 4 < np.average(p, weights=data.weights) < 4 * share
    assert p.min() > 1e-6
    seed = seed_of(model.random_state, model.n_holdouts - 1)
    held, without = held_out(data, seed, len(np.unique(data.y))), held_out(data, seed, 1)
    assert without[there].all()
    assert not held[there].any()
    np.testing.assert_array_equal(held[~there], without[~there])


def test_two_rows_of_a_class_among_wines_are_not_forgotten() -> None:
    """For every seed, by transform regression and by boosted trees."""
    X, y = load_wine(return_X_y=True)
    y[y == 2] = 1
    y[[0, 5]] = 2
    for seed in range(6):
        for model in (
            TransformClassifier(n_estimators=2, random_state=seed),
            LinearTreeBoostingClassifier(
                n_estimators=2, validation_fraction=0.5, random_state=seed
            ),
        ):
            assert model.fit(X, y).predict_proba(X)[[0, 5], 2].min() > 1e-3


def test_boosted_trees_know_no_class_without_a_weight() -> None:
    """From a table and from blocks; with one class left it is an error that says why."""
    X, y, weights = rare()
    model = LinearTreeBoostingClassifier(n_estimators=3)
    for lost, left in ((y == 2, [0, 1]), (y != 1, None)):
        own = np.where(lost, 0.0, weights)
        for rows in ((X, y, own), ([(X, y, own)],)):
            if left:
                np.testing.assert_array_equal(clone(model).fit(*rows).classes_, left)
            else:
                with pytest.raises(ValueError, match="one class: 1.*rows of weight 0 do not count"):
                    clone(model).fit(*rows)
