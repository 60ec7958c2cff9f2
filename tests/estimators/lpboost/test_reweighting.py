"""Thinning a given ensemble: right labels, an optimal program, fewer members."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from cgboost.estimators import reweight
from cgboost.exceptions import TrivialModelWarning
from tests.estimators.data import three_classes, two_classes
from tests.problems import Formulation, Problem

LABELS = {
    "strings": np.array(["no", "yes", "so"]),
    "from 0": np.array([0, 1, 2]),
    "from 1": np.array([1, 2, 3]),
    "with gaps": np.array([-1, 1, 7]),
}

ENSEMBLES = {
    "forest": RandomForestClassifier(30, max_depth=3, random_state=0),
    "adaboost": AdaBoostClassifier(n_estimators=20, random_state=0),
    "bagging": BaggingClassifier(
        DecisionTreeClassifier(max_depth=3), 20, max_features=0.6, random_state=0
    ),
}


@pytest.mark.parametrize("ensemble", ENSEMBLES.values(), ids=ENSEMBLES)
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_members_vote_for_the_right_labels(ensemble, labels, data):
    """Whatever the labels, and whether members predict labels or places, the model is right."""
    X, numbers = data()
    y = labels[numbers]
    model = reweight(ensemble.fit(X, y), X, y)
    assert set(model.predict(X)) <= set(labels)
    assert model.score(X, y) > 0.75
    assert model.converged_
    shape = (len(X),) if data is two_classes else (len(X), 3)
    assert model.decision_function(X).shape == shape
    same = reweight(ensemble.fit(X, numbers), X, numbers)
    assert model.objective_ == pytest.approx(same.objective_, rel=1e-6)


@pytest.mark.parametrize("coef", ["free", "nonneg"])
@pytest.mark.parametrize("offset", ["none", "penalized", "free"])
def test_the_weights_solve_the_program(coef, offset):
    """The objective is the optimum over all members, by an independent solver."""
    X, y = two_classes()
    forest = ENSEMBLES["forest"].fit(X, y)
    H = np.stack([np.where(tree.predict(X) == 1, 1.0, -1.0) for tree in forest.estimators_], 1)
    weights = np.linspace(0.5, 2.0, 40)
    optimum = Problem(H, 2.0 * y - 1.0, 0.3 * weights, 0.0).optimum(
        Formulation("hinge", "l1", coef, offset)
    )
    model = reweight(forest, X, y, C=0.3, coef=coef, offset=offset, sample_weight=weights)
    assert model.objective_ == pytest.approx(optimum, rel=1e-5)
    assert model.dual_bound_ <= optimum * (1 + 1e-6)
    assert coef == "free" or (model.column_weights_ >= 0).all()
    outputs = H[:, model.indices_] @ model.column_weights_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), outputs, atol=1e-9)


def test_only_members_with_a_weight_are_kept():
    """estimators_ are the members at indices_, and column_weights_ has no zeros."""
    X, y = two_classes()
    forest = ENSEMBLES["forest"].fit(X, y)
    model = reweight(forest, X, y, C=0.3)
    assert 0 < len(model.estimators_) < 30
    assert model.estimators_ == [forest.estimators_[j] for j in model.indices_]
    assert model.column_weights_.all()
    fewer = reweight(forest, X, y, C=0.3, max_members=3)
    assert len(fewer.estimators_) <= 3
    assert fewer.objective_ >= model.objective_


def test_thinning_keeps_the_accuracy_of_a_forest():
    """On held-out rows 100 trees thinned to 20 at most lose less than 3 %."""
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(100, max_depth=3, random_state=0).fit(X[:300], y[:300])
    model = reweight(forest, X[:300], y[:300], C=0.1, max_members=20)
    assert len(model.estimators_) <= 20
    assert model.score(X[300:], y[300:]) > forest.score(X[300:], y[300:]) - 0.03


def test_functions_and_regressors_are_taken_as_they_are():
    """The regression trees of gradient boosting, as members or as functions, are columns."""
    X, y = two_classes()
    boosted = GradientBoostingClassifier(n_estimators=15, random_state=0).fit(X, y)
    trees = boosted.estimators_.ravel().tolist()
    model = reweight(boosted, X, y)
    functions = reweight([tree.predict for tree in trees], X, y)
    assert functions.objective_ == pytest.approx(model.objective_, rel=1e-9)
    assert model.score(X, y) > 0.9
    with pytest.raises(ValueError, match="can be weighed for two classes only"):
        reweight(trees, X, np.arange(40) % 3)


def test_members_of_different_kinds_and_a_table_of_rows():
    """A list may mix classifiers; a DataFrame reaches those that know its names."""
    X, y = two_classes()
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    members = [LogisticRegression().fit(table, y), DecisionTreeClassifier(max_depth=2).fit(X, y)]
    assert reweight(members, table, y).score(table, y) > 0.7


def test_labels_that_may_be_places():
    """Members that know only 1 and 2 of the labels 1, 2, 3 are ambiguous, unless it is said."""
    X, y = three_classes()
    seen = y < 2
    member = DecisionTreeClassifier(max_depth=2).fit(X[seen], y[seen] + 1)
    with pytest.raises(ValueError, match=r"predict \[1, 2\], which may be labels or their places"):
        reweight([member], X, y + 1)
    as_labels = reweight([member], X, y + 1, predicts="label")
    as_places = reweight([member], X, y + 1, predicts="index")
    assert as_labels.score(X, y + 1) > as_places.score(X, y + 1)


def test_the_price_changes_the_number_of_members():
    """A small price of errors leaves nobody."""
    X, y = two_classes()
    forest = ENSEMBLES["forest"].fit(X, y)
    assert len(reweight(forest, X, y, C=1e-6).estimators_) == 0
    np.testing.assert_array_equal(reweight(forest, X, y, C=1e-6).decision_function(X), 0.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": 0}, r"C must be a finite number > 0, got 0"),
        ({"C": np.nan}, r"C must .*got nan"),
        ({"max_members": 0}, "max_members must be a whole number ≥ 1, got 0"),
        ({"estimators": []}, r"estimators must be a fitted ensemble .*got \[\]"),
        ({"estimators": RandomForestClassifier()}, "estimators must be a fitted ensemble"),
        ({"estimators": [3]}, "a member that cannot predict: 3"),
        ({"classes": [0]}, r"classes must be at least two different labels, got \[0\]"),
        ({"classes": [5, 6]}, r"y has labels that are not in classes: \[0, 1\]"),
        ({"predicts": "number"}, "predicts must be one of .*got 'number'"),
        ({"coef": "positive"}, "coef must be one of .*got 'positive'"),
        ({"offset": True}, "offset must be one of .*got True"),
        ({"tol": -1}, "tol must be a finite number ≥ 0, got -1"),
        ({"solver": "cplex"}, "'cplex'.*highs"),
        ({"solver": "highs", "solver_options": {"x": 1}}, "HiGHS rejects the option x = 1"),
        ({"X": np.ones((3, 3))}, "X and y must have one entry a row, got 3, 40"),
        ({"y": ["a", "b"] * 20, "predicts": "index", "classes": ["a"]}, "classes must be at least"),
    ],
)
def test_bad_arguments(change, message):
    """Every error names the argument and its value."""
    X, y = two_classes()
    member = DecisionTreeClassifier(max_depth=2).fit(X, y)
    arguments = {"estimators": [member], "X": X, "y": y} | change
    with pytest.raises(ValueError, match=message):
        reweight(**arguments)


def test_members_with_foreign_labels():
    """Labels that are neither known nor places are an error."""
    X, y = two_classes()
    member = DecisionTreeClassifier(max_depth=2).fit(X, np.array(["no", "yes"])[y])
    with pytest.raises(ValueError, match=r"the members predict \['no', 'yes'\], which are neither"):
        reweight([member], X, y)


def test_weights_that_are_all_zero_are_reported() -> None:
    """With a tiny C nothing is worth its price, and the caller is told."""
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    with pytest.warns(TrivialModelWarning, match="no member is worth its price"):
        assert not reweight(forest, X, y, C=1e-6).estimators_
