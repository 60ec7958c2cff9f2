"""Trees of −1 and 1 as columns of linear programs."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.tree import DecisionTreeClassifier

from cgboost import LPBoostClassifier, LPBoostRegressor
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing.learners.sign_trees import SignTreePricer
from tests.estimators.data import three_classes, two_classes
from tests.pricing import cases


def problem(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows without ties of splits, and a pseudo-response that is 0 on some."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 4)).astype(np.float32)
    response = np.sign(X[:, 0] + 0.5 * rng.normal(size=90)) * rng.uniform(0.1, 1.0, 90)
    response[::6] = 0.0
    return X, response


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_splits_are_those_of_a_classification_tree(depth: int, seed: int) -> None:
    """With a bin for each value: scikit-learn's for the signs of r, with the weights |r|."""
    X, response = problem(seed)
    state, seen = cases.state_of(response, OneNormEntry(True)), response != 0
    (column,) = SignTreePricer(X, depth).price(state, 1).columns
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
    tree.fit(X[seen], np.sign(response[seen]), sample_weight=np.abs(response[seen]))
    np.testing.assert_array_equal(column.values[seen], tree.predict(X[seen]))
    np.testing.assert_array_equal(column.values, column.hypothesis.predict(X))


def test_no_other_values_of_the_leaves_score_more() -> None:
    """r·h is the sum over leaves of |Σ r|, and each of several trees is another column."""
    X, response = problem()
    priced = SignTreePricer(X, 2).price(cases.state_of(response, OneNormEntry(True)), 4)
    assert len({column.key for column in priced.columns}) == len(priced.columns) > 1
    assert not priced.exact
    for column in priced.columns:
        sums = np.bincount(column.hypothesis.estimator.apply(X), weights=response)
        assert response @ column.values == pytest.approx(np.abs(sums).sum())


def test_the_program_over_the_trees_is_solved() -> None:
    """The objective is the optimum over the trees kept, by HiGHS; deeper trees have a lower one."""
    X, y = two_classes(80)
    signs, C, objectives = np.where(y == 1, 1.0, -1.0), 0.1, []
    for depth in (1, 2, 3):
        model = LPBoostClassifier(max_depth=depth, C=C, tol=1e-6).fit(X, y)
        objectives.append(model.objective_)
    H = np.stack([tree.predict(X) for tree in model.estimators_], axis=1)
    margins = signs[:, None] * np.hstack([H, -H])
    answer = linprog(
        np.concatenate([np.ones(margins.shape[1]), np.full(len(y), C)]),
        A_ub=-np.hstack([margins, np.eye(len(y))]),
        b_ub=-np.ones(len(y)),
    )
    assert model.objective_ == pytest.approx(answer.fun, rel=1e-5)
    assert objectives[0] > objectives[1] > objectives[2]
    assert {tree.get_depth() for tree in model.estimators_} <= {1, 2, 3}


def test_classes_and_numbers() -> None:
    """Three classes, one by one and jointly, and regression; models of depth 1 are stumps."""
    X, y = three_classes(90)
    for multi_class in ("ovr", "joint"):
        model = LPBoostClassifier(max_depth=2, multi_class=multi_class, max_columns=30).fit(X, y)
        assert model.score(X, y) > 0.75
    assert "feature" in LPBoostClassifier(max_depth=1).fit(X, y).columns_
    target = X[:, 0] * X[:, 1]
    deep = LPBoostRegressor(max_depth=2, C=1.0, max_columns=60).fit(X, target)
    assert deep.score(X, target) > LPBoostRegressor(C=1.0).fit(X, target).score(X, target)
