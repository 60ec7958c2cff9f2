"""Thinned trees whose numbers stay within a tolerance, compared in every cell of small grids."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import cgboost
from cgboost import ThinnedEnsemble
from cgboost.estimators.thinning import faithful, faithfulness
from cgboost.estimators.thinning.leaf_boxes import Domain, LeafBoxes
from tests.estimators.thinning.thinning_data import every_cell

OWN = {"random_state": 0}
ENSEMBLES = {
    "forest": RandomForestRegressor(9, max_depth=2, **OWN),
    "extra trees": ExtraTreesRegressor(8, max_leaf_nodes=4, **OWN),
    "bagging": BaggingRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=8, **OWN),
    "stumps": GradientBoostingRegressor(n_estimators=20, max_depth=1, **OWN),
    "boosting": GradientBoostingRegressor(n_estimators=7, max_depth=2, learning_rate=0.3, **OWN),
    "from zero": GradientBoostingRegressor(n_estimators=6, max_depth=2, init="zero", **OWN),
}


def numbers(n_rows=60):
    """Rows of two numbers and a feature that is 0 or 1, and y with a mean of 5."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    X[:, 2] = X[:, 2] > 0
    return X, 5.0 + X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=n_rows)


def trees_of(whole):
    """The trees of a fitted ensemble for numbers."""
    return [tree.tree_ for tree in np.ravel(whole.estimators_)]


def least_weights(whole, rows, tolerance, moves=True):
    """SciPy's least sum of weights that keeps numbers of rows within a share of the tolerance."""
    rate = getattr(whole, "learning_rate", 1.0)
    each = [rate * tree.predict(rows.astype(np.float32))[:, 0] for tree in trees_of(whole)]
    said, expected = np.stack(each, axis=1), whole.predict(rows)
    rest = expected - said.sum(axis=1) if hasattr(whole, "init_") else 0 * expected
    A = np.column_stack([said, np.ones(len(rows))])
    near, ends = faithfulness.ASKED * tolerance, (None, None) if moves else (0.0, 0.0)
    sides = np.concatenate([expected - rest + near, near - expected + rest])
    cost = np.append(np.ones(said.shape[1]), 0.0)
    bounds = [(0, None)] * said.shape[1] + [ends]
    return linprog(cost, A_ub=np.vstack([A, -A]), b_ub=sides, bounds=bounds).fun


@pytest.mark.parametrize("by", ["cells", "integer programs"])
@pytest.mark.parametrize("region", ["everywhere", "box"])
@pytest.mark.parametrize("name", ENSEMBLES)
def test_no_number_is_further_off(name, region, by, monkeypatch):
    """In every cell within the tolerance, with SciPy's sum of weights over all of them."""
    if by != "cells":
        monkeypatch.setattr(faithful, "MOST_OUTPUTS", 0)
    X, y = numbers()
    whole = clone(ENSEMBLES[name]).fit(X, y)
    thin = ThinnedEnsemble(whole, faithful=region, tolerance=0.3, random_state=0).fit(X, y)
    rows = every_cell(trees_of(whole), X, region)
    differ = np.abs(thin.predict(rows) - whole.predict(rows)).max()
    assert 0.01 < differ <= 0.3
    assert (thin.faithful_, thin.converged_) == ("proven", True)
    assert thin.n_members_ < thin.n_members_in_
    np.testing.assert_allclose(thin.to_sklearn().predict(rows), thin.predict(rows), atol=1e-6)
    expected = least_weights(whole, rows, 0.3)
    assert thin.objective_ == pytest.approx(expected, rel=1e-6 if by == "cells" else 0.02)
    assert thin.dual_bound_ <= expected * (1 + 1e-9)
    assert thin.gap_ < 1e-6
    assert (thin.n_oracle_calls_ >= 2) == (by != "cells")


@pytest.mark.parametrize("moves", [True, False])
@pytest.mark.parametrize("name", ["forest", "boosting"])
def test_on_rows(name, moves):
    """Of the rows, SciPy's optimum; without ``fit_intercept`` the constant is the ensemble's."""
    X, y = numbers()
    whole = clone(ENSEMBLES[name]).fit(X, y)
    given = {"tolerance": 0.2, "fit_intercept": moves}
    thin = ThinnedEnsemble(whole, faithful="rows", **given).fit(X, y)
    assert np.abs(thin.predict(X) - whole.predict(X)).max() <= 0.2
    expected = least_weights(whole, X, 0.2, moves)
    assert thin.objective_ == pytest.approx(expected, rel=1e-6)
    assert thin.dual_bound_ == pytest.approx(expected, rel=1e-6)
    if not moves:
        own = y.mean() if name == "boosting" else 0.0
        assert thin.intercept_ == pytest.approx(own, abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_a_difference_is_found_if_there_is_one(seed):
    """Any weights: the integer program finds a cell, or all cells prove that there is none."""
    X, y = numbers()
    rng = np.random.default_rng(seed)
    whole = RandomForestRegressor(5, max_depth=2, random_state=seed).fit(X, y)
    trees = trees_of(whole)
    values = [tree.value[:, 0] for tree in trees]
    boxes, own = LeafBoxes(trees, values, Domain(X, "everywhere")), np.full(5, 0.2)
    reach = np.full(5, 10.0)
    near = faithfulness.CloseNumbers(own, 0.4, reach, moves=True)
    x = np.append(own * rng.choice([0.98, 1.0, 1.02] if seed % 2 else [0.5, 1.0, 2.0], size=5), 0.1)
    said = boxes.outputs(boxes.all_cells())[:, :, 0]
    differ = (said @ (x[:-1] - own)) / 0.4 + 0.1
    for side in near.questions:
        cell = faithful.disagreement(boxes, near, x, side, None)
        if cell is None:
            assert (side * differ).max() < faithfulness.PROVEN + 1e-6
            continue
        told = boxes.outputs(cell[None])[0, :, 0]
        assert side * (told @ (x[:-1] - own) / 0.4 + 0.1) >= faithfulness.PROVEN - 1e-6


def test_without_time_nothing_is_proven(monkeypatch):
    """A warning says how far it came; rows are within the tolerance all the same."""
    monkeypatch.setattr(faithful, "MOST_OUTPUTS", 0)
    X, y = numbers()
    whole = clone(ENSEMBLES["stumps"]).fit(X, y)
    thin = ThinnedEnsemble(whole, faithful="everywhere", tolerance=0.1, time_limit=1e-9)
    with pytest.warns(ConvergenceWarning, match="0 of 2 sides .above, below. are proven"):
        thin.fit(X, y)
    assert thin.faithful_ == "not proven"
    assert np.abs(thin.predict(X) - whole.predict(X)).max() <= 0.1


def test_saved_and_said(tmp_path):
    """A file predicts the same, and the representation says what is proven."""
    X, y = numbers()
    for name in ("forest", "bagging"):
        thin = ThinnedEnsemble(clone(ENSEMBLES[name]), faithful="box", tolerance=0.2).fit(X, y)
        loaded = cgboost.load(thin.save(tmp_path / f"{name}.cgb"))
        np.testing.assert_array_equal(loaded.predict(X), thin.predict(X))
        assert repr(loaded).endswith("every number within 0.2: proven")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"tolerance": None}, "needs a tolerance for numbers.*tolerance=0.05 . y.std.*got None"),
        ({"tolerance": 0}, "tolerance must be a finite number > 0, got 0"),
        ({"tolerance": 1e-5}, "tolerance=1e-05 is below 0.0002.*take a larger one"),
        ({"tolerance": 50.0}, "a constant, .*, is as near to the ensemble.*take a smaller one"),
        ({"faithful": None}, "set faithful='everywhere', 'box' or 'rows'"),
        ({"estimator": AdaBoostRegressor(n_estimators=3)}, "takes a weighted median"),
        (
            {"estimator": GradientBoostingRegressor(n_estimators=3, init=LinearRegression())},
            "a part besides its trees",
        ),
        ({"estimator": BaggingRegressor(LinearRegression(), n_estimators=3)}, "members that are"),
    ],
    ids=str,
)
def test_what_it_does_not_take(more, words):
    """The message names the argument, its value, and what to do."""
    X, y = numbers()
    given = {"estimator": RandomForestRegressor(4, **OWN), "faithful": "rows", "tolerance": 0.1}
    with pytest.raises(ValueError, match=words):
        ThinnedEnsemble(**{**given, **more}).fit(X, y)
