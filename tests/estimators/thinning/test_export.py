"""Exports predict what the thinned ensemble predicts."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

from cgboost import ThinnedEnsemble, load
from cgboost.estimators.thinning.boosted import _parts, _weighted
from cgboost.exceptions import DataWarning
from tests.estimators.thinning.thinning_data import CLASSIFIERS, REGRESSORS, classes, numbers

KINDS = [*((name, n) for name in CLASSIFIERS for n in (2, 3)), *((name, 0) for name in REGRESSORS)]


@pytest.mark.parametrize("weights", ["program", "refit", "equal"])
@pytest.mark.parametrize(("name", "count"), KINDS)
def test_an_exported_model_predicts_what_the_thinned_one_does(name, count, weights):
    """A model of scikit-learn with the same probabilities or numbers, of the kept members alone.

    Their intercept is folded into leaves; an ensemble that was fitted before is left as it is.
    """
    X, y = classes(count) if count else numbers()
    size = 2 if name == "voting" else 5
    ensemble = clone((CLASSIFIERS if count else REGRESSORS)[name])
    is_forest = name == "forest" and count > 0
    before = ensemble.fit(X, y).predict_proba(X) if is_forest else None
    model = ThinnedEnsemble(ensemble, size=size, weights=weights, random_state=0).fit(X, y)
    exported = model.to_sklearn()
    assert not hasattr(exported, "n_estimators") or exported.n_estimators == model.n_members_
    if not count:
        np.testing.assert_allclose(exported.predict(X), model.predict(X), rtol=1e-5)
        return
    np.testing.assert_allclose(exported.predict_proba(X), model.predict_proba(X), atol=2e-6)
    np.testing.assert_array_equal(exported.predict(X), model.predict(X))
    if is_forest:
        np.testing.assert_array_equal(ensemble.predict_proba(X), before)
        assert isinstance(model.export(), RandomForestClassifier)


def test_what_cannot_be_exported_says_why():
    """Means with an intercept, lists, and weights that a plain mean does not have."""
    X, y = numbers()
    voting = VotingRegressor([("ridge", Ridge()), ("lasso", Lasso())])
    model = ThinnedEnsemble(voting, size=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="VotingRegressor"):
        model.to_sklearn()
    A, labels = classes(2)
    lines = [LogisticRegression(C=C).fit(A, labels) for C in (0.1, 1.0)]
    with pytest.raises(ValueError, match="cannot be converted to a model of scikit-learn"):
        ThinnedEnsemble(lines, size=1).fit(A, labels).to_sklearn()
    bagging = BaggingClassifier(LogisticRegression(), 6, random_state=0)
    unequal = ThinnedEnsemble(bagging, size=3, weights="program", random_state=0).fit(A, labels)
    if np.ptp(unequal.weights_) > 0:
        with pytest.raises(ValueError, match="plain mean"):
            unequal.to_sklearn()
    equal = ThinnedEnsemble(bagging, size=3, random_state=0).fit(A, labels)
    exported = equal.to_sklearn()
    np.testing.assert_allclose(exported.predict_proba(A), equal.predict_proba(A), atol=1e-6)


BOOSTER = """tree
version=v4
tree_sizes=9 9

Tree=0
leaf_value=0.5 -1

Tree=1
leaf_value=2 3

end of trees

rest
"""


def test_the_text_of_a_booster_is_taken_apart():
    """LightGBM's file is a head, trees and a tail, and leaves are multiplied by the weight."""
    head, first, second, tail = _parts(BOOSTER)
    assert head + first + second + tail == BOOSTER
    assert "leaf_value=1.0 -2.0" in _weighted(first, 2.0, 0.0)
    assert "leaf_value=1.5 2.0" in _weighted(second, 0.5, 0.5)


@pytest.mark.parametrize("weights", ["program", "refit", "equal"])
@pytest.mark.parametrize("count", [2, 4])
def test_forests_that_aim_at_themselves(count, weights):
    """The intercepts of classes are folded into the leaves, as those of numbers are."""
    X, y = classes(count)
    forest = clone(CLASSIFIERS["forest"])
    model = ThinnedEnsemble(forest, size=4, weights=weights, target="ensemble", random_state=0)
    model.fit(X, y)
    exported = model.to_sklearn()
    np.testing.assert_array_equal(exported.predict(X), model.predict(X))
    mean = np.mean([tree.tree_.predict(X.astype(np.float32)) for tree in exported], axis=0)
    np.testing.assert_allclose(mean.reshape(len(X), -1), model._outputs(X), atol=2e-6)


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(60, random_state=0),
        BaggingClassifier(n_estimators=40, random_state=0),
        RandomForestRegressor(60, random_state=0),
    ],
    ids=lambda ensemble: type(ensemble).__name__,
)
def test_a_compact_copy_is_the_same_model_without_the_ensemble(ensemble, tmp_path):
    """Predictions and export are equal bit by bit, its file is a third of the other at most."""
    X, y = load_digits(return_X_y=True)
    thin = ThinnedEnsemble(ensemble.fit(X[:600], y[:600])).fit(X[:600], y[:600])
    small = thin.compact()
    thin.save(tmp_path / "whole.cgb")
    small.save(tmp_path / "small.cgb")
    sizes = [(tmp_path / name).stat().st_size for name in ("small.cgb", "whole.cgb")]
    assert sizes[0] < sizes[1] / 3
    for model in (small, load(tmp_path / "small.cgb")):
        np.testing.assert_array_equal(model.predict(X[600:]), thin.predict(X[600:]))
        if hasattr(thin, "predict_proba"):
            both = model.predict_proba(X[600:]), thin.predict_proba(X[600:])
            np.testing.assert_array_equal(*both)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            exported = model.to_sklearn(), thin.to_sklearn()
        np.testing.assert_array_equal(*(one.predict(X[600:]) for one in exported))
    assert thin.estimator is ensemble


def test_a_compact_list_has_the_members_kept():
    """And boosting says what to do instead."""
    X, y = load_breast_cancer(return_X_y=True)
    trees = [DecisionTreeClassifier(max_depth=k, random_state=k).fit(X, y) for k in (1, 2, 3, 4)]
    small = ThinnedEnsemble(trees, size=2).fit(X, y).compact()
    assert small.estimator == small.members_
    boosting = GradientBoostingClassifier(n_estimators=20).fit(X, y)
    with pytest.raises(ValueError, match=r"export\(\) gives a model of the kept ones"):
        ThinnedEnsemble(boosting, size=5).fit(X, y).compact()


@pytest.mark.parametrize("name", ["regressor", "classifier", "three classes", "bagging", "voting"])
def test_what_is_exported_agrees_with_its_parameters(name):
    """It can be cloned and fitted, tells the rows of its members, and skl2onnx takes it."""
    if name == "regressor":
        (X, y), model = numbers(), GradientBoostingRegressor(n_estimators=20, random_state=0)
    else:
        X, y = classes(3 if name == "three classes" else 2)
        lines = BaggingClassifier(LogisticRegression(), 8, random_state=0)
        boosting = GradientBoostingClassifier(n_estimators=20, random_state=0)
        model = {"bagging": lines, "voting": CLASSIFIERS["voting"]}.get(name, boosting)
    thin = ThinnedEnsemble(model, size=2 if name == "voting" else 5, weights="equal").fit(X, y)
    exported, count = thin.to_sklearn(), thin.n_members_
    assert clone(exported).fit(X, y).predict(X).shape == y.shape
    if hasattr(exported, "init_"):
        assert exported.init is None
        assert not isinstance(exported.init_, str)
        assert np.abs(exported._raw_predict_init(X.astype(np.float32))).max() < 1e-15
        assert not hasattr(exported, "train_score_")
    if name == "bagging":
        found, whole = exported.estimators_samples_, clone(model).fit(X, y).estimators_samples_
        np.testing.assert_array_equal(found, [whole[k] for k in thin.indices_])
    if name == "voting":
        assert [*exported.named_estimators_] == [label for label, _ in exported.estimators]
    assert len(exported.estimators_) == count

    skl2onnx = pytest.importorskip("skl2onnx")
    rows = X.astype(np.float32)
    exported = exported.set_params(flatten_transform=False) if name == "voting" else exported
    options = None if name == "regressor" else {"zipmap": False}
    graph = skl2onnx.to_onnx(exported, rows[:1], options=options).SerializeToString()
    session = pytest.importorskip("onnxruntime").InferenceSession(graph)
    found = session.run(None, {session.get_inputs()[0].name: rows})[-1]
    wanted = exported.predict if name == "regressor" else exported.predict_proba
    np.testing.assert_allclose(found.reshape(len(X), -1).squeeze(), wanted(rows), atol=2e-6)
