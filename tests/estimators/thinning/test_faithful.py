"""Thinned trees that decide as all of them do, compared in every cell of small grids."""

import itertools
import pickle

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

import cgboost
from cgboost import ThinnedEnsemble
from cgboost._solvers import SolverError, SolverFailure
from cgboost.estimators.thinning import faithful, faithfulness
from cgboost.estimators.thinning.leaf_boxes import Domain, LeafBoxes
from tests.estimators.thinning.thinning_data import classes, every_cell, trees_of, two_features

OWN = {"random_state": 0}
ENSEMBLES = {
    "forest": RandomForestClassifier(9, max_depth=2, **OWN),
    "extra trees": ExtraTreesClassifier(7, max_leaf_nodes=4, **OWN),
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=7, **OWN),
    "stumps": AdaBoostClassifier(n_estimators=14, **OWN),
    "AdaBoost": AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=6, **OWN),
}


def boxes_of(ensemble, X, region="everywhere"):
    """Their leaves on the grid of a region."""
    trees = trees_of(ensemble)
    return LeafBoxes(trees, [tree.value[:, 0] for tree in trees], Domain(X, region))


@pytest.mark.parametrize("by", ["cells", "integer programs"])
@pytest.mark.parametrize("region", ["everywhere", "box"])
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("name", ENSEMBLES)
def test_no_decision_changes(name, count, region, by, monkeypatch):
    """In no cell of the grid do scikit-learn's model and the thinned one predict another label."""
    if by != "cells":
        monkeypatch.setattr(faithful, "MOST_OUTPUTS", 0)
    X, y = two_features(count)
    whole = clone(ENSEMBLES[name]).fit(X, y)
    thin = ThinnedEnsemble(whole, faithful=region, random_state=0).fit(X, y)
    assert thin.faithful_ == "proven"
    assert thin.converged_
    rows = every_cell(trees_of(whole), X, region)
    expected = whole.predict(rows)
    np.testing.assert_array_equal(thin.predict(rows), expected)
    np.testing.assert_array_equal(thin.to_sklearn().predict(rows), expected)
    assert thin.n_members_ <= thin.n_members_in_


def test_a_part_of_the_rows_makes_no_number_a_feature_of_0_and_1():
    """Where the given rows have 0 and 1 of a number that trees split at 3, all of it counts."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(-2, 8, 300), rng.normal(size=(300, 2))]).astype(float)
    y = (X[:, 0] + 2 * X[:, 1] + rng.normal(size=300) > 2.5).astype(int)
    whole = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    few = (X[:, 0] == 0) | (X[:, 0] == 1)
    thin = ThinnedEnsemble(whole, faithful="everywhere").fit(X[few], y[few])
    assert thin.faithful_ == "proven"
    np.testing.assert_array_equal(thin.predict(X), whole.predict(X))
    assert thin.n_members_ < 20
    assert len(Domain(X[few], "everywhere").among(trees_of(whole)).numbers) == 3


def test_integer_programs_are_asked(monkeypatch):
    """Where the cells are too many, the proof takes a program for each pair of classes or more."""
    monkeypatch.setattr(faithful, "MOST_OUTPUTS", 0)
    X, y = two_features(3)
    whole = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    thin = ThinnedEnsemble(whole, faithful="everywhere", random_state=0).fit(X, y)
    assert thin.n_oracle_calls_ >= 6
    assert thin.n_members_ < 30


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_a_disagreement_is_found_if_there_is_one(seed, count):
    """Any weights: the integer program finds a cell, or all cells prove that there is none."""
    X, y = two_features(count)
    rng = np.random.default_rng(seed)
    whole = RandomForestClassifier(5, max_depth=2, random_state=seed).fit(X, y)
    boxes, own = boxes_of(whole, X), np.full(5, 0.2)
    same = faithfulness.SameDecisions(own, count)
    weights = 40 * own * rng.choice([0.9, 1.0, 1.1] if seed % 2 else [0.0, 1.0, 2.0], size=5)
    outputs = boxes.outputs(boxes.all_cells())
    decided = faithfulness.decisions(outputs, own)
    scores = np.einsum("nmk,m->nk", outputs, weights)
    for old, new in itertools.permutations(range(count), 2):
        behind = scores[decided == old, new] - scores[decided == old, old]
        cell = faithful.disagreement(boxes, same, weights, (old, new), None)
        if cell is None:
            assert not (behind > -faithfulness.PROVEN_LEAD + 1e-6).any()
            continue
        told = boxes.outputs(cell[None])
        assert faithfulness.decisions(told, own)[0] == old
        lead = np.einsum("nmk,m->nk", told, weights)[0]
        assert lead[new] - lead[old] >= -faithfulness.PROVEN_LEAD - 1e-6


def test_the_ensemble_agrees_with_itself_and_not_with_its_opposite():
    """Its own weights leave no cell, for any pair of classes; those of one tree leave some."""
    X, y = two_features(3)
    whole = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    boxes, own = boxes_of(whole, X), np.full(5, 0.2)
    same = faithfulness.SameDecisions(own, 3)
    alone = 1e3 * np.eye(5)[0]
    for weights, is_found in ((1e5 * own, False), (alone, True)):
        cells = [faithful.disagreement(boxes, same, weights, q, None) for q in same.questions]
        assert any(cell is not None for cell in cells) == is_found


@pytest.mark.parametrize("region", ["everywhere", "box"])
def test_rows_of_a_cell_are_in_the_same_leaves(region):
    """Trees say of a row what they say of its cell, also just beside thresholds in float32."""
    X, y = two_features(3)
    whole = ExtraTreesClassifier(6, random_state=0).fit(X, y)
    boxes = boxes_of(whole, X, region)
    rows = np.vstack([X, every_cell(trees_of(whole), X, region)[::7]])
    cells = boxes.cells(rows)
    expected = np.stack([tree.predict_proba(rows) for tree in whole.estimators_], axis=1)
    np.testing.assert_allclose(boxes.outputs(cells), expected, atol=1e-12)
    np.testing.assert_array_equal(boxes.cells(boxes.points(cells)), cells)


def test_cells_are_the_points_of_the_polytope():
    """Leaves and thresholds of each cell satisfy all rows; another leaf violates some row."""
    X, y = two_features(2)
    boxes = boxes_of(RandomForestClassifier(3, max_depth=3, random_state=1).fit(X, y), X)
    matrix, lower, upper = boxes.polytope
    n_leaves = len(boxes.boxes)
    for cell in boxes.all_cells()[::11]:
        inside = np.array(
            [all(a <= cell[f] <= b for f, (a, b) in box.items()) for box in boxes.boxes],
            dtype=float,
        )
        assert np.bincount(boxes.tree_of, inside).tolist() == [1.0, 1.0, 1.0]
        passed = [np.arange(len(own)) >= cell[f] for f, own in enumerate(boxes.thresholds)]
        point = np.concatenate([inside, np.concatenate(passed)])
        activity = matrix @ point
        assert ((activity >= lower) & (activity <= upper)).all()
        tree = np.flatnonzero(boxes.tree_of == 0)
        for leaf in tree[inside[tree] == 0]:
            point[:n_leaves] = inside
            point[tree] = 0.0
            point[leaf] = 1.0
            activity = matrix @ point
            assert ((activity < lower) | (activity > upper)).any()


@pytest.mark.parametrize("count", [2, 3])
def test_on_rows_it_is_the_program_with_a_hard_margin(count):
    """SciPy's optimum over the leads of all rows; no row is decided otherwise; fewer trees."""
    X, y = classes(count)
    whole = RandomForestClassifier(25, random_state=0).fit(X, y)
    thin = ThinnedEnsemble(whole, faithful="rows").fit(X, y)
    outputs = np.stack([tree.predict_proba(X) for tree in whole.estimators_], axis=1)
    places = whole.predict_proba(X).argmax(axis=1)
    leads = np.concatenate(
        [outputs[i, :, c] - np.delete(outputs[i], c, axis=1).T for i, c in enumerate(places)]
    )
    answer = linprog(np.ones(25), A_ub=-leads, b_ub=-np.ones(len(leads)))
    assert thin.objective_ == pytest.approx(answer.fun, rel=1e-6)
    assert thin.dual_bound_ == pytest.approx(answer.fun, rel=1e-6)
    assert thin.dual_bound_ <= answer.fun * (1 + 1e-9)
    np.testing.assert_array_equal(thin.predict(X), whole.predict(X))
    assert thin.n_members_ < 25
    assert thin.faithful_ == "proven"


def test_equal_trees_are_one():
    """Weights of equal trees add up, those of opposite ones are subtracted: the same function."""
    X, y = two_features(2)
    whole = AdaBoostClassifier(n_estimators=40, random_state=0).fit(X, y)
    trees = trees_of(whole)
    votes = [np.eye(2)[tree.value[:, 0].argmax(axis=1)] for tree in trees]
    votes[3] = 1.0 - votes[3]
    boxes = LeafBoxes(trees, votes, Domain(X, "everywhere"))
    own = whole.estimator_weights_[: len(trees)]
    few = faithfulness.SameDecisions(own, 2).whole(boxes, boxes.cells(X))
    assert np.count_nonzero(few) < len(trees)
    outputs = boxes.outputs(boxes.all_cells())
    leads = outputs[:, :, 1] - outputs[:, :, 0]
    np.testing.assert_allclose(leads @ few, leads @ own, atol=1e-12)


def test_a_class_that_is_tied_with_an_earlier_one_loses():
    """As argmax decides; votes of 4 trees are tied in many cells."""
    outputs = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])
    np.testing.assert_array_equal(faithfulness.decisions(outputs, np.array([0.5, 0.5])), [0, 1])
    X, y = two_features(2)
    stumps = [
        DecisionTreeClassifier(max_depth=1, max_features=1, random_state=k).fit(X, y)
        for k in range(4)
    ]
    whole = AdaBoostClassifier(n_estimators=4, random_state=0).fit(X, y)
    whole.estimators_, whole.estimator_weights_ = stumps, np.ones(4)
    thin = ThinnedEnsemble(whole, faithful="everywhere").fit(X, y)
    rows = every_cell(trees_of(whole), X, "everywhere")
    assert (whole.decision_function(rows) == 0).any()
    np.testing.assert_array_equal(thin.predict(rows), whole.predict(rows))


def test_without_time_nothing_is_proven(monkeypatch):
    """A warning says how far it came; rows are decided as before all the same."""
    monkeypatch.setattr(faithful, "MOST_OUTPUTS", 0)
    X, y = two_features(3)
    whole = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    thin = ThinnedEnsemble(whole, faithful="everywhere", time_limit=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning, match="0 of 6 pairs of classes are proven"):
        thin.fit(X, y)
    assert thin.faithful_ == "not proven"
    assert not thin.converged_
    np.testing.assert_array_equal(thin.predict(X), whole.predict(X))


def test_without_a_limit_none_is_blamed(monkeypatch):
    """A solver that finds no answer is not said to need more time where there is no limit."""

    def fails(*given):
        raise SolverError("lost its digits")

    monkeypatch.setattr(faithful, "MOST_OUTPUTS", 0)
    monkeypatch.setattr(faithful, "disagreement", fails)
    X, y = two_features(3)
    whole = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="not proven: 0 of 6") as caught:
        ThinnedEnsemble(whole, faithful="everywhere", random_state=0).fit(X, y)
    assert "time_limit" not in str(caught[0].message)


def test_where_the_linear_program_fails_all_trees_stay(monkeypatch):
    """HiGHS found no answer for 200 trees that are nearly tied; the whole ensemble is one."""

    def fails(program):
        raise SolverFailure("unknown")

    monkeypatch.setattr(faithful.CellProgram, "solve", fails)
    X, y = two_features(2)
    whole = RandomForestClassifier(5, random_state=0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"all trees are kept, .* failed \(unknown\)"):
        thin = ThinnedEnsemble(whole, faithful="rows").fit(X, y)
    assert (thin.n_members_, thin.faithful_, thin.converged_) == (5, "proven", False)
    np.testing.assert_array_equal(thin.predict(X), whole.predict(X))


def test_saved_cloned_and_fitted_again(tmp_path):
    """Files and pickles predict the same; a clone fits first; without ``faithful`` it is gone."""
    X, y = two_features(3)
    thin = ThinnedEnsemble(clone(ENSEMBLES["stumps"]), faithful="box").fit(X, y)
    loaded = cgboost.load(thin.save(tmp_path / "thin.cgb"))
    for same in (loaded, pickle.loads(pickle.dumps(thin)), thin.compact()):
        assert same.faithful_ == "proven"
        assert repr(same).endswith("every decision as before: proven")
        np.testing.assert_array_equal(same.predict(X), thin.predict(X))
    again = clone(thin).fit(X, y)
    np.testing.assert_array_equal(again.weights_, thin.weights_)
    again.set_params(faithful=None, size=3).fit(X, y)
    assert again.faithful_ is None
    assert "every decision" not in repr(again)
    kept = ThinnedEnsemble(FrozenEstimator(ENSEMBLES["stumps"].fit(X, y)), faithful="rows")
    assert clone(kept).fit(X, y).faithful_ == "proven"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"faithful": "all"}, "faithful must be one of"),
        ({"size": 3}, "size=3 has no meaning with faithful='rows'"),
        ({"C": 1.0}, "leave C=None"),
        ({"metric": "accuracy"}, "leave metric=None"),
        ({"target": "y"}, "leave target='auto'"),
        ({"weights": "equal"}, "leave weights='auto'"),
        ({"leaf_values": "refit"}, "leave leaf_values='auto'"),
        ({"members": "leaves"}, "leave members='estimators'"),
        ({"time_limit": 0}, "time_limit must be"),
        ({"tolerance": 0.1}, "decides between classes: leave tolerance=None"),
        ({"estimator": GradientBoostingClassifier(n_estimators=3)}, "members that are trees"),
        ({"estimator": BaggingClassifier(n_estimators=3, max_features=1)}, "on all features"),
    ],
    ids=str,
)
def test_what_it_does_not_take(more, words):
    """The message names the argument, its value, and what to do."""
    X, y = two_features(2)
    given = {"estimator": RandomForestClassifier(4, **OWN), "faithful": "rows", **more}
    with pytest.raises(ValueError, match=words):
        ThinnedEnsemble(**given).fit(X, y)


def test_missing_values_and_paths_are_refused():
    """Cells know nothing of missing values, and the size is not free."""
    X, y = two_features(2)
    X[0, 0] = np.nan
    forest = RandomForestClassifier(4, **OWN)
    with pytest.raises(ValueError, match="without missing values: X has 1"):
        ThinnedEnsemble(forest, faithful="rows").fit(X, y)
    with pytest.raises(ValueError, match="determines the size"):
        ThinnedEnsemble(forest, faithful="rows").path(X[1:], y[1:])
